/* trial.c - see trial.h. */
#include "tests/kernels/trial.h"

#include <err.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/convert.h"

#define GUARD 64		/* bytes before and after each buffer */
#define GUARD_BYTE 0xA5

const struct op_info op_infos[OP_COUNT] = {
#define OP(op, by, f32, bf16, gpu, text) [OP_##op] = { .name = #op, .what = (text), .tolerance = (f32), .cuda = (gpu), .test = &op##_test },
#include "kernels/kernels.def"
#undef OP
};

void call_op(const struct kernels *k, struct queue *q, enum op op, const void *args)
{
	switch (op) {
#define OP(name, by, f32, bf16, cuda, what) case OP_##name: k->name(q, args); break;
#include "kernels/kernels.def"
#undef OP
	case OP_COUNT: break;
	}
}

void trial_init(struct trial *t, const struct kernels *k, struct queue *q, uint64_t seed, uint32_t op, uint32_t n)
{
	memset(t, 0, sizeof(*t));
	t->k = k;
	t->q = q;
	t->tolerance = 1;
	rng_open(&t->rng, seed, RNG_TEST, 0, op, n, 0, 0);
}

void trial_release(struct trial *t)
{
	for (int i = 0; i < t->n_slots; i++) {
		if (t->slots[i].alias < 0)
			free(t->slots[i].block);
		free(t->slots[i].before);
	}
	t->n_slots = 0;
	while (t->memory) {
		void *next = *(void **)t->memory;

		free(t->memory);
		t->memory = next;
	}
}

void *trial_memory(struct trial *t, size_t bytes)
{
	char *block = calloc(1, 64 + bytes);

	if (!block)
		errx(1, "out of memory");
	*(void **)(void *)block = t->memory;
	t->memory = block;
	return block + 64;
}

struct tensor trial_zeros(struct trial *t, int64_t rows, int64_t cols)
{
	return tensor_of(trial_memory(t, (size_t)(rows * cols) * sizeof(double)), DTYPE_F64, rows, cols);
}

struct tensor trial_random(struct trial *t, int64_t rows, int64_t cols)
{
	struct tensor x = trial_zeros(t, rows, cols);

	for (int64_t i = 0; i < rows * cols; i++)
		((double *)x.data)[i] = trial_normal(t);
	return x;
}

/* --- memory with guards ------------------------------------------------------------------------------------------------------ */

static void slot_allocate(struct slot *s, size_t bytes, size_t shift)
{
	s->bytes = bytes;
	s->size = bytes + 2 * GUARD + shift;
	s->block = aligned_alloc(64, (s->size + 63) / 64 * 64);
	if (!s->block)
		errx(1, "out of memory");
	memset(s->block, GUARD_BYTE, s->size);
	s->data = s->block + GUARD + shift;
}

static bool slot_guarded(const struct slot *s)
{
	for (const unsigned char *p = s->block; p < s->block + s->size; p++) {
		if ((p < s->data || p >= s->data + s->bytes) && *p != GUARD_BYTE)
			return false;
	}
	return true;
}

static struct slot *slot_new(struct trial *t, const void *field, enum kind kind, enum role role)
{
	struct slot *s = &t->slots[t->n_slots++];
	const char *p = field;

	if (t->n_slots > TRIAL_SLOTS || p < t->args || p >= t->args + TRIAL_ARGS)
		errx(1, "bad test: too many arguments, or one that is not in the struct");
	*s = (struct slot){ .offset = (size_t)(p - t->args), .kind = kind, .role = role, .alias = -1 };
	return s;
}

static struct tensor *slot_tensor(struct trial *t, const struct slot *s) { return (struct tensor *)(void *)(t->args + s->offset); }

/* --- fields ------------------------------------------------------------------------------------------------------------------- */

double trial_normal(struct trial *t)
{
	const double u = 1 - rng_unit(&t->rng), v = rng_unit(&t->rng);

	return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

int trial_int(struct trial *t, int low, int high) { return low + (int)rng_below(&t->rng, (uint32_t)(high - low + 1)); }
bool trial_chance(struct trial *t, double p) { return rng_unit(&t->rng) < p; }

void trial_fixed(struct trial *t, struct tensor *field, enum role role, enum dtype dtype, int64_t rows, int64_t cols)
{
	struct slot *s = slot_new(t, field, KIND_TENSOR, role);

	*field = tensor_of(NULL, dtype, rows, cols);
	s->fixed = true;
	slot_allocate(s, tensor_bytes(*field), 0);
	field->data = s->data;
	for (int64_t i = 0; i < tensor_count(*field); i++)
		element_put(field->data, dtype, i, role == ROLE_OUT ? NAN : 0);
}

static void tensor_field(struct trial *t, struct tensor *field, enum role role, int64_t rows, int64_t cols, double spread)
{
	double *x;

	trial_fixed(t, field, role, DTYPE_F64, rows, cols);
	t->slots[t->n_slots - 1].fixed = false;
	x = field->data;
	for (int64_t i = 0; role != ROLE_OUT && i < rows * cols; i++)
		x[i] = trial_normal(t) * spread;
}

void trial_in(struct trial *t, struct tensor *field, int64_t rows, int64_t cols, double spread) { tensor_field(t, field, ROLE_IN, rows, cols, spread); }
void trial_add(struct trial *t, struct tensor *field, int64_t rows, int64_t cols, double spread) { tensor_field(t, field, ROLE_ADD, rows, cols, spread); }
void trial_out(struct trial *t, struct tensor *field, int64_t rows, int64_t cols) { tensor_field(t, field, ROLE_OUT, rows, cols, 0); }

void trial_alias(struct trial *t, struct tensor *field, const struct tensor *of, enum role role)
{
	struct slot *s = slot_new(t, field, KIND_TENSOR, role);

	for (int i = 0; i < t->n_slots - 1; i++) {
		if (slot_tensor(t, &t->slots[i]) != of)
			continue;
		t->slots[i].role = role;
		s->alias = i;
		s->block = t->slots[i].block;
		s->data = t->slots[i].data;
		s->bytes = t->slots[i].bytes;
		s->size = t->slots[i].size;
	}
	*field = *of;
}

void trial_take(struct trial *t, void *field, const struct trial *from, const void *from_field)
{
	for (int i = 0; i < from->n_slots; i++) {
		const struct slot *old = &from->slots[i];
		struct slot *s;

		if (from->args + old->offset != (const char *)from_field)
			continue;
		s = slot_new(t, field, old->kind, ROLE_IN);
		s->fixed = old->fixed;
		slot_allocate(s, old->bytes, 0);
		memcpy(s->data, old->data, old->bytes);
		if (s->kind == KIND_TENSOR) {
			*(struct tensor *)field = *(const struct tensor *)from_field;
			((struct tensor *)field)->data = s->data;
		} else {
			memcpy(field, &s->data, sizeof(s->data));
		}
	}
}

void *trial_pointer(struct trial *t, const void *field, enum role role, size_t bytes)
{
	struct slot *s = slot_new(t, field, KIND_BYTES, role);

	slot_allocate(s, bytes, 0);
	memset(s->data, 0, bytes);
	memcpy(t->args + s->offset, &s->data, sizeof(s->data));
	return s->data;
}

double *trial_doubles(struct trial *t, const void *field, enum role role, int n, double value)
{
	double *x = trial_pointer(t, field, role, (size_t)n * sizeof(double));

	t->slots[t->n_slots - 1].kind = KIND_DOUBLES;
	for (int i = 0; i < n; i++)
		x[i] = value;
	return x;
}

int32_t *trial_indices(struct trial *t, const void *field, int64_t n, int low, int high)
{
	int32_t *x = trial_pointer(t, field, ROLE_IN, (size_t)n * sizeof(int32_t));

	for (int64_t i = 0; i < n; i++)
		x[i] = trial_int(t, low, high);
	return x;
}

struct step *trial_step(struct trial *t, const void *field)
{
	struct step *step = trial_pointer(t, field, ROLE_IN, sizeof(*step));

	*step = (struct step){ .seed = rng_u64(&t->rng), .number = rng_u32(&t->rng), .time = (uint32_t)trial_int(t, 1, 2000), .lr = 0.01,
			       .loss_scale = 1, .grad_norm = 1, .grad_scale = 0.75 };
	return step;
}

void trial_dropout(struct trial *t, struct dropout *drop, double rate)
{
	drop->rate = rate;
	drop->site = rng_u32(&t->rng);
	trial_step(t, &drop->step);
}

void trial_loss(struct trial *t, struct loss *l, double count)
{
	trial_doubles(t, &l->sum, ROLE_ADD, 1, 0.5);
	trial_doubles(t, &l->factor, ROLE_IN, 1, 1 / count);
	*(int64_t *)trial_pointer(t, &l->hits, ROLE_ADD, sizeof(int64_t)) = 7;
	if (trial_chance(t, 0.5))
		trial_doubles(t, &l->scale, ROLE_IN, 1, 8);
}

int trial_packing(struct trial *t, struct packing *p, int B, const int *lengths, int S, int tail)
{
	int32_t *starts = trial_pointer(t, &p->starts, ROLE_IN, (size_t)(B + 1) * sizeof(int32_t));
	uint64_t *sample = trial_pointer(t, &p->sample, ROLE_IN, (size_t)B * sizeof(uint64_t));

	p->B = B;
	p->S = 0;
	for (int b = 0; b < B; b++) {
		const int length = lengths ? lengths[b] : trial_int(t, 1, S);

		starts[b + 1] = starts[b] + length;
		sample[b] = rng_u64(&t->rng);
		p->S = length > p->S ? length : p->S;
	}
	return starts[B] + tail;
}

/* --- copies -------------------------------------------------------------------------------------------------------------------- */

void trial_round(struct trial *t)
{
	for (int i = 0; i < t->n_slots; i++) {
		const struct slot *s = &t->slots[i];
		const struct tensor *x = slot_tensor(t, s);

		for (int64_t e = 0; s->kind == KIND_TENSOR && !s->fixed && e < tensor_count(*x); e++)
			((double *)x->data)[e] = (float)((double *)x->data)[e];
	}
}

static void slot_copy(struct trial *to, const struct trial *from, int i, enum dtype d, int shift)
{
	struct slot *s = &to->slots[i];
	const struct slot *old = &from->slots[i];

	*s = *old;
	s->before = NULL;
	if (s->alias >= 0) {
		s->block = to->slots[s->alias].block;
		s->data = to->slots[s->alias].data;
		s->bytes = to->slots[s->alias].bytes;
		s->size = to->slots[s->alias].size;
		return;
	}
	if (s->kind == KIND_TENSOR && !s->fixed) {
		slot_allocate(s, old->bytes / sizeof(double) * dtype_size(d), (size_t)shift * dtype_size(d));
		for (size_t e = 0; e < old->bytes / sizeof(double); e++)
			element_put(s->data, d, (int64_t)e, ((const double *)(const void *)old->data)[e]);
	} else {
		slot_allocate(s, old->bytes, 0);
		memcpy(s->data, old->data, old->bytes);
	}
	if (s->role != ROLE_IN)
		return;
	s->before = malloc(s->bytes + 1);
	if (!s->before)
		errx(1, "out of memory");
	memcpy(s->before, s->data, s->bytes);
}

void trial_copy(struct trial *to, const struct trial *from, const struct kernels *k, struct queue *q, enum dtype d, int shift)
{
	*to = *from;
	to->memory = NULL;
	to->k = k;
	to->q = q;
	for (int i = 0; i < from->n_slots; i++) {
		struct slot *s = &to->slots[i];

		slot_copy(to, from, i, d, shift);
		if (s->kind == KIND_TENSOR) {
			struct tensor *x = slot_tensor(to, s);

			x->data = s->data;
			x->dtype = s->fixed ? x->dtype : d;
		} else {
			memcpy(to->args + s->offset, &s->data, sizeof(s->data));
		}
	}
}

/* Where an op's struct keeps its space; SIZE_MAX: nowhere. */
static size_t space_offset(enum op op)
{
	switch (op) {
	case OP_embed_bwd: return offsetof(struct embed_bwd, space);
	case OP_linear_fwd: return offsetof(struct linear_fwd, space);
	case OP_linear_bwd: return offsetof(struct linear_bwd, space);
	case OP_attention_fwd: return offsetof(struct attention_fwd, space);
	case OP_attention_bwd: return offsetof(struct attention_bwd, space);
	case OP_residual_norm_bwd: return offsetof(struct residual_norm_bwd, space);
	case OP_mlm_loss: return offsetof(struct mlm_loss, space);
	case OP_sumsq_finite: return offsetof(struct sumsq_finite, space);
	case OP_lamb_direction: return offsetof(struct lamb_direction, space);
	default: return SIZE_MAX;
	}
}

void trial_run(struct trial *t, enum op op)
{
	const size_t bytes = kernels_space(t->k, op, t->args), offset = space_offset(op);
	bool made = false;

	for (int i = 0; i < t->n_slots; i++)
		made |= t->slots[i].role == ROLE_SPACE;
	if (bytes && offset == SIZE_MAX)
		errx(1, "%s: asks for space, but its arguments have no field for it", op_infos[op].name);
	if (bytes && !made) {
		memset(trial_pointer(t, t->args + offset, ROLE_SPACE, bytes), 0xFF, bytes);
	}
	call_op(t->k, t->q, op, t->args);
	if (t->k->sync(t->q))
		errx(1, "%s failed", op_infos[op].name);
}

/* --- verdicts ------------------------------------------------------------------------------------------------------------------- */

static char verdict[256];

const char *trial_damage(struct trial *t)
{
	for (int i = 0; i < t->n_slots; i++) {
		const struct slot *s = &t->slots[i];
		const char *fault = NULL;

		if (!slot_guarded(s))
			fault = "was written beyond its end";
		else if (s->before && memcmp(s->before, s->data, s->bytes))
			fault = "is an input, and was changed";
		if (fault) {
			snprintf(verdict, sizeof(verdict), "the argument at offset %zu %s", s->offset, fault);
			return verdict;
		}
	}
	return NULL;
}

static double slot_get(const struct trial *t, const struct slot *s, int64_t i)
{
	const struct tensor *x = (const void *)(t->args + s->offset);

	return s->kind == KIND_TENSOR ? element_get(s->data, x->dtype, i) : ((const double *)(const void *)s->data)[i];
}

static const char *slot_compare(const struct trial *got, const struct trial *want, int i, double tolerance, double *worst)
{
	const struct slot *g = &got->slots[i], *w = &want->slots[i];
	const int64_t n = w->kind == KIND_TENSOR ? tensor_count(*(const struct tensor *)(const void *)(want->args + w->offset)) : (int64_t)(w->bytes / sizeof(double));
	double squares = 0, rms;

	for (int64_t e = 0; e < n; e++)
		squares += isfinite(slot_get(want, w, e)) ? slot_get(want, w, e) * slot_get(want, w, e) : 0;
	rms = n ? sqrt(squares / (double)n) : 0;
	for (int64_t e = 0; e < n; e++) {
		const double a = slot_get(got, g, e), b = slot_get(want, w, e);
		const double error = fabs(a - b), allowed = tolerance * fmax(fabs(b), rms) + 1e-37;

		if (a == b || (isnan(a) && isnan(b)) || ((float)a == (float)b && isinf((float)a)))
			continue;
		if (error / allowed > *worst)
			*worst = error / allowed;
		if (!(error <= allowed)) {
			snprintf(verdict, sizeof(verdict), "the argument at offset %zu is wrong in element %lld of %lld: %.9g, not %.9g (off by %.2g, %.2g allowed)",
				 g->offset, (long long)e, (long long)n, a, b, error, allowed);
			return verdict;
		}
	}
	return NULL;
}

const char *trial_compare(const struct trial *got, const struct trial *want, double tolerance, double *worst)
{
	for (int i = 0; i < want->n_slots; i++) {
		const struct slot *s = &want->slots[i];
		const char *fault = NULL;

		if (s->role != ROLE_OUT && s->role != ROLE_ADD)
			continue;
		if (s->kind != KIND_BYTES)
			fault = slot_compare(got, want, i, tolerance * want->tolerance, worst);
		else if (memcmp(s->data, got->slots[i].data, s->bytes))
			fault = "a count differs";
		if (fault)
			return fault;
	}
	return NULL;
}

bool trial_same(const struct trial *a, const struct trial *b)
{
	for (int i = 0; i < a->n_slots; i++) {
		if (a->slots[i].role != ROLE_SPACE && memcmp(a->slots[i].data, b->slots[i].data, a->slots[i].bytes))
			return false;
	}
	return true;
}
