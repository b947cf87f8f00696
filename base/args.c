#include "base/args.h"

#include "base/arena.h"
#include "base/cpu.h"
#include "base/err.h"
#include "base/log.h"
#include "base/pool.h"
#include "base/tool.h"

#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The last args_parse; programs have one command line. */
static struct {
	const struct args *args;
	bool *given;			/* for each row of the table */
	int argc;
	char **argv;
	struct arena memory;
} last;

/* --- names ----------------------------------------------------------------- */

/* Whether TEXT[0..len) is NAME, '_' being as good as '-'. */
static bool is_name(const char *name, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!name[i] || name[i] != (text[i] == '_' ? '-' : text[i]))
			return false;
	return name[len] == 0;
}

static const struct arg *find_long(const struct arg *table, const char *text, size_t len)
{
	for (const struct arg *o = table; o->type != ARG_TYPE_END; o++)
		if (o->name && is_name(o->name, text, len))
			return o;
	return NULL;
}

static const struct arg *find_letter(const struct arg *table, char letter)
{
	for (const struct arg *o = table; o->type != ARG_TYPE_END; o++)
		if (o->letter && o->letter == letter)
			return o;
	return NULL;
}

/* What an alias stands for; *OPPOSITE is set when it turns a flag round. */
static const struct arg *behind(const struct arg *table, const struct arg *o, bool *opposite)
{
	const char *of;

	*opposite = false;
	if (o->type != ARG_TYPE_ALIAS)
		return o;
	*opposite = o->operand[0] == '!';
	of = o->operand + *opposite;
	o = find_long(table, of, strlen(of));
	assert(o && o->type != ARG_TYPE_ALIAS && (!*opposite || o->type == ARG_TYPE_FLAG));
	return o;
}

static bool takes_value(const struct arg *o)
{
	return o->type != ARG_TYPE_FLAG && o->type != ARG_TYPE_COUNT && o->type != ARG_TYPE_STOP;
}

/* --- values ---------------------------------------------------------------- */

/* Decimal digits up to *END; -1 when there are none or too many. */
static int read_digits(const char *text, uint64_t *value, const char **end)
{
	uint64_t v = 0;

	if (!isdigit((unsigned char)*text))
		return -1;
	for (; isdigit((unsigned char)*text); text++)
		if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, *text - '0', &v))
			return -1;
	*value = v;
	*end = text;
	return 0;
}

int args_read_size(const char *text, uint64_t *bytes)
{
	static const char units[] = "kmgt";
	const char *end, *unit;
	unsigned shift = 0;
	uint64_t v;

	if (read_digits(text, &v, &end))
		goto bad;
	unit = *end ? strchr(units, tolower((unsigned char)*end)) : NULL;
	if (unit) {
		shift = 10 * (unsigned)(unit - units + 1);
		end++;
		if (strcasecmp(end, "ib") == 0)
			end++;
	}
	if (strcasecmp(end, "b") == 0)
		end++;
	if (*end || v > UINT64_MAX >> shift)
		goto bad;
	*bytes = v << shift;
	return 0;
bad:
	return err_usage("'%s' is not a size (such as 65536, 512K, 64M or 2G)", text);
}

static int check_range(const char *option, const char *text, const struct arg *o, uint64_t v)
{
	if (v >= o->min && v <= o->max)
		return 0;
	if (o->max == UINT64_MAX)
		return err_usage("option '%s': '%s' is less than %" PRIu64, option, text, o->min);
	return err_usage("option '%s': '%s' is not between %" PRIu64 " and %" PRIu64, option, text, o->min, o->max);
}

static int store_uint(const char *option, const char *text, const struct arg *o)
{
	const char *end;
	uint64_t v;

	if (read_digits(text, &v, &end) || *end)
		return err_usage("option '%s': '%s' is not a whole number", option, text);
	if (check_range(option, text, o, v))
		return -1;
	*(uint64_t *)o->value = v;
	return 0;
}

static int store_size(const char *option, const char *text, const struct arg *o)
{
	uint64_t v;

	if (args_read_size(text, &v))
		return err_prefix("option '%s'", option);
	if (check_range(option, text, o, v))
		return -1;
	*(uint64_t *)o->value = v;
	return 0;
}

static int store_real(const char *option, const char *text, const struct arg *o)
{
	char *end;
	double v = strtod(text, &end);

	if (end == text || *end || isspace((unsigned char)*text) || v != v)
		return err_usage("option '%s': '%s' is not a number", option, text);
	if (v < o->low || v > o->high)
		return err_usage("option '%s': '%s' is not between %g and %g", option, text, o->low, o->high);
	*(double *)o->value = v;
	return 0;
}

static int store_flag(const char *option, const char *text, const struct arg *o, bool opposite)
{
	static const char *const words[] = { "false", "no", "0", "true", "yes", "1" };
	const size_t n = sizeof(words) / sizeof(words[0]);
	size_t i = text ? 0 : n / 2;	/* without a value: true */

	while (text && i < n && strcasecmp(text, words[i]))
		i++;
	if (i == n)
		return err_usage("option '%s': '%s' is not true or false", option, text);
	*(bool *)o->value = (i >= n / 2) != opposite;
	return 0;
}

/* The words of a choice stand in one string, as "google|hf". */
static int store_choice(const char *option, const char *text, const struct arg *o)
{
	const size_t len = strlen(text);
	const char *word = o->operand;

	for (int i = 0;; i++) {
		size_t n = strcspn(word, "|");

		if (n == len && memcmp(word, text, n) == 0) {
			*(int *)o->value = i;
			return 0;
		}
		if (!word[n])
			return err_usage("option '%s': '%s' is not one of %s", option, text, o->operand);
		word += n + 1;
	}
}

static int store_list(const char *text, const struct arg *o)
{
	struct arg_list *list = o->value;

	if (!last.given[o - last.args->table]) {
		list->items = arena_alloc(&last.memory, (size_t)last.argc * sizeof(*list->items));
		list->count = 0;
		if (!list->items)
			return -1;
	}
	list->items[list->count++] = text;
	return 0;
}

/* OPTION is what the user wrote; TEXT may be NULL for what takes no value. */
static int store(const char *option, const char *text, const struct arg *o, bool opposite)
{
	int rc = 0;

	switch (o->type) {
	case ARG_TYPE_FLAG: rc = store_flag(option, text, o, opposite); break;
	case ARG_TYPE_STR: *(const char **)o->value = text; break;
	case ARG_TYPE_LIST: rc = store_list(text, o); break;
	case ARG_TYPE_UINT: rc = store_uint(option, text, o); break;
	case ARG_TYPE_SIZE: rc = store_size(option, text, o); break;
	case ARG_TYPE_REAL: rc = store_real(option, text, o); break;
	case ARG_TYPE_CHOICE: rc = store_choice(option, text, o); break;
	case ARG_TYPE_COUNT: ++*(int *)o->value; break;
	case ARG_TYPE_END: case ARG_TYPE_GROUP: case ARG_TYPE_ALIAS: case ARG_TYPE_STOP: break;
	}
	last.given[o - last.args->table] = true;
	return rc;
}

/* --- the command line ------------------------------------------------------ */

/* What became of an argument: taken alone, taken with the next one as its value, or the program has done its work. */
enum { TOOK_ONE, TOOK_TWO, STOPPED };

static int run_stop(const struct arg *o, const struct buf *help)
{
	const bool version = strcmp(o->name, "version") == 0;

	if (version ? tool_print_version(log_program()) : tool_print(help->data, help->len))
		return -1;
	return STOPPED;
}

/* "--name", "--name=value", and "--name value" with NEXT the value (NULL: there is none). */
static int take_long(const struct arg *table, const char *arg, const char *next, const struct buf *help)
{
	const size_t len = strcspn(arg, "=");
	const char *text = arg[len] ? arg + len + 1 : NULL;
	const struct arg *o = len > 2 ? find_long(table, arg + 2, len - 2) : NULL;
	const bool apart = !text;
	char option[128];
	bool opposite;

	snprintf(option, sizeof(option), "%.*s", len > 100 ? 100 : (int)len, arg);
	if (!o)
		return err_usage("unknown option '%s'", option);
	o = behind(table, o, &opposite);
	if (text && (o->type == ARG_TYPE_COUNT || o->type == ARG_TYPE_STOP))
		return err_usage("option '%s' takes no value", option);
	if (o->type == ARG_TYPE_STOP)
		return run_stop(o, help);
	if (takes_value(o) && apart) {
		if (!next)
			return err_usage("option '%s' needs a value: %s", option, o->operand);
		text = next;
	}
	if (store(option, text, o, opposite))
		return -1;
	return takes_value(o) && apart ? TOOK_TWO : TOOK_ONE;
}

/* "-q", "-vv", "-oFILE", and "-o FILE". */
static int take_letters(const struct arg *table, const char *arg, const char *next, const struct buf *help)
{
	for (const char *p = arg + 1; *p; p++) {
		const struct arg *o = find_letter(table, *p);
		const char option[] = { '-', *p, 0 };

		if (!o)
			return err_usage("unknown option '%s'", (unsigned char)*p < 0x80 && arg[2] ? option : arg);
		if (o->type == ARG_TYPE_STOP)
			return run_stop(o, help);
		if (!takes_value(o)) {
			if (store(option, NULL, o, false))
				return -1;
			continue;
		}
		if (p[1])
			return store(option, p + 1, o, false) ? -1 : TOOK_ONE;
		if (!next)
			return err_usage("option '%s' needs a value: %s", option, o->operand);
		return store(option, next, o, false) ? -1 : TOOK_TWO;
	}
	return TOOK_ONE;
}

/* 0, STOPPED, or -1. */
static int take_all(struct args *a, const struct buf *help)
{
	bool options = true;
	int took;

	for (int i = 1; i < last.argc; i += took == TOOK_TWO ? 2 : 1) {
		const char *arg = last.argv[i], *next = i + 1 < last.argc ? last.argv[i + 1] : NULL;

		took = TOOK_ONE;
		if (!options || arg[0] != '-' || arg[1] == 0)
			a->operands[a->n_operands++] = arg;
		else if (strcmp(arg, "--") == 0)
			options = false;
		else if (arg[1] == '-')
			took = take_long(a->table, arg, next, help);
		else
			took = take_letters(a->table, arg, next, help);
		if (took < 0 || took == STOPPED)
			return took;
	}
	return 0;
}

static int check_operands(const struct args *a)
{
	if (a->max_operands >= 0 && a->n_operands > a->max_operands)
		return err_usage("'%s' is one operand too many", a->operands[a->max_operands]);
	if (a->n_operands < a->min_operands)
		return err_usage(a->n_operands ? "too few operands" : "an operand is missing");
	return 0;
}

static int limit_cpu(void)
{
	const char *names = getenv("BERTTOOLS_CPU");

	return names && *names && cpu_limit(names) ? err_prefix("BERTTOOLS_CPU") : 0;
}

static int begin(struct args *a, int argc, char **argv)
{
	size_t rows = 0;

	arena_clear(&last.memory);
	last.args = NULL;
	while (a->table[rows].type != ARG_TYPE_END)
		rows++;
	a->n_operands = 0;
	a->operands = arena_alloc(&last.memory, ((size_t)argc + 1) * sizeof(*a->operands));
	last.given = arena_alloc(&last.memory, rows + 1);
	if (!a->operands || !last.given)
		return -1;
	memset(last.given, 0, rows + 1);
	last.args = a;
	last.argc = argc;
	last.argv = argv;
	return 0;
}

static enum log_level level_of(const struct args_common *c)
{
	if (c->quiet)
		return LOG_ERROR;
	return c->verbose > 1 ? LOG_DEBUG : c->verbose ? LOG_INFO : LOG_WARN;
}

int args_parse(struct args *a, int argc, char **argv)
{
	struct buf help = BUF_INIT;
	int rc;

	log_open(argc > 0 ? argv[0] : "berttools", LOG_WARN);
	/* The help shows the defaults, so it is made before anything is stored over them. */
	rc = begin(a, argc, argv) || args_help(&help, a) ? -1 : take_all(a, &help);
	buf_release(&help);
	if (rc == STOPPED)
		return EXIT_DONE;
	if (rc || check_operands(a) || limit_cpu())
		return tool_fail();
	if (a->common) {
		struct args_common *c = a->common;

		log_open(log_program(), level_of(c));
		if (!c->threads)
			c->threads = pool_allowed_threads();
	}
	return ARGS_RUN;
}

bool args_given(const char *name)
{
	const struct arg *o;
	bool opposite;

	if (!last.args)
		return false;
	o = find_long(last.args->table, name, strlen(name));
	assert(o);
	return last.given[behind(last.args->table, o, &opposite) - last.args->table];
}

/* Whether a shell takes WORD for itself without quotes. */
static bool is_plain(const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+./,:@%";

	return *word && word[strspn(word, plain)] == 0;
}

static int add_quoted(struct buf *b, const char *word)
{
	if (is_plain(word))
		return buf_adds(b, word);
	if (buf_add_byte(b, '\''))
		return -1;
	for (; *word; word++)
		if (*word == '\'' ? buf_adds(b, "'\\''") : buf_add_byte(b, (unsigned char)*word))
			return -1;
	return buf_add_byte(b, '\'');
}

int args_command(struct buf *b)
{
	if (add_quoted(b, log_program()))
		return -1;
	for (int i = 1; last.args && i < last.argc; i++)
		if (buf_add_byte(b, ' ') || add_quoted(b, last.argv[i]))
			return -1;
	return 0;
}

void args_print_usage(void)
{
	if (last.args)
		fprintf(stderr, "usage: %s (see %s --help)\n", last.args->synopsis, log_program());
}

/* --- parts ----------------------------------------------------------------- */

static int read_variable(const char *name, uint64_t *value)
{
	const char *text = getenv(name), *end;

	if (!text)
		return err_usage("part 'auto': %s is not set", name);
	if (read_digits(text, value, &end) || *end)
		return err_usage("part 'auto': %s is '%s', not a whole number", name, text);
	return 0;
}

static int read_variable_or(const char *name, uint64_t *value, uint64_t otherwise)
{
	*value = otherwise;
	return getenv(name) ? read_variable(name, value) : 0;
}

/*
 * An array that is some tasks of an earlier one, run again, has their numbers but counts only them: of how many parts it was
 * nobody says. It is known by numbers with gaps, or by one number that is not 0.
 */
static int read_part_array(uint64_t *part, uint64_t *parts)
{
	uint64_t id, least, most, step;

	if (read_variable("SLURM_ARRAY_TASK_ID", &id) || read_variable("SLURM_ARRAY_TASK_COUNT", parts) ||
	    read_variable_or("SLURM_ARRAY_TASK_MIN", &least, 0) ||
	    read_variable_or("SLURM_ARRAY_TASK_STEP", &step, 1))
		return -1;
	if (id < least || !step || (id - least) % step)
		return err_usage("part 'auto': SLURM_ARRAY_TASK_ID fits neither its least nor its step");
	if (read_variable_or("SLURM_ARRAY_TASK_MAX", &most, *parts ? least + (*parts - 1) * step : id))
		return -1;
	if ((*parts == 1 && id) || most < least || (most - least) / step + 1 != *parts)
		return err_usage("part 'auto': an array of %" PRIu64 " with task %" PRIu64 " is part of another one: say of how "
				 "many parts by hand, as --part %" PRIu64 "/N", *parts, id, id);
	*part = (id - least) / step;
	return 0;
}

static int read_part_auto(uint64_t *part, uint64_t *parts)
{
	if (getenv("SLURM_ARRAY_TASK_ID")) {
		if (read_part_array(part, parts))
			return -1;
	} else if (getenv("OMPI_COMM_WORLD_RANK")) {
		if (read_variable("OMPI_COMM_WORLD_RANK", part) || read_variable("OMPI_COMM_WORLD_SIZE", parts))
			return -1;
	} else if (getenv("SLURM_PROCID")) {
		if (read_variable("SLURM_PROCID", part) || read_variable("SLURM_NTASKS", parts))
			return -1;
	} else {
		return err_usage("part 'auto': none of SLURM_ARRAY_TASK_ID, OMPI_COMM_WORLD_RANK, SLURM_PROCID is set");
	}
	if (*part >= *parts)
		return err_usage("part 'auto': no part %" PRIu64 ", counted from 0, of %" PRIu64, *part, *parts);
	return 0;
}

int args_read_part(const char *text, uint64_t *part, uint64_t *parts)
{
	const char *end;
	uint64_t i, n;

	if (strcmp(text, "auto") == 0)
		return read_part_auto(part, parts);
	if (read_digits(text, &i, &end) || *end != '/' || read_digits(end + 1, &n, &end) || *end || i >= n)
		return err_usage("'%s' is not a part: 'I/N' with I from 0 to N - 1, or 'auto'", text);
	*part = i;
	*parts = n;
	return 0;
}
