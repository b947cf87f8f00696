/* The files that bert-shard is given: what each is. input_read.c reads them. */
#include "shards/input.h"
#include "base/err.h"
#include "base/jsonl.h"
#include "shards/canon.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

#define SAMPLE_WHOLE (1 << 20)		/* files up to this are hashed whole */
#define SAMPLE_PIECES 256
#define SAMPLE_PIECE 4096

/* N bytes at OFFSET of FD into the hash. */
static int hash_piece(XXH3_state_t *hash, int fd, uint64_t offset, size_t n)
{
	char bytes[SAMPLE_PIECE];

	while (n) {
		const ssize_t got = pread(fd, bytes, n < sizeof(bytes) ? n : sizeof(bytes), (off_t)offset);

		if (got < 0)
			return err_sys("cannot read");
		if (!got)
			return err_fail("it became shorter while it was read");
		XXH3_128bits_update(hash, bytes, (size_t)got);
		offset += (uint64_t)got;
		n -= (size_t)got;
	}
	return 0;
}

/* floor(i * (bytes - SAMPLE_PIECE) / (SAMPLE_PIECES - 1)) */
static uint64_t piece_offset(uint64_t bytes, uint64_t i)
{
	return (uint64_t)((unsigned __int128)(bytes - SAMPLE_PIECE) * i / (SAMPLE_PIECES - 1));
}

static int hash_sample(int fd, uint64_t bytes, struct key *sample)
{
	XXH3_state_t *hash = XXH3_createState();
	XXH128_hash_t digest;
	int rc = 0;

	if (!hash)
		return err_memory();
	XXH3_128bits_reset(hash);
	if (bytes <= SAMPLE_WHOLE)
		rc = hash_piece(hash, fd, 0, (size_t)bytes);
	else
		for (uint64_t i = 0; i < SAMPLE_PIECES && !rc; i++)
			rc = hash_piece(hash, fd, piece_offset(bytes, i), SAMPLE_PIECE);
	digest = XXH3_128bits_digest(hash);
	*sample = (struct key){ digest.high64, digest.low64 };
	XXH3_freeState(hash);
	return rc;
}

int inputs_sample(const char *name, uint64_t *bytes, struct key *sample)
{
	struct stat st;
	int rc = -1, fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);	/* a FIFO must not make us wait */

	if (fd < 0 || fstat(fd, &st)) {
		err_sys("cannot open '%s'", name);
	} else if (!S_ISREG(st.st_mode)) {
		err_fail("'%s' is no regular file", name);
	} else {
		*bytes = (uint64_t)st.st_size;
		rc = hash_sample(fd, *bytes, sample) ? err_prefix("'%s'", name) : 0;
	}
	if (fd >= 0)
		close(fd);
	return rc;
}

/*
 * What becomes another one when the file is written to. 0 where it changed a moment ago: clocks tick, and what is
 * written in the same tick would not show.
 */
static struct key mark_of(const struct stat *st)
{
	const struct timespec *m = &st->st_mtim, *c = &st->st_ctim;
	const uint64_t is[] = { (uint64_t)st->st_size, (uint64_t)st->st_ino, (uint64_t)m->tv_sec, (uint64_t)m->tv_nsec,
				(uint64_t)c->tv_sec, (uint64_t)c->tv_nsec };
	XXH128_hash_t digest;
	struct timespec now;

	if (clock_gettime(CLOCK_REALTIME, &now) || now.tv_sec < c->tv_sec + 1 + (now.tv_nsec < c->tv_nsec))
		return (struct key){ 0, 0 };
	digest = XXH3_128bits(is, sizeof(is));
	return (struct key){ digest.high64, digest.low64 };
}

/*
 * Size and sample of a regular file; anything else is a stream. A FIFO is not
 * even opened: closing it again would end whoever writes into it.
 */
static int look_at_file(struct input *f, const struct input_seen *seen)
{
	static const struct key none = { 0, 0 };
	struct stat st;

	if (stat(f->name, &st))
		return err_sys("cannot open '%s'", f->name);
	if (S_ISDIR(st.st_mode))
		return err_fail("'%s' is a folder", f->name);
	f->stream = !S_ISREG(st.st_mode);
	if (f->stream)
		return 0;
	f->mark = mark_of(&st);
	if (!seen || !key_compare(f->mark, none) || key_compare(f->mark, seen->mark))
		return inputs_sample(f->name, &f->bytes, &f->sample);
	f->bytes = (uint64_t)st.st_size;
	f->sample = seen->sample;
	return 0;
}

/*
 * Opens F and looks at what it holds: text, and then it is *TEXT, or token documents, and then *TOKENS reads them, the head of
 * which was read. The other one is NULL.
 */
static int sniff(struct input *f, enum lines_form form, unsigned threads, struct in **text, struct tokdoc_reader **tokens)
{
	*tokens = NULL;
	if (in_open(text, f->name, threads))
		return -1;
	f->tokens = frame_sniff(*text);
	f->packed = in_is_packed(*text);
	if (!f->tokens && form == LINES_NO_JSON && jsonl_refuse(*text)) {
		in_close(*text);
		*text = NULL;
		return -1;
	}
	if (f->tokens) {
		const int rc = tokdoc_reader_open(tokens, *text);

		*text = NULL;
		if (rc)
			return -1;
		f->tokenizer = json_incref(tokdoc_reader_header(*tokens)->tokenizer);
	}
	return 0;
}

/* What a regular file holds. */
static int look_inside(struct input *f, enum lines_form form, unsigned threads)
{
	struct tokdoc_reader *tokens;
	struct in *text;

	if (sniff(f, form, threads, &text, &tokens))
		return -1;
	in_close(text);
	tokdoc_reader_close(tokens);
	return 0;
}

static int look_at_standard(struct inputs *in, struct input *f, unsigned threads)
{
	f->name = "-";
	f->stream = true;
	return sniff(f, in->form, threads, &in->standard, &in->standard_tokens);
}

int inputs_open(struct inputs *in, const char *const *files, size_t n, enum lines_form form, unsigned threads,
		const struct input_seen *seen)
{
	const bool standard = !n || (n == 1 && !strcmp(files[0], "-"));
	const size_t count = standard ? 1 : n;

	*in = (struct inputs){ .files = calloc(count, sizeof(*in->files)), .n = count, .form = form };
	if (!in->files)
		return err_memory();
	for (size_t i = 0; i < count; i++) {
		struct input *f = &in->files[i];

		if (standard) {
			if (look_at_standard(in, f, threads))
				goto fail;
		} else {
			f->name = files[i];
			if (!strcmp(f->name, "-")) {
				err_usage("standard input cannot stand among files");
				goto fail;
			}
			if (look_at_file(f, seen ? &seen[i] : NULL) || (!f->stream && look_inside(f, form, threads)))
				goto fail;
		}
		in->streams |= f->stream;
		in->bytes += f->bytes;
	}
	return 0;
fail:
	inputs_close(in);
	return -1;
}

const json_t *inputs_tokenizer(const struct inputs *in)
{
	for (size_t i = 0; i < in->n; i++)
		if (!in->files[i].tokens)
			return NULL;
	return in->files[0].tokenizer;
}

int inputs_check_tokenizer(const struct inputs *in, const json_t *tokenizer)
{
	struct buf what = BUF_INIT;
	int rc = 0;

	for (size_t i = 0; i < in->n && !rc; i++) {
		const struct input *f = &in->files[i];

		if (!f->tokens)
			continue;
		buf_clear(&what);
		rc = canon_difference(f->tokenizer, tokenizer, &what);
		if (rc > 0)
			rc = err_fail("the token documents in '%s' were made otherwise: %s", f->name, what.data);
	}
	buf_release(&what);
	return rc;
}

void inputs_close(struct inputs *in)
{
	if (!in)
		return;
	in_close(in->standard);
	tokdoc_reader_close(in->standard_tokens);
	for (size_t i = 0; i < in->n; i++)
		json_decref(in->files[i].tokenizer);
	free(in->files);
	*in = (struct inputs){ .n = 0 };
}
