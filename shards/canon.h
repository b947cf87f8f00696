/*
 * canon.h - the JSON of headers, trailers and the manifest: written one way
 * only, so that equal things are equal bytes; read with every member checked.
 *
 * The readers return 0, or -1 with a reason that names the member
 * (EXIT_CORRUPT): a member that is missing, of another type or out of range.
 */
#ifndef SHARDS_CANON_H
#define SHARDS_CANON_H

#include "base/buf.h"
#include "base/key.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Members sorted, no white space, the fewest digits (15 or 17) that give the same doubles. The
 * caller frees; NULL: out of memory.
 */
char *canon_print(const json_t *o);

/* The JSON object in TEXT; NULL with the reason set. The caller owns the reference. */
json_t *canon_parse(const char *text, size_t len);

const json_t *canon_object(const json_t *o, const char *name);		/* NULL: reason set */
const json_t *canon_array(const json_t *o, const char *name);
const char *canon_string(const json_t *o, const char *name);
int canon_uint(const json_t *o, const char *name, uint64_t min, uint64_t max, uint64_t *v);
int canon_uint32(const json_t *o, const char *name, uint32_t min, uint32_t max, uint32_t *v);
int canon_real(const json_t *o, const char *name, double min, double max, double *v);
int canon_bool(const json_t *o, const char *name, bool *v);
int canon_key(const json_t *o, const char *name, struct key *k);
int canon_is(const json_t *o, const char *name, const char *want);		/* a string member of one value */
/* The member "version" is READ, of what this program reads; else the reason tells whoever has the file what to do. */
int canon_is_version(const json_t *o, uint64_t read);

/* Takes VALUE, also on failure; VALUE NULL: out of memory */
int canon_set(json_t *o, const char *name, json_t *value);
json_t *canon_of_key(struct key k);
json_t *canon_of_uint(uint64_t v);					/* at most INT64_MAX */

/* XXH3 of 128 bits of O as canon_print has it. */
int canon_digest(const json_t *o, struct key *digest);
/* Gives O, which has none, a member "digest": that of all else. */
int canon_seal(json_t *o);
/* Takes that member out of O again; -1 (EXIT_CORRUPT) where it is not that of the rest. */
int canon_unseal(json_t *o);
int canon_hold_digest(struct key says, struct key is);			/* the reason of that, where they differ */

/*
 * The first difference between what IS and what is WANTed, as "max_seq_length
 * is 512, not 128", added to TEXT: 1 when there is one, 0 when they are equal,
 * -1 out of memory.
 */
int canon_difference(const json_t *is, const json_t *want, struct buf *text);

#endif
