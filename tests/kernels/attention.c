/* attention.c - cases of attention_fwd, attention_bwd and attention_probs. */
#include "tests/kernels/grad.h"

#include <math.h>

static const int one[] = { 1 }, mixed[] = { 48, 1, 7, 31 }, odd[] = { 17, 0, 64, 65, 3 }, padded[] = { 12, 5, 0, 0 };

static const struct shape { int B; const int *lengths; int S, A, D, tail; double rate, spread; } shapes[] = {
	{ 1, one, 1, 1, 1, 0, 0, 1 }, { 4, mixed, 48, 2, 64, 0, 0, 1 }, { 5, odd, 65, 3, 32, 4, 0.1, 1 }, { 4, padded, 12, 2, 20, 3, 0.3, 1 },
	{ 2, NULL, 130, 1, 7, 1, 0.1, 1 }, { 2, NULL, 300, 2, 16, 0, 0, 1 }, { 3, NULL, 24, 2, 64, 0, 0, 8 }, { 1, NULL, 40, 1, 33, 0, 0, 0 },
}, benches[] = { { 32, NULL, 128, 2, 64, 0, 0.1, 1 }, { 32, NULL, 128, 2, 64, 0, 0, 1 }, { 8, NULL, 128, 12, 64, 0, 0.1, 1 }, { 2, NULL, 512, 12, 64, 0, 0.1, 1 } };

static void fill(struct trial *t, struct attention_fwd *a, const struct shape *s)
{
	const int T = trial_packing(t, &a->seqs, s->B, s->lengths, s->S, s->tail);
	double pairs = 0;

	trial_in(t, &a->qkv, T, 3 * s->A * s->D, sqrt(s->spread));
	trial_out(t, &a->context, T, s->A * s->D);
	trial_out(t, &a->lse, T, s->A);
	trial_dropout(t, &a->drop, s->rate);
	a->A = s->A;
	a->scale = s->D == 7 ? 1 : 1 / sqrt(s->D);
	t->tolerance = s->spread > 1 ? 4 : 1;		/* the exponent is as large as its error is */
	for (int b = 0; b < s->B; b++)
		pairs += pow(a->seqs.starts[b + 1] - a->seqs.starts[b], 2);
	t->flops = 4 * pairs * s->A * s->D;
	t->bytes = 4.0 * T * s->A * s->D * 4;
	snprintf(t->label, sizeof(t->label), "T %d, S %d, A %d, D %d, rate %g", T, s->S, s->A, s->D, s->rate);
}

static void fill_full(struct trial *t, struct attention_fwd *a, const struct shape *s)
{
	int lengths[64];

	for (int b = 0; b < s->B; b++)
		lengths[b] = s->S;
	fill(t, a, &(struct shape){ s->B, lengths, s->S, s->A, s->D, s->tail, s->rate, s->spread });
}

static void make_fwd(struct trial *t, void *args, int n) { fill(t, args, &shapes[n]); }
static void bench_fwd(struct trial *t, void *args, int n) { fill_full(t, args, &benches[n]); }

/* The backward arguments that belong to the forward ones in F, which has run. */
static void fill_bwd(struct trial *t, struct attention_bwd *a, struct trial *f)
{
	const struct attention_fwd *forward = (const void *)f->args;

	a->A = forward->A;
	a->scale = forward->scale;
	a->drop = forward->drop;
	a->seqs = forward->seqs;
	trial_take(t, &a->drop.step, f, &forward->drop.step);
	trial_take(t, &a->seqs.starts, f, &forward->seqs.starts);
	trial_take(t, &a->seqs.sample, f, &forward->seqs.sample);
	trial_take(t, &a->qkv, f, &forward->qkv);
	trial_take(t, &a->context, f, &forward->context);
	trial_take(t, &a->lse, f, &forward->lse);
	trial_in(t, &a->dcontext, a->context.rows, a->context.cols, 1);
	trial_out(t, &a->dqkv, a->qkv.rows, a->qkv.cols);
	t->tolerance = f->tolerance;
	t->flops = 2.5 * f->flops;
	t->bytes = 2 * f->bytes;
	memcpy(t->label, f->label, sizeof(t->label));
}

static void forward(struct trial *f, struct trial *t, const struct shape *s, bool full)
{
	trial_init(f, t->k, t->q, rng_u64(&t->rng), OP_attention_fwd, 0);
	(full ? fill_full : fill)(f, (void *)f->args, s);
	trial_round(f);
	trial_run(f, OP_attention_fwd);
}

static void make_bwd(struct trial *t, void *args, int n)
{
	struct trial f;

	forward(&f, t, &shapes[n], false);
	fill_bwd(t, args, &f);
	trial_release(&f);
}

static void bench_bwd(struct trial *t, void *args, int n)
{
	struct trial f;

	forward(&f, t, &benches[n], true);
	fill_bwd(t, args, &f);
	trial_release(&f);
}

static void make_probs(struct trial *t, void *args, int n)
{
	struct attention_probs *a = args;
	struct trial f;
	const struct attention_fwd *run = (const void *)f.args;
	const int S = shapes[n].S + n % 2;

	forward(&f, t, &shapes[n], false);
	a->A = run->A;
	a->scale = run->scale;
	a->seqs = run->seqs;
	trial_take(t, &a->seqs.starts, &f, &run->seqs.starts);
	trial_take(t, &a->qkv, &f, &run->qkv);
	trial_take(t, &a->lse, &f, &run->lse);
	trial_out(t, &a->probs, (int64_t)a->seqs.B * a->A * S, S);
	t->tolerance = f.tolerance;
	trial_release(&f);
}

static const char *grad(struct trial *t, int n)
{
	static const int lengths[] = { 5, 1, 9 };
	static const struct shape small[] = { { 3, lengths, 9, 2, 6, 0, 0, 1 }, { 3, lengths, 9, 1, 8, 2, 0.3, 1 } };
	struct attention_fwd *f = (void *)t->args;
	struct attention_bwd a;
	struct grad_case g = { .t = t, .op = OP_attention_fwd };

	fill(t, f, &small[n]);
	trial_run(t, OP_attention_fwd);
	a = (struct attention_bwd){
		.dcontext = trial_random(t, f->context.rows, f->context.cols), .qkv = f->qkv, .context = f->context, .lse = f->lse,
		.dqkv = trial_zeros(t, f->qkv.rows, f->qkv.cols), .A = f->A, .scale = f->scale, .drop = f->drop, .seqs = f->seqs,
	};
	grad_run(t, OP_attention_bwd, &a, &a.space);
	g.output = f->context;
	g.cotangent = a.dcontext;
	grad_input(&g, "qkv", f->qkv, a.dqkv);
	return grad_compare(&g);
}

const struct op_test attention_fwd_test = { .cases = TRIAL_COUNT(shapes), .benches = TRIAL_COUNT(benches), .make = make_fwd, .bench = bench_fwd };
const struct op_test attention_bwd_test = { .cases = TRIAL_COUNT(shapes), .benches = TRIAL_COUNT(benches), .grads = 2, .make = make_bwd, .bench = bench_bwd, .grad = grad };
const struct op_test attention_probs_test = { .cases = TRIAL_COUNT(shapes), .make = make_probs };
