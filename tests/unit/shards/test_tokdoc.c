#include "shards/tokdoc.h"

#include "base/err.h"
#include "base/frame.h"
#include "shards/described.h"
#include "shards/keys.h"
#include "shards/varint.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#define VOCAB 30522

static json_t *tokenizer(unsigned vocab_size)
{
	return json_pack("{s:b,s:i,s:{s:s,s:i}}", "cased", 0, "id_bytes", vocab_size <= 65536 ? 2 : 4, "vocab",
			 "sha256", "00", "size", (int)vocab_size);
}

/* Document number N of a made-up corpus, its ids in IDS. */
static void make(struct tokdoc *d, uint32_t n, uint32_t *ids)
{
	const uint32_t sentences = n % 5;
	uint32_t tokens = 0;

	assert_int_equal(array_grow(&d->lengths, &d->cap_lengths, 5, sizeof(*d->lengths)), 0);
	for (uint32_t s = 0; s < sentences; s++) {
		d->lengths[s] = (n * 7 + s * 3) % 11;
		for (uint32_t t = 0; t < d->lengths[s]; t++)
			ids[tokens++] = (n * 131 + t * 17) % VOCAB;
	}
	d->key = key_of((const char *)&n, sizeof(n));
	d->text_bytes = n * 10;
	d->id = "id-7";
	d->id_len = n % 3 ? 4 : 0;
	d->title = "T\xc3\xa9l\xc3\xa9";
	d->title_len = n % 2 ? 6 : 0;
	d->n_sentences = sentences;
	d->ids = ids;
	d->n_tokens = tokens;
	d->id_bytes = 4;
}

static void assert_same(const struct tokdoc *a, const struct tokdoc *b)
{
	uint32_t x[64], y[64];

	assert_int_equal(key_compare(a->key, b->key), 0);
	assert_int_equal(a->text_bytes, b->text_bytes);
	assert_int_equal(a->id_len, b->id_len);
	assert_memory_equal(a->id, b->id, a->id_len);
	assert_int_equal(a->title_len, b->title_len);
	assert_memory_equal(a->title, b->title, a->title_len);
	assert_int_equal(a->n_sentences, b->n_sentences);
	assert_int_equal(a->n_tokens, b->n_tokens);
	if (a->n_sentences)
		assert_memory_equal(a->lengths, b->lengths, a->n_sentences * sizeof(*a->lengths));
	tokdoc_ids(a, 0, a->n_tokens, x);
	tokdoc_ids(b, 0, b->n_tokens, y);
	assert_memory_equal(x, y, a->n_tokens * sizeof(*x));
}

static void round_trip(unsigned id_bytes)
{
	struct buf b = BUF_INIT;
	struct tokdoc d = TOKDOC_INIT, e = TOKDOC_INIT;
	uint32_t ids[64];

	for (uint32_t n = 0; n < 100; n++) {
		const unsigned char *p;

		buf_clear(&b);
		make(&d, n, ids);
		assert_int_equal(tokdoc_encode(&b, &d, id_bytes), 0);
		p = (unsigned char *)b.data;
		assert_int_equal(tokdoc_decode(&p, p + b.len, id_bytes, VOCAB, &e), 0);
		assert_ptr_equal(p, b.data + b.len);
		assert_same(&d, &e);
		/* again, out of a file's width */
		buf_clear(&b);
		assert_int_equal(tokdoc_encode(&b, &d, 2), 0);
		p = (unsigned char *)b.data;
		assert_int_equal(tokdoc_decode(&p, p + b.len, 2, VOCAB, &e), 0);
		assert_same(&d, &e);
	}
	tokdoc_release(&d);
	tokdoc_release(&e);
	buf_release(&b);
}

static void test_records_round_trip(void **state)
{
	(void)state;
	round_trip(2);
	round_trip(4);
}

static void test_wide_ids_stay_whole(void **state)
{
	uint32_t ids[3] = { 65536, 1, 119546 }, got[3], lengths[1] = { 3 };
	struct tokdoc d = { .lengths = lengths, .n_sentences = 1, .ids = ids, .n_tokens = 3, .id_bytes = 4 },
		      e = TOKDOC_INIT;
	struct buf b = BUF_INIT;
	const unsigned char *p;

	(void)state;
	assert_int_equal(tokdoc_encode(&b, &d, 2), -1);		/* does not fit */
	buf_clear(&b);
	assert_int_equal(tokdoc_encode(&b, &d, 4), 0);
	p = (unsigned char *)b.data;
	assert_int_equal(tokdoc_decode(&p, p + b.len, 4, 119547, &e), 0);
	tokdoc_ids(&e, 0, 3, got);
	assert_memory_equal(got, ids, sizeof(ids));
	p = (unsigned char *)b.data;
	assert_int_equal(tokdoc_decode(&p, p + b.len, 4, 119546, &e), -1);
	assert_int_equal(err_code(), EXIT_CORRUPT);
	tokdoc_release(&e);
	buf_release(&b);
}

static void test_encode_refuses(void **state)
{
	uint32_t ids[2] = { 1, 2 }, lengths[1] = { 3 };
	struct tokdoc d = { .lengths = lengths, .n_sentences = 1, .ids = ids, .n_tokens = 2, .id_bytes = 4 };
	struct buf b = BUF_INIT;

	(void)state;
	assert_int_equal(tokdoc_encode(&b, &d, 2), -1);		/* lengths that do not add up */
	lengths[0] = 2;
	d.title = "x";
	d.title_len = TOKDOC_NAME_MAX + 1;
	assert_int_equal(tokdoc_encode(&b, &d, 2), -1);
	buf_release(&b);
}

static int decode(const void *bytes, size_t n)
{
	unsigned char *copy = malloc(n ? n : 1);	/* so that reading beyond it is seen */
	const unsigned char *p = copy;
	struct tokdoc d = TOKDOC_INIT;
	int rc;

	assert_non_null(copy);
	if (n)
		memcpy(copy, bytes, n);
	rc = tokdoc_decode(&p, copy + n, 2, VOCAB, &d);
	if (rc)
		assert_int_equal(err_code(), EXIT_CORRUPT);
	tokdoc_release(&d);
	free(copy);
	return rc;
}

static void test_cut_records_are_refused(void **state)
{
	struct buf b = BUF_INIT;
	struct tokdoc d = TOKDOC_INIT;
	uint32_t ids[64];

	(void)state;
	make(&d, 13, ids);
	assert_int_equal(tokdoc_encode(&b, &d, 2), 0);
	assert_int_equal(decode(b.data, b.len), 0);
	for (size_t n = 0; n < b.len; n++)
		assert_int_equal(decode(b.data, n), -1);
	/* cut, and the length made to fit */
	for (size_t n = 1; n + 1 < b.len; n++) {
		assert_true(n < 128 && b.len < 128);
		b.data[0] = (char)n;
		assert_int_equal(decode(b.data, n + 1), n + 1 == b.len ? 0 : -1);
	}
	tokdoc_release(&d);
	buf_release(&b);
}

static void test_lies_are_refused(void **state)
{
	unsigned char r[] = { 24, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 1, 'i', 0, 1, 1, 9, 0 };

	(void)state;
	assert_int_equal(decode(r, sizeof(r)), 0);
	r[22] = 2;				/* two tokens, ids for one */
	assert_int_equal(decode(r, sizeof(r)), -1);
	r[22] = 1;
	r[21] = 200;				/* a number of sentences that goes on into the next byte */
	assert_int_equal(decode(r, sizeof(r)), -1);
	r[21] = 1;
	r[24] = 0x80;				/* id 0x8009 */
	assert_int_equal(decode(r, sizeof(r)), -1);
	r[24] = 0;
	r[19] = 0xff;				/* no UTF-8 */
	assert_int_equal(decode(r, sizeof(r)), -1);
	r[19] = 'i';
	r[18] = 30;				/* an id longer than the record */
	assert_int_equal(decode(r, sizeof(r)), -1);
}

static void test_varints(void **state)
{
	const uint64_t values[] = { 0, 1, 127, 128, 16383, 16384, UINT32_MAX, UINT64_MAX - 1, UINT64_MAX };
	const unsigned char zero_twice[] = { 0x80, 0 }, too_long[] = { 255, 255, 255, 255, 255, 255, 255, 255, 255, 2 };
	unsigned char out[VARINT_MAX];
	const unsigned char *p;
	uint64_t v = 0;

	(void)state;
	for (unsigned i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		const size_t n = varint_put(out, values[i]);

		p = out;
		assert_int_equal(varint_get(&p, out + n, &v), 0);
		assert_true(v == values[i] && p == out + n);
		p = out;
		assert_int_equal(varint_get(&p, out + n - 1, &v), -1);
	}
	p = zero_twice;
	assert_int_equal(varint_get(&p, p + 2, &v), -1);
	p = too_long;
	assert_int_equal(varint_get(&p, p + 10, &v), -1);
}

/* --- files --------------------------------------------------------------------------- */

static char path[] = "/tmp/bert-test-tokdoc-XXXXXX";

static int make_path(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	return fd < 0 || close(fd) ? -1 : 0;
}

static int remove_path(void **state)
{
	(void)state;
	return unlink(path);
}

/* N documents in blocks of EACH. */
static void write_file(uint32_t n, uint32_t each, int level)
{
	struct tokdoc_block b = TOKDOC_BLOCK_INIT;
	struct tokdoc_writer *w;
	struct tokdoc d = TOKDOC_INIT;
	uint32_t ids[64];
	struct out *o;
	json_t *t = tokenizer(VOCAB);

	assert_int_equal(out_open(&o, path), 0);
	assert_int_equal(tokdoc_writer_open(&w, o, t, false), 0);
	for (uint32_t k = 0; k < n; k++) {
		make(&d, k, ids);
		assert_int_equal(tokdoc_block_add(&b, &d, 2), 0);
		if (b.records == each || k + 1 == n) {
			assert_int_equal(tokdoc_block_pack(&b, level), 0);
			assert_int_equal(tokdoc_writer_add(w, &b), 0);
			tokdoc_block_clear(&b);
		}
	}
	assert_int_equal(tokdoc_writer_finish(w, json_pack("{s:i}", "note", 7)), 0);
	assert_int_equal(out_commit(o), 0);
	tokdoc_block_release(&b);
	tokdoc_release(&d);
	json_decref(t);
}

static void read_in_sequence(uint32_t n)
{
	struct tokdoc want = TOKDOC_INIT, d = TOKDOC_INIT;
	struct tokdoc_reader *r;
	uint32_t ids[64];
	struct in *in;

	assert_int_equal(in_open(&in, path, 1), 0);
	assert_int_equal(tokdoc_reader_open(&r, in), 0);
	assert_int_equal(tokdoc_reader_header(r)->vocab_size, VOCAB);
	assert_int_equal(tokdoc_reader_header(r)->id_bytes, 2);
	for (uint32_t k = 0; k < n; k++) {
		make(&want, k, ids);
		assert_int_equal(tokdoc_reader_next(r, &d), 1);
		assert_same(&want, &d);
	}
	assert_int_equal(tokdoc_reader_next(r, &d), 0);
	assert_int_equal(tokdoc_reader_totals(r)->documents, n);
	tokdoc_reader_close(r);
	tokdoc_release(&d);
	tokdoc_release(&want);
}

static void test_files_round_trip(void **state)
{
	struct tokdoc_file *f;

	(void)state;
	write_file(0, 10, 0);
	read_in_sequence(0);
	write_file(95, 10, 0);
	read_in_sequence(95);
	write_file(95, 10, 3);
	read_in_sequence(95);
	assert_int_equal(tokdoc_file_open(&f, path), 0);
	assert_int_equal(tokdoc_file_blocks(f), 10);
	assert_int_equal(tokdoc_file_totals(f)->documents, 95);
	assert_int_equal(json_integer_value(json_object_get(tokdoc_file_notes(f), "note")), 7);
	tokdoc_file_close(f);
}

/* A file whose trailer says what SAYS adds to the truth is refused by a reader in sequence. */
static void test_totals_are_held_against_documents(void **state)
{
	struct tokdoc_block b = TOKDOC_BLOCK_INIT;
	struct tokdoc d = TOKDOC_INIT;
	struct tokdoc_writer *w;
	struct tokdoc_reader *r;
	uint32_t ids[64];
	struct out *o;
	struct in *in;
	json_t *t = tokenizer(VOCAB);

	(void)state;
	assert_int_equal(out_open(&o, path), 0);
	assert_int_equal(tokdoc_writer_open(&w, o, t, false), 0);
	make(&d, 3, ids);
	assert_int_equal(tokdoc_block_add(&b, &d, 2), 0);
	b.totals.keys.lo++;
	assert_int_equal(tokdoc_writer_add(w, &b), 0);
	assert_int_equal(tokdoc_writer_finish(w, NULL), 0);
	assert_int_equal(out_commit(o), 0);
	assert_int_equal(in_open(&in, path, 1), 0);
	assert_int_equal(tokdoc_reader_open(&r, in), 0);
	assert_int_equal(tokdoc_reader_next(r, &d), 1);
	assert_int_equal(tokdoc_reader_next(r, &d), -1);
	assert_int_equal(err_code(), EXIT_CORRUPT);
	tokdoc_reader_close(r);
	tokdoc_block_release(&b);
	tokdoc_release(&d);
	json_decref(t);
}

static void test_headers_are_checked(void **state)
{
	const char *const bad[] = {
		"{}",
		"{\"format\":\"x\",\"version\":1,\"sorted\":false,\"tokenizer\":{}}",
		"{\"format\":\"berttools token "
		"documents\",\"version\":2,\"sorted\":false,\"tokenizer\":{\"id_bytes\":2,\"vocab\":{\"sha256\":\"0\","
		"\"size\":9}}}",
		"{\"format\":\"berttools token "
		"documents\",\"version\":1,\"sorted\":false,\"tokenizer\":{\"id_bytes\":4,\"vocab\":{\"sha256\":\"0\","
		"\"size\":9}}}",
		"{\"format\":\"berttools token "
		"documents\",\"version\":1,\"sorted\":false,\"tokenizer\":{\"id_bytes\":2,\"vocab\":{\"sha256\":\"0\","
		"\"size\":65537}}}",
		"{\"format\":\"berttools token "
		"documents\",\"version\":1,\"sorted\":false,\"tokenizer\":{\"id_bytes\":2,\"vocab\":{\"sha256\":\"0\","
		"\"size\":0}}}",
	};
	struct tokdoc_header h;

	(void)state;
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(tokdoc_header_parse(&h, bad[i], strlen(bad[i])), -1);
		assert_int_equal(err_code(), EXIT_CORRUPT);
	}
}

/* The file at path, whose header says that it is sorted, with good sums. */
static void lie_that_it_is_sorted(void)
{
	struct frame_block b = FRAME_BLOCK_INIT;
	const struct buf none = BUF_INIT;
	struct frame_reader *r;
	struct frame_writer *w;
	struct out *o;
	const char *said;
	json_t *header;
	char *text;
	size_t len;

	assert_int_equal(frame_open_file(&r, path, TOKDOC_KIND), 0);
	said = frame_header(r, &len);
	header = json_loadb(said, len, 0, NULL);
	assert_int_equal(json_object_set_new(header, "sorted", json_true()), 0);
	text = json_dumps(header, JSON_COMPACT | JSON_SORT_KEYS);
	assert_int_equal(out_open(&o, path), 0);
	assert_int_equal(frame_create(&w, o, TOKDOC_KIND, text, strlen(text)), 0);
	for (uint64_t k = 0; k < frame_blocks(r); k++) {
		assert_int_equal(frame_read(r, k, &b), 0);
		assert_int_equal(frame_add(w, b.type, b.records, b.raw.data, b.raw.len, &none), 0);
	}
	said = frame_totals(r, &len);
	assert_int_equal(frame_finish(w, said, len), 0);
	assert_int_equal(out_commit(o), 0);
	frame_close(r);
	frame_block_release(&b);
	json_decref(header);
	free(text);
}

static void test_headers_that_lie(void **state)
{
	json_t *is = json_pack("{s:s}", "unicode", "99.0");
	struct tokdoc_file *f;
	struct tokenizer *t;

	(void)state;
	write_file(40, 10, 0);
	lie_that_it_is_sorted();
	assert_int_equal(tokdoc_file_open(&f, path), -1);
	assert_int_equal(err_code(), EXIT_CORRUPT);
	assert_non_null(strstr(err_text(), "it is sorted, and lacks its first keys"));
	assert_int_equal(described_open(&t, "vocab.txt", is, false), -1);
	assert_int_equal(err_code(), EXIT_CORRUPT);
	assert_non_null(strstr(err_text(), "Unicode '99.0', which is not known here"));
	json_decref(is);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_varints),
		cmocka_unit_test(test_records_round_trip),
		cmocka_unit_test(test_wide_ids_stay_whole),
		cmocka_unit_test(test_encode_refuses),
		cmocka_unit_test(test_cut_records_are_refused),
		cmocka_unit_test(test_lies_are_refused),
		cmocka_unit_test(test_files_round_trip),
		cmocka_unit_test(test_totals_are_held_against_documents),
		cmocka_unit_test(test_headers_are_checked),
		cmocka_unit_test(test_headers_that_lie),
	};

	return cmocka_run_group_tests(tests, make_path, remove_path);
}
