#include "base/args.h"

#include "base/cpu.h"
#include "base/err.h"
#include "base/log.h"
#include "base/pool.h"
#include "tests/unit/base/capture.h"

#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static struct values {
	bool cased, hidden, on;
	const char *vocab, *name;
	struct arg_list inputs;
	uint64_t length, memory, part_of;
	double rate;
	int compat;
	struct args_common common;
} v;

static const struct arg table[] = {
	ARG_STR("vocab", 0, &v.vocab, "FILE", "WordPiece vocabulary, one token a line"),
	ARG_FLAG("cased", 0, &v.cased, "do not lower-case"),
	ARG_FLAG("on", 0, &v.on, "a flag that is on by default"),
	ARG_ALIAS("do-lower-case", "!cased"),
	ARG_STR("name", 'n', &v.name, "NAME", "a name with a default"),
	ARG_FLAG("hidden", 0, &v.hidden, NULL),
	ARG_GROUP("Numbers"),
	ARG_LIST("input", 'i', &v.inputs, "FILE", "one more input; may be given several times"),
	ARG_ALIAS("input-file", "input"),
	ARG_UINT("max-seq-length", 'l', &v.length, 5, 65535, "N", "tokens of an instance"),
	ARG_UINT("any", 0, &v.part_of, 0, UINT64_MAX, "N", "any number"),
	ARG_SIZE("memory", 'm', &v.memory, 65536, UINT64_MAX,
		 "memory to use for sorting, which is quite a long text that has to go on in a second line"),
	ARG_REAL("masked-lm-prob", 0, &v.rate, 0, 1, "X", "share of masked tokens"),
	ARG_CHOICE("compat", 'c', &v.compat, "google|hf|a-longer-word", "whose ids"),
	ARG_COMMON(&v.common),
	ARG_END
};

static struct args args;

static void set_defaults(void)
{
	v = (struct values){ .on = true, .name = "shard", .length = 128, .memory = 64 << 20, .rate = 0.15 };
	args = (struct args){ .synopsis = "bert-x [options] [FILE...]", .about = "Does something to FILEs.",
			      .table = table, .common = &v.common, .max_operands = -1 };
}

/* A command line of words split at single spaces, after "bert-x"; kept until the next call. */
static int parse(const char *line)
{
	static char words[1024];
	static char *argv[64];
	static char program[] = "/usr/bin/bert-x";
	int argc = 0;

	argv[argc++] = program;
	snprintf(words, sizeof(words), "%s", line);
	for (char *p = *words ? words : NULL, *end; p; p = end) {
		end = strchr(p, ' ');
		if (end)
			*end++ = 0;
		argv[argc++] = p;
	}
	argv[argc] = NULL;
	return args_parse(&args, argc, argv);
}

/* The same with default values, and success expected. */
static void parse_good(const char *line)
{
	set_defaults();
	if (parse(line) != ARGS_RUN)
		fail_msg("'%s' was refused", line);
}

static int parse_in_child(void *line)
{
	int rc = parse(line);

	return rc == ARGS_RUN ? 99 : rc;
}

static struct capture captured(const char *line)
{
	struct capture c = { 0 };
	char copy[256];

	snprintf(copy, sizeof(copy), "%s", line);
	set_defaults();
	capture_run(&c, parse_in_child, copy);
	return c;
}

static void test_defaults(void **state)
{
	(void)state;
	parse_good("");
	assert_int_equal(args.n_operands, 0);
	assert_int_equal(v.length, 128);
	assert_int_equal(v.common.threads, pool_allowed_threads());
	assert_int_equal(log_shown(), LOG_WARN);
	assert_string_equal(log_program(), "bert-x");
	assert_false(args_given("vocab"));
	assert_false(args_given("do-lower-case"));
}

static void test_spellings(void **state)
{
	static const char *const lines[] = {
		"--max-seq-length 77", "--max-seq-length=77", "--max_seq_length 77", "--max_seq_length=77",
		"--max_seq-length=77", "-l 77", "-l77", "-ql77", "-l 5 -l 77", "--max-seq-length 5 --max_seq_length=77",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		parse_good(lines[i]);
		assert_int_equal(v.length, 77);
		assert_true(args_given("max-seq-length"));
		assert_true(args_given("max_seq_length"));
		assert_false(args_given("any"));
	}
}

static void test_operands(void **state)
{
	(void)state;
	parse_good("a --cased b - -n x c -- -d -- --on=no");
	assert_int_equal(args.n_operands, 7);
	assert_string_equal(args.operands[0], "a");
	assert_string_equal(args.operands[1], "b");
	assert_string_equal(args.operands[2], "-");
	assert_string_equal(args.operands[3], "c");
	assert_string_equal(args.operands[4], "-d");
	assert_string_equal(args.operands[5], "--");
	assert_string_equal(args.operands[6], "--on=no");
	assert_true(v.cased);
	assert_true(v.on);
	assert_string_equal(v.name, "x");
	parse_good("--vocab - -o - -n --cased --name=a=b");	/* values may look like anything */
	assert_string_equal(v.vocab, "-");
	assert_string_equal(v.common.output, "-");
	assert_string_equal(v.name, "a=b");
	assert_false(v.cased);
	parse_good("--name=");
	assert_string_equal(v.name, "");
}

static void test_flags(void **state)
{
	static const char *const yes[] = { "", "=true", "=True", "=TRUE", "=yes", "=1" };
	static const char *const no[] = { "=false", "=False", "=no", "=NO", "=0" };
	char line[64];

	(void)state;
	for (size_t i = 0; i < 6; i++) {
		snprintf(line, sizeof(line), "--cased%s", yes[i]);
		parse_good(line);
		assert_true(v.cased);
		snprintf(line, sizeof(line), "--cased --do_lower_case%s", yes[i]);
		parse_good(line);
		assert_false(v.cased);
		assert_true(args_given("cased"));
		assert_true(args_given("do-lower-case"));
	}
	for (size_t i = 0; i < 5; i++) {
		snprintf(line, sizeof(line), "--on%s", no[i]);
		parse_good(line);
		assert_false(v.on);
		snprintf(line, sizeof(line), "--do_lower_case%s", no[i]);
		parse_good(line);
		assert_true(v.cased);
	}
	parse_good("--cased x");	/* the next word is no value of it */
	assert_int_equal(args.n_operands, 1);
}

static void test_lists(void **state)
{
	(void)state;
	parse_good("--input a -ib x --input_file=c -i d");
	assert_int_equal(v.inputs.count, 4);
	assert_string_equal(v.inputs.items[0], "a");
	assert_string_equal(v.inputs.items[1], "b");
	assert_string_equal(v.inputs.items[2], "c");
	assert_string_equal(v.inputs.items[3], "d");
	assert_true(args_given("input"));
	assert_true(args_given("input-file"));
	assert_int_equal(parse("-i e"), ARGS_RUN);	/* in place of what it held */
	assert_int_equal(v.inputs.count, 1);
	assert_string_equal(v.inputs.items[0], "e");
}

static void test_values(void **state)
{
	(void)state;
	parse_good("--any=18446744073709551615 --masked-lm-prob=1e-2 --compat hf --memory 2G");
	assert_true(v.part_of == UINT64_MAX);
	assert_true(fabs(v.rate - 0.01) < 1e-12);
	assert_int_equal(v.compat, 1);
	assert_true(v.memory == UINT64_C(2) << 30);
	parse_good("-l 5 --masked-lm-prob 0 -c a-longer-word -m 65536");
	assert_int_equal(v.length, 5);
	assert_int_equal(v.compat, 2);
	parse_good("-l 65535 --masked-lm-prob 1 -cgoogle");
	assert_int_equal(v.compat, 0);
}

static void test_levels(void **state)
{
	(void)state;
	parse_good("-v");
	assert_int_equal(log_shown(), LOG_INFO);
	parse_good("-vv");
	assert_int_equal(log_shown(), LOG_DEBUG);
	parse_good("--verbose -v --threads=3");
	assert_int_equal(log_shown(), LOG_DEBUG);
	assert_int_equal(v.common.threads, 3);
	parse_good("-q");
	assert_int_equal(log_shown(), LOG_ERROR);
	parse_good("-vq");
	assert_int_equal(log_shown(), LOG_ERROR);
}

static void test_bad_usage(void **state)
{
	static const char *const cases[][2] = {
		{ "--foo", "unknown option '--foo'" },
		{ "--foo=7 x", "unknown option '--foo'" },
		{ "--max-seq 7", "unknown option '--max-seq'" },
		{ "--max-seq-lengths 7", "unknown option '--max-seq-lengths'" },
		{ "--Cased", "unknown option '--Cased'" },
		{ "--=x", "unknown option '--'" },
		{ "---cased", "unknown option '---cased'" },
		{ "-x", "unknown option '-x'" },
		{ "-qx", "unknown option '-x'" },
		{ "-\xC3\xA9", "unknown option '-\xC3\xA9'" },
		{ "--vocab", "option '--vocab' needs a value: FILE" },
		{ "x -l", "option '-l' needs a value: N" },
		{ "-c", "option '-c' needs a value: google|hf|a-longer-word" },
		{ "--max_seq_length=4", "option '--max_seq_length': '4' is not between 5 and 65535" },
		{ "-l 65536", "option '-l': '65536' is not between 5 and 65535" },
		{ "-l -7", "option '-l': '-7' is not a whole number" },
		{ "-l +7", "option '-l': '+7' is not a whole number" },
		{ "-l 7x", "option '-l': '7x' is not a whole number" },
		{ "-l 0x10", "option '-l': '0x10' is not a whole number" },
		{ "-l=7", "option '-l': '=7' is not a whole number" },
		{ "--max-seq-length=", "option '--max-seq-length': '' is not a whole number" },
		{ "--any 18446744073709551616", "option '--any': '18446744073709551616' is not a whole number" },
		{ "--threads 0", "option '--threads': '0' is not between 1 and 1024" },
		{ "-m 1K", "option '-m': '1K' is less than 65536" },
		{ "-m lots", "option '-m': 'lots' is not a size (such as 65536, 512K, 64M or 2G)" },
		{ "--masked-lm-prob 1.1", "option '--masked-lm-prob': '1.1' is not between 0 and 1" },
		{ "--masked-lm-prob inf", "option '--masked-lm-prob': 'inf' is not between 0 and 1" },
		{ "--masked-lm-prob nan", "option '--masked-lm-prob': 'nan' is not a number" },
		{ "--masked-lm-prob 0.1x", "option '--masked-lm-prob': '0.1x' is not a number" },
		{ "--masked-lm-prob=", "option '--masked-lm-prob': '' is not a number" },
		{ "--compat torch", "option '--compat': 'torch' is not one of google|hf|a-longer-word" },
		{ "--compat=", "option '--compat': '' is not one of google|hf|a-longer-word" },
		{ "--compat goog", "option '--compat': 'goog' is not one of google|hf|a-longer-word" },
		{ "--cased=maybe", "option '--cased': 'maybe' is not true or false" },
		{ "--verbose=2", "option '--verbose' takes no value" },
		{ "--help=all", "option '--help' takes no value" },
		{ "-q --foo", "unknown option '--foo'" },
	};
	char want[512];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct capture c = captured(cases[i][0]);

		snprintf(want, sizeof(want), "bert-x: %s\nusage: bert-x [options] [FILE...] (see bert-x --help)\n",
			 cases[i][1]);
		assert_string_equal(c.err, want);
		assert_string_equal(c.out, "");
		assert_int_equal(c.exit_status, EXIT_USAGE);
	}
}

static int parse_two(void *line)
{
	args.min_operands = args.max_operands = 2;
	return parse_in_child(line);
}

static void test_operand_count(void **state)
{
	static const struct {
		const char *line, *error;
	} cases[] = {
		{ "", "bert-x: an operand is missing\n" },
		{ "a", "bert-x: too few operands\n" },
		{ "a b", NULL },
		{ "a b c d", "bert-x: 'c' is one operand too many\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct capture c = { 0 };
		char line[32];

		snprintf(line, sizeof(line), "%s", cases[i].line);
		set_defaults();
		capture_run(&c, parse_two, line);
		assert_int_equal(c.exit_status, cases[i].error ? EXIT_USAGE : 99);
		if (cases[i].error)
			assert_memory_equal(c.err, cases[i].error, strlen(cases[i].error));
		else
			assert_string_equal(c.err, "");
	}
}

static const char help[] =
	"usage: bert-x [options] [FILE...]\n"
	"Does something to FILEs.\n"
	"\n"
	"Options:\n"
	"      --vocab FILE            WordPiece vocabulary, one token a line\n"
	"      --cased                 do not lower-case\n"
	"      --on                    a flag that is on by default [yes]\n"
	"  -n, --name NAME             a name with a default [shard]\n"
	"\n"
	"Numbers:\n"
	"  -i, --input FILE            one more input; may be given several times\n"
	"  -l, --max-seq-length N      tokens of an instance [128]\n"
	"      --any N                 any number [0]\n"
	"  -m, --memory SIZE           memory to use for sorting, which is quite a long\n"
	"                              text that has to go on in a second line [64M]\n"
	"      --masked-lm-prob X      share of masked tokens [0.15]\n"
	"  -c, --compat google|hf|a-longer-word\n"
	"                              whose ids [google]\n"
	"  -o, --output FILE           write to FILE, made whole or not at all (default:\n"
	"                              standard output)\n"
	"\n"
	"Common options:\n"
	"      --threads N             threads to use (default: as many as this process\n"
	"                              may)\n"
	"  -q, --quiet                 no progress line, no warnings\n"
	"  -v, --verbose               say what was done, and a closing line\n"
	"      --version               print version and features, and exit\n"
	"  -h, --help                  print this help, and exit\n";

static void test_help(void **state)
{
	/* The defaults are those from before the command line. */
	static const char *const lines[] = { "--help", "-h", "-qh", "-l 7 --name=x x --on=no --help", "--help --foo" };

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct capture c = captured(lines[i]);

		assert_string_equal(c.out, help);
		assert_string_equal(c.err, "");
		assert_int_equal(c.exit_status, 0);
	}
}

static void test_version(void **state)
{
	struct capture c = captured("--version");

	(void)state;
	assert_int_equal(c.exit_status, 0);
	assert_memory_equal(c.out, "bert-x (berttools) ", 19);
	assert_string_equal(c.err, "");
}

static void test_stdout_full(void **state)
{
	static char lines[][16] = { "--help", "--version" };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct capture c = { .stdout_path = "/dev/full" };

		set_defaults();
		capture_run(&c, parse_in_child, lines[i]);
		assert_int_equal(c.exit_status, EXIT_FAILED);
		assert_string_equal(c.err, "bert-x: cannot write to standard output: No space left on device\n");
	}
}

static int parse_with_cpu(void *names)
{
	static char none[] = "";

	setenv("BERTTOOLS_CPU", names, 1);
	if (parse_in_child(none) != 99)
		return EXIT_USAGE;
	return cpu_features() == 0 ? 98 : 97;
}

static void test_cpu_variable(void **state)
{
	struct capture c = { 0 };
	char none[] = "none", bad[] = "sse9";

	(void)state;
	set_defaults();
	capture_run(&c, parse_with_cpu, none);
	assert_int_equal(c.exit_status, 98);
	capture_run(&c, parse_with_cpu, bad);
	assert_int_equal(c.exit_status, EXIT_USAGE);
	assert_memory_equal(c.err, "bert-x: BERTTOOLS_CPU: unknown processor feature 'sse9'\n", 55);
}

static void test_command(void **state)
{
	struct buf b = BUF_INIT;
	char program[] = "bin/bert-x", quoted[] = "it's", empty[] = "", plain[] = "--name=a/b";
	char *argv[] = { program, plain, quoted, empty, NULL };

	(void)state;
	set_defaults();
	assert_int_equal(args_parse(&args, 4, argv), ARGS_RUN);
	assert_int_equal(args_command(&b), 0);
	assert_string_equal(b.data, "bert-x --name=a/b 'it'\\''s' ''");
	buf_release(&b);
}

static void test_sizes(void **state)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} good[] = {
		{ "0", 0 }, { "17", 17 }, { "17b", 17 }, { "17B", 17 }, { "1K", 1024 }, { "1k", 1024 }, { "2KB", 2048 },
		{ "2KiB", 2048 }, { "3kib", 3072 }, { "64M", 64 << 20 }, { "1G", 1 << 30 }, { "5T", UINT64_C(5) << 40 },
		{ "16777215T", UINT64_C(16777215) << 40 }, { "18446744073709551615", UINT64_MAX },
	};
	static const char *const bad[] = { "", "K", "-1", "+1", " 1", "1 K", "1.5G", "1Ki", "1iB", "1KK", "1P", "1KBB",
					   "18446744073709551616", "16777216T", "1M ", "99999999999999999999G" };
	uint64_t bytes;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(args_read_size(good[i].text, &bytes), 0);
		assert_true(bytes == good[i].bytes);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		err_clear();
		if (args_read_size(bad[i], &bytes) != -1 || err_code() != EXIT_USAGE)
			fail_msg("'%s' was taken", bad[i]);
	}
}

static void test_parts(void **state)
{
	static const char *const bad[] = { "", "1", "/", "1/", "/2", "2/2", "3/2", "0/0", "-1/2", "0/2x", "a/b",
					   "0/2/3", "Auto", "0 /2" };
	uint64_t part, parts;

	(void)state;
	assert_int_equal(args_read_part("0/1", &part, &parts), 0);
	assert_int_equal(parts, 1);
	assert_int_equal(args_read_part("2/3", &part, &parts), 0);
	assert_int_equal(part, 2);
	assert_int_equal(parts, 3);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		err_clear();
		if (args_read_part(bad[i], &part, &parts) != -1 || err_code() != EXIT_USAGE)
			fail_msg("'%s' was taken", bad[i]);
	}
}

/* VARIABLES: "A=1 B=2". Sets these alone; returns what args_read_part makes of "auto": part * 100 + parts, or -1. */
static int auto_part(const char *variables)
{
	static const char *const all[] = {
		"SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_STEP", "SLURM_ARRAY_TASK_COUNT",
		"SLURM_ARRAY_TASK_MAX",
		"SLURM_PROCID", "SLURM_NTASKS", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
	};
	char copy[256], *value, *next;
	uint64_t part, parts;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		unsetenv(all[i]);
	snprintf(copy, sizeof(copy), "%s", variables);
	for (char *p = *copy ? copy : NULL; p; p = next) {
		next = strchr(p, ' ');
		if (next)
			*next++ = 0;
		value = strchr(p, '=');
		assert_non_null(value);
		*value++ = 0;
		setenv(p, value, 1);
	}
	return args_read_part("auto", &part, &parts) ? -1 : (int)(part * 100 + parts);
}

static void test_parts_of_schedulers(void **state)
{
	(void)state;
	assert_int_equal(auto_part(""), -1);
	assert_int_equal(auto_part("SLURM_ARRAY_TASK_ID=7 SLURM_ARRAY_TASK_MIN=5 SLURM_ARRAY_TASK_COUNT=4"), 204);
	assert_int_equal(auto_part("SLURM_ARRAY_TASK_ID=2 SLURM_ARRAY_TASK_COUNT=4"), 204);
	assert_int_equal(auto_part("SLURM_ARRAY_TASK_ID=6 SLURM_ARRAY_TASK_MIN=2 SLURM_ARRAY_TASK_STEP=2 "
				   "SLURM_ARRAY_TASK_COUNT=3"), 203);
	assert_int_equal(auto_part("SLURM_ARRAY_TASK_ID=5 SLURM_ARRAY_TASK_MIN=2 SLURM_ARRAY_TASK_STEP=2 "
				   "SLURM_ARRAY_TASK_COUNT=3"), -1);
	assert_int_equal(auto_part("SLURM_ARRAY_TASK_ID=9 SLURM_ARRAY_TASK_MIN=5 SLURM_ARRAY_TASK_COUNT=4"), -1);
	assert_int_equal(auto_part("SLURM_ARRAY_TASK_ID=4 SLURM_ARRAY_TASK_MIN=5 SLURM_ARRAY_TASK_COUNT=4"), -1);
	assert_int_equal(auto_part("SLURM_ARRAY_TASK_ID=1"), -1);
	assert_int_equal(auto_part("SLURM_ARRAY_TASK_ID=7 SLURM_ARRAY_TASK_MIN=5 SLURM_ARRAY_TASK_MAX=8 "
				   "SLURM_ARRAY_TASK_COUNT=4"), 204);
	assert_int_equal(auto_part("SLURM_ARRAY_TASK_ID=0 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_MAX=0 "
				   "SLURM_ARRAY_TASK_COUNT=1"), 1);
	/* some tasks of another array, run again */
	err_clear();
	assert_int_equal(auto_part("SLURM_ARRAY_TASK_ID=2 SLURM_ARRAY_TASK_MIN=2 SLURM_ARRAY_TASK_MAX=2 "
				   "SLURM_ARRAY_TASK_COUNT=1"), -1);
	assert_int_equal(err_code(), EXIT_USAGE);
	assert_non_null(strstr(err_text(), "--part 2/N"));
	assert_int_equal(auto_part("SLURM_ARRAY_TASK_ID=2 SLURM_ARRAY_TASK_MIN=2 SLURM_ARRAY_TASK_MAX=5 "
				   "SLURM_ARRAY_TASK_COUNT=2"), -1);
	assert_int_equal(auto_part("SLURM_ARRAY_TASK_ID=6 SLURM_ARRAY_TASK_MIN=2 SLURM_ARRAY_TASK_MAX=6 "
				   "SLURM_ARRAY_TASK_STEP=2 SLURM_ARRAY_TASK_COUNT=3"), 203);
	assert_int_equal(auto_part("SLURM_ARRAY_TASK_ID=1 SLURM_ARRAY_TASK_COUNT=2 "
				   "SLURM_PROCID=0 SLURM_NTASKS=1"), 102);
	assert_int_equal(auto_part("SLURM_PROCID=3 SLURM_NTASKS=8"), 308);
	assert_int_equal(auto_part("SLURM_PROCID=x SLURM_NTASKS=8"), -1);
	assert_int_equal(auto_part("OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2"), 102);
	assert_int_equal(auto_part("OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 SLURM_PROCID=0 SLURM_NTASKS=1"), 102);
	assert_int_equal(auto_part("OMPI_COMM_WORLD_RANK=2 OMPI_COMM_WORLD_SIZE=2"), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_spellings),
		cmocka_unit_test(test_operands),
		cmocka_unit_test(test_flags),
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_levels),
		cmocka_unit_test(test_bad_usage),
		cmocka_unit_test(test_operand_count),
		cmocka_unit_test(test_help),
		cmocka_unit_test(test_version),
		cmocka_unit_test(test_stdout_full),
		cmocka_unit_test(test_cpu_variable),
		cmocka_unit_test(test_command),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_parts_of_schedulers),
	};

	unsetenv("BERTTOOLS_CPU");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
