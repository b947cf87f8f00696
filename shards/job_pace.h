/*
 * job_pace.h - what files cost where a run writes them: measured on some that are written to --tmp and removed. For
 * job_estimate.c.
 */
#ifndef SHARDS_JOB_PACE_H
#define SHARDS_JOB_PACE_H

#include <stdint.h>

struct job;

struct pace {
	double shard_seconds;		/* of a shard, however small it is, where as many are written at once as there will be */
	double shard_cpu;		/* of these: for which processors are needed */
	double byte_seconds;		/* of a byte, until it is on the disk; 0 where there are few */
};

/* For SHARDS shards, and so many BYTES of files. What cannot be measured is 0: a folder that is full is no failure here. */
void pace_measure(const struct job *j, uint32_t shards, uint64_t bytes, struct pace *p);

double pace_now(void);			/* seconds, of a clock that only goes on */

#endif
