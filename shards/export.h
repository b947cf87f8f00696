/*
 * export.h - shards as the files that other trainers read.
 *
 *	struct export e = { .to = EXPORT_TFRECORD, .folder = "out", .threads = 2 };
 *	export_path(&e, path)		(as often as wanted: a file of FOLDER for each shard)
 *	export_finish(&e, made_by)	(export.json: what they were made from)
 *	export_release(&e)
 *
 * EXPORT_TFRECORD	create_pretraining_data.py's: tf.Example with seven features, padded
 * EXPORT_HDF5		NVIDIA's: six datasets, padded, packed by gzip
 * EXPORT_MEGATRON	Megatron's .bin and .idx: sequences and documents. Of token documents, sentences; of shards,
 *			each instance is a document, its segments the sequences, without masks
 *
 * With BIN_SIZE the instances of a shard go, by their number of tokens, to a file for each length that is a multiple of it (the
 * last is max_seq_length), padded to that length only: NAME.32.tfrecord, NAME.64.tfrecord, ... where there are any.
 *
 * Every file is whole or not there. Shards of different recipes in one folder
 * are refused: their lengths differ.
 */
#ifndef SHARDS_EXPORT_H
#define SHARDS_EXPORT_H

#include "base/map.h"
#include "shards/scan.h"
#include "tokenizer/vocab.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define EXPORT_MAX_BINS 32	/* files that are open together */
#define EXPORT_MANIFEST "export.json"

enum export_form { EXPORT_TFRECORD, EXPORT_HDF5, EXPORT_MEGATRON };

struct export {
	enum export_form to;
	const char *folder;
	unsigned threads;
	const char *vocab_path;		/* for masks of whole words: NULL is vocab.txt beside the shard */
	bool draws;			/* dynamic masks are those of EPOCH, and shards without are refused; else those with */
	uint64_t epoch;
	unsigned compress;		/* of HDF5: level of gzip, 0 to 9 */
	uint32_t bin_size;		/* tokens; 0: no bins. Not for EXPORT_MEGATRON */
	struct scan_progress *progress;	/* NULL: nobody watches */

	/* counted */
	uint64_t files, records;	/* instances, or documents */
	/* private */
	struct vocab *vocab;
	struct mask_words *words;
	json_t *recipe;			/* of the shards, or the tokenizer of token documents */
	json_t *list;			/* files made */
	struct map names;		/* of them, without suffixes */
};

int export_path(struct export *e, const char *path);
int export_finish(struct export *e, const char *made_by);
void export_release(struct export *e);

#endif
