/* bert-tokenize - text to WordPiece ids, tokens, words, offsets, or token documents. */
#include "base/args.h"
#include "base/err.h"
#include "base/jsonl_documents.h"
#include "base/lines.h"
#include "base/log.h"
#include "base/out.h"
#include "base/progress.h"
#include "base/tool.h"
#include "shards/tokdoc_stream.h"
#include "tokenizer/token_stream.h"
#include "tokenizer/tokenizer.h"

#include <inttypes.h>

enum to { TO_IDS, TO_TOKENS, TO_WORDS, TO_OFFSETS, TO_DOCS };
enum offset_unit { CHARS, BYTES };

struct options {
	struct args_common common;
	struct tokenizer_opts tokenizer;
	struct arg_list never_split;
	int from, to, offset_unit;
	uint64_t compress;
	bool add_special, explain, offsets, decode, strict, document_per_file;
};

/* What goes from step to step; n_lines counts documents where those are written. */
struct work {
	const struct options *o;
	const char *segmenter;		/* to be run; NULL: none */
	struct tokenizer *tokenizer;
	struct lines *lines;
	struct out *out;
	struct progress progress;
	uint64_t n_lines, n_tokens, repaired;
};

static int write_documents(struct work *w)
{
	struct tokdoc_stream s = { .tokenizer = w->tokenizer, .lines = w->lines, .out = w->out, .progress = &w->progress,
				   .threads = (unsigned)w->o->common.threads, .compress = (int)w->o->compress, .segmenter = w->segmenter,
				   .jsonl = w->o->from, .strict = w->o->strict };
	const int rc = tokdoc_stream_run(&s);

	w->n_lines = s.documents;
	w->n_tokens = s.tokens;
	w->repaired = s.repaired;
	return rc;
}

static int write_lines(struct work *w)
{
	static const int forms[] = { [TO_IDS] = TOKEN_IDS, [TO_TOKENS] = TOKEN_TOKENS, [TO_WORDS] = TOKEN_WORDS,
				     [TO_OFFSETS] = TOKEN_OFFSETS };
	struct token_stream s = { .tokenizer = w->tokenizer, .lines = w->lines, .out = w->out, .progress = &w->progress,
				  .threads = (unsigned)w->o->common.threads, .form = forms[w->o->to],
				  .segmenter = w->segmenter, .jsonl = w->o->from, .strict = w->o->strict };
	int rc;

	s.flags = (w->o->add_special ? TOKEN_ADD_SPECIAL : 0) | (w->o->offset_unit == BYTES ? TOKEN_BYTES : 0);
	if (w->o->decode)
		s.form = TOKEN_DECODED;
	else if (w->o->explain)
		s.form = TOKEN_EXPLAIN;
	else if (w->o->offsets)
		s.form = TOKEN_WORD_OFFSETS;
	rc = token_stream_run(&s);
	w->n_lines = s.n_lines;
	w->n_tokens = s.n_tokens;
	w->repaired = s.repaired;
	return rc;
}

static int check_options(const struct options *o)
{
	if (o->decode && (o->explain || o->offsets || o->add_special || o->tokenizer.segmenter || args_given("to")))
		return err_usage("--decode makes text of ids: no --to, --add-special, --offsets, --explain or --segmenter goes with it");
	if (o->decode && o->from)
		return err_usage("--decode reads lines of ids: --from jsonl does not go with it");
	if (o->offsets && o->to != TO_WORDS)
		return err_usage("--offsets goes with --to words");
	if (args_given("offset-unit") && o->to != TO_OFFSETS && !o->offsets)
		return err_usage("--offset-unit goes with --to offsets and --offsets");
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
	struct buf faults = BUF_INIT;

	if (!vocab_describe_faults(v, &faults) && faults.len)
		log_warn("the vocabulary of '%s' has %s", o->vocab ? o->vocab : o->model, faults.data);
	buf_release(&faults);
}

static int tokenize(struct work *w, const struct args *a)
{
	const struct options *o = w->o;
	const enum lines_form form = o->from ? LINES_JSON : args_given("from") || o->decode ? LINES_TEXT : LINES_NO_JSON;
	const struct lines_opts lo = { .form = form, .strict = o->strict, .document_per_file = o->document_per_file,
				       .keep_marks = o->to != TO_DOCS, .threads = (unsigned)o->common.threads };
	char bad[LINES_REPORT_MAX];
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
		log_warn("%s", lines_bad_report(w->lines, bad, sizeof(bad)));
	if (rc == 0 && w->repaired)
		log_warn("%s", jsonl_repaired_report(w->repaired, bad, sizeof(bad)));
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
		ARG_CHOICE("from", 0, &o.from, "text|jsonl", "what is read; jsonl: JSON lines, whose ids and titles --to docs keeps"),
		ARG_CHOICE("to", 0, &o.to, "ids|tokens|words|offsets|docs", "what to write; docs: token documents for bert-shard"),
		ARG_FLAG("add-special", 0, &o.add_special, "[CLS] before and [SEP] after each line's tokens"),
		ARG_FLAG("offsets", 0, &o.offsets, "with --to words: word, start and end, one a line"),
		ARG_CHOICE("offset-unit", 0, &o.offset_unit, "chars|bytes", "what offsets count: characters (code points) of the line, or bytes"),
		ARG_FLAG("explain", 0, &o.explain, "a line for each word: the text, the word, its pieces, their ids, why [UNK]"),
		ARG_FLAG("decode", 0, &o.decode, "the way back: lines of ids to lines of text"),
		ARG_CHOICE("lower", 0, &o.tokenizer.lower, "auto|yes|no", "lower-case; auto: unless --cased, or as the model directory says"),
		ARG_CHOICE("strip-accents", 0, &o.tokenizer.strip_accents, "auto|yes|no", "auto: where lower-cased"),
		ARG_CHOICE("split-cjk", 0, &o.tokenizer.split_cjk, "auto|yes|no", "each Chinese character is a word; auto: yes, or as the model directory says"),
		ARG_LIST("never-split", 0, &o.never_split, "TOKEN", "stays whole between white space; may be repeated"),
		ARG_STR("segmenter", 0, &o.tokenizer.segmenter, "CMD", "cuts lines into words first; empty: they are cut already"),
		ARG_UINT("max-word", 0, &o.tokenizer.max_word, 1, INT32_MAX, "N", "longer words, in characters, are [UNK] (default: as the model directory says, else google 200, hf 100)"),
		ARG_STR("unicode", 0, &o.tokenizer.unicode, "VERSION", "google: Unicode 14.0 or 15.0 (default: as the model directory says, else 14.0)"),
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
	w.segmenter = o.tokenizer.segmenter && *o.tokenizer.segmenter ? o.tokenizer.segmenter : NULL;
	o.tokenizer.never_split = o.never_split.items;
	o.tokenizer.n_never_split = o.never_split.count;
	if (tokenize(&w, &a))
		return tool_fail();
	return tool_finish("%" PRIu64 " %s in, %" PRIu64 " tokens out", w.n_lines, o.to == TO_DOCS ? "documents" : "lines", w.n_tokens);
}
