/*
 * tune_data.h - the files of a fine-tuning, read: sequences and classes.
 *
 *	struct tune_data d;
 *	if (tune_data_read(&d, &opts, &on, &config))
 *		return -1;
 *	tune_data_release(&d);
 *
 * Classes are those of the training file, at least two, sorted by name; where
 * the model has these already, in whatever order, they keep its numbers. DEV must
 * have no other. EXIT_CORRUPT where the files are not so.
 */
#ifndef FINETUNE_TUNE_DATA_H
#define FINETUNE_TUNE_DATA_H

#include "finetune/tune.h"
#include "model/config.h"

struct tune_data {
	struct labels labels;
	struct sequences train, dev;
	bool same_labels;		/* as the model had */
};

/* ON: how sequences are made. CONFIG: the model's, as its directory has it. */
int tune_data_read(struct tune_data *d, const struct tune_opts *o, const struct tuned_on *on, const struct config *config);
void tune_data_release(struct tune_data *d);	/* of a zeroed struct too */

/* What is measured: DEV where there is one. */
static inline const struct sequences *tune_data_measured(const struct tune_data *d) { return d->dev.n ? &d->dev : &d->train; }

/* XXH3-64 of all sequences and labels. */
uint64_t tune_data_sum(const struct sequences *s);

#endif
