/*
 * docstream.h - the documents of one shard one after the other, in the order
 * of the shard's table, out of sorted files of token documents: for who cannot
 * hold them all.
 *
 *	struct docstream *s;
 *	if (docstream_open(&s, files, n, like))	(of the shard, and with the ids, that the docset LIKE is for)
 *		...
 *	while ((rc = docstream_next(s, &doc)) > 0)
 *		...			(doc's pointers are good until the next call)
 *	docstream_close(s);		(accepts NULL)
 *
 * Memory: a block of each file.
 */
#ifndef SHARDS_DOCSTREAM_H
#define SHARDS_DOCSTREAM_H

#include "shards/docset.h"
#include "shards/tokdoc_cells.h"

struct docstream;

/* FILES must outlive S. */
int docstream_open(struct docstream **s, struct tokdoc_cells *const *files, uint32_t n, const struct docset *like);
void docstream_close(struct docstream *s);

/* The next document, all of it but place: 1, 0 at the end, -1 failed. */
int docstream_next(struct docstream *s, struct docset_document *doc);

/* Bytes that a stream over N files takes, longest documents beside. */
uint64_t docstream_memory(uint32_t n);

#endif
