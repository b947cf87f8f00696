#include "base/pieces.h"

#include "base/buf.h"
#include "base/err.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#include <zstd_errors.h>

#define READ_BYTES ((size_t)256 << 10)
#define PIECE_MIN ((size_t)128 << 10)	/* packed bytes: several short streams make one piece */
#define PIECE_MAX ((size_t)4 << 20)	/* a longer one is not held, but unpacked in sequence with all that follows */
#define CHUNK_BYTES ((size_t)256 << 10)
#define QUEUED_MAX ((size_t)4 << 20)	/* unpacked bytes of a piece that wait; beyond that its thread waits */
#define THREADS_MAX 64
#define SPARE 2				/* pieces cut beyond those being unpacked */

/* Unpacked bytes. */
struct chunk {
	struct chunk *next;
	size_t len;
	unsigned char bytes[CHUNK_BYTES];
};

struct piece {
	unsigned char *packed;
	size_t len;
	uint64_t given;		/* unpacked bytes that the caller has had */
	struct chunk *first, *last;
	size_t queued;
	bool finished;
	bool whole;		/* it was, when finished */
};

/* Pieces are numbered; piece i is in ring[i % depth]. Those from head to tail are held. */
struct pieces {
	enum packing packing;
	struct source *source;
	struct unpack *sequence;	/* once it has taken over */
	uint64_t skip;			/* unpacked bytes of it that the caller has had */

	struct buf packed;		/* read and not cut yet */
	size_t searched;		/* packed[0..searched) holds no cut that could be taken */
	bool source_ended;
	bool too_long;			/* what is in `packed` is no piece to be held */
	struct chunk *current;		/* the caller looks at it */

	size_t n_threads;
	pthread_t threads[THREADS_MAX];
	pthread_mutex_t lock;		/* over what follows, and the pieces but for packed, len and given */
	pthread_cond_t changed;
	size_t depth;
	struct piece *ring;
	uint64_t head, tail, taken;	/* taken: the next one that a thread takes */
	uint64_t head_offset;		/* of piece `head` in the packed bytes */
	bool stop;
};

bool pieces_can(enum packing p)
{
	return p == PACKING_BZIP2 || p == PACKING_ZSTD;
}

/* --- cutting --------------------------------------------------------------------- */

#define BZIP2_MARK 10

static bool bzip2_begins(const unsigned char *p)
{
	bool more;

	return packing_of(p, BZIP2_MARK, &more) == PACKING_BZIP2 && !more;
}

/* The first cut at or after FROM, or 0; *SEARCHED: where to look on when there are more bytes. */
static size_t cut_bzip2(const unsigned char *bytes, size_t n, size_t from, size_t *searched)
{
	size_t i = from > PIECE_MIN ? from : PIECE_MIN;

	while (i + BZIP2_MARK <= n) {
		const unsigned char *p = memchr(bytes + i, 'B', n - BZIP2_MARK + 1 - i);

		if (!p) {
			i = n - BZIP2_MARK + 1;
			break;
		}
		i = (size_t)(p - bytes);
		if (bzip2_begins(p))
			return i;
		i++;
	}
	*searched = i > from ? i : from;
	return 0;
}

/* The same of frames: FROM is a frame's begin. *BAD when what is there cannot be one. */
static size_t cut_zstd(const unsigned char *bytes, size_t n, size_t from, size_t *searched, bool *bad)
{
	size_t i = from;

	while (i < PIECE_MIN) {
		const size_t len = ZSTD_findFrameCompressedSize(bytes + i, n - i);

		if (ZSTD_isError(len)) {
			*bad = ZSTD_getErrorCode(len) != ZSTD_error_srcSize_wrong;
			*searched = i;
			return 0;
		}
		i += len;
	}
	*searched = i;
	return i;
}

static int read_more(struct pieces *p)
{
	ssize_t n;

	if (buf_reserve(&p->packed, READ_BYTES))
		return -1;
	n = source_read(p->source, p->packed.data + p->packed.len, READ_BYTES);
	if (n < 0)
		return -1;
	p->packed.len += (size_t)n;
	p->source_ended = n == 0;
	return 0;
}

/* Length of the next piece, to *LEN; 0 when there is none: nothing is left, or it is too long. */
static int find_piece(struct pieces *p, size_t *len)
{
	bool bad = false;

	for (;;) {
		const unsigned char *bytes = (const unsigned char *)p->packed.data;

		*len = 0;
		if (p->packed.len)
			*len = p->packing == PACKING_BZIP2 ? cut_bzip2(bytes, p->packed.len, p->searched, &p->searched) :
							     cut_zstd(bytes, p->packed.len, p->searched, &p->searched, &bad);
		if (*len)
			return 0;
		if (p->source_ended)
			break;
		p->too_long = bad || p->packed.len >= PIECE_MAX;
		if (p->too_long)
			return 0;
		if (read_more(p))
			return -1;
	}
	*len = p->packed.len;
	return 0;
}

/* Cuts the next piece into R: 1, 0 when there is none to be held, -1 failed. */
static int cut_piece(struct pieces *p, struct piece *r)
{
	size_t len = 0;

	if (p->too_long || find_piece(p, &len))
		return p->too_long ? 0 : -1;
	if (!len)
		return 0;
	*r = (struct piece){ .packed = malloc(len), .len = len };
	if (!r->packed)
		return err_memory();
	memcpy(r->packed, p->packed.data, len);
	memmove(p->packed.data, p->packed.data + len, p->packed.len - len);
	p->packed.len -= len;
	p->searched = 0;
	return 1;
}

/* --- threads ---------------------------------------------------------------------- */

/* Hands a chunk over, once there is room. False when all shall stop. */
static bool add_chunk(struct pieces *p, struct piece *r, struct chunk *c)
{
	bool stop;

	pthread_mutex_lock(&p->lock);
	while (r->queued >= QUEUED_MAX && !p->stop)
		pthread_cond_wait(&p->changed, &p->lock);
	if (r->last)
		r->last->next = c;
	else
		r->first = c;
	r->last = c;
	r->queued += c->len;
	stop = p->stop;
	pthread_cond_broadcast(&p->changed);
	pthread_mutex_unlock(&p->lock);
	return !stop;
}

static struct chunk *new_chunk(void)
{
	struct chunk *c = malloc(sizeof(*c));

	if (c) {
		c->next = NULL;
		c->len = 0;
	}
	return c;
}

/* Adds N bytes to *C, handing it over when it is full. */
static bool add_bytes(struct pieces *p, struct piece *r, struct chunk **c, const unsigned char *bytes, size_t n)
{
	while (n) {
		size_t k;

		if (!*c && !(*c = new_chunk()))
			return false;
		k = CHUNK_BYTES - (*c)->len < n ? CHUNK_BYTES - (*c)->len : n;
		memcpy((*c)->bytes + (*c)->len, bytes, k);
		(*c)->len += k;
		bytes += k;
		n -= k;
		if ((*c)->len == CHUNK_BYTES) {
			struct chunk *full = *c;

			*c = NULL;
			if (!add_chunk(p, r, full))
				return false;
		}
	}
	return true;
}

/* Whether the piece was whole. The reason why not is found again by the sequence that takes over. */
static bool unpack_piece(struct pieces *p, struct piece *r)
{
	struct source s = { .fd = -1, .name = "piece", .head = r->packed, .head_len = r->len };
	struct unpack *u = NULL;
	struct chunk *c = NULL;
	const void *bytes;
	ssize_t n;
	bool ok = unpack_open(&u, p->packing, &s) == 0;

	while (ok && (n = unpack_next(u, &bytes)) != 0)
		ok = n > 0 && add_bytes(p, r, &c, bytes, (size_t)n);
	unpack_close(u);
	if (ok && c)
		return add_chunk(p, r, c);
	free(c);
	return ok;
}

static void *work(void *ctx)
{
	struct pieces *p = ctx;

	pthread_mutex_lock(&p->lock);
	for (;;) {
		struct piece *r;
		bool whole;

		while (p->taken == p->tail && !p->stop)
			pthread_cond_wait(&p->changed, &p->lock);
		if (p->stop)
			break;
		r = &p->ring[p->taken++ % p->depth];
		pthread_mutex_unlock(&p->lock);
		whole = unpack_piece(p, r);
		pthread_mutex_lock(&p->lock);
		r->finished = true;
		r->whole = whole;
		pthread_cond_broadcast(&p->changed);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

static void stop_threads(struct pieces *p)
{
	pthread_mutex_lock(&p->lock);
	p->stop = true;
	pthread_cond_broadcast(&p->changed);
	pthread_mutex_unlock(&p->lock);
	while (p->n_threads)
		pthread_join(p->threads[--p->n_threads], NULL);
}

/* As many as can be had. */
static void start_threads(struct pieces *p, unsigned threads)
{
	while (p->n_threads < threads && pthread_create(&p->threads[p->n_threads], NULL, work, p) == 0)
		p->n_threads++;
}

static void free_chunks(struct piece *r)
{
	while (r->first) {
		struct chunk *c = r->first;

		r->first = c->next;
		free(c);
	}
	r->last = NULL;
}

static void release_piece(struct piece *r)
{
	free_chunks(r);
	free(r->packed);
	r->packed = NULL;
}

/* --- in sequence ------------------------------------------------------------------- */

/* From the first piece that is held on: what was cut goes back to the source. */
static int start_sequence(struct pieces *p)
{
	stop_threads(p);
	if (source_unread(p->source, p->packed.data, p->packed.len))
		return -1;
	buf_release(&p->packed);
	p->skip = p->head < p->tail ? p->ring[p->head % p->depth].given : 0;
	while (p->tail > p->head) {
		struct piece *r = &p->ring[--p->tail % p->depth];
		const int rc = source_unread(p->source, r->packed, r->len);

		release_piece(r);
		if (rc)
			return -1;
	}
	return unpack_open(&p->sequence, p->packing, p->source);
}

static ssize_t next_in_sequence(struct pieces *p, const void **bytes)
{
	for (;;) {
		const ssize_t n = unpack_next(p->sequence, bytes);

		if (n <= 0)
			return n;
		if ((uint64_t)n > p->skip) {
			const size_t skip = (size_t)p->skip;

			p->skip = 0;
			*bytes = (const char *)*bytes + skip;
			return n - (ssize_t)skip;
		}
		p->skip -= (uint64_t)n;
	}
}

/* --- the caller's side -------------------------------------------------------------- */

/* Cuts pieces while there is room for them. */
static int fill_ring(struct pieces *p)
{
	while (p->tail - p->head < p->depth) {
		const int rc = cut_piece(p, &p->ring[p->tail % p->depth]);

		if (rc <= 0)
			return rc;
		pthread_mutex_lock(&p->lock);
		p->tail++;
		pthread_cond_broadcast(&p->changed);
		pthread_mutex_unlock(&p->lock);
	}
	return 0;
}

int pieces_open(struct pieces **result, enum packing packing, struct source *s, unsigned threads)
{
	struct pieces *p = calloc(1, sizeof(*p));

	assert(pieces_can(packing));
	*result = NULL;
	if (!p)
		return err_memory();
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->changed, NULL);
	p->packing = packing;
	p->source = s;
	p->head_offset = s->offset;
	threads = threads < 1 ? 1 : threads > THREADS_MAX ? THREADS_MAX : threads;
	p->depth = threads + SPARE;
	p->ring = calloc(p->depth, sizeof(*p->ring));
	if (!p->ring) {
		pieces_close(p);
		return err_memory();
	}
	if (fill_ring(p)) {
		pieces_close(p);
		return -1;
	}
	if (p->tail > 1)
		start_threads(p, threads);
	if (!p->n_threads && start_sequence(p)) {
		pieces_close(p);
		return -1;
	}
	*result = p;
	return 0;
}

/* Waits for something of the first piece: its next chunk, or NULL when it is finished and has given all. */
static struct chunk *next_chunk(struct pieces *p, struct piece *r)
{
	struct chunk *c;

	pthread_mutex_lock(&p->lock);
	while (!r->first && !r->finished)
		pthread_cond_wait(&p->changed, &p->lock);
	c = r->first;
	if (c) {
		r->first = c->next;
		if (!r->first)
			r->last = NULL;
		r->queued -= c->len;
		pthread_cond_broadcast(&p->changed);
	}
	pthread_mutex_unlock(&p->lock);
	return c;
}

ssize_t pieces_next(struct pieces *p, const void **bytes)
{
	free(p->current);
	p->current = NULL;
	while (!p->sequence) {
		struct piece *r;

		if (fill_ring(p))
			return -1;
		if (p->head == p->tail && !p->too_long)
			return 0;
		r = &p->ring[p->head % p->depth];
		if (p->head < p->tail && (p->current = next_chunk(p, r))) {
			r->given += p->current->len;
			*bytes = p->current->bytes;
			return (ssize_t)p->current->len;
		}
		if (p->head < p->tail && r->whole) {
			p->head_offset += r->len;
			release_piece(r);
			p->head++;
		} else if (start_sequence(p)) {
			return -1;
		}
	}
	return next_in_sequence(p, bytes);
}

uint64_t pieces_offset(const struct pieces *p)
{
	return p->sequence ? p->source->offset : p->head_offset;
}

void pieces_close(struct pieces *p)
{
	if (!p)
		return;
	stop_threads(p);
	for (; p->ring && p->head < p->tail; p->head++)
		release_piece(&p->ring[p->head % p->depth]);
	unpack_close(p->sequence);
	free(p->current);
	buf_release(&p->packed);
	free(p->ring);
	pthread_cond_destroy(&p->changed);
	pthread_mutex_destroy(&p->lock);
	free(p);
}
