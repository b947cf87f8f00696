/* export_impl.h - what the export*.c files share and nobody else includes. */
#ifndef SHARDS_EXPORT_IMPL_H
#define SHARDS_EXPORT_IMPL_H

#include "shards/export.h"
#include "shards/folder.h"

/* Instances by length; without a bin size, all of them. */
struct export_bin {
	uint32_t length;		/* tokens at most, and what they are padded to */
	uint64_t expected, records;	/* instances that there are, where the kind counts them; that were written */
	bool listed;			/* there is a file of it */
};

/* A shard on its way out. */
struct exporting {
	struct export *e;
	const struct export_kind *kind;
	char *stem;			/* FOLDER/NAME without the suffix */
	const char *from;		/* the file's name, for reasons */
	struct folder_set *set;		/* of the folder that it is number AT of */
	size_t at;
	struct export_bin *bins;	/* [n_bins], ascending */
	uint32_t n_bins;
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
	bool counts;			/* must know what each bin will hold */
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

/* Of an instance of N tokens. */
uint32_t export_bin_of(const struct exporting *x, uint32_t n);

/* The path of BIN's file with SUFFIX; the caller frees. NULL: out of memory. */
char *export_file_path(const struct exporting *x, uint32_t bin, const char *suffix);

#endif
