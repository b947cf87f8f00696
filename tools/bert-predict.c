/* bert-predict - a tuned model's predictions for a file of examples. */
#include "base/args.h"
#include "base/err.h"
#include "base/log.h"
#include "base/out.h"
#include "base/tool.h"
#include "finetune/predict.h"

#include <inttypes.h>

struct options {
	struct args_common common;
	struct predict predict;
	const char *task;
	int backend;
};

static int check(struct options *o, const struct args *a)
{
	struct predict *p = &o->predict;

	if (!o->task)
		return err_usage("no task; give --task classify");
	p->task = task_find(o->task);
	if (!p->task)
		return -1;
	if (!p->model)
		return err_usage("no model; give its directory with --model DIR");
	if (p->max_seq_length && p->max_seq_length < 3)
		return err_usage("--max-seq-length takes 3 or more");
	p->input = a->n_operands ? a->operands[0] : "-";
	p->backend = kernels_backends[o->backend];
	p->threads = p->data.threads = (unsigned)o->common.threads;
	return 0;
}

static void warn(const struct predict *p)
{
	if (p->empty)
		log_warn("%" PRIu64 " of %" PRIu64 " examples have no token", p->empty, p->examples);
	if (p->unknown)
		log_warn("%" PRIu64 " of %" PRIu64 " labels are no class of the model, the first in line %" PRIu64, p->unknown,
			 p->examples, p->first_unknown);
	if (p->bad_bytes)
		log_warn("ill-formed UTF-8 in %" PRIu64 " places was replaced", p->bad_bytes);
}

static int run(struct options *o)
{
	struct predict *p = &o->predict;
	struct progress line;
	int rc = -1;

	if (out_open(&p->out, o->common.output))
		return -1;
	progress_start(&line, "examples", 0);
	p->progress = &line;
	rc = predict_run(p);
	progress_end(&line);
	if (!rc)
		rc = out_commit(p->out);
	if (rc)
		out_discard(p->out);
	else
		warn(p);
	return rc;
}

int main(int argc, char **argv)
{
	static struct options o = { .predict = { .data = TASK_OPTS_DEFAULT } };
	struct predict *p = &o.predict;
	const struct arg table[] = {
		ARG_STR("task", 0, &o.task, "TASK", "classify: a class for each text, or pair of texts"),
		ARG_STR("model", 0, &p->model, "DIR", "a tuned model (bert-finetune)"),
		ARG_STR("text", 0, &p->data.text, "NAME[,NAME2]", "columns of the text, or of both texts"),
		ARG_STR("label", 0, &p->data.label, "NAME", "column of the label, which there need not be"),
		ARG_FLAG("no-header", 0, &p->data.no_header, "TSV without a header: text, second text; or label, text, second text"),
		ARG_UINT("max-seq-length", 0, &p->max_seq_length, 0, 65535, "N", "tokens of an example at most; 0: as the model was tuned"),
		ARG_CHOICE("compat", 0, &p->compat, TUNED_ON_WORDS, "whose ids: as the model was tuned, google-research/bert's, or Hugging Face's"),
		ARG_FLAG("segmented", 0, &p->segmented, "texts are cut into words already, by the model's segmenter"),
		ARG_CHOICE("backend", 0, &o.backend, KERNELS_BACKENDS, "what computes"),
		ARG_COMMON(&o.common),
		ARG_END
	};
	struct args a = { .synopsis = "bert-predict --task TASK --model DIR [options] [FILE]",
			  .about = "Writes a tuned model's predictions for a file of examples.",
			  .table = table, .common = &o.common, .max_operands = 1 };
	const int rc = args_parse(&a, argc, argv);

	if (rc != ARGS_RUN)
		return rc;
	tool_settle_openmp(argv);
	tool_start();
	if (check(&o, &a) || run(&o))
		return tool_fail();
	return tool_finish("%" PRIu64 " examples, %" PRIu64 " cut", p->examples, p->cut);
}
