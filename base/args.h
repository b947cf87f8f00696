/*
 * args.h - a program's options as one table.
 *
 * The table parses the command line and prints --help with the defaults
 * that the variables hold when args_parse is called; a test holds it
 * against the man page.
 *
 *	static struct shard_opts o = SHARD_OPTS_DEFAULT;
 *	const struct arg table[] = {
 *		ARG_STR("vocab", 0, &o.vocab, "FILE", "WordPiece vocabulary, one token a line"),
 *		ARG_UINT("max-seq-length", 0, &o.max_seq_length, 5, 65535, "N", "tokens of an instance"),
 *		ARG_COMMON(&common),
 *		ARG_END
 *	};
 *	struct args a = { .synopsis = "bert-shard [options] -o DIR [FILE...]", .about = "...", .table = table };
 *	int rc = args_parse(&a, argc, argv);
 *	if (rc != ARGS_RUN)
 *		return rc;
 *	... a.operands[0 .. a.n_operands-1]
 *
 * "--max-seq-length 128", "--max_seq_length=128" and "--max-seq-length=128"
 * mean the same. "--" ends options; "-" is an operand. Options and operands
 * may be mixed. An option given twice: the last one counts (lists collect).
 * Flags take an optional "=true|false|yes|no|1|0" (any case), so that
 * --do_lower_case=True works. Abbreviations are not accepted.
 */
#ifndef BASE_ARGS_H
#define BASE_ARGS_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum arg_type {
	ARG_TYPE_END, ARG_TYPE_GROUP, ARG_TYPE_FLAG, ARG_TYPE_STR, ARG_TYPE_LIST, ARG_TYPE_UINT,
	ARG_TYPE_SIZE, ARG_TYPE_REAL, ARG_TYPE_CHOICE, ARG_TYPE_ALIAS, ARG_TYPE_COUNT, ARG_TYPE_STOP,
};

/*
 * Strings collected from a repeatable option, in order, in place of what it
 * held before. They point into argv; the array is good until the next args_parse.
 */
struct arg_list {
	const char **items;
	size_t count;
};

struct arg {
	enum arg_type type;
	char letter;			/* one-letter form, or 0 */
	const char *name;		/* long form, words joined by '-' */
	void *value;			/* where it goes; NULL for END, GROUP */
	const char *operand;		/* "FILE", "N"; a choice's words, "google|hf" */
	const char *help;		/* one line, lower case, no full stop; NULL hides the option from --help */
	uint64_t min, max;		/* UINT and SIZE: the range, ends included */
	double low, high;		/* REAL: the range, ends included */
};

#define ARG_GROUP(title) { .type = ARG_TYPE_GROUP, .help = (title) }
#define ARG_FLAG(n, l, v, h) { .type = ARG_TYPE_FLAG, .name = (n), .letter = (l), .value = (v), .help = (h) }		/* bool */
#define ARG_STR(n, l, v, o, h) { .type = ARG_TYPE_STR, .name = (n), .letter = (l), .value = (v), .operand = (o), .help = (h) }	/* const char * */
#define ARG_LIST(n, l, v, o, h) { .type = ARG_TYPE_LIST, .name = (n), .letter = (l), .value = (v), .operand = (o), .help = (h) }	/* struct arg_list */
#define ARG_UINT(n, l, v, lo, hi, o, h) { .type = ARG_TYPE_UINT, .name = (n), .letter = (l), .value = (v), .min = (lo), .max = (hi), .operand = (o), .help = (h) }	/* uint64_t */
#define ARG_SIZE(n, l, v, lo, hi, h) { .type = ARG_TYPE_SIZE, .name = (n), .letter = (l), .value = (v), .min = (lo), .max = (hi), .operand = "SIZE", .help = (h) }	/* uint64_t bytes; K M G T are powers of 1024 */
#define ARG_REAL(n, l, v, lo, hi, o, h) { .type = ARG_TYPE_REAL, .name = (n), .letter = (l), .value = (v), .low = (lo), .high = (hi), .operand = (o), .help = (h) }	/* double */
#define ARG_CHOICE(n, l, v, words, h) { .type = ARG_TYPE_CHOICE, .name = (n), .letter = (l), .value = (v), .operand = (words), .help = (h) }	/* int: which word, from 0 */
#define ARG_ALIAS(n, of) { .type = ARG_TYPE_ALIAS, .name = (n), .operand = (of) }	/* another name of option OF ("!of" for a flag: its opposite) */
#define ARG_END { .type = ARG_TYPE_END }

/* What every program takes. Random and computing programs add --seed and --backend to their own tables. */
struct args_common {
	uint64_t threads;		/* 0 = what affinity, cgroup and SLURM_CPUS_PER_TASK allow; args_parse puts the number in */
	const char *output;		/* -o, NULL = standard output */
	bool quiet;
	int verbose;			/* how often -v was given */
};
#define ARG_COMMON_NO_OUTPUT(c) \
	ARG_GROUP("Common options"), \
	{ .type = ARG_TYPE_UINT, .name = "threads", .value = &(c)->threads, .min = 1, .max = 1024, .operand = "N", .help = "threads to use (default: as many as this process may)" }, \
	{ .type = ARG_TYPE_FLAG, .name = "quiet", .letter = 'q', .value = &(c)->quiet, .help = "no progress line, no warnings" }, \
	{ .type = ARG_TYPE_COUNT, .name = "verbose", .letter = 'v', .value = &(c)->verbose, .help = "say what was done, and a closing line" }, \
	{ .type = ARG_TYPE_STOP, .name = "version", .help = "print version and features, and exit" }, \
	{ .type = ARG_TYPE_STOP, .name = "help", .letter = 'h', .help = "print this help, and exit" }
#define ARG_COMMON(c) \
	ARG_STR("output", 'o', &(c)->output, "FILE", "write to FILE, made whole or not at all (default: standard output)"), \
	ARG_COMMON_NO_OUTPUT(c)
#define ARG_COMMON_FOLDER(c) \
	ARG_STR("output", 'o', &(c)->output, "DIR", "the folder to write into"), \
	ARG_COMMON_NO_OUTPUT(c)

struct args {
	const char *synopsis;		/* one line: "bert-x [options] [FILE...]" */
	const char *about;		/* one line: what the program does */
	const struct arg *table;
	struct args_common *common;	/* its threads are resolved, its levels set the log's */
	int min_operands, max_operands;	/* max -1: any number */
	/* filled by args_parse: */
	const char **operands;		/* point into argv; the array is good until the next args_parse */
	int n_operands;
};

#define ARGS_RUN (-1)

/*
 * Parses. Returns ARGS_RUN when the program should go on, else the status to
 * exit with: --help and --version print to stdout (status 0, or 1 when that
 * failed), bad usage prints two lines to stderr (status 2). Opens the log, and
 * limits the processor's features to what $BERTTOOLS_CPU says (base/cpu.h).
 * The table, argv and *A must outlive the use of what follows.
 */
int args_parse(struct args *a, int argc, char **argv);

/* Whether option NAME, or an alias of it, was given in the last args_parse (not merely defaulted). */
bool args_given(const char *name);

/* Adds the command line of the last args_parse, quoted as a shell needs it. */
int args_command(struct buf *b);

/* Adds the --help text: usage, then the options in their groups, each with the default that its variable holds now. */
int args_help(struct buf *b, const struct args *a);

/* The second line of every usage error, to stderr: "usage: SYNOPSIS (see bert-x --help)". */
void args_print_usage(void);

/* "64M" -> 67108864, as ARG_SIZE reads it ("64m", "64MB" and "64MiB" too); -1 with the reason set. */
int args_read_size(const char *text, uint64_t *bytes);

/*
 * "2/3" -> part 2 of 3, counted from 0; -1 with the reason set. "auto" takes the
 * place that a scheduler gave this process, from the first of these that is set:
 * (SLURM_ARRAY_TASK_ID - SLURM_ARRAY_TASK_MIN) / SLURM_ARRAY_TASK_STEP of
 * SLURM_ARRAY_TASK_COUNT, OMPI_COMM_WORLD_RANK of OMPI_COMM_WORLD_SIZE (before
 * Slurm's own: under mpirun in a batch job SLURM_PROCID is that of the script),
 * SLURM_PROCID of SLURM_NTASKS. Refused: an array of one task that is not 0, or one whose SLURM_ARRAY_TASK_MAX tells of more
 * tasks than it has, since these are some of another array's, run again.
 */
int args_read_part(const char *text, uint64_t *part, uint64_t *parts);

#endif
