/* What files of a folder say of each other. */
#include "shards/canon.h"
#include "shards/verify.h"
#include "tests/unit/shards/made_folder.h"

#include <unistd.h>

static char said[8192];

static void say(void *ctx, const char *name, enum verify_verdict v, const char *text)
{
	const char *slash = strrchr(name, '/');
	const size_t n = strlen(said);

	(void)ctx;
	snprintf(said + n, sizeof(said) - n, "%s%s: %s\n", v == VERIFY_GOOD ? "" : "FAULT ", slash ? slash + 1 : name,
		 text);
}

static struct verify look(void)
{
	struct verify v = { .threads = 2, .say = say };

	said[0] = 0;
	verify_path(&v, made_set);
	verify_release(&v);
	return v;
}

/* The folder has FAULTS faults, one of them being TEXT. */
static void has(uint64_t faults, const char *text)
{
	const struct verify v = look();

	if (v.faults != faults || v.unread || (text && !strstr(said, text)))
		fail_msg("%llu faults, wanted %llu with '%s':\n%s", (unsigned long long)v.faults,
			 (unsigned long long)faults, text ? text : "", said);
}

static void make(const struct made *like)
{
	made_folder(made_set, like);
}

static void in_folder(char *path, size_t n, const char *name)
{
	snprintf(path, n, "%s/%s", made_set, name);
}

static void good_folders(void **state)
{
	(void)state;
	make(&(struct made){ .seed = 1 });
	has(0, "manifest.json: 3 shards, 36 documents, ");
	assert_non_null(strstr(said, "vocab.txt: 200 tokens\n"));
	make(&(struct made){ .seed = 1, .dynamic = true, .whole_word = true });
	has(0, "shard-00002-of-00003.shard: ");
}

static void missing_files(void **state)
{
	char path[256];

	(void)state;
	make(&(struct made){ .seed = 1 });
	unlink(made_path(made_set, 1));
	has(1, "FAULT shard-00001-of-00003.shard: missing\n");
	in_folder(path, sizeof(path), "manifest.json");
	unlink(path);
	has(2, "FAULT set: shard 1 of 3 is missing\n");
	assert_non_null(strstr(said, "FAULT manifest.json: missing"));
	make(&(struct made){ .seed = 1 });
	in_folder(path, sizeof(path), "vocab.txt");
	unlink(path);
	has(1, "FAULT vocab.txt: missing\n");
}

static void another_vocabulary(void **state)
{
	char path[256];

	(void)state;
	make(&(struct made){ .seed = 1 });
	in_folder(path, sizeof(path), "vocab.txt");
	assert_int_equal(fs_write_all(path, "[UNK]\nother\n", 12), 0);
	has(1, "FAULT vocab.txt: it is not the vocabulary");
	make(&(struct made){ .seed = 1, .read_as = true });
	has(1, "FAULT vocab.txt: the shards say that pieces are read as other characters");
}

static void foreign_shards(void **state)
{
	char path[256], vocab[256];
	struct made other = { .seed = 2, .shard = 1, .shards = MADE_SHARDS, .corpus = made_corpus(),
			      .corpus_documents = MADE_SHARDS * MADE_DOCUMENTS };

	(void)state;
	make(&(struct made){ .seed = 1 });
	in_folder(vocab, sizeof(vocab), "vocab.txt");
	made_shard(made_path(made_set, 1), vocab, &other, NULL, NULL);
	has(1, "FAULT shard-00001-of-00003.shard: its recipe is not that of 'manifest.json': 'seed' differs\n");
	other.seed = 1;
	other.corpus.lo++;
	made_shard(made_path(made_set, 1), vocab, &other, NULL, NULL);
	has(1, "it was made from another corpus");
	other.corpus.lo--;
	made_shard(made_path(made_set, 1), vocab, &other, NULL, NULL);
	has(0, NULL);
	in_folder(path, sizeof(path), "train-00001-of-00003.shard");
	assert_int_equal(rename(made_path(made_set, 1), path), 0);
	has(1, "manifest.json lists 'shard-00001-of-00003.shard' in its place");
	assert_int_equal(link(path, made_path(made_set, 1)), 0);
	has(1, "FAULT train-00001-of-00003.shard: there is another file with shard 1\n");
	in_folder(vocab, sizeof(vocab), "some.shard");
	assert_int_equal(rename(path, vocab), 0);
	has(1, "FAULT some.shard: its name does not say which");
	assert_int_equal(rename(made_path(made_set, 2), vocab), 0);
	assert_int_equal(rename(made_path(made_set, 1), path), 0);
	assert_int_equal(rename(path, made_path(made_set, 2)), 0);
	has(3, "FAULT shard-00002-of-00003.shard: it is shard 1 of 3, not what its name says\n");
}

/* Shards of two corpora that say the same: only their sum tells. */
static void wrong_sums(void **state)
{
	struct made one = { .seed = 1, .shards = MADE_SHARDS, .corpus = made_corpus(),
			    .corpus_documents = MADE_SHARDS * MADE_DOCUMENTS };
	char path[256], vocab[256];

	(void)state;
	make(&(struct made){ .seed = 1 });
	in_folder(path, sizeof(path), "manifest.json");
	in_folder(vocab, sizeof(vocab), "vocab.txt");
	unlink(path);
	one.corpus.hi ^= 1;
	for (one.shard = 0; one.shard < MADE_SHARDS; one.shard++)
		made_shard(made_path(made_set, one.shard), vocab, &one, NULL, NULL);
	has(2, "FAULT set: the keys of all documents do not add up");
	one.corpus = made_corpus();
	one.corpus_documents++;
	for (one.shard = 0; one.shard < MADE_SHARDS; one.shard++)
		made_shard(made_path(made_set, one.shard), vocab, &one, NULL, NULL);
	has(2, "FAULT set: the shards have 36 documents, their headers say 37");
}

/* What the text of a manifest would say of itself, were it not changed. */
static void seal(struct buf *b)
{
	json_t *o = canon_parse(b->data, b->len);
	char *text;

	assert_non_null(o);
	json_object_del(o, "digest");
	assert_int_equal(canon_seal(o), 0);
	text = canon_print(o);
	buf_clear(b);
	assert_int_equal(buf_adds(b, text), 0);
	free(text);
	json_decref(o);
}

/* Edits the manifest: the first BEFORE becomes AFTER, of the same length; its digest is made to fit if SEALED. */
static void change(const char *before, const char *after, bool sealed)
{
	struct buf b = BUF_INIT;
	char path[256], *at;

	in_folder(path, sizeof(path), "manifest.json");
	assert_int_equal(fs_read_all(path, 1 << 20, &b), 0);
	at = strstr(b.data, before);
	assert_non_null(at);
	memcpy(at, after, strlen(after));
	if (sealed)
		seal(&b);
	assert_int_equal(fs_write_all(path, b.data, b.len), 0);
	buf_release(&b);
}

static void edit(const char *before, const char *after)
{
	change(before, after, true);
}

/* Whatever is changed: the digest tells. */
static void changed_manifests(void **state)
{
	static const char *const changes[][2] = {
		{ "\"compress\":1", "\"compress\":2" }, { "\"compress\"", "\"kompress\"" }, { "\"made_by\":\"t", "\"made_by\":\"T" },
		{ "\"name\":\"text", "\"name\":\"Text" }, { "{\"bytes\":0", "{\"bytes\":1" }, { "\"sample\":\"0", "\"sample\":\"1" },
		{ "\"seed\":1,", "\"seed\":2," }, { "\"documents\":12,", "\"documents\":13," },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		make(&(struct made){ .seed = 1 });
		change(changes[i][0], changes[i][1], false);
		has(1, "FAULT manifest.json: its digest is not that of the rest: something was changed\n");
	}
}

static void untrue_options(void **state)
{
	(void)state;
	make(&(struct made){ .seed = 1 });
	edit("\"shards\":3}", "\"shards\":4}");
	has(1, "FAULT manifest.json: options: 4 shards were asked for, 3 are listed\n");
	make(&(struct made){ .seed = 1 });
	edit("\"name\":\"shard\"", "\"name\":\"train\"");
	has(1, "FAULT manifest.json: options: its shards were to be named 'train'");
	make(&(struct made){ .seed = 1 });
	edit("\"compress\"", "\"kompress\"");
	has(1, "FAULT manifest.json: options: ");
	make(&(struct made){ .seed = 1 });
	edit("\"shard_size\":null", "\"shard_size\":1234");
	has(1, "FAULT manifest.json: options: one of 'shards' and 'shard_size' is null");
}

static void stale_manifests(void **state)
{
	(void)state;
	make(&(struct made){ .seed = 1 });
	edit("\"empty_documents\":0", "\"empty_documents\":1");
	has(1, "FAULT manifest.json: its total of 'empty_documents' is not that of the shards\n");
	make(&(struct made){ .seed = 1 });
	edit("{\"bytes\":0,\"documents\":36,", "{\"bytes\":0,\"documents\":35,");
	has(1, "FAULT manifest.json: its inputs' documents do not add up");
	make(&(struct made){ .seed = 1 });
	edit("\"documents\":12,", "\"documents\":13,");
	has(1, "FAULT shard-00000-of-00003.shard: manifest.json tells of another file");
	make(&(struct made){ .seed = 1 });
	edit("\"seed\":1,", "\"seed\":2,");
	has(3, "'seed' differs");
	make(&(struct made){ .seed = 1 });
	edit("\"version\":1", "\"version\":7");
	has(1, "FAULT manifest.json: ");
	make(&(struct made){ .seed = 1 });
	change("{", "[", false);
	has(1, "FAULT manifest.json: ");
}

static void no_shards(void **state)
{
	struct verify v;

	(void)state;
	assert_int_equal(fs_remove_tree(made_set), 0);
	assert_int_equal(fs_make_folder(made_set), 0);
	v = look();
	assert_int_equal(v.unread, 1);
	assert_non_null(strstr(said, "set: no shards in it"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_folders), cmocka_unit_test(missing_files), cmocka_unit_test(another_vocabulary),
		cmocka_unit_test(foreign_shards), cmocka_unit_test(wrong_sums), cmocka_unit_test(stale_manifests),
		cmocka_unit_test(changed_manifests), cmocka_unit_test(untrue_options),
		cmocka_unit_test(no_shards),
	};

	return cmocka_run_group_tests(tests, made_open, made_close);
}
