/* loop.c - the training loop. */
#include "trainer/loop.h"

#include "base/err.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <time.h>

/* What happened since the last line of the log. */
struct window {
	struct update_result sum;		/* losses times counts; total: sum of the steps' losses */
	uint64_t steps;
	double seconds;
	double last_loss, lr, grad_norm;
};

struct course {
	struct loop *l;
	struct loop_end *end;
	struct window window;
	double started;
	uint64_t saved;				/* the step of the last checkpoint, or UINT64_MAX */
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool is_due(const struct loop *l, uint64_t every)
{
	return l->at.step == l->schedule.steps || (every && l->at.step % every == 0);
}

/* --- the log -------------------------------------------------------------------------- */

static void window_add(struct window *w, const struct update_result *r, int n, double seconds, double lr)
{
	for (int i = 0; i < n; i++) {
		w->sum.loss[i] += r->loss[i] * (double)r->counts[i];
		w->sum.hits[i] += r->hits[i];
		w->sum.counts[i] += r->counts[i];
	}
	w->sum.total += r->total;
	w->sum.tokens += r->tokens;
	w->sum.sequences += r->sequences;
	w->steps++;
	w->seconds += seconds;
	w->last_loss = r->total;
	w->lr = lr;
	w->grad_norm = r->grad_norm;
}

static int write_log(struct course *c)
{
	struct loop *l = c->l;
	struct window *w = &c->window;
	const struct objective *o = l->update->objective;
	const double seconds = w->seconds > 0 ? w->seconds : 1e-9;
	json_t *data;

	if (!w->steps)
		return 0;
	for (int i = 0; i < o->n; i++)
		if (w->sum.counts[i])
			w->sum.loss[i] /= (double)w->sum.counts[i];
	c->end->loss = w->sum.total / (double)w->steps;
	data = json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "average_loss", c->end->loss, "step_loss", w->last_loss, "learning_rate",
			 w->lr, "grad_norm", w->grad_norm, "training_sequences_per_second", (double)w->sum.sequences / seconds,
			 "training_tokens_per_second", (double)w->sum.tokens / seconds, "epoch",
			 (double)l->at.at.epoch + (double)l->at.at.index / (double)l->source->size);
	if (data && evaluation_report(data, "", o, &w->sum)) {
		json_decref(data);
		return -1;
	}
	*w = (struct window){ .steps = 0 };
	return train_log_step(l->log, l->at.step, data);
}

/* NaN has a sign, of which nobody wants to read. */
static double unsigned_nan(double x) { return isnan(x) ? fabs(x) : x; }

static int evaluate(struct course *c)
{
	struct loop *l = c->l;
	const double from = now();
	struct update_result r;
	json_t *data;

	if (evaluation_run(l->evaluation, &r))
		return err_prefix("evaluation at step %" PRIu64, l->at.step);
	if (!isfinite(r.total))
		return err_fail("evaluation at step %" PRIu64 ": the loss is %g", l->at.step, unsigned_nan(r.total));
	data = json_pack("{s:f, s:I, s:f}", "eval_loss", r.total, "eval_instances", (json_int_t)r.sequences, "eval_time", now() - from);
	if (!data)
		return err_memory();
	if (evaluation_report(data, "eval_", l->update->objective, &r) || evaluation_report_parts(data, l->evaluation)) {
		json_decref(data);
		return -1;
	}
	return train_log_step(l->log, l->at.step, data);
}

/* --- saving and stopping ------------------------------------------------------------------- */

static int save(struct course *c)
{
	struct loop *l = c->l;

	if (c->saved == l->at.step)
		return 0;
	if (checkpoint_save(l->run, &l->at, &l->save))
		return c->saved == UINT64_MAX ? -1 : err_prefix("checkpoint-%" PRIu64 " stands as it was", c->saved);
	c->saved = l->at.step;
	return checkpoint_prune(l->run, l->at.step, l->keep);
}

static const char *stop_words(const struct loop_end *end)
{
	switch (end->why) {
	case LOOP_DONE: return "done";
	case LOOP_TIME: return "time budget";
	case LOOP_SIGNAL: break;
	}
	return end->signal == SIGTERM ? "SIGTERM" : end->signal == SIGINT ? "SIGINT" : end->signal == SIGUSR1 ? "SIGUSR1" : "signal";
}

/* Whether the loop ends here, and why. */
static bool is_over(struct course *c)
{
	const struct loop *l = c->l;

	c->end->signal = l->stopped ? l->stopped() : 0;
	if (l->at.step >= l->schedule.steps)
		c->end->why = LOOP_DONE;
	else if (c->end->signal)
		c->end->why = LOOP_SIGNAL;
	else if (l->time_budget > 0 && now() - c->started >= l->time_budget)
		c->end->why = LOOP_TIME;
	else
		return false;
	return true;
}

/* What is true of the whole, as dllogger's last line has it. */
static int write_end(struct course *c, const struct position *before)
{
	const struct loop *l = c->l;
	const double seconds = c->end->seconds > 0 ? c->end->seconds : 1e-9;
	json_t *data = json_pack("{s:f, s:f, s:f, s:f, s:I, s:I, s:b, s:s}", "e2e_train_time", now() - c->started, "raw_train_time",
				 c->end->seconds, "training_sequences_per_second", (double)(l->at.samples - before->samples) / seconds,
				 "final_loss", c->end->loss, "steps", (json_int_t)l->at.step, "skipped_steps",
				 (json_int_t)(l->at.step - l->at.time), "stopped", c->end->why != LOOP_DONE, "reason", stop_words(c->end));

	return train_log_note(l->log, NULL, data);
}

/* --- steps ------------------------------------------------------------------------------------ */

static int diverged(const struct course *c, const struct update_result *r)
{
	const struct loop *l = c->l;
	char last[64] = "there is no checkpoint yet";

	if (c->saved != UINT64_MAX)
		snprintf(last, sizeof(last), "checkpoint-%" PRIu64 " is the last", c->saved);
	return err_fail("step %" PRIu64 ": the loss is %g and the norm of the gradient %g, so training stops here; %s; "
			"a lower learning rate or a longer warm-up may help", l->at.step + 1, unsigned_nan(r->total), unsigned_nan(r->grad_norm), last);
}

static int train_step(struct course *c, const struct feed_step *s)
{
	struct loop *l = c->l;
	const struct update_when when = { .number = (uint32_t)l->at.step, .time = (uint32_t)l->at.time,
					  .lr = schedule_rate(&l->schedule, l->at.time) };
	const double from = now();
	struct update_result r;
	double seconds;

	if (update_train(l->update, s->batches, s->n, &when, &r))
		return -1;
	if (!r.finite)
		return diverged(c, &r);
	seconds = now() - from;
	window_add(&c->window, &r, l->update->objective->n, seconds, when.lr);
	c->end->seconds += seconds;
	c->end->steps++;
	l->at.step++;
	l->at.time++;
	l->at.at = s->after;
	l->at.samples += (uint64_t)r.sequences;
	l->at.tokens += (uint64_t)r.tokens;
	if (l->progress)
		progress_update(l->progress, l->at.step, 0);
	return 0;
}

/* A step's evaluation failed: what was trained is not lost for that. The reason stays. */
static int save_after_failure(struct course *c)
{
	struct err why;

	err_get(&why);
	save(c);
	return err_put(&why);
}

/* After a step: log, evaluation, checkpoint, as they are due. A checkpoint ends the log's window. */
static int settle(struct course *c, bool over)
{
	const struct loop *l = c->l;
	const bool saves = over || is_due(l, l->save_every);

	if ((saves || is_due(l, l->log_every)) && write_log(c))
		return -1;
	if (l->evaluation && is_due(l, l->eval_every) && evaluate(c))
		return save_after_failure(c);
	return saves ? save(c) : 0;
}

static int run_steps(struct course *c, struct feed *feed)
{
	bool over = c->l->stopped && is_over(c) && c->end->why == LOOP_SIGNAL;	/* however little time there is, a step is made */
	int rc = 0;

	while (!over && !rc) {
		struct feed_step *s = feed_take(feed);

		rc = s ? train_step(c, s) : -1;
		if (s)
			feed_give(feed, s);
		if (!rc) {
			over = is_over(c);
			rc = settle(c, over);
		}
	}
	return rc;
}

int loop_run(struct loop *l, struct loop_end *end)
{
	struct course c = { .l = l, .end = end, .started = now(), .saved = l->at.step ? l->at.step : UINT64_MAX };
	const struct position before = l->at;
	const struct feed_opts opts = { .source = l->source, .model = l->update->model, .batch = l->batch, .micro_batch = l->micro_batch,
					.at = l->at.at, .steps = l->schedule.steps - l->at.step };
	struct feed *feed;
	int rc;

	assert(l->at.step <= l->schedule.steps);
	*end = (struct loop_end){ .why = LOOP_DONE };
	if (l->at.step == l->schedule.steps)
		return 0;
	if (feed_open(&feed, &opts))
		return -1;
	rc = run_steps(&c, feed);
	feed_close(feed);
	return rc ? -1 : write_end(&c, &before);
}
