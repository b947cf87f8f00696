/*
 * lines_impl.h - a reader of lines, for lines.c and lines_many.c alone.
 */
#ifndef BASE_LINES_IMPL_H
#define BASE_LINES_IMPL_H

#include "base/clean_text.h"
#include "base/in.h"
#include "base/lines.h"
#include "base/utf8.h"

#define MARK "\xef\xbb\xbf"	/* byte-order mark */
#define MARK_LEN 3

struct lines {
	const char *const *files;
	size_t n_files;
	const char *single[1];	/* FILES of a reader over one stream */
	size_t file;		/* the one that is open, or is opened next */
	struct in *in;		/* NULL between files */
	enum lines_form form;
	bool strict, document_per_file, keep_marks;
	unsigned threads;
	uint64_t longest;
	struct lines_refused refused;	/* bytes 0: nothing was */

	/* The window: buffer[pos..end) is read and not given; there is room for a 0 byte after it. */
	char *buffer;
	size_t pos, end, cap;
	size_t scanned;		/* buffer[pos..scanned) has no newline */
	size_t checked;		/* buffer[pos..checked) is valid UTF-8, if that is not empty */
	bool in_ended;
	uint64_t offset;	/* of buffer[pos] in its file */
	uint64_t number;	/* lines taken of the file; they are counted for LINES_JSON only */
	bool unnumbered;	/* the file was not read from its begin */
	struct buf repaired;

	bool fresh;		/* a line that is not blank would begin a document */
	bool pushed;		/* LAST is to be given once more */
	struct line last;
	clean_text_scan *scan;	/* NULL: lines one by one */

	bool has_stretch, done;
	bool passing;		/* pos is inside a line that belongs to somebody else */
	bool skipping;		/* before the first document of the stretch */
	uint64_t begin, stop;	/* the stretch */
	uint64_t base;		/* place of the open file's first byte in the joined files */

	uint64_t bad, bytes;
	char *bad_name;		/* where the first one was; NULL when there was none */
	uint64_t bad_at;
	uint64_t disk_done, disk_total;
	bool disk_known;
};

static inline bool is_blank(const char *text, size_t len)
{
	if (len && (unsigned char)(text[0] - 0x21) < 0x5e)	/* '!' to '~' */
		return false;
	return utf8_is_blank(text, len);
}

#endif
