/*
 * verify_impl.h - what the verify*.c files share and nobody else includes.
 */
#ifndef SHARDS_VERIFY_IMPL_H
#define SHARDS_VERIFY_IMPL_H

#include "shards/verify.h"
#include "shards/verify_chain.h"
#include "shards/verify_drafts.h"

/* What draws decide, counted. */
struct verify_counts {
	uint64_t full;			/* instances of max_seq_length tokens: none else can have been cut */
	uint64_t masks;			/* masked positions; of these: */
	uint64_t shown_mask, shown_same, shown_special;
	uint64_t random;		/* SHARD_GOOGLE: random nexts, and those that follow all the same */
	uint64_t random_follows;
};
void verify_counts_add(struct verify_counts *c, const struct shard_recipe *r, const struct instance *i);
void verify_counts_join(struct verify_counts *c, const struct verify_counts *more);
/* EXIT_CORRUPT: C, of a block, is not what draws give. */
int verify_counts_check_block(const struct verify_counts *c, const struct shard_recipe *r, const struct documents *t);
/* The same of all of a shard that is not imported; OTHERS: there are documents for random nexts. */
int verify_counts_check(const struct verify_counts *c, const struct shard_recipe *r, const struct documents *t,
			const struct shard_totals *totals, bool others);
int verify_counts_describe(const struct verify_counts *c, struct buf *text);	/* shares of masks, after a colon */

/* What the folder wants to know of a shard that was found good by itself. */
struct verify_facts {
	struct documents documents;	/* SHARD_GOOGLE: its table; owned */
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
int verify_shard_other(struct verify_shard *c, const struct scan *s, const struct scan_block *b);
int verify_shard_instances(struct verify_shard *c, const struct scan *s);	/* the documents are complete */
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
