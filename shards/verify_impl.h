/*
 * verify_impl.h - what the verify*.c files share and nobody else includes.
 */
#ifndef SHARDS_VERIFY_IMPL_H
#define SHARDS_VERIFY_IMPL_H

#include "shards/verify.h"
#include "shards/verify_chain.h"

/* What the folder wants to know of a shard that was found good by itself. */
struct verify_facts {
	struct shard_header header;	/* owned */
	struct shard_totals totals;
	struct key keys;		/* sum of its documents' keys */
	struct frame_trailer trailer;
};
void verify_facts_release(struct verify_facts *f);

/*
 * Verifies the file PATH, whose kind it finds out. 0, or -1 with the reason. *TEXT is
 * what to say of a good one. FACTS (may be NULL) is filled from a shard, and
 * must be released; of anything else it stays empty (header.shards 0).
 */
int verify_file(struct verify *v, const char *path, struct buf *text, struct verify_facts *facts);

/* Says the line of NAME: the reason that is set where RC is not 0 (TEXT may be NULL), else "good" and TEXT. */
void verify_say(struct verify *v, const char *name, int rc, const struct buf *text);

void verify_folder(struct verify *v, const char *folder);


/* "1,234,567 NOUN" with the noun's s where it is not one. */
int verify_add_count(struct buf *b, uint64_t n, const char *noun);

bool verify_is_absent(const struct verify *v, struct key key);	/* whether KEY must not be in */

/* --- the kinds: callbacks of a scan ---------------------------------------------------- */

struct verify_shard;
struct verify_shard *verify_shard_new(struct verify *v, struct scan *s);	/* sets what words the header's recipe lists */
int verify_shard_document(struct verify_shard *c, const struct shard_document *d);
int verify_shard_work(struct verify_shard *c, const struct scan *s, struct scan_block *b, unsigned worker);
int verify_shard_write(struct verify_shard *c, const struct scan *s, const struct scan_block *b);
int verify_shard_end(struct verify_shard *c, const struct scan *s, struct buf *text);
void verify_shard_free(struct verify_shard *c);		/* accepts NULL */

struct verify_tokens;
struct verify_tokens *verify_tokens_new(struct verify *v);
int verify_tokens_other(struct verify_tokens *c, const struct scan *s, const struct scan_block *b);
int verify_tokens_work(struct verify_tokens *c, const struct scan *s, struct scan_block *b, unsigned worker);
int verify_tokens_write(struct verify_tokens *c, const struct scan *s, const struct scan_block *b);
int verify_tokens_end(struct verify_tokens *c, const struct scan *s, struct buf *text);
void verify_tokens_free(struct verify_tokens *c);	/* accepts NULL */

#endif
