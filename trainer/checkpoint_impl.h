/* checkpoint_impl.h - what the checkpoint*.c files share. */
#ifndef TRAINER_CHECKPOINT_IMPL_H
#define TRAINER_CHECKPOINT_IMPL_H

#include "trainer/checkpoint.h"

#include <jansson.h>

#define CHECKPOINT_FORMAT 1
#define CHECKPOINT_MOMENTS "moments-00000-of-00001.safetensors"

int checkpoint_write_moments(const char *folder, const struct optimizer *o);

/* From a file's text; EXIT_CORRUPT, without the file's name. FILES: the entries, each with a plain name, bytes and xxh3; the caller's. */
int checkpoint_parse_position(const char *text, size_t n, struct position *p);
int checkpoint_parse_manifest(const char *text, size_t n, json_t **files);

#endif
