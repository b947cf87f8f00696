/*
 * Arbitrary bytes as a framed file, read in sequence and by record. Each input is
 * tried as it is, and again with every checksum that can be found made right, so
 * that what lies behind them is reached.
 */
#include "base/err.h"
#include "base/frame.h"
#include "base/frame_impl.h"

#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void need(int ok)
{
	if (!ok)
		abort();
}

/* A file in memory that holds the bytes; its path goes to PATH. */
static int file_of(const unsigned char *data, size_t size, char path[64])
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	need(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, 64, "/proc/self/fd/%d", fd);
	return fd;
}

/* Memory is made for what arrives, not for what a number says. */
static void check_block(const struct frame_block *b, size_t size)
{
	const size_t slack = 4 << 20;

	need(b->packed.cap <= slack + 2 * size);
	need(b->raw.cap <= slack + size * 70000);	/* zstd shrinks to a 1/32768 at best */
}

static void walk_in_sequence(const char *path, size_t size)
{
	struct frame_block b = FRAME_BLOCK_INIT;
	struct frame_reader *r;
	struct in *in;
	int rc;

	if (in_open(&in, path, 1) || frame_open(&r, in, NULL))
		return;
	while ((rc = frame_next(r, &b)) > 0)
		check_block(&b, size);
	if (rc)
		need(err_code() != EXIT_DONE && frame_next(r, &b) < 0);
	check_block(&b, size);
	frame_block_release(&b);
	frame_close(r);
}

static void walk_by_record(const char *path, size_t size, unsigned access)
{
	struct frame_block b = FRAME_BLOCK_INIT;
	struct frame_span s = FRAME_SPAN_INIT;
	struct frame_reader *r;
	uint64_t number;
	char kind[5];

	(void)frame_kind(path, kind);
	if (frame_open_access(&r, path, NULL, access))
		return;
	for (uint64_t i = 0; i < frame_blocks(r); i++)
		if (!(access ? frame_read_span(r, &s, i, UINT64_MAX, &b) : frame_read(r, i, &b))) {
			check_block(&b, size);
			if (b.records)
				need(!frame_find(r, b.type, b.first_record + b.records - 1, &number) && number == i);
		}
	need(frame_find(r, 0, frame_records(r, 0), &number) < 0);
	frame_span_release(&s);
	frame_block_release(&b);
	frame_close(r);
}

static void sign_index_and_trailer(unsigned char *p, size_t size, size_t index)
{
	const size_t trailer = size - FRAME_TRAILER;
	XXH3_state_t *file = XXH3_createState();

	need(file != NULL);
	if (trailer >= index + FRAME_INDEX_HEAD + FRAME_CHECKSUM)
		frame_put64(p + trailer - FRAME_CHECKSUM, XXH3_64bits(p + index, trailer - FRAME_CHECKSUM - index));
	XXH3_64bits_reset(file);
	XXH3_64bits_update(file, p, trailer);
	frame_put64(p + trailer + 72, frame_trailer_checksum(p + trailer, file));
	frame_put64(p + trailer + 80, XXH3_64bits(p + trailer, 80));
	XXH3_freeState(file);
}

static void sign(unsigned char *p, size_t size)
{
	size_t at = FRAME_PRELUDE;

	if (size < FRAME_PRELUDE + FRAME_CHECKSUM + FRAME_TRAILER)
		return;
	const size_t end = size - FRAME_TRAILER, header = frame_get32(p + 16);

	frame_put64(p + 24, XXH3_64bits(p, 24));
	if (header > end - at - FRAME_CHECKSUM)
		return;
	frame_put64(p + at + header, XXH3_64bits(p + at, header));
	at += header + FRAME_CHECKSUM;
	while (end - at >= FRAME_BLOCK_HEAD && frame_get32(p + at) == FRAME_MARK_BLOCK) {
		const uint64_t n = frame_get64(p + at + 16);

		frame_put32(p + at + 28, (uint32_t)XXH3_64bits(p + at, 28));
		if (n > end - at - FRAME_BLOCK_HEAD)
			break;
		frame_put64(p + at + 32, frame_block_checksum(p + at, p + at + FRAME_BLOCK_HEAD, (size_t)n));
		at += FRAME_BLOCK_HEAD + (size_t)n;
	}
	sign_index_and_trailer(p, size, at);
}

static void walk(const unsigned char *data, size_t size)
{
	char path[64];
	int fd = file_of(data, size, path);

	walk_in_sequence(path, size);
	walk_by_record(path, size, 0);
	walk_by_record(path, size, FILE_VIEW_MAPPED);
	close(fd);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	unsigned char *copy = malloc(size + 1);

	need(copy != NULL);
	walk(data, size);
	if (size)
		memcpy(copy, data, size);
	sign(copy, size);
	walk(copy, size);
	free(copy);
	return 0;
}
