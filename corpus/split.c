#include "corpus/split.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/fs.h"
#include "base/jsonl_documents.h"
#include "base/out.h"
#include "base/rng.h"
#include "base/utf8.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define RECORD_NAME "split.json"
#define RECORD_MAX ((size_t)1 << 20)
#define LEAST_REST 1e-9		/* of a sum of fractions: less is rounding, not documents */

struct part {
	char *name;
	double fraction, end;	/* the end is that of its interval; it begins where the one before ends */
	struct out *out;
	uint64_t documents, bytes;
};

struct split {
	uint64_t seed;
	size_t n;
	struct part *parts;	/* in the order given, SPLIT_REST last */
	bool jsonl;
	struct jsonl_how how;	/* of these */
	uint64_t documents;
	unsigned __int128 keys;	/* the sum of the documents' */
};

static int check_name(const struct split *s, const char *name)
{
	if (!*name)
		return err_usage("a split has no name");
	for (const char *p = name; *p; p++)
		if (*p == '/' || (unsigned char)*p < ' ' || *p == 0x7F)
			return err_usage("a split cannot be named '%s': its name is part of a file's name", name);
	if (*name == '.')
		return err_usage("a split cannot be named '%s': its file would be hidden", name);
	if (utf8_valid_prefix(name, strlen(name)) < strlen(name))
		return err_usage("a split cannot be named '%s': not UTF-8", name);
	if (strcmp(name, SPLIT_REST) == 0)
		return err_usage("a split cannot be named '%s': that is where all other documents go", name);
	for (size_t i = 0; i < s->n; i++)
		if (strcmp(s->parts[i].name, name) == 0)
			return err_usage("two splits are named '%s'", name);
	return 0;
}

/* Adds a split; -1 with the reason set. */
static int add_part(struct split *s, const char *name, size_t len, double fraction, double end)
{
	struct part *p = &s->parts[s->n];

	p->name = strndup(name, len);
	if (!p->name)
		return err_memory();
	if (end < 1 && check_name(s, p->name)) {
		free(p->name);
		return -1;
	}
	p->fraction = fraction;
	p->end = end;
	s->n++;
	return 0;
}

static int read_spec(struct split *s, const char *spec)
{
	const double begin = s->n ? s->parts[s->n - 1].end : 0;
	const char *equals = strrchr(spec, '=');
	double fraction;
	char *end;

	if (!equals)
		return err_usage("split '%s' is not NAME=FRACTION", spec);
	errno = 0;
	fraction = strtod(equals + 1, &end);
	if (end == equals + 1 || *end || errno || !(fraction > 0 && fraction < 1))
		return err_usage("split '%s': '%s' is not a fraction between 0 and 1", spec, equals + 1);
	if (begin + fraction > 1 - LEAST_REST)
		return err_usage("split '%s': the fractions leave nothing for '%s'", spec, SPLIT_REST);
	return add_part(s, spec, (size_t)(equals - spec), fraction, begin + fraction);
}

int split_open(struct split **out, const char *const *specs, size_t n, uint64_t seed)
{
	struct split *s = calloc(1, sizeof(*s));

	*out = NULL;
	if (!s)
		return err_memory();
	s->seed = seed;
	s->parts = calloc(n + 1, sizeof(*s->parts));
	if (!s->parts) {
		err_memory();
		goto fail;
	}
	for (size_t i = 0; i < n; i++)
		if (read_spec(s, specs[i]))
			goto fail;
	if (add_part(s, SPLIT_REST, strlen(SPLIT_REST), 0, 1))
		goto fail;
	*out = s;
	return 0;
fail:
	split_close(s);
	return -1;
}

void split_close(struct split *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++) {
		out_discard(s->parts[i].out);
		free(s->parts[i].name);
	}
	free(s->parts);
	free(s);
}

void split_from_jsonl(struct split *s, bool strict)
{
	s->jsonl = true;
	s->how = (struct jsonl_how){ .strict = strict };
}

static const char *ending(const struct split *s)
{
	return s->jsonl ? ".jsonl" : ".txt";
}

size_t split_count(const struct split *s)
{
	return s->n;
}

const char *split_name(const struct split *s, size_t i)
{
	return s->parts[i].name;
}

uint64_t split_documents(const struct split *s, size_t i)
{
	return s->parts[i].documents;
}

uint64_t split_bytes(const struct split *s, size_t i)
{
	return s->parts[i].bytes;
}

size_t split_of(const struct split *s, struct key key)
{
	struct rng r;
	double draw;
	size_t i = 0;

	rng_open(&r, s->seed, RNG_SPLIT, key.hi, key.lo, 0, 0, 0);
	draw = (double)(rng_u64(&r) >> 11) * 0x1p-53;
	while (i + 1 < s->n && draw >= s->parts[i].end)
		i++;
	return i;
}

/* --- what a folder was made of ------------------------------------------------------ */

static json_t *record_splits(const struct split *s)
{
	json_t *splits = json_array();

	for (size_t i = 0; splits && i + 1 < s->n; i++) {
		json_t *split = json_pack("{s:f, s:s}", "fraction", s->parts[i].fraction, "name", s->parts[i].name);

		if (!split || json_array_append_new(splits, split)) {
			json_decref(splits);
			return NULL;
		}
	}
	return splits;
}

/* What FOLDER/split.json says of this run; documents and keys are right once all documents were seen. */
static json_t *record_make(const struct split *s)
{
	char keys[33], seed[21];

	key_print((struct key){ (uint64_t)(s->keys >> 64), (uint64_t)s->keys }, keys);
	snprintf(seed, sizeof(seed), "%" PRIu64, s->seed);	/* no JSON number holds all of them */
	return json_pack("{s:I, s:s*, s:s, s:s, s:o}", "documents", (json_int_t)s->documents, "from",
			 s->jsonl ? "jsonl" : NULL, "keys", keys, "seed", seed, "splits", record_splits(s));
}

static int record_write(const struct split *s, const char *folder)
{
	json_t *record = record_make(s);
	char *text = record ? json_dumps(record, JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(17)) : NULL;
	char *path = fs_join(folder, RECORD_NAME);
	struct buf b = BUF_INIT;
	int rc = path && text ? buf_addf(&b, "%s\n", text) : err_memory();

	rc = rc || fs_write_all(path, b.data, b.len) ? -1 : 0;
	buf_release(&b);
	free(path);
	free(text);
	json_decref(record);
	return rc;
}

/* Reads FOLDER's record; NULL in *RECORD when it has none. */
static int record_read(const char *folder, json_t **record)
{
	char *path = fs_join(folder, RECORD_NAME);
	struct buf b = BUF_INIT;
	int rc = path ? 0 : -1;

	*record = NULL;
	if (path && fs_exists(path)) {
		rc = fs_read_all(path, RECORD_MAX, &b);
		*record = rc ? NULL : json_loadb(b.data, b.len, JSON_REJECT_DUPLICATES, NULL);
		if (!rc && !json_is_object(*record)) {
			json_decref(*record);
			*record = NULL;
			rc = err_corrupt("'%s' is not what bert-split writes; remove the folder, or name another", path);
		}
	}
	buf_release(&b);
	free(path);
	return rc;
}

/* Refuses a folder whose RECORD differs from this run's in one of NAMES; WHAT says the same for people. */
static int record_check(const struct split *s, const json_t *record, const char *folder, const char *const *names,
			const char *what)
{
	json_t *mine = record_make(s);
	int rc = mine ? 0 : err_memory();

	for (size_t i = 0; rc == 0 && names[i]; i++) {
		const json_t *is = json_object_get(mine, names[i]), *was = json_object_get(record, names[i]);

		if ((is || was) && !json_equal(is, was))
			rc = err_fail("'%s' was made with %s: remove it, or name another folder", folder, what);
	}
	json_decref(mine);
	return rc;
}

static int check_options(const struct split *s, const json_t *record, const char *folder)
{
	static const char *const from[] = { "from", NULL }, *const seed[] = { "seed", NULL }, *const splits[] = { "splits", NULL };

	if (record_check(s, record, folder, from, "another --from") || record_check(s, record, folder, seed, "another --seed"))
		return -1;
	return record_check(s, record, folder, splits, "other --split options");
}

static int check_input(const struct split *s, const json_t *record, const char *folder)
{
	static const char *const input[] = { "documents", "keys", NULL };

	return record ? record_check(s, record, folder, input, "other input") : 0;
}

/* Whether NAME is that of a file which this run makes anew. */
static bool is_ours(const struct split *s, const char *name)
{
	const size_t len = strlen(name) - strlen(ending(s));

	for (size_t i = 0; i < s->n; i++)
		if (strlen(s->parts[i].name) == len && !memcmp(s->parts[i].name, name, len))
			return true;
	return false;
}

/* A folder without a record may hold what an interrupted run left, but no text that would seem to be a split's. */
static int check_strangers(const struct split *s, const char *folder)
{
	char **names = NULL;
	size_t count = 0;
	int rc = fs_list(folder, &names, &count);

	for (size_t i = 0; rc == 0 && i < count; i++) {
		const size_t len = strlen(names[i]), end = strlen(ending(s));

		if (*names[i] != '.' && len > end && !strcmp(names[i] + len - end, ending(s)) && !is_ours(s, names[i]))
			rc = err_fail("'%s' holds '%s', which is of another origin: remove it, or name another folder", folder,
				      names[i]);
	}
	fs_free_names(names, count);
	return rc;
}

/* --- writing -------------------------------------------------------------------------- */

static int open_parts(struct split *s, const char *folder)
{
	for (size_t i = 0; i < s->n; i++) {
		struct part *p = &s->parts[i];
		struct buf path = BUF_INIT;
		int rc;

		p->documents = p->bytes = 0;
		rc = buf_addf(&path, "%s/%s%s", folder, p->name, ending(s)) || out_open(&p->out, path.data) ? -1 : 0;
		buf_release(&path);
		if (rc)
			return -1;
	}
	return 0;
}

/* TEXT is what is to be written of a document. */
static int write_document(struct split *s, struct key key, const struct buf *text)
{
	struct part *p = &s->parts[split_of(s, key)];

	if (out_write(p->out, text->data, text->len) || (!s->jsonl && out_write(p->out, "\n", 1)))
		return -1;
	s->documents++;
	s->keys += (unsigned __int128)key.hi << 64 | key.lo;
	p->documents++;
	p->bytes += text->len;
	return 0;
}

/* DOC, a line, becomes its document; LINE keeps what it was. */
static int parse_line(const struct split *s, const struct lines *lines, struct jsonl *names, struct document *doc, struct buf *line)
{
	uint64_t repaired = 0;		/* the line stays as it is */

	buf_clear(line);
	if (buf_add(line, doc->text.data, doc->text.len))
		return -1;
	return jsonl_document(names, doc, lines_name(lines, doc->file), &s->how, &repaired);
}

static int write_documents(struct split *s, struct lines *lines, struct progress *progress)
{
	struct document doc = DOCUMENT_INIT;
	struct jsonl names = JSONL_INIT;
	struct buf line = BUF_INIT;
	uint64_t total;
	int rc;

	s->documents = 0;
	s->keys = 0;
	while ((rc = lines_next_document(lines, &doc)) > 0) {
		rc = s->jsonl ? parse_line(s, lines, &names, &doc, &line) : 0;
		if (!rc && doc.n_lines)
			rc = write_document(s, doc.key, s->jsonl ? &line : &doc.text);
		if (rc)
			break;
		if (progress)
			progress_update(progress, s->documents, lines_progress(lines, &total));
	}
	document_release(&doc);
	jsonl_release(&names);
	buf_release(&line);
	if (!rc && !s->documents)
		rc = err_fail("no documents were found");
	return rc;
}

/*
 * Whatever stops this half-way, no new file stands beside an old SPLIT_REST, which may hold its documents:
 * that one goes first and comes last.
 */
static int commit_parts(struct split *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (out_sync(s->parts[i].out))
			return -1;
	if (out_remove_old(s->parts[s->n - 1].out))
		return -1;
	for (size_t i = 0; i < s->n; i++) {
		if (out_commit(s->parts[i].out))
			return -1;
		s->parts[i].out = NULL;
	}
	return 0;
}

int split_run(struct split *s, struct lines *lines, const char *folder, struct progress *progress)
{
	json_t *record = NULL;
	int rc = fs_make_folder(folder) || out_remove_stale(folder) || record_read(folder, &record) ? -1 : 0;

	if (!rc)
		rc = record ? check_options(s, record, folder) : check_strangers(s, folder);
	if (!rc)
		rc = open_parts(s, folder) || write_documents(s, lines, progress) || check_input(s, record, folder) ||
		     commit_parts(s) || record_write(s, folder) ? -1 : 0;
	json_decref(record);
	for (size_t i = 0; i < s->n; i++) {
		out_discard(s->parts[i].out);
		s->parts[i].out = NULL;
	}
	return rc;
}
