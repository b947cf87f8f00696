/* Instances and documents as text, to the byte. */
#include "shards/show.h"
#include "tests/unit/shards/made_shard.h"

#include <unistd.h>

static char path[] = "/tmp/bert-test-show-XXXXXX";
static struct vocab *vocab;

static int make_vocab(void **state)
{
	static const char text[] = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\nwhale\n##s\nsa\"id\nback\\\n"
				   "\xC3\xA9t\xC3\xA9\na\x01z\n[unused1]\nup\n";
	const int fd = mkstemp(path);

	(void)state;
	if (fd < 0)
		return -1;
	close(fd);
	return fs_write_all(path, text, sizeof(text) - 1) || vocab_load(&vocab, path) ? -1 : 0;
}

static int remove_vocab(void **state)
{
	(void)state;
	vocab_free(vocab);
	return unlink(path);
}

static const struct instance_shape shape = { .max_seq_length = 16, .max_predictions = 4, .vocab_size = 14, .cls = 2,
					     .sep = 3, .pairs = true };
enum { THE = 5, WHALE, S, SAID, BACK, ETE, A01Z, UNUSED, UP };

/* [CLS] the whale ##s [SEP] up the [SEP], with "whale" masked, "##s" kept, "up" replaced by "the". */
static struct instance make_instance(void)
{
	static uint32_t ids[] = { 2, THE, 4, S, 3, THE, THE, 3 };
	static uint32_t positions[] = { 2, 3, 5 }, labels[] = { WHALE, S, UP };
	static struct instance_segment segments[] = { { 0, 0, 3 }, { 1, 7, 2 } };

	return (struct instance){ .ids = ids, .n = 8, .segments = segments, .n_segments = 2, .positions = positions,
				  .labels = labels,
				  .predictions = 3, .flags = INSTANCE_RANDOM_NEXT };
}

static void shows(const struct show_opts *o, const struct instance *i, const struct tokdoc *d, const char *want)
{
	struct buf out = BUF_INIT;
	struct show s;

	assert_int_equal(show_init(&s, o), 0);
	assert_int_equal(i ? show_instance(&s, &out, i, &shape, 17) : show_document(&s, &out, d, 17), 0);
	assert_string_equal(out.data, want);
	show_release(&s);
	buf_release(&out);
}

static void instances(void **state)
{
	struct instance i = make_instance();

	(void)state;
	shows(&(struct show_opts){ SHOW_JSON, NULL }, &i, NULL,
	      "{\"input_ids\":[2,5,4,7,3,5,5,3],\"segment_ids\":[0,0,0,0,0,1,1,1],\"masked_lm_positions\":[2,3,5],"
	      "\"masked_lm_ids\":[6,7,13],\"next_sentence_label\":1}\n");
	shows(&(struct show_opts){ SHOW_JSON, vocab }, &i, NULL,
	      "{\"input_ids\":[2,5,4,7,3,5,5,3],\"segment_ids\":[0,0,0,0,0,1,1,1],\"masked_lm_positions\":[2,3,5],"
	      "\"masked_lm_ids\":[6,7,13],\"next_sentence_label\":1,"
	      "\"tokens\":[\"[CLS]\",\"the\",\"[MASK]\",\"##s\",\"[SEP]\",\"the\",\"the\",\"[SEP]\"]}\n");
	shows(&(struct show_opts){ SHOW_TEXT, vocab }, &i, NULL,
	      "instance 17: 8 tokens, 3 masked, b is random\n  a: the [MASK:whale][##s:##s]\n  b: [the:up] the\n");
	i.predictions = 0;
	i.flags = 0;
	shows(&(struct show_opts){ SHOW_JSON, NULL }, &i, NULL,
	      "{\"input_ids\":[2,5,4,7,3,5,5,3],\"segment_ids\":[0,0,0,0,0,1,1,1],\"masked_lm_positions\":[],"
	      "\"masked_lm_ids\":[],\"next_sentence_label\":0}\n");
	shows(&(struct show_opts){ SHOW_TEXT, vocab }, &i, NULL,
	      "instance 17: 8 tokens, 0 masked, b follows a\n  a: the [MASK]s\n  b: the the\n");
	i.ids[1] = S;		/* a segment that begins inside a word */
	shows(&(struct show_opts){ SHOW_TEXT, vocab }, &i, NULL,
	      "instance 17: 8 tokens, 0 masked, b follows a\n  a: ##s [MASK]s\n  b: the the\n");
	i.ids[1] = THE;
}

static void large_numbers(void **state)
{
	uint32_t ids[] = { 0, 9, 10, 65535, 65536, 99999, 100000, UINT32_MAX };
	struct instance i = make_instance();

	(void)state;
	i.ids = ids;
	i.predictions = 0;
	shows(&(struct show_opts){ SHOW_JSON, NULL }, &i, NULL,
	      "{\"input_ids\":[0,9,10,65535,65536,99999,100000,4294967295],\"segment_ids\":[0,0,0,0,0,1,1,1],"
	      "\"masked_lm_positions\":[],\"masked_lm_ids\":[],\"next_sentence_label\":1}\n");
}

static void documents(void **state)
{
	uint16_t ids[] = { THE, WHALE, S, SAID, BACK, ETE, A01Z, UNUSED, 1 };
	uint32_t lengths[] = { 3, 0, 6 };
	struct tokdoc d = { .key = { 1, 0xABCDEF }, .id = "7\"", .id_len = 2, .title = "Moby\tDick", .title_len = 9,
			    .lengths = lengths,
			    .n_sentences = 3, .ids = ids, .n_tokens = 9, .id_bytes = 2 };

	(void)state;
	shows(&(struct show_opts){ SHOW_JSON, NULL }, NULL, &d,
	      "{\"key\":\"00000000000000010000000000abcdef\",\"id\":\"7\\\"\",\"title\":\"Moby\\u0009Dick\","
	      "\"sentences\":[[5,6,7],[],[8,9,10,11,12,1]]}\n");
	shows(&(struct show_opts){ SHOW_JSON, vocab }, NULL, &d,
	      "{\"key\":\"00000000000000010000000000abcdef\",\"id\":\"7\\\"\",\"title\":\"Moby\\u0009Dick\","
	      "\"sentences\":[[5,6,7],[],[8,9,10,11,12,1]],"
	      "\"tokens\":[[\"the\",\"whale\",\"##s\"],[],"
	      "[\"sa\\\"id\",\"back\\\\\",\"\xC3\xA9t\xC3\xA9\",\"a\\u0001z\",\"[unused1]\",\"[UNK]\"]]}\n");
	shows(&(struct show_opts){ SHOW_TEXT, vocab }, NULL, &d,
	      "document 17: key 00000000000000010000000000abcdef, id 7\", title Moby?Dick\n  the whales\n  \n"
	      "  sa\"id back\\ \xC3\xA9t\xC3\xA9 a\x01z [unused1] [UNK]\n");
	d = (struct tokdoc){ .key = { 0, 0 } };
	shows(&(struct show_opts){ SHOW_JSON, vocab }, NULL, &d,
	      "{\"key\":\"00000000000000000000000000000000\",\"id\":null,\"title\":null,"
	      "\"sentences\":[],\"tokens\":[]}\n");
}

/* A sentence longer than what is taken at a time. */
static void long_sentences(void **state)
{
	enum { N = 5000 };
	static uint16_t ids[N];
	uint32_t length = N;
	const struct tokdoc d = { .lengths = &length, .n_sentences = 1, .ids = ids, .n_tokens = N, .id_bytes = 2 };
	struct buf out = BUF_INIT;
	struct show s;
	json_t *o, *list;

	(void)state;
	for (unsigned k = 0; k < N; k++)
		ids[k] = (uint16_t)(k * 13);
	assert_int_equal(show_init(&s, &(struct show_opts){ SHOW_JSON, NULL }), 0);
	assert_int_equal(show_document(&s, &out, &d, 0), 0);
	o = json_loads(out.data, 0, NULL);
	list = json_array_get(json_object_get(o, "sentences"), 0);
	assert_int_equal(json_array_size(list), N);
	for (unsigned k = 0; k < N; k++)
		assert_int_equal(json_integer_value(json_array_get(list, k)), ids[k]);
	json_decref(o);
	show_release(&s);
	buf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(instances), cmocka_unit_test(large_numbers), cmocka_unit_test(documents),
		cmocka_unit_test(long_sentences),
	};

	return cmocka_run_group_tests(tests, make_vocab, remove_vocab);
}
