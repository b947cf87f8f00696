/*
 * trace.h - from an instance to the documents it was made of, and to where these stand in text files.
 *
 *	struct trace t = { .path = "shards", .number = 17, .files = files, .n_files = n, .threads = 2 };
 *	trace_run(&t)
 *	for (uint32_t s = 0; s < t.n_segments; s++)
 *		... t.segments[s] ...
 *	trace_release(&t);
 *
 * Documents are found by their keys, so any files will do that hold the text:
 * text in the form that bert-shard reads (FILES, which may be packed), JSON lines or token
 * documents. All places are given, since documents may be equal.
 */
#ifndef SHARDS_TRACE_H
#define SHARDS_TRACE_H

#include "base/key.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_place {
	const char *file;		/* of those given */
	bool tokens;			/* token documents: FIRST is the document's number */
	uint64_t first, end;		/* bytes of the document in the file (unpacked); of its line of JSON */
	/* of the lines that hold the segment; END 0: not known, for want of the vocabulary, or in JSON */
	uint64_t segment_first, segment_end;
	const char *segment_file;	/* a document may go on in the next file */
};

struct trace_segment {
	struct key key;
	uint32_t occurrence;
	char *id, *title;		/* NULL: none; they may hold a NUL */
	size_t id_len, title_len;
	uint64_t first, length, tokens;	/* of the document's tokens */
	uint64_t sentences;
	struct trace_place *places;
	size_t n_places, cap_places;
};

enum trace_from { TRACE_AUTO, TRACE_TEXT, TRACE_JSONL };	/* AUTO: as their first bytes say */

struct trace {
	const char *path;		/* a shard, or a folder: then NUMBER counts through all */
	uint64_t number;
	const char *const *files;
	size_t n_files;
	int from;			/* enum trace_from: what files hold that are not token documents */
	const char *vocab_path;		/* NULL: vocab.txt beside the shard */
	unsigned threads;
	/* filled */
	struct trace_segment *segments;
	uint32_t n_segments;
};
int trace_run(struct trace *t);
void trace_release(struct trace *t);

#endif
