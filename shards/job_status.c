/* How far a folder is. */
#include "shards/job_impl.h"
#include "base/pool.h"
#include "shards/canon.h"
#include "shards/keys.h"
#include "shards/manifest.h"
#include "shards/scan.h"

#include <inttypes.h>

#define LISTED 20		/* missing ones that are named */

/* Counts what is missing, and says so in the end: "write: 4 of 6 shards are there, missing: 2 5". */
struct tally {
	struct buf missing;
	uint64_t n, there;
};

static int tally_add(struct tally *t, bool there, uint64_t number)
{
	t->n++;
	t->there += there;
	if (there || t->n - t->there > LISTED)
		return 0;
	return buf_addf(&t->missing, " %" PRIu64, number);
}

static int tally_say(struct tally *t, const char *stage, const char *noun, struct buf *b)
{
	const bool more = t->n - t->there > LISTED;
	int rc = buf_addf(b, "%s: %" PRIu64 " of %" PRIu64 " %s", stage, t->there, t->n, noun);

	if (!rc && t->there < t->n)
		rc = buf_addf(b, ", missing:%s%s", t->missing.data, more ? " ..." : "");
	buf_release(&t->missing);
	return rc || buf_adds(b, "\n") ? -1 : 0;
}

/* Whether shard K is there, as far as its ends say: header, index, trailer and size. Another run reads all of it. */
static int shard_is_there(const char *folder, const char *name, uint32_t k, uint32_t shards, bool *there)
{
	char *path = fs_join(folder, name);
	struct shard *s = NULL;
	int rc = path ? 0 : -1;

	*there = false;
	if (path && fs_exists(path)) {
		rc = shard_open(&s, path) && err_code() != EXIT_CORRUPT ? -1 : 0;
		*there = s && shard_header(s)->shard == k && shard_header(s)->shards == shards;
	}
	shard_close(s);
	free(path);
	return rc;
}

static int shards_status(const char *folder, const char *name, uint32_t shards, struct buf *b)
{
	struct tally t = { BUF_INIT, 0, 0 };

	for (uint32_t k = 0; k < shards; k++) {
		char file[256];
		bool there;

		shard_file_name(file, sizeof(file), name, k, shards);
		if (shard_is_there(folder, file, k, shards, &there) || tally_add(&t, there, k)) {
			buf_release(&t.missing);
			return -1;
		}
	}
	return tally_say(&t, "write", "shards", b);
}

static int part_is_whole(const char *work, const char *name, bool *whole)
{
	char *path = fs_join(work, name);
	int rc = path ? 0 : -1;

	if (path && fs_exists(path))
		rc = job_index_is_sound(path);
	*whole = rc > 0;
	free(path);
	return rc < 0 ? -1 : 0;
}

/* Of every division of the index that has a file, which parts are there. */
static int index_status(const char *work, struct buf *b)
{
	char **names;
	size_t n;
	uint64_t said = 0;
	int rc = 0;

	if (fs_list(work, &names, &n))
		return -1;
	for (size_t i = 0; i < n && !rc; i++) {
		struct tally t = { BUF_INIT, 0, 0 };
		unsigned part, of;
		int end = 0;

		if (sscanf(names[i], "index-%5u-of-%5u.tok%n", &part, &of, &end) != 2 || !end || names[i][end] ||
		    of == said)
			continue;
		said = of;
		for (unsigned k = 0; k < of && !rc; k++) {
			char file[64];
			bool there = false;

			snprintf(file, sizeof(file), "index-%05u-of-%05u.tok", k, of);
			rc = part_is_whole(work, file, &there) || tally_add(&t, there, k) ? -1 : 0;
		}
		rc = rc ? rc : tally_say(&t, "index", "parts", b);
	}
	fs_free_names(names, n);
	return rc || said ? rc : buf_adds(b, "index: no part\n");
}

static int load(const char *path, json_t **o)
{
	struct buf text = BUF_INIT;

	*o = fs_read_all(path, JOB_JSON_MAX, &text) ? NULL : canon_parse(text.data, text.len);
	buf_release(&text);
	return *o ? 0 : err_prefix("'%s'", path);
}

/* The first word of the shards' names, as options.json O at PATH says; NULL: it does not. */
static const char *name_in(const json_t *o, const char *path)
{
	const json_t *identity = canon_object(o, "identity"), *asked = identity ? canon_object(identity, "options") : NULL;
	const char *name = asked ? canon_string(asked, "name") : NULL;

	if (!name)
		err_prefix("'%s'", path);
	return name;
}

/* The plan at PATH, and what was made by it of shards called NAME; NULL: nobody knows how they are called. */
static int plan_status(const char *folder, const char *name, const char *path, struct buf *b)
{
	json_t *plan;
	uint32_t shards;
	int rc;

	if (!fs_exists(path))
		return buf_adds(b, "plan: missing\n");
	plan = plan_read(path);
	if (!plan || canon_uint32(plan, "shards", 1, KEYS_SHARDS_MAX, &shards))
		rc = err_code() == EXIT_CORRUPT ? buf_adds(b, "plan: damaged, and made again from the index\n")
						: err_prefix("'%s'", path);
	else
		rc = buf_addf(b, "plan: %" PRIu32 " shards\n", shards) || (name && shards_status(folder, name, shards, b)) ? -1 : 0;
	json_decref(plan);
	return rc;
}

/* The work folder's account. */
static int work_status(const char *folder, const char *work, struct buf *b)
{
	char *options_path = fs_join(work, JOB_OPTIONS), *plan_path = fs_join(work, JOB_PLAN);
	json_t *options = NULL;
	const char *name = NULL;
	int rc = -1;

	if (!options_path || !plan_path)
		goto done;
	if (load(options_path, &options) || !(name = name_in(options, options_path))) {
		if (err_code() != EXIT_CORRUPT || buf_addf(b, "options: damaged: %s\n", err_text()))
			goto done;
	}
	if (!index_status(work, b) && !plan_status(folder, name, plan_path, b))
		rc = buf_adds(b, "manifest: missing\n");
done:
	json_decref(options);
	free(options_path);
	free(plan_path);
	return rc;
}

/* Whether shard K of M is there, whole, and what M says. */
static int shard_status(const char *folder, const struct manifest *m, size_t k, bool *there)
{
	const struct manifest_shard *e = &m->shards[k];
	char room[MANIFEST_ROOM], *path = fs_join(folder, manifest_shard_name(m, k, room));
	struct shard *s = NULL;
	int rc = path ? 0 : -1;

	*there = false;
	if (path && fs_exists(path)) {
		rc = scan_is_sound(path, pool_allowed_threads());
		if (rc == 1 && shard_open(&s, path))
			rc = -1;
		*there = rc == 1 && job_is_listed(e, s);
		rc = rc < 0 ? -1 : 0;
	}
	shard_close(s);
	free(path);
	return rc;
}

static int vocab_status(const char *folder, const struct manifest *m, struct buf *b)
{
	const json_t *vocab = json_object_get(m->recipe.tokenizer, "vocab");
	const char *sha256 = json_string_value(json_object_get(vocab, "sha256"));
	bool has;

	if (job_has_vocab(folder, sha256 ? sha256 : "", &has))
		return -1;
	if (!has)
		return buf_adds(b, "vocab.txt: missing or damaged\n");
	if (job_has_words(folder, &m->recipe, &has))
		return -1;
	return has ? 0 : buf_adds(b, MASK_WORDS_NAME ": missing or damaged\n");
}

static int manifest_status(const char *folder, const struct manifest *m, struct buf *b)
{
	struct tally t = { BUF_INIT, 0, 0 };

	for (size_t k = 0; k < m->n_shards; k++) {
		bool there;

		if (shard_status(folder, m, k, &there) || tally_add(&t, there, k)) {
			buf_release(&t.missing);
			return -1;
		}
	}
	return tally_say(&t, "write", "shards", b) || vocab_status(folder, m, b) || buf_adds(b, "manifest: there\n") ? -1 : 0;
}

int job_status(const char *folder, struct buf *b)
{
	char *work = fs_join(folder, JOB_WORK), *options = work ? fs_join(work, JOB_OPTIONS) : NULL;
	struct manifest *m = NULL;
	bool damaged;
	int rc = -1;

	if (!options)
		goto done;
	if (!fs_exists(folder)) {
		err_fail("'%s' does not exist", folder);
		goto done;
	}
	damaged = manifest_load(&m, folder) != 0;
	if (damaged && err_code() != EXIT_CORRUPT)
		goto done;
	if (m)
		rc = manifest_status(folder, m, b);
	else if (fs_exists(options))
		rc = work_status(folder, work, b);
	else if (damaged)
		rc = buf_addf(b, "manifest: damaged: %s\n", err_text());
	else
		rc = err_fail("'%s' holds neither a manifest nor work of bert-shard", folder);
done:
	manifest_free(m);
	free(options);
	free(work);
	return rc;
}
