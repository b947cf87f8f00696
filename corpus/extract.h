/*
 * extract.h - from dumps, books and documents to documents of plain text: all
 * of bert-extract but its command line.
 *
 * One thread reads (and unpacks, and parses XML), several turn batches of records into text,
 * results are written in the order of the input: the same bytes for any
 * number of threads. Memory is a few batches of 256 KiB, or as many of the longest records.
 */
#ifndef CORPUS_EXTRACT_H
#define CORPUS_EXTRACT_H

#include "base/map.h"
#include "base/out.h"
#include "base/progress.h"
#include "corpus/records.h"
#include "corpus/wikitext.h"

#include <stdbool.h>
#include <stdint.h>

struct extract_opts {
	enum record_kind from;
	const char *lang;		/* of dumps; NULL: as each says itself */
	bool jsonl;			/* JSON lines, not text */
	bool title;			/* a document's title is its first line (text) */
	bool chapters;			/* of a book, each is a document */
	struct wikitext_opts wikitext;	/* its headings are books' too */
	unsigned threads;
};

struct extract_report {
	struct record_counts in;
	uint64_t articles;		/* pages of dumps that were turned into text */
	uint64_t documents, empty;	/* put out, and left out because no text was in them */
	uint64_t paragraphs;
	/* the rest only when opts.wikitext.count asks for it */
	uint64_t characters_in;		/* of wikitext, books and documents */
	uint64_t characters_out;
	struct wikitext_counts dropped;
	struct map templates;		/* folded name to how often it was dropped */
	uint64_t templates_total, templates_other;	/* dropped in all; of these under names beyond those that the map has room for */
};

/*
 * Extracts FILES ("-" is standard input) to OUT, adding to *REPORT (zeroed before, MAP_INIT for
 * templates). PROGRESS may be NULL. -1 with the reason set; what came before a fault was written.
 */
int extract_run(const struct extract_opts *opts, const char *const *files, size_t n_files, struct out *out,
		struct progress *progress, struct extract_report *report);

/* Adds PART to REPORT, its list of dropped names to the map. */
int extract_report_add(struct extract_report *report, const struct extract_report *part);

/* Writes REPORT to OUT as a JSON object; OUT stays the caller's to commit. */
int extract_report_write(const struct extract_report *report, struct out *out);
void extract_report_release(struct extract_report *report);

#endif
