#include "tokenizer/segmenter.h"

#include "base/err.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* Texts, one an item, and how many have been read. */
struct texts {
	const char *const *items;
	size_t count, read;
	size_t fails;		/* reading this one fails; 0: none, as the first never does */
};

struct item {
	struct buf text;
	size_t number;
};

static int read_item(void *ctx, void *item)
{
	struct texts *t = ctx;
	struct item *i = item;

	if (t->fails && t->read == t->fails)
		return err_corrupt("item %zu is bad", t->read);
	if (t->read == t->count)
		return 0;
	buf_clear(&i->text);
	i->number = t->read;
	return buf_adds(&i->text, t->items[t->read++]) ? -1 : 1;
}

static const struct buf *item_text(const void *item)
{
	return &((const struct item *)item)->text;
}

static void release_item(void *item)
{
	buf_release(&((struct item *)item)->text);
}

/* All of TEXTS through COMMAND: what came back, a '|' after each item, to GOT; the last return of segmenter_next. */
static int pass(const char *command, struct texts *t, struct buf *got)
{
	const struct segmenter_feed f = { .item_size = sizeof(struct item), .read = read_item, .text = item_text, .release = release_item, .ctx = t };
	struct item item = { .number = 0 };
	struct buf cut = BUF_INIT;
	struct segmenter *s;
	size_t n = 0;
	int rc;

	buf_clear(got);
	assert_int_equal(segmenter_open(&s, command, &f), 0);
	while ((rc = segmenter_next(s, &item, &cut)) > 0) {
		assert_int_equal(item.number, n);
		assert_string_equal(item.text.data, t->items[n++]);
		assert_int_equal(buf_add(got, cut.data, cut.len) || buf_add_byte(got, '|'), 0);
	}
	segmenter_close(s);
	release_item(&item);
	buf_release(&cut);
	return rc;
}

static void expect(const char *command, const char *const *items, size_t count, const char *want)
{
	struct texts t = { .items = items, .count = count };
	struct buf got = BUF_INIT;

	assert_int_equal(buf_adds(&got, ""), 0);
	assert_int_equal(pass(command, &t, &got), 0);
	assert_string_equal(got.data, want);
	buf_release(&got);
}

static void lines_come_back_with_their_items(void **state)
{
	static const char *const texts[] = { "ab\ncd\n", "\n\n", "\nef\n\n\ngh\n\n", "i\n", "\n" };

	(void)state;
	expect("cat", texts, 5, "ab\ncd\n||ef\ngh\n|i\n||");
	expect("sed 's/./& /'", texts, 5, "a b\nc d\n||e f\ng h\n|i \n||");
	expect("cat", texts, 0, "");
	expect("cat", texts + 1, 1, "|");
	expect("tac | tac", texts, 5, "ab\ncd\n||ef\ngh\n|i\n||");		/* nothing before the end */
	expect("head -c 13", texts, 5, "ab\ncd\n||ef\ngh\n|i\n||");		/* the last line's end is supplied */
	expect("awk '{ print; fflush() }'", texts, 5, "ab\ncd\n||ef\ngh\n|i\n||");
}

static void refuse(const char *command, const char *reason)
{
	static const char *const texts[] = { "ab\ncd\n", "ef\n" };
	struct texts t = { .items = texts, .count = 2 };
	struct buf got = BUF_INIT;

	assert_int_equal(pass(command, &t, &got), -1);
	assert_int_equal(err_code(), EXIT_FAILED);
	if (!strstr(err_text(), reason))
		fail_msg("%s: '%s' lacks '%s'", command, err_text(), reason);
	buf_release(&got);
}

static void a_segmenter_that_fails_is_an_error(void **state)
{
	(void)state;
	refuse("cat >/dev/null", "the segmenter gave fewer lines than it was given, after 0 lines");
	refuse("head -n 1; cat >/dev/null", "fewer lines than it was given, after 1 line");
	refuse("tr -d '\\n'", "fewer lines");
	refuse("cat; echo", "more lines than it was given, after 3 lines");
	refuse("cat; printf x", "more lines");
	refuse("yes", "more lines");
	refuse("cat >/dev/null; yes | tr -d '\\n'", "much more text than it was given");
	refuse("cat; exit 3", "the segmenter, after 3 lines: 'cat; exit 3' ended with status 3");
	refuse("cat >/dev/null; kill -15 $$", "ended by signal 15");
	refuse("/nonexistent/segmenter 2>/dev/null", "ended with status 127");
}

/* What a process is given beyond what it gives back is far more than pipes hold. */
static void items_wait_as_long_as_it_takes(void **state)
{
	enum { ITEMS = 200, SIZE = 32 << 10 };
	const char *items[ITEMS];
	char *text = malloc(SIZE + 1);
	struct texts t = { .items = items, .count = ITEMS };
	struct buf got = BUF_INIT;

	(void)state;
	memset(text, 'a', SIZE);
	for (size_t i = 99; i < SIZE; i += 100)
		text[i] = '\n';
	text[SIZE - 1] = '\n';
	text[SIZE] = 0;
	for (size_t i = 0; i < ITEMS; i++)
		items[i] = text;
	assert_int_equal(pass("sort", &t, &got), 0);
	assert_int_equal(got.len, ITEMS * (SIZE + 1));
	t.read = 0;
	assert_int_equal(pass("cat", &t, &got), 0);
	assert_int_equal(got.len, ITEMS * (SIZE + 1));
	assert_memory_equal(got.data, text, SIZE);
	free(text);
	buf_release(&got);
}

static void a_text_that_fails_is_told(void **state)
{
	static const char *const texts[] = { "a\n", "b\n", "c\n" };
	struct texts t = { .items = texts, .count = 3, .fails = 2 };
	struct buf got = BUF_INIT;

	(void)state;
	assert_int_equal(pass("cat", &t, &got), -1);
	assert_string_equal(err_text(), "item 2 is bad");
	segmenter_close(NULL);
	buf_release(&got);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_come_back_with_their_items),
		cmocka_unit_test(a_segmenter_that_fails_is_an_error),
		cmocka_unit_test(items_wait_as_long_as_it_takes),
		cmocka_unit_test(a_text_that_fails_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
