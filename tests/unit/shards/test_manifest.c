/* manifest.json: its bytes, names of shards that are kept and that are not, and what is refused. */
#include "tests/unit/shards/made_folder.h"

#include <inttypes.h>
#include <xxhash.h>

/* A manifest of N shards that were never made; NAMES may be NULL. */
static struct manifest *invent(size_t n, const char *name, const char *const *names)
{
	static struct id_range never[] = { { 0, 4 } };
	struct manifest *m = calloc(1, sizeof(*m));

	assert_non_null(m);
	m->made_by = strdup("test \"1\"");
	m->recipe = (struct shard_recipe){
		.tokenizer = json_pack("{s:s, s:{s:s, s:i}}", "shards", "\"shards\":[", "vocab", "sha256", "", "size", 9),
		.vocab_size = 9, .special = { 0, 1, 2, 3, 4 }, .max_seq_length = 32, .max_predictions_per_seq = 8,
		.dupe_factor = 1, .masked_lm_prob = 0.1 + 0.2, .masking = SHARD_STATIC, .pairs = SHARD_NSP,
	};
	m->recipe.never = malloc(sizeof(never));
	memcpy(m->recipe.never, never, sizeof(never));
	m->recipe.n_never = 1;
	m->options = name ? json_pack("{s:s, s:i}", "name", name, "shards", (int)n) : json_object();
	m->inputs = calloc(1, sizeof(*m->inputs));
	m->inputs[0] = (struct manifest_input){ .name = strdup("a \\ \"shards\":[{\x01 \xc3\xa9"), .bytes = INT64_MAX };
	m->n_inputs = 1;
	m->shards = calloc(n + 1, sizeof(*m->shards));
	m->n_shards = n;
	for (size_t k = 0; k < n; k++)
		m->shards[k] = (struct manifest_shard){ .name = names ? strdup(names[k]) : NULL, .bytes = 1000 + k,
							.instances = 7 * k, .documents = k, .digest = { k, ~k } };
	return m;
}

static void saved(const struct manifest *m, struct buf *text)
{
	char path[256];

	assert_int_equal(manifest_save(m, made_top), 0);
	snprintf(path, sizeof(path), "%s/" MANIFEST_NAME, made_top);
	buf_clear(text);
	assert_int_equal(fs_read_all(path, 1 << 24, text), 0);
}

/* TEXT is what printing the whole as one gives, and its digest that of all other members printed as one. */
static void is_canonical(const struct buf *text)
{
	json_t *o = canon_parse(text->data, text->len);
	char *printed = canon_print(o);
	struct key says;
	XXH128_hash_t is;

	assert_int_equal(strlen(printed), text->len);
	assert_memory_equal(printed, text->data, text->len);
	free(printed);
	assert_int_equal(canon_key(o, "digest", &says), 0);
	json_object_del(o, "digest");
	printed = canon_print(o);
	is = XXH3_128bits(printed, strlen(printed));
	assert_int_equal(key_compare(says, (struct key){ is.high64, is.low64 }), 0);
	free(printed);
	json_decref(o);
}

/* M is written, read, and written again the same; KEPT of its names are held in memory. */
static void goes_round(struct manifest *m, size_t kept)
{
	struct buf text = BUF_INIT, again = BUF_INIT;
	char room[MANIFEST_ROOM], room_back[MANIFEST_ROOM];
	struct manifest *back;

	saved(m, &text);
	is_canonical(&text);
	assert_int_equal(manifest_load(&back, made_top), 0);
	assert_int_equal(back->n_shards, m->n_shards);
	for (size_t k = 0; k < m->n_shards; k++) {
		const struct manifest_shard *a = &m->shards[k], *b = &back->shards[k];

		assert_string_equal(manifest_shard_name(back, k, room_back), manifest_shard_name(m, k, room));
		kept -= b->name != NULL;
		assert_true(a->bytes == b->bytes && a->instances == b->instances && a->documents == b->documents &&
			    !key_compare(a->digest, b->digest));
	}
	assert_int_equal(kept, 0);
	saved(back, &again);
	assert_int_equal(again.len, text.len);
	assert_memory_equal(again.data, text.data, text.len);
	manifest_free(back);
	manifest_free(m);
	buf_release(&text);
	buf_release(&again);
}

static void bytes_and_names(void **state)
{
	static const char *const odd[] = { "\"shards\":[{", "a\\\"],\x7f", "\x01\xc3\xa9.shard" };
	static const char *const usual[] = { "n-00000-of-00003.shard", "n-00001-of-00003.shard", "n-00002-of-00003.shard" };
	static const char *const mixed[] = { "n-00000-of-00003.shard", "n-00000-of-00003.shard", "n-00002-of-00004.shard" };
	char name[MANIFEST_ROOM + 1];

	(void)state;
	goes_round(invent(1, "shard", NULL), 0);
	goes_round(invent(1000, "a \"quoted\" \\ \xc3\xa9", NULL), 0);
	goes_round(invent(3, "n", odd), 3);
	goes_round(invent(3, NULL, odd), 3);
	goes_round(invent(3, "n", usual), 0);
	goes_round(invent(3, NULL, usual), 3);
	goes_round(invent(3, "n", mixed), 2);
	memset(name, 'x', MANIFEST_ROOM);
	name[MANIFEST_ROOM] = 0;
	goes_round(invent(3, name, usual), 3);	/* too long for files, and for us */
}

/* TEXT with FROM, which is there once, made TO. */
static void change(struct buf *out, const struct buf *text, const char *from, const char *to)
{
	const char *at = strstr(text->data, from);

	assert_non_null(at);
	buf_clear(out);
	assert_int_equal(buf_add(out, text->data, (size_t)(at - text->data)) || buf_adds(out, to) || buf_adds(out, at + strlen(from)), 0);
}

/* The same with a digest that is true again. */
static void lie(struct buf *out, const struct buf *text, const char *from, const char *to)
{
	json_t *o;
	char *printed;

	change(out, text, from, to);
	o = canon_parse(out->data, out->len);
	assert_non_null(o);
	json_object_del(o, "digest");
	assert_int_equal(canon_seal(o), 0);
	printed = canon_print(o);
	buf_clear(out);
	assert_int_equal(buf_adds(out, printed), 0);
	free(printed);
	json_decref(o);
}

/* The same for what is no canonical JSON any more: the digest is that of the other bytes. */
static void lie_in_bytes(struct buf *out, const struct buf *text, const char *from, const char *to)
{
	struct buf rest = BUF_INIT;
	XXH128_hash_t is;
	char *digest;
	size_t at;

	change(out, text, from, to);
	digest = strstr(out->data, "},\"digest\":\"");
	assert_non_null(digest);
	at = (size_t)(digest - out->data) + 1;
	assert_int_equal(buf_add(&rest, out->data, at) || buf_adds(&rest, out->data + at + strlen(",\"digest\":\"\"") + 32), 0);
	is = XXH3_128bits(rest.data, rest.len);
	snprintf(digest + strlen("},\"digest\":\""), 33, "%016" PRIx64 "%016" PRIx64, (uint64_t)is.high64, (uint64_t)is.low64);
	digest[strlen("},\"digest\":\"") + 32] = '"';
	buf_release(&rest);
}

static void refused(const struct buf *text, const char *reason)
{
	struct manifest *m;

	if (!manifest_parse(&m, text->data, text->len))
		fail_msg("read, and not refused as '%s'", reason);
	assert_null(m);
	assert_int_equal(err_code(), EXIT_CORRUPT);
	if (!strstr(err_text(), reason))
		fail_msg("'%s' lacks '%s'", err_text(), reason);
}

static void damage_is_refused(void **state)
{
	static const struct {
		const char *from, *to, *reason;
	} lies[] = {
		{ "\"bytes\":1001,", "", "shard 1: 'bytes' is missing" },
		{ "\"bytes\":1001,", "\"bytes\":-1,", "shard 1: 'bytes' is -1" },
		{ "\"bytes\":1001,", "\"bytes\":\"1001\",", "shard 1: 'bytes' is not a whole number" },
		{ "\"instances\":14,", "\"instances\":1.5,", "shard 2: 'instances' is not a whole number" },
		{ "\"digest\":\"0000000000000002f", "\"digest\":\"000000000000002f", "shard 2: 'digest' is not" },
		{ "\"name\":\"n-00001", "\"name\":\"../n-00001", "shard 1: its name '../n-00001-of-00003.shard' leads out" },
		{ "\"name\":\"n-00001-of-00003.shard\"", "\"name\":null", "shard 1: 'name' is not a string" },
		{ ",\"shards\":[{", ",\"shards\":[7,{", "shard 0: it is no valid JSON at byte" },
		{ ",\"shards\":[{", ",\"shards\":[[],{", "shard 0: 'bytes' is missing" },
	}, in_bytes[] = {
		{ "\"bytes\":1001,", "\"bytes\": 1001,", "shard 1: it is not in canonical form" },
		{ "},{\"bytes\":1001,", "}{\"bytes\":1001,", "shard 1: it is not in canonical form" },
		{ "},{\"bytes\":1001,", "} ,{\"bytes\":1001,", "shard 1: it is not in canonical form" },
		{ "}],\"totals\"", "} ],\"totals\"", "shard 3: it is not in canonical form" },
		{ "}],\"totals\"", "},],\"totals\"", "shard 3: it is no valid JSON" },
		{ "}],\"totals\"", "}], \"totals\"", "it is not in canonical form" },
	}, changes[] = {
		{ "\"bytes\":1001,", "\"bytes\":1002,", "its digest is not that of the rest" },
		{ "n-00001-of", "n-00003-of", "its digest is not that of the rest" },
		{ "\"bytes\":1001,", "\"bytes\": 1001,", "shard 1: it is not in canonical form" },
		{ "\"digest\":\"0000000000000002ff", "\"digest\":\"0000000000000002FF", "shard 2: 'digest' is not 32" },
		{ "\"format\":", "\"format\" :", "it is not in canonical form" },
		{ "},{\"bytes\":1001,", "},{\"bytes\":1001", "shard 1: it is no valid JSON at byte " },
		{ "\"totals\":", "\"Totals\":", "it is not in canonical form" },
	};
	struct manifest *m = invent(3, "n", NULL);
	struct buf text = BUF_INIT, bad = BUF_INIT;

	(void)state;
	saved(m, &text);
	manifest_free(m);
	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		lie(&bad, &text, lies[i].from, lies[i].to);
		refused(&bad, lies[i].reason);
	}
	for (size_t i = 0; i < sizeof(in_bytes) / sizeof(in_bytes[0]); i++) {
		lie_in_bytes(&bad, &text, in_bytes[i].from, in_bytes[i].to);
		refused(&bad, in_bytes[i].reason);
	}
	lie_in_bytes(&bad, &text, "\"bytes\":1001,", "\"bytes\":1002,");
	assert_int_equal(manifest_parse(&m, bad.data, bad.len), 0); /* a lie that can be told */
	manifest_free(m);
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		change(&bad, &text, changes[i].from, changes[i].to);
		refused(&bad, changes[i].reason);
	}
	for (size_t i = 0; i < text.len * 8; i++) {
		text.data[i / 8] ^= (char)(1 << i % 8);
		refused(&text, "");
		text.data[i / 8] ^= (char)(1 << i % 8);
	}
	m = invent(0, "n", NULL);
	saved(m, &text);
	manifest_free(m);
	is_canonical(&text);
	refused(&text, "it lists 0 shards");
	buf_release(&text);
	buf_release(&bad);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(bytes_and_names), cmocka_unit_test(damage_is_refused) };

	return cmocka_run_group_tests(tests, made_open, made_close);
}
