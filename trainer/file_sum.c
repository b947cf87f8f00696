/* file_sum.c - how long a file is, and its checksum. */
#include "trainer/file_sum.h"

#include "base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include <xxhash.h>

#define CHUNK ((size_t)1 << 20)

static int sum_descriptor(int fd, const char *path, unsigned char *chunk, XXH3_state_t *state, uint64_t *bytes)
{
	ssize_t n;

	XXH3_64bits_reset(state);
	*bytes = 0;
	while ((n = read(fd, chunk, CHUNK)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys("cannot read '%s'", path);
		XXH3_64bits_update(state, chunk, (size_t)n);
		*bytes += (uint64_t)n;
	}
	return 0;
}

int file_sum(const char *path, struct file_sum *s)
{
	unsigned char *chunk = malloc(CHUNK);
	XXH3_state_t *state = XXH3_createState();
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	int rc = -1;

	if (fd < 0)
		err_sys("cannot read '%s'", path);
	else if (!chunk || !state)
		err_memory();
	else if (!(rc = sum_descriptor(fd, path, chunk, state, &s->bytes)))
		s->xxh3 = XXH3_64bits_digest(state);
	if (fd >= 0)
		close(fd);
	XXH3_freeState(state);
	free(chunk);
	return rc;
}
