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

#define RESULTS_NAME "results.json"
#define MAX_SEQ_LENGTH_DEFAULT 128

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

/* The model's own config, whatever head it has. */
static int own_config(struct config *c, const char *folder)
{
	char *path = fs_join(folder, MODEL_DIR_CONFIG);
	const int rc = path ? config_read(c, path) : -1;

	free(path);
	return rc;
}

/* Where none is given: the usual one, or as many tokens as the model has positions. */
static int set_length(struct tune *t)
{
	const uint64_t most = (uint64_t)t->config.max_position_embeddings;

	if (!t->opts.max_seq_length)
		t->opts.max_seq_length = most < MAX_SEQ_LENGTH_DEFAULT ? most : MAX_SEQ_LENGTH_DEFAULT;
	if (t->opts.max_seq_length > most)
		return err_usage("a max_seq_length of %" PRIu64 " is more than the %" PRIu64 " positions of '%s'",
				 t->opts.max_seq_length, most, t->opts.model);
	t->config.max_seq_length = (int)t->opts.max_seq_length;
	return 0;
}

/* Reads the files, and gives the model's config their classes. */
static int open_data(struct tune *t)
{
	const struct tune_opts *o = &t->opts;
	struct config own = CONFIG_INIT;
	int rc = -1;

	if (!own_config(&own, o->model) && !model_dir_config(&t->config, o->model, o->task->head) && !set_length(t))
		rc = tune_data_read(&t->data, o, &own);
	config_release(&own);
	if (rc)
		return -1;
	t->config.problem_type = PROBLEM_ONE;
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

static int open_folder(struct tune *t)
{
	if (make_facts(t) || run_folder_open(&t->folder, t->opts.output, t->facts, t->opts.warn))
		return -1;
	t->seeds = json_array();
	return t->seeds ? 0 : err_memory();
}

/* --- seeds ---------------------------------------------------------------------------------- */

/* The seed's result joins the others; where it is the best so far its model becomes the folder's. */
static int take_result(struct tune *t, struct tune_seed *s)
{
	const bool trained = s->model.weights != NULL;

	if (json_array_append(t->seeds, s->result))
		return err_memory();
	if (json_is_true(json_object_get(s->result, "degenerate")))
		t->opts.warn("seed %" PRIu64 " is degenerate: it predicts no better than the most frequent class", s->seed);
	if (trained && results_best(t->opts.task, t->seeds) == json_array_size(t->seeds) - 1 &&
	    (model_dir_copy_tokenizer(t->opts.model, t->opts.output) || model_dir_save(&s->model, t->opts.output)))
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
