/*
 * kernels.h - a backend: its memory, its queues, and one function for every op.
 *
 *	struct kernels k;
 *	struct queue *q;
 *	if (kernels_open(&k, "cpu", threads) || k.queue_open(&k, &q))
 *		return -1;
 *	k.alloc(&p, bytes); ...
 *	k.linear_fwd(q, &(struct linear_fwd){ .x = x, .w = w, .b = b, .y = y });
 *	...
 *	if (k.sync(q))			(waits for all that was queued)
 *		return -1;		(the reason of the first op that failed)
 *	k.queue_close(q);
 *	kernels_close(&k);
 *
 * Ops run in the order in which they were put into a queue; between queues only
 * events order them. On ref and cpu a queue runs each op before the call returns,
 * on the calling thread and on threads of OpenMP; it is used by one thread at a
 * time. An op cannot be refused: wrong shapes and dtypes are our bugs (assert);
 * what fails besides (memory inside a library, a device) is remembered by the
 * queue, whose later ops do nothing, and is told by sync. A backend keeps no
 * other state, and no op allocates.
 *
 * Backends: "ref" is plain C for reading and checking, in F32 and F64, on one
 * thread. "cpu" is F32, vector code chosen by cpu_features() (base/cpu.h) when it
 * is opened; where it has no code of its own for an op it has ref's. "auto" is
 * the fastest of those in this build.
 */
#ifndef KERNELS_KERNELS_H
#define KERNELS_KERNELS_H

#include "kernels/ops_train.h"

enum op {
#define OP(name, by, f32, bf16, cuda, what) OP_##name,
#include "kernels/kernels.def"
#undef OP
	OP_COUNT
};

struct queue;
struct event;
struct kernels {
	const char *name;			/* "ref", "cpu" */
	unsigned threads;			/* of each queue */
	unsigned dtypes;			/* bit 1 << DTYPE_F32 and so on: what the ops take */
	const char *via[OP_COUNT];		/* whose code each op is: "ref", "avx2", "avx512", "c" */
	const char *gemm;			/* whose matrix product: "ref", "avx512", "dnnl", ... */

	/* Memory, aligned to 64 bytes or more, zeroed. */
	int (*alloc)(void **p, size_t bytes);			/* the backend's */
	void (*free)(void *p, size_t bytes);			/* NULL is accepted */
	int (*host_alloc)(void **p, size_t bytes);		/* the host's, such that copies need not wait */
	void (*host_free)(void *p, size_t bytes);
	void (*upload)(struct queue *q, void *to, const void *from, size_t bytes);	/* host to backend; both stay until sync or event */
	void (*download)(struct queue *q, void *to, const void *from, size_t bytes);	/* backend to host */

	/* Order. */
	int (*queue_open)(const struct kernels *k, struct queue **q);
	void (*queue_close)(struct queue *q);			/* waits; NULL is accepted */
	int (*sync)(struct queue *q);				/* 0, or -1 with the reason of the first failure */
	int (*event_open)(struct event **e);
	void (*event_close)(struct event *e);			/* NULL is accepted */
	void (*event_record)(struct queue *q, struct event *e);	/* e is what q was given so far */
	void (*event_wait)(struct queue *q, struct event *e);	/* q goes on when e has happened */
	int (*event_sync)(struct event *e);			/* the host waits for e */

	/* The ops: void NAME(struct queue *, const struct NAME *). */
#define OP(name, by, f32, bf16, cuda, what) void (*name)(struct queue *q, const struct name *args);
#include "kernels/kernels.def"
#undef OP

	/* Bytes of space for an op; NULL: needs none. See kernels_space. */
	size_t (*space[OP_COUNT])(const struct kernels *k, const void *args);
};

/* The backends by name, as the operand of an option (base/args.h, ARG_CHOICE) and by that option's number. */
#define KERNELS_BACKENDS "auto|cpu|ref|cuda"
extern const char *const kernels_backends[];

/* BACKEND: one of them. THREADS 0: as many as this process may use. -1 with the reason set. */
int kernels_open(struct kernels *k, const char *backend, unsigned threads);
void kernels_close(struct kernels *k);			/* after its queues, events and memory */

/*
 * Bytes of space that op NAME needs with ARGS (a struct NAME, on the host): it looks at
 * shapes, dtypes, A, B and S and not at data. What suffices for some sizes suffices for
 * smaller ones, so one call with the largest sizes plans the memory.
 */
size_t kernels_space(const struct kernels *k, enum op op, const void *args);

/* The backends of this build as one line, for --version: "ref cpu (avx512, dnnl)". */
const char *kernels_describe(void);

#endif
