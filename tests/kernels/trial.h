/*
 * trial.h - one call of an op, prepared so that it can be made again in another dtype and on another backend.
 *
 * A test of an op (tests/kernels/OP.c) fills the op's struct of arguments through the functions below, in F64 and
 * with values that F32 holds exactly. The harness then copies all of it for each dtype and backend (trial_copy), with
 * guard bytes around every buffer, runs the op, and compares. Buffers and memory end with trial_release.
 */
#ifndef TESTS_KERNELS_TRIAL_H
#define TESTS_KERNELS_TRIAL_H

#include "base/rng.h"
#include "kernels/kernels.h"

#define TRIAL_SLOTS 64
#define TRIAL_COUNT(array) (int)(sizeof(array) / sizeof((array)[0]))
#define TRIAL_ARGS 1024		/* bytes that hold any struct of arguments */

enum role {
	ROLE_IN,		/* stays as it is, to the bit */
	ROLE_OUT,		/* written: NaN before */
	ROLE_ADD,		/* read and written */
	ROLE_SPACE,
};

enum kind {
	KIND_TENSOR,		/* struct tensor; dtype follows the trial's, unless fixed */
	KIND_DOUBLES,		/* double * */
	KIND_BYTES,		/* any other pointer: compared to the bit */
};

struct slot {
	size_t offset;		/* of the field within the arguments */
	enum kind kind;
	enum role role;
	bool fixed;		/* keeps its dtype */
	int alias;		/* the slot whose memory this one shares, or -1 */
	size_t bytes, size;	/* of the contents, and of the block with its guards */
	unsigned char *block, *data, *before;	/* BEFORE: the contents at the start, for ROLE_IN */
};

struct trial {
	const struct kernels *k;	/* who runs it; while arguments are made: ref */
	struct queue *q;
	struct rng rng;
	char args[TRIAL_ARGS] __attribute__((aligned(16)));
	struct slot slots[TRIAL_SLOTS];
	int n_slots;
	void *memory;			/* of trial_memory */
	double tolerance;		/* times the table's; 1 unless a case is harder */
	/* for bench */
	double flops, bytes;
	char label[64];
};

void trial_init(struct trial *t, const struct kernels *k, struct queue *q, uint64_t seed, uint32_t op, uint32_t n);
void trial_release(struct trial *t);

/* Fields of the arguments. FIELD is a struct tensor in t->args. */
void trial_in(struct trial *t, struct tensor *field, int64_t rows, int64_t cols, double spread);	/* normal times spread */
void trial_add(struct trial *t, struct tensor *field, int64_t rows, int64_t cols, double spread);
void trial_out(struct trial *t, struct tensor *field, int64_t rows, int64_t cols);
void trial_fixed(struct trial *t, struct tensor *field, enum role role, enum dtype dtype, int64_t rows, int64_t cols);
void trial_alias(struct trial *t, struct tensor *field, const struct tensor *of, enum role role);	/* shares OF's memory; ROLE is both's */

/* FIELD becomes an input with the contents that FROM_FIELD has in FROM (a trial whose op has run, say). */
void trial_take(struct trial *t, void *field, const struct trial *from, const void *from_field);

/* FIELD is a pointer in t->args; returns the memory it now points to, zeroed. */
void *trial_pointer(struct trial *t, const void *field, enum role role, size_t bytes);
double *trial_doubles(struct trial *t, const void *field, enum role role, int n, double value);
int32_t *trial_indices(struct trial *t, const void *field, int64_t n, int low, int high);	/* uniform in low .. high */

/* Common parts of arguments. */
struct step *trial_step(struct trial *t, const void *field);
void trial_dropout(struct trial *t, struct dropout *drop, double rate);
void trial_loss(struct trial *t, struct loss *l, double count);
/* B sequences of LENGTHS[b] (NULL: of random length up to S), with TAIL rows of no sequence after them; returns T. */
int trial_packing(struct trial *t, struct packing *p, int B, const int *lengths, int S, int tail);

/* Zeroed memory beside the arguments, until trial_release; as an F64 tensor. */
void *trial_memory(struct trial *t, size_t bytes);
struct tensor trial_zeros(struct trial *t, int64_t rows, int64_t cols);
struct tensor trial_random(struct trial *t, int64_t rows, int64_t cols);

int trial_int(struct trial *t, int low, int high);	/* uniform */
double trial_normal(struct trial *t);
bool trial_chance(struct trial *t, double p);

/* Rounds what is in F64 to what F32 holds. After arguments are made, and after an op made some of them. */
void trial_round(struct trial *t);

/* TO = FROM for another dtype and backend: same values, own memory. SHIFT: elements by which tensors miss their alignment. */
void trial_copy(struct trial *to, const struct trial *from, const struct kernels *k, struct queue *q, enum dtype d, int shift);

/* Gives it space, calls the op. */
void trial_run(struct trial *t, enum op op);

/* Whether guards and inputs are as they were: NULL, or what is wrong. */
const char *trial_damage(struct trial *t);

/* The first element of GOT that is further from WANT than TOLERANCE allows: NULL, or a description. *WORST: the largest error there was, in units of the tolerance. */
const char *trial_compare(const struct trial *got, const struct trial *want, double tolerance, double *worst);

/* Whether two trials wrote the same bits. */
bool trial_same(const struct trial *a, const struct trial *b);

/* An op by number, with any arguments. */
void call_op(const struct kernels *k, struct queue *q, enum op op, const void *args);

/* What is known of each op. */
struct op_test {
	int cases, benches, grads;
	void (*make)(struct trial *t, void *args, int n);	/* arguments of case n */
	void (*bench)(struct trial *t, void *args, int n);	/* and of what is worth timing, with flops, bytes and label */
	const char *(*grad)(struct trial *t, int n);		/* finite differences: NULL, or what is wrong (tests/kernels/grad.h) */
};

#define OP(name, by, f32, bf16, cuda, what) extern const struct op_test name##_test;
#include "kernels/kernels.def"
#undef OP

struct op_info {
	const char *name, *what;
	double tolerance;
	bool cuda;
	const struct op_test *test;
};
extern const struct op_info op_infos[OP_COUNT];

#endif
