/* tune_seed.c - one run of a fine-tuning. */
#include "finetune/tune_seed.h"

#include "base/err.h"
#include "base/fs.h"
#include "base/json_file.h"
#include "finetune/infer.h"
#include "finetune/sequence_source.h"
#include "model/model_dir.h"
#include "trainer/facts.h"
#include "trainer/loop.h"

#include <inttypes.h>
#include <stdlib.h>

#define RESULT_NAME "result.json"
#define RESULT_MAX ((size_t)1 << 20)
#define LOG_EVERY 10
#define SAVE_EVERY 100		/* steps at least between checkpoints, which cost more than so few steps of a small model */

/* What the loop needs beside the model. */
struct tune_loop {
	struct sequence_source train, dev;
	struct update update;
	struct evaluation evaluation;
	struct train_log *log;
	int micro_batch;
};

uint64_t tune_steps(const struct tune_opts *o, const struct tune_data *d)
{
	const double steps = (double)d->train.n / (double)o->batch * o->epochs;

	return steps < 1 ? 1 : (uint64_t)steps;
}

/* --- the folder --------------------------------------------------------------------------- */

static int check_result(const struct tune_seed *t, const char *path)
{
	const json_t *seed = json_object_get(t->result, "seed");

	if (json_is_integer(seed) && (uint64_t)json_integer_value(seed) == t->seed && json_is_integer(json_object_get(t->result, "steps")) &&
	    json_is_boolean(json_object_get(t->result, "degenerate")) &&
	    json_is_real(json_object_get(t->result, t->opts->task->main_metric)))
		return 0;
	return err_corrupt("'%s' is not the result of seed %" PRIu64 "; remove it to run that seed again", path, t->seed);
}

static int read_result(struct tune_seed *t)
{
	char *path = fs_join(t->folder, RESULT_NAME);
	int rc = path ? 0 : -1;

	if (path && fs_exists(path)) {
		t->result = json_file_read(path, RESULT_MAX);
		rc = t->result ? check_result(t, path) : -1;
	}
	free(path);
	return rc;
}

/* Locks the folder and finds what there is to go on from. */
static int open_run(struct tune_seed *t)
{
	json_t *facts = json_deep_copy(t->facts);
	int rc = -1;

	if (!facts)
		return err_memory();
	if (!facts_set(facts, "seed", json_integer((json_int_t)t->seed)))
		rc = run_folder_open(&t->run, t->folder, facts, t->opts->warn);
	json_decref(facts);
	return rc;
}

int tune_seed_open(struct tune_seed *t)
{
	struct buf name = BUF_INIT;

	if (!buf_addf(&name, "seed-%" PRIu64, t->seed))
		t->folder = fs_join(t->opts->output, name.data);
	buf_release(&name);
	if (!t->folder || read_result(t))
		return -1;
	return t->result ? 0 : open_run(t);	/* whatever is left of checkpoints, a result needs none */
}

void tune_seed_close(struct tune_seed *t)
{
	optimizer_close(&t->optimizer);
	model_release(&t->model);
	run_folder_close(&t->run);
	json_decref(t->result);
	free(t->folder);
}

/* --- weights ------------------------------------------------------------------------------- */

static int load_model(struct tune_seed *t)
{
	const struct tune_opts *o = t->opts;
	struct model_source *s;
	int rc = -1;

	if (o->random_weights)
		return model_fresh(&t->model, t->seed);
	if (t->data->same_labels ? model_dir_open(&s, &t->model, o->model) : model_dir_open_new_scores(&s, &t->model, o->model))
		return -1;
	if (!model_dir_check(s, &t->model, true))
		rc = model_dir_read(s, &t->model, t->seed);
	model_dir_close(s);
	return rc;
}

static int open_model(struct tune_seed *t)
{
	struct optimizer_opts opts = optimizer_defaults(ADAM_TORCH);
	struct config c = CONFIG_INIT;

	if (config_copy(&c, t->config))
		return -1;
	if (model_init(&t->model, t->k, t->q, &c, DTYPE_F32)) {
		t->model = (struct model){ .k = NULL };
		config_release(&c);
		return -1;
	}
	if (t->run.resumes ? checkpoint_weights(t->run.checkpoint, &t->model) : load_model(t))
		return -1;
	opts.weight_decay = t->opts->weight_decay;
	opts.clip = t->opts->clip;
	opts.frozen = t->opts->frozen;
	if (model_add_gradients(&t->model) || optimizer_open(&t->optimizer, &t->model, &opts))
		return -1;
	return t->run.resumes ? checkpoint_moments(t->run.checkpoint, &t->optimizer) : 0;
}

/* --- training ------------------------------------------------------------------------------ */

static void close_loop(struct tune_loop *l)
{
	evaluation_close(&l->evaluation);
	update_close(&l->update);
}

static int open_loop(struct tune_loop *l, struct tune_seed *t)
{
	const struct tune_opts *o = t->opts;
	const struct sample_source *longer = &l->train.samples;
	struct batch_limits limits;

	*l = (struct tune_loop){ .log = NULL };
	sequence_source_init(&l->train, &t->data->train, t->seed, true);
	if (t->data->dev.n) {
		sequence_source_init(&l->dev, &t->data->dev, t->seed, false);
		if (t->data->dev.longest > t->data->train.longest)
			longer = &l->dev.samples;
	}
	if (feed_micro_batch(longer, o->batch, o->micro_batch, &l->micro_batch))
		return -1;
	limits = sample_source_limits(longer, l->micro_batch);
	if (update_open(&l->update, &t->model, &limits, o->task->objective, &t->optimizer, t->seed))
		return -1;
	return t->data->dev.n ? evaluation_open(&l->evaluation, &l->dev.samples, &l->update, l->micro_batch, NULL, 0) : 0;
}

static int start_log(struct tune_loop *l, const struct tune_seed *t)
{
	return train_log_start(&l->log, t->folder, t->run.at.step, t->facts,
			       json_pack("{s:I, s:i, s:s, s:I}", "seed", (json_int_t)t->seed, "micro_batch", l->micro_batch, "backend",
					 t->k->name, "threads", (json_int_t)t->k->threads));
}

/* An evaluation after each epoch, a checkpoint after one or several. */
static int run_loop(struct tune_seed *t, struct tune_loop *l, int *signal)
{
	const struct tune_opts *o = t->opts;
	const uint64_t steps = tune_steps(o, t->data), epoch = t->data->train.n > o->batch ? t->data->train.n / o->batch : 1;
	struct loop loop = {
		.run = t->folder, .update = &l->update, .source = &l->train.samples,
		.schedule = { .decay = (enum decay)o->decay, .first = SCHEDULE_REST_FROM_ZERO, .peak = o->learning_rate, .power = 1,
			      .steps = steps, .warmup = warmup_steps(&o->warmup, steps) },
		.batch = (int)o->batch, .micro_batch = l->micro_batch, .log_every = LOG_EVERY,
		.save_every = (SAVE_EVERY + epoch - 1) / epoch * epoch, .eval_every = epoch, .keep = 1,
		.evaluation = t->data->dev.n ? &l->evaluation : NULL,
		.save = { .model = &t->model, .optimizer = &t->optimizer, .tokenizer = o->model },
		.stopped = o->stopped, .log = l->log, .progress = o->progress, .at = t->run.at,
	};
	struct loop_end end;

	if (loop_run(&loop, &end))
		return -1;
	if (end.why == LOOP_SIGNAL)
		*signal = end.signal;
	return 0;
}

static int measure(struct tune_seed *t)
{
	const struct sequences *s = tune_data_measured(t->data);
	const size_t C = (size_t)config_scores(&t->model.config);
	float *scores = malloc(s->n * C * sizeof(*scores));
	struct infer i = { .model = NULL };
	json_t *metrics = NULL;
	bool degenerate = false;
	int rc = -1;

	if (!scores)
		err_memory();
	else if (!infer_open(&i, &t->model, s->longest) && !infer_scores(&i, s, scores))
		rc = t->opts->task->measure(s, scores, &t->data->labels, &metrics, &degenerate);
	infer_close(&i);
	free(scores);
	if (rc)
		return -1;
	t->result = json_pack("{s:I, s:I, s:b}", "seed", (json_int_t)t->seed, "steps", (json_int_t)tune_steps(t->opts, t->data),
			      "degenerate", degenerate);
	rc = t->result && !json_object_update(t->result, metrics) ? 0 : err_memory();
	json_decref(metrics);
	return rc;
}

static int train(struct tune_seed *t, int *signal)
{
	struct tune_loop l;
	int rc = open_loop(&l, t);

	if (!rc) {
		rc = start_log(&l, t) || run_loop(t, &l, signal) ? -1 : 0;
		rc = train_log_close(l.log) || rc ? -1 : 0;
	}
	close_loop(&l);
	return rc;
}

int tune_seed_train(struct tune_seed *t, int *signal)
{
	*signal = 0;
	if (t->run.resumes)
		t->opts->info("going on from '%s'", t->run.checkpoint);
	if (open_model(t) || (t->run.at.step < tune_steps(t->opts, t->data) && train(t, signal)))
		return -1;
	return *signal ? 0 : measure(t);
}

/* --- afterwards ------------------------------------------------------------------------------ */

int tune_seed_finish(struct tune_seed *t)
{
	char *path = fs_join(t->folder, RESULT_NAME);
	int rc = -1;

	if (path && (fs_exists(path) || !json_file_write(path, t->result)))
		rc = checkpoint_prune(t->folder, 0, 0);	/* all of them are later than step 0 */
	free(path);
	return rc;
}
