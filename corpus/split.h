/*
 * split.h - documents to hold out, by their key and a seed.
 *
 *	struct split *s;
 *	if (split_open(&s, specs, n_specs, seed))	("dev=0.05", ...; EXIT_USAGE when one is wrong)
 *		return -1;
 *	split_from_jsonl(s, strict)			(where LINES are LINES_JSON)
 *	if (split_run(s, lines, folder, progress))	(FOLDER/dev.txt, ..., FOLDER/train.txt)
 *		...
 *	for (size_t i = 0; i < split_count(s); i++)
 *		... split_name(s, i), split_documents(s, i)
 *	split_close(s);
 *
 * Each document draws a number of [0, 1) that only its key and the seed decide,
 * and goes to the split whose interval holds it. The intervals stand one after
 * the other from 0 on, in the order given; what is left belongs to the last
 * split, train. So equal documents stay together, where a document stands
 * does not matter, and another split given after those there are takes
 * documents from train only. The draw is
 *
 *	(rng_u64 >> 11) * 2^-53		of the stream (seed, RNG_SPLIT, key, 0, 0, 0) of base/rng.h
 */
#ifndef CORPUS_SPLIT_H
#define CORPUS_SPLIT_H

#include "base/key.h"
#include "base/lines.h"
#include "base/progress.h"

#include <stddef.h>
#include <stdint.h>

#define SPLIT_REST "train"

struct split;

/*
 * SPECS are NAME=FRACTION each: names of files (no '/', no dot first, not
 * SPLIT_REST, no two alike), fractions between 0 and 1 with a sum below 1.
 */
int split_open(struct split **s, const char *const *specs, size_t n, uint64_t seed);
void split_close(struct split *s);				/* accepts NULL */

void split_from_jsonl(struct split *s, bool strict);		/* STRICT as in base/jsonl_documents.h */

size_t split_count(const struct split *s);			/* with the rest, which is the last one */
const char *split_name(const struct split *s, size_t i);
size_t split_of(const struct split *s, struct key key);		/* which one a document belongs to */

/*
 * Writes every document of LINES, a blank line after each, to FOLDER/NAME.txt of
 * its split; FOLDER is made. Holds one document at a time. When all files are
 * whole and on disk, an old one of SPLIT_REST is removed, and they get their names,
 * SPLIT_REST's last: whatever stops it, a new file never stands beside an old
 * SPLIT_REST that holds its documents. PROGRESS may be NULL.
 *
 * FOLDER/split.json, written after them, says what they were made of: "documents"
 * (their number), "keys" (the sum of their keys modulo 2^128, 32 hexadecimal
 * digits), "seed" (decimal digits in a string), "splits" (fraction and name, in the
 * order given). A folder of another seed, other splits or other documents is refused
 * (EXIT_FAILED) and stays as it is; so is one without split.json that holds another
 * text file (*.txt) than those to be written.
 *
 * Of LINES_JSON every line that holds a document goes as it stands to FOLDER/NAME.jsonl, and the document in it (base/jsonl_documents.h)
 * decides to which; a line without one is left out. split.json then has "from", "jsonl", and other JSON lines (*.jsonl) are refused.
 */
int split_run(struct split *s, struct lines *lines, const char *folder, struct progress *progress);

/* What the last split_run wrote. */
uint64_t split_documents(const struct split *s, size_t i);
uint64_t split_bytes(const struct split *s, size_t i);

#endif
