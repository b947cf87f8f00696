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

static void walk(const unsigned char *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC), rc;
	struct buf b = BUF_INIT;
	char path[64];
	struct in *in;

	need(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!in_open(&in, path, 1)) {
		while ((rc = tfrecord_read(in, &b)) > 0)
			;
		need(!rc || err_code() != EXIT_DONE);
		need(b.cap <= (4 << 20) + 2 * in_offset(in));
		in_close(in);
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
