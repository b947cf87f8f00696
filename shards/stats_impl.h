/* stats_impl.h - what the files of stats.h share. */
#ifndef SHARDS_STATS_IMPL_H
#define SHARDS_STATS_IMPL_H

#include "base/in.h"
#include "shards/stats.h"

#include <jansson.h>
#include <stdbool.h>

/* --- stats.c -------------------------------------------------------------------------------------- */

/* A tally for each thread, and their sum, where all went GOOD, added to the rest. */
int stats_make_tallies(struct stats *s);
int stats_add_tallies(struct stats *s, bool good);

/* Counts D, whose special tokens are S, and adds its key to KEYS. */
int stats_count_tokdoc(struct stats_tally *t, const struct vocab_special *s, const struct tokdoc *d, struct buf *keys);
int stats_keep_keys(struct stats *s, const struct buf *keys);

/* Whether vocabulary V is none for the casing that TOKENIZER (tokenizer_describe) speaks of. */
bool stats_is_miscased(struct stats *s, const struct vocab *v, const json_t *tokenizer);

/* Adds a warning to be given before all others. */
int stats_note(struct stats *s, const char *text);

/* --- stats_text.c --------------------------------------------------------------------------------- */

/* Counts N text files as if joined; or where IN is open, that, the only one of them, which is closed. S->text is there. */
int stats_add_text(struct stats *s, const char *const *paths, size_t n, struct in *in);

/* --- stats_unknown.c ------------------------------------------------------------------------------ */

/* Adds the members about unknown words. Once only. */
int stats_set_unknown(json_t *o, const struct stats *s);

#endif
