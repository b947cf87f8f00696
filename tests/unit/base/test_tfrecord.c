#include "base/tfrecord.h"

#include "base/cpu.h"
#include "base/err.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static char folder[] = "/tmp/bert-test-tfrecord-XXXXXX";
static char path[64];

static int make_folder(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/x.tfrecord", folder);
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(folder);
}

/* --- CRC32C ------------------------------------------------------------------------ */

static void check_known(void)
{
	unsigned char bytes[48];

	assert_int_equal(crc32c(0, "", 0), 0);
	assert_int_equal(crc32c(0, "123456789", 9), 0xE3069283);
	memset(bytes, 0, 32);				/* RFC 3720, B.4 */
	assert_int_equal(crc32c(0, bytes, 32), 0x8A9136AA);
	memset(bytes, 0xFF, 32);
	assert_int_equal(crc32c(0, bytes, 32), 0x62A8AB43);
	for (unsigned char i = 0; i < 32; i++)
		bytes[i] = i;
	assert_int_equal(crc32c(0, bytes, 32), 0x46DD794E);
	for (unsigned char i = 0; i < 32; i++)
		bytes[i] = 31 - i;
	assert_int_equal(crc32c(0, bytes, 32), 0x113FDB5C);
}

static void test_known_sums(void **state)
{
	(void)state;
	check_known();
	assert_int_equal(cpu_limit("none"), 0);
	check_known();
	assert_int_equal(cpu_limit("native"), 0);
}

/* The processor's instruction and the table agree at every length and place, whole or in two parts. */
static void test_both_ways(void **state)
{
	unsigned char bytes[200];

	(void)state;
	for (unsigned i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)(i * i * 31 + i);
	for (size_t start = 0; start < 9; start++)
		for (size_t n = 0; n + start <= sizeof(bytes); n++) {
			uint32_t sum;

			assert_int_equal(cpu_limit("none"), 0);
			sum = crc32c(0, bytes + start, n);
			assert_int_equal(crc32c(crc32c(0, bytes + start, n / 3), bytes + start + n / 3, n - n / 3),
					 sum);
			assert_int_equal(cpu_limit("native"), 0);
			assert_int_equal(crc32c(0, bytes + start, n), sum);
		}
}

/* --- records ------------------------------------------------------------------------- */

/* The record of "hello"; its sums are another program's. */
static const unsigned char hello[] = {
	5,    0,    0,    0,    0,    0, 0, 0,	/* length */
	0xEA, 0xB2, 0x04, 0x3E,			/* its sum */
	'h',  'e',  'l',  'l',  'o',		/* bytes */
	0xBB, 0x1F, 0x1C, 0x19,			/* their sum */
};

static void put_file(const void *bytes, size_t n)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

static void write_records(size_t records)
{
	char bytes[1000];
	struct out *o;

	memset(bytes, 'r', sizeof(bytes));
	assert_int_equal(out_open(&o, path), 0);
	for (size_t i = 0; i < records; i++)
		assert_int_equal(tfrecord_write(o, bytes, i * 13 % 1000), 0);
	assert_int_equal(out_commit(o), 0);
}

static void test_bytes(void **state)
{
	struct buf b = BUF_INIT;
	struct out *o;
	struct in *in;
	unsigned char read[64];

	(void)state;
	assert_int_equal(out_open(&o, path), 0);
	assert_int_equal(tfrecord_write(o, "hello", 5), 0);
	assert_int_equal(tfrecord_write(o, NULL, 0), 0);
	assert_int_equal(out_commit(o), 0);
	assert_int_equal(in_open(&in, path, 1), 0);
	assert_int_equal(in_read(in, read, sizeof(read)), sizeof(hello) + 16);
	assert_memory_equal(read, hello, sizeof(hello));
	in_close(in);
	assert_int_equal(in_open(&in, path, 1), 0);
	assert_int_equal(tfrecord_read(in, &b), 1);
	assert_int_equal(b.len, 5);
	assert_string_equal(b.data, "hello");
	assert_int_equal(tfrecord_read(in, &b), 1);
	assert_int_equal(b.len, 0);
	assert_int_equal(tfrecord_read(in, &b), 0);
	in_close(in);
	buf_release(&b);
}

static void test_many(void **state)
{
	struct buf b = BUF_INIT;
	struct in *in;

	(void)state;
	write_records(500);
	assert_int_equal(in_open(&in, path, 1), 0);
	for (size_t i = 0; i < 500; i++) {
		assert_int_equal(tfrecord_read(in, &b), 1);
		assert_int_equal(b.len, i * 13 % 1000);
		for (size_t k = 0; k < b.len; k++)
			if (b.data[k] != 'r')
				fail();
	}
	assert_int_equal(tfrecord_read(in, &b), 0);
	in_close(in);
	buf_release(&b);
}

/* In large pieces: records that lie across their ends, and one that is longer than a piece. */
static void test_ahead(void **state)
{
	enum { LONG = 3 << 20 };
	struct tfrecord_reader r = { .in = NULL };
	struct tfrecord t;
	struct out *o;
	uint64_t offset = 0;
	char *bytes = malloc(LONG);

	(void)state;
	assert_non_null(bytes);
	for (size_t i = 0; i < LONG; i++)
		bytes[i] = (char)(i * i >> 7);
	assert_int_equal(out_open(&o, path), 0);
	for (size_t i = 0; i < 3000; i++)
		assert_int_equal(tfrecord_write(o, bytes + i, i == 1500 ? LONG - i : i * 7 % 2000), 0);
	assert_int_equal(out_commit(o), 0);
	assert_int_equal(in_open(&r.in, path, 1), 0);
	for (size_t i = 0; i < 3000; i++) {
		assert_int_equal(tfrecord_next(&r, &t), 1);
		assert_int_equal(t.len, i == 1500 ? LONG - i : i * 7 % 2000);
		assert_memory_equal(t.bytes, bytes + i, t.len);
		assert_true(t.offset == offset);
		assert_int_equal(tfrecord_check("x", &t), 0);
		offset += t.len + 16;
		t.sum ^= 1;
		assert_int_equal(tfrecord_check("x", &t), -1);
	}
	assert_int_equal(tfrecord_next(&r, &t), 0);
	assert_int_equal(tfrecord_next(&r, &t), 0);
	in_close(r.in);
	tfrecord_reader_release(&r);
	free(bytes);
}

/* Reads the file until the end, in large pieces: as read_all. */
static int read_ahead(void)
{
	struct tfrecord_reader r = { .in = NULL };
	struct tfrecord t;
	int rc;

	assert_int_equal(in_open(&r.in, path, 1), 0);
	while ((rc = tfrecord_next(&r, &t)) > 0)
		if (tfrecord_check(path, &t)) {
			rc = -1;
			break;
		}
	assert_true(r.ahead.cap < 4 << 20);
	in_close(r.in);
	tfrecord_reader_release(&r);
	return rc;
}

/* Reads the N BYTES until the end, both ways: 0, or -1 with the reason set. */
static int read_all(const void *bytes, size_t n)
{
	struct buf b = BUF_INIT;
	struct err reason;
	struct in *in;
	int rc;

	put_file(bytes, n);
	err_clear();
	read_ahead();
	err_get(&reason);
	err_clear();
	assert_int_equal(in_open(&in, path, 1), 0);
	while ((rc = tfrecord_read(in, &b)) > 0)
		;
	assert_true(b.cap < 4 << 20);
	assert_int_equal(rc ? EXIT_CORRUPT : EXIT_DONE, reason.code);
	assert_string_equal(reason.text, err_text());
	in_close(in);
	buf_release(&b);
	return rc;
}

static void test_damage(void **state)
{
	unsigned char copy[sizeof(hello)];

	(void)state;
	assert_int_equal(read_all(hello, sizeof(hello)), 0);
	for (size_t bit = 0; bit < 8 * sizeof(hello); bit++) {
		memcpy(copy, hello, sizeof(hello));
		copy[bit / 8] = (unsigned char)(copy[bit / 8] ^ 1 << bit % 8);
		assert_int_equal(read_all(copy, sizeof(copy)), -1);
		assert_int_equal(err_code(), EXIT_CORRUPT);
		assert_non_null(strstr(err_text(), bit < 12 * 8 ? "record at byte 0: checksum of its length differs" :
								  "record at byte 0: checksum differs"));
	}
	for (size_t n = 1; n < sizeof(hello); n++) {
		assert_int_equal(read_all(hello, n), -1);
		assert_int_equal(err_code(), EXIT_CORRUPT);
		assert_non_null(strstr(err_text(), "ends early (cut short?)"));
	}
}

/* A length that nobody has memory for, its sum right. */
static void test_bomb(void **state)
{
	unsigned char head[13] = { 0, 0, 0, 0, 0, 0, 0, 16 };
	uint32_t sum = crc32c(0, head, 8);

	(void)state;
	sum = (sum >> 15 | sum << 17) + 0xA282EAD8u;
	for (int i = 0; i < 4; i++)
		head[8 + i] = (unsigned char)(sum >> 8 * i);
	assert_int_equal(read_all(head, sizeof(head)), -1);
	assert_non_null(strstr(err_text(), "ends early (cut short?) at byte 13, in the record at byte 0"));
}

static void test_full_disk(void **state)
{
	struct out *o;
	int rc;

	(void)state;
	assert_int_equal(out_open(&o, "/dev/full"), 0);
	rc = tfrecord_write(o, "hello", 5);
	if (!rc)
		rc = out_commit(o);
	assert_int_equal(rc, -1);
	out_discard(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known_sums),
		cmocka_unit_test(test_both_ways),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_ahead),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_bomb),
		cmocka_unit_test(test_full_disk),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
