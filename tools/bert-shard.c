/* bert-shard - text or token documents to shards of pretraining instances. */
#include "base/args.h"
#include "base/err.h"
#include "base/log.h"
#include "base/tool.h"
#include "shards/job.h"
#include "shards/keys.h"

#include <glob.h>
#include <inttypes.h>
#include <malloc.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#define SAID ((uint64_t)1000000000)	/* bytes of disk that are worth a line */

enum stage { ALL, INDEX, PLAN, WRITE };

static struct job_opts o = JOB_OPTS_DEFAULT;
static struct args_common common;
static struct arg_list input_files;
static int stage, from;
static const char *part_text, *random_next;
static bool dry_run, status;

static const struct arg table[] = {
	ARG_GROUP("Input"),
	ARG_STR("vocab", 0, &o.tokenizer.vocab, "FILE", "WordPiece vocabulary, one token a line"),
	ARG_ALIAS("vocab-file", "vocab"),
	ARG_FLAG("cased", 0, &o.tokenizer.cased, "do not lower-case"),
	ARG_ALIAS("do-lower-case", "!cased"),
	ARG_STR("model", 0, &o.tokenizer.model, "DIR", "a model directory, in place of --vocab and --cased"),
	ARG_CHOICE("from", 0, &from, "text|jsonl", "what files hold that are not token documents; jsonl: ids and titles are kept"),
	ARG_LIST("input-file", 0, &input_files, "LIST", "more input: names and patterns joined by commas"),
	ARG_FLAG("strict", 0, &o.strict, "ill-formed UTF-8 is an error, not replaced"),
	ARG_GROUP("Instances"),
	ARG_CHOICE("compat", 0, &o.rules, "none|google",
		   "whose: our own, or create_pretraining_data.py's in its order"),
	ARG_UINT("max-seq-length", 0, &o.max_seq_length, SHARD_MIN_SEQ_LENGTH, SHARD_MAX_SEQ_LENGTH, "N",
		 "tokens of an instance at most"),
	ARG_UINT("max-predictions-per-seq", 0, &o.max_predictions_per_seq, 1, SHARD_MAX_SEQ_LENGTH, "N",
		 "masked tokens of an instance at most; where it is not given, no more than there are tokens"),
	ARG_REAL("masked-lm-prob", 0, &o.masked_lm_prob, 0, 1, "P", "share of tokens to mask"),
	ARG_REAL("short-seq-prob", 0, &o.short_seq_prob, 0, 1, "P", "share of instances that are made shorter"),
	ARG_FLAG("document-lengths", 0, &o.document_lengths, "draw shorter lengths for documents, not for instances"),
	ARG_UINT("dupe-factor", 0, &o.dupe_factor, 1, SHARD_MAX_DUPE_FACTOR, "N",
		 "passes over the input, each with other masks"),
	ARG_FLAG("whole-word-mask", 0, &o.whole_word_mask, "mask whole words"),
	ARG_ALIAS("do-whole-word-mask", "whole-word-mask"),
	ARG_STR("masking-words", 0, &o.masking_words, "FILE",
		"words of single characters that are masked whole, one a line, as in Chinese; -: standard input"),
	ARG_FLAG("plain-cjk", 0, &o.plain_cjk,
		 "pieces of Chinese words tell whole words, and trainers get them without ##"),
	ARG_FLAG("words-across-sep", 0, &o.words_across_sep, "let whole words go on after [SEP], as create_pretraining_data.py does"),
	ARG_FLAG("word-draws", 0, &o.word_draws, "replace all of a masked word in one way"),
	ARG_CHOICE("mask-spans", 0, &o.mask_spans, "none|ngram|span",
		   "mask words one by one, 1 to 3 of them in a row, or 1 to 10"),
	ARG_REAL("mask-replace-prob", 0, &o.mask_replace_prob, 0, 1, "P", "share of masked positions that become [MASK]"),
	ARG_REAL("random-replace-prob", 0, &o.random_replace_prob, 0, 1, "P",
		 "share of masked positions that become a random token; the others stay"),
	ARG_FLAG("special-replacements", 0, &o.special_replacements,
		 "draw random tokens from the whole vocabulary, special ones and [unusedN] included"),
	ARG_CHOICE("masking", 0, &o.masking, "static|dynamic",
		   "store masks, or leave them to whoever reads (dupe factor 1)"),
	ARG_CHOICE("pairs", 0, &o.pairs, "nsp|sop|none",
		   "second segments: next sentences or random ones; in order or swapped; none, full sentences"),
	ARG_STR("random-next", 0, &random_next, "X",
		"share of random next sentences (default: half, and all after a sentence alone)"),
	ARG_FLAG("same-document-next", 0, &o.same_document_next,
		 "let random next sentences be of the same document"),
	ARG_FLAG("cross-documents", 0, &o.cross_documents, "with --pairs none: join the ends of documents"),
	ARG_UINT("seed", 0, &o.seed, 0, INT64_MAX, "N", "of all draws"),
	ARG_ALIAS("random-seed", "seed"),
	ARG_GROUP("Shards"),
	ARG_UINT("shards", 0, &o.shards, 0, KEYS_SHARDS_MAX, "N", "number of shards; 0: by --shard-size"),
	ARG_SIZE("shard-size", 0, &o.shard_size, 64 << 10, UINT64_C(1) << 40, "unpacked size of a shard, about"),
	ARG_STR("name", 0, &o.name, "WORD", "first word of the shards' names"),
	ARG_UINT("compress", 0, &o.compress, 0, 19, "LEVEL", "zstd level; 0: not packed"),
	ARG_GROUP("Work"),
	ARG_SIZE("memory", 0, &o.memory, 16 << 20, UINT64_C(1) << 50, "memory to use at most"),
	ARG_STR("tmp", 0, &o.tmp, "DIR", "for what does not fit in memory (default: $TMPDIR, else /tmp)"),
	ARG_CHOICE("stage", 0, &stage, "all|index|plan|write", "do one stage only"),
	ARG_STR("part", 0, &part_text, "I/N", "do part I of N, from 0, of a stage; auto: as the scheduler says"),
	ARG_FLAG("status", 0, &status, "say what is done and what is missing, and exit"),
	ARG_FLAG("dry-run", 0, &dry_run, "predict instances, bytes and time from a sample, and exit"),
	ARG_COMMON_FOLDER(&common),
	ARG_END
};

/* Adds what LIST's comma-separated patterns match, in order, to G. */
static int add_patterns(glob_t *g, const char *list)
{
	for (const char *at = list; *at;) {
		const size_t n = strcspn(at, ",");
		char *pattern = strndup(at, n);
		int rc;

		if (!pattern)
			return err_memory();
		rc = n ? glob(pattern, GLOB_APPEND | GLOB_NOMAGIC, NULL, g) : 0;
		if (rc)
			err_fail("no file matches '%s'", pattern);
		free(pattern);
		if (rc)
			return -1;
		at += n + (at[n] == ',');
	}
	return 0;
}

/* The files: those of --input-file, then the operands. They live until the program ends. */
static int list_files(const struct args *a)
{
	static glob_t g;
	const char **files;

	for (size_t i = 0; i < input_files.count; i++)
		if (add_patterns(&g, input_files.items[i]))
			return -1;
	files = calloc(g.gl_pathc + (size_t)a->n_operands + 1, sizeof(*files));
	if (!files)
		return err_memory();
	for (size_t i = 0; i < g.gl_pathc; i++)
		files[o.n_files++] = g.gl_pathv[i];
	for (int i = 0; i < a->n_operands; i++)
		files[o.n_files++] = a->operands[i];
	o.files = files;
	return 0;
}

/* Hours later is too late to find that there is no such folder. */
static int check_tmp(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return err_sys("--tmp '%s'", path);
	if (!S_ISDIR(st.st_mode))
		return err_fail("--tmp '%s' is no folder", path);
	return access(path, W_OK | X_OK) ? err_sys("--tmp '%s'", path) : 0;
}

static int read_random_next(void)
{
	char *end;

	if (!random_next)
		return 0;
	o.exact_next = true;
	o.random_next = strtod(random_next, &end);
	if (end == random_next || *end || !(o.random_next >= 0 && o.random_next <= 1))
		return err_usage("--random-next takes a number from 0 to 1, not '%s'", random_next);
	if (o.pairs != SHARD_NSP || o.rules == SHARD_GOOGLE)
		return err_usage("--random-next goes with --pairs nsp, and not with --compat google");
	return 0;
}

/* create_pretraining_data.py has its faults whether asked for or not, and one rule for what stands at a masked position. */
static int check_switches(void)
{
	const bool shares = o.mask_replace_prob != MASK_SHARE_MASK || o.random_replace_prob != MASK_SHARE_RANDOM;
	const bool words = o.whole_word_mask || o.mask_spans || o.masking_words;

	if (o.mask_replace_prob + o.random_replace_prob > 1)
		return err_usage("--mask-replace-prob %g and --random-replace-prob %g are more than 1 together", o.mask_replace_prob,
				 o.random_replace_prob);
	if (o.rules == SHARD_GOOGLE && shares)
		return err_usage("--compat google goes with neither --mask-replace-prob nor --random-replace-prob");
	if (o.rules == SHARD_GOOGLE && (o.words_across_sep || o.same_document_next || o.special_replacements))
		return err_usage("--compat google has --words-across-sep, --same-document-next and --special-replacements by itself");
	if (o.words_across_sep && !words)
		return err_usage("--words-across-sep goes with --whole-word-mask, --masking-words or --mask-spans");
	if (o.same_document_next && o.pairs != SHARD_NSP)
		return err_usage("--same-document-next goes with --pairs nsp");
	return 0;
}

/* Standard input cannot be both the list of words and the corpus. */
static int check_standard_input(void)
{
	bool corpus = !o.n_files;

	if (!o.masking_words || strcmp(o.masking_words, MASK_WORDS_STANDARD_INPUT))
		return 0;
	for (size_t i = 0; i < o.n_files; i++)
		corpus = corpus || !strcmp(o.files[i], "-");
	return corpus ? err_usage("--masking-words - goes with files by name: standard input is the list") : 0;
}

/* What the table cannot say. */
static int check_options(uint64_t *part, uint64_t *parts)
{
	*part = 0;
	*parts = 1;
	if (!o.tokenizer.vocab == !o.tokenizer.model)
		return err_usage("give --vocab FILE or --model DIR");
	if (!o.folder && !dry_run)
		return err_usage("give the folder to write into: -o DIR");
	if (o.folder && !strcmp(o.folder, "-"))
		return err_usage("shards are files: -o - is no folder to write them into");
	if (o.tmp && check_tmp(o.tmp))
		return -1;
	if (o.masking == SHARD_DYNAMIC && args_given("dupe-factor") && o.dupe_factor != 1)
		return err_usage("--masking dynamic goes with --dupe-factor 1: every epoch has other masks");
	if (read_random_next() || check_switches() || check_standard_input())
		return -1;
	if (o.cross_documents && o.pairs != SHARD_NONE)
		return err_usage("--cross-documents goes with --pairs none");
	if (o.rules == SHARD_GOOGLE && o.pairs != SHARD_NSP)
		return err_usage("--compat google goes with --pairs nsp");
	if (o.rules == SHARD_GOOGLE && o.masking != SHARD_STATIC)
		return err_usage("--compat google goes with --masking static");
	if (o.rules == SHARD_GOOGLE && (o.mask_spans || o.word_draws || o.document_lengths))
		return err_usage("--compat google goes with neither --mask-spans, --word-draws nor --document-lengths");
	if (o.rules == SHARD_GOOGLE && o.masking_words)
		return err_usage("--compat google does not go with --masking-words");
	if (o.plain_cjk && o.masking_words)
		return err_usage("--plain-cjk has the words of a segmenter, --masking-words those of a list: give one of them");
	if (o.word_draws && !o.whole_word_mask && !o.mask_spans && !o.masking_words)
		return err_usage("--word-draws goes with --whole-word-mask, --masking-words or --mask-spans");
	if (o.rules == SHARD_GOOGLE && (part_text || stage != ALL))
		return err_usage("--compat google has no stages and no parts: each draw depends on those before it");
	if (part_text && (stage == ALL || stage == PLAN))
		return err_usage("--part goes with --stage index or --stage write");
	if (part_text && args_read_part(part_text, part, parts))
		return -1;
	if (!args_given("max-predictions-per-seq") && o.rules != SHARD_GOOGLE && o.max_predictions_per_seq > o.max_seq_length)
		o.max_predictions_per_seq = o.max_seq_length;
	o.form = from ? LINES_JSON : args_given("from") ? LINES_TEXT : LINES_NO_JSON;
	o.staged = stage != ALL;
	if (o.staged && !o.n_files)
		return err_usage("--stage needs files: standard input can be read once only");
	return 0;
}

static void warn_of_vocabulary(const struct vocab *v)
{
	struct buf faults = BUF_INIT;

	if (!vocab_describe_faults(v, &faults) && faults.len)
		log_warn("the vocabulary of '%s' has %s", o.tokenizer.vocab ? o.tokenizer.vocab : o.tokenizer.model,
			 faults.data);
	buf_release(&faults);
}

/* The cap on predictions that does not fit length and rate is the commonest slip. */
static void warn_of_predictions(const struct shard_recipe *r)
{
	const double most = rint(r->max_seq_length * r->masked_lm_prob);

	if (most > r->max_predictions_per_seq)
		log_warn("--max-predictions-per-seq %" PRIu32
			 " cannot hold --masked-lm-prob %g of --max-seq-length %" PRIu32 ": %.0f",
			 r->max_predictions_per_seq, r->masked_lm_prob, r->max_seq_length, most);
	else if (dry_run && most < r->max_predictions_per_seq)
		log_warn("--max-predictions-per-seq %" PRIu32 " is never reached: %.0f is the most",
			 r->max_predictions_per_seq, most);
}

/* Most of a list of words that is of no use is one for another vocabulary, or one of words that ## keeps together. */
static void warn_of_words(const struct job *j)
{
	const uint64_t used = job_recipe(j)->words.count, passed = job_passed_words(j);

	if (passed > used)
		log_warn("%" PRIu64 " lines of '%s' are of no use: they are not two or more tokens of a character each; %" PRIu64
			 " words are", passed, o.masking_words, used);
}

/* The segmenter's cuts end where characters become tokens. */
static void warn_of_segmenter(const struct shard_recipe *r)
{
	const char *segmenter = json_string_value(json_object_get(r->tokenizer, "segmenter"));

	if (segmenter && json_is_true(json_object_get(r->tokenizer, "cjk")) && r->whole_word_mask && !r->words.count)
		log_warn("Chinese characters are masked one by one, not the words that '%s' cut: list these with --masking-words, or see --plain-cjk",
			 segmenter);
}

static void warn_of_result(const struct job_report *r)
{
	if (r->bad_bytes)
		log_warn("%" PRIu64 " ill-formed parts of text were replaced by U+FFFD", r->bad_bytes);
	if (r->totals.dropped && (o.pairs == SHARD_SOP || o.exact_next))
		log_warn("%" PRIu64 " documents of one sentence made no instance in a pass: nothing follows in them",
			 r->totals.dropped);
	else if (r->totals.dropped)
		log_warn("%" PRIu64 " chunks of one sentence made no instance: a shard has one document only, or equal "
				    "ones, so there is no other to draw",
			 r->totals.dropped);
	if (r->totals.empty_documents)
		log_warn("%" PRIu64 " documents have no tokens and made no instance", r->totals.empty_documents);
	if (r->made && r->complete && !r->instances)
		log_warn("there are no instances");
}

static int print_status(const struct args *a)
{
	struct buf b = BUF_INIT;
	const char *folder = o.folder ? o.folder : a->n_operands ? a->operands[0] : NULL;
	int rc = folder ? job_status(folder, &b) : err_usage("give the folder: --status -o DIR");

	if (!rc)
		rc = tool_print(b.data, b.len);
	buf_release(&b);
	return rc;
}

static void warn(const char *text)
{
	log_warn("%s", text);
}

/* What was read, and of it what instances were made of where that is less. */
static int print_read(struct buf *b, const struct job_estimate *e)
{
	if (buf_addf(b, "read         %.3g%% of the input", 100 * e->share))
		return -1;
	if (e->made < 0.99 * e->share && buf_addf(b, ", and made instances of %.3g%%", 100 * e->made))
		return -1;
	return buf_adds(b, "\n");
}

static int print_estimate(struct job *j)
{
	struct job_estimate e;
	struct buf b = BUF_INIT;
	int rc;

	if (job_estimate(j, &e))
		return -1;
	if (e.memory_needed)
		log_warn("--compat google would be refused: it holds all in memory, and needs about %" PRIu64
			 " MiB; its instances are an estimate", (e.memory_needed >> 20) + 1);
	if (e.table_bytes > e.file_bytes / 3)
		log_warn("%.0f%% of these bytes are tables of documents%s", 100 * (double)e.table_bytes / (double)e.file_bytes,
			 o.rules == SHARD_GOOGLE && e.shards > 1 ? ": every shard names all of them, so fewer --shards take less"
								 : "");
	rc = print_read(&b, &e);
	if (!rc)
		rc = buf_addf(&b,
			      "documents    %" PRIu64 "\nsentences    %" PRIu64 "\ntokens       %" PRIu64 "\n"
			      "instances    %" PRIu64 "\npredictions  %" PRIu64 "\nshards       %" PRIu64 "\n"
			      "unpacked     %" PRIu64 " bytes\non disk      %" PRIu64 " bytes\nwork files   %" PRIu64
			      " bytes\nin --tmp     %" PRIu64 " bytes\ntime         %.1f s\n",
			      e.corpus.documents, e.corpus.sentences, e.corpus.tokens, e.totals.instances,
			      e.totals.predictions, e.shards, e.raw_bytes, e.file_bytes, e.work_bytes, e.spilled_bytes,
			      e.seconds);
	if (!rc)
		rc = tool_print(b.data, b.len);
	buf_release(&b);
	return rc;
}

/* Shards are made one after the other, and of much the same size: what one has freed is for the next, not for the system. */
static void keep_memory(void)
{
#ifdef M_TRIM_THRESHOLD
	const uint64_t most = 128 << 20, share = o.memory / 8 < most ? o.memory / 8 : most;

	mallopt(M_TRIM_THRESHOLD, (int)share);
	mallopt(M_MMAP_THRESHOLD, (int)(share / 4));
#endif
}

static double mb(uint64_t bytes)
{
	return (double)bytes / 1e6;
}

/* What is found out too late on a full disk. A gigabyte and more is said without --verbose, too. */
static void announce(const struct job *j, uint64_t parts)
{
	struct job_disk d;
	char text[200];

	job_disk(j, stage == ALL || stage == INDEX, stage == ALL || stage == WRITE, stage == INDEX ? parts : 1, &d);
	if (!d.known) {
		log_info("disk: a stream's size is not known");
		return;
	}
	snprintf(text, sizeof(text), "disk, by the size of the input: about %.1f MB of work files, and %.1f MB of shards "
		 "before they are packed", mb(d.work), mb(d.shards));
	if (!dry_run && (stage == ALL || stage == INDEX)) {
		if (d.work + d.shards >= SAID)
			log_warn("%s", text);
		else
			log_info("%s", text);
	}
	if (d.seen && d.needed > d.room)
		log_warn("'%s' has room for %.1f MB, and about %.1f MB are needed", o.folder, mb(d.room), mb(d.needed));
	if (d.tmp_seen && d.tmp_needed > d.tmp_room)
		log_warn("'%s' has room for %.1f MB, and sorting needs about %.1f MB there: see --tmp", d.tmp,
			 mb(d.tmp_room), mb(d.tmp_needed));
	if (d.memory_needed && !dry_run)
		log_warn("by the size of the input, --compat google needs about %" PRIu64 " MiB, and --memory is less",
			 (d.memory_needed >> 20) + 1);
}

static int work(struct job *j, uint64_t part, uint64_t parts)
{
	warn_of_vocabulary(job_vocab(j));
	warn_of_predictions(job_recipe(j));
	warn_of_words(j);
	warn_of_segmenter(job_recipe(j));
	if (dry_run) {
		announce(j, 1);
		return print_estimate(j);
	}
	if (job_start(j))
		return -1;
	if (job_report(j)->complete)
		return 0;
	if (stage != PLAN)
		announce(j, parts);
	if (stage == ALL)
		return job_all(j);
	return stage == INDEX ? job_index(j, part, parts) : stage == PLAN ? job_plan(j) : job_write(j, part, parts);
}

int main(int argc, char **argv)
{
	struct args a = {
		.synopsis = "bert-shard (--vocab FILE [--cased] | --model DIR) -o DIR [options] [FILE...]",
		.about = "text or token documents to shards of pretraining instances",
		.table = table, .common = &common, .max_operands = -1,
	};
	static struct progress progress;
	const struct job_report *r;
	struct job *j = NULL;
	uint64_t part, parts;
	int rc = args_parse(&a, argc, argv);

	if (rc != ARGS_RUN)
		return rc;
	tool_start();
	keep_memory();
	o.folder = common.output;
	o.threads = common.threads;
	o.progress = &progress;
	o.warn = warn;
	o.made_by = "berttools " BERTTOOLS_VERSION;
	if (status)
		return print_status(&a) ? tool_fail() : tool_finish("status");
	if (list_files(&a) || check_options(&part, &parts) || job_open(&j, &o) || work(j, part, parts)) {
		if (j)
			job_explain_full(j);
		job_close(j);
		return tool_fail();
	}
	r = job_report(j);
	warn_of_result(r);
	rc = tool_finish("%" PRIu64 " documents indexed, %" PRIu64 " instances, %" PRIu64 " shards made, %" PRIu64
			 " there already%s",
			 r->indexed, r->totals.instances, r->made, r->kept, r->complete ? ", complete" : "");
	job_close(j);
	return rc;
}
