/* bert-stat - what is in shards, token documents and text, with warnings. */
#include "base/args.h"
#include "base/err.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/report.h"
#include "base/tool.h"
#include "shards/folder.h"
#include "shards/stats.h"

#include <inttypes.h>
#include <stdlib.h>

struct options {
	struct args_common common;
	struct tokenizer_opts tokenizer;
	uint64_t unknown_words, memory;
	int from;
	bool strict;
};

static int count_all(struct stats *s, const char *const *paths, int n)
{
	struct scan_progress progress = { .records = 0 };
	int rc;

	progress_start(&progress.line, "records", folder_bytes(paths, n));
	s->progress = &progress;
	rc = stats_add(s, paths, (size_t)n);
	s->progress = NULL;
	progress_end(&progress.line);
	return rc;
}

static int check_options(const struct options *o)
{
	static const char *const of_text[] = { "cased", "from", "strict", "unknown-words" };

	if (o->tokenizer.vocab && o->tokenizer.model)
		return err_usage("--vocab and --model: one of them is enough");
	if (o->tokenizer.model && o->tokenizer.cased)
		return err_usage("a model directory says itself whether it is cased");
	if (o->tokenizer.vocab || o->tokenizer.model)
		return 0;
	for (size_t k = 0; k < sizeof(of_text) / sizeof(of_text[0]); k++)
		if (args_given(of_text[k]))
			return err_usage("--%s is about text: it goes with --vocab or --model", of_text[k]);
	return 0;
}

static int work(const struct options *o, struct stats *s, const char *const *paths, int n)
{
	char *vocab = o->tokenizer.model ? fs_join(o->tokenizer.model, FOLDER_VOCAB) : NULL;
	json_t *result = NULL;
	int rc = -1;

	s->vocab_path = o->tokenizer.model ? vocab : o->tokenizer.vocab;
	if ((vocab || !o->tokenizer.model) && !count_all(s, paths, n))
		result = stats_json(s);
	free(vocab);
	if (result)
		rc = report_write(result, o->common.output, 6);
	if (!rc)
		report_warn(result);
	json_decref(result);
	return rc;
}

int main(int argc, char **argv)
{
	static struct options o = { .tokenizer = TOKENIZER_OPTS_DEFAULT, .unknown_words = 20, .memory = STATS_MEMORY };
	const struct arg table[] = {
		ARG_STR("vocab", 0, &o.tokenizer.vocab, "FILE", "the vocabulary: of text, and of shards and token documents (default: vocab.txt beside each file)"),
		ARG_FLAG("cased", 0, &o.tokenizer.cased, "text: keep case and accents (default: lower-case, and strip accents)"),
		ARG_STR("model", 0, &o.tokenizer.model, "DIR", "model directory: its vocab.txt and tokenizer_config.json, instead"),
		ARG_CHOICE("from", 0, &o.from, "text|jsonl", "what text is; jsonl: JSON lines"),
		ARG_FLAG("strict", 0, &o.strict, "ill-formed UTF-8 in text is an error, not replaced"),
		ARG_UINT("unknown-words", 0, &o.unknown_words, 0, 1000000, "N", "of text: list the N words that are [UNK] most often"),
		ARG_SIZE("memory", 0, &o.memory, STATS_MEMORY_LEAST, (uint64_t)1 << 50, "for keys of documents and unknown words; beyond it they go to files in $TMPDIR"),
		ARG_COMMON(&o.common),
		ARG_END
	};
	struct args a = { .synopsis = "bert-stat [(--vocab FILE [--cased] | --model DIR)] [options] [PATH...]",
			  .about = "Counts what is in shards, token documents and text, and warns of what looks wrong.",
			  .table = table, .common = &o.common, .max_operands = -1 };
	const char *const standard_input = "-";
	struct stats s = { .threads = 1 };
	int rc = args_parse(&a, argc, argv);

	if (rc != ARGS_RUN)
		return rc;
	tool_start();
	s.threads = (unsigned)o.common.threads;
	s.memory = o.memory;
	s.unknown_most = (size_t)o.unknown_words;
	s.text = o.tokenizer.vocab || o.tokenizer.model ? &o.tokenizer : NULL;
	s.form = o.from ? LINES_JSON : args_given("from") ? LINES_TEXT : LINES_NO_JSON;
	s.strict = o.strict;
	rc = check_options(&o);
	if (!rc)
		rc = a.n_operands ? work(&o, &s, a.operands, a.n_operands) : work(&o, &s, &standard_input, 1);
	stats_release(&s);
	if (rc)
		return tool_fail();
	return tool_finish("%" PRIu64 " files, %" PRIu64 " documents, %" PRIu64 " instances", s.sum.counts.files,
			   s.sum.counts.documents, s.sum.counts.instances);
}
