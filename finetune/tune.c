/* tune.c - a fine-tuning from options to a model directory. */
#include "finetune/tune.h"

#include "base/err.h"
#include "base/fs.h"
#include "finetune/results.h"
#include "finetune/tune_seed.h"
#include "model/model_dir.h"
#include "trainer/facts.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define RESULTS_NAME "results.json"
#define MANY 10			/* examples, of which as many classes as not are no accident */
#define KEPT_NAME "model"		/* of a result: the weights that this seed left in the folder */

/* All that is open; zeroed parts are not. */
struct tune {
	struct tune_opts opts;		/* complete: what is frozen is a number */
	struct kernels k;
	struct queue *q;
	struct config config;		/* of the tuned model */
	struct tune_data data;
	struct run_folder folder;
	json_t *facts;
	json_t *seeds;			/* results so far */
};

static void say_nothing(const char *fmt, ...) { (void)fmt; }

static void tune_close(struct tune *t)
{
	json_decref(t->seeds);
	json_decref(t->facts);
	run_folder_close(&t->folder);
	tune_data_release(&t->data);
	config_release(&t->config);
	if (t->k.name) {
		t->k.queue_close(t->q);
		kernels_close(&t->k);
	}
}

/* --- before training --------------------------------------------------------------------- */

static int open_backend(struct tune *t)
{
	if (kernels_open(&t->k, t->opts.backend, t->opts.threads)) {
		t->k.name = NULL;
		return -1;
	}
	return t->k.queue_open(&t->k, &t->q);
}

static bool has_file(const char *folder, const char *name)
{
	char *path = fs_join(folder, name);
	const bool there = path && fs_exists(path);

	free(path);
	return there;
}

/* The model's own config, whatever head it has. */
static int own_config(struct config *c, const char *folder)
{
	char *path = fs_join(folder, MODEL_DIR_CONFIG);
	const int rc = path ? config_read(c, path) : -1;

	free(path);
	return rc;
}

/* Reads the files, and gives the model's config their classes. */
static int open_data(struct tune *t)
{
	const struct tune_opts *o = &t->opts;
	struct config own = CONFIG_INIT;
	struct tuned_on on;
	int rc = -1;

	if (!own_config(&own, o->model) && !model_dir_config(&t->config, o->model, o->task->head) &&
	    !tuned_on_settle(&on, &own, o->model, o->max_seq_length, o->compat))
		rc = tune_data_read(&t->data, o, &on, &own);
	config_release(&own);
	if (rc)
		return -1;
	t->config.problem_type = PROBLEM_ONE;
	tuned_on_note(&on, &t->config);
	if ((size_t)t->data.labels.n * 2 > t->data.train.n && t->data.train.n > MANY)
		o->warn("'%s' has %d classes in %zu examples; is '%s' the column of the label?", o->train, t->data.labels.n,
			t->data.train.n, o->data.label);
	return config_set_labels(&t->config, t->data.labels.names, t->data.labels.n);
}

static int set_frozen(struct tune *t)
{
	const int layers = t->config.num_hidden_layers;

	if (t->opts.frozen == TUNE_FREEZE_ENCODER)
		t->opts.frozen = 1 + layers;
	if (t->opts.frozen > 1 + layers)
		return err_usage("cannot freeze %d layers: '%s' has %d", t->opts.frozen - 1, t->opts.model, layers);
	return 0;
}

static json_t *optimizer_facts(const struct tune_opts *o)
{
	return json_pack("{s:s, s:I, s:I, s:I, s:f, s:s, s:f, s:f, s:f, s:i}", "task", o->task->name, "first_seed", (json_int_t)o->seed,
			 "seeds", (json_int_t)o->seeds, "batch", (json_int_t)o->batch, "epochs", o->epochs, "decay", decay_word((enum decay)o->decay),
			 "learning_rate", o->learning_rate, "weight_decay", o->weight_decay, "clip", o->clip, "frozen", o->frozen);
}

static int make_facts(struct tune *t)
{
	const struct tune_opts *o = &t->opts;

	t->facts = optimizer_facts(o);
	if (!t->facts)
		return err_memory();
	return facts_set(t->facts, "config", facts_config(&t->config)) ||
	       facts_set(t->facts, "model", facts_weights(o->random_weights ? NULL : o->model)) ||
	       facts_set(t->facts, "train", facts_sum(tune_data_sum(&t->data.train))) ||
	       facts_set(t->facts, "dev", t->data.dev.n ? facts_sum(tune_data_sum(&t->data.dev)) : json_string("none")) ||
	       facts_set(t->facts, "warmup", json_integer((json_int_t)warmup_steps(&o->warmup, tune_steps(o, &t->data)))) ? -1 : 0;
}

/* The folder must be another than the model's, and hold no model that no run has put there. */
static int check_output(const struct tune_opts *o)
{
	static const char *const model[] = { MODEL_DIR_CONFIG, MODEL_DIR_WEIGHTS };
	struct stat to, from;
	bool foreign = false;

	if (stat(o->output, &to))
		return 0;
	if (!stat(o->model, &from) && to.st_dev == from.st_dev && to.st_ino == from.st_ino)
		return err_usage("'%s' is the model's own folder, which would be overwritten; give another with -o", o->output);
	if (has_file(o->output, RUN_FOLDER_NAME))
		return 0;
	for (size_t i = 0; i < sizeof(model) / sizeof(model[0]); i++)
		foreign |= has_file(o->output, model[i]);
	return foreign ? err_fail("'%s' holds a model that no run made there; give another folder", o->output) : 0;
}

static int open_folder(struct tune *t)
{
	if (check_output(&t->opts) || make_facts(t) || run_folder_open(&t->folder, t->opts.output, t->facts, t->opts.warn))
		return -1;
	t->seeds = json_array();
	return t->seeds ? 0 : err_memory();
}

/* --- seeds ---------------------------------------------------------------------------------- */

/* The model becomes the folder's, and the seed's result says which that was. */
static int keep_model(const struct tune *t, struct tune_seed *s)
{
	const struct tune_opts *o = &t->opts;

	if (model_dir_copy_tokenizer(o->model, o->output) || model_dir_save(&s->model, o->output))
		return -1;
	return facts_set(s->result, KEPT_NAME, facts_weights(o->output));
}

/* The seed's result joins the others; where it is the best so far its model is kept. */
static int take_result(struct tune *t, struct tune_seed *s)
{
	const bool trained = s->model.weights != NULL;

	if (json_array_append(t->seeds, s->result))
		return err_memory();
	if (json_is_true(json_object_get(s->result, "degenerate")))
		t->opts.warn("seed %" PRIu64 " is degenerate: it predicts no better than the most frequent class", s->seed);
	if (trained && results_best(t->opts.task, t->seeds) == json_array_size(t->seeds) - 1 && keep_model(t, s))
		return -1;
	return tune_seed_finish(s);
}

static int run_seed(struct tune *t, uint64_t seed, int *signal)
{
	struct tune_seed s = { .opts = &t->opts, .data = &t->data, .config = &t->config, .k = &t->k, .q = t->q, .facts = t->facts, .seed = seed };
	int rc = -1;

	*signal = 0;
	if (!tune_seed_open(&s) && (s.result || !tune_seed_train(&s, signal)))
		rc = *signal ? 0 : take_result(t, &s);
	tune_seed_close(&s);
	return rc ? err_prefix("seed %" PRIu64, seed) : 0;
}

/* Whether the model in the folder is the one that the best seed left there. */
static int check_kept(const struct tune *t)
{
	const json_t *best = json_array_get(t->seeds, results_best(t->opts.task, t->seeds));
	json_t *is = facts_weights(t->opts.output);
	int rc = -1;

	if (is && json_equal(is, json_object_get(best, KEPT_NAME)))
		rc = 0;
	else if (is)
		err_corrupt("'%s/" MODEL_DIR_WEIGHTS "' is not what seed %" JSON_INTEGER_FORMAT " left there", t->opts.output,
			    json_integer_value(json_object_get(best, "seed")));
	json_decref(is);
	return rc ? err_prefix("to tune again, remove '%s'", t->opts.output) : 0;
}

static int write_results(const char *folder, const char *text)
{
	char *path = fs_join(folder, RESULTS_NAME);
	const int rc = path ? fs_write_all(path, text, strlen(text)) : -1;

	free(path);
	return rc;
}

static int run_seeds(struct tune *t, struct tune_end *end)
{
	const struct tune_opts *o = &t->opts;
	json_t *results;

	for (uint64_t i = 0; i < o->seeds && !end->signal; i++)
		if (run_seed(t, o->seed + i, &end->signal))
			return -1;
	if (end->signal)
		return 0;
	if (check_kept(t))
		return -1;
	results = results_of_seeds(o, &t->data, t->seeds);
	end->results = results ? results_text(results) : NULL;
	json_decref(results);
	return end->results ? write_results(o->output, end->results) : -1;
}

int tune_run(const struct tune_opts *o, struct tune_end *end)
{
	struct tune t = { .opts = *o, .config = CONFIG_INIT, .data = { .labels = LABELS_INIT } };
	int rc = -1;

	assert(o->task && o->batch > 0 && o->seeds > 0 && o->epochs > 0);
	*end = (struct tune_end){ .results = NULL };
	t.opts.warn = o->warn ? o->warn : say_nothing;
	t.opts.info = o->info ? o->info : say_nothing;
	if (!open_backend(&t) && !open_data(&t) && !set_frozen(&t) && !open_folder(&t))
		rc = run_seeds(&t, end);
	tune_close(&t);
	return rc;
}
