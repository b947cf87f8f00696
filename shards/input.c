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
#define SECOND INT64_C(1000000000)		/* nanoseconds */
#define TICK (SECOND / 20)			/* clocks of file systems that tell less than seconds tick more often */
#define TICK_COARSE (2 * SECOND)		/* FAT's; others that do not, seconds */

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

/* --- marks: whether a file is what it was ------------------------------------------------------- */

/* What becomes another one when the file is written to in a later tick of its clock. */
static struct key mark_of(const struct stat *st)
{
	const struct timespec *m = &st->st_mtim, *c = &st->st_ctim;
	const uint64_t is[] = { (uint64_t)st->st_size, (uint64_t)st->st_ino, (uint64_t)m->tv_sec, (uint64_t)m->tv_nsec,
				(uint64_t)c->tv_sec, (uint64_t)c->tv_nsec };
	const XXH128_hash_t digest = XXH3_128bits(is, sizeof(is));

	return (struct key){ digest.high64, digest.low64 };
}

static int64_t nanoseconds(const struct timespec *t)
{
	return (int64_t)t->tv_sec * SECOND + t->tv_nsec;
}

/*
 * Nanoseconds until what is written to the file shows by its times; none: it does now. The clock is the file system's
 * own, where BESIDE lies in it: another machine's may be ahead or behind.
 */
static int64_t until_settled(const struct stat *st, int beside)
{
	struct stat other;
	struct timespec now;
	const bool own = beside >= 0 && !futimens(beside, NULL) && !fstat(beside, &other) && other.st_dev == st->st_dev;
	const bool fine = own && st->st_mtim.tv_nsec && st->st_ctim.tv_nsec;

	if (own)
		now = other.st_ctim;
	else if (clock_gettime(CLOCK_REALTIME, &now))
		return INT64_MAX;
	return nanoseconds(&st->st_ctim) + (fine ? TICK : TICK_COARSE) - nanoseconds(&now);
}

/* The mark that F has, or will have when it is waited for; 0: it changes all the time, or its clock is not to be believed. */
static int find_mark(struct input *f, int beside, bool wait)
{
	struct stat st;
	int64_t left;

	f->mark = (struct key){ 0, 0 };
	for (unsigned tries = 0; tries < 2; tries++) {
		if (stat(f->name, &st))
			return err_sys("cannot open '%s'", f->name);
		left = until_settled(&st, beside);
		if (left <= 0) {
			f->mark = mark_of(&st);
			break;
		}
		if (!wait || left > TICK_COARSE)
			break;
		left += SECOND / 100;		/* a tick */
		(void)nanosleep(&(struct timespec){ .tv_sec = left / SECOND, .tv_nsec = left % SECOND }, NULL);
	}
	return 0;
}

int inputs_recall(struct inputs *in, const struct input_seen *seen, bool *all)
{
	static const struct key none = { 0, 0 };

	*all = true;
	for (size_t i = 0; i < in->n; i++) {
		struct input *f = &in->files[i];
		struct key mark = none;
		struct stat st;

		if (f->known)
			continue;
		if (stat(f->name, &st))
			return err_sys("cannot open '%s'", f->name);
		mark = mark_of(&st);
		f->known = key_compare(seen[i].mark, none) && !key_compare(seen[i].mark, mark);
		if (f->known) {
			f->mark = mark;
			f->sample = seen[i].sample;
		}
		*all &= f->known;
	}
	return 0;
}

int inputs_sample_all(struct inputs *in, int beside, bool wait)
{
	for (size_t i = 0; i < in->n; i++) {
		struct input *f = &in->files[i];

		if (f->known)
			continue;
		in->bytes -= f->bytes;
		if (find_mark(f, beside, wait) || inputs_sample(f->name, &f->bytes, &f->sample))
			return -1;
		in->bytes += f->bytes;
		f->known = true;
	}
	return 0;
}

/* --- what each is ---------------------------------------------------------------------------------- */

/*
 * The size of a regular file; anything else is a stream, of which no more can be known. A FIFO is not
 * even opened: closing it again would end whoever writes into it.
 */
static int look_at_file(struct input *f)
{
	struct stat st;

	if (stat(f->name, &st))
		return err_sys("cannot open '%s'", f->name);
	if (S_ISDIR(st.st_mode))
		return err_fail("'%s' is a folder", f->name);
	f->stream = f->known = !S_ISREG(st.st_mode);
	f->bytes = f->stream ? 0 : (uint64_t)st.st_size;
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
	f->stream = f->known = true;
	return sniff(f, in->form, threads, &in->standard, &in->standard_tokens);
}

int inputs_open(struct inputs *in, const char *const *files, size_t n, enum lines_form form, unsigned threads)
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
			if (look_at_file(f) || (!f->stream && look_inside(f, form, threads)))
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
