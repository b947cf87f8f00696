/* bert-extract - dumps, books and documents to text documents, a paragraph a line. */
#include "base/args.h"
#include "base/err.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/out.h"
#include "base/progress.h"
#include "base/tool.h"
#include "corpus/extract.h"
#include "corpus/wiki_formats.h"

#include <inttypes.h>
#include <stdbool.h>

struct options {
	struct args_common common;
	struct extract_opts extract;
	int from, to;
	const char *report, *part;
	struct arg_list templates;
};

/* The files of part PART of PARTS: every PARTS-th one. */
static int choose_files(const struct options *o, const char *const *all, size_t n_all, const char **files, size_t *n)
{
	uint64_t part = 0, parts = 1;

	if (o->part && args_read_part(o->part, &part, &parts))
		return -1;
	*n = 0;
	for (size_t i = 0; i < n_all; i++) {
		if (parts > 1 && !strcmp(all[i], "-"))
			return err_usage("--part needs files, not standard input");
		if (i % parts == part)
			files[(*n)++] = all[i];
	}
	if (!*n)
		log_warn("there are %zu files and %" PRIu64 " parts: part %" PRIu64 " has none", n_all, parts, part);
	return 0;
}

/* What the files' bytes on disk add up to; 0 when one of them is no regular file. */
static uint64_t total_size(const char *const *files, size_t n)
{
	uint64_t total = 0, bytes;

	for (size_t i = 0; i < n; i++) {
		if (!strcmp(files[i], "-") || fs_size(files[i], &bytes))
			return 0;
		total += bytes;
	}
	return total;
}

static void warn(const struct extract_report *r, size_t n_files)
{
	if (r->in.repaired)
		log_warn("ill-formed UTF-8 was replaced by U+FFFD in %" PRIu64 " place%s", r->in.repaired, r->in.repaired == 1 ? "" : "s");
	if (!r->documents && n_files)
		log_warn("no documents were found%s", r->in.pages ? " in any page" : "");
}

/* After a fault: a pipe gets all that came before it; the reason stays the fault's. */
static void keep_output(struct out *out)
{
	struct err reason;

	err_get(&reason);
	(void)out_flush(out);	/* the run has failed already */
	err_put(&reason);
}

static bool is_standard_output(const char *path)
{
	return !path || !strcmp(path, "-");
}

/* The report has its place before the work begins, which may take hours. */
static int open_outputs(const struct options *o, struct out **text, struct out **report)
{
	const char *output = o->common.output;

	if (o->report && (is_standard_output(o->report) ? is_standard_output(output) : output && !strcmp(o->report, output)))
		return err_usage("text and report would both go to '%s'", o->report);
	return out_open(text, output) || (o->report && out_open(report, o->report)) ? -1 : 0;
}

static int extract(struct options *o, const char *const *files, size_t n, struct extract_report *report)
{
	struct wiki_formats *formats = NULL;
	struct out *out = NULL, *report_out = NULL;
	struct progress progress;
	int rc = -1;

	if (wiki_formats_new(&formats, o->templates.items, o->templates.count) || open_outputs(o, &out, &report_out))
		goto end;
	o->extract.from = (enum record_kind)o->from;
	o->extract.jsonl = o->to == 1;
	o->extract.threads = (unsigned)o->common.threads;
	o->extract.wikitext.formats = formats;
	o->extract.wikitext.count = o->report != NULL;
	progress_start(&progress, "documents", total_size(files, n));
	rc = extract_run(&o->extract, files, n, out, &progress, report);
	progress_end(&progress);
	if (rc)
		keep_output(out);
	if (rc || (report_out && (rc = extract_report_write(report, report_out))) || (rc = out_commit(out)))
		goto end;
	out = NULL;
	if (report_out && (rc = out_commit(report_out)))
		goto end;
	report_out = NULL;
	warn(report, n);
end:
	out_discard(report_out);
	out_discard(out);
	wiki_formats_free(formats);
	return rc;
}

int main(int argc, char **argv)
{
	static struct options o;
	const struct arg table[] = {
		ARG_CHOICE("from", 0, &o.from, RECORD_KINDS, "what the files are; auto looks at their first bytes"),
		ARG_CHOICE("to", 0, &o.to, "text|jsonl", "a paragraph a line, or a document a line as JSON"),
		ARG_FLAG("title", 0, &o.extract.title, "put a document's title before it, as its first line"),
		ARG_FLAG("headings", 0, &o.extract.wikitext.headings, "keep headings, a line each"),
		ARG_FLAG("lists", 0, &o.extract.wikitext.lists, "keep items of lists, a line each"),
		ARG_FLAG("tables", 0, &o.extract.wikitext.tables, "keep rows of tables, a line each"),
		ARG_FLAG("chapters", 0, &o.extract.chapters, "make a document of each chapter of a book"),
		ARG_STR("lang", 0, &o.extract.lang, "CODE", "language of the dump's wiki (default: what the dump says)"),
		ARG_LIST("template", 0, &o.templates, "NAME=FORMAT", "what {{NAME|...}} stands for; repeatable"),
		ARG_STR("report", 0, &o.report, "FILE", "write counts and the templates that were dropped to FILE, as JSON"),
		ARG_STR("part", 0, &o.part, "I/N", "take every N-th file, from the I-th (from 0) on; or auto"),
		ARG_COMMON(&o.common),
		ARG_END
	};
	struct args a = { .synopsis = "bert-extract [options] [FILE...]",
			  .about = "Turns Wikipedia dumps, books and documents into text, a paragraph a line.",
			  .table = table, .common = &o.common, .max_operands = -1 };
	struct extract_report report = { .templates = MAP_INIT };
	const char *standard = "-", **files;
	size_t n;
	int rc = args_parse(&a, argc, argv);

	if (rc != ARGS_RUN)
		return rc;
	tool_start();
	if (!a.n_operands) {
		a.operands = &standard;
		a.n_operands = 1;
	}
	files = calloc((size_t)a.n_operands, sizeof(*files));
	if (!files) {
		err_memory();
		return tool_fail();
	}
	rc = choose_files(&o, a.operands, (size_t)a.n_operands, files, &n) || extract(&o, files, n, &report);
	free(files);
	extract_report_release(&report);	/* its counts stay */
	if (rc)
		return tool_fail();
	return tool_finish("%" PRIu64 " pages, %" PRIu64 " documents, %" PRIu64 " paragraphs", report.in.pages, report.documents, report.paragraphs);
}
