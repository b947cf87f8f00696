/* bert-split - holds out documents, by their key and a seed. */
#include "base/args.h"
#include "base/err.h"
#include "base/lines.h"
#include "base/log.h"
#include "base/progress.h"
#include "base/tool.h"
#include "corpus/split.h"

#include <inttypes.h>

struct options {
	struct args_common common;
	struct arg_list splits;
	uint64_t seed;
	int from;
	bool strict, document_per_file;
};

/* Says what went where; returns the number of documents. */
static uint64_t report(const struct split *s)
{
	uint64_t documents = 0;

	for (size_t i = 0; i < split_count(s); i++) {
		documents += split_documents(s, i);
		log_info("%s: %" PRIu64 " documents, %" PRIu64 " bytes", split_name(s, i), split_documents(s, i),
			 split_bytes(s, i));
		if (!split_documents(s, i))
			log_warn("no document went to '%s'", split_name(s, i));
	}
	return documents;
}

static int split_files(const struct options *o, const struct args *a, uint64_t *documents)
{
	const enum lines_form form = o->from ? LINES_JSON : args_given("from") ? LINES_TEXT : LINES_NO_JSON;
	const struct lines_opts lo = { .form = form, .strict = o->strict, .document_per_file = o->document_per_file,
				       .threads = (unsigned)o->common.threads };
	struct split *split = NULL;
	struct lines *lines = NULL;
	struct progress progress;
	char bad[LINES_REPORT_MAX];
	uint64_t total;
	int rc = -1;

	if (split_open(&split, o->splits.items, o->splits.count, o->seed) ||
	    lines_open(&lines, a->operands, (size_t)a->n_operands, &lo))
		goto end;
	if (o->from)
		split_from_jsonl(split, o->strict);
	lines_progress(lines, &total);
	progress_start(&progress, "documents", total);
	rc = split_run(split, lines, o->common.output, &progress);
	progress_end(&progress);
	if (rc)
		goto end;
	*documents = report(split);
	if (lines_bad_bytes(lines))
		log_warn("%s", lines_bad_report(lines, bad, sizeof(bad)));
end:
	lines_close(lines);
	split_close(split);
	return rc;
}

int main(int argc, char **argv)
{
	static struct options o = { .seed = 12345 };
	const struct arg table[] = {
		ARG_LIST("split", 0, &o.splits, "NAME=FRACTION", "hold out this share of the documents as NAME.txt; repeatable"),
		ARG_UINT("seed", 0, &o.seed, 0, UINT64_MAX, "N", "which documents those are"),
		ARG_CHOICE("from", 0, &o.from, "text|jsonl", "what is read; jsonl: JSON lines, which stay as they are, in NAME.jsonl"),
		ARG_FLAG("strict", 0, &o.strict, "ill-formed UTF-8 is an error, not replaced"),
		ARG_FLAG("document-per-file", 0, &o.document_per_file, "the end of a file ends a document"),
		ARG_COMMON_FOLDER(&o.common),
		ARG_END
	};
	struct args a = { .synopsis = "bert-split [options] -o DIR --split NAME=FRACTION [FILE...]",
			  .about = "Holds out documents as DIR/NAME.txt; the rest goes to DIR/" SPLIT_REST ".txt.",
			  .table = table, .common = &o.common, .max_operands = -1 };
	uint64_t documents;
	const int rc = args_parse(&a, argc, argv);

	if (rc != ARGS_RUN)
		return rc;
	tool_start();
	if (!o.common.output)
		err_usage("no folder to write into; give one with -o");
	else if (!o.splits.count)
		err_usage("no split; give one with --split NAME=FRACTION");
	if (!o.common.output || !o.splits.count || split_files(&o, &a, &documents))
		return tool_fail();
	return tool_finish("%" PRIu64 " documents in %zu files", documents, o.splits.count + 1);
}
