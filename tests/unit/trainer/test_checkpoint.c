/* Checkpoints: written whole, read back to the bit, and every damage found, by the file it is in. */
#include "trainer/run_folder.h"
#include "tests/unit/model/tiny.h"

#include <fcntl.h>
#include <sys/stat.h>

struct setting {
	struct ground g;
	struct model m;
	struct optimizer o;
	struct position at;
	struct checkpoint_source source;
};

/* Moments that are easy to know again. */
static void fill(struct setting *x, float by)
{
	for (int64_t i = 0; i < x->m.params.total; i++) {
		((float *)x->o.m)[i] = (float)i * 0.25f + by;
		((float *)x->o.v)[i] = -(float)i + by;
	}
}

static void setting_open(struct setting *x)
{
	const struct optimizer_opts opts = optimizer_defaults(ADAM_GOOGLE);

	*x = (struct setting){ .at = { .step = 7, .time = 6, .at = { .epoch = 2, .index = 5 }, .samples = 70, .tokens = 700 } };
	ground_open(&x->g, "ref");
	tiny_load(&x->m, &x->g, HEAD_PRETRAINING, DTYPE_F32);
	OK(model_add_gradients(&x->m));
	OK(optimizer_open(&x->o, &x->m, &opts));
	fill(x, 0.5f);
	x->source = (struct checkpoint_source){ .model = &x->m, .optimizer = &x->o, .tokenizer_config = "{}" };
}

static void setting_close(struct setting *x)
{
	optimizer_close(&x->o);
	model_release(&x->m);
	ground_close(&x->g);
}

static void test_round_trip(void **state)
{
	struct setting x;
	struct model again = { .k = NULL };
	struct config c = CONFIG_INIT;
	struct position at;
	char *folder = checkpoint_folder(*state, 7);

	setting_open(&x);
	OK(checkpoint_save(*state, &x.at, &x.source));
	OK(checkpoint_save(*state, &x.at, &x.source));		/* in the place of one that is there */
	OK(checkpoint_verify(folder));
	OK(checkpoint_position(folder, &at));
	assert_memory_equal(&at, &x.at, sizeof(at));
	OK(model_dir_config(&c, folder, HEAD_UNSAID));
	assert_int_equal(c.head, HEAD_PRETRAINING);
	OK(model_init(&again, &x.g.k, x.g.q, &c, DTYPE_F32));
	OK(checkpoint_weights(folder, &again));
	assert_memory_equal(again.weights, x.m.weights, model_bytes(&x.m));
	memset(x.o.m, 0, model_bytes(&x.m));
	memset(x.o.v, 0, model_bytes(&x.m));
	OK(checkpoint_moments(folder, &x.o));
	for (int64_t i = 0; i < x.m.params.total; i++) {
		assert_true(((float *)x.o.m)[i] == (float)i * 0.25f + 0.5f);
		assert_true(((float *)x.o.v)[i] == -(float)i + 0.5f);
	}
	model_release(&again);
	setting_close(&x);
	free(folder);
}

/* Every byte of every file counts: one flipped, one missing, the file away. */
static void test_damage(void **state)
{
	static const char *const names[] = { "config.json", "model.safetensors", "moments-00000-of-00001.safetensors", "position.json",
					     "tokenizer_config.json", "manifest.json" };
	struct setting x;
	char *folder = checkpoint_folder(*state, 7);

	setting_open(&x);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char *path = fs_join(folder, names[i]);
		struct stat st;
		char byte;
		int fd;

		OK(checkpoint_save(*state, &x.at, &x.source));
		OK(checkpoint_verify(folder));
		fd = open(path, O_RDWR);
		assert_true(fd >= 0 && !fstat(fd, &st));
		assert_int_equal(pread(fd, &byte, 1, st.st_size / 2), 1);
		byte ^= 0x40;
		assert_int_equal(pwrite(fd, &byte, 1, st.st_size / 2), 1);
		assert_int_equal(checkpoint_verify(folder), -1);
		assert_int_equal(err_code(), EXIT_CORRUPT);
		byte ^= 0x40;
		assert_int_equal(pwrite(fd, &byte, 1, st.st_size / 2), 1);
		OK(checkpoint_verify(folder));
		assert_int_equal(ftruncate(fd, st.st_size - 1), 0);
		assert_int_equal(checkpoint_verify(folder), -1);
		assert_int_equal(err_code(), EXIT_CORRUPT);
		close(fd);
		assert_int_equal(unlink(path), 0);
		FAILS(checkpoint_verify(folder), EXIT_CORRUPT, names[i]);
		free(path);
	}
	setting_close(&x);
	free(folder);
}

/* Names in a manifest lead to no other folder. */
static void test_manifest_names(void **state)
{
	struct setting x;
	char *folder = checkpoint_folder(*state, 7), *path = fs_join(folder, "manifest.json");
	struct buf b = BUF_INIT;
	char *at;

	setting_open(&x);
	OK(checkpoint_save(*state, &x.at, &x.source));
	OK(fs_read_all(path, 1 << 20, &b));
	at = strstr(b.data, "\"tokenizer_config.json\"");
	assert_non_null(at);
	memcpy(at, "\"../../../../../x.json\"", 23);
	OK(fs_write_all(path, b.data, b.len));
	FAILS(checkpoint_verify(folder), EXIT_CORRUPT, "names no file");
	buf_release(&b);
	setting_close(&x);
	free(path);
	free(folder);
}

static void test_list_and_prune(void **state)
{
	struct setting x;
	uint64_t *steps;
	size_t n;

	setting_open(&x);
	for (x.at.step = 8; x.at.step <= 12; x.at.step++)
		OK(checkpoint_save(*state, &x.at, &x.source));
	OK(fs_make_folder(tiny_in(state, "checkpoint-x")));
	OK(fs_make_folder(tiny_in(state, "checkpoint-007")));
	OK(fs_make_folder(tiny_in(state, ".checkpoint-13.1.new.tmp")));
	OK(checkpoint_list(*state, &steps, &n));
	assert_int_equal(n, 5);
	assert_int_equal(steps[0], 8);
	assert_int_equal(steps[4], 12);
	free(steps);
	OK(checkpoint_prune(*state, 11, 2));
	OK(checkpoint_remove_stale(*state));
	OK(checkpoint_list(*state, &steps, &n));
	assert_int_equal(n, 2);
	assert_int_equal(steps[0], 10);
	assert_int_equal(steps[1], 11);
	free(steps);
	OK(checkpoint_prune(*state, 11, 0));
	OK(checkpoint_prune(*state, 11, 1));
	OK(checkpoint_list(*state, &steps, &n));
	assert_int_equal(n, 1);
	free(steps);
	assert_false(fs_exists(tiny_in(state, ".checkpoint-13.1.new.tmp")));
	setting_close(&x);
}

static int warnings;
static void count_warning(const char *fmt, ...) { (void)fmt; warnings++; }

/* A run's folder: another run is refused by name; the newest whole checkpoint counts. */
static void test_run_folder(void **state)
{
	struct setting x;
	struct run_folder r, other;
	json_t *facts = json_pack("{s:i, s:s}", "batch", 8, "decay", "linear");
	char *run = strdup(tiny_in(state, "run"));

	setting_open(&x);
	OK(run_folder_open(&r, run, facts, count_warning));
	assert_false(r.resumes);
	FAILS(run_folder_open(&other, run, facts, count_warning), EXIT_FAILED, "another bert-train is at work in");
	OK(checkpoint_save(run, &x.at, &x.source));
	x.at.step = 9;
	OK(checkpoint_save(run, &x.at, &x.source));
	run_folder_close(&r);

	OK(run_folder_open(&r, run, facts, count_warning));
	assert_true(r.resumes && r.at.step == 9 && !warnings);
	run_folder_close(&r);

	OK(fs_write_all(tiny_in(state, "run/checkpoint-9/position.json"), "{}", 2));
	OK(run_folder_open(&r, run, facts, count_warning));
	assert_true(r.resumes && r.at.step == 7);
	assert_int_equal(warnings, 1);
	run_folder_close(&r);

	OK(fs_write_all(tiny_in(state, "run/checkpoint-7/position.json"), "{}", 2));
	FAILS(run_folder_open(&r, run, facts, count_warning), EXIT_CORRUPT, "none of the checkpoints");

	json_object_set_new(facts, "batch", json_integer(16));
	FAILS(run_folder_open(&r, run, facts, count_warning), EXIT_FAILED, "its batch is 8, not 16");
	free(run);
	json_decref(facts);
	setting_close(&x);
}

/* A run that came to nothing leaves run.json, and no claim on the folder. */
static void test_unused_folder(void **state)
{
	struct run_folder r;
	json_t *facts = json_pack("{s:i}", "batch", 8);
	char *run = strdup(tiny_in(state, "run"));

	for (int batch = 8; batch <= 16; batch += 8) {
		json_object_set_new(facts, "batch", json_integer(batch));
		OK(run_folder_open(&r, run, facts, NULL));
		assert_false(r.resumes);
		run_folder_close(&r);
	}
	OK(fs_write_all(tiny_in(state, "run/log.jsonl"), "", 0));
	json_object_set_new(facts, "batch", json_integer(32));
	FAILS(run_folder_open(&r, run, facts, NULL), EXIT_FAILED, "its batch is 16, not 32");
	OK(fs_write_all(tiny_in(state, "run/run.json"), "{", 1));
	FAILS(run_folder_open(&r, run, facts, NULL), EXIT_CORRUPT, "run/run.json': line 1");
	free(run);
	json_decref(facts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_round_trip, tiny_enter, tiny_leave),
		cmocka_unit_test_setup_teardown(test_damage, tiny_enter, tiny_leave),
		cmocka_unit_test_setup_teardown(test_manifest_names, tiny_enter, tiny_leave),
		cmocka_unit_test_setup_teardown(test_list_and_prune, tiny_enter, tiny_leave),
		cmocka_unit_test_setup_teardown(test_run_folder, tiny_enter, tiny_leave),
		cmocka_unit_test_setup_teardown(test_unused_folder, tiny_enter, tiny_leave),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
