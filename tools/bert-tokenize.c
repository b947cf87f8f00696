/* bert-tokenize - text to WordPiece ids, tokens, words, offsets, or token documents. */
#include "base/args.h"
#include "base/err.h"
#include "base/lines.h"
#include "base/log.h"
#include "base/out.h"
#include "base/pool.h"
#include "base/progress.h"
#include "base/tool.h"
#include "shards/tokdoc.h"
#include "tokenizer/token_stream.h"
#include "tokenizer/tokenizer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define BATCH (512 << 10)	/* bytes of documents handed to a thread at once: they make a block */
#define KEPT (4 << 20)		/* bytes of memory kept from one batch for the next */

enum to { TO_IDS, TO_TOKENS, TO_WORDS, TO_OFFSETS, TO_DOCS };

struct options {
	struct args_common common;
	struct tokenizer_opts tokenizer;
	int to;
	uint64_t compress;
	bool add_special, explain, offsets, strict, document_per_file;
};

/* What goes from step to step; n_lines counts documents where those are written. */
struct work {
	const struct options *o;
	struct tokenizer *tokenizer;
	struct lines *lines;
	struct out *out;
	struct progress progress;
	uint64_t n_lines, n_tokens;
};

/* --- documents ---------------------------------------------------------------- */

struct batch_document {
	struct key key;
	size_t text_len;
	size_t n_lines;
};

/* Documents, and the block of the file that they become. */
struct batch {
	struct buf text;		/* of all, one after the other */
	uint64_t *ends;			/* of all lines, each counted from the start of its document */
	size_t n_ends, cap_ends;
	struct batch_document *docs;
	size_t n_docs, cap_docs;
	struct tokdoc_block block;
};

/* A thread's own. */
struct worker {
	struct encoder *encoder;
	struct ids ids;
	struct tokdoc doc;
};

struct doc_state {
	struct work *w;
	struct document doc;		/* the one just read */
	struct worker *workers;
	struct tokdoc_writer *writer;
};

static int add_document(struct batch *b, const struct document *d)
{
	if (buf_add(&b->text, d->text.data, d->text.len) ||
	    array_grow(&b->docs, &b->cap_docs, b->n_docs + 1, sizeof(*b->docs)) ||
	    array_grow(&b->ends, &b->cap_ends, b->n_ends + d->n_lines, sizeof(*b->ends)))
		return -1;
	memcpy(b->ends + b->n_ends, d->ends, d->n_lines * sizeof(*b->ends));
	b->n_ends += d->n_lines;
	b->docs[b->n_docs++] = (struct batch_document){ d->key, d->text.len, d->n_lines };
	return 0;
}

static int read_batch(void *ctx, void *item)
{
	struct doc_state *st = ctx;
	struct batch *b = item;
	uint64_t total;
	int rc = 0;

	buf_clear(&b->text);
	b->n_docs = b->n_ends = 0;
	while (b->text.len < BATCH && (rc = lines_next_document(st->w->lines, &st->doc)) > 0)
		if (add_document(b, &st->doc))
			return -1;
	if (rc < 0)
		return -1;
	st->w->n_lines += b->n_docs;
	progress_update(&st->w->progress, st->w->n_lines, lines_progress(st->w->lines, &total));
	return b->n_docs > 0;
}

/* Document D, whose lines are in TEXT and end at ENDS, as W->doc. */
static int encode_document(struct worker *w, const struct batch_document *d, const char *text, const uint64_t *ends)
{
	struct tokdoc *t = &w->doc;
	uint64_t start = 0;
	size_t before = 0;

	if (array_grow(&t->lengths, &t->cap_lengths, d->n_lines, sizeof(*t->lengths)))
		return -1;
	w->ids.count = 0;
	for (size_t i = 0; i < d->n_lines; i++) {
		if (encoder_encode(w->encoder, text + start, (size_t)(ends[i] - 1 - start), &w->ids))
			return -1;
		if (w->ids.count > TOKDOC_TOKENS_MAX)
			return err_fail("a document has more than %u tokens", TOKDOC_TOKENS_MAX);
		t->lengths[i] = (uint32_t)(w->ids.count - before);
		before = w->ids.count;
		start = ends[i];
	}
	t->key = d->key;
	t->text_bytes = d->text_len - 1;
	t->n_sentences = d->n_lines;
	t->ids = w->ids.items;
	t->n_tokens = w->ids.count;
	t->id_bytes = sizeof(*w->ids.items);
	return 0;
}

static int work_batch(void *ctx, void *item, unsigned worker)
{
	const struct doc_state *st = ctx;
	struct worker *w = &st->workers[worker];
	struct batch *b = item;
	const char *text = b->text.data;
	const uint64_t *ends = b->ends;
	const unsigned id_bytes = vocab_id_bytes(tokenizer_vocab(st->w->tokenizer));

	for (size_t i = 0; i < b->n_docs; i++) {
		if (encode_document(w, &b->docs[i], text, ends) || tokdoc_block_add(&b->block, &w->doc, id_bytes))
			return -1;
		text += b->docs[i].text_len;
		ends += b->docs[i].n_lines;
	}
	return tokdoc_block_pack(&b->block, (int)st->w->o->compress);
}

static int write_batch(void *ctx, void *item)
{
	struct doc_state *st = ctx;
	struct batch *b = item;

	if (tokdoc_writer_add(st->writer, &b->block))
		return -1;
	tokdoc_block_clear(&b->block);
	if (b->text.cap > KEPT) {		/* a giant among documents; the next ones are smaller */
		buf_release(&b->text);
		tokdoc_block_release(&b->block);
	}
	return 0;
}

static void batch_release(struct batch *b)
{
	buf_release(&b->text);
	free(b->ends);
	free(b->docs);
	tokdoc_block_release(&b->block);
}

static void worker_release(struct worker *w)
{
	encoder_free(w->encoder);
	ids_release(&w->ids);
	tokdoc_release(&w->doc);
}

static int open_writer(struct doc_state *st)
{
	json_t *description;
	int rc;

	if (out_is_terminal(st->w->out))
		return err_usage("token documents are not written to a terminal: use -o FILE or a pipe");
	description = tokenizer_describe(st->w->tokenizer);
	if (!description)
		return -1;
	rc = tokdoc_writer_open(&st->writer, st->w->out, description, false);
	json_decref(description);
	return rc;
}

static int write_documents(struct work *w)
{
	const unsigned threads = (unsigned)w->o->common.threads, depth = 2 * threads + 2;
	struct doc_state st = { .w = w, .doc = DOCUMENT_INIT, .workers = calloc(threads, sizeof(*st.workers)) };
	struct batch *batches = calloc(depth, sizeof(*batches));
	struct pool pool = { .threads = threads, .depth = depth, .items = batches, .item_size = sizeof(*batches),
			     .read = read_batch, .work = work_batch, .write = write_batch, .ctx = &st };
	int rc = -1;

	if (!st.workers || !batches) {
		err_memory();
		goto out;
	}
	for (unsigned i = 0; i < threads; i++)
		if (!(st.workers[i].encoder = encoder_new(w->tokenizer)))
			goto out;
	if (open_writer(&st) || pool_run(&pool))
		goto out;
	w->n_tokens = tokdoc_writer_totals(st.writer)->tokens;
	rc = tokdoc_writer_finish(st.writer, NULL);
	st.writer = NULL;
out:
	tokdoc_writer_abandon(st.writer);
	for (unsigned i = 0; st.workers && i < threads; i++)
		worker_release(&st.workers[i]);
	for (unsigned i = 0; batches && i < depth; i++)
		batch_release(&batches[i]);
	document_release(&st.doc);
	free(st.workers);
	free(batches);
	return rc;
}

/* --- lines ---------------------------------------------------------------------- */

static int write_lines(struct work *w)
{
	static const int forms[] = { [TO_IDS] = TOKEN_IDS, [TO_TOKENS] = TOKEN_TOKENS, [TO_WORDS] = TOKEN_WORDS,
				     [TO_OFFSETS] = TOKEN_OFFSETS };
	struct token_stream s = { .tokenizer = w->tokenizer, .lines = w->lines, .out = w->out, .progress = &w->progress,
				  .threads = (unsigned)w->o->common.threads, .form = forms[w->o->to],
				  .flags = w->o->add_special ? TOKEN_ADD_SPECIAL : 0 };
	int rc;

	if (w->o->explain)
		s.form = TOKEN_EXPLAIN;
	else if (w->o->offsets)
		s.form = TOKEN_WORD_OFFSETS;
	rc = token_stream_run(&s);
	w->n_lines = s.n_lines;
	w->n_tokens = s.n_tokens;
	return rc;
}

/* --- all of it --------------------------------------------------------------------- */

static int check_options(const struct options *o)
{
	if (o->offsets && o->to != TO_WORDS)
		return err_usage("--offsets goes with --to words");
	if (o->add_special && (o->to == TO_WORDS || o->to == TO_DOCS || o->explain))
		return err_usage("--add-special goes with --to ids, tokens and offsets");
	if (o->explain && args_given("to"))
		return err_usage("--explain has a form of its own: no --to goes with it");
	if (o->to != TO_DOCS && (o->document_per_file || args_given("compress")))
		return err_usage("--%s goes with --to docs", o->document_per_file ? "document-per-file" : "compress");
	return 0;
}

static void warn_of_vocabulary(const struct tokenizer_opts *o, const struct vocab *v)
{
	if (vocab_blank_lines(v) || vocab_duplicates(v))
		log_warn("the vocabulary of '%s' has %zu blank lines, and %zu lines that repeat an earlier one and take its place",
			 o->vocab ? o->vocab : o->model, vocab_blank_lines(v), vocab_duplicates(v));
}

static int tokenize(struct work *w, const struct args *a)
{
	const struct options *o = w->o;
	const struct lines_opts lo = { .strict = o->strict, .document_per_file = o->document_per_file,
				       .keep_marks = o->to != TO_DOCS, .threads = (unsigned)o->common.threads };
	uint64_t total;
	int rc = -1;

	if (check_options(o) || tokenizer_open(&w->tokenizer, &o->tokenizer))
		goto out;
	warn_of_vocabulary(&o->tokenizer, tokenizer_vocab(w->tokenizer));
	if (lines_open(&w->lines, a->operands, (size_t)a->n_operands, &lo) || out_open(&w->out, o->common.output))
		goto out;
	lines_progress(w->lines, &total);
	progress_start(&w->progress, o->to == TO_DOCS ? "documents" : "lines", total);
	rc = o->to == TO_DOCS ? write_documents(w) : write_lines(w);
	progress_end(&w->progress);
	if (rc == 0)
		rc = out_commit(w->out);
	if (rc == 0)
		w->out = NULL;
	if (rc == 0 && lines_bad_bytes(w->lines))
		log_warn("ill-formed UTF-8 was replaced by U+FFFD in %" PRIu64 " places", lines_bad_bytes(w->lines));
out:
	out_discard(w->out);
	lines_close(w->lines);
	tokenizer_close(w->tokenizer);
	return rc;
}

int main(int argc, char **argv)
{
	static struct options o = { .tokenizer = TOKENIZER_OPTS_DEFAULT };
	const struct arg table[] = {
		ARG_STR("vocab", 0, &o.tokenizer.vocab, "FILE", "WordPiece vocabulary, one token a line"),
		ARG_FLAG("cased", 0, &o.tokenizer.cased, "keep case and accents (default: lower-case, and strip accents)"),
		ARG_STR("model", 0, &o.tokenizer.model, "DIR", "model directory: its vocab.txt and tokenizer_config.json, instead"),
		ARG_CHOICE("compat", 0, &o.tokenizer.compat, "google|hf", "whose ids: google-research/bert's, or Hugging Face's"),
		ARG_CHOICE("to", 0, &o.to, "ids|tokens|words|offsets|docs", "what to write; docs: token documents for bert-shard"),
		ARG_FLAG("add-special", 0, &o.add_special, "[CLS] before and [SEP] after each line's tokens"),
		ARG_FLAG("offsets", 0, &o.offsets, "with --to words: word, start and end, one a line"),
		ARG_FLAG("explain", 0, &o.explain, "a line for each word: the text, the word, its pieces, their ids, why [UNK]"),
		ARG_CHOICE("strip-accents", 0, &o.tokenizer.strip_accents, "auto|yes|no", "auto: where lower-cased"),
		ARG_UINT("max-word", 0, &o.tokenizer.max_word, 1, INT32_MAX, "N", "longer words, in characters, are [UNK] (default: google 200, hf 100)"),
		ARG_STR("unicode", 0, &o.tokenizer.unicode, "VERSION", "google: Unicode 14.0 or 15.0 (default: 14.0)"),
		ARG_UINT("compress", 0, &o.compress, 0, 19, "LEVEL", "with --to docs: zstd level, 0 for none"),
		ARG_FLAG("document-per-file", 0, &o.document_per_file, "with --to docs: the end of a file ends a document"),
		ARG_FLAG("strict", 0, &o.strict, "ill-formed UTF-8 is an error, not replaced"),
		ARG_ALIAS("vocab-file", "vocab"),
		ARG_ALIAS("do-lower-case", "!cased"),
		ARG_COMMON(&o.common),
		ARG_END
	};
	struct args a = { .synopsis = "bert-tokenize (--vocab FILE [--cased] | --model DIR) [options] [FILE...]",
			  .about = "Cuts lines of text into the tokens of a WordPiece vocabulary.",
			  .table = table, .common = &o.common, .max_operands = -1 };
	struct work w = { .o = &o };
	const int rc = args_parse(&a, argc, argv);

	if (rc != ARGS_RUN)
		return rc;
	tool_start();
	if (tokenize(&w, &a))
		return tool_fail();
	return tool_finish("%" PRIu64 " %s in, %" PRIu64 " tokens out", w.n_lines, o.to == TO_DOCS ? "documents" : "lines", w.n_tokens);
}
