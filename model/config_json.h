/* config_json.h - under config.h: what reading and writing config.json share. */
#ifndef MODEL_CONFIG_JSON_H
#define MODEL_CONFIG_JSON_H

#include "model/config.h"

#include <jansson.h>

struct act_name {
	const char *name;
	enum act act;
};

extern const struct act_name act_names[];	/* ends with a NULL; the first of an act is what is written */
extern const char *const problem_names[];	/* by enum problem */
extern const char *const config_members[];	/* that have a field in struct config; ends with NULL */

#endif
