/*
 * mapping.h - which tensor of a file is which parameter of a model.
 *
 *	struct mapping map;
 *	if (mapping_make(&map, &params, file, NULL))
 *		return -1;
 *	... map.items[i]
 *	mapping_release(&map);
 *
 * Names are transformers', with or without "bert." before the encoder's, LayerNorms
 * with weight and bias or with gamma and beta, as old files have it. A parameter of
 * two names (the MLM part's table and bias) may stand under either. Buffers that
 * follow from the config, such as position_ids, are passed over, and so is
 * cls.predictions.bias beside an untied decoder.bias, as in transformers. Nothing else is
 * guessed: another name is unused, another shape an error.
 */
#ifndef MODEL_MAPPING_H
#define MODEL_MAPPING_H

#include "model/params.h"
#include "model/safetensors.h"

enum fate {
	FATE_MAPPED,		/* tensor and param are both there */
	FATE_TIED,		/* the same, but the parameter is mapped already, under its other name */
	FATE_MISSING,		/* no tensor */
	FATE_UNUSED,		/* no param */
	FATE_PASSED,		/* no param, and none is wanted */
};

struct match {
	enum fate fate;
	const struct safetensor *tensor;
	const struct param *param;
};

struct mapping {
	struct match *items;	/* parameters in their order, then the rest of the file */
	size_t count, cap;
	size_t mapped, missing, unused;
};

/*
 * -1 with the reason set where a tensor is not its parameter's shape, or not floating-point, or two are one parameter.
 * RENEWED, where given, is a module ("classifier") whose parameters are to be new: the file's tensors of it
 * are passed over, whatever they are, and the parameters missing.
 */
int mapping_make(struct mapping *map, const struct params *p, const struct safetensors *s, const char *renewed);
void mapping_release(struct mapping *map);

/* "mapped", "tied", "missing", "unused", "passed over" */
const char *mapping_word(enum fate f);

#endif
