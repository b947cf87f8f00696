/* bert-forward - runs a model on padded tensors and writes its outputs, named as transformers names them. */
#include "base/args.h"
#include "base/err.h"
#include "base/log.h"
#include "base/tool.h"
#include "model/model_host.h"
#include "model/padded.h"

struct options {
	struct args_common common;
	const char *model, *input;
	int backend, head;
	struct padded_wanted wanted;
};

static int load(const struct options *o, struct model_host *h)
{
	const struct mapping *map = &h->source->map;

	if (model_host_read(h))
		return -1;
	for (size_t i = 0; i < map->count; i++)
		if (map->items[i].fate == FATE_UNUSED)
			log_info("unused: %s", map->items[i].tensor->name);
	if (map->unused && o->head == HEAD_UNSAID)
		log_warn("%s uses %zu of the file's tensors and leaves %zu", head_infos[h->model.config.head].architecture,
			 map->mapped, map->unused);
	return 0;
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
	struct model_host h;
	int rc = -1;

	if (model_host_open(&h, &(struct model_host_opts){ .backend = kernels_backends[o->backend], .threads = (unsigned)o->common.threads,
							   .folder = o->model, .head = (enum head)o->head }))
		return -1;
	log_info("backend %s, %u threads", h.k.name, h.k.threads);
	if (!load(o, &h))
		rc = run(o, &h.model, tensors);
	model_host_close(&h);
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
		ARG_CHOICE("backend", 0, &o.backend, KERNELS_BACKENDS, "what computes"),
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
