/* job_impl.h - what the job_*.c files share and nobody else includes. */
#ifndef SHARDS_JOB_IMPL_H
#define SHARDS_JOB_IMPL_H

#include "base/err.h"
#include "base/fs.h"
#include "shards/docset.h"
#include "shards/input.h"
#include "shards/job.h"
#include "shards/job_plan.h"
#include "shards/tokdoc_cells.h"

#include <pthread.h>

#define JOB_WORK ".work"
#define JOB_OPTIONS "options.json"
#define JOB_PLAN "plan.json"
#define JOB_PARTS_MAX 99999
#define JOB_PACKED_SHARE 0.6	/* of a shard's bytes, when zstd has packed them: less than it will be in most cases */
#define JOB_JSON_MAX ((size_t)1 << 30)	/* bytes of a JSON file of ours: a manifest may name a million shards */

/* Instances written, by threads that write several shards at once: for progress. */
struct job_written {
	pthread_mutex_t lock;
	struct progress *progress;	/* NULL: nobody watches */
	uint64_t instances;
};

/* A shard that is written, and on its way to the disk while the next one is made. */
struct out;
struct job_commit {
	pthread_t thread;
	bool pending;
	struct out *out;
	int rc;
	struct err reason;
};
int job_commit_wait(struct job_commit *c);	/* until it is in place; -1: it is not */

struct job {
	struct job_opts opts;
	struct tokenizer *tokenizer;
	struct shard_recipe recipe;
	struct mask_words *words;	/* NULL: none are listed */
	struct inputs inputs;
	json_t *identity;		/* what must be equal for two runs to work in one folder; from job_start on */
	struct key digest;		/* of it */
	char *work;			/* FOLDER/.work */
	bool mending;			/* the folder's manifest is damaged, and so did not say whose it is */
	int lock;			/* the folder, open and locked; -1: not yet */
	int sampling;			/* the work folder, likewise, while the input is sampled; -1: not now */
	bool learned;			/* this run sampled what no run before had noted */
	struct job_report report;
	struct job_gathered *held;	/* all documents, where a run of all stages keeps them in memory; NULL: the index has them */
	struct job_written *written;	/* while shards are written */
	struct job_commit *commit;	/* NULL: a shard is in place when job_write_file returns, else after job_commit_wait */
};
void job_written_start(struct job *j, struct job_written *w);
void job_written_end(struct job *j);

bool job_is_shard_name(const char *name);	/* whether it ends in ".shard" */

int job_make_identity(struct job *j);		/* once all inputs are known */

/* Refused (EXIT_FAILED): another run is at work in the folder, or parts of one. Parts may be many. */
int job_lock(struct job *j);
void job_unlock(struct job *j);
/*
 * Parts that come at once wait here for the one that samples the input, and notes what it found. For a minute; then they do it
 * themselves, as where the file system has no locks. Makes the work folder.
 */
int job_lock_samples(struct job *j);
void job_unlock_samples(struct job *j);

/* The caller frees; NULL: out of memory */
char *job_index_path(const struct job *j, uint64_t part, uint64_t parts);

/* The index of a part, or *F NULL and 0 when there is no whole one. Refused: one of other options or input. */
int job_open_index(const struct job *j, uint64_t part, uint64_t parts, struct tokdoc_file **f);

/* The same, for its stretches of keys. */
int job_open_cells(const struct job *j, uint64_t part, uint64_t parts, struct tokdoc_cells **c);

/* Whether every byte of an index is as its checksums say: 1, 0 (the reason says where not), -1 failed. */
int job_index_is_sound(const char *path);

/* All documents, kept by a run of all stages where shards can be made beside them. It writes no index then. */
struct job_gathered {
	struct spill *spill;			/* sorted */
	struct inputs_reading reading;		/* what they add up to */
};
int job_index_and_plan(struct job *j);		/* both stages, of one part */
int job_let_go(struct job *j);			/* what is held becomes the index */
void job_forget_held(struct job *j);
/* job_held.c */
bool job_can_hold(const struct job *j, const struct plan *p);
bool job_could_hold(const struct job *j, const struct plan *p, uint64_t held);	/* if documents took so much memory, and no disk */
uint64_t job_held_bytes(const struct job *j);				/* of memory */
int job_held_load(const struct job *j, struct docset *s);		/* the documents of S's shard */

/* Something read from the index is damaged (the reason): names the part, and what to do. Returns -1. */
int job_blame_index(const struct job *j, uint32_t parts);

/*
 * Writes vocab.txt, masking-words.txt and manifest.json once every shard is whole, and removes the work folder. *DONE:
 * whether it was so.
 */
int job_finish(struct job *j, const struct plan *p, bool *done);

/*
 * Refuses the folder, and forgets the work, when a manifest in it tells of another corpus than the
 * stream that was read.
 */
int job_check_stream(const struct job *j);

/*
 * Refuses the folder for shards of another number than the plan's, beside which the set would look whole, and, before
 * any is made, for shards of another run where no manifest told whose they are.
 */
int job_refuse_others(const struct job *j, const struct plan *p);

/* --- job_file.c: a shard file ------------------------------------------------------ */

/* A block of instances on its way. */
struct job_block {
	uint64_t number;
	uint32_t records;
	struct buf in;			/* the source's own */
	struct buf raw, packed;
};

/* Where documents and instances come from. */
struct job_table;
struct build;
struct job_source {
	int (*documents)(void *ctx, struct job_table *t);		/* all, in order, by job_table_add (job_table.h); then the rest is asked */
	int (*read)(void *ctx, void *block);				/* as in base/pool.h; of struct job_block */
	int (*make)(void *ctx, void *block, unsigned worker);		/* records, raw, packed */
	void *ctx;
	struct build *build;						/* whose totals count */
};
int job_write_file(struct job *j, const struct plan *p, uint32_t shard, const struct job_source *source);
int job_write_held(struct job *j, const struct plan *p, uint32_t shard, struct build *b);	/* of the drafts in B */

/* The index of every part, open: what is kept of one does not grow with it. */
struct job_index {
	struct tokdoc_cells **files;
	uint32_t n;
};
/* job_big.c: writes SHARD, which is too large for memory, through spilled files; to the same bytes. */
int job_write_big(struct job *j, const struct plan *p, const struct job_index *x, uint32_t shard);

/* job_lanes.c: writes the shards PART, PART + PARTS, ... that are not whole, several at once. */
int job_write_shards(struct job *j, const struct plan *p, uint64_t part, uint64_t parts);
/* job_write.c: SHARD, of what is held or in X. 1: not done, it is too large for memory, which is NARROW; else it goes through files. */
int job_write_shard(struct job *j, const struct plan *p, const struct job_index *x, uint32_t shard, bool narrow);
int job_index_open(struct job_index *x, const struct job *j, uint32_t parts);
void job_index_close(struct job_index *x);

uint64_t job_reading_memory(const struct job *j);	/* what the reading of documents may use */
uint64_t job_sorting_memory(const struct job *j, uint64_t parts);	/* what the sorting of a part's documents may */
void job_limit_documents(const struct job *j, uint64_t parts, struct inputs_reading *r);	/* R refuses those for which that is too little */
uint64_t job_budget(const struct job *j);		/* what documents and drafts may, */
uint64_t job_reserve(const struct job *j);		/* and what is for all else */
uint64_t job_shard_memory(const struct job *j, const struct plan *p, bool held);	/* that a shard takes, about, and a fourth more */

/* Everything, in the place of the stages, where the recipe's rules are SHARD_GOOGLE. */
int job_google(struct job *j);
void job_google_init(const struct job *j, struct docset *docs);		/* for as many documents as it may hold */
/* What it needs for CORPUS, about, whose documents take DOCS bytes; and the refusal that says so, -1 */
uint64_t job_google_memory(const struct job *j, const struct tokdoc_totals *corpus, uint64_t docs);
int job_google_refuse(const struct job *j, const struct tokdoc_totals *corpus, uint64_t docs);

char *job_shard_path(const struct job *j, uint32_t shard, uint32_t shards);
/* Borrows the recipe */
struct shard_header job_shard_header(const struct job *j, const struct plan *p, uint32_t shard);

/*
 * 1: the shard is there, and of this job; 0: it is not there, or damaged and, as far as it still says, of this job;
 * -1: it is another's. job_shard_open looks at its ends only; *S is NULL but for 1. job_shard_is_whole reads all of it.
 */
int job_shard_open(const struct job *j, const struct plan *p, uint32_t shard, struct shard **s);
int job_shard_is_whole(const struct job *j, const struct plan *p, uint32_t shard);

struct manifest;
struct manifest_shard;
bool job_is_listed(const struct manifest_shard *e, const struct shard *s);	/* E tells of S */
/* *ALL: every shard is whole and what M, which is of this job, tells of */
int job_manifest_holds(const struct job *j, const struct manifest *m, bool *all);
int job_remove_strange(const struct job *j, const struct manifest *m);	/* shards that M tells otherwise of */
int job_check_recipes(const struct job *j);		/* refuses the folder for a shard of another recipe, or where none says its own */

const char *job_tmp(const struct job *j);		/* the folder for what does not fit in memory */

int job_has_vocab(const char *folder, const char *sha256, bool *has);	/* vocab.txt is there and that one */
int job_copy_vocab(const struct job *j);		/* and the list of words; unless they are there */
int job_has_words(const char *folder, const struct shard_recipe *r, bool *has);	/* the list of words is there, or none was given */

#endif
