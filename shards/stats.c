/* Counting. stats_json.c says what was counted, stats_warnings.c what it means. */
#include "shards/stats_impl.h"
#include "base/err.h"
#include "base/fs.h"
#include "base/utf8.h"
#include "shards/folder.h"
#include "shards/keys.h"
#include "tokenizer/chars.h"

#include <math.h>
#include <sys/stat.h>

#define CAPITALS 0.02		/* share of tokens with capitals that makes a vocabulary a cased one */
#define LETTERS 0.02		/* share of tokens with small letters, beside which there are capitals unless text was lower-cased */

/* --- tallies --------------------------------------------------------------------------------- */

static int tally_init(struct stats_tally *t)
{
	*t = (struct stats_tally){ .lengths = calloc(STATS_LENGTHS, sizeof(*t->lengths)) };
	return t->lengths ? 0 : err_memory();
}

static void tally_release(struct stats_tally *t)
{
	free(t->lengths);
	buf_release(&t->largest.title);
	instance_release(&t->instance);
	tokdoc_release(&t->document);
	*t = (struct stats_tally){ .lengths = NULL };
}

/* Of equally large ones the least key counts, so that threads do not show. */
static int see_document(struct stats_largest *l, uint64_t tokens, struct key key, const char *title, size_t len)
{
	if (tokens < l->tokens || !tokens || (tokens == l->tokens && key_compare(key, l->key) >= 0))
		return 0;
	l->tokens = tokens;
	l->key = key;
	buf_clear(&l->title);
	return len ? buf_add(&l->title, title, len) : 0;
}

static int tally_add(struct stats_tally *sum, const struct stats_tally *t)
{
	const uint64_t *more = (const uint64_t *)&t->counts;
	uint64_t *to = (uint64_t *)&sum->counts;

	for (size_t k = 0; k < sizeof(t->counts) / sizeof(*to); k++)	/* all members are uint64_t */
		to[k] += more[k];
	for (unsigned k = 0; k < STATS_OCTAVES; k++)
		sum->octaves[k] += t->octaves[k];
	for (unsigned k = 0; k < STATS_LENGTHS; k++)
		sum->lengths[k] += t->lengths[k];
	return see_document(&sum->largest, t->largest.tokens, t->largest.key, t->largest.title.data,
			    t->largest.title.len);
}

static void count_document(struct stats_counts *c, uint64_t sentences, uint64_t tokens, uint64_t text_bytes)
{
	c->documents++;
	c->empty_documents += !tokens;
	c->one_sentence_documents += sentences <= 1;
	c->few_sentence_documents += sentences == 2 || sentences == 3;
	c->sentences += sentences;
	c->tokens += tokens;
	c->text_bytes += text_bytes;
}

/* --- token documents ----------------------------------------------------------------------------- */

static void count_id(struct stats_counts *c, const struct vocab_special *s, uint32_t id)
{
	c->unknown += id == s->unk;
	c->special += (id == s->pad) | (id == s->cls) | (id == s->sep) | (id == s->mask);
}

static void count_ids(struct stats_counts *c, const struct vocab_special *s, const struct tokdoc *d)
{
	uint32_t ids[1024];
	const size_t most = sizeof(ids) / sizeof(ids[0]);

	for (size_t done = 0; done < d->n_tokens;) {
		const size_t n = d->n_tokens - done < most ? d->n_tokens - done : most;

		tokdoc_ids(d, done, n, ids);
		for (size_t k = 0; k < n; k++)
			count_id(c, s, ids[k]);
		done += n;
	}
	c->tokens_seen += d->n_tokens;
}

static unsigned octave(uint32_t n)
{
	return n ? 32 - (unsigned)__builtin_clz(n) : 0;
}

int stats_count_tokdoc(struct stats_tally *t, const struct vocab_special *s, const struct tokdoc *d, struct buf *keys)
{
	unsigned char key[KEY_BYTES];

	count_document(&t->counts, d->n_sentences, d->n_tokens, d->text_bytes);
	for (size_t k = 0; k < d->n_sentences; k++)
		t->octaves[octave(d->lengths[k])]++;
	if (s->unk != VOCAB_NONE)
		count_ids(&t->counts, s, d);
	key_put(d->key, key);
	return see_document(&t->largest, d->n_tokens, d->key, d->title, d->title_len) || buf_add(keys, key, sizeof(key)) ? -1 : 0;
}

/* Leaves the keys in the block's output. */
static int work_tokens(const struct stats *s, const struct scan *file, struct scan_block *b, struct stats_tally *t)
{
	int rc;

	while ((rc = scan_next(file, b, &t->document)) > 0)
		if (stats_count_tokdoc(t, &s->special, &t->document, &b->out))
			return -1;
	return rc;
}

static int compare_keys(const void *a, size_t a_len, const void *b, size_t b_len, void *ctx)
{
	(void)a_len;
	(void)b_len;
	(void)ctx;
	return memcmp(a, b, KEY_BYTES);
}

int stats_keep_keys(struct stats *s, const struct buf *keys)
{
	const struct spill_opts opts = { .memory = (size_t)(s->memory / 4), .threads = s->threads,
					 .compare = compare_keys, .prefix = spill_prefix_bytes };

	if (!s->keys && spill_open(&s->keys, &opts))
		return -1;
	for (size_t at = 0; at < keys->len; at += KEY_BYTES)
		if (spill_add(s->keys, keys->data + at, KEY_BYTES))
			return -1;
	return 0;
}

/* --- shards ------------------------------------------------------------------------------------------ */

static int count_shard_document(void *ctx, const struct shard_document *d)
{
	struct stats *s = ctx;
	struct stats_tally *t = &s->tallies[0];		/* no other thread counts yet */

	if (s->unwanted)
		return 0;
	count_document(&t->counts, d->sentences, d->tokens, d->text_bytes);
	t->counts.duplicate_documents += d->occurrence > 0;
	return see_document(&t->largest, d->tokens, d->key, d->title, d->title_len);
}

static void count_masks(struct stats_counts *c, const struct instance *i, uint32_t mask)
{
	c->statics++;
	c->static_tokens += i->n;
	c->predictions += i->predictions;
	for (uint32_t k = 0; k < i->predictions; k++) {
		const uint32_t id = i->ids[i->positions[k]];

		c->masked += id == mask;
		c->kept += id != mask && id == i->labels[k];
		c->replaced += id != mask && id != i->labels[k];
	}
}

static void work_instances(const struct scan *file, const struct scan_block *b, struct stats_tally *t)
{
	const struct shard_recipe *recipe = &file->header.recipe;
	struct instance *i = &t->instance;
	struct stats_counts *c = &t->counts;

	for (uint32_t k = 0; k < b->frame.records; k++) {
		instance_block_get(&b->instances, k, i);
		t->lengths[i->n]++;
		c->cut += recipe->rules != SHARD_IMPORTED && rint(i->n * recipe->masked_lm_prob) > recipe->max_predictions_per_seq;
		if (file->shape.masked)
			count_masks(c, i, recipe->special.mask);
		instance_unmask(i);
		for (uint32_t j = 0; j < i->n; j++)
			count_id(c, &recipe->special, i->ids[j]);
		c->special -= 1 + i->n_segments;	/* those that every instance has */
		c->tokens_seen += i->n - 1 - i->n_segments;
	}
}

/* --- files ---------------------------------------------------------------------------------------------- */

static uint32_t larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/* Whether TOKEN has capital letters, and small ones. */
static void look_at_letters(const struct chars *c, const char *token, size_t len, bool *capital, bool *small)
{
	const char *const end = token + len;

	*capital = *small = false;
	while (token < end) {
		const struct char_entry *e = chars_entry(c, utf8_next(&token));

		*capital = *capital || e->forms[CHAR_LOWER];
		*small = *small || (e->flags & CHAR_CASED && !e->forms[CHAR_LOWER]);
	}
}

/* Shares of V's tokens that have capital letters, and small ones, special tokens apart. */
static void count_letters(struct stats *s, const struct vocab *v)
{
	const struct chars *c = chars_google(NULL);
	uint32_t capitals = 0, letters = 0;

	for (uint32_t id = 0; id < vocab_size(v); id++) {
		bool capital, small;
		size_t len;
		const char *token = vocab_token(v, id, &len);

		if (vocab_is_special(v, id))
			continue;
		look_at_letters(c, token, len, &capital, &small);
		capitals += capital;
		letters += small;
	}
	s->capitals = (double)capitals / vocab_size(v);
	s->letters = (double)letters / vocab_size(v);
}

bool stats_is_miscased(struct stats *s, const struct vocab *v, const json_t *tokenizer)
{
	if (strcmp(s->looked_at, vocab_sha256(v))) {
		count_letters(s, v);
		snprintf(s->looked_at, sizeof(s->looked_at), "%s", vocab_sha256(v));
	}
	return json_is_true(json_object_get(tokenizer, "cased")) ? s->letters > LETTERS && s->capitals == 0 : s->capitals > CAPITALS;
}

/* The vocabulary beside FILE, if it is there, and whether it is one for this casing. */
static int look_at_vocab(struct stats *s, const struct scan *file, const json_t *tokenizer)
{
	if (folder_vocab(&s->vocab, s->vocab_path, file->path, tokenizer))
		return -1;
	s->sum.counts.files_miscased += s->vocab && stats_is_miscased(s, s->vocab, tokenizer);
	return 0;
}

static int begin_shard(struct stats *s, const struct scan *file)
{
	const struct shard_recipe *r = &file->header.recipe;
	const struct instance_shape shape = shard_header_shape(&file->header, 0);
	const uint32_t needed = (uint32_t)rint(r->max_seq_length * r->masked_lm_prob);

	if (folder_set_check(&s->set, file->name, s->at, &file->header) || look_at_vocab(s, file, r->tokenizer))
		return -1;
	s->unwanted = r->rules == SHARD_IMPORTED ||
		      (r->rules == SHARD_GOOGLE && !key_compare(s->google_corpus, file->header.corpus));
	if (r->rules == SHARD_GOOGLE)
		s->google_corpus = file->header.corpus;
	s->max_seq_length = larger(s->max_seq_length, r->max_seq_length);
	s->max_predictions = larger(s->max_predictions, r->max_predictions_per_seq);
	if (r->rules != SHARD_IMPORTED)		/* whose rate nobody knows */
		s->needed_predictions = larger(s->needed_predictions, needed);
	for (unsigned k = 0; k < s->threads; k++)
		if (instance_init(&s->tallies[k].instance, &shape))
			return -1;
	return 0;
}

static int begin_tokens(struct stats *s, const struct scan *file)
{
	s->special = (struct vocab_special){ VOCAB_NONE, VOCAB_NONE, VOCAB_NONE, VOCAB_NONE, VOCAB_NONE };
	if (look_at_vocab(s, file, file->tokens.tokenizer))
		return -1;
	if (s->vocab)
		s->special = vocab_special(s->vocab);
	else
		s->sum.counts.token_files_unnamed++;
	return 0;
}

static int begin(void *ctx, struct scan *file)
{
	struct stats *s = ctx;

	return file->kind == SCAN_SHARD ? begin_shard(s, file) : begin_tokens(s, file);
}

static int work(void *ctx, const struct scan *file, struct scan_block *b, unsigned worker)
{
	const struct stats *s = ctx;

	if (file->kind == SCAN_TOKENS)
		return work_tokens(s, file, b, &s->tallies[worker]);
	work_instances(file, b, &s->tallies[worker]);
	return 0;
}

static int write_block(void *ctx, const struct scan *file, struct scan_block *b)
{
	struct stats *s = ctx;

	return file->kind == SCAN_TOKENS ? stats_keep_keys(s, &b->out) : 0;
}

static void count_file(struct stats *s, const struct scan *file)
{
	struct stats_counts *c = &s->sum.counts;

	c->files++;
	c->bytes += file->trailer.file_bytes;
	if (file->kind == SCAN_TOKENS)
		return;
	c->instances += file->totals.instances;
	c->random_next += file->totals.random_next;
	if (file->header.recipe.pairs == SHARD_NSP && !file->header.recipe.exact_next) {
		c->pairs += file->totals.instances;
		c->random_pairs += file->totals.random_next;
	}
	c->truncated += file->totals.truncated;
	c->dropped += file->totals.dropped;
	c->instance_tokens += file->totals.instance_tokens;
	c->room += file->totals.instances * file->header.recipe.max_seq_length;
}

int stats_make_tallies(struct stats *s)
{
	s->tallies = calloc(s->threads, sizeof(*s->tallies));
	if (!s->tallies)
		return err_memory();
	for (unsigned k = 0; k < s->threads; k++)
		if (tally_init(&s->tallies[k]))
			return -1;
	return 0;
}

int stats_add_tallies(struct stats *s, bool good)
{
	int rc = 0;

	for (unsigned k = 0; s->tallies && k < s->threads; k++) {
		if (good && !rc)
			rc = tally_add(&s->sum, &s->tallies[k]);
		tally_release(&s->tallies[k]);
	}
	free(s->tallies);
	s->tallies = NULL;
	return rc;
}

/* IN, where it is open already, is read and closed. */
static int add_file(struct stats *s, const char *path, struct in *in)
{
	struct scan file = { .path = path, .in = in, .threads = s->threads, .progress = s->progress, .begin = begin,
			     .document = count_shard_document, .work = work, .write = write_block, .ctx = s };
	int rc = stats_make_tallies(s) || scan_run(&file) ? -1 : 0;

	if (!rc)
		count_file(s, &file);
	if (stats_add_tallies(s, !rc))
		rc = -1;
	scan_release(&file);
	return rc;
}

int stats_note(struct stats *s, const char *text)
{
	if (!s->notes)
		s->notes = json_array();
	return s->notes && !json_array_append_new(s->notes, json_string(text)) ? 0 : err_memory();
}

/* A folder, a shard or token documents. */
static int add_framed(struct stats *s, const char *path, struct in *in)
{
	struct buf lacks = BUF_INIT;
	char **paths = NULL;
	size_t n = 0;
	int rc = 0;

	if (folder_shards_there(path, &paths, &n, &lacks) || (lacks.len && stats_note(s, lacks.data)))
		rc = -1;
	s->set = (struct folder_set){ .n = folder_is(path) && !lacks.len ? n : 0 };
	for (s->at = 0; !rc && s->at < n; s->at++) {
		rc = add_file(s, paths[s->at], in);
		in = NULL;
	}
	in_close(in);
	folder_set_release(&s->set);
	fs_free_names(paths, n);
	buf_release(&lacks);
	return rc;
}

/* --- what is what ------------------------------------------------------------------------------------ */

static bool ends_in(const char *path, const char *end)
{
	const size_t len = strlen(path), n = strlen(end);

	return len >= n && !strcmp(path + len - n, end);
}

/* Whether IN, which is no framed file, may have been meant to be one. An empty one is what is left of something. */
static bool looks_like_text(struct in *in)
{
	char head[64];
	const ssize_t n = in_peek(in, head, sizeof(head));
	const size_t cut = n == sizeof(head) ? UTF8_MAX - 1 : 0;	/* of a character that goes on */

	return n > 0 && !memchr(head, 0, (size_t)n) && utf8_valid_prefix(head, (size_t)n) + cut >= (size_t)n;
}

/*
 * Looks into PATH: 1 text, 0 a folder or a framed file, -1 failed. What cannot be opened once more stays open in *IN. Who says
 * how text is tokenized has it for whatever is not framed; names that are only given to framed files hold none.
 */
static int look_at(const struct stats *s, const char *path, struct in **in)
{
	struct stat st;
	int text;

	*in = NULL;
	if (folder_is(path) || ends_in(path, ".shard") || ends_in(path, ".tok"))
		return 0;
	if (in_open(in, path, s->threads))
		return -1;
	text = !frame_sniff(*in) && (s->text || looks_like_text(*in));
	if (text && !s->text)
		text = err_usage("'%s' is text: --vocab FILE or --model DIR says how to tokenize it", in_name(*in));
	if (text < 0 || (strcmp(path, "-") && !stat(path, &st) && S_ISREG(st.st_mode))) {
		in_close(*in);
		*in = NULL;
	}
	return text;
}

int stats_add(struct stats *s, const char *const *paths, size_t n)
{
	size_t from = 0;		/* of text files that wait to be read as one */

	if (!s->sum.lengths && tally_init(&s->sum))
		return -1;
	if (!s->memory)
		s->memory = STATS_MEMORY;
	for (size_t k = 0; k < n; k++) {
		struct in *in;
		const int text = look_at(s, paths[k], &in);

		if (text > 0 && !in)
			continue;
		if (text < 0 || (from < k && stats_add_text(s, paths + from, k - from, NULL))) {
			in_close(in);
			return -1;
		}
		if (text ? stats_add_text(s, paths + k, 1, in) : add_framed(s, paths[k], in))
			return -1;
		from = k + 1;
	}
	return from < n ? stats_add_text(s, paths + from, n - from, NULL) : 0;
}

void stats_release(struct stats *s)
{
	if (!s)
		return;
	stats_add_tallies(s, false);
	tally_release(&s->sum);
	vocab_free(s->vocab);
	spill_close(s->keys);
	json_decref(s->notes);
	word_counts_close(s->unknown);
	tokenizer_close(s->tokenizer);
	s->notes = NULL;
	s->unknown = NULL;
	s->tokenizer = NULL;
	s->vocab = NULL;
	s->keys = NULL;
}
