/*
 * checkpoint.h - folders from which a training goes on, bit for bit.
 *
 *	RUN/checkpoint-N/	config.json, model.safetensors, vocab.txt, ...: a model directory, as transformers loads it
 *		moments-00000-of-00001.safetensors	the optimizer's state
 *		position.json		where the training is
 *		manifest.json		each file's bytes and XXH3-64, and its own
 *
 * The state is stored by parameter range: tensors "m.FIRST-END" and "v.FIRST-END" are
 * elements FIRST .. END-1 of the flat range of parameters (model/params.h); ranges of all
 * files together are the whole, whoever wrote how many.
 *
 * A checkpoint is written as RUN/.checkpoint-N.PID.tmp, every file fsynced, manifest.json last, then
 * renamed: whatever ends the process at whatever moment, RUN/checkpoint-N is whole or not
 * there. What the last one needs is removed only when the next one stands.
 */
#ifndef TRAINER_CHECKPOINT_H
#define TRAINER_CHECKPOINT_H

#include "model/model_dir.h"
#include "shards/verify.h"
#include "trainer/feed.h"
#include "trainer/optimizer.h"

#define CHECKPOINT_MANIFEST "manifest.json"
#define CHECKPOINT_POSITION "position.json"

/* With the seed, all there is beside weights and moments. */
struct position {
	uint64_t step;			/* steps that were made */
	uint64_t time;			/* updates of the optimizer: steps but for skipped ones */
	struct feed_place at;		/* of the next sample */
	uint64_t samples, tokens;	/* seen so far */
};

struct checkpoint_source {
	const struct model *model;
	const struct optimizer *optimizer;
	const char *tokenizer;		/* a folder with vocab.txt and its kin; NULL: none */
	const char *tokenizer_config;	/* its tokenizer_config.json, in place of that folder's; NULL: that one */
};

/* Writes RUN/checkpoint-STEP; another of that name is replaced. -1: whatever stood there before stands. */
int checkpoint_save(const char *run, const struct position *p, const struct checkpoint_source *s);

/* Checks every file of FOLDER against the manifest; -1 (EXIT_CORRUPT) says what is wrong. */
int checkpoint_verify(const char *folder);

/*
 * The same for people, as verify_path does for shards: counts and says each file, going on after faults. PATH is a checkpoint,
 * or a folder that holds some as a run's does; false: it is neither, and nothing was said.
 */
bool checkpoint_verify_path(struct verify *v, const char *path);

/* Steps of the checkpoints in RUN, rising; the caller frees. An absent folder has none. */
int checkpoint_list(const char *run, uint64_t **steps, size_t *n);

char *checkpoint_folder(const char *run, uint64_t step);	/* "RUN/checkpoint-STEP"; the caller frees */

/* The position of a verified checkpoint. */
int checkpoint_position(const char *folder, struct position *p);

/* Weights (of a planned model that has none yet) and moments of a verified checkpoint. */
int checkpoint_weights(const char *folder, struct model *m);
int checkpoint_moments(const char *folder, struct optimizer *o);

/*
 * After the checkpoint of STEP stands: removes all but the last KEEP of those up to it (0: keeps all), and those of
 * later steps, which a run that has come to STEP again must have passed over.
 */
int checkpoint_prune(const char *run, uint64_t step, uint64_t keep);

/* Removes what killed processes left. */
int checkpoint_remove_stale(const char *run);

#endif
