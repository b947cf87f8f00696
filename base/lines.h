/*
 * lines.h - lines and documents of text streams. The only place that knows
 * what a blank line, a CR, a byte-order mark or a bad byte means.
 *
 * Several files are read as if joined by cat, a missing last newline
 * supplied. Only \n ends a line; one \r before it is dropped. A byte-order
 * mark at the start of a line is dropped, whichever line it is: files that were
 * joined leave them inside, and a document must not depend on where it
 * stands. Ill-formed UTF-8 becomes U+FFFD and is counted, or is an error
 * naming the offset (strict). A line is blank
 * when it holds nothing but white space as Python's str.isspace has it; blank
 * lines end documents, a file's end does not (unless document_per_file).
 *
 *	struct lines *l;
 *	if (lines_open(&l, files, n_files, &(struct lines_opts){ .threads = 2 }))
 *		return -1;
 *	while ((rc = lines_next(l, &line)) > 0)
 *		...				(line.text is good until the next call)
 *	lines_close(l);				(accepts NULL)
 *	if (rc < 0)
 *		return -1;
 */
#ifndef BASE_LINES_H
#define BASE_LINES_H

#include "base/buf.h"
#include "base/key.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum lines_form {
	LINES_TEXT,			/* blank lines end documents */
	LINES_NO_JSON,			/* the same, but a file that begins as JSON lines do is refused (EXIT_USAGE, base/jsonl.h) */
	LINES_JSON			/* each line that is not blank is a document of its own: base/jsonl_documents.h makes it one */
};

struct lines_opts {
	enum lines_form form;
	bool strict;			/* ill-formed UTF-8 is an error (EXIT_CORRUPT) */
	bool document_per_file;		/* a file's end ends a document */
	bool keep_marks;		/* byte-order marks stay, for who counts places in a line; not with a stretch */
	unsigned threads;		/* for unpacking; 0 = 1 */
	uint64_t longest;		/* of lines_next_document: bytes beyond which a document, or line of JSON, is refused (EXIT_FAILED); 0: any */
	/*
	 * A stretch of the joined files, for parts (0, 0 = all; lines_divide sets
	 * it). Offsets count the files' bytes on disk; plain files only (EXIT_USAGE).
	 * The reader then gives the documents that begin in [begin, end), whole, and
	 * the blank lines after them; those before the first document belong to the
	 * stretch that begins at 0. So the stretches of any division give
	 * together what one reader gives. A document begins at a non-blank line that
	 * follows a blank one or nothing.
	 */
	uint64_t begin, end;
};

struct line {
	const char *text;		/* valid UTF-8, without its end; a 0 byte follows */
	size_t len;
	uint64_t offset;		/* of its first byte in its file (unpacked) */
	uint64_t number;		/* of LINES_JSON: in its file, from 1; 0: not known, since a stretch begins inside the file */
	unsigned file;			/* index into FILES */
	bool blank;
};

struct lines;

/* FILES must outlive the reader; n_files 0 means standard input, and "-" too, once (EXIT_USAGE). A file that cannot be opened fails when it is reached. */
int lines_open(struct lines **l, const char *const *files, size_t n_files, const struct lines_opts *opts);

/* The same over one stream that is open already (say, to sniff it); L owns IN from here on, even on failure. */
struct in;
int lines_open_stream(struct lines **l, struct in *in, const struct lines_opts *opts);

/*
 * Sets OPTS' stretch to part PART (from 0) of PARTS nearly equal ones of FILES; plain files only (EXIT_USAGE).
 * Never (0, 0) where that would mean all.
 */
int lines_divide(const char *const *files, size_t n_files, uint64_t part, uint64_t parts, struct lines_opts *opts);

int lines_next(struct lines *l, struct line *line);	/* 1 a line, 0 the end, -1 failed */

/* As many of the next lines as it takes to have BYTES of them, at least one, each ended by \n and blank ones empty: 1, 0 at the end, -1 failed. */
int lines_next_text(struct lines *l, size_t bytes, struct buf *text);

struct document {
	struct buf text;		/* its non-blank lines, each ended by \n */
	uint64_t *ends;			/* line i is text[ends[i-1] .. ends[i]-1), ends[-1] read as 0: ends[i] is past its \n */
	size_t n_lines, cap_lines;
	struct key key;
	uint64_t offset, number;	/* of its first line: first byte, and as struct line has it, in file FILE */
	unsigned file;
};
#define DOCUMENT_INIT { BUF_INIT, NULL, 0, 0, { 0, 0 }, 0, 0, 0 }

/*
 * The next document with at least one line: 1, 0 at the end, -1 failed. DOC's memory is reused. Of LINES_JSON it is the
 * line as it stands, and has no key.
 */
int lines_next_document(struct lines *l, struct document *doc);

/* What was refused for being longer than LONGEST, and how long it is; NULL: nothing. The reader is of no further use then. */
struct lines_refused {
	unsigned file;
	uint64_t offset, bytes;
};
const struct lines_refused *lines_refused(const struct lines *l);

/* DOC's text, valid UTF-8, becomes its lines, and its key is found: as if read from a file of that document alone. Blank lines are left out; all may be blank. */
int document_of_text(struct document *doc, bool keep_marks);
void document_release(struct document *doc);

/* Many at once, one after the other; keys are not computed. */
struct document_list {
	struct buf text;
	struct document_place {		/* document i is text[start .. start + len): its lines, each ended by \n */
		size_t start, len;
	} *items;
	size_t count, cap;
};
#define DOCUMENT_LIST_INIT { BUF_INIT, NULL, 0, 0 }

/*
 * As many of the next documents as it takes to have BYTES of them, at least one: 1, 0 at the end, -1 failed. What
 * LIST held is replaced. The same documents as from lines_next_document, faster. Not of LINES_JSON.
 */
int lines_next_documents(struct lines *l, size_t bytes, struct document_list *list);
void document_list_release(struct document_list *list);

const char *lines_name(const struct lines *l, unsigned file);	/* of a line's or document's file */
uint64_t lines_bad_bytes(const struct lines *l);	/* ill-formed parts replaced so far */

/*
 * One sentence about these for people, with the first one's place ("ill-formed UTF-8 was replaced by U+FFFD in
 * 3 places, first in 'bad.txt' at byte 17"), written to TEXT and returned. There must be at least one.
 */
#define LINES_REPORT_MAX 4352		/* room enough for any path */
const char *lines_bad_report(const struct lines *l, char *text, size_t size);
uint64_t lines_bytes(const struct lines *l);		/* bytes read so far (unpacked), all files */
uint64_t lines_progress(const struct lines *l, uint64_t *total);	/* bytes on disk read, and of all files or the stretch (0: unknown) */
void lines_close(struct lines *l);

#endif
