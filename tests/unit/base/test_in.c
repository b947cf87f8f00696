#include "base/in.h"

#include "base/err.h"
#include "base/fs.h"
#include "base/rng.h"
#include "tests/unit/base/pack.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/test_in.XXXXXX";
static char *path;
static struct buf text;		/* what is packed by most tests: words, some 300 kB */

static int set_up(void **state)
{
	struct rng r;

	(void)state;
	if (!mkdtemp(folder))
		return -1;
	path = fs_join(folder, "file");
	rng_open(&r, 3, RNG_TEST, 0, 0, 0, 0, 0);
	while (text.len < 300000)
		if (buf_addf(&text, "word%u ", (unsigned)rng_below(&r, 5000)))
			return -1;
	return path ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	free(path);
	buf_release(&text);
	return fs_remove_tree(folder);
}

/* --- plain files --------------------------------------------------------------------- */

static void test_plain(void **state)
{
	char got[8] = { 0 };
	struct in *in;

	(void)state;
	pack_put(path, "0123456789", 10);
	assert_int_equal(in_open(&in, path, 2), 0);
	assert_string_equal(in_name(in), path);
	assert_false(in_is_packed(in));
	assert_int_equal(in_packed_size(in), 10);
	assert_int_equal(in_offset(in), 0);
	assert_int_equal(in_peek(in, got, 3), 3);
	assert_memory_equal(got, "012", 3);
	assert_int_equal(in_offset(in), 0);
	assert_int_equal(in_read(in, got, 2), 2);
	assert_memory_equal(got, "01", 2);
	assert_int_equal(in_peek(in, got, 4), 4);
	assert_memory_equal(got, "2345", 4);
	assert_int_equal(in_read(in, got, 8), 8);
	assert_memory_equal(got, "23456789", 8);
	assert_int_equal(in_offset(in), 10);
	assert_int_equal(in_packed_offset(in), 10);
	assert_int_equal(in_peek(in, got, 4), 0);
	assert_int_equal(in_read(in, got, 8), 0);
	in_close(in);
	in_close(NULL);
}

/* What libarchive, left to guess, would take for an archive or run a program for. */
static void test_texts_that_look_packed(void **state)
{
	static const char *const texts[] = {
		"", "a", "B", "BZ", "BZh", "BZh9", "BZh9 is how bzip2 begins\n", "a line\nbegin 644 x\n#0V%T\n`\nend\n",
		"begin 644 x\n#0V%T\n`\nend\n", "begin-base64 644 x\nYQ==\n====\n", "!<arch>\n", "#mtree\n./x type=file\n",
		"\x1f\x9d\x90", "PK\003\004", "7z\xbc\xaf\x27\x1c", "\xed\xab\xee\xdb\003", "LZIP\001", "Rar!\x1a\x07\x01",
		"\xfd" "7zXY", "\x28\xb5\x2e", "070701000000",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		pack_put(path, texts[i], strlen(texts[i]));
		pack_expect(path, 1, texts[i], strlen(texts[i]));
		pack_expect(path, 2, texts[i], strlen(texts[i]));
	}
}

static void test_refusals(void **state)
{
	struct in *in;

	(void)state;
	assert_int_equal(in_open(&in, folder, 1), -1);
	assert_null(in);
	assert_int_equal(err_code(), EXIT_FAILED);
	assert_non_null(strstr(err_text(), "is a directory"));
	assert_int_equal(in_open(&in, "/nonexistent", 1), -1);
	assert_string_equal(err_text(), "cannot open '/nonexistent': No such file or directory");
	assert_int_equal(in_open(&in, "/proc/self/mem", 1), -1);	/* its first byte cannot be read */
	assert_int_equal(err_code(), EXIT_FAILED);
	assert_non_null(strstr(err_text(), "cannot read '/proc/self/mem'"));
}

static void test_open_at(void **state)
{
	struct buf packed = BUF_INIT;
	struct in *in;
	char got[4], *fifo = fs_join(folder, "fifo");
	int fd;

	(void)state;
	pack_put(path, "0123456789", 10);
	assert_int_equal(in_open_at(&in, path, 7), 0);
	assert_int_equal(in_offset(in), 7);
	assert_int_equal(in_read(in, got, 4), 3);
	assert_memory_equal(got, "789", 3);
	assert_int_equal(in_offset(in), 10);
	assert_int_equal(in_packed_offset(in), 10);
	in_close(in);
	assert_int_equal(in_open_at(&in, path, 100), 0);
	assert_int_equal(in_read(in, got, 4), 0);
	in_close(in);

	assert_int_equal(in_open_at(&in, "-", 0), -1);
	assert_int_equal(err_code(), EXIT_USAGE);
	for (size_t k = 0; k < PACK_KINDS; k++) {
		buf_clear(&packed);
		pack_add(&packed, pack_kinds[k].filter, NULL, "x", 1);
		pack_put(path, packed.data, packed.len);
		assert_int_equal(in_open_at(&in, path, 0), -1);
		assert_int_equal(err_code(), EXIT_USAGE);
		assert_non_null(strstr(err_text(), pack_kinds[k].name));
	}
	assert_int_equal(mkfifo(fifo, 0600), 0);
	fd = open(fifo, O_RDWR);
	assert_int_equal(in_open_at(&in, fifo, 0), -1);
	assert_int_equal(err_code(), EXIT_USAGE);
	close(fd);
	free(fifo);
	buf_release(&packed);
}

/* --- pipes ----------------------------------------------------------------------------- */

/* A process that writes BYTES into a pipe, STEP at a time. The path of the pipe's end goes to NAME. */
static pid_t start_pipe(const char *bytes, size_t n, size_t step, char name[32], int *fd)
{
	int ends[2];
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		close(ends[0]);
		for (size_t i = 0; i < n; i += step)
			if (write(ends[1], bytes + i, n - i < step ? n - i : step) < 0)
				_exit(1);
		_exit(0);
	}
	close(ends[1]);
	*fd = ends[0];
	snprintf(name, 32, "/dev/fd/%d", ends[0]);
	return pid;
}

static void expect_from_pipe(const struct buf *packed, size_t step, unsigned threads, const struct buf *want)
{
	char name[32];
	int fd, status;
	const pid_t pid = start_pipe(packed->data, packed->len, step, name, &fd);

	pack_expect(name, threads, want->data, want->len);
	close(fd);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void test_pipes(void **state)
{
	struct buf packed = BUF_INIT;

	(void)state;
	expect_from_pipe(&text, 7, 1, &text);
	for (size_t k = 0; k < PACK_KINDS; k++) {
		buf_clear(&packed);
		pack_add(&packed, pack_kinds[k].filter, NULL, text.data, text.len);
		expect_from_pipe(&packed, 5, 1, &text);
		expect_from_pipe(&packed, 4096, 3, &text);
	}
	buf_release(&packed);
}

/* in_read_some and in_open wait for no more than they need: a pipe that stays open gives its first line. */
static void test_slow_pipe(void **state)
{
	char name[32], got[16];
	struct in *in;
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	snprintf(name, sizeof(name), "/dev/fd/%d", ends[0]);
	assert_int_equal(write(ends[1], "a\n", 2), 2);
	assert_int_equal(in_open(&in, name, 1), 0);
	assert_int_equal(in_read_some(in, got, sizeof(got)), 2);
	assert_int_equal(write(ends[1], "bc\n", 3), 3);
	assert_int_equal(in_read_some(in, got, 2), 2);
	close(ends[1]);
	assert_int_equal(in_read(in, got, sizeof(got)), 1);
	in_close(in);
	close(ends[0]);
}

/* --- packed files ---------------------------------------------------------------------- */

static void test_formats(void **state)
{
	struct buf packed = BUF_INIT, twice = BUF_INIT;

	(void)state;
	assert_int_equal(buf_add(&twice, text.data, text.len) || buf_add(&twice, text.data, text.len) || buf_adds(&twice, "end"), 0);
	for (size_t k = 0; k < PACK_KINDS; k++) {
		const int filter = pack_kinds[k].filter;
		struct in *in;
		char last[3];

		buf_clear(&packed);
		pack_add(&packed, filter, NULL, text.data, text.len);
		pack_put(path, packed.data, packed.len);
		pack_expect(path, 1, text.data, text.len);
		pack_expect(path, 3, text.data, text.len);
		pack_add(&packed, filter, NULL, "", 0);
		pack_add(&packed, filter, NULL, text.data, text.len);
		pack_add(&packed, filter, NULL, "end", 3);
		pack_put(path, packed.data, packed.len);
		pack_expect(path, 1, twice.data, twice.len);
		pack_expect(path, 3, twice.data, twice.len);

		assert_int_equal(in_open(&in, path, 1), 0);
		assert_true(in_is_packed(in));
		assert_int_equal(in_packed_size(in), packed.len);
		for (size_t i = 0; i < twice.len; i += 3)
			assert_int_equal(in_read(in, last, 3), twice.len - i < 3 ? twice.len - i : 3);
		assert_int_equal(in_offset(in), twice.len);
		assert_int_equal(in_read(in, last, 3), 0);
		assert_int_equal(in_packed_offset(in), packed.len);
		in_close(in);

		buf_clear(&packed);
		pack_add(&packed, filter, NULL, "", 0);
		pack_put(path, packed.data, packed.len);
		pack_expect(path, 1, NULL, 0);
	}
	buf_release(&packed);
	buf_release(&twice);
}

/* Unpacked once: what comes out may itself be packed, of any kind. */
static void test_packed_twice(void **state)
{
	struct buf inner = BUF_INIT, outer = BUF_INIT;

	(void)state;
	for (size_t i = 0; i < PACK_KINDS; i++)
		for (size_t o = 0; o < PACK_KINDS; o++) {
			buf_clear(&inner);
			buf_clear(&outer);
			pack_add(&inner, pack_kinds[i].filter, NULL, "text", 4);
			pack_add(&outer, pack_kinds[o].filter, NULL, inner.data, inner.len);
			pack_put(path, outer.data, outer.len);
			pack_expect(path, 1, inner.data, inner.len);
		}
	buf_release(&inner);
	buf_release(&outer);
}

/* --- damage ---------------------------------------------------------------------------- */

/* Bytes of a magic that tell a cut file from a text. */
static size_t magic_known(const char *name)
{
	return !strcmp(name, "bzip2") ? 5 : 2;
}

static void test_cuts(void **state)
{
	struct buf packed = BUF_INIT;

	(void)state;
	for (size_t k = 0; k < PACK_KINDS; k++) {
		size_t first;

		buf_clear(&packed);
		pack_add(&packed, pack_kinds[k].filter, NULL, text.data, 3000);
		first = packed.len;
		pack_add(&packed, pack_kinds[k].filter, NULL, text.data, 500);
		for (size_t cut = 1; cut < packed.len; cut += cut < 40 || cut + 40 > first ? 1 : 7) {
			pack_put(path, packed.data, cut);
			if (cut < magic_known(pack_kinds[k].name))
				pack_expect(path, 1, packed.data, cut);
			else if (cut == first)
				pack_expect(path, 1, text.data, 3000);
			else
				pack_expect_corrupt(path, 1 + cut % 2, pack_kinds[k].name);
		}
	}
	buf_release(&packed);
}

/* A cut in a long stream, far behind what has been given, names the place. */
static void test_cut_offset(void **state)
{
	struct buf packed = BUF_INIT;
	char what[64];

	(void)state;
	for (size_t k = 0; k < PACK_KINDS; k++) {
		buf_clear(&packed);
		pack_add(&packed, pack_kinds[k].filter, NULL, text.data, text.len);
		pack_put(path, packed.data, packed.len - 1);
		snprintf(what, sizeof(what), "%s data cut short at byte %zu", pack_kinds[k].name, packed.len - 1);
		pack_expect_corrupt(path, 1, what);
		pack_expect_corrupt(path, 2, what);
	}
	buf_release(&packed);
}

/*
 * Whatever bits are flipped: a fault is found, or the text comes out as it was (some bits of the headers mean
 * nothing), or the magic is gone and the bytes come out as they are.
 */
static void test_flips(void **state)
{
	struct buf packed = BUF_INIT, got = BUF_INIT;
	struct rng r;

	(void)state;
	rng_open(&r, 4, RNG_TEST, 0, 0, 0, 0, 0);
	for (size_t k = 0; k < PACK_KINDS; k++) {
		size_t second, faults = 0;

		buf_clear(&packed);
		pack_add(&packed, pack_kinds[k].filter, NULL, text.data, 800);
		second = packed.len;
		pack_add(&packed, pack_kinds[k].filter, NULL, text.data + 800, 400);
		for (size_t i = 0; i < packed.len; i++) {
			const char bit = (char)(1 << rng_below(&r, 8));
			bool same;

			packed.data[i] ^= bit;
			pack_put(path, packed.data, packed.len);
			buf_clear(&got);
			if (pack_read(path, 1, &got)) {
				assert_int_equal(err_code(), EXIT_CORRUPT);
				faults++;
			} else {
				same = (got.len == 1200 && !memcmp(got.data, text.data, 1200)) ||
				       (i < 10 && got.len == packed.len && !memcmp(got.data, packed.data, packed.len));
				if (!same)
					fail_msg("%s: byte %zu of %zu (second stream at %zu), bit %02x: no fault found",
						 pack_kinds[k].name, i, packed.len, second, (unsigned char)bit);
			}
			packed.data[i] ^= bit;
		}
		assert_true(faults > packed.len / 10 * 9);
	}
	buf_release(&packed);
	buf_release(&got);
}

static void test_trailing_bytes(void **state)
{
	struct buf packed = BUF_INIT;

	(void)state;
	for (size_t k = 0; k < PACK_KINDS; k++) {
		for (size_t n = 1; n < 40; n++) {
			buf_clear(&packed);
			pack_add(&packed, pack_kinds[k].filter, NULL, text.data, 1000);
			for (size_t i = 0; i < n; i++)
				assert_int_equal(buf_add_byte(&packed, (unsigned char)(i + 1)), 0);
			pack_put(path, packed.data, packed.len);
			pack_expect_corrupt(path, 1 + n % 2, pack_kinds[k].name);
		}
		assert_int_equal(buf_add(&packed, text.data, text.len), 0);	/* longer than a block */
		pack_put(path, packed.data, packed.len);
		pack_expect_corrupt(path, 1, pack_kinds[k].name);
	}
	buf_release(&packed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain), cmocka_unit_test(test_texts_that_look_packed), cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_open_at), cmocka_unit_test(test_pipes), cmocka_unit_test(test_slow_pipe),
		cmocka_unit_test(test_formats), cmocka_unit_test(test_packed_twice), cmocka_unit_test(test_cuts),
		cmocka_unit_test(test_cut_offset), cmocka_unit_test(test_flips), cmocka_unit_test(test_trailing_bytes),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
