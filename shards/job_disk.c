/* Disk: what a job takes, what there is of it, and what to say when it was too little. */
#include "shards/job_impl.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#define DOCSET_SENTENCE 5	/* bytes that a docset takes for a sentence beside its ids */

/* --- by the size of the input ---------------------------------------------------------------------- */

/* Of English text and vocabularies of 30,000: bytes of a token, and of a sentence. */
#define TOKEN_BYTES 4.3
#define SENTENCE_BYTES 100
#define PACKED_BYTES 3			/* of text, to one of a packed file */

void job_forecast_corpus(const struct job *j, struct tokdoc_totals *corpus)
{
	const unsigned id_bytes = vocab_id_bytes(tokenizer_vocab(j->tokenizer));
	double text = 0;

	for (size_t i = 0; i < j->inputs.n; i++) {
		const struct input *in = &j->inputs.files[i];
		const double bytes = (double)in->bytes * (in->packed ? PACKED_BYTES : 1);

		text += in->tokens ? (double)in->bytes * TOKEN_BYTES / id_bytes : bytes;
	}
	*corpus = (struct tokdoc_totals){ 0 };
	corpus->tokens = (uint64_t)(text / TOKEN_BYTES);
	corpus->sentences = (uint64_t)(text / SENTENCE_BYTES) + 1;
}

bool job_forecast(const struct job *j, uint64_t *work, uint64_t *shards)
{
	const unsigned id_bytes = vocab_id_bytes(tokenizer_vocab(j->tokenizer));
	struct tokdoc_totals corpus;
	uint64_t instances;

	job_forecast_corpus(j, &corpus);
	*work = j->recipe.rules == SHARD_GOOGLE ? 0 : corpus.tokens * id_bytes + corpus.sentences;
	plan_expect(&j->recipe, &corpus, &instances, shards);
	return !j->inputs.streams;
}

/* --- what is needed, and there ------------------------------------------------------------------------ */

/* Bytes of the files of FOLDER whose names WANTED accepts. A folder that is not there has none. */
static uint64_t bytes_there(const char *folder, bool (*wanted)(const char *name))
{
	uint64_t sum = 0, bytes;
	char **names;
	size_t n;

	if (!fs_exists(folder) || fs_list(folder, &names, &n))
		return 0;
	for (size_t i = 0; i < n; i++) {
		char *path = wanted(names[i]) ? fs_join(folder, names[i]) : NULL;

		if (path && !fs_size(path, &bytes))
			sum += bytes;
		free(path);
	}
	fs_free_names(names, n);
	return sum;
}

static bool is_index_name(const char *name)
{
	return !strncmp(name, "index-", 6);
}

/* The folder PATH, or the one it is to be made in, or that one's, into OUT. */
static bool existing_folder(const char *path, char out[PATH_MAX])
{
	snprintf(out, PATH_MAX, "%s", path);
	while (!fs_exists(out)) {
		char *slash = strrchr(out, '/');

		if (!slash)
			snprintf(out, PATH_MAX, ".");
		else if (slash == out)
			return false;
		else
			*slash = 0;
	}
	return true;
}

/* What one without privileges may still write there. */
static bool look_at(const char *path, uint64_t *room, dev_t *device)
{
	char folder[PATH_MAX];
	struct statvfs v;
	struct stat st;

	if (!existing_folder(path, folder) || statvfs(folder, &v) || stat(folder, &st) || !v.f_blocks)
		return false;
	*room = (uint64_t)v.f_bavail * v.f_frsize;
	*device = st.st_dev;
	return true;
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

const char *job_tmp(const struct job *j)
{
	const char *tmp = j->opts.tmp ? j->opts.tmp : getenv("TMPDIR");

	return tmp && *tmp ? tmp : "/tmp";
}

uint64_t job_forecast_memory(const struct job *j)
{
	struct tokdoc_totals corpus;
	uint64_t docs, need;

	if (j->recipe.rules != SHARD_GOOGLE)
		return 0;
	job_forecast_corpus(j, &corpus);
	docs = corpus.tokens * vocab_id_bytes(tokenizer_vocab(j->tokenizer)) + DOCSET_SENTENCE * corpus.sentences;
	need = job_google_memory(j, &corpus, docs);
	return need > j->opts.memory ? need : 0;
}

void job_disk(const struct job *j, bool index, bool write, uint64_t parts, struct job_disk *d)
{
	dev_t device = 0, tmp_device = 0;
	uint64_t packed, raw;

	*d = (struct job_disk){ .tmp = job_tmp(j) };
	d->known = job_forecast(j, &d->work, &d->shards);
	if (!d->known)
		return;
	d->memory_needed = job_forecast_memory(j);
	packed = j->opts.compress ? (uint64_t)((double)d->shards * JOB_PACKED_SHARE) : d->shards;
	if (index && j->opts.folder)
		d->needed += less(d->work, bytes_there(j->work, is_index_name));
	if (write && j->opts.folder)
		d->needed += less(packed, bytes_there(j->opts.folder, job_is_shard_name));
	raw = d->work / parts;
	d->tmp_needed = index && d->needed && raw > j->opts.memory ? raw : 0;
	d->seen = j->opts.folder && look_at(j->opts.folder, &d->room, &device);
	d->tmp_seen = d->tmp_needed && look_at(d->tmp, &d->tmp_room, &tmp_device);
	if (d->seen && d->tmp_seen && device == tmp_device) {
		d->needed += d->tmp_needed;
		d->tmp_needed = 0;
	}
}

static bool ends_with(const char *text, int error)
{
	const char *end = strerror(error);
	const size_t n = strlen(text), m = strlen(end);

	return n >= m && !strcmp(text + n - m, end);
}

void job_explain_full(const struct job *j)
{
	struct job_disk d;
	struct err reason;
	char missing[64] = "";

	err_get(&reason);
	if (!ends_with(reason.text, ENOSPC) && !ends_with(reason.text, EDQUOT))
		return;
	job_disk(j, true, true, 1, &d);
	if (d.known && d.needed)
		snprintf(missing, sizeof(missing), "; about %.1f MB are still to be written", (double)d.needed / 1e6);
	err_fail("%.800s%s: what is whole stays, and where there is room the same command goes on", reason.text,
		 missing);
}
