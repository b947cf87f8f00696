#include "base/spill.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/pool.h"

#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MEMORY_LEAST (64 << 10)
#define HUGE_LEAST ((size_t)64 << 20)	/* bytes of a region that is made of huge pages where there are any */
#define LENGTH_MAX 10			/* bytes of a record's length */
#define WRITE_MAX (1 << 20)		/* bytes of the buffer for writing; memory / 16 where that is less */
#define READ_MAX (1 << 20)		/* bytes of a run's buffer for reading, unless a record is longer */
#define READ_LEAST_MAX (128 << 10)	/* a run's buffer is never less than this, or memory / 16 where that is less */
#define AHEAD 8				/* records fetched into the cache ahead of their use */

/* A record in memory. On disk and in memory it is its length, seven bits to a byte, least first; then its bytes. */
struct entry {
	uint64_t prefix;
	uint64_t at;			/* offset in the region */
};

struct run {
	uint64_t offset, bytes;		/* in the file */
};

/* A run being merged. */
struct stream {
	uint64_t offset, end;		/* in the file, of what was not read yet */
	char *buf;
	size_t pos, len;		/* of what was read: not given yet, all */
	const char *record;		/* the next one; NULL at the end */
	size_t record_len;
	uint64_t prefix;
};

/*
 * One region holds all that is large. While records are added, they grow from
 * its beginning and their entries from its end; the room between them is at
 * least what sorting needs, half as much as the entries. While runs are merged, it
 * is divided into their buffers. Behind it lies the buffer for writing.
 */
struct spill {
	struct spill_opts opts;
	char *folder;
	char *region;
	size_t mapped;			/* bytes from the system */
	size_t room;			/* bytes of the region, the buffer for writing left out */
	size_t used;			/* bytes of records */
	size_t count;			/* records in memory */
	size_t longest;			/* record so far, with its length */

	int fd;				/* -1 until the first run */
	uint64_t file_end;
	char *out;
	size_t out_len, out_cap;
	uint64_t written;

	struct run *runs;		/* in the order in which their records were added */
	size_t n_runs, cap_runs, max_runs;

	bool sorted;
	size_t next;			/* entry to give, when no run was written */
	struct stream *streams;		/* of the merge going on */
	uint32_t *tree;			/* [0] the stream with the least record, [1..n) the losers of each match */
	uint32_t n_streams;
	size_t stream_cap;		/* bytes of each one's buffer */
	bool given;			/* the least record was given: its stream must go on */
};

/* --- records -------------------------------------------------------------------- */

static size_t put_length(char *p, size_t len)
{
	size_t n = 0;

	for (; len >= 0x80; len >>= 7)
		p[n++] = (char)(len | 0x80);
	p[n++] = (char)len;
	return n;
}

/* Bytes taken by the length at P; 0 when the length does not end within ROOM. */
static size_t get_length(const char *p, size_t room, size_t *len)
{
	*len = 0;
	for (size_t n = 0; n < room && n < LENGTH_MAX; n++) {
		*len |= (size_t)(p[n] & 0x7F) << (7 * n);
		if (!(p[n] & 0x80))
			return n + 1;
	}
	return 0;
}

static char *entry_record(const struct spill *s, const struct entry *e, size_t *len)
{
	char *p = s->region + e->at;

	return p + get_length(p, LENGTH_MAX, len);
}

static struct entry *first_entry(const struct spill *s)
{
	return (struct entry *)(void *)(s->region + s->room) - s->count;
}

uint64_t spill_prefix(const void *bytes, size_t len)
{
	uint64_t v = 0;

	memcpy(&v, bytes, len < sizeof(v) ? len : sizeof(v));
	return be64toh(v);
}

uint64_t spill_prefix_bytes(const void *record, size_t len, void *ctx)
{
	(void)ctx;
	return spill_prefix(record, len);
}

int spill_compare_bytes(const void *a, size_t a_len, const void *b, size_t b_len, void *ctx)
{
	const int rc = memcmp(a, b, a_len < b_len ? a_len : b_len);

	(void)ctx;
	return rc ? rc : (a_len > b_len) - (a_len < b_len);
}

static uint64_t prefix_of(const struct spill *s, const void *record, size_t len)
{
	return s->opts.prefix ? s->opts.prefix(record, len, s->opts.ctx) : 0;
}

/* --- sorting in memory ------------------------------------------------------------ */

/* Whether B must come before A, which was added earlier. */
static bool entry_after(const struct spill *s, const struct entry *a, const struct entry *b)
{
	size_t a_len, b_len;

	if (a->prefix != b->prefix)
		return a->prefix > b->prefix;
	const char *a_record = entry_record(s, a, &a_len), *b_record = entry_record(s, b, &b_len);

	return s->opts.compare(a_record, a_len, b_record, b_len, s->opts.ctx) > 0;
}

static void insertion_sort(const struct spill *s, struct entry *e, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		const struct entry moved = e[i];
		size_t k = i;

		for (; k > 0 && entry_after(s, &e[k - 1], &moved); k--)
			e[k] = e[k - 1];
		e[k] = moved;
	}
}

/* Merges e[0..middle) and e[middle..n), each sorted; SCRATCH has room for the first. */
static void merge_halves(const struct spill *s, struct entry *e, size_t middle, size_t n, struct entry *scratch)
{
	struct entry *a = scratch, *b = e + middle, *to = e;
	struct entry *const a_end = scratch + middle, *const b_end = e + n;

	if (!middle || middle == n || !entry_after(s, &e[middle - 1], &e[middle]))
		return;
	memcpy(scratch, e, middle * sizeof(*e));
	while (a < a_end && b < b_end)
		*to++ = entry_after(s, a, b) ? *b++ : *a++;
	memcpy(to, a, (size_t)(a_end - a) * sizeof(*e));
}

static void merge_sort(const struct spill *s, struct entry *e, size_t n, struct entry *scratch)
{
	if (n <= 8) {
		insertion_sort(s, e, n);
		return;
	}
	merge_sort(s, e, n / 2, scratch);
	merge_sort(s, e + n / 2, n - n / 2, scratch);
	merge_halves(s, e, n / 2, n, scratch);
}

/* Sorting on several threads: 2^level parts, halved again and again, then merged by pairs. */
struct sorting {
	struct spill *s;
	struct entry *entries, *scratch;
	unsigned level;
	bool merging;
};

static int sort_part(void *ctx, size_t part, unsigned worker)
{
	const struct sorting *o = ctx;
	size_t low = 0, high = o->s->count;

	(void)worker;
	for (unsigned bit = o->level; bit-- > 0;) {
		const size_t middle = low + (high - low) / 2;

		if (part >> bit & 1)
			low = middle;
		else
			high = middle;
	}
	/* low / 2 entries of scratch are enough for all that lies below: every part uses half its size. */
	if (o->merging)
		merge_halves(o->s, o->entries + low, (high - low) / 2, high - low, o->scratch + low / 2);
	else
		merge_sort(o->s, o->entries + low, high - low, o->scratch + low / 2);
	return 0;
}

static void sort_memory(struct spill *s)
{
	struct entry *e = first_entry(s);
	struct sorting o = { .s = s, .entries = e, .scratch = e - s->count / 2 };

	for (size_t i = 0; i < s->count / 2; i++) {	/* entries grew downwards */
		const struct entry swapped = e[i];

		e[i] = e[s->count - 1 - i];
		e[s->count - 1 - i] = swapped;
	}
	while (1u << o.level < s->opts.threads && o.level < 10)
		o.level++;
	pool_for(s->opts.threads, (size_t)1 << o.level, sort_part, &o);
	o.merging = true;
	while (o.level-- > 0)
		pool_for(s->opts.threads, (size_t)1 << o.level, sort_part, &o);
}

/* The next sorted record in memory, all that equal it folded in: 1, or 0 at the end. */
static int next_in_memory(struct spill *s, char **record, size_t *len)
{
	const struct entry *e = first_entry(s);

	if (s->next == s->count)
		return 0;
	if (s->next + AHEAD < s->count)
		__builtin_prefetch(s->region + e[s->next + AHEAD].at);
	*record = entry_record(s, &e[s->next], len);
	const uint64_t prefix = e[s->next++].prefix;

	while (s->opts.combine && s->next < s->count && e[s->next].prefix == prefix) {
		size_t other_len;
		const char *other = entry_record(s, &e[s->next], &other_len);

		if (s->opts.compare(*record, *len, other, other_len, s->opts.ctx))
			break;
		s->opts.combine(*record, *len, other, other_len, s->opts.ctx);
		s->next++;
	}
	return 1;
}

/* --- the file of runs --------------------------------------------------------------- */

static int file_open(struct spill *s)
{
	struct buf path = BUF_INIT;

	s->fd = open(s->folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (s->fd >= 0)
		return 0;
	if (buf_addf(&path, "%s/bert-spill-XXXXXX", s->folder))
		return -1;
	s->fd = mkostemp(path.data, O_CLOEXEC);
	if (s->fd >= 0 && unlink(path.data))
		err_sys("cannot remove '%s'", path.data);
	else if (s->fd < 0)
		err_sys("cannot make a temporary file in '%s'", s->folder);
	else
		err_clear();
	buf_release(&path);
	return s->fd < 0 ? -1 : 0;
}

static int file_write(struct spill *s, const char *bytes, size_t n)
{
	while (n) {
		ssize_t done = pwrite(s->fd, bytes, n, (off_t)s->file_end);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return err_sys("cannot write temporary data in '%s'", s->folder);
		bytes += done;
		n -= (size_t)done;
		s->file_end += (size_t)done;
		s->written += (size_t)done;
	}
	return 0;
}

static int flush(struct spill *s)
{
	const size_t n = s->out_len;

	s->out_len = 0;
	return file_write(s, s->out, n);
}

static int put(struct spill *s, const char *bytes, size_t n)
{
	if (n > s->out_cap - s->out_len && flush(s))
		return -1;
	if (n > s->out_cap)
		return file_write(s, bytes, n);
	memcpy(s->out + s->out_len, bytes, n);
	s->out_len += n;
	return 0;
}

static int put_record(struct spill *s, const char *record, size_t len)
{
	char length[LENGTH_MAX];

	return put(s, length, put_length(length, len)) || put(s, record, len) ? -1 : 0;
}

static int reduce_runs(struct spill *s, size_t most);
static size_t most_streams(const struct spill *s);

/* Sorts what is in memory and writes it as one run. */
static int write_run(struct spill *s)
{
	const uint64_t offset = s->file_end;
	char *record;
	size_t len;

	if (s->fd < 0 && file_open(s))
		return -1;
	if (array_grow(&s->runs, &s->cap_runs, s->n_runs + 1, sizeof(*s->runs)))
		return -1;
	sort_memory(s);
	s->next = 0;
	while (next_in_memory(s, &record, &len))
		if (put_record(s, record, len))
			return -1;
	if (flush(s))
		return -1;
	s->runs[s->n_runs++] = (struct run){ offset, s->file_end - offset };
	s->used = s->count = 0;
	if (s->n_runs < s->max_runs)
		return 0;
	assert(most_streams(s) < s->max_runs);
	return reduce_runs(s, most_streams(s));
}

/* --- merging -------------------------------------------------------------------------- */

/* Brings T's next record into its buffer. */
static int stream_next(struct spill *s, struct stream *t)
{
	size_t length, len;

	for (;;) {
		length = get_length(t->buf + t->pos, t->len - t->pos, &len);
		if (length && len <= t->len - t->pos - length)
			break;
		if (t->offset == t->end) {
			t->record = NULL;
			return t->pos == t->len ? 0 : err_fail("temporary data in '%s' are damaged", s->folder);
		}
		memmove(t->buf, t->buf + t->pos, t->len - t->pos);
		t->len -= t->pos;
		t->pos = 0;
		size_t n = s->stream_cap - t->len;

		if (n > t->end - t->offset)
			n = (size_t)(t->end - t->offset);
		ssize_t got = pread(s->fd, t->buf + t->len, n, (off_t)t->offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_sys("cannot read temporary data in '%s'", s->folder);
		if (!got)
			return err_fail("temporary data in '%s' are damaged", s->folder);
		t->offset += (size_t)got;
		t->len += (size_t)got;
	}
	t->record = t->buf + t->pos + length;
	t->record_len = len;
	t->pos += length + len;
	t->prefix = prefix_of(s, t->record, len);
	return 0;
}

#define NOBODY UINT32_MAX

/* Whether stream A's record comes before stream B's; ended streams come last. NOBODY wins, while the tree is filled. */
static bool stream_before(const struct spill *s, uint32_t a, uint32_t b)
{
	const struct stream *x, *y;
	int c;

	if (a == NOBODY || b == NOBODY)
		return a == NOBODY;
	x = &s->streams[a];
	y = &s->streams[b];
	if (!x->record || !y->record)
		return x->record || (!y->record && a < b);
	if (x->prefix != y->prefix)
		return x->prefix < y->prefix;
	c = s->opts.compare(x->record, x->record_len, y->record, y->record_len, s->opts.ctx);
	return c ? c < 0 : a < b;
}

/* Plays stream I, which has a new record, up to the root. */
static void tree_play(struct spill *s, uint32_t i)
{
	uint32_t winner = i;

	for (uint32_t match = (i + s->n_streams) / 2; match > 0; match /= 2)
		if (stream_before(s, s->tree[match], winner)) {
			const uint32_t loser = winner;

			winner = s->tree[match];
			s->tree[match] = loser;
		}
	s->tree[0] = winner;
}

static size_t held_room(const struct spill *s)
{
	return s->opts.combine ? s->longest : 0;
}

/* How many runs can be merged at once. At least two: a record has at most memory / 4. */
static size_t most_streams(const struct spill *s)
{
	size_t least = s->opts.memory / 16 < READ_LEAST_MAX ? s->opts.memory / 16 : READ_LEAST_MAX, n;

	if (least < s->longest)
		least = s->longest;
	n = (s->room - held_room(s)) / (least + sizeof(struct stream) + sizeof(*s->tree));
	assert(n >= 2);
	return n < NOBODY / 2 ? n : NOBODY / 2;
}

static void merge_close(struct spill *s)
{
	free(s->streams);
	free(s->tree);
	s->streams = NULL;
	s->tree = NULL;
}

static int merge_open(struct spill *s, size_t first, size_t n)
{
	const size_t wanted = s->longest > READ_MAX ? s->longest : READ_MAX;

	s->n_streams = (uint32_t)n;
	s->given = false;
	s->stream_cap = (s->room - held_room(s)) / n - sizeof(*s->streams) - sizeof(*s->tree);
	if (s->stream_cap > wanted)
		s->stream_cap = wanted;
	s->streams = calloc(n, sizeof(*s->streams));
	s->tree = calloc(n, sizeof(*s->tree));
	if (!s->streams || !s->tree)
		return err_memory();
	for (size_t i = 0; i < n; i++) {
		const struct run *r = &s->runs[first + i];

		s->streams[i].offset = r->offset;
		s->streams[i].end = r->offset + r->bytes;
		s->streams[i].buf = s->region + held_room(s) + i * s->stream_cap;
		s->tree[i] = NOBODY;
		if (stream_next(s, &s->streams[i]))
			return -1;
	}
	for (size_t i = n; i-- > 0;)
		tree_play(s, (uint32_t)i);
	return 0;
}

/* The least record of all: 1, 0 at the end, -1 failed. It stays the least until given is set. */
static int merge_peek(struct spill *s, const struct stream **t)
{
	if (s->given) {
		if (stream_next(s, &s->streams[s->tree[0]]))
			return -1;
		tree_play(s, s->tree[0]);
		s->given = false;
	}
	*t = &s->streams[s->tree[0]];
	return (*t)->record ? 1 : 0;
}

/* The next record, all that equal it folded in. Good until the next call. */
static int merge_next(struct spill *s, const char **record, size_t *len)
{
	char *held = s->region;
	const struct stream *t;
	uint64_t prefix;
	int rc = merge_peek(s, &t);

	if (rc <= 0)
		return rc;
	s->given = true;
	*record = t->record;
	*len = t->record_len;
	if (!s->opts.combine)
		return 1;
	prefix = t->prefix;
	memcpy(held, t->record, t->record_len);
	*record = held;
	while ((rc = merge_peek(s, &t)) > 0 && t->prefix == prefix &&
	       !s->opts.compare(held, *len, t->record, t->record_len, s->opts.ctx)) {
		s->opts.combine(held, *len, t->record, t->record_len, s->opts.ctx);
		s->given = true;
	}
	return rc < 0 ? -1 : 1;
}

/* Frees R's space where the file system can; nothing depends on it. */
static void give_back(const struct spill *s, const struct run *r)
{
	(void)fallocate(s->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)r->offset, (off_t)r->bytes);
}

/* Makes N runs, from the one numbered FIRST on, into one. */
static int merge_runs(struct spill *s, size_t first, size_t n)
{
	const uint64_t offset = s->file_end;
	const char *record;
	size_t len;
	int rc;

	rc = merge_open(s, first, n);
	while (!rc && (rc = merge_next(s, &record, &len)) > 0)
		rc = put_record(s, record, len);
	merge_close(s);
	if (rc || flush(s))
		return -1;
	for (size_t i = first; i < first + n; i++)
		give_back(s, &s->runs[i]);
	s->runs[first] = (struct run){ offset, s->file_end - offset };
	memmove(&s->runs[first + 1], &s->runs[first + n], (s->n_runs - first - n) * sizeof(*s->runs));
	s->n_runs -= n - 1;
	return 0;
}

/* Merges neighbours, no more than needed, until MOST runs are left. */
static int reduce_runs(struct spill *s, size_t most)
{
	while (s->n_runs > most)
		for (size_t first = 0; s->n_runs > most && first + 1 < s->n_runs; first++) {
			size_t n = s->n_runs - most + 1;

			if (n > most)
				n = most;
			if (n > s->n_runs - first)
				n = s->n_runs - first;
			if (merge_runs(s, first, n))
				return -1;
		}
	return 0;
}

/* --- the calls ------------------------------------------------------------------------ */

int spill_open(struct spill **s, const struct spill_opts *opts)
{
	const char *folder = opts->folder ? opts->folder : getenv("TMPDIR");
	struct spill *new;

	*s = NULL;
	if (opts->memory < MEMORY_LEAST)
		return err_usage("%zu bytes of memory are too few to sort: at least %d", opts->memory, MEMORY_LEAST);
	new = calloc(1, sizeof(*new));
	if (!new)
		return err_memory();
	new->opts = *opts;
	if (!new->opts.threads)
		new->opts.threads = 1;
	new->fd = -1;
	new->folder = strdup(folder && *folder ? folder : "/tmp");
	/* Half of memory / 64: the table doubles as it grows. */
	new->max_runs = opts->memory / 128 / sizeof(struct run);
	new->mapped = (opts->memory - opts->memory / 64) / sizeof(struct entry) * sizeof(struct entry);
	new->out_cap = opts->memory / 16 < WRITE_MAX ? opts->memory / 16 : WRITE_MAX;
	new->out_cap -= new->out_cap % sizeof(struct entry);
	new->room = new->mapped - new->out_cap;
	/* Pages that are never touched cost nothing, so memory may be generous. */
	new->region = mmap(NULL, new->mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
			   -1, 0);
	if (new->region == MAP_FAILED)
		new->region = NULL;
	else if (new->mapped >= HUGE_LEAST)
		(void)madvise(new->region, new->mapped, MADV_HUGEPAGE);	/* advice: a page at a time is a fifth of adding a record */
	if (!new->region || !new->folder) {
		spill_close(new);
		return err_memory();
	}
	new->out = new->region + new->room;
	*s = new;
	return 0;
}

/* Whether a record that takes BYTES fits beside those in memory and the room to sort them all. */
static bool fits(const struct spill *s, size_t bytes)
{
	const size_t entries = s->count + 1 + (s->count + 1) / 2;

	return entries < s->room / sizeof(struct entry) && s->used + bytes <= s->room - entries * sizeof(struct entry);
}

int spill_add(struct spill *s, const void *record, size_t len)
{
	char length[LENGTH_MAX];
	const size_t n = put_length(length, len);

	assert(!s->sorted);
	if (len > s->opts.memory / 4)
		return err_fail("cannot sort a record of %zu bytes: %zu bytes of memory allow up to %zu", len,
				s->opts.memory, s->opts.memory / 4);
	if (!fits(s, n + len) && write_run(s))
		return -1;
	if (n + len > s->longest)
		s->longest = n + len;
	memcpy(s->region + s->used, length, n);
	if (len)
		memcpy(s->region + s->used + n, record, len);
	s->count++;
	*first_entry(s) = (struct entry){ prefix_of(s, s->region + s->used + n, len), s->used };
	s->used += n + len;
	return 0;
}

int spill_sort(struct spill *s)
{
	assert(!s->sorted);
	s->sorted = true;
	if (s->n_runs == 0) {
		sort_memory(s);
		s->next = 0;
		return 0;
	}
	if (s->count && write_run(s))
		return -1;
	if (reduce_runs(s, most_streams(s)))
		return -1;
	return merge_open(s, 0, s->n_runs);
}

int spill_next(struct spill *s, const void **record, size_t *len)
{
	const char *r = NULL;
	char *in_memory;
	int rc;

	assert(s->sorted);
	if (s->n_runs) {
		rc = merge_next(s, &r, len);
	} else {
		rc = next_in_memory(s, &in_memory, len);
		r = rc ? in_memory : NULL;
	}
	*record = r;
	return rc;
}

uint64_t spill_bytes_written(const struct spill *s)
{
	return s->written;
}

bool spill_is_held(const struct spill *s)
{
	return s->sorted && !s->n_runs && !s->opts.combine;
}

size_t spill_held(const struct spill *s)
{
	return s->count;
}

size_t spill_held_bytes(const struct spill *s)
{
	return s->used + (s->count + s->count / 2) * sizeof(struct entry);
}

const void *spill_record(const struct spill *s, size_t i, size_t *len)
{
	assert(spill_is_held(s) && i < s->count);
	return entry_record(s, first_entry(s) + i, len);
}

void spill_close(struct spill *s)
{
	if (!s)
		return;
	merge_close(s);
	if (s->fd >= 0)
		close(s->fd);
	if (s->region)
		munmap(s->region, s->mapped);
	free(s->runs);
	free(s->folder);
	free(s);
}
