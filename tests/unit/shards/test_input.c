/* What tells that an input file is what it was. */
#include "shards/input.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static char folder[] = "/tmp/bert-test-input-XXXXXX";
static char path[sizeof(folder) + 8];
static int beside;

static int make_folder(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/in", folder);
	beside = open(folder, O_RDONLY | O_DIRECTORY);
	return beside < 0 ? -1 : 0;
}

static int remove_folder(void **state)
{
	(void)state;
	close(beside);
	return unlink(path) || rmdir(folder);
}

static void put(char c)
{
	const char text[] = { c, c, '\n' };
	const int fd = open(path, O_WRONLY | O_CREAT, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, sizeof(text)), sizeof(text));
	assert_int_equal(close(fd), 0);
}

static void look(struct inputs *in)
{
	const char *const files[] = { path };

	assert_int_equal(inputs_open(in, files, 1, LINES_TEXT, 1), 0);
	assert_int_equal(in->bytes, 3);
	assert_false(in->files[0].known);
}

static bool is_known(const struct input_seen *seen)
{
	struct inputs in;
	bool all;

	look(&in);
	assert_int_equal(inputs_recall(&in, seen, &all), 0);
	assert_true(in.files[0].known == all);
	if (all)
		assert_int_equal(key_compare(in.files[0].sample, seen->sample), 0);
	inputs_close(&in);
	return all;
}

/* What is noted of the file, which holds a's, when it is sampled. */
static struct input_seen sample(int clock, bool wait)
{
	struct input_seen seen;
	struct inputs in;

	put('a');
	look(&in);
	assert_int_equal(inputs_sample_all(&in, clock, wait), 0);
	assert_true(in.files[0].known);
	seen = (struct input_seen){ in.files[0].mark, in.files[0].sample };
	inputs_close(&in);
	return seen;
}

/* Written, sampled, and written again as fast as may be: whoever was told to wait is never deceived. */
static void test_changed_at_once(void **state)
{
	(void)state;
	for (int i = 0; i < 20; i++) {
		const struct input_seen seen = sample(i ? beside : -1, true);

		if (i % 2)
			assert_true(is_known(&seen));
		put('b');
		assert_false(is_known(&seen));
	}
}

/* Who does not wait may have no mark; it is never one that deceives. */
static void test_not_waited_for(void **state)
{
	(void)state;
	for (int i = 0; i < 20; i++) {
		const struct input_seen seen = sample(beside, false);

		put('b');
		assert_false(is_known(&seen));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_changed_at_once),
		cmocka_unit_test(test_not_waited_for),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
