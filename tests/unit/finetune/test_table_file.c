#include "finetune/table_file.h"

#include "base/buf.h"
#include "base/err.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static char path[] = "/tmp/test_table_file.XXXXXX";

static int set_up(void **state)
{
	const int fd = mkstemp(path);

	(void)state;
	return fd < 0 ? -1 : close(fd);
}

static int tear_down(void **state)
{
	(void)state;
	return unlink(path);
}

static void put(const char *bytes, size_t n)
{
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

#define PUT(literal) put((literal), sizeof(literal) - 1)

enum { TEXT, LABEL, SECOND, COLUMNS };
static const struct table_column columns[COLUMNS] = {
	{ "text", true, "--text" }, { "label", false, "--label" }, { "second", false, NULL },
};

/* What the file holds, as "line[cell|cell]..." with "~" for a cell that is not there; on failure "!" and the reason, without the path. */
static char *rows(const struct table_opts *o)
{
	struct buf b = BUF_INIT;
	struct table_file *t;
	struct table_row row;
	int rc = table_file_open(&t, path, o) ? -1 : 1;

	while (rc > 0 && (rc = table_file_next(t, &row)) > 0) {
		assert_int_equal(buf_addf(&b, "%" PRIu64 "[", row.line), 0);
		for (int i = 0; i < o->n; i++)
			assert_int_equal(buf_addf(&b, "%s%s", i ? "|" : "", row.cells[i] ? row.cells[i] : "~"), 0);
		assert_int_equal(buf_add_byte(&b, ']'), 0);
	}
	if (rc < 0) {
		const char *name = strstr(err_text(), path);

		assert_int_equal(err_code(), EXIT_CORRUPT);
		assert_non_null(name);
		assert_int_equal(buf_addf(&b, "!%s", name + strlen(path)), 0);
	}
	table_file_close(t);
	assert_int_equal(buf_reserve(&b, 1), 0);
	return b.data;
}

static void holds(const struct table_opts *o, const char *wanted)
{
	char *is = rows(o);

	if (strcmp(is, wanted))
		fail_msg("is     %s\nwanted %s", is, wanted);
	free(is);
}

static const struct table_opts two = { .columns = columns, .n = 2 }, three = { .columns = columns, .n = 3 };

/* --- tab-separated --------------------------------------------------------------- */

static void columns_are_found_by_name(void **state)
{
	(void)state;
	PUT("id\tlabel\ttext\n1\tgood\tA fine film.\n\n2\tbad\t\"Never\" again\r\n \t \n3\t\tx");
	holds(&two, "2[A fine film.|good]4[\"Never\" again|bad]6[x|]");
	holds(&three, "2[A fine film.|good|~]4[\"Never\" again|bad|~]6[x||~]");
	PUT("\xEF\xBB\xBFtext\r\n{\r\n");
	holds(&two, "2[{|~]");
	PUT("\n\nText\tLABEL\na\tb\n");
	holds(&two, "4[a|b]");
	PUT("Text\ttext\tLabel\nA\tb\tc\n");
	holds(&two, "2[b|c]");
	PUT("label\t\ttext\t\n1\t2\t3\t4\n");
	holds(&two, "2[3|1]");
}

static void bad_headers_are_refused(void **state)
{
	(void)state;
	PUT("");
	holds(&two, "!' has no rows");
	PUT("\n \n");
	holds(&two, "!' has no rows");
	PUT("text\tlabel\n\n");
	holds(&two, "!' has no rows");
	PUT("\nsentence\tlabel\nA\tb\n");
	holds(&two, "!', line 2: no column 'text' (--text); the columns are 'sentence', 'label'");
	PUT("Text\tTEXT\nA\tb\n");
	holds(&two, "!', line 1: more than one column could be 'text'");
	PUT("text\tlabel\tlabel\nA\tb\tc\n");
	holds(&two, "!', line 1: more than one column could be 'label'");
	PUT("[{\"text\": \"a\"}]\n");
	holds(&two, "!', line 1: no column 'text' (--text); the columns are '[{\"text\": \"a\"}]'");
	PUT("te\0xt\nA\n");
	holds(&two, "!', line 1: a 0 byte");
}

static void long_headers_are_listed_in_part(void **state)
{
	struct buf b = BUF_INIT;
	char *is;

	(void)state;
	for (int i = 0; i < 100; i++)
		assert_int_equal(buf_adds(&b, "this is a sentence with an end: öö\t"), 0);
	put(b.data, b.len);
	is = rows(&two);
	assert_true(strlen(is) < 600);
	assert_non_null(strstr(is, "'this is a sentence with an end: öö', "));
	assert_string_equal(is + strlen(is) - 5, ", ...");
	free(is);
	buf_clear(&b);
	for (int i = 0; i < 100; i++)
		assert_int_equal(buf_adds(&b, "xö"), 0);
	put(b.data, b.len);
	holds(&two, "!', line 1: no column 'text' (--text); the columns are 'xöxöxöxöxöxöxöxöxöxöxöxöxöx...'");
	buf_release(&b);
}

static void rows_have_as_many_cells(void **state)
{
	(void)state;
	PUT("text\tlabel\na\tb\nc\n");
	holds(&two, "2[a|b]!', line 3: 1 cell, but the first line has 2");
	PUT("text\tlabel\na\tb\n\nc\td\te\n");
	holds(&two, "2[a|b]!', line 4: 3 cells, but the first line has 2");
	PUT("text\na\nb\0c\n");
	holds(&two, "2[a|~]!', line 3: a 0 byte");
}

static void without_a_header_the_first_line_decides(void **state)
{
	static const int order[] = { LABEL, TEXT, SECOND };
	struct table_opts o = { .columns = columns, .n = 2, .no_header = true, .order = order, .n_order = 2 };

	(void)state;
	PUT("good\tA fine film.\nbad\tNever\n");
	holds(&o, "1[A fine film.|good]2[Never|bad]");
	PUT("A fine film.\nNever\n");
	holds(&o, "!', line 1: 1 cell; without a header there must be 'label', 'text'");
	o.fewer = 1;
	holds(&o, "1[A fine film.|~]2[Never|~]");
	PUT("A fine film.\nbad\tNever\n");
	holds(&o, "1[A fine film.|~]!', line 2: 2 cells, but the first line has 1");
	PUT("a\tb\tc\n");
	holds(&o, "!', line 1: 3 cells; without a header there must be 'label', 'text', or only the last of these");
	o.n = o.n_order = 3;
	o.fewer = 2;
	holds(&o, "1[b|a|c]");
	PUT("\nb\tc\nd\te\n");
	holds(&o, "2[b|~|c]3[d|~|e]");
	o.fewer = 1;
	PUT("c\n");
	holds(&o, "!', line 1: 1 cell; without a header there must be 'label', 'text', 'second', or only the last of these");
}

static void other_cells_may_follow(void **state)
{
	static const int order[] = { 0 };
	const struct table_opts o = { .columns = columns, .n = 1, .no_header = true, .order = order, .n_order = 1, .others = true };
	static const int both[] = { LABEL, TEXT };
	const struct table_opts more = { .columns = columns, .n = 2, .no_header = true, .order = both, .n_order = 2, .others = true };

	(void)state;
	PUT("a\nb\n");
	holds(&o, "1[a]2[b]");
	holds(&more, "!', line 1: 1 cell; without a header there must be 'label', 'text' first");
	PUT("a\tx\ty\nb\t\tz\n");
	holds(&o, "1[a]2[b]");
	holds(&more, "1[x|a]2[|b]");
	PUT("a\tx\nb\n");
	holds(&o, "1[a]!', line 2: 1 cell, but the first line has 2");
}

/* --- JSON lines ------------------------------------------------------------------- */

static void members_are_columns(void **state)
{
	(void)state;
	PUT("{\"text\": \"a\\tb\\n\\u00e9\\ud83d\\ude00\", \"label\": \"x\"}\r\n\n {\"LABEL\": \"y\", \"other\": [1, {}], \"Text\": \"\"}");
	holds(&two, "1[a\tb\né😀|x]3[|y]");
	PUT("{\"text\": \"a\", \"Text\": 1, \"TEXT\": 2}\n{\"text\": \"b\", \"label\": null}\n");
	holds(&three, "1[a|~|~]2[b|~|~]");
}

static void plain_values_are_text(void **state)
{
	(void)state;
	PUT("{\"text\": 0, \"label\": -12}\n{\"text\": true, \"label\": false}\n{\"text\": 9223372036854775807, \"label\": 1.0}\n"
	    "{\"text\": 0.1, \"label\": 1e300}\n{\"text\": 0.30000000000000004, \"label\": 2.5}\n");
	holds(&two, "1[0|-12]2[true|false]3[9223372036854775807|1.0]4[0.1|1e300]5[0.30000000000000004|2.5]");
}

static void one_member_may_be_two_columns(void **state)
{
	static const struct table_column same[] = { { "n", true, NULL }, { "N", true, NULL } };
	const struct table_opts o = { .columns = same, .n = 2 };

	(void)state;
	PUT("{\"n\": 1}\n{\"n\": \"x\"}\n");
	holds(&o, "1[1|1]2[x|x]");
	PUT("n\n1\n");
	holds(&o, "2[1|1]");
}

static void other_lines_are_refused(void **state)
{
	static const struct {
		const char *line, *says;
	} cases[] = {
		{ "x", "not a JSON object: " }, { "[1]", "not a JSON object" }, { "\"text\"", "not a JSON object" },
		{ "{\"text\": \"a\"", "not a JSON object: " }, { "{\"text\": \"a\"} {}", "not a JSON object: " },
		{ "{}", "no column 'text' (--text); the columns are none" },
		{ "{\"texts\": 1, \"label\": 2}", "no column 'text' (--text); the columns are 'texts', 'label'" },
		{ "{\"text\": null}", "'text' is null" }, { "{\"TEXT\": []}", "'TEXT' is no string, number or truth value" },
		{ "{\"text\": \"a\", \"label\": {}}", "'label' is no string, number or truth value" },
		{ "{\"Text\": 1, \"TEXT\": 2}", "more than one column could be 'text'" },
		{ "{\"text\": 1, \"text\": 2}", "not a JSON object: duplicate object key" },
		{ "{\"text\": \"\\ud800\"}", "not a JSON object: invalid Unicode" },
		{ "{\"text\": \"a\\u0000\"}", "not a JSON object: \\u0000 is not allowed" },
		{ "{\"text\": 9223372036854775808}", "not a JSON object: too big integer" },
		{ "{\"text\": 1e999}", "not a JSON object: real number overflow" },
		{ "text\tlabel", "not a JSON object: " },
	};
	struct buf b = BUF_INIT;
	char *is;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		buf_clear(&b);
		assert_int_equal(buf_addf(&b, "{\"text\": \"a\"}\n\n%s\n", cases[i].line), 0);
		put(b.data, b.len);
		is = rows(&two);
		if (strncmp(is, "1[a|~]!', line 3: ", 18) || strncmp(is + 18, cases[i].says, strlen(cases[i].says)))
			fail_msg("%s: %s", cases[i].line, is);
		free(is);
	}
	buf_release(&b);
	PUT("{\"text\": \"a\"}\n{\"text\": \"\0\"}\n");
	is = rows(&two);
	assert_non_null(strstr(is, "1[a|~]!', line 2: not a JSON object"));
	free(is);
}

/* --- both ------------------------------------------------------------------------- */

static void ill_formed_bytes_are_replaced_and_counted(void **state)
{
	struct table_file *t;
	struct table_row row;

	(void)state;
	PUT("text\n\xFFz\n");
	assert_int_equal(table_file_open(&t, path, &two), 0);
	assert_int_equal(table_file_next(t, &row), 1);
	assert_string_equal(row.cells[0], "\xEF\xBF\xBDz");
	assert_int_equal(table_file_bad_bytes(t), 1);
	assert_int_equal(table_file_corrupt(t, "the cell is '%s'", "z"), -1);
	assert_int_equal(err_code(), EXIT_CORRUPT);
	assert_non_null(strstr(err_text(), "', line 2: the cell is 'z'"));
	assert_int_equal(table_file_next(t, &row), 0);
	assert_int_equal(table_file_next(t, &row), 0);
	table_file_close(t);
	PUT("{\"text\": \"\xFFz\"}\n");
	holds(&two, "1[\xEF\xBF\xBDz|~]");
}

/* A cell of LEN letters, between BEFORE and AFTER, and another row. */
static void put_long(const char *before, size_t len, const char *after)
{
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	fputs(before, f);
	for (size_t i = 0; i < len; i++)
		fputc('a' + (int)(i % 26), f);
	fputs(after, f);
	assert_int_equal(fclose(f), 0);
}

static void long_lines_are_read(void **state)
{
	static const char *const forms[][2] = { { "label\ttext\nx\t", "\ny\tb\n" },
						{ "{\"label\": \"x\", \"text\": \"", "\"}\n{\"text\": \"b\", \"label\": \"y\"}\n" } };
	const size_t len = (size_t)5 << 20;

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct table_file *t;
		struct table_row row;

		put_long(forms[i][0], len, forms[i][1]);
		assert_int_equal(table_file_open(&t, path, &two), 0);
		assert_int_equal(table_file_next(t, &row), 1);
		assert_int_equal(strlen(row.cells[0]), len);
		for (size_t k = 0; k < len; k++)
			assert_true(row.cells[0][k] == 'a' + (char)(k % 26));
		assert_string_equal(row.cells[1], "x");
		assert_int_equal(table_file_next(t, &row), 1);
		assert_string_equal(row.cells[0], "b");
		assert_string_equal(row.cells[1], "y");
		assert_int_equal(table_file_next(t, &row), 0);
		table_file_close(t);
	}
}

static void missing_files_are_named(void **state)
{
	struct table_file *t;

	(void)state;
	assert_int_equal(table_file_open(&t, "/nonexistent/file", &two), -1);
	assert_null(t);
	assert_int_equal(err_code(), EXIT_FAILED);
	assert_non_null(strstr(err_text(), "/nonexistent/file"));
	table_file_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_are_found_by_name),
		cmocka_unit_test(bad_headers_are_refused),
		cmocka_unit_test(long_headers_are_listed_in_part),
		cmocka_unit_test(rows_have_as_many_cells),
		cmocka_unit_test(without_a_header_the_first_line_decides),
		cmocka_unit_test(other_cells_may_follow),
		cmocka_unit_test(members_are_columns),
		cmocka_unit_test(plain_values_are_text),
		cmocka_unit_test(one_member_may_be_two_columns),
		cmocka_unit_test(other_lines_are_refused),
		cmocka_unit_test(ill_formed_bytes_are_replaced_and_counted),
		cmocka_unit_test(long_lines_are_read),
		cmocka_unit_test(missing_files_are_named),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
