/* bert-sentences - text documents with a paragraph a line to one sentence a line. */
#include "base/args.h"
#include "base/err.h"
#include "base/jsonl_documents.h"
#include "base/lines.h"
#include "base/log.h"
#include "base/out.h"
#include "base/progress.h"
#include "base/tool.h"
#include "corpus/sentence_stream.h"

#include <inttypes.h>

struct options {
	struct args_common common;
	const char *lang;
	int from, to;
	bool strict, document_per_file;
};

static int cut_files(const struct options *o, const struct args *a, struct sentence_stream *s)
{
	const enum lines_form form = o->from ? LINES_JSON : args_given("from") ? LINES_TEXT : LINES_NO_JSON;
	const struct lines_opts lo = { .form = form, .strict = o->strict, .document_per_file = o->document_per_file,
				       .threads = (unsigned)o->common.threads };
	struct sentences *rules = NULL;
	struct lines *lines = NULL;
	struct out *out = NULL;
	struct progress progress;
	char bad[LINES_REPORT_MAX];
	uint64_t total;
	int rc = -1;

	if (sentences_open(&rules, o->lang) || lines_open(&lines, a->operands, (size_t)a->n_operands, &lo) ||
	    out_open(&out, o->common.output))
		goto end;
	lines_progress(lines, &total);
	progress_start(&progress, "paragraphs", total);
	*s = (struct sentence_stream){ .rules = rules, .lines = lines, .out = out, .progress = &progress,
				       .threads = lo.threads, .document_per_file = lo.document_per_file,
				       .from_jsonl = o->from, .to_jsonl = o->to, .strict = o->strict };
	rc = sentence_stream_run(s);
	progress_end(&progress);
	if (rc)
		goto end;
	rc = out_commit(out);
	if (rc)
		goto end;
	out = NULL;
	if (lines_bad_bytes(lines))
		log_warn("%s", lines_bad_report(lines, bad, sizeof(bad)));
	if (s->repaired)
		log_warn("%s", jsonl_repaired_report(s->repaired, bad, sizeof(bad)));
end:
	out_discard(out);
	lines_close(lines);
	sentences_close(rules);
	return rc;
}

int main(int argc, char **argv)
{
	static struct options o = { .lang = "en" };
	const struct arg table[] = {
		ARG_STR("lang", 0, &o.lang, "CODE", "language of the text: its abbreviations; und for any other"),
		ARG_CHOICE("from", 0, &o.from, "text|jsonl", "what is read; jsonl: JSON lines, a document each"),
		ARG_CHOICE("to", 0, &o.to, "text|jsonl", "what is written; jsonl: with the documents' ids and titles"),
		ARG_FLAG("strict", 0, &o.strict, "ill-formed UTF-8 is an error, not replaced"),
		ARG_FLAG("document-per-file", 0, &o.document_per_file, "the end of a file ends a document"),
		ARG_COMMON(&o.common),
		ARG_END
	};
	struct args a = { .synopsis = "bert-sentences [options] [FILE...]",
			  .about = "Cuts text with a paragraph a line into one sentence a line.",
			  .table = table, .common = &o.common, .max_operands = -1 };
	struct sentence_stream s = { 0 };
	const int rc = args_parse(&a, argc, argv);

	if (rc != ARGS_RUN)
		return rc;
	tool_start();
	if (cut_files(&o, &a, &s))
		return tool_fail();
	return tool_finish("%" PRIu64 " paragraphs in, %" PRIu64 " sentences out", s.paragraphs, s.sentences);
}
