/*
 * Any bytes as an input file: read to the end or to an error, whatever they are
 * taken for. On one thread and on three the same comes out, or both fail.
 */
#include "base/buf.h"
#include "base/err.h"
#include "base/in.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define OUTPUT_MAX ((size_t)8 << 20)	/* a few bytes can unpack to very many */

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static int read_all(const char *path, unsigned threads, size_t size, struct buf *b)
{
	struct in *in;
	ssize_t n = in_open(&in, path, threads) ? -1 : 1;

	while (n > 0 && b->len < OUTPUT_MAX) {
		require(!buf_reserve(b, 50000));
		n = in_read(in, b->data + b->len, 50000);
		if (n > 0)
			b->len += (size_t)n;
	}
	if (n >= 0) {
		require(in_offset(in) == b->len);
		require(in_packed_offset(in) <= size && (n > 0 || in_packed_offset(in) == size));
	} else {
		require(err_code() == EXIT_CORRUPT || err_code() == EXIT_FAILED);
	}
	in_close(in);
	return n < 0 ? -1 : 0;
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	struct buf alone = BUF_INIT, together = BUF_INIT;
	const int fd = memfd_create("in", MFD_CLOEXEC);
	char path[32];

	require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (read_all(path, 1, size, &alone) == 0) {
		require(read_all(path, 3, size, &together) == 0);
		require(alone.len >= OUTPUT_MAX || alone.len == together.len);
		require(!alone.len || !memcmp(alone.data, together.data, alone.len < together.len ? alone.len : together.len));
	} else {
		require(read_all(path, 3, size, &together) < 0 || together.len >= OUTPUT_MAX);
	}
	buf_release(&alone);
	buf_release(&together);
	close(fd);
	return 0;
}
