/* export_impl.h - what the export*.c files share and nobody else includes. */
#ifndef SHARDS_EXPORT_IMPL_H
#define SHARDS_EXPORT_IMPL_H

#include "shards/export.h"

/* A file on its way out. */
struct exporting {
	struct export *e;
	const struct export_kind *kind;
	char *stem;			/* FOLDER/NAME without the suffix */
	const char *from;		/* the file's name, for reasons */
	uint64_t records;		/* written */
	uint64_t expected;		/* instances, as the shard says */
	struct export_worker {
		struct instance instance;
		struct mask mask;	/* where masks are drawn */
		struct tokdoc document;
	} *workers;			/* [threads] */
	void *state;			/* the kind's */
};

struct export_kind {
	const char *suffix;		/* of the file that is named in export.json */
	bool takes_tokens;		/* token documents too */
	int (*open)(struct exporting *x, const struct scan *s);		/* sets x->state */
	int (*work)(struct exporting *x, const struct scan *s, struct scan_block *b, unsigned worker);	/* any thread */
	int (*write)(struct exporting *x, const struct scan *s, struct scan_block *b);			/* in order */
	int (*finish)(struct exporting *x);				/* commits */
	void (*release)(struct exporting *x);				/* whatever happened */
};
extern const struct export_kind export_tfrecord, export_hdf5, export_megatron;

/* Instance K of block B, with its masks; good until the worker's next one. */
const struct instance *export_instance(struct exporting *x, const struct scan *s, const struct scan_block *b, uint32_t k,
				       unsigned worker);

/* x->stem with SUFFIX; the caller frees. NULL: out of memory. */
char *export_file_path(const struct exporting *x, const char *suffix);

#endif
