/* The files of a folder: names, order, the vocabulary beside them. */
#include "shards/folder.h"
#include "tests/unit/shards/made_folder.h"

#include <unistd.h>


static void names(void **state)
{
	static const struct {
		const char *name;
		bool good;
		uint32_t shard, shards;
	} all[] = {
		{ "shard-00003-of-00016.shard", true, 3, 16 },
		{ "a/b-1-of-2.shard/x-y-00000-of-00001.shard", true, 0, 1 },
		{ "-7-of-8.shard", true, 7, 8 },
		{ "x-1-of-2-3-of-4.shard", true, 3, 4 },
		{ "x-100000-of-1000000.shard", true, 100000, 1000000 },
		{ "shard-00003-of-00016", false, 0, 0 },
		{ "shard-00003-of-00016.shard2", false, 0, 0 },
		{ "3-of-4.shard", false, 0, 0 },
		{ "x--of-4.shard", false, 0, 0 },
		{ "x-3-of-.shard", false, 0, 0 },
		{ "x-3-of-99999999999.shard", false, 0, 0 },
		{ "x-3-of-4294967296.shard", false, 0, 0 },
		{ "", false, 0, 0 },
	};

	(void)state;
	for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++) {
		uint32_t shard = 0, shards = 0;
		const bool good = folder_parse_name(all[k].name, &shard, &shards);

		if (good != all[k].good || (good && (shard != all[k].shard || shards != all[k].shards)))
			fail_msg("'%s': %d %u %u", all[k].name, good, shard, shards);
	}
}

static void put(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", made_set, name);
	assert_int_equal(fs_write_all(path, "x", 1), 0);
}

static void lists(void **state)
{
	char **paths, want[256];
	size_t n;

	(void)state;
	assert_int_equal(fs_make_folder(made_set), 0);
	assert_int_equal(folder_shards(made_set, &paths, &n), -1);
	assert_non_null(strstr(err_text(), "no shards in"));
	put("b-00001-of-00002.shard");
	put("b-00000-of-00002.shard");
	put(".b-00000-of-00002.shard");
	put("notes.txt");
	put(".shard");
	assert_int_equal(folder_shards(made_set, &paths, &n), 0);
	assert_int_equal(n, 2);
	snprintf(want, sizeof(want), "%s/b-00000-of-00002.shard", made_set);
	assert_string_equal(paths[0], want);
	assert_int_equal(folder_bytes(&(const char *){ made_set }, 1), 2);
	fs_free_names(paths, n);
	assert_int_equal(folder_shards("/nonexistent/x", &paths, &n), 0);	/* whoever opens it will tell */
	assert_int_equal(n, 1);
	fs_free_names(paths, n);
}

static void manifest_counts(void **state)
{
	char **paths;
	size_t n;

	(void)state;
	made_folder(made_set, &(struct made){ .seed = 1 });
	put("stray.shard");
	assert_int_equal(folder_shards(made_set, &paths, &n), 0);
	assert_int_equal(n, MADE_SHARDS);
	assert_string_equal(paths[1], made_path(made_set, 1));
	fs_free_names(paths, n);
	put("manifest.json");
	assert_int_equal(folder_shards(made_set, &paths, &n), -1);
	assert_int_equal(err_code(), EXIT_CORRUPT);
}

/* folder_shards refuses made_set in words that hold TEXT, folder_shards_there gives N. */
static void lacks(enum exit_code code, const char *text, size_t there)
{
	struct buf b = BUF_INIT;
	char **paths;
	size_t n;

	assert_int_equal(folder_shards(made_set, &paths, &n), -1);
	assert_int_equal(err_code(), code);
	assert_non_null(strstr(err_text(), text));
	assert_int_equal(folder_shards_there(made_set, &paths, &n, &b), 0);
	assert_non_null(strstr(b.data, text));
	assert_int_equal(n, there);
	fs_free_names(paths, n);
	buf_release(&b);
}

static void unlink_in_set(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", made_set, name);
	assert_int_equal(unlink(path), 0);
}

static void missing(void **state)
{
	char work[128];

	(void)state;
	made_folder(made_set, &(struct made){ .seed = 1 });
	assert_int_equal(truncate(made_path(made_set, 2), 100), 0);
	lacks(EXIT_CORRUPT, "1 of its 3 shards is missing or of another size, number 2 (", 3);
	unlink(made_path(made_set, 1));
	lacks(EXIT_FAILED, "2 of its 3 shards are missing or of another size, number 1 the first (", 2);
	unlink_in_set("manifest.json");
	lacks(EXIT_FAILED, "1 of its 3 shards is missing or of another size, number 1 (", 2);
	snprintf(work, sizeof(work), "%s/.work", made_set);
	assert_int_equal(fs_make_folder(work), 0);
	lacks(EXIT_FAILED, "is not finished", 2);
	made_folder(made_set, &(struct made){ .seed = 1 });
	unlink_in_set("manifest.json");
	put("stray.shard");
	lacks(EXIT_FAILED, "holds 4 shards", 4);
}

static void places(void **state)
{
	struct folder_set set = { .n = MADE_SHARDS };
	struct shard *first, *other;

	(void)state;
	made_folder(made_set, &(struct made){ .seed = 1 });
	assert_int_equal(shard_open(&first, made_path(made_set, 0)), 0);
	assert_int_equal(shard_open(&other, made_path(made_set, 2)), 0);
	assert_int_equal(folder_set_check(&set, "x", 0, shard_header(first)), 0);
	assert_int_equal(folder_set_check(&set, "x", 2, shard_header(other)), 0);
	assert_int_equal(folder_set_check(&set, "x", 1, shard_header(other)), -1);
	assert_int_equal(err_code(), EXIT_CORRUPT);
	assert_non_null(strstr(err_text(), "'x' is shard 2 of 3, in the place of shard 1 of 3"));
	shard_close(other);
	made_folder(made_set, &(struct made){ .seed = 2 });
	assert_int_equal(shard_open(&other, made_path(made_set, 1)), 0);
	assert_int_equal(folder_set_check(&set, "x", 1, shard_header(other)), -1);
	assert_non_null(strstr(err_text(), "'x' is of another set"));
	shard_close(other);
	shard_close(first);
	folder_set_release(&set);
}

static void vocabularies(void **state)
{
	struct vocab *v = NULL, *kept;
	char path[128], other[128];
	json_t *is, *is_not;

	(void)state;
	made_folder(made_set, &(struct made){ .seed = 1 });
	snprintf(path, sizeof(path), "%s/vocab.txt", made_set);
	snprintf(other, sizeof(other), "%s/other.txt", made_top);
	assert_int_equal(vocab_load(&v, path), 0);
	is = json_pack("{s:{s:s, s:i}}", "vocab", "sha256", vocab_sha256(v), "size", MADE_VOCAB);
	is_not = json_pack("{s:{s:s, s:i}}", "vocab", "sha256", vocab_sha256(v), "size", MADE_VOCAB + 1);
	vocab_free(v);
	v = NULL;
	assert_int_equal(folder_vocab(&v, NULL, made_path(made_set, 0), is), 0);
	assert_non_null(v);
	kept = v;
	assert_int_equal(folder_vocab(&v, NULL, "/nonexistent/x", is), 0);
	assert_ptr_equal(v, kept);
	assert_int_equal(folder_vocab(&v, NULL, made_path(made_set, 0), is_not), 0);
	assert_null(v);
	assert_int_equal(folder_vocab(&v, NULL, "/nonexistent/x", is), 0);
	assert_null(v);
	assert_int_equal(fs_write_all(other, "[UNK]\n", 6), 0);
	assert_int_equal(folder_vocab(&v, other, made_path(made_set, 0), is), -1);
	assert_non_null(strstr(err_text(), "is not the vocabulary of"));
	assert_int_equal(folder_vocab(&v, path, "-", is), 0);
	assert_non_null(v);
	vocab_free(v);
	json_decref(is);
	json_decref(is_not);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names), cmocka_unit_test(lists), cmocka_unit_test(manifest_counts),
		cmocka_unit_test(missing), cmocka_unit_test(places), cmocka_unit_test(vocabularies),
	};

	return cmocka_run_group_tests(tests, made_open, made_close);
}
