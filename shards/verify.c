/* Verifying files. verify_shard.c and verify_tokens.c have the kinds, verify_folder.c what files are together. */
#include "shards/verify_impl.h"
#include "base/err.h"
#include "shards/folder.h"
#include "shards/keys.h"

#include <inttypes.h>

/* --- saying ------------------------------------------------------------------------------- */

int verify_add_count(struct buf *b, uint64_t n, const char *noun)
{
	char digits[21];
	const int len = snprintf(digits, sizeof(digits), "%" PRIu64, n);

	for (int k = 0; k < len; k++) {
		if (k && (len - k) % 3 == 0 && buf_add_byte(b, ','))
			return -1;
		if (buf_add_byte(b, (unsigned char)digits[k]))
			return -1;
	}
	return buf_addf(b, " %s%s", noun, n == 1 ? "" : "s");
}

/* The reason that is set without "'NAME'", which the line begins with anyway. */
static const char *bare_reason(const char *name)
{
	const char *text = err_text();
	const size_t n = strlen(name);

	if (text[0] != '\'' || strncmp(text + 1, name, n) || text[n + 1] != '\'')
		return text;
	text += n + 2;
	text += *text == ':';
	return text + strspn(text, " ");
}

void verify_say(struct verify *v, const char *name, int rc, const struct buf *text)
{
	enum verify_verdict verdict = VERIFY_GOOD;

	v->files++;
	if (rc && err_code() == EXIT_CORRUPT) {
		verdict = VERIFY_FAULT;
		v->faults++;
	} else if (rc) {
		verdict = VERIFY_UNREAD;
		v->unread++;
	}
	if (v->say)
		v->say(v->ctx, name, verdict, rc ? bare_reason(name) : text->data);
}

bool verify_is_absent(const struct verify *v, struct key key)
{
	for (size_t k = 0; k < v->n_absent; k++)
		if (!key_compare(v->absent[k], key))
			return true;
	return false;
}

/* --- one file --------------------------------------------------------------------------------- */

struct file {
	struct verify *v;
	struct verify_shard *shard;
	struct verify_tokens *tokens;
};

static int begin(void *ctx, struct scan *s)
{
	struct file *f = ctx;

	if (s->kind == SCAN_SHARD)
		f->shard = verify_shard_new(f->v, s);
	else
		f->tokens = verify_tokens_new(f->v);
	return f->shard || f->tokens ? 0 : -1;
}

static int document(void *ctx, const struct shard_document *d)
{
	struct file *f = ctx;

	return verify_shard_document(f->shard, d);
}

static int other(void *ctx, const struct scan *s, const struct scan_block *b)
{
	struct file *f = ctx;

	return f->tokens ? verify_tokens_other(f->tokens, s, b) : verify_shard_other(f->shard, s, b);
}

static int instances(void *ctx, const struct scan *s)
{
	struct file *f = ctx;

	return verify_shard_instances(f->shard, s);
}

static int work(void *ctx, const struct scan *s, struct scan_block *b, unsigned worker)
{
	struct file *f = ctx;

	return f->shard ? verify_shard_work(f->shard, s, b, worker) : verify_tokens_work(f->tokens, s, b, worker);
}

static int write_block(void *ctx, const struct scan *s, struct scan_block *b)
{
	struct file *f = ctx;

	return f->shard ? verify_shard_write(f->shard, s, b) : verify_tokens_write(f->tokens, s, b);
}

/* Moves what a folder wants to know out of S. */
static void take_facts(struct scan *s, struct verify_facts *facts)
{
	*facts = (struct verify_facts){ .header = s->header, .totals = s->totals, .keys = s->documents.keys, .trailer = s->trailer };
	s->header = (struct shard_header){ 0 };
	if (facts->header.recipe.rules != SHARD_GOOGLE)
		return;
	facts->documents = s->documents;
	s->documents = (struct documents)DOCUMENTS_INIT;
}

void verify_facts_release(struct verify_facts *f)
{
	shard_header_release(&f->header);
	documents_release(&f->documents);
}

int verify_file(struct verify *v, const char *path, struct buf *text, struct verify_facts *facts)
{
	struct file f = { .v = v };
	struct scan s = { .path = path, .threads = v->threads, .progress = v->progress, .begin = begin,
			  .document = document, .other = other, .instances = instances, .work = work, .write = write_block, .ctx = &f };
	int rc = scan_run(&s);

	buf_clear(text);
	if (!rc)
		rc = f.shard ? verify_shard_end(f.shard, &s, text) : verify_tokens_end(f.tokens, &s, text);
	if (!rc && f.shard && facts)
		take_facts(&s, facts);
	verify_shard_free(f.shard);
	verify_tokens_free(f.tokens);
	scan_release(&s);
	return rc;
}

/* Of a shard's documents it can be told that they are absent only where they would be in this one. */
static int say_elsewhere(const struct verify *v, const struct shard_header *h, struct buf *text)
{
	char key[33];

	for (size_t k = 0; k < v->n_absent && h->recipe.rules == SHARD_OWN; k++) {
		const uint32_t shard = key_shard(v->absent[k], h->shards);

		if (shard == h->shard)
			continue;
		key_print(v->absent[k], key);
		if (buf_addf(text, "; it cannot hold %s, which belongs to shard %" PRIu32 " of %" PRIu32, key, shard, h->shards))
			return -1;
	}
	return 0;
}

/* A shard by itself: nothing but its name tells of others. */
static int verify_alone(struct verify *v, const char *path, struct buf *text)
{
	struct verify_facts facts = { .keys = { 0, 0 } };
	uint32_t shard, shards;
	int rc = verify_file(v, path, text, &facts);

	if (!rc && facts.header.shards && folder_parse_name(path, &shard, &shards) &&
	    (shard != facts.header.shard || shards != facts.header.shards))
		rc = err_corrupt("it is shard %" PRIu32 " of %" PRIu32 ", not what its name says", facts.header.shard,
				 facts.header.shards);
	if (!rc && facts.header.shards)
		rc = say_elsewhere(v, &facts.header, text);
	verify_facts_release(&facts);
	return rc;
}

void verify_path(struct verify *v, const char *path)
{
	struct buf text = BUF_INIT;

	if (folder_is(path)) {
		verify_folder(v, path);
		return;
	}
	verify_say(v, strcmp(path, "-") ? path : "standard input", verify_alone(v, path, &text), &text);
	buf_release(&text);
}

void verify_release(struct verify *v)
{
	if (!v)
		return;
	vocab_free(v->vocab);
	mask_words_free(v->words);
	v->vocab = NULL;
	v->words = NULL;
}
