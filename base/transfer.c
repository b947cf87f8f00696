#include "base/transfer.h"

#include "base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK_BYTES ((size_t)1 << 20)

int transfer_begin(struct transfer *t, const char *validator)
{
	if (ftruncate(t->fd, 0))
		return err_sys("cannot empty '%s'", t->path);
	t->have = t->reused = 0;
	snprintf(t->validator, sizeof(t->validator), "%s", validator);
	return t->remember(t);
}

int transfer_add(struct transfer *t, const void *bytes, size_t n)
{
	const char *p = bytes;

	while (n) {
		const ssize_t done = pwrite(t->fd, p, n, (off_t)t->have);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return err_sys("cannot write '%s'", t->path);
		p += done;
		n -= (size_t)done;
		t->have += (uint64_t)done;
	}
	t->advance(t);
	return 0;
}

static int copy_rest(struct transfer *t, int fd, const char *source)
{
	char *block = malloc(BLOCK_BYTES);
	ssize_t n = block ? 1 : err_memory();

	while (n > 0) {
		n = pread(fd, block, BLOCK_BYTES, (off_t)t->have);
		if (n < 0 && errno == EINTR)
			n = 1;
		else if (n < 0)
			err_sys("cannot read '%s'", source);
		else if (n > 0 && transfer_add(t, block, (size_t)n))
			n = -1;
	}
	free(block);
	return (int)n;
}

static enum transfer_result copy(struct transfer *t, int fd, const char *source)
{
	char validator[TRANSFER_VALIDATOR_MAX];
	struct stat st;

	if (fstat(fd, &st)) {
		err_sys("cannot read '%s'", source);
		return TRANSFER_FAILED;
	}
	if (!S_ISREG(st.st_mode)) {
		err_fail("cannot fetch '%s': not a regular file", t->url);
		return TRANSFER_FAILED;
	}
	t->modified = st.st_mtim.tv_sec;
	if (t->in_place && t->in_place_size == (uint64_t)st.st_size && t->in_place_time == t->modified)
		return TRANSFER_SAME;
	snprintf(validator, sizeof(validator), "%" PRIu64 " bytes of %" PRId64 ".%09ld", (uint64_t)st.st_size, t->modified, st.st_mtim.tv_nsec);
	if ((strcmp(validator, t->validator) && transfer_begin(t, validator)) || copy_rest(t, fd, source))
		return TRANSFER_FAILED;
	if (t->have != (uint64_t)st.st_size) {
		err_fail("cannot fetch '%s': it changed while it was read", t->url);
		return TRANSFER_FAILED;
	}
	return TRANSFER_DONE;
}

enum transfer_result transfer_local(struct transfer *t, const char *source)
{
	enum transfer_result r;
	const int fd = open(source, O_RDONLY | O_CLOEXEC);

	if (fd < 0) {
		err_sys("cannot fetch '%s'", t->url);
		return TRANSFER_FAILED;
	}
	r = copy(t, fd, source);
	close(fd);
	return r;
}
