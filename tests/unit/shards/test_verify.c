/* Lies that all checksums agree to are found, each by its name. */
#include "shards/verify.h"
#include "tests/unit/shards/made_shard.h"

#include <unistd.h>

static char folder[] = "/tmp/bert-test-verify-XXXXXX";
static char vocab[64], path[80];

/* What the last verify_path said. */
static enum verify_verdict verdict;
static char said[4096];

static void say(void *ctx, const char *name, enum verify_verdict v, const char *text)
{
	const size_t n = strlen(said);

	(void)ctx;
	verdict = v;
	snprintf(said + n, sizeof(said) - n, "%s: %s\n", name, text);
}

static struct verify look(const char *at, const struct key *absent)
{
	struct verify v = { .threads = 2, .say = say, .absent = absent, .n_absent = absent ? 1 : 0 };

	said[0] = 0;
	verify_path(&v, at);
	verify_release(&v);
	return v;
}

static int make_folder(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(vocab, sizeof(vocab), "%s/vocab.txt", folder);
	snprintf(path, sizeof(path), "%s/x-00001-of-00003.shard", folder);
	made_vocab(vocab);
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	return fs_remove_tree(folder);
}

static void expect(struct made m, const char *what)
{
	struct verify v;

	m.shard = 1;
	m.shards = 3;
	m.seed = 5;
	made_shard(path, vocab, &m, NULL, NULL);
	v = look(path, NULL);
	if (verdict != (what ? VERIFY_FAULT : VERIFY_GOOD) || (what && !strstr(said, what)))
		fail_msg("said '%s', wanted '%s'", said, what ? what : "no fault");
	assert_int_equal(v.files, 1);
	assert_int_equal(v.faults, what ? 1 : 0);
}

static void good_shards(void **state)
{
	(void)state;
	expect((struct made){ .lie = LIE_NONE }, NULL);
	assert_non_null(strstr(said, "masks drawn again"));
	expect((struct made){ .whole_word = true }, NULL);
	assert_non_null(strstr(said, "masks drawn again"));
	expect((struct made){ .switches = true }, NULL);
	assert_non_null(strstr(said, "masks drawn again"));
	expect((struct made){ .dynamic = true }, NULL);
	assert_non_null(strstr(said, "dynamic masks"));
	expect((struct made){ .dynamic = true, .whole_word = true }, NULL);
}

static void lies(void **state)
{
	static const struct {
		enum made_lie lie;
		const char *what;
	} all[] = {
		{ LIE_KEY_ELSEWHERE, "document 11: its key belongs to shard 2" },
		{ LIE_DOCUMENT_ORDER, "document 1: its key is less" },
		{ LIE_OCCURRENCE, "document 3: it is occurrence 2 of its key, 1 is due" },
		{ LIE_ORDER, "instance 7: drawn again it has, in pass " },
		{ LIE_TWICE, "instance 4: drawn again it has, in pass " },
		{ LIE_BEYOND, "instance 2: drawn again it has, in pass " },
		{ LIE_SAME_DOCUMENT, "instance 2: drawn again it has, in pass " },
		{ LIE_NOT_NEXT, "instance 2: drawn again it has, in pass " },
		{ LIE_REPEATED, "instance 2: drawn again it has, in pass " },
		{ LIE_MASK_POSITION, "instance 2: its masked positions are not those drawn" },
		{ LIE_MASK_ID, "instance 2: what stands at its masked position" },
		{ LIE_COUNT, "trailer: says" },
		{ LIE_TRUNCATED, " truncated instances, drawn again there are 0" },
		{ LIE_DROPPED, "says 1 dropped chunks, drawn again there are 0" },
		{ LIE_SHORT_BLOCK, "holds fewer than 8 instances" },
		{ LIE_NO_RANDOM, ": drawn again it has, in pass " },
		{ LIE_NOT_BEGUN, ": drawn again it has, in pass " },
		{ LIE_NO_LENGTHS, "lengths of the sentences of 0 documents, there are 12" },
		{ LIE_FEWER_LENGTHS, "lengths of the sentences of 11 documents, there are 12" },
		{ LIE_MORE_LENGTHS, "block 2: lengths of more documents than there are" },
		{ LIE_CUT_LENGTHS, "lengths of document 11: its sentences have fewer than its 100 tokens" },
		{ LIE_LENGTHS_LEFT, "a block holds 1 bytes more than its lengths" },
		{ LIE_ZERO_LENGTH, "lengths of document 1: a sentence of 0 tokens" },
		{ LIE_OTHER_LENGTHS, ": drawn again it has, in pass " },
		{ LIE_LATE_LENGTHS, "lengths of the sentences of 0 documents, there are 12" },
	};

	(void)state;
	for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++)
		expect((struct made){ .lie = all[k].lie }, all[k].what);
	expect((struct made){ .lie = LIE_MASK_ID, .whole_word = true }, "what stands at its masked position");
	expect((struct made){ .lie = LIE_ORDER, .dynamic = true }, "drawn again it has");
	expect((struct made){ .lie = LIE_SAME_DOCUMENT, .switches = true }, "drawn again it has");
	expect((struct made){ .lie = LIE_MASK_ID, .switches = true }, "what stands at its masked position");
}

static void without_a_vocabulary(void **state)
{
	char alone[] = "/tmp/bert-test-alone-XXXXXX", shard[64];
	const struct made m = { .shards = 1, .whole_word = true };
	struct verify v;

	(void)state;
	assert_non_null(mkdtemp(alone));
	snprintf(shard, sizeof(shard), "%s/a.shard", alone);
	made_shard(shard, vocab, &m, NULL, NULL);
	v = look(shard, NULL);
	assert_int_equal(v.faults + v.unread, 0);
	assert_non_null(strstr(said, "masks not drawn again"));
	assert_int_equal(fs_remove_tree(alone), 0);
}

static void absent_documents(void **state)
{
	const struct made m = { .shard = 1, .shards = 3 };
	struct key key = made_document(&m, 4).key;
	struct verify v;

	(void)state;
	made_shard(path, vocab, &m, NULL, NULL);
	v = look(path, &key);
	assert_int_equal(v.faults, 1);
	assert_non_null(strstr(said, "is in it"));
	key.lo++;
	v = look(path, &key);
	assert_int_equal(v.faults, 0);
}

static void a_name_that_lies(void **state)
{
	const struct made m = { .shard = 0, .shards = 3 };
	struct verify v;

	(void)state;
	made_shard(path, vocab, &m, NULL, NULL);
	v = look(path, NULL);
	assert_int_equal(v.faults, 1);
	assert_non_null(strstr(said, "it is shard 0 of 3, not what its name says"));
}

static void what_is_not_there(void **state)
{
	struct verify v;

	(void)state;
	v = look("/nonexistent/x.shard", NULL);
	assert_int_equal(v.unread, 1);
	assert_int_equal(verdict, VERIFY_UNREAD);
	assert_non_null(strstr(said, "/nonexistent/x.shard: "));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_shards), cmocka_unit_test(lies), cmocka_unit_test(without_a_vocabulary),
		cmocka_unit_test(absent_documents), cmocka_unit_test(a_name_that_lies),
		cmocka_unit_test(what_is_not_there),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
