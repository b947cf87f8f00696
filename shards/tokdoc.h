/*
 * tokdoc.h - token documents (.tok): what bert-tokenize hands to bert-shard.
 *
 * A document is its key (base/key.h), an id and a title where its source
 * has them, the number of tokens of each sentence, and the ids of all. A file
 * is a frame (base/frame.h) of kind "TOKD"; shards/FORMAT.md specifies it.
 *
 * Writing: workers encode documents into blocks, one thread adds the blocks
 * in order. A block that is full depends on its documents only, so the bytes
 * of the file do not depend on threads.
 *
 *	struct tokdoc_block b = TOKDOC_BLOCK_INIT;
 *	tokdoc_block_add(&b, &doc, id_bytes)		(any thread; grows b.raw)
 *	if (tokdoc_block_full(&b))			(once it holds TOKDOC_BLOCK_BYTES)
 *		tokdoc_block_pack(&b, level)		(any thread; level 0: nothing to do)
 *
 *	struct tokdoc_writer *w;
 *	tokdoc_writer_open(&w, out, tokenizer, false)	(OUT stays the caller's to commit)
 *	tokdoc_writer_add(w, &b); tokdoc_block_clear(&b)
 *	tokdoc_writer_finish(w, NULL)			(frees W, also on failure; then out_commit)
 *
 * Reading in sequence:
 *
 *	struct tokdoc_reader *r;
 *	if (tokdoc_reader_open(&r, in))			(owns IN from here on, even on failure)
 *		...
 *	while ((rc = tokdoc_reader_next(r, &doc)) > 0)
 *		...					(doc's pointers are good until the next call)
 *	tokdoc_reader_close(r); tokdoc_release(&doc);
 *
 * Whatever is wrong with a file is EXIT_CORRUPT with its name in the reason.
 */
#ifndef SHARDS_TOKDOC_H
#define SHARDS_TOKDOC_H

#include "base/frame.h"
#include "base/key.h"
#include "tokenizer/vocab.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define TOKDOC_KIND "TOKD"
#define TOKDOC_VERSION 1
#define TOKDOC_BLOCK_BYTES (256 << 10)	/* a block is closed after the record that reaches this */
#define TOKDOC_NAME_MAX 65535		/* bytes of an id or a title */
#define TOKDOC_TOKENS_MAX UINT32_MAX	/* of a document, and of sentences */

/*
 * One document. lengths is memory of this struct, grown with
 * array_grow(&d.lengths, &d.cap_lengths, ...) by whoever fills it; everything
 * else is borrowed. A sentence may have no tokens: sentence i is line i.
 */
struct tokdoc {
	struct key key;
	uint64_t text_bytes;		/* of its sentences joined by \n: what the key hashes */
	const char *id, *title;		/* UTF-8, not 0-ended; NULL or length 0: none */
	size_t id_len, title_len;
	uint32_t *lengths;		/* tokens of sentence i */
	size_t n_sentences, cap_lengths;
	const void *ids;		/* n_tokens ids of id_bytes bytes each, host order, at any address */
	size_t n_tokens;
	unsigned id_bytes;		/* of ids in memory: 2, or 4 (uint32_t); a file's width is its own */
};
#define TOKDOC_INIT { 0 }
void tokdoc_release(struct tokdoc *d);

/* Copies ids FIRST .. FIRST+N-1 to OUT as uint32_t. */
void tokdoc_ids(const struct tokdoc *d, size_t first, size_t n, uint32_t *out);

/* Sums over documents, in no order. */
struct tokdoc_totals {
	uint64_t documents, sentences, tokens, text_bytes;
	struct key keys;		/* sum of the keys modulo 2^128: the corpus digest */
};
void tokdoc_totals_add(struct tokdoc_totals *t, const struct tokdoc_totals *more);
void tokdoc_totals_count(struct tokdoc_totals *t, const struct tokdoc *d);
json_t *tokdoc_totals_json(const struct tokdoc_totals *t);		/* NULL: out of memory */
json_t *tokdoc_totals_array(const struct tokdoc_totals *t, size_t n);	/* of N; NULL: out of memory */
int tokdoc_totals_parse(struct tokdoc_totals *t, const json_t *o);	/* EXIT_CORRUPT */
bool tokdoc_totals_equal(const struct tokdoc_totals *a, const struct tokdoc_totals *b);

/* --- one record ------------------------------------------------------------- */

/*
 * Adds D's record to B, ids narrowed or widened to ID_BYTES (2 or 4). Refused:
 * lengths that do not add up to n_tokens, ids too wide, an id or title longer
 * than TOKDOC_NAME_MAX.
 */
int tokdoc_encode(struct buf *b, const struct tokdoc *d, unsigned id_bytes);

/*
 * The record at *P, not beyond END; moves *P past it. D's id, title and ids
 * point into it. Refused: anything cut, counts that the record does not hold,
 * ids that are not below VOCAB_SIZE, an id or title that is not UTF-8.
 */
int tokdoc_decode(const unsigned char **p, const unsigned char *end, unsigned id_bytes, uint32_t vocab_size,
		  struct tokdoc *d);

/*
 * The bytes of the record at *P without its length: they begin with the key,
 * most significant byte first, so comparing them as bytes orders documents by
 * key, then by all else. Moves *P past it; does not look inside.
 */
int tokdoc_split(const unsigned char **p, const unsigned char *end, const unsigned char **body, size_t *len);
struct key tokdoc_body_key(const unsigned char *body);	/* of what tokdoc_split gave */
int tokdoc_decode_body(const unsigned char *body, size_t len, unsigned id_bytes, uint32_t vocab_size, struct tokdoc *d);

/* --- files -------------------------------------------------------------------- */

struct tokdoc_block {
	struct buf raw, packed;
	uint32_t records;
	struct tokdoc_totals totals;
};
#define TOKDOC_BLOCK_INIT { BUF_INIT, BUF_INIT, 0, { 0 } }
int tokdoc_block_add(struct tokdoc_block *b, const struct tokdoc *d, unsigned id_bytes);
/* Of tokdoc_split; counts no totals: tokdoc_writer_count */
int tokdoc_block_put(struct tokdoc_block *b, const unsigned char *body, size_t len);
bool tokdoc_block_full(const struct tokdoc_block *b);
int tokdoc_block_pack(struct tokdoc_block *b, int level);
void tokdoc_block_clear(struct tokdoc_block *b);
void tokdoc_block_release(struct tokdoc_block *b);

/*
 * TOKENIZER is what tokenizer_describe() gave (borrowed): it goes into the
 * header. SORTED promises that documents come ordered by tokdoc_split's bytes;
 * the file then also holds the first key of every block.
 */
struct tokdoc_writer;
int tokdoc_writer_open(struct tokdoc_writer **w, struct out *o, const json_t *tokenizer, bool sorted);
/*
 * Before any block: a sorted file is also to say where the keys of each of CELLS equal stretches of the ring are
 * (tokdoc_cells.h), and that it is OWNER's. The documents of a block are of one of them then.
 */
void tokdoc_writer_cells(struct tokdoc_writer *w, uint32_t cells, struct key owner);
int tokdoc_writer_add(struct tokdoc_writer *w, const struct tokdoc_block *b);	/* an empty block is nothing */
/* NOTES: further members of the trailer, or NULL; taken, also on failure */
int tokdoc_writer_finish(struct tokdoc_writer *w, json_t *notes);
/* Adds T to the totals, for blocks that did not count */
void tokdoc_writer_count(struct tokdoc_writer *w, const struct tokdoc_totals *t);
const struct tokdoc_totals *tokdoc_writer_totals(const struct tokdoc_writer *w);	/* so far */
void tokdoc_writer_abandon(struct tokdoc_writer *w);		/* accepts NULL */

/* What a file says of itself. */
struct tokdoc_header {
	json_t *tokenizer;		/* owned; compare with tokenizer_describe's by json_equal */
	uint32_t vocab_size;
	unsigned id_bytes;
	bool sorted;
};
int tokdoc_header_parse(struct tokdoc_header *h, const char *json, size_t len);
void tokdoc_header_release(struct tokdoc_header *h);

struct tokdoc_reader;
int tokdoc_reader_open(struct tokdoc_reader **r, struct in *in);
const struct tokdoc_header *tokdoc_reader_header(const struct tokdoc_reader *r);
int tokdoc_reader_next(struct tokdoc_reader *r, struct tokdoc *d);	/* 1, 0 the good end, -1 failed */
/* Of the record that tokdoc_reader_next gave */
void tokdoc_reader_body(const struct tokdoc_reader *r, const unsigned char **body, size_t *len);
/* Counted so far; held against the trailer's at the end */
const struct tokdoc_totals *tokdoc_reader_totals(const struct tokdoc_reader *r);
void tokdoc_reader_close(struct tokdoc_reader *r);			/* accepts NULL */

/* --- by block: regular files ----------------------------------------------------- */

struct tokdoc_file;
int tokdoc_file_open(struct tokdoc_file **f, const char *path);
const struct tokdoc_header *tokdoc_file_header(const struct tokdoc_file *f);
const struct tokdoc_totals *tokdoc_file_totals(const struct tokdoc_file *f);	/* as the trailer says */
const json_t *tokdoc_file_notes(const struct tokdoc_file *f);			/* the whole trailer */
const struct frame_trailer *tokdoc_file_trailer(const struct tokdoc_file *f);
const char *tokdoc_file_name(const struct tokdoc_file *f);
uint64_t tokdoc_file_blocks(const struct tokdoc_file *f);			/* of documents */
int tokdoc_file_read(const struct tokdoc_file *f, uint64_t block, struct frame_block *b);	/* thread-safe */
void tokdoc_file_close(struct tokdoc_file *f);					/* accepts NULL */

#endif
