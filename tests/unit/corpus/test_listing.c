#include "corpus/listing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

/* The places where items begin, as "3 9 ". */
static void check(const char *text, bool ordinals, const char *want)
{
	const size_t len = strlen(text);
	struct listing l;
	char got[256];
	size_t n = 0;

	got[0] = 0;
	listing_start(&l, text, len, ordinals);
	while (l.next < len) {
		n += (size_t)snprintf(got + n, sizeof(got) - n, "%zu ", l.next);
		assert_true(n < sizeof(got));
		listing_advance(&l, text, len);
	}
	assert_string_equal(got, want);
}

static void items_are_found(void **state)
{
	(void)state;
	check("1) A 2) B 3) C", false, "5 10 ");
	check("1. A 2. B 3. C", false, "5 10 ");
	check("7.) A 8.) B", false, "6 ");
	check("(9) A (10) B", false, "6 ");
	check("a) A b) B c) C", false, "5 10 ");
	check("\xE2\x80\xA2 A \xE2\x80\xA2 B", false, "6 ");
	check("\xE2\x80\xA2 1. A \xE2\x80\xA2 2. B", false, "9 ");
	check("\xE2\x81\x83" "9. A \xE2\x81\x83" "10. B", false, "8 ");
}

static void other_lines_are_none(void **state)
{
	(void)state;
	check("", false, "");
	check("1", false, "");
	check("1)", false, "");
	check("1) ", false, "");
	check("A 1) B 2) C", false, "");
	check("1) A 3) C", false, "");
	check("1) A 2. B", false, "");
	check("1) A2) B", false, "");
	check("1) A 2)", false, "");
	check("1) A 2) b", false, "");
	check("1 A 2 B", false, "");
	check("1.5 A 2.5 B", false, "");
	check("0) A 1) B", false, "");
	check("A) A B) B", false, "");
	check("z) A", false, "");
	check("\xE2\x80\xA2", false, "");
	check("\xE2\x80\xA2 ", false, "");
}

static void ordinals_are_no_marks(void **state)
{
	(void)state;
	check("1. FC in der 2. Liga", true, "");
	check("1.) A 2.) B", true, "6 ");
	check("\xE2\x80\xA2 1. A \xE2\x80\xA2 2. B", true, "9 ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(items_are_found),
		cmocka_unit_test(other_lines_are_none),
		cmocka_unit_test(ordinals_are_no_marks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
