#include "tokenizer/segmenter.h"

#include "base/coprocess.h"
#include "base/err.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* What a line may grow to, so that one without end is seen: a space after each of its bytes, and more than that. */
#define GROWTH 4
#define GROWTH_MORE ((size_t)64 << 10)

/* An item, and its lines that are back. */
struct waiting {
	void *item;
	struct buf cut;
	size_t sent;		/* bytes of its text that need not be sent any more */
	uint64_t missing;	/* lines */
};

struct segmenter {
	struct segmenter_feed feed;
	struct coprocess *process;
	struct buf given;		/* by the process, and not yet handed to items */
	struct waiting *ring;		/* items in order: ring[(first + i) % cap], i < count */
	size_t first, count, cap;
	size_t sending;			/* which of these is being sent; COUNT: none */
	uint64_t lines;			/* that came back */
	bool all_read, ended;
};

int segmenter_open(struct segmenter **out, const char *command, const struct segmenter_feed *f)
{
	struct segmenter *s = calloc(1, sizeof(*s));

	*out = NULL;
	if (!s)
		return err_memory();
	s->feed = *f;
	if (coprocess_start(&s->process, command)) {
		free(s);
		return -1;
	}
	*out = s;
	return 0;
}

void segmenter_close(struct segmenter *s)
{
	if (!s)
		return;
	coprocess_free(s->process);
	for (size_t i = 0; i < s->cap; i++) {
		if (s->ring[i].item)
			s->feed.release(s->ring[i].item);
		free(s->ring[i].item);
		buf_release(&s->ring[i].cut);
	}
	free(s->ring);
	buf_release(&s->given);
	free(s);
}

static struct waiting *waiting_at(const struct segmenter *s, size_t i)
{
	return &s->ring[(s->first + i) % s->cap];
}

/* --- items -------------------------------------------------------------------------- */

/* Room for one more: twice the ring, with the first item first. */
static int grow_ring(struct segmenter *s)
{
	const size_t cap = s->cap ? 2 * s->cap : 4;
	struct waiting *ring = calloc(cap, sizeof(*ring));

	if (!ring)
		return err_memory();
	for (size_t i = 0; i < s->cap; i++)
		ring[i] = *waiting_at(s, i);
	free(s->ring);
	s->ring = ring;
	s->first = 0;
	s->cap = cap;
	return 0;
}

static uint64_t count_lines(const struct buf *text)
{
	uint64_t n = 0;

	for (size_t i = 0; i < text->len; i++)
		n += text->data[i] == '\n' && i && text->data[i - 1] != '\n';
	return n;
}

/* Another item behind the others; at the end of the text the process is told so. */
static int read_item(struct segmenter *s)
{
	struct waiting *w;
	int rc;

	if (s->count == s->cap && grow_ring(s))
		return -1;
	w = waiting_at(s, s->count);
	if (!w->item)
		w->item = calloc(1, s->feed.item_size);
	if (!w->item)
		return err_memory();
	rc = s->feed.read(s->feed.ctx, w->item);
	if (rc < 0)
		return -1;
	if (!rc) {
		s->all_read = true;
		coprocess_close_input(s->process);
		return 0;
	}
	buf_clear(&w->cut);
	w->sent = 0;
	w->missing = count_lines(s->feed.text(w->item));
	s->count++;
	return buf_reserve(&w->cut, 1);
}

/* Hands the first item over, with the memory of ITEM and CUT in exchange. */
static int hand_over(struct segmenter *s, void *item, struct buf *cut)
{
	struct waiting *const w = waiting_at(s, 0);
	char *const a = item, *const b = w->item;
	const struct buf old = *cut;

	for (size_t i = 0; i < s->feed.item_size; i++) {
		const char c = a[i];

		a[i] = b[i];
		b[i] = c;
	}
	*cut = w->cut;
	w->cut = old;
	s->first = (s->first + 1) % s->cap;
	s->count--;
	s->sending -= s->sending > 0;
	return 1;
}

/* --- to and from the process ---------------------------------------------------------- */

/* The next bytes of an item to be sent, none of them a blank line: up to *N, or NULL where there are none left. */
static const char *next_bytes(const struct segmenter *s, struct waiting *w, size_t *n)
{
	const struct buf *const text = s->feed.text(w->item);
	const char *const end = text->data + text->len, *p = text->data + w->sent, *blank;

	while (p < end && *p == '\n' && (p == text->data || p[-1] == '\n'))
		p++;
	w->sent = (size_t)(p - text->data);
	if (p == end)
		return NULL;
	blank = memmem(p, (size_t)(end - p), "\n\n", 2);
	*n = (size_t)((blank ? blank + 1 : end) - p);
	return p;
}

/* Sends what the process takes, without waiting. */
static int send_some(struct segmenter *s)
{
	size_t n;

	for (; s->sending < s->count; s->sending++) {
		struct waiting *const w = waiting_at(s, s->sending);
		const char *const bytes = next_bytes(s, w, &n);

		if (!bytes)
			continue;
		w->sent += coprocess_write(s->process, bytes, n);
		return 0;
	}
	return s->all_read ? 0 : read_item(s);
}

static int refuse(const struct segmenter *s, const char *what)
{
	return err_fail("the segmenter gave %s, after %" PRIu64 " line%s", what, s->lines, s->lines == 1 ? "" : "s");
}

/* The first item that lacks lines; NULL: none does. */
static struct waiting *first_short(const struct segmenter *s)
{
	for (size_t i = 0; i < s->count; i++)
		if (waiting_at(s, i)->missing)
			return waiting_at(s, i);
	return NULL;
}

/* Hands the lines of s->given to items; at the END what is left is a line too. */
static int hand_lines(struct segmenter *s, bool end)
{
	const char *p = s->given.data, *const stop = p + s->given.len;
	struct waiting *w = first_short(s);

	while (p < stop) {
		const char *const newline = memchr(p, '\n', (size_t)(stop - p));
		const char *const line_end = newline ? newline : stop;
		const size_t before = w ? w->cut.len : 0, limit = (w ? GROWTH * s->feed.text(w->item)->len : 0) + GROWTH_MORE;

		if (!w && (newline || end))
			return refuse(s, "more lines than it was given");
		if (before + (size_t)(line_end - p) > limit)
			return refuse(s, "much more text than it was given");
		if (!newline && !end)
			break;
		if (buf_add(&w->cut, p, (size_t)(line_end - p)) || buf_add_byte(&w->cut, '\n'))
			return -1;
		s->lines++;
		if (!--w->missing)
			w = first_short(s);
		p = newline ? newline + 1 : stop;
	}
	s->given.len = (size_t)(stop - p);
	memmove(s->given.data, p, s->given.len);
	s->given.data[s->given.len] = 0;
	return 0;
}

/* The process has closed its output: looks how it ended, and whether that was too early. */
static int take_end(struct segmenter *s)
{
	s->ended = true;
	if (coprocess_end(s->process))
		return err_prefix("the segmenter, after %" PRIu64 " line%s", s->lines, s->lines == 1 ? "" : "s");
	return s->given.len ? hand_lines(s, true) : 0;
}

/* A step: waits until the process takes or gives something. Where it has ended nothing may be left but blank lines. */
static int step(struct segmenter *s)
{
	if (s->ended) {
		if (first_short(s))
			return refuse(s, "fewer lines than it was given");
		return s->all_read ? 0 : read_item(s);
	}
	switch (coprocess_wait(s->process, !s->all_read || s->sending < s->count, &s->given)) {
	case COPROCESS_TAKES: return send_some(s);
	case COPROCESS_GAVE: return hand_lines(s, false);
	case COPROCESS_ENDED: return take_end(s);
	default: return -1;
	}
}

int segmenter_next(struct segmenter *s, void *item, struct buf *cut)
{
	for (;;) {
		if (s->count && !waiting_at(s, 0)->missing)
			return hand_over(s, item, cut);
		if (!s->count && s->all_read && s->ended)
			return 0;
		if (step(s))
			return -1;
	}
}
