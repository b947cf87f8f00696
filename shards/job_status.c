/* How far a folder is. */
#include "shards/job_impl.h"
#include "base/pool.h"
#include "shards/canon.h"
#include "shards/keys.h"
#include "shards/manifest.h"
#include "shards/scan.h"

#include <inttypes.h>

#define LISTED 20		/* missing ones that are named */

/* How one of a stage's files is. */
enum state { THERE, MISSING, FOREIGN, STATES };

/* Counts them, and says so in the end: "write: 4 of 6 shards, missing: 2 5". */
struct tally {
	uint64_t n[STATES];
	struct buf numbers[STATES];	/* of the first ones; of those that are there none */
	struct buf foreign;		/* why the first of these cannot be read */
};
#define TALLY_INIT { .n = { 0 } }

/* The reason that is set tells of a foreign one. */
static int tally_add(struct tally *t, enum state state, uint64_t number)
{
	if (state == FOREIGN && !t->n[FOREIGN] && buf_addf(&t->foreign, "version: %s\n", err_text()))
		return -1;
	if (t->n[state]++ >= LISTED || state == THERE)
		return 0;
	return buf_addf(&t->numbers[state], " %" PRIu64, number);
}

static void tally_release(struct tally *t)
{
	for (enum state s = THERE; s < STATES; s++)
		buf_release(&t->numbers[s]);
	buf_release(&t->foreign);
}

static int tally_say(const struct tally *t, const char *stage, const char *noun, struct buf *b)
{
	static const char *const words[STATES] = { [MISSING] = "missing", [FOREIGN] = "of another version" };
	int rc = buf_addf(b, "%s: %" PRIu64 " of %" PRIu64 " %s", stage, t->n[THERE], t->n[THERE] + t->n[MISSING] + t->n[FOREIGN],
			  noun);

	for (enum state s = MISSING; s < STATES && !rc; s++)
		if (t->n[s])
			rc = buf_addf(b, ", %s:%s%s", words[s], t->numbers[s].data, t->n[s] > LISTED ? " ..." : "");
	if (!rc)
		rc = buf_adds(b, "\n");
	return rc || !t->foreign.len ? rc : buf_add(b, t->foreign.data, t->foreign.len);
}

/* What shard PATH, which is corrupt, is. */
static int state_of_corrupt(const char *path, enum state *state)
{
	const int foreign = shard_is_foreign(path);

	*state = foreign > 0 ? FOREIGN : MISSING;
	return foreign < 0 ? -1 : 0;
}

/* How shard K is, as far as its ends say: header, index, trailer and size. Another run reads all of it. */
static int state_of_unlisted(const char *folder, const char *name, uint32_t k, uint32_t shards, enum state *state)
{
	char *path = fs_join(folder, name);
	struct shard *s = NULL;
	int rc = path ? 0 : -1;

	*state = MISSING;
	if (path && fs_exists(path)) {
		if (shard_open(&s, path))
			rc = err_code() == EXIT_CORRUPT ? state_of_corrupt(path, state) : -1;
		else if (shard_header(s)->shard == k && shard_header(s)->shards == shards)
			*state = THERE;
	}
	shard_close(s);
	free(path);
	return rc;
}

static int shards_status(const char *folder, const char *name, uint32_t shards, struct buf *b)
{
	struct tally t = TALLY_INIT;
	int rc = 0;

	for (uint32_t k = 0; k < shards && !rc; k++) {
		char file[256];
		enum state state;

		shard_file_name(file, sizeof(file), name, k, shards);
		rc = state_of_unlisted(folder, file, k, shards, &state) || tally_add(&t, state, k) ? -1 : 0;
	}
	rc = rc ? rc : tally_say(&t, "write", "shards", b);
	tally_release(&t);
	return rc;
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
		struct tally t = TALLY_INIT;
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
			rc = part_is_whole(work, file, &there) || tally_add(&t, there ? THERE : MISSING, k) ? -1 : 0;
		}
		rc = rc ? rc : tally_say(&t, "index", "parts", b);
		tally_release(&t);
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

/* How shard K of M is: there, where it is whole and what M says. */
static int state_of_listed(const char *folder, const struct manifest *m, size_t k, enum state *state)
{
	const struct manifest_shard *e = &m->shards[k];
	char room[MANIFEST_ROOM], *path = fs_join(folder, manifest_shard_name(m, k, room));
	struct shard *s = NULL;
	int rc = path ? 0 : -1;

	*state = MISSING;
	if (path && fs_exists(path)) {
		rc = scan_is_sound(path, pool_allowed_threads());
		if (!rc)
			rc = state_of_corrupt(path, state);
		else if (rc == 1 && !(rc = shard_open(&s, path)) && job_is_listed(e, s))
			*state = THERE;
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
	struct tally t = TALLY_INIT;
	int rc = 0;

	for (size_t k = 0; k < m->n_shards && !rc; k++) {
		enum state state;

		rc = state_of_listed(folder, m, k, &state) || tally_add(&t, state, k) ? -1 : 0;
	}
	rc = rc || tally_say(&t, "write", "shards", b) || vocab_status(folder, m, b) || buf_adds(b, "manifest: there\n") ? -1 : 0;
	tally_release(&t);
	return rc;
}

/* Of a manifest that cannot be loaded for the REASON. */
static int damage_status(const char *folder, const struct err *reason, struct buf *b)
{
	const int foreign = manifest_is_foreign(folder);

	return foreign < 0 ? -1 : buf_addf(b, "manifest: %s: %s\n", foreign ? "of another version" : "damaged", reason->text);
}

int job_status(const char *folder, struct buf *b)
{
	char *work = fs_join(folder, JOB_WORK), *options = work ? fs_join(work, JOB_OPTIONS) : NULL;
	struct manifest *m = NULL;
	struct err reason;
	bool damaged;
	int rc = -1;

	if (!options)
		goto done;
	if (!fs_exists(folder)) {
		err_fail("'%s' does not exist", folder);
		goto done;
	}
	damaged = manifest_load(&m, folder) != 0;
	err_get(&reason);
	if (damaged && err_code() != EXIT_CORRUPT)
		goto done;
	if (m)
		rc = manifest_status(folder, m, b);
	else if (fs_exists(options))
		rc = work_status(folder, work, b);
	else if (damaged)
		rc = damage_status(folder, &reason, b);
	else
		rc = err_fail("'%s' holds neither a manifest nor work of bert-shard", folder);
done:
	manifest_free(m);
	free(options);
	free(work);
	return rc;
}
