/*
 * events.h - TensorBoard's event files.
 *
 *	struct events *e;
 *	if (events_open(&e, folder, step))
 *		return -1;
 *	events_add(e, "learning_rate", 1e-4)	(any number of scalars)
 *	events_write(e, step)			(one record, flushed; empties the list)
 *	events_close(e);
 *
 * A file "events.out.tfevents.SECONDS.HOST" holds TFRecords (base/tfrecord.h),
 * each a protobuf message Event (tensorflow/core/util/event.proto). The second
 * record says that a session begins after STEP, so that TensorBoard drops what an
 * earlier file of a killed run told of later steps.
 */
#ifndef TRAINER_EVENTS_H
#define TRAINER_EVENTS_H

#include "base/buf.h"

#include <stdint.h>

struct events;
int events_open(struct events **e, const char *folder, uint64_t step);
int events_add(struct events *e, const char *tag, double value);
int events_write(struct events *e, uint64_t step);
int events_close(struct events *e);		/* accepts NULL */

/* The message of one record: SCALARS (from events_scalar) may be NULL. */
int events_message(struct buf *b, double wall_time, uint64_t step, const struct buf *scalars);
int events_scalar(struct buf *scalars, const char *tag, double value);

#endif
