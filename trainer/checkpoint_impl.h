/* checkpoint_impl.h - what the checkpoint*.c files share. */
#ifndef TRAINER_CHECKPOINT_IMPL_H
#define TRAINER_CHECKPOINT_IMPL_H

#include "trainer/checkpoint.h"

#include <jansson.h>

#define CHECKPOINT_FORMAT 1
#define CHECKPOINT_MOMENTS "moments-00000-of-00001.safetensors"

int checkpoint_write_moments(const char *folder, const struct optimizer *o);

bool checkpoint_parse_name(const char *name, uint64_t *step);	/* "checkpoint-STEP" */

/* From a file's object; EXIT_CORRUPT, without the file's name. FILES: the entries, each with a plain name, bytes and xxh3; the caller's. */
int checkpoint_parse_position(const json_t *o, struct position *p);
int checkpoint_parse_manifest(json_t *o, json_t **files);

/* What a manifest's member "xxh3" says: XXH3-64 of the others. NULL with the reason set. */
json_t *checkpoint_sum(json_t *manifest);

#endif
