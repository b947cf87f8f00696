/* bert-shard's work: options, and the order of stages. */
#include "shards/job_impl.h"
#include "shards/canon.h"
#include "shards/described.h"
#include "shards/folder.h"

#include <inttypes.h>

/* --- recipe --------------------------------------------------------------------------------- */

/* Once the tokenizer is settled: the list may be a pipe, which can be read once only. */
static int use_words(struct job *j)
{
	struct shard_recipe *r = &j->recipe;

	if (!j->opts.masking_words)
		return 0;
	if (mask_words_gather(&j->words, j->opts.masking_words, j->tokenizer))
		return -1;
	r->words.list = j->words;
	r->words.count = mask_words_count(j->words);
	memcpy(r->words.sha256, mask_words_sha256(j->words), sizeof(r->words.sha256));
	return 0;
}

/* Likewise: pieces are of token documents. */
static int use_pieces(struct job *j)
{
	struct shard_recipe *r = &j->recipe;

	if (!j->opts.plain_cjk)
		return 0;
	if (json_is_true(json_object_get(r->tokenizer, "cjk")) && j->opts.tokenizer.model)
		return err_fail("--plain-cjk goes with token documents of --split-cjk no, which '%s' does not have: give its vocabulary"
				" by --vocab, and --cased where it is cased", j->opts.tokenizer.model);
	if (json_is_true(json_object_get(r->tokenizer, "cjk")))
		return err_fail("--plain-cjk goes with token documents that bert-tokenize made with --split-cjk no, where Chinese words"
				" are of more than one token");
	return read_as_plain_cjk(&r->read_as, &r->n_read_as, tokenizer_vocab(j->tokenizer));
}

static int make_recipe(struct job *j)
{
	const struct job_opts *o = &j->opts;
	const struct vocab *vocab = tokenizer_vocab(j->tokenizer);
	struct shard_recipe *r = &j->recipe;

	*r = (struct shard_recipe){
		.rules = (enum shard_rules)o->rules,
		.tokenizer = tokenizer_describe(j->tokenizer),
		.vocab_size = vocab_size(vocab),
		.special = vocab_special(vocab),
		.max_seq_length = (uint32_t)o->max_seq_length,
		.max_predictions_per_seq = (uint32_t)o->max_predictions_per_seq,
		.dupe_factor = o->masking == SHARD_DYNAMIC ? 1 : (uint32_t)o->dupe_factor,
		.masked_lm_prob = o->masked_lm_prob,
		.short_seq_prob = o->short_seq_prob,
		.whole_word_mask = o->whole_word_mask || o->mask_spans || o->masking_words,
		.mask_spans = (enum mask_spans)o->mask_spans,
		.word_draws = o->word_draws,
		.words_across_sep = o->words_across_sep,
		.same_document_next = o->same_document_next,
		.document_lengths = o->document_lengths,
		.masking = (enum shard_masking)o->masking,
		.pairs = (enum shard_pairs)o->pairs,
		.exact_next = o->exact_next,
		.random_next = o->random_next,
		.cross_documents = o->cross_documents,
		.seed = o->seed,
	};
	if (mask_shares_set(&r->shares, o->mask_replace_prob, o->random_replace_prob))
		return -1;
	if (!r->tokenizer || shard_check_special(&r->special, o->tokenizer.vocab ? o->tokenizer.vocab : o->tokenizer.model) ||
	    (o->rules == SHARD_OWN && !o->special_replacements && mask_never(vocab, &r->never, &r->n_never)))
		return -1;
	if (r->rules != SHARD_GOOGLE && r->max_predictions_per_seq > r->max_seq_length)
		return err_usage("--max-predictions-per-seq %" PRIu32 " is more than --max-seq-length %" PRIu32,
				 r->max_predictions_per_seq, r->max_seq_length);
	return 0;
}

/* --- identity --------------------------------------------------------------------------------- */

static json_t *inputs_json(const struct inputs *in)
{
	json_t *list = json_array();

	for (size_t i = 0; list && i < in->n; i++) {
		json_t *o = json_object();

		if (!o || canon_set(o, "bytes", canon_of_uint(in->files[i].bytes)) ||
		    canon_set(o, "sample", canon_of_key(in->files[i].sample)) || json_array_append(list, o)) {
			json_decref(list);
			list = NULL;
		}
		json_decref(o);
	}
	return list;
}

static json_t *options_json(const struct job_opts *o)
{
	json_t *options = json_object();

	if (!options || canon_set(options, "shards", o->shards ? canon_of_uint(o->shards) : json_null()) ||
	    canon_set(options, "shard_size", o->shards ? json_null() : canon_of_uint(o->shard_size)) ||
	    canon_set(options, "compress", canon_of_uint(o->compress)) ||
	    canon_set(options, "name", json_string(o->name)) ||
	    (o->form == LINES_JSON && canon_set(options, "from", json_string("jsonl")))) {
		json_decref(options);
		return NULL;
	}
	return options;
}

int job_make_identity(struct job *j)
{
	j->identity = json_object();
	if (!j->identity || canon_set(j->identity, "recipe", shard_recipe_json(&j->recipe)) ||
	    canon_set(j->identity, "inputs", inputs_json(&j->inputs)) ||
	    canon_set(j->identity, "options", options_json(&j->opts)))
		return err_memory();
	return canon_digest(j->identity, &j->digest);
}

/* --- opening ------------------------------------------------------------------------------------ */

static int check_name(const char *name)
{
	if (!*name || *name == '.' || strchr(name, '/') || strlen(name) > 200)
		return err_usage("--name '%s' is no good name for files", name);
	return 0;
}

static int refuse_streams(const struct job *j)
{
	for (size_t i = 0; j->opts.staged && i < j->inputs.n; i++)
		if (j->inputs.files[i].stream)
			return err_usage("--stage needs files: %s can be read once only",
					 strcmp(j->inputs.files[i].name, "-") ? "a pipe" : "standard input");
	return 0;
}

/* What a model directory says, with what it leaves to token documents, IS: whose ids, how long words are, which Unicode. */
static json_t *merge_said(json_t *said, const json_t *is)
{
	static const char *const theirs[] = { "compat", "max_word", "unicode" };
	json_t *merged = json_copy(said);
	bool bad = !merged;

	for (size_t i = 0; i < sizeof(theirs) / sizeof(theirs[0]) && !bad; i++) {
		json_t *const value = json_object_get(is, theirs[i]);

		bad = value && json_object_set(merged, theirs[i], value);
	}
	if (!bad)
		return merged;
	json_decref(merged);
	err_memory();
	return NULL;
}

/* The tokenizer that IS describes, as far as nothing else was said. */
static int open_theirs(struct tokenizer **theirs, const struct job *j, const json_t *is)
{
	const struct tokenizer_opts *o = &j->opts.tokenizer;
	char *vocab;
	json_t *merged;
	int rc;

	if (!o->model)
		return described_open(theirs, o->vocab, is, true);
	vocab = fs_join(o->model, FOLDER_VOCAB);
	merged = vocab ? merge_said(j->recipe.tokenizer, is) : NULL;
	rc = merged ? described_open(theirs, vocab, merged, true) : -1;
	json_decref(merged);
	free(vocab);
	return rc;
}

/*
 * Where no text is to be tokenized, token documents may be made in any way: then the tokenizer is theirs. The case is
 * held to what was said of it, and so is what a model directory says but for what it leaves to them.
 */
static int adopt_tokenizer(struct job *j)
{
	const struct tokenizer_opts *o = &j->opts.tokenizer;
	const json_t *is = inputs_tokenizer(&j->inputs);
	struct tokenizer *theirs;

	if (!is || json_equal(is, j->recipe.tokenizer))
		return 0;
	if (!o->model && json_is_true(json_object_get(is, "cased")) != o->cased)
		return 0;
	if (open_theirs(&theirs, j, is))
		return -1;
	tokenizer_close(j->tokenizer);
	j->tokenizer = theirs;
	shard_recipe_release(&j->recipe);
	return make_recipe(j);
}

int job_open(struct job **out, const struct job_opts *opts)
{
	struct job *j = calloc(1, sizeof(*j));

	*out = NULL;
	if (!j)
		return err_memory();
	j->opts = *opts;
	j->lock = j->sampling = -1;
	j->opts.threads = opts->threads ? opts->threads : 1;
	j->work = opts->folder ? fs_join(opts->folder, JOB_WORK) : NULL;
	if ((opts->folder && !j->work) || check_name(opts->name) || tokenizer_open(&j->tokenizer, &opts->tokenizer) ||
	    make_recipe(j) || inputs_open(&j->inputs, opts->files, opts->n_files, opts->form, (unsigned)j->opts.threads) ||
	    adopt_tokenizer(j) || use_words(j) || use_pieces(j) || inputs_check_tokenizer(&j->inputs, j->recipe.tokenizer) ||
	    refuse_streams(j)) {
		job_close(j);
		return -1;
	}
	*out = j;
	return 0;
}

void job_close(struct job *j)
{
	if (!j)
		return;
	job_unlock_samples(j);
	job_unlock(j);
	job_forget_held(j);
	json_decref(j->identity);
	inputs_close(&j->inputs);
	shard_recipe_release(&j->recipe);
	mask_words_free(j->words);
	tokenizer_close(j->tokenizer);
	free(j->work);
	free(j);
}

const struct job_report *job_report(const struct job *j)
{
	return &j->report;
}

const struct vocab *job_vocab(const struct job *j)
{
	return tokenizer_vocab(j->tokenizer);
}

const struct shard_recipe *job_recipe(const struct job *j)
{
	return &j->recipe;
}

uint64_t job_passed_words(const struct job *j)
{
	return j->words ? mask_words_passed(j->words) : 0;
}

/* --- all stages --------------------------------------------------------------------------------- */

/* In a folder whose manifest could not be believed, a run that fails may be of other input: its work is in the way. */
static int forget_work(const struct job *j)
{
	struct err reason;

	err_get(&reason);
	fs_remove_tree(j->work);
	return err_put(&reason);
}

/* Goes on with a plan that is there, and with the index it was made of; else indexes and plans by itself. */
static int run_stages(struct job *j)
{
	struct plan *p = NULL;
	int rc;

	if (plan_load(&p, j))
		return -1;
	rc = p && p->parts > 1 ? 0 : job_index_and_plan(j);
	for (uint32_t i = 0; p && p->parts > 1 && i < p->parts && !rc; i++)
		rc = job_index(j, i, p->parts);
	plan_free(p);
	return rc || job_check_stream(j) ? -1 : job_write(j, 0, 1);
}

int job_all(struct job *j)
{
	if (!(j->recipe.rules == SHARD_GOOGLE ? job_google(j) : run_stages(j)))
		return 0;
	return j->mending ? forget_work(j) : -1;
}

int job_run(struct job *j)
{
	if (job_start(j))
		return -1;
	return j->report.complete ? 0 : job_all(j);
}
