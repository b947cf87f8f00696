/*
 * reader.h - instances by number, over any number of shards: what trainers read.
 *
 *	struct reader *r;
 *	if (reader_open(&r, paths, n, &(struct reader_opts){ .max_seq_length = 512, .vocab_size = 30522 }))
 *		...					(one line says what does not fit)
 *	struct reader_cursor *c = reader_cursor_new(r);	(one a thread)
 *	for (...)
 *		const struct instance *i = reader_get(c, epoch, index);	(NULL: failed)
 *	reader_cursor_free(c);
 *	reader_close(r);
 *
 * An instance is a function of the shards, EPOCH and INDEX, whatever was read
 * before and by whom: masks of dynamic shards are drawn for the epoch, those
 * of static ones stand. Instances are numbered through all shards in the order
 * given, a folder's in theirs.
 *
 * Shards that were read stay open for later reads, of all cursors: 96 of them, or as many as hold 256 MiB, the one whose last
 * use is longest ago being closed first (shards/shelf.h). An open shard holds 56 bytes for each of its
 * blocks and, where masks are drawn, 24 for each document; a cursor one block, packed and not; the reader a path and
 * 40 bytes for each shard. None of it grows with instances. Instances of one block are cheapest
 * together; a block is one request for its bytes, a shard that is opened two,
 * and where masks are drawn one more for each megabyte of its table of documents.
 *
 * Blocks are checked as they are read; that files are whole is what bert-verify checks.
 */
#ifndef SHARDS_READER_H
#define SHARDS_READER_H

#include "shards/instance.h"
#include "shards/shard.h"
#include "shards/shelf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct reader_opts {
	const char *vocab;		/* for masks of whole words: NULL is vocab.txt beside the first shard */
	uint32_t max_seq_length, max_predictions, vocab_size;	/* the most that the caller can take; 0: any */
	bool unmasked;			/* leave dynamic instances without masks */
	bool scattered;			/* instances are asked for in no order: the system is to read nothing ahead */
	bool map;			/* shards are mapped, where that can be (base/file_view.h), not read */
	struct shelf *shelf;		/* for open shards, when readers share one; NULL: one of its own */
	const struct mask_choice *masks;	/* how to draw them, if not as the recipe has it; read in the call only */
};

#define READER_FILES 96
#define READER_MEMORY ((size_t)256 << 20)

struct reader;

/*
 * PATHS are shards, or folders that must hold all of their shards. Refused
 * (EXIT_FAILED): shards of different recipes, and what does not fit OPTS.
 */
int reader_open(struct reader **r, const char *const *paths, size_t n, const struct reader_opts *opts);
uint64_t reader_size(const struct reader *r);				/* instances */
const struct shard_recipe *reader_recipe(const struct reader *r);	/* of all shards; as masks are drawn, by OPTS */
const json_t *reader_tokenizer(const struct reader *r);			/* whose ids its instances have */
const json_t *reader_recipe_json(const struct reader *r);		/* as it stands in them */
const struct instance_shape *reader_shape(const struct reader *r);	/* but documents and block_records are 0 */
size_t reader_shards(const struct reader *r);
uint64_t reader_shard_first(const struct reader *r, size_t k);		/* its first instance; of k = reader_shards the size */
uint64_t reader_documents(const struct reader *r);			/* of all shards, where they are held in memory; else 0 */
struct shelf_counts reader_counts(const struct reader *r);		/* what was opened, and is */
void reader_close(struct reader *r);					/* accepts NULL; after its cursors */

struct reader_cursor;
struct reader_cursor *reader_cursor_new(const struct reader *r);	/* NULL: reason set */
void reader_cursor_free(struct reader_cursor *c);			/* accepts NULL */

/* Instance INDEX < reader_size in EPOCH < 2^32; good until the cursor's next call. NULL with the reason set. */
const struct instance *reader_get(struct reader_cursor *c, uint64_t epoch, uint64_t index);

#endif
