/*
 * coprocess.h - an outside program that text goes through: what is written to
 * its standard input comes back, changed, from its standard output.
 *
 * A program may take as much as it likes before it gives anything, and give
 * as much as it likes before it takes more; so both ends are waited for at once,
 * and neither can block the other.
 *
 *	struct coprocess *p;
 *	if (coprocess_start(&p, "mecab -Owakati"))
 *		return -1;
 *	do {
 *		if (at == n)				(it may be waiting for the end)
 *			coprocess_close_input(p);
 *		event = coprocess_wait(p, at < n, &out);
 *		if (event == COPROCESS_TAKES)
 *			at += coprocess_write(p, bytes + at, n - at);
 *	} while (event > 0);				(COPROCESS_GAVE: OUT has grown)
 *	if (event < 0 || coprocess_end(p))		(0: it has closed its output)
 *		...					(the reason says how it ended)
 *	coprocess_free(p);				(accepts NULL)
 *
 * The command is run by /bin/sh, with this process's standard error, environment and
 * process group: an interrupt from the terminal reaches it too, and when this process
 * dies, its input ends. A program that dies makes no SIGPIPE here. Where
 * SIGCHLD is ignored, coprocess_start restores its default, as the status could not be known else.
 * One thread at a time.
 */
#ifndef BASE_COPROCESS_H
#define BASE_COPROCESS_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

struct coprocess;

/* -1: no process could be made. A command that cannot be found ends with status 127, and the shell says why. */
int coprocess_start(struct coprocess **p, const char *command);

enum coprocess_event { COPROCESS_ENDED, COPROCESS_GAVE, COPROCESS_TAKES };

/*
 * Waits until it gives something, which is added to OUT; or, where MORE says that there is something to write, takes
 * something; or has closed its output; -1: waiting or reading failed. One that has closed its input, but gives nothing for ten
 * seconds, has ended too.
 */
int coprocess_wait(struct coprocess *p, bool more, struct buf *out);

/* How many of the bytes it took, without waiting. Once it has closed its input it takes nothing more: coprocess_is_deaf. */
size_t coprocess_write(struct coprocess *p, const void *bytes, size_t n);
bool coprocess_is_deaf(const struct coprocess *p);

void coprocess_close_input(struct coprocess *p);	/* no more comes; again is fine */

/* After COPROCESS_ENDED: waits for its end, at most ten seconds. -1: it did not end, or a signal or a status but 0 ended it. */
int coprocess_end(struct coprocess *p);

/* A process that has not ended is killed. */
void coprocess_free(struct coprocess *p);

#endif
