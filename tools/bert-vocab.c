/* bert-vocab - learns a WordPiece vocabulary from text. */
#include "base/args.h"
#include "base/err.h"
#include "base/jsonl_documents.h"
#include "base/lines.h"
#include "base/log.h"
#include "base/out.h"
#include "base/progress.h"
#include "base/tool.h"
#include "tokenizer/chars.h"
#include "tokenizer/learn_alphabet.h"
#include "tokenizer/learn_bpe.h"
#include "tokenizer/learn_count.h"
#include "tokenizer/learn_extend.h"
#include "tokenizer/learn_report.h"
#include "tokenizer/learn_topdown.h"
#include "tokenizer/tokenizer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum method { METHOD_BPE, METHOD_TOPDOWN, METHOD_LIKELIHOOD };

struct options {
	struct args_common common;
	uint64_t size, add, min_count, alphabet, unused, memory;
	const char *initial, *extend, *report, *beside, *unicode;
	struct arg_list heldout;
	struct normalizer_opts rules;	/* what the switches below come to */
	int from, method, lower, strip_accents, split_cjk;
	bool cased, strict;
};

/* What the vocabularies make of the two texts. */
struct findings {
	struct vocab *beside;		/* NULL: none */
	struct learn_text text, heldout;
};

/* As tokenizer_open decides for a vocabulary without a model directory. */
static int choose_rules(struct options *o)
{
	if (o->cased && o->lower == TOKENIZER_YES)
		return err_usage("cased text is not lower-cased: choose one");
	o->rules.lower = !o->cased && o->lower != TOKENIZER_NO;
	o->rules.strip_accents = o->strip_accents == TOKENIZER_STRIP_AUTO ? o->rules.lower : o->strip_accents == TOKENIZER_STRIP_YES;
	o->rules.space_cjk = o->split_cjk != TOKENIZER_NO;
	o->rules.chars = chars_google(o->unicode);
	return o->rules.chars ? 0 : -1;
}

/* The words of FILES; *C keeps how many there were. */
static int count_words(const struct options *o, const char *const *files, size_t n_files, struct learn_words *words,
		       struct learn_count *c)
{
	const enum lines_form form = o->from ? LINES_JSON : args_given("from") ? LINES_TEXT : LINES_NO_JSON;
	const struct lines_opts lo = { .form = form, .strict = o->strict, .threads = (unsigned)o->common.threads };
	struct progress progress;
	char bad[LINES_REPORT_MAX];
	uint64_t total;
	int rc;

	*c = (struct learn_count){ .jsonl = o->from, .strict = o->strict, .normalizer = o->rules, .memory = o->memory,
				   .threads = lo.threads, .progress = &progress };
	if (lines_open(&c->lines, files, n_files, &lo))
		return -1;
	lines_progress(c->lines, &total);
	progress_start(&progress, "lines", total);
	rc = learn_count_run(c, words);
	progress_end(&progress);
	if (!rc && lines_bad_bytes(c->lines))
		log_warn("%s", lines_bad_report(c->lines, bad, sizeof(bad)));
	if (!rc && c->repaired)
		log_warn("%s", jsonl_repaired_report(c->repaired, bad, sizeof(bad)));
	lines_close(c->lines);
	if (rc)
		return -1;
	log_info("%" PRIu64 " words, %" PRIu64 " different; %" PRIu64 " of more than %d characters were passed over",
		 c->words, words->count + words->dropped, c->long_words, LEARN_WORD_MAX);
	if (words->dropped)
		log_warn("to stay within --memory, words that occur %" PRIu64 " times or less were dropped: %" PRIu64
			 " of %" PRIu64 " different ones, %.4f %% of the text",
			 words->floor, words->dropped, words->count + words->dropped,
			 100.0 * (double)words->dropped_count / (double)(c->words - c->long_words));
	if (words->count)
		return 0;
	learn_words_release(words);
	return err_fail(words->dropped ? "no words are left: --memory is too small" : "no words were found");
}

static void warn_of_size(const struct options *o, const struct learn *l)
{
	if (o->extend && l->added < o->add)
		log_warn("only %" PRIu64 " tokens were added: no other pair occurs %" PRIu64 " times", l->added, o->min_count);
	if (o->extend)
		return;
	if (o->method == METHOD_TOPDOWN && !learn_topdown_fits(l->tokens, o->size))
		log_warn("%" PRIu64 " tokens, not %" PRIu64 ": no count from %" PRIu64
			 " on, that a token must have, gives a vocabulary nearer to that size", l->tokens, o->size, o->min_count);
	if (o->method != METHOD_TOPDOWN && l->tokens < o->size)
		log_warn("only %" PRIu64 " tokens could be learnt: no other pair occurs %" PRIu64 " times", l->tokens,
			 o->min_count);
}

static void say_what_was_learnt(const struct options *o, const struct learn *l)
{
	if (o->extend) {
		log_info("%" PRIu64 " characters and %" PRIu64 " with \"##\" were wanted and added; words that are [UNK] still occur %"
			 PRIu64 " times; the last merged pair occurred %" PRIu64 " times",
			 l->letters, l->inside, l->unknown_count, l->last_count);
		return;
	}
	log_info("%" PRIu64 " characters, %" PRIu64 " of them inside words; %" PRIu64 " others left out, which occur %"
		 PRIu64 " times; %s %" PRIu64 " times",
		 l->letters, l->inside, l->left_out, l->left_out_count,
		 o->method == METHOD_TOPDOWN ? "every other token occurs at least" : "the last merged pair occurred", l->last_count);
}

static int learn_tokens(const struct options *o, struct learn *l)
{
	static const char *const nouns[] = { "tokens", "thresholds", "tokens" };
	struct progress progress;
	int rc;

	l->progress = &progress;
	progress_start(&progress, nouns[o->method], 0);
	rc = o->extend ? learn_extend_run(l) : o->method == METHOD_TOPDOWN ? learn_topdown_run(l) : learn_bpe_run(l);
	progress_end(&progress);
	if (rc)
		return -1;
	say_what_was_learnt(o, l);
	warn_of_size(o, l);
	return 0;
}

static int open_vocab(struct vocab **v, const char *path)
{
	struct buf faults = BUF_INIT;
	int rc = vocab_load(v, path);

	if (!rc)
		rc = vocab_describe_faults(*v, &faults);
	if (!rc && faults.len)
		log_warn("'%s' has %s", path, faults.data);
	buf_release(&faults);
	return rc;
}

/* Counts, learns, and measures the vocabulary on its own words when a report is wanted. */
static int learn_from(const struct options *o, const struct args *a, struct learn *l, struct vocab **own, struct findings *f)
{
	struct learn_words words = { 0 };
	struct learn_count c;
	struct buf copy = BUF_INIT;
	int rc = count_words(o, a->operands, (size_t)a->n_operands, &words, &c);

	if (rc)
		return -1;
	l->words = &words;
	rc = learn_tokens(o, l);
	if (!rc && o->report)
		rc = buf_add(&copy, l->vocab.data, l->vocab.len) || vocab_take(own, &copy, "the new vocabulary") ||
		     learn_text_measure(&f->text, &c, &words, *own, f->beside);
	learn_words_release(&words);
	return rc ? -1 : 0;
}

static int measure_heldout(const struct options *o, const struct vocab *own, struct findings *f)
{
	struct learn_words words = { 0 };
	struct learn_count c;
	int rc;

	if (count_words(o, o->heldout.items, o->heldout.count, &words, &c))
		return err_prefix("held-out text");
	rc = learn_text_measure(&f->heldout, &c, &words, own, f->beside);
	learn_words_release(&words);
	return rc;
}

static json_t *report_json(const struct options *o, const struct learn *l, const struct findings *f)
{
	static const char *const methods[] = { "bpe", "topdown", "likelihood" };

	return json_pack("{ss ss* sb sb sb ss sI sI sI sI sI sI sI sI ss* so so*}", "method", methods[o->method], "extended", o->extend,
			 "cased", !o->rules.lower, "strip_accents", o->rules.strip_accents, "cjk", o->rules.space_cjk, "unicode",
			 o->rules.chars->unicode, "tokens", (json_int_t)l->tokens, "added", (json_int_t)l->added, "slots_filled",
			 (json_int_t)l->slots, "characters", (json_int_t)l->letters, "characters_inside", (json_int_t)l->inside,
			 "characters_left_out", (json_int_t)l->left_out, "characters_left_out_count", (json_int_t)l->left_out_count,
			 "last_count", (json_int_t)l->last_count, "beside", o->beside, "text", learn_text_json(&f->text),
			 "heldout", o->heldout.count ? learn_text_json(&f->heldout) : NULL);
}

static int write_report(struct out *out, const struct options *o, const struct learn *l, const struct findings *f)
{
	json_t *json = report_json(o, l, f);
	char *text = json ? json_dumps(json, JSON_INDENT(2) | JSON_REAL_PRECISION(6)) : NULL;
	int rc;

	if (!text)
		rc = err_fail("cannot write the report: a file's name is not UTF-8, or memory is full");
	else
		rc = out_printf(out, "%s\n", text) || out_flush(out) ? -1 : 0;
	free(text);
	json_decref(json);
	return rc;
}

static int learn_vocab(const struct options *o, const struct args *a, struct learn *l)
{
	struct out *out = NULL, *report = NULL;
	struct vocab *base = NULL, *own = NULL;
	struct findings f = { 0 };
	uint32_t *initial = NULL;
	int rc = -1;

	if ((o->extend && open_vocab(&base, o->extend)) || (o->beside && open_vocab(&f.beside, o->beside)) ||
	    (o->initial && alphabet_read(o->initial, &o->rules, &initial, &l->n_initial)) ||
	    out_open(&out, o->common.output) || (o->report && out_open(&report, o->report)))
		goto end;
	l->base = base;
	l->initial = initial;
	if (learn_from(o, a, l, &own, &f) || (o->heldout.count && measure_heldout(o, own, &f)) ||
	    (report && write_report(report, o, l, &f)) || out_write(out, l->vocab.data, l->vocab.len) || out_commit(out))
		goto end;
	out = NULL;
	rc = report ? out_commit(report) : 0;
	if (!rc)
		report = NULL;
end:
	out_discard(out);
	out_discard(report);
	learn_release(l);
	vocab_free(base);
	vocab_free(own);
	vocab_free(f.beside);
	free(initial);
	return rc;
}

static int check_options(const struct options *o)
{
	static const char *const not_with_extend[] = { "size", "unused", "initial-alphabet" };

	if (!o->report && (o->heldout.count || o->beside))
		return err_usage("%s is for --report", o->beside ? "--beside" : "--heldout");
	if (o->report && !strcmp(o->report, o->common.output ? o->common.output : "-"))
		return err_usage("the vocabulary and the report cannot both be %s", strcmp(o->report, "-") ? "one file" : "standard output");
	if (!o->extend)
		return o->add ? err_usage("--add needs --extend") : o->size ? 0 : err_usage("no size; give one with --size N");
	for (size_t i = 0; i < sizeof(not_with_extend) / sizeof(not_with_extend[0]); i++)
		if (args_given(not_with_extend[i]))
			return err_usage("--%s does not go with --extend", not_with_extend[i]);
	if (o->method == METHOD_TOPDOWN)
		return err_usage("--extend merges pairs; --method topdown does not");
	return o->add ? 0 : err_usage("--extend needs --add N");
}

int main(int argc, char **argv)
{
	static struct options o = { .min_count = 2, .alphabet = 1000, .memory = 1 << 30 };
	const struct arg table[] = {
		ARG_UINT("size", 0, &o.size, LEARN_SPECIALS + 1, LEARN_SIZE_MAX, "N", "tokens of the vocabulary, special ones too; required but with --extend"),
		ARG_CHOICE("from", 0, &o.from, "text|jsonl", "what is read; jsonl: JSON lines, a document each"),
		ARG_FLAG("cased", 0, &o.cased, "keep case and accents"),
		ARG_CHOICE("lower", 0, &o.lower, "auto|yes|no", "lower-case; auto: unless --cased"),
		ARG_CHOICE("strip-accents", 0, &o.strip_accents, "auto|yes|no", "auto: where lower-cased"),
		ARG_CHOICE("split-cjk", 0, &o.split_cjk, "auto|yes|no", "each Chinese character is a word; auto: yes"),
		ARG_STR("unicode", 0, &o.unicode, "VERSION", "Unicode 14.0 or 15.0 (default: 14.0)"),
		ARG_CHOICE("method", 0, &o.method, "bpe|topdown|likelihood", "how to learn: merge the most frequent pairs, cut words into endings as BERT's own was learnt, or merge the likeliest pairs"),
		ARG_STR("extend", 0, &o.extend, "VOCAB", "add tokens to this vocabulary instead, in its [unusedN] slots and after its end"),
		ARG_UINT("add", 0, &o.add, 1, VOCAB_MAX, "N", "tokens to add"),
		ARG_UINT("min-count", 0, &o.min_count, 1, UINT64_MAX, "N", "make no token of what occurs less often; topdown: 10"),
		ARG_UINT("alphabet", 0, &o.alphabet, 1, UINT32_MAX, "N", "keep the N most frequent characters"),
		ARG_STR("initial-alphabet", 0, &o.initial, "FILE", "keep all characters of FILE, however rare"),
		ARG_UINT("unused", 0, &o.unused, 0, LEARN_SIZE_MAX, "N", "slots [unused0] ... after [PAD], for tokens added later"),
		ARG_SIZE("memory", 0, &o.memory, LEARN_MEMORY_LEAST, (uint64_t)1 << 50, "drop the rarest words rather than use more memory"),
		ARG_STR("report", 0, &o.report, "FILE", "write what was found, as JSON, to this file"),
		ARG_LIST("heldout", 0, &o.heldout, "FILE", "text that the report measures the vocabulary on; repeatable"),
		ARG_STR("beside", 0, &o.beside, "VOCAB", "a vocabulary that the report measures too"),
		ARG_FLAG("strict", 0, &o.strict, "ill-formed UTF-8 is an error, not replaced"),
		ARG_COMMON(&o.common),
		ARG_END
	};
	struct args a = { .synopsis = "bert-vocab [options] (--size N | --extend VOCAB --add N) [FILE...]",
			  .about = "Learns a WordPiece vocabulary from text.",
			  .table = table, .common = &o.common, .max_operands = -1 };
	struct learn l = { 0 };
	const int rc = args_parse(&a, argc, argv);

	if (rc != ARGS_RUN)
		return rc;
	tool_start();
	if (o.method == METHOD_TOPDOWN && !args_given("min-count"))
		o.min_count = TOPDOWN_MIN_COUNT;
	l.order = o.method == METHOD_LIKELIHOOD ? LEARN_BY_LIKELIHOOD : LEARN_BY_COUNT;
	l.size = o.size;
	l.min_count = o.min_count;
	l.alphabet = o.alphabet;
	l.unused = o.unused;
	l.add = o.add;
	if (check_options(&o) || choose_rules(&o) || learn_vocab(&o, &a, &l))
		return tool_fail();
	if (o.extend)
		return tool_finish("%" PRIu64 " tokens, %" PRIu64 " of them new, %" PRIu64 " in slots", l.tokens, l.added, l.slots);
	return tool_finish("%" PRIu64 " tokens from %" PRIu64 " characters and %" PRIu64 " longer pieces", l.tokens, l.letters,
			   l.tokens - LEARN_SPECIALS - l.unused - l.letters - l.inside);
}
