/*
 * facts.h - what decides the result of a run, as the members of its run.json (trainer/run_folder.h).
 *
 *	json_t *f = json_object();
 *	if (facts_set(f, "config", facts_config(&config)) || facts_set(f, "init", facts_weights(folder)) || ...)
 *		return -1;
 *
 * Long things are told by a sum of them, 16 hexadecimal digits of XXH3-64. Each call returns
 * NULL with the reason set where it failed.
 */
#ifndef TRAINER_FACTS_H
#define TRAINER_FACTS_H

#include "model/config.h"

#include <jansson.h>
#include <stdint.h>

json_t *facts_sum(uint64_t xxh3);
json_t *facts_config(const struct config *c);
json_t *facts_weights(const char *folder);	/* of a model directory; NULL: "new" */

int facts_set(json_t *facts, const char *name, json_t *value);	/* takes VALUE; -1 where it is NULL */

#endif
