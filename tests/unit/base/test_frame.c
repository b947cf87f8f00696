#include "tests/unit/base/frames.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>

/* shards/FORMAT.md, "The frame", test vector; first made by another program. */
static const unsigned char vector[] = {
	0x89, 0x42, 0x54, 0x46, 0x0d, 0x0a, 0x1a, 0x0a, 0x54, 0x45, 0x53, 0x54, 0x01, 0x00, 0x34, 0x12,
	0x07, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x1e, 0x6c, 0x02, 0x50, 0x10, 0xc8, 0x1a, 0x73,
	0x7b, 0x22, 0x61, 0x22, 0x3a, 0x31, 0x7d, 0xc6, 0x53, 0x84, 0xfc, 0x2f, 0x76, 0xe3, 0xc5, 0x42,
	0x4c, 0x4b, 0x31, 0x00, 0x00, 0x00, 0x00, 0x05, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x05,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0xa1, 0xdb, 0x0c, 0x1d, 0x03,
	0xa6, 0x11, 0x46, 0x84, 0x0b, 0xdc, 0xc4, 0x68, 0x65, 0x6c, 0x6c, 0x6f, 0x42, 0x4c, 0x4b, 0x31,
	0x00, 0x01, 0x00, 0x00, 0x40, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x0a, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x40, 0x00, 0x00, 0x00, 0xc5, 0x11, 0x29, 0x67, 0xd8, 0x17, 0xd4, 0xb8,
	0x40, 0x58, 0x4f, 0x3b, 0x28, 0xb5, 0x2f, 0xfd, 0x20, 0x40, 0x03, 0x02, 0x00, 0x78, 0x42, 0x4c,
	0x4b, 0x31, 0x07, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x8e, 0x29, 0xff, 0x9f, 0x97, 0x15,
	0xc1, 0xac, 0xaa, 0xdf, 0x04, 0xcc, 0x49, 0x44, 0x58, 0x31, 0x07, 0x00, 0x00, 0x00, 0x03, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x2f, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x05, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03, 0xa6,
	0x11, 0x46, 0x84, 0x0b, 0xdc, 0xc4, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x5c, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x40, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xd8, 0x17, 0xd4, 0xb8, 0x40, 0x58, 0x4f, 0x3b, 0x40, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x8e, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x97, 0x15,
	0xc1, 0xac, 0xaa, 0xdf, 0x04, 0xcc, 0x01, 0x00, 0x00, 0x00, 0x07, 0x00, 0x00, 0x00, 0x7b, 0x22,
	0x62, 0x22, 0x3a, 0x32, 0x7d, 0xc0, 0xa7, 0xe9, 0x45, 0x67, 0x7e, 0x83, 0x71, 0x45, 0x4e, 0x44,
	0x31, 0x00, 0x00, 0x00, 0x00, 0x03, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x42, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x45, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x0f, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0xb6, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xad, 0x01, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0xca, 0x7d, 0xd7, 0xa3, 0x2c, 0xb4, 0x3e, 0xb2, 0x74, 0x11, 0x21,
	0xe7, 0xf0, 0xb0, 0x0c, 0x34, 0x52, 0x85, 0x63, 0x55, 0x4f, 0x19, 0xb9, 0x35, 0x24, 0xfa, 0x10,
	0x9e, 0xc5, 0xd2, 0xf6, 0x99, 0x42, 0x54, 0x46, 0x45, 0x4e, 0x44, 0x1a, 0x0a,
};

static char folder[] = "/tmp/bert-test-frame-XXXXXX";
static char path[64];

static int make_folder(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/x.frame", folder);
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(folder);
}

/* --- the vector -------------------------------------------------------------------- */

static void test_vector_write(void **state)
{
	struct buf f = BUF_INIT;

	(void)state;
	frame_make_file(path, vector_pieces, 3);
	read_file(path, &f);
	assert_int_equal(f.len, sizeof(vector));
	assert_memory_equal(f.data, vector, sizeof(vector));
	buf_release(&f);
}

static void check_vector_block(int i, const struct frame_block *b)
{
	assert_int_equal(b->type, vector_pieces[i].type);
	assert_int_equal(b->records, vector_pieces[i].records);
	assert_int_equal(b->first_record, i == 1 ? 2 : 0);
	assert_int_equal(b->raw.len, vector_pieces[i].len);
	assert_memory_equal(b->raw.data, vector_pieces[i].raw, vector_pieces[i].len);
}

static void check_vector_ends(const struct frame_reader *r)
{
	const struct frame_trailer *t = frame_trailer(r);
	size_t len;

	assert_string_equal(frame_header(r, &len), "{\"a\":1}");
	assert_int_equal(len, 7);
	assert_string_equal(frame_totals(r, &len), "{\"b\":2}");
	assert_int_equal(len, 7);
	assert_string_equal(frame_reader_kind(r), "TEST");
	assert_int_equal(t->blocks, 3);
	assert_int_equal(t->records, 66);
	assert_int_equal(t->raw_bytes, 69);
	assert_int_equal(t->packed_bytes, 15);
	assert_int_equal(t->file_bytes, sizeof(vector));
	assert_int_equal(t->digest_hi, 0xca7dd7a32cb43eb2);
	assert_int_equal(t->digest_lo, 0x741121e7f0b00c34);
}

static void test_vector_read(void **state)
{
	struct frame_block b = FRAME_BLOCK_INIT;
	struct memory_file m;
	struct frame_reader *r;
	struct in *in;
	char kind[5];

	(void)state;
	memory_file_make(&m, vector, sizeof(vector));
	assert_int_equal(in_open(&in, m.path, 1), 0);
	assert_true(frame_sniff(in));
	assert_int_equal(frame_open(&r, in, NULL), 0);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(frame_next(r, &b), 1);
		check_vector_block(i, &b);
	}
	assert_int_equal(frame_next(r, &b), 0);
	assert_int_equal(frame_next(r, &b), 0);
	check_vector_ends(r);
	assert_string_equal(frame_name(r), m.path);
	frame_close(r);

	assert_int_equal(frame_open_file(&r, m.path, "TEST"), 0);
	assert_int_equal(frame_blocks(r), 3);
	for (int i = 2; i >= 0; i--) {
		assert_int_equal(frame_read(r, (uint64_t)i, &b), 0);
		check_vector_block(i, &b);
	}
	assert_int_equal(frame_read(r, 3, &b), -1);
	check_vector_ends(r);
	frame_close(r);
	assert_int_equal(frame_kind(m.path, kind), 0);
	assert_string_equal(kind, "TEST");
	frame_block_release(&b);
	memory_file_release(&m);
}

/* --- large and small -------------------------------------------------------------------- */

/* Blocks of many sizes, types and levels; bytes are a function of their place, and pack more or less well. */
#define BLOCKS 40

static void fill(struct buf *raw, int i)
{
	const size_t n = i % 7 == 3 ? 0 : (size_t)(i * i * 250);
	uint32_t x = (uint32_t)i + 1;

	buf_clear(raw);
	assert_int_equal(buf_reserve(raw, n), 0);
	for (size_t k = 0; k < n; k++) {
		x = x * 1664525u + 1013904223u;
		raw->data[k] = i % 3 ? (char)(x >> 24 & 0x0F) : (char)(x >> 24);
	}
	raw->len = n;
}

static unsigned type_of(int i)
{
	return i % 5 == 4 ? 255 : i % 2;
}

static void write_many(void)
{
	struct buf raw = BUF_INIT, packed = BUF_INIT;
	struct frame_writer *w;
	struct out *o;

	assert_int_equal(out_open(&o, path), 0);
	assert_int_equal(frame_create(&w, o, "TEST", "{}", 2), 0);
	for (int i = 0; i < BLOCKS; i++) {
		fill(&raw, i);
		assert_int_equal(frame_pack(raw.data, raw.len, i % 20, &packed), 0);
		assert_true(!packed.len || packed.len < raw.len);
		assert_int_equal(frame_add(w, type_of(i), (uint32_t)i, raw.data, raw.len, i % 11 ? &packed : NULL), 0);
	}
	assert_int_equal(frame_finish(w, "", 0), 0);
	assert_int_equal(out_commit(o), 0);
	buf_release(&raw);
	buf_release(&packed);
}

static void check_block(const struct frame_block *b, int i, struct buf *raw)
{
	uint64_t first = 0;

	fill(raw, i);
	for (int k = 0; k < i; k++)
		first += type_of(k) == type_of(i) ? (uint64_t)k : 0;
	assert_int_equal(b->raw.len, raw->len);
	assert_memory_equal(b->raw.data, raw->data, raw->len);
	assert_int_equal(b->type, type_of(i));
	assert_int_equal(b->records, i);
	assert_int_equal(b->first_record, first);
}

static void test_many_in_sequence(void **state)
{
	struct frame_block b = FRAME_BLOCK_INIT;
	struct buf raw = BUF_INIT;
	struct frame_reader *r;
	struct in *in;

	(void)state;
	write_many();
	assert_int_equal(in_open(&in, path, 1), 0);
	assert_int_equal(frame_open(&r, in, "TEST"), 0);
	for (int i = 0; i < BLOCKS; i++) {
		assert_int_equal(frame_next(r, &b), 1);
		check_block(&b, i, &raw);
	}
	assert_int_equal(frame_next(r, &b), 0);
	frame_close(r);
	frame_block_release(&b);
	buf_release(&raw);
}

static void check_by_record(unsigned access)
{
	struct frame_block b = FRAME_BLOCK_INIT;
	struct buf raw = BUF_INIT;
	struct frame_reader *r;
	uint64_t number, next[256] = { 0 };

	write_many();
	assert_int_equal(frame_open_access(&r, path, "TEST", access), 0);
	assert_int_equal(frame_blocks(r), BLOCKS);
	assert_true(frame_mapped(r) == !!(access & FILE_VIEW_MAPPED));
	for (int i = 0; i < BLOCKS; i++) {
		for (int k = 0; k < i; k++) {
			assert_int_equal(frame_find(r, type_of(i), next[type_of(i)]++, &number), 0);
			assert_int_equal(number, i);
		}
		assert_int_equal(frame_read(r, (uint64_t)i, &b), 0);
		check_block(&b, i, &raw);
	}
	for (unsigned type = 0; type < 256; type++) {
		assert_int_equal(frame_records(r, type), next[type]);
		assert_int_equal(frame_find(r, type, next[type], &number), -1);
		assert_int_equal(frame_find(r, type, UINT64_MAX, &number), -1);
	}
	assert_int_equal(frame_find(r, 256, 0, &number), -1);
	frame_close(r);
	frame_block_release(&b);
	buf_release(&raw);
}

static void test_many_by_record(void **state)
{
	(void)state;
	for (unsigned access = 0; access <= (FILE_VIEW_MAPPED | FILE_VIEW_SCATTERED); access++)
		check_by_record(access);
	check_by_record(FRAME_SPARING);
}

/* Blocks read together: from each on, to each end. */
static void test_spans(void **state)
{
	struct frame_block b = FRAME_BLOCK_INIT;
	struct frame_span s = FRAME_SPAN_INIT;
	struct buf raw = BUF_INIT;
	struct frame_reader *r;

	(void)state;
	write_many();
	for (unsigned access = 0; access <= FILE_VIEW_MAPPED; access += FILE_VIEW_MAPPED) {
		assert_int_equal(frame_open_access(&r, path, "TEST", access), 0);
		for (int first = BLOCKS - 1; first >= 0; first--) {
			for (int i = first; i < BLOCKS; i++) {
				assert_int_equal(frame_read_span(r, &s, (uint64_t)i, first % 2 ? BLOCKS : UINT64_MAX, &b), 0);
				check_block(&b, i, &raw);
				assert_true(s.first <= (uint64_t)i && s.end > (uint64_t)i && s.end <= BLOCKS);
			}
			assert_int_equal(frame_read_span(r, &s, BLOCKS, UINT64_MAX, &b), -1);
			frame_span_release(&s);
		}
		frame_close(r);
	}
	frame_block_release(&b);
	buf_release(&raw);
}

static void *read_in_thread(void *arg)
{
	struct frame_block b = FRAME_BLOCK_INIT;
	struct buf raw = BUF_INIT;

	for (int i = 0; i < BLOCKS; i++) {
		assert_int_equal(frame_read(arg, (uint64_t)i, &b), 0);
		check_block(&b, i, &raw);
	}
	frame_block_release(&b);
	buf_release(&raw);
	return NULL;
}

static void check_threads(unsigned access)
{
	struct frame_reader *r;
	pthread_t threads[3];

	assert_int_equal(frame_open_access(&r, path, "TEST", access), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, read_in_thread, r), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	frame_close(r);
}

static void test_threads(void **state)
{
	(void)state;
	write_many();
	check_threads(0);
	check_threads(FILE_VIEW_MAPPED | FILE_VIEW_SCATTERED);
}

static void test_no_blocks(void **state)
{
	struct frame_reader *r;
	uint64_t number;

	(void)state;
	frame_make_file(path, NULL, 0);
	assert_int_equal(frame_walk(path), 0);
	assert_int_equal(frame_open_file(&r, path, "TEST"), 0);
	assert_int_equal(frame_blocks(r), 0);
	assert_int_equal(frame_find(r, 0, 0, &number), -1);
	frame_close(r);
}

static void test_expands(void **state)
{
	const size_t n = 5 << 20;
	char *zeros = calloc(1, n);
	const struct piece p = { 0, 1, zeros, n, 1, NULL, 0 };
	struct frame_block b = FRAME_BLOCK_INIT;
	struct frame_reader *r;

	(void)state;
	frame_make_file(path, &p, 1);	/* shrinks some 30,000 times: room is made in steps */
	assert_int_equal(frame_open_file(&r, path, "TEST"), 0);
	assert_true(frame_trailer(r)->packed_bytes < n / 1000);
	assert_int_equal(frame_read(r, 0, &b), 0);
	assert_int_equal(b.raw.len, n);
	assert_memory_equal(b.raw.data, zeros, n);
	frame_close(r);
	frame_block_release(&b);
	free(zeros);
}

/* --- pipes ---------------------------------------------------------------------------- */

struct feed {
	int fd;
	const unsigned char *bytes;
	size_t n;
};

static void *feed_pipe(void *arg)
{
	struct feed *f = arg;

	for (size_t i = 0; i < f->n; i += 7)	/* arrives in crumbs */
		if (write(f->fd, f->bytes + i, f->n - i < 7 ? f->n - i : 7) < 0)
			break;
	close(f->fd);
	return NULL;
}

/* Walks the first N bytes of the vector through a pipe. */
static int walk_pipe(size_t n)
{
	struct feed f = { .bytes = vector, .n = n };
	pthread_t thread;
	char name[32];
	int fds[2], rc;

	assert_int_equal(pipe(fds), 0);
	f.fd = fds[1];
	snprintf(name, sizeof(name), "/dev/fd/%d", fds[0]);
	assert_int_equal(pthread_create(&thread, NULL, feed_pipe, &f), 0);
	rc = frame_walk(name);
	assert_int_equal(pthread_join(thread, NULL), 0);
	close(fds[0]);
	return rc;
}

static void test_pipe(void **state)
{
	(void)state;
	assert_int_equal(walk_pipe(sizeof(vector)), 3);
	assert_int_equal(walk_pipe(sizeof(vector) - FRAME_TRAILER), -1);
	assert_int_equal(err_code(), EXIT_CORRUPT);
	assert_non_null(strstr(err_text(), "ends early (cut short?) at byte 333"));
	assert_int_equal(walk_pipe(100), -1);
	assert_non_null(strstr(err_text(), "ends early (cut short?) at byte 100"));
	assert_int_equal(walk_pipe(0), -1);
	assert_non_null(strstr(err_text(), "is empty"));
}

static void test_stops_early(void **state)
{
	struct frame_block b = FRAME_BLOCK_INIT;
	struct frame_reader *r;
	struct memory_file m;
	struct in *in;

	(void)state;
	memory_file_make(&m, vector, sizeof(vector));
	assert_int_equal(in_open(&in, m.path, 1), 0);
	assert_int_equal(frame_open(&r, in, "TEST"), 0);
	assert_int_equal(frame_next(r, &b), 1);
	frame_close(r);
	frame_block_release(&b);
	memory_file_release(&m);
}

/* --- writers that fail ------------------------------------------------------------------- */

static void test_full_disk(void **state)
{
	struct frame_writer *w;
	struct out *o;
	int rc;

	(void)state;
	assert_int_equal(out_open(&o, "/dev/full"), 0);
	rc = frame_create(&w, o, "TEST", "{}", 2);
	if (!rc)
		rc = frame_finish(w, "{}", 2);
	if (!rc)
		rc = out_commit(o);
	assert_int_equal(rc, -1);
	assert_non_null(strstr(err_text(), "/dev/full"));
	out_discard(o);
}

static void test_refuses(void **state)
{
	struct buf packed = BUF_INIT;
	struct frame_writer *w;
	struct out *o;
	int terminal = posix_openpt(O_RDWR | O_NOCTTY);

	(void)state;
	assert_int_equal(frame_pack("abc", 3, 20, &packed), -1);
	assert_int_equal(err_code(), EXIT_USAGE);
	assert_int_equal(frame_pack("abc", 3, -1, &packed), -1);
	buf_release(&packed);
	assert_int_equal(out_open(&o, path), 0);
	assert_int_equal(frame_create(&w, o, "TEST", NULL, (size_t)FRAME_JSON_MAX + 1), -1);
	assert_int_equal(frame_create(&w, o, "TEST", "{}", 2), 0);
	assert_int_equal(frame_finish(w, NULL, (size_t)FRAME_JSON_MAX + 1), -1);
	out_discard(o);
	if (terminal < 0 || grantpt(terminal) || unlockpt(terminal))
		return;		/* a system without terminals has none to protect */
	assert_int_equal(out_open(&o, ptsname(terminal)), 0);
	assert_int_equal(frame_create(&w, o, "TEST", "{}", 2), -1);
	assert_int_equal(err_code(), EXIT_USAGE);
	assert_non_null(strstr(err_text(), "terminal"));
	out_discard(o);
	close(terminal);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vector_write),
		cmocka_unit_test(test_vector_read),
		cmocka_unit_test(test_many_in_sequence),
		cmocka_unit_test(test_many_by_record), cmocka_unit_test(test_spans),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_no_blocks),
		cmocka_unit_test(test_expands),
		cmocka_unit_test(test_pipe),
		cmocka_unit_test(test_stops_early),
		cmocka_unit_test(test_full_disk),
		cmocka_unit_test(test_refuses),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
