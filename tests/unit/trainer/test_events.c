/* Event files: the bytes of a message as protobuf has it, and records that read back. */
#include "trainer/events.h"

#include "base/in.h"
#include "base/tfrecord.h"
#include "tests/unit/model/tiny.h"

/* wall_time 1.5, step 300, summary { value { tag "ab" simple_value 0.25 } } */
static void test_bytes(void **state)
{
	static const unsigned char want[] = { 0x09, 0, 0, 0, 0, 0, 0, 0xF8, 0x3F, 0x10, 0xAC, 0x02, 0x2A, 0x0B,
					      0x0A, 0x09, 0x0A, 0x02, 'a', 'b', 0x15, 0, 0, 0x80, 0x3E };
	struct buf b = BUF_INIT, scalars = BUF_INIT;

	(void)state;
	OK(events_scalar(&scalars, "ab", 0.25));
	OK(events_message(&b, 1.5, 300, &scalars));
	assert_int_equal(b.len, sizeof(want));
	assert_memory_equal(b.data, want, sizeof(want));
	buf_release(&scalars);
	buf_release(&b);
}

static void test_file(void **state)
{
	struct events *e, *other;
	struct buf b = BUF_INIT;
	struct in *in;
	char **names;
	size_t n;

	OK(events_open(&e, *state, 40));
	OK(events_open(&other, *state, 40));	/* in the same second: a file of its own */
	OK(events_close(other));
	OK(events_add(e, "loss", 1));
	OK(events_write(e, 41));
	OK(events_add(e, "loss", 2));
	OK(events_write(e, 42));
	OK(events_close(e));
	OK(fs_list(*state, &names, &n));
	assert_int_equal(n, 2);
	assert_true(!strncmp(names[0], "events.out.tfevents.", 20));
	OK(in_open(&in, tiny_in(state, names[0]), 1));
	assert_int_equal(tfrecord_read(in, &b), 1);
	assert_non_null(memmem(b.data, b.len, "brain.Event:2", 13));
	assert_int_equal(tfrecord_read(in, &b), 1);
	assert_memory_equal(b.data + 9, "\x10\x29\x3A\x02\x08\x01", 6);	/* step 41, session_log { status START } */
	for (int i = 0; i < 2; i++) {
		assert_int_equal(tfrecord_read(in, &b), 1);
		assert_non_null(memmem(b.data, b.len, "loss", 4));
	}
	assert_int_equal(tfrecord_read(in, &b), 0);
	in_close(in);
	buf_release(&b);
	fs_free_names(names, n);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_bytes), cmocka_unit_test_setup_teardown(test_file, tiny_enter, tiny_leave) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
