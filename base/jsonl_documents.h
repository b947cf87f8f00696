/*
 * jsonl_documents.h - documents out of JSON lines (base/jsonl.h), for who reads them by base/lines.h with LINES_JSON.
 *
 * A line of the file is a document. Its "text" is lines as in a file of text: \n ends them, one \r before it and a
 * byte-order mark are dropped, blank ones are left out. So a document's key is that of the same lines in a text
 * stream; "id" and "title" are beside it. One that has no line but blank ones is none.
 *
 * Reading lines is for one thread, making documents of them for many:
 *
 *	struct jsonl_batch b = JSONL_BATCH_INIT;
 *	while ((rc = jsonl_batch_read(&b, lines, 256 << 10)) > 0) {
 *		if (jsonl_batch_parse(&b, &how))		(any thread)
 *			...
 *		for (size_t i = 0; i < b.docs.count; i++)
 *			... b.docs.items[i], jsonl_batch_id(&b, i), jsonl_batch_title(&b, i)
 *	}
 *	jsonl_batch_release(&b);
 *
 * What a line lacks is EXIT_CORRUPT, with the file and the line, or its first byte where a stretch of a file is read
 * and lines cannot be counted.
 */
#ifndef BASE_JSONL_DOCUMENTS_H
#define BASE_JSONL_DOCUMENTS_H

#include "base/jsonl.h"
#include "base/lines.h"

/* What names a document. */
struct jsonl {
	struct buf id, title;
};
#define JSONL_INIT { BUF_INIT, BUF_INIT }

struct jsonl_how {
	bool keep_marks;		/* byte-order marks stay in the text */
	bool strict;			/* halves of surrogate pairs that stand alone are errors */
};

/*
 * D, a line of FILE as lines_next_document gave it, becomes the document in it, with its names in J and no memory beside
 * its own. n_lines 0: it has none. Adds to *REPAIRED as jsonl_take does.
 */
int jsonl_document(struct jsonl *j, struct document *d, const char *file, const struct jsonl_how *how, uint64_t *repaired);
void jsonl_release(struct jsonl *j);

/* One sentence about what was REPAIRED, at least once, for people (as lines_bad_report), written to TEXT and returned. */
const char *jsonl_repaired_report(uint64_t repaired, char *text, size_t size);

struct jsonl_batch {
	/* lines as they were read */
	struct document *lines;
	const char **files;		/* of each */
	size_t n, cap, cap_files;
	/* what they became; names are empty where others filled it */
	struct document_list docs;
	struct jsonl_names {
		size_t id, id_len, title, title_len;
	} *names;			/* in TEXT_OF_NAMES */
	size_t n_names, cap_names;
	struct buf text_of_names;
	uint64_t repaired;
	struct jsonl work;
};
#define JSONL_BATCH_INIT { .docs = DOCUMENT_LIST_INIT, .text_of_names = BUF_INIT, .work = JSONL_INIT }

/* As many of the next lines as it takes to have BYTES, at least one: 1, 0 at the end, -1 failed. */
int jsonl_batch_read(struct jsonl_batch *b, struct lines *l, size_t bytes);
/* The same of documents of either form: where they are no JSON lines, into DOCS at once, and there is nothing to parse. */
int jsonl_batch_read_any(struct jsonl_batch *b, struct lines *l, bool jsonl, size_t bytes);
int jsonl_batch_parse(struct jsonl_batch *b, const struct jsonl_how *how);
struct jsonl_text jsonl_batch_id(const struct jsonl_batch *b, size_t i);
struct jsonl_text jsonl_batch_title(const struct jsonl_batch *b, size_t i);
size_t jsonl_batch_memory(const struct jsonl_batch *b);		/* bytes that it keeps, about */
void jsonl_batch_release(struct jsonl_batch *b);

#endif
