/* embed.c - cases of embed_fwd and embed_bwd. */
#include "tests/kernels/grad.h"

static const struct shape { int V, S, E, B, tail; double rate; bool types; } shapes[] = {
	{ 11, 7, 3, 1, 0, 0, false }, { 50, 9, 8, 3, 0, 0, true }, { 97, 33, 37, 4, 3, 0.1, true }, { 300, 64, 128, 2, 0, 0.1, true },
	{ 40, 12, 130, 5, 7, 0.5, false }, { 8, 5, 64, 2, 1, 0, true },
}, benches[] = { { 30522, 128, 128, 64, 0, 0.1, true }, { 30522, 128, 768, 16, 0, 0.1, true } };

static void fill(struct trial *t, struct embed_fwd *a, const struct shape *s)
{
	const int T = trial_packing(t, &a->seqs, s->B, NULL, s->S, s->tail);
	int32_t *ids = trial_indices(t, &a->ids, T, 0, s->V - 1), *positions = trial_indices(t, &a->positions, T, 0, s->S - 1);

	for (int r = T - s->tail; r < T; r++)
		ids[r] = positions[r] = -1;
	trial_in(t, &a->word, s->V, s->E, 1);
	trial_in(t, &a->position, s->S, s->E, 0.5);
	if (s->types) {
		trial_indices(t, &a->types, T, 0, 1);
		trial_in(t, &a->type, 2, s->E, 0.5);
	}
	trial_in(t, &a->gamma, 1, s->E, 1);
	trial_in(t, &a->beta, 1, s->E, 1);
	trial_out(t, &a->y, T, s->E);
	trial_out(t, &a->mean, 1, T);
	trial_out(t, &a->rstd, 1, T);
	a->eps = 1e-12;
	trial_dropout(t, &a->drop, s->rate);
	t->bytes = 4.0 * T * s->E * (s->types ? 4 : 3);
	snprintf(t->label, sizeof(t->label), "T %d, E %d, rate %g", T, s->E, s->rate);
}

static void make_fwd(struct trial *t, void *args, int n) { fill(t, args, &shapes[n]); }
static void bench_fwd(struct trial *t, void *args, int n) { fill(t, args, &benches[n]); }

/* The backward arguments that belong to the forward ones in F, which has run. */
static void fill_bwd(struct trial *t, struct embed_bwd *a, struct trial *f)
{
	const struct embed_fwd *forward = (const void *)f->args;
	const int64_t T = forward->y.rows, E = forward->y.cols;

	a->drop = forward->drop;
	a->seqs = forward->seqs;
	trial_take(t, &a->drop.step, f, &forward->drop.step);
	trial_take(t, &a->seqs.starts, f, &forward->seqs.starts);
	trial_take(t, &a->seqs.sample, f, &forward->seqs.sample);
	trial_take(t, &a->ids, f, &forward->ids);
	trial_take(t, &a->positions, f, &forward->positions);
	trial_take(t, &a->word, f, &forward->word);
	trial_take(t, &a->position, f, &forward->position);
	trial_take(t, &a->gamma, f, &forward->gamma);
	trial_take(t, &a->mean, f, &forward->mean);
	trial_take(t, &a->rstd, f, &forward->rstd);
	if (tensor_given(forward->type)) {
		trial_take(t, &a->types, f, &forward->types);
		trial_take(t, &a->type, f, &forward->type);
		trial_add(t, &a->dtype, forward->type.rows, E, 1);
	}
	trial_in(t, &a->dy, T, E, 1);
	trial_add(t, &a->dword, forward->word.rows, E, 1);
	trial_add(t, &a->dposition, forward->position.rows, E, 1);
	trial_add(t, &a->dgamma, 1, E, 1);
	trial_add(t, &a->dbeta, 1, E, 1);
	t->bytes = 4.0 * (double)(T * E) * (tensor_given(forward->type) ? 9 : 7);
	memcpy(t->label, f->label, sizeof(t->label));
}

static void make_from(struct trial *t, void *args, const struct shape *s)
{
	struct trial f;

	trial_init(&f, t->k, t->q, rng_u64(&t->rng), OP_embed_fwd, 0);
	fill(&f, (void *)f.args, s);
	trial_round(&f);
	trial_run(&f, OP_embed_fwd);
	fill_bwd(t, args, &f);
	trial_release(&f);
}

static void make_bwd(struct trial *t, void *args, int n) { make_from(t, args, &shapes[n]); }
static void bench_bwd(struct trial *t, void *args, int n) { make_from(t, args, &benches[n]); }

static const char *grad(struct trial *t, int n)
{
	struct embed_fwd *f = (void *)t->args;
	struct embed_bwd a;
	struct grad_case g = { .t = t, .op = OP_embed_fwd };

	fill(t, f, &shapes[n + 1]);
	trial_run(t, OP_embed_fwd);
	a = (struct embed_bwd){
		.dy = trial_random(t, f->y.rows, f->y.cols), .ids = f->ids, .positions = f->positions, .types = f->types,
		.word = f->word, .position = f->position, .type = f->type, .gamma = f->gamma, .mean = f->mean, .rstd = f->rstd,
		.dword = trial_zeros(t, f->word.rows, f->word.cols), .dposition = trial_zeros(t, f->position.rows, f->position.cols),
		.dtype = trial_zeros(t, 2, f->y.cols), .dgamma = trial_zeros(t, 1, f->y.cols), .dbeta = trial_zeros(t, 1, f->y.cols),
		.drop = f->drop, .seqs = f->seqs,
	};
	grad_run(t, OP_embed_bwd, &a, &a.space);
	g.output = f->y;
	g.cotangent = a.dy;
	grad_input(&g, "word", f->word, a.dword);
	grad_input(&g, "position", f->position, a.dposition);
	grad_input(&g, "gamma", f->gamma, a.dgamma);
	grad_input(&g, "beta", f->beta, a.dbeta);
	if (tensor_given(f->type))
		grad_input(&g, "type", f->type, a.dtype);
	return grad_compare(&g);
}

const struct op_test embed_fwd_test = { .cases = TRIAL_COUNT(shapes), .benches = TRIAL_COUNT(benches), .make = make_fwd, .bench = bench_fwd };
const struct op_test embed_bwd_test = { .cases = TRIAL_COUNT(shapes), .benches = TRIAL_COUNT(benches), .grads = 4, .make = make_bwd, .bench = bench_bwd, .grad = grad };
