/* bert-train - pre-trains a BERT on shards. */
#include "base/args.h"
#include "base/err.h"
#include "base/log.h"
#include "base/report.h"
#include "base/tool.h"
#include "shards/mask_choice.h"
#include "trainer/pretrain.h"
#include "trainer/signals.h"
#include "trainer/warmup.h"

#include <inttypes.h>
#include <math.h>

struct options {
	struct args_common common;
	struct pretrain_opts train;
	struct arg_list data, eval;
	struct mixture_set *sets;	/* what data says */
	const char *warmup, *time_budget;
	int backend, dtype;
	bool dry_run;
};

/* "90", "90s", "1.5h": seconds, minutes, hours, days. */
static int read_time(const char *text, double *seconds)
{
	static const struct {
		char unit;
		double seconds;
	} units[] = { { 0, 1 }, { 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', 86400 } };
	char *end;
	const double x = strtod(text, &end);

	for (size_t i = 0; end != text && x > 0 && isfinite(x) && i < sizeof(units) / sizeof(units[0]); i++) {
		if (*end == units[i].unit && (!*end || !end[1])) {
			*seconds = x * units[i].seconds;
			return 0;
		}
	}
	return err_usage("--time-budget takes a time such as 3600, 90m, 24h or 2d, not '%s'", text);
}

static int read_sets(struct options *o)
{
	o->sets = calloc(o->data.count, sizeof(*o->sets));
	if (!o->sets)
		return err_memory();
	for (size_t k = 0; k < o->data.count; k++)
		if (mixture_set_parse(&o->sets[k], o->data.items[k]))
			return -1;
	o->train.data = o->sets;
	o->train.sets = o->data.count;
	return 0;
}

static void release(struct options *o)
{
	for (size_t k = 0; o->sets && k < o->data.count; k++)
		free((char *)(uintptr_t)o->sets[k].path);
	free(o->sets);
}

static int check(struct options *o)
{
	struct warmup warmup;

	if (!o->data.count)
		return err_usage("no shards; give a folder of them with --data DIR");
	if (!o->train.config == !o->train.init)
		return err_usage("give either --config FILE, for a new model, or --init DIR, for one to go on with");
	if (!o->common.output && !o->dry_run)
		return err_usage("no output; give a folder with -o DIR");
	o->train.eval = o->eval.items;
	o->train.evals = o->eval.count;
	if (o->train.eval_every && !o->train.evals)
		return err_usage("--eval-every needs --eval DIR");
	if (o->train.data_exponent != 1 && o->data.count < 2)
		return err_usage("--data-exponent goes with several --data");
	if (read_sets(o) || warmup_parse(&warmup, o->warmup))
		return -1;
	o->train.warmup = warmup_steps(&warmup, o->train.steps);
	mask_choice_note(&o->train.masks);
	o->train.output = o->common.output;
	o->train.backend = kernels_backends[o->backend];
	o->train.threads = (unsigned)o->common.threads;
	return o->time_budget ? read_time(o->time_budget, &o->train.time_budget) : 0;
}

static int dry_run(const struct options *o)
{
	json_t *report = pretrain_estimate(&o->train);
	const int rc = report_write(report, NULL, 6);

	json_decref(report);
	return rc;
}

static int train(struct options *o, struct pretrain_end *end)
{
	struct progress line;
	int rc;

	progress_start(&line, "steps", 0);
	o->train.progress = &line;
	o->train.warn = log_warn;
	o->train.info = log_info;
	o->train.stopped = signals_caught;
	signals_catch();
	rc = pretrain_run(&o->train, end);
	progress_end(&line);
	return rc;
}

int main(int argc, char **argv)
{
	static struct options o = { .train = PRETRAIN_DEFAULT, .warmup = "0.1" };
	struct pretrain_opts *t = &o.train;
	const struct arg table[] = {
		ARG_GROUP("What is trained, on what"),
		ARG_LIST("data", 0, &o.data, "DIR[:WEIGHT]", "shards (bert-shard), static or dynamic, and how often an epoch has them; repeatable"),
		ARG_REAL("data-exponent", 0, &t->data_exponent, 0, 1, "A", "sets come as often as their size to the power A says; 1: as it is"),
		ARG_FLAG("mmap", 0, &t->map, "map shards into memory instead of reading them"),
		ARG_STR("config", 0, &t->config, "FILE", "config.json of a new model"),
		ARG_STR("init", 0, &t->init, "DIR", "a model directory to start from, optimizer and step fresh"),
		ARG_LIST("eval", 0, &o.eval, "DIR", "held-out shards; repeatable: each set by itself, and all together"),
		ARG_UINT("eval-every", 0, &t->eval_every, 0, UINT32_MAX, "N", "steps between evaluations; 0: at the end only"),
		ARG_UINT("eval-instances", 0, &t->eval_instances, 0, UINT32_MAX, "N", "evaluate on the first N instances of each held-out set; 0: all"),
		ARG_GROUP("Masks of dynamic shards, where not as these say"),
		ARG_MASK_CHOICE(&t->masks),
		ARG_GROUP("Steps"),
		ARG_UINT("steps", 0, &t->steps, 1, UINT32_MAX, "N", "steps of the whole run"),
		ARG_UINT("batch", 0, &t->batch, 1, 1 << 24, "N", "instances of a step"),
		ARG_UINT("micro-batch", 0, &t->micro_batch, 0, 1 << 16, "N", "instances in memory at once; 0: the batch, at most 32"),
		ARG_STR("time-budget", 0, &o.time_budget, "TIME", "save and stop after so long: 3600, 90m, 24h, 2d"),
		ARG_UINT("seed", 0, &t->seed, 0, INT64_MAX, "N", "of new weights, order and dropout"),
		ARG_GROUP("Optimizer"),
		ARG_CHOICE("optimizer", 0, &t->optimizer, OPTIMIZER_WORDS, "what makes updates of gradients"),
		ARG_CHOICE("compat", 0, &t->compat, PRETRAIN_COMPAT_WORDS, "whose details optimizer and schedule have"),
		ARG_REAL("learning-rate", 0, &t->learning_rate, 0, 1e3, "X", "the highest rate"),
		ARG_STR("warmup", 0, &o.warmup, "N|FRACTION", "steps, or with a point the share of steps, in which the rate rises"),
		ARG_CHOICE("decay", 0, &t->decay, DECAY_WORDS, "how the rate falls to 0 after that"),
		ARG_REAL("power", 0, &t->power, 0, 100, "X", "of --decay poly"),
		ARG_REAL("weight-decay", 0, &t->weight_decay, 0, 10, "X", "of all weights but biases and LayerNorms"),
		ARG_REAL("clip", 0, &t->clip, 0, 1e9, "X", "largest norm of all gradients together; 0: any"),
		ARG_CHOICE("dtype", 0, &o.dtype, "fp32", "numbers that are computed with"),
		ARG_GROUP("Output"),
		ARG_UINT("save-every", 0, &t->save_every, 0, UINT32_MAX, "N", "steps between checkpoints; 0: at the end only"),
		ARG_UINT("keep", 0, &t->keep, 0, UINT32_MAX, "N", "checkpoints that are kept; 0: all"),
		ARG_UINT("log-every", 0, &t->log_every, 0, UINT32_MAX, "N", "steps between lines of log.jsonl; 0: with checkpoints only"),
		ARG_FLAG("dry-run", 0, &o.dry_run, "print memory, operations and epochs as JSON, and train nothing"),
		ARG_CHOICE("backend", 0, &o.backend, KERNELS_BACKENDS, "what computes"),
		ARG_COMMON_FOLDER(&o.common),
		ARG_END
	};
	struct args a = { .synopsis = "bert-train [options] --data DIR[:WEIGHT]... -o DIR (--config FILE | --init DIR)",
			  .about = "Pre-trains a BERT on shards; continues by itself where DIR has a valid checkpoint.",
			  .table = table, .common = &o.common };
	const int rc = args_parse(&a, argc, argv);
	struct pretrain_end end = { .loop = { .steps = 0 } };
	bool failed;

	if (rc != ARGS_RUN)
		return rc;
	tool_settle_openmp(argv);
	tool_start();
	failed = check(&o) || (o.dry_run ? dry_run(&o) : train(&o, &end));
	release(&o);
	if (failed)
		return tool_fail();
	return tool_finish("%" PRIu64 " steps, %" PRIu64 " in all, %.0f s of training", end.loop.steps, end.at.step, end.loop.seconds);
}
