#include "tests/unit/model/tiny.h"

static void write_bytes(const char *path, const void *bytes, size_t n)
{
	OK(fs_write_all(path, bytes, n));
}

/* A file with this header and so many bytes of data. */
static void write_file(const char *path, const char *header, size_t data)
{
	const uint64_t n = strlen(header);
	unsigned char bytes[2048] = { 0 };

	assert_true(8 + n + data <= sizeof(bytes));
	memcpy(bytes, &n, 8);
	memcpy(bytes + 8, header, n);
	for (size_t i = 0; i < data; i++)
		bytes[8 + n + i] = (unsigned char)i;
	write_bytes(path, bytes, 8 + n + data);
}

static void test_both_ways(void **state)
{
	const char *path = tiny_in(state, "x.safetensors");
	const float a[6] = { 1, 2, 3, 4, 5, 6 };
	const int64_t b = -7;
	const struct safetensor list[] = {
		{ .name = "first", .dtype = ST_F32, .n_dims = 2, .shape = { 2, 3 } },
		{ .name = "scalar \"quoted\"", .dtype = ST_I64, .n_dims = 0 },
		{ .name = "empty", .dtype = ST_F16, .n_dims = 2, .shape = { 0, 4 } },
	};
	struct safetensors_writer *w;
	struct safetensors *s;
	float got[6];
	int64_t scalar;
	char shape[32];

	OK(safetensors_create(&w, path, list, 3));
	OK(safetensors_put(w, a, 12));
	OK(safetensors_put(w, a + 3, 12));
	OK(safetensors_put(w, &b, 8));
	OK(safetensors_commit(w));
	OK(safetensors_open(&s, path));
	assert_int_equal(s->count, 3);
	assert_int_equal(s->data_first % 8, 0);
	OK(safetensors_read(s, safetensors_find(s, "first"), 0, got, 24));
	assert_memory_equal(got, a, 24);
	OK(safetensors_read(s, safetensors_find(s, "first"), 20, got, 4));
	assert_true(got[0] == 6);
	FAILS(safetensors_read(s, safetensors_find(s, "first"), 21, got, 4), EXIT_FAILED, "'first' has 24 bytes");
	OK(safetensors_read(s, safetensors_find(s, "scalar \"quoted\""), 0, &scalar, 8));
	assert_int_equal(scalar, -7);
	assert_int_equal(safetensors_find(s, "empty")->count, 0);
	assert_null(safetensors_find(s, "else"));
	safetensors_shape(safetensors_find(s, "first"), shape, sizeof(shape));
	assert_string_equal(shape, "[2, 3]");
	safetensors_close(s);
}

/* An unfinished file never gets the name. */
static void test_discarded(void **state)
{
	const struct safetensor list[] = { { .name = "a", .dtype = ST_U8, .n_dims = 1, .shape = { 4 } } };
	struct safetensors_writer *w;
	const char *path = tiny_in(state, "x.safetensors");

	OK(safetensors_create(&w, path, list, 1));
	OK(safetensors_put(w, "abc", 3));
	safetensors_discard(w);
	assert_false(fs_exists(path));
	FAILS(safetensors_create(&w, tiny_in(state, "no/folder/x"), list, 1), EXIT_FAILED, "no/folder/x");
}

/* Each header, with 16 bytes of data, must be refused in words that hold SAYS. */
static void test_refused(void **state)
{
	static const struct {
		const char *header, *says;
	} cases[] = {
		{ "", "no JSON" },
		{ "[]", "no JSON object" },
		{ "{\"a\":", "no JSON: offset" },
		{ "{}", "16 bytes of data, and tensors end at 0" },
		{ "{\"a\":{\"dtype\":\"U8\",\"shape\":[16],\"data_offsets\":[0,16]},\"a\":{}}", "duplicate" },
		{ "{\"a\":7}", "tensor 'a' is described by no object" },
		{ "{\"a\":{\"shape\":[16],\"data_offsets\":[0,16]}}", "'a' has no dtype" },
		{ "{\"a\":{\"dtype\":\"U9\",\"shape\":[16],\"data_offsets\":[0,16]}}", "'a' has the unknown dtype 'U9'" },
		{ "{\"a\":{\"dtype\":\"U8\",\"data_offsets\":[0,16]}}", "'a' has no shape" },
		{ "{\"a\":{\"dtype\":\"U8\",\"shape\":[-16],\"data_offsets\":[0,16]}}", "no list of sizes" },
		{ "{\"a\":{\"dtype\":\"U8\",\"shape\":[1.5],\"data_offsets\":[0,16]}}", "no list of sizes" },
		{ "{\"a\":{\"dtype\":\"U8\",\"shape\":[1,1,1,1,1,1,1,1,16],\"data_offsets\":[0,16]}}", "more dimensions" },
		{ "{\"a\":{\"dtype\":\"U8\",\"shape\":[4294967296,4294967296],\"data_offsets\":[0,16]}}", "impossible shape" },
		{ "{\"a\":{\"dtype\":\"F64\",\"shape\":[4611686018427387904],\"data_offsets\":[0,16]}}", "not its shape's size" },
		{ "{\"a\":{\"dtype\":\"F32\",\"shape\":[16],\"data_offsets\":[0,16]}}", "has 16 bytes, which is not its shape's size" },
		{ "{\"a\":{\"dtype\":\"U8\",\"shape\":[16]}}", "no data_offsets" },
		{ "{\"a\":{\"dtype\":\"U8\",\"shape\":[16],\"data_offsets\":[0]}}", "no data_offsets" },
		{ "{\"a\":{\"dtype\":\"U8\",\"shape\":[16],\"data_offsets\":[16,0]}}", "no data_offsets" },
		{ "{\"a\":{\"dtype\":\"U8\",\"shape\":[16],\"data_offsets\":[-16,0]}}", "no data_offsets" },
		{ "{\"a\":{\"dtype\":\"U8\",\"shape\":[17],\"data_offsets\":[0,17]}}", "ends at offset 17 of 16 bytes of data" },
		{ "{\"a\":{\"dtype\":\"U8\",\"shape\":[15],\"data_offsets\":[0,15]}}", "tensors end at 15" },
		{ "{\"a\":{\"dtype\":\"U8\",\"shape\":[15],\"data_offsets\":[1,16]}}", "nothing lies at offset 0" },
		{ "{\"a\":{\"dtype\":\"U8\",\"shape\":[10],\"data_offsets\":[0,10]},\"b\":{\"dtype\":\"U8\",\"shape\":[8],\"data_offsets\":[8,16]}}",
		  "'a' and 'b' overlap at offset 8" },
	};
	const char *path = tiny_in(state, "bad.safetensors");
	struct safetensors *s;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		write_file(path, cases[i].header, 16);
		FAILS(safetensors_open(&s, path), EXIT_CORRUPT, cases[i].says);
		assert_non_null(strstr(err_text(), path));
		assert_null(s);
	}
}

/* Cut anywhere, a good file is refused. */
static void test_cut(void **state)
{
	const char *whole = tiny_path("classify.safetensors"), *path = tiny_in(state, "cut.safetensors");
	struct buf b = BUF_INIT;
	struct safetensors *s;

	OK(fs_read_all(whole, 1 << 20, &b));
	for (size_t n = 0; n < b.len; n += n < 16 ? 1 : 97) {
		write_bytes(path, b.data, n);
		FAILS(safetensors_open(&s, path), EXIT_CORRUPT, path);
	}
	b.data[7] = 1;	/* a header of 2^56 bytes */
	write_bytes(path, b.data, b.len);
	FAILS(safetensors_open(&s, path), EXIT_CORRUPT, "a header of 720575940379");
	buf_release(&b);
	FAILS(safetensors_open(&s, "/nonexistent/x"), EXIT_FAILED, "/nonexistent/x");
	FAILS(safetensors_open(&s, "/dev/null"), EXIT_FAILED, "not a regular file");
}

/* A file that shrinks while it is read. */
static void test_shrinks(void **state)
{
	const char *path = tiny_in(state, "x.safetensors");
	struct safetensors *s;
	char bytes[16];

	write_file(path, "{\"a\":{\"dtype\":\"U8\",\"shape\":[16],\"data_offsets\":[0,16]}}", 16);
	OK(safetensors_open(&s, path));
	OK(truncate(path, 70));
	FAILS(safetensors_read(s, s->items, 0, bytes, 16), EXIT_CORRUPT, "it ends at offset 70 now");
	safetensors_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_both_ways, tiny_enter, tiny_leave),
		cmocka_unit_test_setup_teardown(test_discarded, tiny_enter, tiny_leave),
		cmocka_unit_test_setup_teardown(test_refused, tiny_enter, tiny_leave),
		cmocka_unit_test_setup_teardown(test_cut, tiny_enter, tiny_leave),
		cmocka_unit_test_setup_teardown(test_shrinks, tiny_enter, tiny_leave),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
