/* What lies in a folder of shards. */
#include "shards/folder.h"
#include "base/err.h"
#include "base/fs.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

#define SUFFIX ".shard"
#define VOCAB_BYTES_MAX ((size_t)1 << 30)
#define WORK ".work"			/* bert-shard's, until the manifest is written */

bool folder_is(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

bool folder_holds(const char *folder, const char *path)
{
	char real[PATH_MAX], *slash;
	struct stat in, of;

	if (folder_is(path) || !realpath(path, real) || stat(folder, &of) || !S_ISDIR(of.st_mode))
		return false;
	slash = strrchr(real, '/');
	slash[slash == real] = 0;
	return !stat(real, &in) && in.st_dev == of.st_dev && in.st_ino == of.st_ino;
}

char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder = folder_is(path) ? strdup(path) : slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");

	if (!folder)
		err_memory();
	return folder;
}

static bool has_suffix(const char *name)
{
	const size_t n = strlen(name), s = strlen(SUFFIX);

	return n > s && name[0] != '.' && !strcmp(name + n - s, SUFFIX);
}

int folder_names(const char *folder, char ***names, size_t *n)
{
	size_t all, kept = 0;

	*n = 0;
	if (fs_list(folder, names, &all))
		return -1;
	for (size_t k = 0; k < all; k++) {
		if (has_suffix((*names)[k]))
			(*names)[kept++] = (*names)[k];
		else
			free((*names)[k]);
	}
	*n = kept;
	return 0;
}

/* Names to paths, in place. */
static int join_all(const char *folder, char **names, size_t n)
{
	for (size_t k = 0; k < n; k++) {
		char *path = fs_join(folder, names[k]);

		if (!path)
			return -1;
		free(names[k]);
		names[k] = path;
	}
	return 0;
}

/* --- whether all are there --------------------------------------------------------------------- */

#define NOT_KNOWN SIZE_MAX

/*
 * The first of the shards of M that is not in FOLDER with its bytes is *FIRST; *MISSING of them are not. *CODE is
 * EXIT_CORRUPT where all are there, and some cut short or changed.
 */
static int hold_against(const char *folder, const struct manifest *m, size_t *missing, size_t *first, enum exit_code *code)
{
	*missing = 0;
	*first = NOT_KNOWN;
	*code = EXIT_CORRUPT;
	for (size_t k = 0; k < m->n_shards; k++) {
		char room[MANIFEST_ROOM], *path = fs_join(folder, manifest_shard_name(m, k, room));
		struct stat st;
		const bool there = path && !stat(path, &st) && S_ISREG(st.st_mode);
		const bool good = there && (uint64_t)st.st_size == m->shards[k].bytes;

		if (!path)
			return -1;
		free(path);
		if (!there)
			*code = EXIT_FAILED;
		if (!good && !(*missing)++)
			*first = k;
	}
	return 0;
}

/* The first of N that no name tells of. */
static int find_missing(char *const *names, size_t n_names, size_t n, size_t *first)
{
	bool *seen = calloc(n, sizeof(*seen));
	uint32_t shard, shards;

	*first = NOT_KNOWN;
	if (!seen)
		return err_memory();
	for (size_t k = 0; k < n_names; k++)
		if (folder_parse_name(names[k], &shard, &shards) && shards == n && shard < n)
			seen[shard] = true;
	for (size_t k = 0; k < n && *first == NOT_KNOWN; k++)
		if (!seen[k])
			*first = k;
	free(seen);
	return 0;
}

static int say_missing(struct buf *b, const char *folder, size_t n, size_t missing, size_t first)
{
	if (buf_addf(b, "'%s' is not complete: %zu of its %zu shards %s missing or of another size", folder, missing, n,
		     missing == 1 ? "is" : "are"))
		return -1;
	if (first != NOT_KNOWN && buf_addf(b, missing == 1 ? ", number %zu" : ", number %zu the first", first))
		return -1;
	return buf_addf(b, " (bert-shard --status %s tells more)", folder);
}

/* How many shards there are, as one of them says; 0 where it cannot be read: whoever opens it will tell. */
static int ask_one(const char *folder, const char *name, size_t *n)
{
	char *path = fs_join(folder, name);
	struct shard *s;

	*n = 0;
	if (!path)
		return -1;
	if (!shard_open(&s, path)) {
		*n = shard_header(s)->shards;
		shard_close(s);
	}
	free(path);
	return 0;
}

static int is_at_work(const char *folder, bool *at_work)
{
	char *path = fs_join(folder, WORK);

	*at_work = path && fs_exists(path);
	free(path);
	return path ? 0 : -1;
}

/* What there is to say of a folder without a manifest. */
static int judge_names(const char *folder, char *const *names, size_t n, struct buf *lacks)
{
	bool at_work;
	size_t all, first;

	if (!n)
		return 0;
	if (is_at_work(folder, &at_work))
		return -1;
	if (at_work)
		return buf_addf(lacks, "'%s' is not finished: its %zu shards are not all (bert-shard --status %s tells more)", folder, n, folder);
	if (ask_one(folder, names[0], &all))
		return -1;
	if (!all || all == n)
		return 0;
	if (n > all)
		return buf_addf(lacks, "'%s' holds %zu shards, and '%s' is one of %zu: they do not belong together", folder, n, names[0], all);
	return find_missing(names, n, all, &first) ? -1 : say_missing(lacks, folder, all, all - n, first);
}

static int judge_manifest(const char *folder, const struct manifest *m, struct buf *lacks, enum exit_code *code)
{
	size_t missing, first;

	if (hold_against(folder, m, &missing, &first, code))
		return -1;
	return missing ? say_missing(lacks, folder, m->n_shards, missing, first) : 0;
}

int folder_check(const char *folder, const struct manifest *m)
{
	struct buf lacks = BUF_INIT;
	enum exit_code code;
	int rc = judge_manifest(folder, m, &lacks, &code);

	if (!rc && lacks.len)
		rc = err_set(code, "%s", lacks.data);
	buf_release(&lacks);
	return rc;
}

int folder_check_place(const char *path, size_t k, size_t n, const struct shard_header *h)
{
	if (h->shard == k && h->shards == n)
		return 0;
	return err_corrupt("'%s' is shard %" PRIu32 " of %" PRIu32 ", in the place of shard %zu of %zu", path, h->shard, h->shards, k, n);
}

int folder_set_check(struct folder_set *s, const char *path, size_t k, const struct shard_header *h)
{
	struct shard_header common = *h;
	char *header;
	int rc = 0;

	if (!s->n)
		return 0;
	if (folder_check_place(path, k, s->n, h))
		return -1;
	common.shard = 0;
	header = shard_header_print(&common);
	if (!header)
		return err_memory();
	if (!s->header) {
		s->header = header;
		return 0;
	}
	if (strcmp(header, s->header))
		rc = err_corrupt("'%s' is of another set than the shards before it: its recipe or corpus differs", path);
	free(header);
	return rc;
}

void folder_set_release(struct folder_set *s)
{
	free(s->header);
	s->header = NULL;
}

/* --- their list -------------------------------------------------------------------------------- */

static int names_of_manifest(const struct manifest *m, char ***names, size_t *n)
{
	char room[MANIFEST_ROOM];

	*names = calloc(m->n_shards + 1, sizeof(**names));
	if (!*names)
		return err_memory();
	for (size_t k = 0; k < m->n_shards; k++, ++*n) {
		(*names)[k] = strdup(manifest_shard_name(m, k, room));
		if (!(*names)[k])
			return err_memory();
	}
	return 0;
}

/* Where shards lack, those that are there, and the CODE of that. */
static int list_folder(const char *folder, char ***names, size_t *n, struct buf *lacks, enum exit_code *code)
{
	struct manifest *m;
	int rc;

	if (manifest_load(&m, folder))
		return -1;
	*code = EXIT_FAILED;
	rc = m ? judge_manifest(folder, m, lacks, code) : 0;
	if (!rc)
		rc = m && !lacks->len ? names_of_manifest(m, names, n) : folder_names(folder, names, n);
	if (!rc && !m)
		rc = judge_names(folder, *names, *n, lacks);
	manifest_free(m);
	if (rc || join_all(folder, *names, *n))
		return -1;
	return *n ? 0 : err_fail("no shards in '%s'", folder);
}

static int list_path(const char *path, char ***paths, size_t *n, struct buf *lacks, enum exit_code *code)
{
	*paths = NULL;
	*n = 0;
	buf_clear(lacks);
	if (folder_is(path)) {
		if (!list_folder(path, paths, n, lacks, code))
			return 0;
		fs_free_names(*paths, *n);
		*paths = NULL;
		*n = 0;
		return -1;
	}
	*paths = calloc(1, sizeof(**paths));
	if (!*paths || !(**paths = strdup(path))) {
		free(*paths);
		*paths = NULL;
		return err_memory();
	}
	*n = 1;
	return 0;
}

int folder_shards_there(const char *path, char ***paths, size_t *n, struct buf *lacks)
{
	enum exit_code code;

	return list_path(path, paths, n, lacks, &code);
}

int folder_shards(const char *path, char ***paths, size_t *n)
{
	struct buf lacks = BUF_INIT;
	enum exit_code code = EXIT_FAILED;
	int rc = list_path(path, paths, n, &lacks, &code);

	if (!rc && lacks.len) {
		rc = err_set(code, "%s", lacks.data);
		fs_free_names(*paths, *n);
		*paths = NULL;
		*n = 0;
	}
	buf_release(&lacks);
	return rc;
}

static uint64_t size_of(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
}

uint64_t folder_bytes(const char *const *paths, int n)
{
	uint64_t bytes = 0;

	for (int k = 0; k < n; k++) {
		char **names = NULL;
		size_t n_names = 0;

		if (!folder_is(paths[k])) {
			bytes += size_of(paths[k]);
			continue;
		}
		if (!folder_names(paths[k], &names, &n_names) && !join_all(paths[k], names, n_names))
			for (size_t j = 0; j < n_names; j++)
				bytes += size_of(names[j]);
		fs_free_names(names, n_names);
	}
	return bytes;
}

/* Digits at *P up to END, which must be there, into *V. */
static bool take_number(const char **p, const char *end, uint32_t *v)
{
	const char *s = *p;
	uint64_t x = 0;

	for (; *s >= '0' && *s <= '9' && x <= UINT32_MAX; s++)
		x = 10 * x + (uint64_t)(*s - '0');
	if (s == *p || x > UINT32_MAX || strncmp(s, end, strlen(end)))
		return false;
	*v = (uint32_t)x;
	*p = s + strlen(end);
	return true;
}

bool folder_parse_name(const char *path, uint32_t *shard, uint32_t *shards)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;

	for (const char *dash = strchr(name, '-'); dash; dash = strchr(dash + 1, '-')) {
		const char *p = dash + 1;

		if (take_number(&p, "-of-", shard) && take_number(&p, SUFFIX, shards) && !*p)
			return true;
	}
	return false;
}

/* --- the vocabulary ------------------------------------------------------------------------- */

static const json_t *wanted(const json_t *tokenizer)
{
	return json_object_get(tokenizer, "vocab");
}

bool folder_vocab_is(const struct vocab *v, const json_t *tokenizer)
{
	const char *sha256 = json_string_value(json_object_get(wanted(tokenizer), "sha256"));

	return sha256 && !strcmp(sha256, vocab_sha256(v)) &&
	       json_integer_value(json_object_get(wanted(tokenizer), "size")) == (json_int_t)vocab_size(v);
}

static char *join_beside(const char *path, const char *name)
{
	char *folder = folder_of(path), *joined = folder ? fs_join(folder, name) : NULL;

	free(folder);
	return joined;
}

/* One that cannot be read is as none: whoever needs it says so. */
static int load_beside(struct vocab **v, const char *beside, const json_t *tokenizer)
{
	char *path = join_beside(beside, FOLDER_VOCAB);

	if (!path)
		return -1;
	if (fs_exists(path) && vocab_load(v, path))
		*v = NULL;
	free(path);
	if (*v && !folder_vocab_is(*v, tokenizer)) {
		vocab_free(*v);
		*v = NULL;
	}
	return 0;
}

int folder_vocab(struct vocab **v, const char *given, const char *beside, const json_t *tokenizer)
{
	const char *sha256 = json_string_value(json_object_get(wanted(tokenizer), "sha256"));

	if (*v && folder_vocab_is(*v, tokenizer))
		return 0;
	vocab_free(*v);
	*v = NULL;
	if (!given)
		return load_beside(v, beside, tokenizer);
	if (vocab_load(v, given))
		return -1;
	if (!folder_vocab_is(*v, tokenizer))
		return err_fail("'%s' is not the vocabulary of '%s': its sha256 is %.12s..., not %.12s...", given,
				beside, vocab_sha256(*v), sha256);
	return 0;
}

int folder_copy_vocab(const char *folder, const struct tokenizer_opts *t)
{
	char *from = t->vocab ? strdup(t->vocab) : fs_join(t->model, FOLDER_VOCAB), *to = fs_join(folder, FOLDER_VOCAB);
	struct buf text = BUF_INIT;
	int rc = from && to ? 0 : err_memory();

	if (!rc)
		rc = fs_read_all(from, VOCAB_BYTES_MAX, &text) || fs_write_all(to, text.data, text.len) ? -1 : 0;
	buf_release(&text);
	free(from);
	free(to);
	return rc;
}

int folder_words(struct mask_words **w, const char *beside, struct shard_recipe *r, const struct vocab *vocab)
{
	char *path;

	r->words.list = NULL;
	if (!r->words.count || !vocab)
		return 0;
	if (!*w || strcmp(mask_words_sha256(*w), r->words.sha256)) {
		mask_words_free(*w);
		*w = NULL;
		path = join_beside(beside, MASK_WORDS_NAME);
		if (!path)
			return -1;
		if (fs_exists(path) && mask_words_load(w, path, vocab))
			*w = NULL;
		free(path);
	}
	if (*w && strcmp(mask_words_sha256(*w), r->words.sha256)) {
		mask_words_free(*w);
		*w = NULL;
	}
	r->words.list = *w;
	return 0;
}
