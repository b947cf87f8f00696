/*
 * signals.h - SIGTERM, SIGINT and SIGUSR1 ask a training to save and stop. For tools.
 *
 * signals_catch once, after tool_start. The first of them is remembered; the
 * second ends the program at once, by that signal, after unfinished files are
 * removed. One that was ignored when the program began stays ignored.
 */
#ifndef TRAINER_SIGNALS_H
#define TRAINER_SIGNALS_H

void signals_catch(void);

/* The signal that came, or 0. */
int signals_caught(void);

#endif
