/* bert-finetune - tunes a model to a task, once or with several seeds. */
#include "base/args.h"
#include "base/err.h"
#include "base/log.h"
#include "base/out.h"
#include "base/tool.h"
#include "finetune/tune.h"
#include "trainer/signals.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

struct options {
	struct args_common common;
	struct tune_opts tune;
	const char *task, *warmup, *freeze;
	int backend;
};

/* "embeddings", "encoder", or how many layers, the embeddings with them. */
static int read_freeze(const char *text, int *frozen)
{
	char *end;
	long n;

	*frozen = 0;
	if (!strcmp(text, "none"))
		return 0;
	*frozen = !strcmp(text, "embeddings") ? 1 : TUNE_FREEZE_ENCODER;
	if (*frozen == 1 || !strcmp(text, "encoder"))
		return 0;
	n = strtol(text, &end, 10);
	if (end == text || *end || n < 1 || n > 10000)
		return err_usage("--freeze takes none, embeddings, encoder or a number of layers, not '%s'", text);
	*frozen = 1 + (int)n;
	return 0;
}

static int check(struct options *o)
{
	struct tune_opts *t = &o->tune;

	if (!o->task)
		return err_usage("no task; give --task classify");
	t->task = task_find(o->task);
	if (!t->task)
		return -1;
	if (!t->model)
		return err_usage("no model; give its directory with --model DIR");
	if (!t->train)
		return err_usage("no examples; give a file of them with --train FILE");
	if (!o->common.output)
		return err_usage("no output; give a folder with -o DIR");
	if (t->dev && !strcmp(t->train, "-") && !strcmp(t->dev, "-"))
		return err_usage("standard input ('-') is given twice");
	if (!(t->epochs > 0))
		return err_usage("--epochs takes a number above 0");
	if (t->seed > INT64_MAX - t->seeds)
		return err_usage("--seed is too large for so many --seeds");
	t->output = o->common.output;
	t->backend = kernels_backends[o->backend];
	t->threads = t->data.threads = (unsigned)o->common.threads;
	return warmup_parse(&t->warmup, o->warmup) || read_freeze(o->freeze, &t->frozen) ? -1 : 0;
}

static int tune(struct options *o, struct tune_end *end)
{
	struct progress line;
	int rc;

	progress_start(&line, "steps", 0);
	o->tune.progress = &line;
	o->tune.warn = log_warn;
	o->tune.info = log_info;
	o->tune.stopped = signals_caught;
	signals_catch();
	rc = tune_run(&o->tune, end);
	progress_end(&line);
	return rc;
}

/* Everything is saved; whoever started the program is to see that it was stopped. */
static void die_by(int sig)
{
	log_info("stopped by a signal; the same command goes on");
	out_remove_unfinished();
	signal(sig, SIG_DFL);
	raise(sig);
}

int main(int argc, char **argv)
{
	static struct options o = { .tune = TUNE_DEFAULT, .warmup = "0.1", .freeze = "none" };
	struct tune_opts *t = &o.tune;
	const struct arg table[] = {
		ARG_GROUP("What is tuned, on what"),
		ARG_STR("task", 0, &o.task, "TASK", "classify: a class for each text, or pair of texts"),
		ARG_STR("model", 0, &t->model, "DIR", "model directory to start from"),
		ARG_STR("train", 0, &t->train, "FILE", "examples: TSV with a header, or JSON lines"),
		ARG_STR("dev", 0, &t->dev, "FILE", "held-out examples, which are measured"),
		ARG_STR("text", 0, &t->data.text, "NAME[,NAME2]", "columns of the text, or of both texts"),
		ARG_STR("label", 0, &t->data.label, "NAME", "column of the label"),
		ARG_FLAG("no-header", 0, &t->data.no_header, "TSV without a header: label, text, second text"),
		ARG_UINT("max-seq-length", 0, &t->max_seq_length, 0, 65535, "N", "tokens of an example at most; 0: as the model was tuned, or 128"),
		ARG_CHOICE("compat", 0, &t->compat, TUNED_ON_WORDS, "whose ids: as the model was tuned, google-research/bert's, or Hugging Face's"),
		ARG_FLAG("segmented", 0, &t->segmented, "texts are cut into words already, by the model's segmenter"),
		ARG_GROUP("Runs"),
		ARG_REAL("epochs", 0, &t->epochs, 0, 1e6, "X", "times that every example is seen"),
		ARG_UINT("batch", 0, &t->batch, 1, 1 << 24, "N", "examples of a step"),
		ARG_UINT("micro-batch", 0, &t->micro_batch, 0, 1 << 16, "N", "examples in memory at once; 0: the batch, at most 32"),
		ARG_UINT("seed", 0, &t->seed, 0, INT64_MAX, "N", "of the new head, the order and the dropout"),
		ARG_UINT("seeds", 0, &t->seeds, 1, 10000, "K", "runs, with seed N, N+1, ...: mean, sd, min, max"),
		ARG_STR("freeze", 0, &o.freeze, "PART", "what stays as it is: none, embeddings, encoder, or so many layers and the embeddings"),
		ARG_FLAG("random-weights", 0, &t->random_weights, "take only the model's shape and vocabulary, for comparison"),
		ARG_GROUP("Optimizer"),
		ARG_REAL("learning-rate", 0, &t->learning_rate, 0, 1e3, "X", "the highest rate"),
		ARG_STR("warmup", 0, &o.warmup, "N|FRACTION", "steps, or with a point the share of steps, in which the rate rises"),
		ARG_CHOICE("decay", 0, &t->decay, DECAY_WORDS, "how the rate falls to 0 after that"),
		ARG_REAL("weight-decay", 0, &t->weight_decay, 0, 10, "X", "of all weights but biases and LayerNorms"),
		ARG_REAL("clip", 0, &t->clip, 0, 1e9, "X", "largest norm of all gradients together; 0: any"),
		ARG_GROUP("Program"),
		ARG_CHOICE("backend", 0, &o.backend, KERNELS_BACKENDS, "what computes"),
		ARG_ALIAS("train-batch-size", "batch"),
		ARG_ALIAS("num-train-epochs", "epochs"),
		ARG_ALIAS("warmup-proportion", "warmup"),
		ARG_COMMON_FOLDER(&o.common),
		ARG_END
	};
	struct args a = { .synopsis = "bert-finetune --task TASK --model DIR --train FILE [--dev FILE] [options] -o DIR",
			  .about = "Tunes a model to a task; with several seeds tells how far the results spread.",
			  .table = table, .common = &o.common };
	const int rc = args_parse(&a, argc, argv);
	struct tune_end end = { .results = NULL };

	if (rc != ARGS_RUN)
		return rc;
	tool_settle_openmp(argv);
	tool_start();
	if (check(&o) || tune(&o, &end))
		return tool_fail();
	if (end.signal)
		die_by(end.signal);
	if (tool_print(end.results, strlen(end.results)))
		return tool_fail();
	free(end.results);
	return tool_finish("%" PRIu64 " seeds", t->seeds);
}
