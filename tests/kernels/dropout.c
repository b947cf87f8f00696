/* dropout.c - the masks are what kernels/dropout.h says, on every backend, and are fair. */
#include "tests/kernels/harness.h"

#include <math.h>

#include "kernels/dropout.h"

/* Computed by another program from the text of kernels/dropout.h. */
static const char *check_vectors(void)
{
	static const uint16_t row5[] = { 0x96b5, 0xdce1, 0x2958, 0x9890, 0xf5e8, 0x6c4b, 0x028f, 0x0896, 0xc5f7, 0x6450,
					 0xd72d, 0xd8e6, 0x17af, 0x5232, 0x7473, 0xc894, 0x661f, 0x29ec, 0x122b, 0xce68 };
	struct dropout_stream s;

	dropout_open(&s, 0x123456789abcdef0u, 77, 0x10002, 0xfedcba9876543210u);
	for (uint32_t c = 0; c < 20; c++) {
		if (dropout_draw_at(&s, 5, c) != row5[c])
			return "a draw of row 5 is wrong";
	}
	if (dropout_draw_at(&s, 65536 * 3 + 9, 0) != 0x9f85 || dropout_draw_at(&s, 65536 * 3 + 9, 1000) != 0xcf92)
		return "a draw of row 65536 * 3 + 9 is wrong";
	if (dropout_threshold(0.1) != 6554 || dropout_scale(0.1) != 65536.0 / 58982 || dropout_scale(0) != 1)
		return "threshold or scale of rate 0.1 is wrong";
	return NULL;
}

enum { B = 3, S = 50, H = 203, T = B * S };

/* Ones, dropped out: what is left must be the draws' verdict; the share of zeros must be the rate. */
static const char *check_masks(const struct options *o, const struct kernels *k, struct queue *q)
{
	static float x[T * H];
	static int32_t starts[B + 1];
	static const uint64_t sample[B] = { 5, 1, UINT64_MAX };
	struct step step = { .seed = o->seed, .number = 9 };
	struct dropout_stream s[B];
	struct dropout_rows a = { .x = tensor_of(x, DTYPE_F32, T, H), .y = tensor_of(x, DTYPE_F32, T, H), .drop = { .rate = 0.1, .site = 4, .step = &step },
				  .seqs = { .B = B, .S = S, .starts = starts, .sample = sample } };
	double zeros = 0;

	for (int b = 0; b < B; b++) {
		starts[b + 1] = starts[b] + S;
		dropout_open(&s[b], step.seed, step.number, a.drop.site, sample[b]);
	}
	for (int i = 0; i < T * H; i++)
		x[i] = 1;
	k->dropout_rows(q, &a);
	for (int i = 0; i < T * H; i++) {
		const uint32_t draw = dropout_draw_at(&s[i / H / S], (uint32_t)(i / H % S), (uint32_t)(i % H));

		if (x[i] != (draw < 6554 ? 0 : (float)dropout_scale(0.1)))
			return "an element was dropped that should stay, or the other way round";
		zeros += x[i] == 0;
	}
	if (fabs(zeros / (T * H) - 0.1) > 5 * sqrt(0.1 * 0.9 / (T * H)))
		return "the share of what is dropped is not the rate";
	return NULL;
}

int dropout_run(const struct options *o)
{
	struct kernels k;
	struct queue *q;

	tap(check_vectors(), "the draws are those of the specification");
	for (int v = 0; v < n_variants; v++) {
		if (!variant_open(&variants[v], o, &k, &q))
			continue;
		tap(check_masks(o, &k, q), "%s: masks follow the draws, at the rate", variants[v].name);
		variant_close(&k, q);
	}
	return 0;
}
