/*
 * json_file.h - small JSON files.
 *
 *	json_t *o = json_file_read("run/position.json", 1 << 16);
 *	if (!o)
 *		return -1;
 *	... json_object_get(o, "step")
 *	json_decref(o);
 *
 *	if (json_file_write("run/position.json", o))
 *		return -1;
 *
 * A file that is no JSON, or names a member twice, is corrupt (EXIT_CORRUPT), and
 * the reason says where; so is one that is longer than its limit.
 */
#ifndef BASE_JSON_FILE_H
#define BASE_JSON_FILE_H

#include <jansson.h>
#include <stddef.h>

/* The object or list of PATH, whose file has at most LIMIT bytes; the caller releases it. NULL with the reason set. */
json_t *json_file_read(const char *path, size_t limit);

/* The same from N bytes at TEXT; NAME is for messages. */
json_t *json_file_parse(const char *text, size_t n, const char *name);

/*
 * Writes O, members sorted, numbers with all their digits: whole or not at all (base/out.h). NULL fails: it is what
 * jansson makes when memory is out.
 */
int json_file_write(const char *path, const json_t *o);

#endif
