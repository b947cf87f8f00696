/* Outputs beside facts that were computed elsewhere; and what the order and company of sequences may change: nothing. */
#include "tests/unit/model/golden.h"
#include "tests/unit/model/passes.h"

#include "model/padded.h"

static const char *const backends[] = { "ref", "cpu:none", "cpu:avx2", "cpu:native" };
enum { BACKENDS = 4 };

static const struct safetensor *entry_of(const struct padded_outputs *out, const char *name, const float **data)
{
	for (size_t i = 0; i < out->count; i++) {
		if (!strcmp(out->items[i].name, name)) {
			*data = out->items[i].data;
			return &out->items[i].entry;
		}
	}
	fail_msg("no output '%s'", name);
	return NULL;
}

/* Every out.NAME of the file, at its shape; returns how many there were. */
static int compare(const struct padded_outputs *out, const struct safetensors *s, double tolerance)
{
	int compared = 0;

	for (size_t i = 0; i < s->count; i++) {
		const struct safetensor *want = &s->items[i], *got;
		const float *data;
		float *facts;

		if (strncmp(want->name, "out.", 4) || want->dtype != ST_F32)
			continue;
		got = entry_of(out, want->name + 4, &data);
		assert_int_equal(got->n_dims, want->n_dims);
		assert_memory_equal(got->shape, want->shape, (size_t)want->n_dims * sizeof(*want->shape));
		facts = golden_tensor(s, want->name);
		for (int64_t j = 0; j < want->count; j++)
			if (fabs((double)data[j] - (double)facts[j]) > tolerance)
				fail_msg("%s [%lld]: %g for %g", want->name, (long long)j, (double)data[j], (double)facts[j]);
		free(facts);
		compared++;
	}
	return compared;
}

static void test_outputs(void **state)
{
	static const struct {
		enum head head;
		int outputs;
	} cases[] = { { HEAD_NONE, 7 }, { HEAD_PRETRAINING, 2 }, { HEAD_CLASSIFY, 1 }, { HEAD_SPAN, 2 }, { HEAD_TOKENS, 1 } };
	const struct padded_wanted wanted = { .hidden = true, .attention = true };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]) * BACKENDS; i++) {
		const enum head head = cases[i / BACKENDS].head;
		struct ground g;
		struct model m;
		struct safetensors *s;
		struct padded_input in;
		struct padded_outputs out;
		char file[64];

		snprintf(file, sizeof(file), "%s.safetensors", head_infos[head].word);
		ground_open(&g, backends[i % BACKENDS]);
		tiny_load(&m, &g, head, DTYPE_F32);
		OK(safetensors_open(&s, tiny_path(file)));
		OK(padded_read(&in, tiny_path(file)));
		OK(padded_run(&m, &in, &wanted, &out));
		assert_int_equal(compare(&out, s, 2e-5), cases[i / BACKENDS].outputs);
		assert_int_equal(out.count, (head == HEAD_NONE ? 0 : cases[i / BACKENDS].outputs) + (head == HEAD_NONE ? 7 : 5));
		padded_outputs_release(&out);
		padded_input_release(&in);
		safetensors_close(s);
		model_release(&m);
		ground_close(&g);
	}
}

/* The losses of the same facts, in double to the last digit. */
static void test_losses(void **state)
{
	static const enum head heads[] = { HEAD_PRETRAINING, HEAD_CLASSIFY, HEAD_SPAN, HEAD_TOKENS };
	static const enum dtype dtypes[] = { DTYPE_F64, DTYPE_F32 };

	(void)state;
	for (int i = 0; i < 8; i++) {
		const enum head head = heads[i / 2];
		struct ground g;
		struct model m;
		struct safetensors *s;
		struct batch b;
		struct acts a;
		struct tally t = { 0 };
		char file[64];

		snprintf(file, sizeof(file), "%s.safetensors", head_infos[head].word);
		ground_open(&g, "ref");
		tiny_load(&m, &g, head, dtypes[i % 2]);
		OK(safetensors_open(&s, tiny_path(file)));
		golden_batch(&b, &m, s);
		OK(acts_open(&a, &m, &b.max, ACTS_FORWARD));
		t.mlm_factor = b.P ? 1.0 / b.P : 0;
		t.scores_factor = golden_factor(&m, &b);
		tiny_pass(&m, &b, &(struct pass){ 0 }, &t, false, &a);
		assert_true(fabs(t.mlm + t.scores - golden_number(s, "out.loss")) < (i % 2 ? 1e-5 : 1e-12));
		acts_close(&a);
		batch_close(&b);
		safetensors_close(s);
		model_release(&m);
		ground_close(&g);
	}
}

/* The last hidden states of sequence KEY, which stands at place AT of LENGTHS. */
static void hidden_of(struct ground *g, const struct model *m, const int *lengths, const uint64_t *keys, int at, bool dropout, float *out)
{
	const struct batch_limits max = { .B = 4, .T = 64, .P = 32 };
	const struct step step = { .seed = 77, .number = 3, .loss_scale = 1 };
	struct batch b;
	struct acts a;

	OK(batch_open(&b, &g->k, &max, DTYPE_F32));
	OK(acts_open(&a, m, &max, ACTS_FORWARD));
	for (int i = 0; lengths[i]; i++)
		tiny_add(&b, &m->config, lengths[i], keys[i]);
	OK(batch_finish(&b, &m->config));
	batch_upload(&b, g->q);
	model_forward(m, &b, &(struct pass){ .step = dropout ? &step : NULL }, &a);
	OK(g->k.sync(g->q));
	memcpy(out, (float *)a.hidden[2].data + b.host.starts[at] * m->config.hidden_size,
	       (size_t)lengths[at] * (size_t)m->config.hidden_size * sizeof(float));
	acts_close(&a);
	batch_close(&b);
}

/* The same sequence in other company: the same bits, with dropout too. */
static void test_company(void **state)
{
	static const int alone[] = { 11, 0 }, among[] = { 5, 12, 11, 7, 0 };
	static const uint64_t own[] = { 42 }, keys[] = { 1, 2, 42, 3 };

	(void)state;
	for (int i = 0; i < 2 * BACKENDS; i++) {
		struct ground g;
		struct model m;
		float a[11 * 16], b[11 * 16], c[11 * 16];

		ground_open(&g, backends[i / 2]);
		tiny_fresh(&m, &g, "{}", HEAD_PRETRAINING, DTYPE_F32);
		hidden_of(&g, &m, alone, own, 0, i % 2, a);
		hidden_of(&g, &m, among, keys, 2, i % 2, b);
		assert_memory_equal(a, b, sizeof(a));
		hidden_of(&g, &m, alone, own, 0, !(i % 2), c);
		assert_memory_not_equal(a, c, sizeof(a));
		model_release(&m);
		ground_close(&g);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_outputs), cmocka_unit_test(test_losses), cmocka_unit_test(test_company),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
