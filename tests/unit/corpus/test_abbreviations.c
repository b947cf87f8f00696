#include "corpus/abbreviations.h"

#include "corpus/letters.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static void codes_are_sorted_and_found(void **state)
{
	(void)state;
	for (size_t i = 0; i < abbreviations_count; i++) {
		assert_ptr_equal(abbreviations_of(abbreviations[i].code), &abbreviations[i]);
		assert_non_null(abbreviations[i].name);
		if (i)
			assert_true(strcmp(abbreviations[i - 1].code, abbreviations[i].code) < 0);
	}
	assert_null(abbreviations_of(""));
	assert_null(abbreviations_of("EN"));
}

/* Whether the rules can ever meet this word: letters, digits, stops within; one space between words; no doubles. */
static void check_list(const char *list)
{
	const char *p = list;
	unsigned size;

	if (!list)
		return;
	assert_true(*list && *list != ' ' && list[strlen(list) - 1] != ' ' && !strstr(list, "  "));
	for (size_t at = 0; list[at]; at += size) {
		const enum letter l = letter_at(list, at, &size);

		assert_true(l == LETTER_UPPER || l == LETTER_LOWER || l == LETTER_OTHER || l == LETTER_DIGIT || l == LETTER_DOT ||
			    list[at] == ' ');
	}
	while (*p) {
		const size_t n = strcspn(p, " ");

		assert_in_range(n, 1, 24);
		assert_true(p[n - 1] != '.');
		for (const char *q = list; q < p; q += strcspn(q, " ") + 1)
			if (strcspn(q, " ") == n && memcmp(q, p, n) == 0)
				fail_msg("'%.*s' stands twice in a list", (int)n, p);
		p += n + (p[n] == ' ');
	}
}

static void lists_hold_words_that_can_be_met(void **state)
{
	(void)state;
	for (size_t i = 0; i < abbreviations_count; i++) {
		check_list(abbreviations[i].joins);
		check_list(abbreviations[i].counts);
		check_list(abbreviations[i].ends);
		check_list(abbreviations[i].starters);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(codes_are_sorted_and_found),
		cmocka_unit_test(lists_hold_words_that_can_be_met),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
