/* Arbitrary bytes as TensorFlow records; the length's sum of the first is made right half the time. */
#include "base/err.h"
#include "base/tfrecord.h"

#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void need(int ok)
{
	if (!ok)
		abort();
}

/* As many records as the other way, in large pieces. */
static void walk_ahead(const char *path, size_t records, int good)
{
	struct tfrecord_reader r = { .in = NULL };
	struct tfrecord t;
	size_t n = 0;
	int rc = 0;

	if (in_open(&r.in, path, 1))
		return;
	while ((rc = tfrecord_next(&r, &t)) > 0 && !tfrecord_check(path, &t))
		n++;
	need(n == records && (rc == 0) == good);
	need(r.ahead.cap <= (4 << 20) + 2 * in_offset(r.in));
	in_close(r.in);
	tfrecord_reader_release(&r);
}

static void walk(const unsigned char *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC), rc;
	struct buf b = BUF_INIT;
	char path[64];
	struct in *in;
	size_t records = 0;

	need(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!in_open(&in, path, 1)) {
		while ((rc = tfrecord_read(in, &b)) > 0)
			records++;
		need(!rc || err_code() != EXIT_DONE);
		need(b.cap <= (4 << 20) + 2 * in_offset(in));
		in_close(in);
		walk_ahead(path, records, !rc);
	}
	buf_release(&b);
	close(fd);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	unsigned char *copy;
	uint32_t sum;

	walk(data, size);
	if (size < 12)
		return 0;
	copy = malloc(size);
	need(copy != NULL);
	memcpy(copy, data, size);
	sum = crc32c(0, copy, 8);
	sum = (sum >> 15 | sum << 17) + 0xA282EAD8u;
	for (int i = 0; i < 4; i++)
		copy[8 + i] = (unsigned char)(sum >> 8 * i);
	walk(copy, size);
	free(copy);
	return 0;
}
