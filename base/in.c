#include "base/in.h"

#include "base/err.h"
#include "base/pieces.h"
#include "base/source.h"
#include "base/unpack.h"

#include <assert.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PEEK_MAX 64
#define SNIFF_MAX 16

struct in {
	char *name;
	struct source source;
	enum packing packing;
	struct unpack *unpack;	/* one of these two when packed */
	struct pieces *pieces;
	const unsigned char *block;	/* unpacked bytes not yet given */
	size_t block_len;
	unsigned char peeked[PEEK_MAX];
	size_t peeked_pos, peeked_len;
	uint64_t offset;	/* bytes given */
	uint64_t size;		/* on disk; 0 unknown */
};

static int open_descriptor(struct in *in, const char *path)
{
	const bool standard = !strcmp(path, "-");
	struct stat st;

	in->name = strdup(standard ? "standard input" : path);
	if (!in->name)
		return err_memory();
	in->source.name = in->name;
	in->source.fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	if (in->source.fd < 0)
		return err_sys("cannot open '%s'", path);
	if (fstat(in->source.fd, &st))
		return err_sys("cannot read '%s'", in->name);
	if (S_ISDIR(st.st_mode))
		return err_fail("cannot read '%s': is a directory", in->name);
	if (S_ISREG(st.st_mode)) {
		in->size = (uint64_t)st.st_size;
		(void)posix_fadvise(in->source.fd, 0, 0, POSIX_FADV_SEQUENTIAL);	/* advice: nothing depends on it */
	}
	return 0;
}

/* Reads no further than needed, so that a slow pipe's first line is not held up. */
static int sniff(struct in *in)
{
	unsigned char bytes[SNIFF_MAX];
	size_t n = 0;
	bool more = true;

	while (more && n < sizeof(bytes)) {
		const ssize_t got = source_read(&in->source, bytes + n, sizeof(bytes) - n);

		if (got < 0)
			return -1;
		n += (size_t)got;
		in->packing = packing_of(bytes, n, &more);
		if (got == 0)
			break;
	}
	return source_unread(&in->source, bytes, n);
}

static int start(struct in *in, unsigned threads)
{
	if (sniff(in))
		return -1;
	if (in->packing == PACKING_NONE)
		return 0;
	if (threads > 1 && pieces_can(in->packing))
		return pieces_open(&in->pieces, in->packing, &in->source, threads);
	return unpack_open(&in->unpack, in->packing, &in->source);
}

int in_open(struct in **result, const char *path, unsigned threads)
{
	struct in *in = calloc(1, sizeof(*in));

	*result = NULL;
	if (!in)
		return err_memory();
	in->source.fd = -1;
	if (open_descriptor(in, path) || start(in, threads)) {
		in_close(in);
		return -1;
	}
	*result = in;
	return 0;
}

/* The sniffed bytes are dropped by seeking. */
static int start_at(struct in *in, uint64_t offset)
{
	struct stat st;

	if (fstat(in->source.fd, &st))
		return err_sys("cannot read '%s'", in->name);
	if (!S_ISREG(st.st_mode))
		return err_usage("cannot read a part of '%s': not a regular file", in->name);
	if (sniff(in))
		return -1;
	if (in->packing != PACKING_NONE)
		return err_usage("cannot read a part of '%s': it is packed by %s", in->name, packing_name(in->packing));
	source_release(&in->source);
	if (lseek(in->source.fd, (off_t)offset, SEEK_SET) < 0)
		return err_sys("cannot seek in '%s'", in->name);
	in->source.offset = offset;
	in->offset = offset;
	return 0;
}

int in_open_at(struct in **result, const char *path, uint64_t offset)
{
	struct in *in;

	*result = NULL;
	if (!strcmp(path, "-"))
		return err_usage("cannot read a part of standard input");
	in = calloc(1, sizeof(*in));
	if (!in)
		return err_memory();
	in->source.fd = -1;
	if (open_descriptor(in, path) || start_at(in, offset)) {
		in_close(in);
		return -1;
	}
	*result = in;
	return 0;
}

static size_t take(struct in *in, void *bytes, size_t n)
{
	const size_t k = n < in->block_len ? n : in->block_len;

	memcpy(bytes, in->block, k);
	in->block += k;
	in->block_len -= k;
	return k;
}

/* Some bytes beyond the peeked ones. */
static ssize_t read_beyond(struct in *in, void *bytes, size_t n)
{
	if (!in_is_packed(in))
		return source_read(&in->source, bytes, n);
	if (!in->block_len) {
		const void *block = NULL;
		const ssize_t got = in->pieces ? pieces_next(in->pieces, &block) : unpack_next(in->unpack, &block);

		if (got <= 0)
			return got;
		in->block = block;
		in->block_len = (size_t)got;
	}
	return (ssize_t)take(in, bytes, n);
}

ssize_t in_read_some(struct in *in, void *bytes, size_t n)
{
	ssize_t got;

	if (!n)
		return 0;
	if (in->peeked_pos < in->peeked_len) {
		const size_t left = in->peeked_len - in->peeked_pos, k = n < left ? n : left;

		memcpy(bytes, in->peeked + in->peeked_pos, k);
		in->peeked_pos += k;
		got = (ssize_t)k;
	} else {
		got = read_beyond(in, bytes, n);
	}
	if (got > 0)
		in->offset += (uint64_t)got;
	return got;
}

ssize_t in_read(struct in *in, void *bytes, size_t n)
{
	size_t done = 0;

	while (done < n) {
		const ssize_t got = in_read_some(in, (char *)bytes + done, n - done);

		if (got < 0)
			return -1;
		if (got == 0)
			break;
		done += (size_t)got;
	}
	return (ssize_t)done;
}

ssize_t in_peek(struct in *in, void *bytes, size_t n)
{
	size_t left = in->peeked_len - in->peeked_pos;

	assert(n <= PEEK_MAX);
	memmove(in->peeked, in->peeked + in->peeked_pos, left);
	in->peeked_pos = 0;
	in->peeked_len = left;
	while (in->peeked_len < n) {
		const ssize_t got = read_beyond(in, in->peeked + in->peeked_len, n - in->peeked_len);

		if (got < 0)
			return -1;
		if (got == 0)
			break;
		in->peeked_len += (size_t)got;
	}
	left = n < in->peeked_len ? n : in->peeked_len;
	memcpy(bytes, in->peeked, left);
	return (ssize_t)left;
}

const char *in_name(const struct in *in)
{
	return in->name;
}

uint64_t in_offset(const struct in *in)
{
	return in->offset;
}

uint64_t in_packed_size(const struct in *in)
{
	return in->size;
}

uint64_t in_packed_offset(const struct in *in)
{
	if (in->pieces)
		return pieces_offset(in->pieces);
	return in->unpack ? in->source.offset : in->offset;
}

bool in_is_packed(const struct in *in)
{
	return in->packing != PACKING_NONE;
}

void in_close(struct in *in)
{
	if (!in)
		return;
	pieces_close(in->pieces);
	unpack_close(in->unpack);
	if (in->source.fd > STDIN_FILENO)
		close(in->source.fd);
	source_release(&in->source);
	free(in->name);
	free(in);
}
