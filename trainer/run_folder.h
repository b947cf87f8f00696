/*
 * run_folder.h - the folder that one run writes, and continues by itself.
 *
 *	struct run_folder r;
 *	if (run_folder_open(&r, "out", facts, warn))	(locks it; refuses another run's)
 *		return -1;
 *	... r.resumes, r.checkpoint, r.at
 *	run_folder_close(&r);
 *
 * run.json in it holds the facts that decide the result: a run with others is
 * another run, unless nothing but run.json is there. The newest checkpoint whose files are all what its manifest says
 * is the one to go on from; damaged ones are passed over, and told to WARN.
 */
#ifndef TRAINER_RUN_FOLDER_H
#define TRAINER_RUN_FOLDER_H

#include "trainer/checkpoint.h"

#include <jansson.h>

#define RUN_FOLDER_NAME "run.json"
#define RUN_FOLDER_ORDER "order"	/* the fact that nobody can choose: where it differs, the reason says how to go on anyway */

struct run_folder {
	char *path;
	int lock;
	bool resumes;
	char *checkpoint;		/* the folder of the one to go on from, or NULL */
	struct position at;
};

/* FACTS: an object of plain values; borrowed. WARN may be NULL. */
int run_folder_open(struct run_folder *r, const char *path, const json_t *facts, void (*warn)(const char *fmt, ...));
void run_folder_close(struct run_folder *r);	/* of a zeroed struct too */

#endif
