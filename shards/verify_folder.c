/* Whether the files of a folder belong together and are all there. */
#include "shards/verify_impl.h"
#include "base/err.h"
#include "base/fs.h"
#include "shards/canon.h"
#include "shards/folder.h"
#include "shards/manifest.h"

#include <inttypes.h>

#define MISSING_SAID 20		/* lines for missing shards; the rest are counted */

struct folder {
	struct verify *v;
	const char *path;
	struct manifest *manifest;	/* NULL: none that can be read */
	/* what all shards must agree on: the manifest's, else the first good shard's */
	const char *agreed;		/* whose it is: a file's name; NULL: nobody's yet */
	char *agreed_name;		/* owned */
	json_t *recipe;
	struct key corpus;
	uint64_t corpus_documents;
	uint32_t shards;
	unsigned char *seen;		/* [shards] 1: a file of that number is there */
	struct documents documents;	/* SHARD_GOOGLE: that all shards have in common */
	uint64_t *instances;		/* SHARD_GOOGLE: [shards] of each good one */
	/* sums over the good ones */
	size_t good;
	struct shard_totals totals;
	struct key keys;
	struct buf text;		/* scratch */
};

/* --- what all agree on ------------------------------------------------------------------------ */

/* The first member in which two recipes differ; NULL: none. */
static const char *difference(json_t *a, const json_t *b)
{
	const char *name;
	json_t *value;

	json_object_foreach(a, name, value)
		if (!json_equal(value, json_object_get(b, name)))
			return name;
	return json_object_size(a) == json_object_size(b) ? NULL : "number of members";
}

static int set_agreed(struct folder *f, const char *name, const struct shard_recipe *recipe, uint32_t shards,
		      uint64_t documents, struct key corpus)
{
	f->agreed = f->agreed_name = strdup(name);
	f->recipe = shard_recipe_json(recipe);
	f->seen = calloc(shards, 1);
	if (!f->agreed || !f->recipe || !f->seen) {
		f->agreed = NULL;
		return err_memory();
	}
	f->shards = shards;
	f->corpus = corpus;
	f->corpus_documents = documents;
	return 0;
}

static int check_agreed(const struct folder *f, const struct shard_header *h)
{
	json_t *recipe = shard_recipe_json(&h->recipe);
	const char *differs;
	int rc = -1;

	if (!recipe)
		return -1;
	differs = difference(recipe, f->recipe);
	if (differs)
		err_corrupt("its recipe is not that of '%s': '%s' differs", f->agreed, differs);
	else if (h->shards != f->shards)
		err_corrupt("it is one of %" PRIu32 " shards, '%s' says %" PRIu32, h->shards, f->agreed, f->shards);
	else if (key_compare(h->corpus, f->corpus) || h->corpus_documents != f->corpus_documents)
		err_corrupt("it was made from another corpus than '%s'", f->agreed);
	else
		rc = 0;
	json_decref(recipe);
	return rc;
}

/* --- shards ---------------------------------------------------------------------------------------- */

static int check_name(struct folder *f, const char *name, const struct shard_header *h)
{
	uint32_t shard, shards;

	if (!folder_parse_name(name, &shard, &shards))
		return err_corrupt("its name does not say which of how many shards it is");
	if (shard != h->shard || shards != h->shards)
		return err_corrupt("it is shard %" PRIu32 " of %" PRIu32 ", not what its name says", h->shard,
				   h->shards);
	if (f->seen[shard])
		return err_corrupt("there is another file with shard %" PRIu32, shard);
	f->seen[shard] = 1;
	return 0;
}

static int check_entry(const struct folder *f, const char *name, const struct verify_facts *facts)
{
	const struct manifest_shard *e = f->manifest ? &f->manifest->shards[facts->header.shard] : NULL;
	const struct key digest = { facts->trailer.digest_hi, facts->trailer.digest_lo };

	char room[MANIFEST_ROOM];
	const char *listed = e ? manifest_shard_name(f->manifest, facts->header.shard, room) : NULL;

	if (!e)
		return 0;
	if (strcmp(listed, name))
		return err_corrupt("%s lists '%s' in its place", MANIFEST_NAME, listed);
	if (e->bytes != facts->trailer.file_bytes || e->instances != facts->totals.instances ||
	    e->documents != facts->totals.documents || key_compare(e->digest, digest))
		return err_corrupt("%s tells of another file: its bytes, counts or digest differ", MANIFEST_NAME);
	return 0;
}

/* Of a shard whose documents are all of the corpus: the first one's table, and how many instances. */
static int keep_whole(struct folder *f, struct verify_facts *facts)
{
	if (!f->instances)
		f->instances = calloc(f->shards, sizeof(*f->instances));
	if (!f->instances)
		return err_memory();
	f->instances[facts->header.shard] = facts->totals.instances;
	if (f->documents.items)
		return 0;
	f->documents = facts->documents;
	facts->documents = (struct documents)DOCUMENTS_INIT;
	return 0;
}

static int check_shard(struct folder *f, const char *name, struct verify_facts *facts)
{
	const struct shard_header *h = &facts->header;

	if (!h->shards)
		return err_corrupt("it is no shard");
	if (!f->agreed && set_agreed(f, name, &h->recipe, h->shards, h->corpus_documents, h->corpus))
		return -1;
	if (check_agreed(f, h) || check_name(f, name, h) || check_entry(f, name, facts))
		return -1;
	if (h->recipe.rules == SHARD_GOOGLE && keep_whole(f, facts))
		return -1;
	f->good++;
	shard_totals_join(&f->totals, h, &facts->totals);
	if (h->recipe.rules != SHARD_GOOGLE || !h->shard)
		f->keys = key_add(f->keys, facts->keys);
	return 0;
}

/* A file that is bad is there all the same. */
static void mark_seen(struct folder *f, const char *name)
{
	uint32_t shard, shards;

	if (f->seen && folder_parse_name(name, &shard, &shards) && shards == f->shards && shard < shards &&
	    !f->seen[shard])
		f->seen[shard] = 1;
}

static void verify_shard_file(struct folder *f, const char *name)
{
	struct verify_facts facts = { .keys = { 0, 0 } };
	char *path = fs_join(f->path, name);
	int rc = path ? verify_file(f->v, path, &f->text, &facts) : -1;

	if (!rc && check_shard(f, name, &facts))
		rc = -1;
	verify_say(f->v, path ? path : name, rc, &f->text);
	if (rc)
		mark_seen(f, name);
	verify_facts_release(&facts);
	free(path);
}

static void say_of(struct folder *f, const char *name, int rc)
{
	char *path = fs_join(f->path, name);

	verify_say(f->v, path ? path : name, rc, &f->text);
	free(path);
}

static void say_missing(struct folder *f)
{
	uint64_t missing = 0;
	char room[MANIFEST_ROOM];

	for (uint32_t k = 0; k < f->shards; k++) {
		if (f->seen[k] || ++missing > MISSING_SAID)
			continue;
		if (f->manifest)
			say_of(f, manifest_shard_name(f->manifest, k, room), err_corrupt("missing"));
		else
			verify_say(f->v, f->path,
				   err_corrupt("shard %" PRIu32 " of %" PRIu32 " is missing", k, f->shards), NULL);
	}
	if (missing > MISSING_SAID)
		verify_say(f->v, f->path, err_corrupt("%" PRIu64 " more shards are missing", missing - MISSING_SAID),
			   NULL);
}

/* --- the rest ------------------------------------------------------------------------------------------ */

static int check_corpus(const struct folder *f)
{
	if (f->totals.documents != f->corpus_documents)
		return err_corrupt("the shards have %" PRIu64 " documents, their headers say %" PRIu64,
				   f->totals.documents, f->corpus_documents);
	if (key_compare(f->keys, f->corpus))
		return err_corrupt("the keys of all documents do not add up to the corpus digest of the headers");
	return 0;
}

/* SHARD_GOOGLE: instances were dealt to the shards in turn, and are chains of all of them. */
static int check_whole(const struct folder *f)
{
	if (!f->instances)
		return 0;
	for (uint32_t k = 0; k < f->shards; k++) {
		const uint64_t due = (f->totals.instances - k + f->shards - 1) / f->shards;

		if (f->instances[k] != due)
			return err_corrupt("shard %" PRIu32 " has %" PRIu64 " instances: of %" PRIu64 ", dealt in turn, it gets %" PRIu64,
					   k, f->instances[k], f->totals.instances, due);
	}
	/* Those of a shard that does not belong here, which was said, are in the chains, too. */
	return f->v->chained == f->good ? verify_chain_check(f->v->whole, &f->documents) : 0;
}

static int check_inputs(const struct manifest *m)
{
	struct key keys = { 0, 0 };
	uint64_t documents = 0;

	for (size_t k = 0; k < m->n_inputs; k++) {
		documents += m->inputs[k].documents;
		keys = key_add(keys, m->inputs[k].keys);
	}
	if (documents != m->corpus_documents || key_compare(keys, m->corpus))
		return err_corrupt("its inputs' documents do not add up to its corpus");
	return 0;
}

/* What was asked against what is there. */
static int check_options(const struct manifest *m)
{
	const json_t *shards = json_object_get(m->options, "shards"), *size = json_object_get(m->options, "shard_size");
	const char *name = canon_string(m->options, "name");
	char want[256];
	uint64_t n;

	if (!name || canon_uint(m->options, "compress", 0, 19, &n))
		return err_prefix("options");
	if (!shards || !size || json_is_null(shards) == json_is_null(size))
		return err_corrupt("options: one of 'shards' and 'shard_size' is null, the other is not");
	if (canon_uint(m->options, json_is_null(shards) ? "shard_size" : "shards", 1, INT64_MAX, &n))
		return err_prefix("options");
	if (!json_is_null(shards) && n != m->n_shards)
		return err_corrupt("options: %" PRIu64 " shards were asked for, %zu are listed", n, m->n_shards);
	for (size_t k = 0; k < m->n_shards; k++) {
		shard_file_name(want, sizeof(want), name, (uint32_t)k, (uint32_t)m->n_shards);
		if (m->shards[k].name && strcmp(want, m->shards[k].name))
			return err_corrupt("options: its shards were to be named '%s', '%s' is listed", name,
					   m->shards[k].name);
	}
	return 0;
}

static int check_totals(const struct manifest *m, const struct shard_totals *totals)
{
	json_t *says = shard_totals_json(&m->totals), *is = shard_totals_json(totals);
	const char *differs = says && is ? difference(says, is) : NULL;
	int rc = says && is ? 0 : -1;

	if (differs)
		rc = err_corrupt("its total of '%s' is not that of the shards", differs);
	json_decref(says);
	json_decref(is);
	return rc;
}

static int describe(struct folder *f)
{
	buf_clear(&f->text);
	if (verify_add_count(&f->text, f->good, "shard") || buf_adds(&f->text, ", ") ||
	    verify_add_count(&f->text, f->totals.documents, "document") || buf_adds(&f->text, ", "))
		return -1;
	return verify_add_count(&f->text, f->totals.instances, "instance");
}

/* What the others were found to be decides whether its totals can be. */
static void verify_manifest_file(struct folder *f)
{
	const bool complete = f->good == f->shards;

	if (!f->manifest)
		return;
	if (check_inputs(f->manifest) || check_options(f->manifest) ||
	    (complete && check_totals(f->manifest, &f->totals)))
		say_of(f, MANIFEST_NAME, -1);
	else if (complete)
		say_of(f, MANIFEST_NAME, describe(f));
}

/* That pieces are read as what VOCAB has them be. */
static int check_read_as(const struct folder *f, const struct vocab *vocab)
{
	struct shard_recipe r;
	struct read_as *runs;
	size_t n;
	int rc;

	if (!json_object_get(f->recipe, "read_as"))
		return 0;
	if (shard_recipe_parse(&r, f->recipe))
		return -1;
	rc = read_as_plain_cjk(&runs, &n, vocab);
	if (rc || n != r.n_read_as || memcmp(runs, r.read_as, n * sizeof(*runs)))
		rc = err_corrupt("the shards say that pieces are read as other characters than it has them be");
	free(runs);
	shard_recipe_release(&r);
	return rc;
}

static int check_vocab(struct folder *f, const char *path)
{
	struct vocab *vocab = NULL;
	int rc;

	if (!fs_exists(path))
		return err_corrupt("missing");
	if (vocab_load(&vocab, path))
		return -1;
	buf_clear(&f->text);
	if (folder_vocab_is(vocab, json_object_get(f->recipe, "tokenizer")))
		rc = check_read_as(f, vocab) ? -1 : verify_add_count(&f->text, vocab_size(vocab), "token");
	else
		rc = err_corrupt("it is not the vocabulary that the shards were made with");
	vocab_free(vocab);
	return rc;
}

static void verify_vocab_file(struct folder *f)
{
	char *path = fs_join(f->path, FOLDER_VOCAB);

	if (f->agreed)
		verify_say(f->v, path ? path : FOLDER_VOCAB, path ? check_vocab(f, path) : -1, &f->text);
	free(path);
}

static int check_words(struct folder *f, const char *path, const struct shard_recipe *r)
{
	struct vocab *vocab = NULL;
	struct mask_words *words = NULL;
	int rc = fs_exists(path) ? folder_vocab(&vocab, f->v->vocab_path, path, r->tokenizer) : err_corrupt("missing");

	if (!rc && !vocab)
		rc = err_corrupt("it cannot be looked at without the vocabulary");
	if (!rc)
		rc = mask_words_load(&words, path, vocab);
	if (!rc && strcmp(mask_words_sha256(words), r->words.sha256))
		rc = err_corrupt("it is not the list of words that the shards were made with");
	if (!rc && mask_words_count(words) != r->words.count)
		rc = err_corrupt("it has %" PRIu64 " words, the shards say %" PRIu64, mask_words_count(words), r->words.count);
	buf_clear(&f->text);
	if (!rc)
		rc = verify_add_count(&f->text, mask_words_count(words), "word");
	mask_words_free(words);
	vocab_free(vocab);
	return rc;
}

/* Where words are listed. */
static void verify_words_file(struct folder *f)
{
	char *path = fs_join(f->path, MASK_WORDS_NAME);
	struct shard_recipe recipe;

	if (f->agreed && json_object_get(f->recipe, "masking_words") && !shard_recipe_parse(&recipe, f->recipe)) {
		verify_say(f->v, path ? path : MASK_WORDS_NAME, path ? check_words(f, path, &recipe) : -1, &f->text);
		shard_recipe_release(&recipe);
	}
	free(path);
}

/* Reads the manifest, whose faults are said, and agrees with it. -1: there is nothing to verify. */
static int begin(struct folder *f, size_t n)
{
	const int rc = manifest_load(&f->manifest, f->path);

	if (!rc && f->manifest)
		return set_agreed(f, MANIFEST_NAME, &f->manifest->recipe, (uint32_t)f->manifest->n_shards,
				  f->manifest->corpus_documents, f->manifest->corpus);
	if (!rc && !n)
		return err_fail("no shards in it");
	if (!rc)
		err_corrupt("missing: the folder was never finished, or lost it");
	say_of(f, MANIFEST_NAME, -1);
	return 0;
}

static void release(struct folder *f)
{
	manifest_free(f->manifest);
	free(f->agreed_name);
	json_decref(f->recipe);
	free(f->seen);
	documents_release(&f->documents);
	free(f->instances);
	verify_chain_free(f->v->whole);
	f->v->whole = NULL;
	f->v->chained = 0;
	f->v->in_folder = false;
	buf_release(&f->text);
}

void verify_folder(struct verify *v, const char *path)
{
	struct folder f = { .v = v, .path = path, .text = BUF_INIT };
	char **names = NULL;
	size_t n = 0;

	v->in_folder = true;
	if (folder_names(path, &names, &n) || begin(&f, n)) {
		verify_say(v, path, -1, NULL);
		goto done;
	}
	for (size_t k = 0; k < n; k++)
		verify_shard_file(&f, names[k]);
	if (f.agreed)
		say_missing(&f);
	if (f.agreed && f.good == f.shards && (check_corpus(&f) || check_whole(&f)))
		verify_say(v, path, -1, NULL);
	verify_vocab_file(&f);
	verify_words_file(&f);
	verify_manifest_file(&f);
done:
	fs_free_names(names, n);
	release(&f);
}
