/* pretrain.c - a pre-training from options to checkpoints. */
#include "trainer/pretrain.h"

#include "base/err.h"
#include "shards/folder.h"
#include "shards/manifest.h"
#include "trainer/estimate.h"
#include "trainer/pretrain_facts.h"
#include "trainer/run_folder.h"
#include "trainer/shard_source.h"

#include <assert.h>
#include <inttypes.h>


/* All that is open; zeroed parts are not. */
struct pretrain {
	const struct pretrain_opts *opts;
	struct kernels k;
	struct queue *q;
	struct model model;
	struct shard_source *data, *held;
	struct run_folder folder;
	struct optimizer optimizer;
	struct update update;
	struct evaluation evaluation;
	struct evaluation_part *parts;		/* [opts->evals] of held */
	char **names;				/* theirs */
	struct train_log *log;
	char *tokenizer;			/* the folder that checkpoints have vocab.txt and its kin from; NULL: none has any */
	char *tokenizer_config;
	int micro_batch;
};

static void say_nothing(const char *fmt, ...) { (void)fmt; }

static void pretrain_close(struct pretrain *p)
{
	evaluation_close(&p->evaluation);
	update_close(&p->update);
	optimizer_close(&p->optimizer);
	run_folder_close(&p->folder);
	shard_source_close(p->held);
	shard_source_close(p->data);
	model_release(&p->model);
	if (p->k.name) {
		p->k.queue_close(p->q);
		kernels_close(&p->k);
	}
	for (size_t k = 0; p->names && k < p->opts->evals; k++)
		free(p->names[k]);
	free(p->names);
	free(p->parts);
	free(p->tokenizer);
	free(p->tokenizer_config);
}

/* --- model and data --------------------------------------------------------------------- */

static int open_model(struct pretrain *p)
{
	const struct pretrain_opts *o = p->opts;
	struct config c = CONFIG_INIT;
	int rc = -1;

	if (o->init ? model_dir_config(&c, o->init, HEAD_PRETRAINING) : config_read(&c, o->config))
		return -1;
	c.head = HEAD_PRETRAINING;
	if (kernels_open(&p->k, o->backend, o->threads)) {
		p->k.name = NULL;
	} else if (!p->k.queue_open(&p->k, &p->q)) {
		rc = model_init(&p->model, &p->k, p->q, &c, DTYPE_F32);
		if (rc)
			p->model = (struct model){ .k = NULL };
	}
	config_release(&c);
	return rc;
}

static int open_data(struct pretrain *p)
{
	const struct pretrain_opts *o = p->opts;
	const struct shard_source_opts opts = { .seed = o->seed, .ordered = true, .map = o->map, .exponent = o->data_exponent,
						.masks = &o->masks, .config = &p->model.config };

	if (shard_source_open(&p->data, o->data, o->sets, &opts) || (o->init && shard_source_check_rules(p->data, o->init)) ||
	    shard_source_find_vocab(p->data, o->init, &p->tokenizer))
		return -1;
	if (!p->tokenizer)
		p->opts->warn("no vocab.txt is beside the shards of '%s': the checkpoints will have none, and cannot read text until it is "
			      "put there", o->data->path);
	return feed_micro_batch(shard_source_samples(p->data), o->batch, o->micro_batch, &p->micro_batch);
}

/* The name of held-out set K in the log: the last part of its path; its number where that does not go into JSON. */
static int name_part(struct pretrain *p, size_t k)
{
	json_t *name = pretrain_set_name(p->opts->eval[k]);
	char number[32];

	snprintf(number, sizeof(number), "%zu", k);
	p->names[k] = name ? strdup(json_is_string(name) ? json_string_value(name) : number) : NULL;
	json_decref(name);
	if (!p->names[k])
		return err_memory();
	for (size_t j = 0; j < k; j++)
		if (!strcmp(p->names[j], p->names[k]))
			return err_fail("'%s' and '%s' have one name, and the log could not tell them apart", p->opts->eval[j],
					p->opts->eval[k]);
	return 0;
}

/* What is evaluated: the first instances of each held-out set. */
static int list_parts(struct pretrain *p)
{
	const struct mixture *m = shard_source_mixture(p->held);
	const uint64_t most = p->opts->eval_instances ? p->opts->eval_instances : UINT64_MAX;

	p->parts = calloc(p->opts->evals, sizeof(*p->parts));
	if (!p->parts)
		return err_memory();
	for (size_t k = 0; k < p->opts->evals; k++) {
		const uint64_t n = mixture_share(m, k);

		p->parts[k] = (struct evaluation_part){ .name = p->names[k], .first = mixture_first(m, k), .count = n < most ? n : most };
	}
	return 0;
}

static enum shard_pairs pairs_of(const struct shard_source *s)
{
	return reader_recipe(mixture_reader(shard_source_mixture(s), 0))->pairs;
}

/* A label must mean the same in both, or the held-out sets have none. */
static int check_kinds(const struct pretrain *p)
{
	const enum shard_pairs held = pairs_of(p->held);

	if (held == SHARD_NONE || held == pairs_of(p->data))
		return 0;
	return err_fail("the shards of '%s' and '%s' have different kinds of pairs", p->opts->data->path, p->opts->eval[0]);
}

static int open_held(struct pretrain *p)
{
	const struct pretrain_opts *o = p->opts;
	const struct shard_source_opts opts = { .seed = o->seed, .map = o->map, .exponent = 1, .config = &p->model.config };
	struct mixture_set *sets;
	int rc;

	if (!o->evals)
		return 0;
	p->names = calloc(o->evals, sizeof(*p->names));
	if (!p->names)
		return err_memory();
	for (size_t k = 0; k < o->evals; k++)
		if (name_part(p, k))
			return -1;
	sets = calloc(o->evals, sizeof(*sets));
	if (!sets)
		return err_memory();
	for (size_t k = 0; k < o->evals; k++)
		sets[k] = (struct mixture_set){ .path = o->eval[k], .weight = 1 };
	rc = shard_source_open(&p->held, sets, o->evals, &opts);
	free(sets);
	if (rc)
		return -1;
	if (!json_equal(mixture_tokenizer(shard_source_mixture(p->data)), mixture_tokenizer(shard_source_mixture(p->held))))
		return err_fail("the shards of '%s' and '%s' were made with different vocabularies or rules", o->data->path, o->eval[0]);
	return check_kinds(p) ? -1 : list_parts(p);
}

/* --- weights ------------------------------------------------------------------------------ */

static int load_init(struct pretrain *p)
{
	const char *folder = p->opts->init;
	struct model_source *s;
	int rc = -1;

	if (model_dir_open(&s, &p->model, folder))
		return -1;
	if (!model_dir_check(s, &p->model, true))
		rc = model_dir_read(s, &p->model, p->opts->seed);
	if (!rc && s->map.missing)
		p->opts->warn("'%s' lacks %zu of the model's %d parameters, which start new", folder, s->map.missing, p->model.params.count);
	model_dir_close(s);
	return rc;
}

static int load_weights(struct pretrain *p)
{
	if (p->folder.resumes)
		return checkpoint_weights(p->folder.checkpoint, &p->model);
	return p->opts->init ? load_init(p) : model_fresh(&p->model, p->opts->seed);
}

static int open_optimizer(struct pretrain *p)
{
	const enum adam kind = p->opts->compat == PRETRAIN_TORCH ? ADAM_TORCH : ADAM_GOOGLE;
	struct optimizer_opts opts = p->opts->optimizer == OPTIMIZER_LAMB ? optimizer_lamb_defaults(kind) : optimizer_defaults(kind);

	opts.weight_decay = p->opts->weight_decay;
	opts.clip = p->opts->clip;
	if (model_add_gradients(&p->model) || optimizer_open(&p->optimizer, &p->model, &opts))
		return -1;
	return p->folder.resumes ? checkpoint_moments(p->folder.checkpoint, &p->optimizer) : 0;
}

static int larger(int a, int b) { return a > b ? a : b; }

/* Room for both the batches that are trained on and those that are evaluated. */
static int open_update(struct pretrain *p)
{
	struct batch_limits limits = sample_source_limits(shard_source_samples(p->data), p->micro_batch);

	if (p->held) {
		const struct batch_limits other = sample_source_limits(shard_source_samples(p->held), p->micro_batch);

		limits.T = larger(limits.T, other.T);
		limits.P = larger(limits.P, other.P);
	}
	if (update_open(&p->update, &p->model, &limits, &objective_pretraining, &p->optimizer, p->opts->seed))
		return -1;
	return p->held ? evaluation_open(&p->evaluation, shard_source_samples(p->held), &p->update, p->micro_batch, p->parts,
					 p->opts->evals) : 0;
}

/* What the other system has: google's counts from 0; torch's from 1, and NVIDIA's beside LAMB decays over the whole run. */
static enum schedule_first first_of(const struct pretrain_opts *o)
{
	if (o->compat == PRETRAIN_GOOGLE)
		return SCHEDULE_FROM_ZERO;
	return o->optimizer == OPTIMIZER_LAMB ? SCHEDULE_WHOLE_FROM_ONE : SCHEDULE_FROM_ONE;
}

/* --- the run ---------------------------------------------------------------------------------- */

static int open_folder(struct pretrain *p, json_t **facts)
{
	const struct position *at = &p->folder.at;

	*facts = pretrain_facts(p->opts, &p->model.config, p->data);
	if (!*facts || run_folder_open(&p->folder, p->opts->output, *facts, p->opts->warn))
		return -1;
	if (at->step > p->opts->steps)
		return err_fail("'%s' has made %" PRIu64 " steps already, and %" PRIu64 " are asked for", p->opts->output, at->step,
				p->opts->steps);
	if (p->folder.resumes)
		p->opts->info("going on from '%s'", p->folder.checkpoint);
	return 0;
}

static int run_loop(struct pretrain *p, struct pretrain_end *end)
{
	const struct pretrain_opts *o = p->opts;
	struct loop l = {
		.run = o->output, .update = &p->update, .source = shard_source_samples(p->data),
		.schedule = { .decay = (enum decay)o->decay, .peak = o->learning_rate, .power = o->power, .steps = o->steps,
			      .warmup = o->warmup, .first = first_of(o) },
		.batch = (int)o->batch, .micro_batch = p->micro_batch, .log_every = o->log_every, .save_every = o->save_every,
		.eval_every = o->eval_every, .keep = o->keep, .evaluation = p->held ? &p->evaluation : NULL,
		.save = { .model = &p->model, .optimizer = &p->optimizer, .tokenizer = p->tokenizer,
			  .tokenizer_config = p->tokenizer_config },
		.time_budget = o->time_budget, .stopped = o->stopped, .log = p->log, .progress = o->progress, .at = p->folder.at,
	};
	const int rc = loop_run(&l, &end->loop);

	end->at = l.at;
	return rc;
}

static int start_log(struct pretrain *p, const json_t *facts)
{
	return train_log_start(&p->log, p->opts->output, p->folder.at.step, facts,
			       json_pack("{s:i, s:s, s:I, s:I}", "micro_batch", p->micro_batch, "backend", p->k.name, "threads",
					 (json_int_t)p->k.threads, "steps", (json_int_t)p->opts->steps));
}

/* Where no map could be had, shards were read. */
static void tell_unmapped(const struct pretrain *p)
{
	const struct shelf_counts c = reader_counts(mixture_reader(shard_source_mixture(p->data), 0));	/* of all sets */

	if (p->opts->map && c.mapped < c.opened)
		p->opts->warn("of %" PRIu64 " openings of shards %" PRIu64 " could not map them; these were read", c.opened, c.opened - c.mapped);
}

static int train(struct pretrain *p, const json_t *facts, struct pretrain_end *end)
{
	int rc;

	end->at = p->folder.at;
	if (p->folder.at.step == p->opts->steps) {
		p->opts->info("all %" PRIu64 " steps are made", p->opts->steps);
		return 0;
	}
	p->tokenizer_config = pretrain_tokenizer_config(&p->model.config, p->data, p->opts->init);
	pretrain_note_compat(&p->model.config, p->data);
	if (!p->tokenizer_config || load_weights(p) || open_optimizer(p) || open_update(p))
		return -1;
	p->opts->info("%s, %u threads; %" PRIu64 " instances an epoch, batches of %" PRIu64 " in pieces of %d", p->k.name, p->k.threads,
		      shard_source_samples(p->data)->size, p->opts->batch, p->micro_batch);
	rc = start_log(p, facts) || run_loop(p, end) ? -1 : 0;
	tell_unmapped(p);
	return train_log_close(p->log) || rc ? -1 : 0;
}

/* What stands for what was left out. */
static struct pretrain_opts complete(const struct pretrain_opts *o)
{
	struct pretrain_opts full = *o;

	assert(o->batch > 0 && o->batch <= INT32_MAX && o->steps > 0 && o->steps <= UINT32_MAX);
	if (!full.warn)
		full.warn = say_nothing;
	if (!full.info)
		full.info = say_nothing;
	return full;
}

int pretrain_run(const struct pretrain_opts *o, struct pretrain_end *end)
{
	const struct pretrain_opts opts = complete(o);
	struct pretrain p = { .opts = &opts };
	json_t *facts = NULL;
	int rc = -1;

	*end = (struct pretrain_end){ .loop = { .why = LOOP_DONE } };
	if (!open_model(&p) && !open_data(&p) && !open_held(&p) && !open_folder(&p, &facts))
		rc = train(&p, facts, end);
	json_decref(facts);
	pretrain_close(&p);
	return rc;
}

/* --- without training ------------------------------------------------------------------------- */

/* Tokens and predictions of an instance of set K, on the average: by the manifest's totals, else as if all were as long as may be. */
static int expect_instance(const struct mixture *mixture, size_t k, double *tokens, double *predictions)
{
	const struct reader *reader = mixture_reader(mixture, k);
	const char *path = mixture_set(mixture, k)->path;
	struct manifest *m = NULL;

	*tokens = reader_shape(reader)->max_seq_length;
	*predictions = reader_shape(reader)->max_predictions;
	if (!folder_is(path))
		return 0;
	if (manifest_load(&m, path))
		return -1;
	if (m && m->totals.instances) {
		const double n = (double)m->totals.instances;

		*tokens = (double)m->totals.instance_tokens / n;
		if (m->totals.predictions)
			*predictions = (double)m->totals.predictions / n;
		else	/* dynamic: they are not drawn yet */
			*predictions = *tokens * reader_recipe(reader)->masked_lm_prob;
	}
	manifest_free(m);
	return 0;
}

/* What a step holds. */
static int expect_load(const struct pretrain *p, struct estimate_load *load)
{
	const struct mixture *m = shard_source_mixture(p->data);
	const double B = (double)p->opts->batch;

	*load = (struct estimate_load){ .sequences = B };
	for (size_t k = 0; k < mixture_sets(m); k++) {
		const double sequences = B * (double)mixture_share(m, k) / (double)mixture_size(m);
		double tokens, predictions;

		if (expect_instance(m, k, &tokens, &predictions))
			return -1;
		load->tokens += sequences * tokens;
		load->predictions += sequences * predictions;
	}
	return 0;
}

/* What of an epoch is whose, where there are several sets. */
static json_t *list_shares(const struct mixture *m)
{
	json_t *list = json_array();

	for (size_t k = 0; list && k < mixture_sets(m); k++) {
		json_t *name = pretrain_set_name(mixture_set(m, k)->path);
		json_t *one = json_pack("{s:o, s:I, s:f, s:I}", "name", name, "instances", (json_int_t)reader_size(mixture_reader(m, k)),
					"weight", mixture_weight(m, k), "instances_per_epoch", (json_int_t)mixture_share(m, k));

		if (!one || json_array_append_new(list, one)) {
			json_decref(list);
			list = NULL;
		}
	}
	return list;
}

static json_t *add_shares(json_t *report, const struct mixture *m)
{
	if (!report || mixture_sets(m) == 1 || !json_object_set_new(report, "data", list_shares(m)))
		return report;
	json_decref(report);
	err_memory();
	return NULL;
}

json_t *pretrain_estimate(const struct pretrain_opts *o)
{
	const struct pretrain_opts opts = complete(o);
	struct pretrain p = { .opts = &opts };
	json_t *report = NULL;

	if (!open_model(&p) && !open_data(&p) && !open_held(&p)) {
		const struct feed_opts feed = { .source = shard_source_samples(p.data), .model = &p.model, .batch = (int)opts.batch,
						.micro_batch = p.micro_batch };
		struct estimate_plan plan = { .model = &p.model, .feed = &feed, .steps = opts.steps };

		if (!expect_load(&p, &plan.load))
			report = add_shares(estimate_report(&plan), shard_source_mixture(p.data));
	}
	pretrain_close(&p);
	return report;
}
