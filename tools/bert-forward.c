/* bert-forward - runs a model on padded tensors and writes its outputs, named as transformers names them. */
#include "base/args.h"
#include "base/err.h"
#include "base/log.h"
#include "base/tool.h"
#include "model/model_dir.h"
#include "model/padded.h"

struct options {
	struct args_common common;
	const char *model, *input;
	int backend, head;
	struct padded_wanted wanted;
};

static const char *const backends[] = { "auto", "cpu", "ref", "cuda" };

static int load(const struct options *o, struct model *m)
{
	struct model_source *s;
	int rc = -1;

	if (model_dir_open(&s, m, o->model))
		return -1;
	if (!model_dir_check(s, m, false))
		rc = model_dir_read(s, m, 0);
	for (size_t i = 0; i < s->map.count; i++)
		if (s->map.items[i].fate == FATE_UNUSED)
			log_info("unused: %s", s->map.items[i].tensor->name);
	if (!rc && s->map.unused && o->head == HEAD_UNSAID)
		log_warn("%s uses %zu of the file's tensors and leaves %zu", head_infos[m->config.head].architecture,
			 s->map.mapped, s->map.unused);
	model_dir_close(s);
	return rc;
}

static int run(const struct options *o, const struct model *m, size_t *tensors)
{
	struct padded_input in;
	struct padded_outputs out = { 0 };
	int rc = -1;

	if (padded_read(&in, o->input))
		return -1;
	if (padded_run(m, &in, &o->wanted, &out)) {
		err_prefix("'%s'", o->input);
	} else {
		for (size_t i = 0; i < out.count; i++) {
			char shape[128];

			safetensors_shape(&out.items[i].entry, shape, sizeof(shape));
			log_info("%s %s", out.items[i].name, shape);
		}
		*tensors = out.count;
		rc = padded_write(&out, o->common.output);
	}
	padded_outputs_release(&out);
	padded_input_release(&in);
	return rc;
}

static int forward(const struct options *o, size_t *tensors)
{
	struct config config = CONFIG_INIT;
	struct model m = { 0 };
	struct queue *q = NULL;
	struct kernels k;
	int rc = -1;

	if (kernels_open(&k, backends[o->backend], (unsigned)o->common.threads))
		return -1;
	log_info("backend %s, %u threads", k.name, k.threads);
	if (!k.queue_open(&k, &q) && !model_dir_config(&config, o->model, (enum head)o->head) &&
	    !model_init(&m, &k, q, &config, DTYPE_F32) && !load(o, &m))
		rc = run(o, &m, tensors);
	model_release(&m);
	k.queue_close(q);
	kernels_close(&k);
	return rc;
}

int main(int argc, char **argv)
{
	static struct options o = { .head = HEAD_UNSAID };
	const struct arg table[] = {
		ARG_STR("model", 0, &o.model, "DIR", "the model: config.json and model.safetensors"),
		ARG_STR("input", 0, &o.input, "FILE", "safetensors: input_ids, attention_mask, token_type_ids"),
		ARG_FLAG("hidden", 0, &o.wanted.hidden, "put out all hidden states too"),
		ARG_FLAG("attention", 0, &o.wanted.attention, "put out all attention probabilities too"),
		ARG_CHOICE("head", 0, &o.head, HEAD_WORDS, "run it with this head (default: as config.json says)"),
		ARG_CHOICE("backend", 0, &o.backend, "auto|cpu|ref|cuda", "what computes"),
		ARG_COMMON(&o.common),
		ARG_END
	};
	struct args a = { .synopsis = "bert-forward [options] --model DIR --input FILE -o FILE",
			  .about = "Runs a model on padded tensors and writes its outputs, named as transformers names them.",
			  .table = table, .common = &o.common };
	const int rc = args_parse(&a, argc, argv);
	size_t tensors = 0;

	if (rc != ARGS_RUN)
		return rc;
	tool_settle_openmp(argv);
	tool_start();
	if (!o.model || !o.input) {
		err_usage(o.model ? "no input; give one with --input FILE" : "no model; give one with --model DIR");
		return tool_fail();
	}
	if (forward(&o, &tensors))
		return tool_fail();
	return tool_finish("%zu tensors", tensors);
}
