/* The files of made_shard.h, which includes this. */
#ifndef TESTS_MADE_FILE_H
#define TESTS_MADE_FILE_H

/* Writes the blocks of documents; counts them in T. */
static inline void made_documents(const struct made *m, struct frame_writer *w, struct shard_totals *t,
				  struct key *keys)
{
	struct buf raw = BUF_INIT, packed = BUF_INIT;
	uint32_t records = 0;

	for (uint32_t d = 0; d < MADE_DOCUMENTS; d++) {
		const struct shard_document doc = made_document(m, m->lie == LIE_DOCUMENT_ORDER && d < 2 ? 1 - d : d);
		const struct shard_totals one = { .documents = 1, .sentences = doc.sentences, .tokens = doc.tokens,
						  .text_bytes = doc.text_bytes };

		assert_int_equal(shard_document_encode(&raw, &doc), 0);
		shard_totals_add(t, &one);
		*keys = key_add(*keys, doc.key);
		records++;
		if (d != MADE_DOCUMENTS / 2 && d != MADE_DOCUMENTS - 1)
			continue;
		assert_int_equal(frame_add(w, SHARD_DOCUMENTS, records, raw.data, raw.len, &packed), 0);
		records = 0;
		buf_clear(&raw);
	}
	buf_release(&raw);
	buf_release(&packed);
}

/* Writes the lengths of all sentences, or what LIE makes of them. */
static inline void made_lengths(const struct made *m, struct frame_writer *w)
{
	static const uint32_t tens[MADE_TOKENS / 5] = { 0, 10, 0, 10, 0, 10, 0, 10, 0, 10, 0, 10, 0, 10, 0, 10, 0, 10, 0, 10 };
	struct buf raw = BUF_INIT, packed = BUF_INIT;
	const uint32_t records = m->lie == LIE_FEWER_LENGTHS ? MADE_DOCUMENTS - 1 : m->lie == LIE_MORE_LENGTHS ? MADE_DOCUMENTS + 1 : MADE_DOCUMENTS;

	if (m->lie == LIE_NO_LENGTHS)
		return;
	for (uint32_t d = 0; d < records; d++)
		assert_int_equal(lengths_put(&raw, tens, MADE_TOKENS / 5), 0);
	if (m->lie == LIE_ZERO_LENGTH)
		raw.data[12] = 0;
	if (m->lie == LIE_OTHER_LENGTHS) {	/* of document 4, which are as many tokens */
		raw.data[40]++;
		raw.data[41]--;
	}
	raw.len -= m->lie == LIE_CUT_LENGTHS;
	if (m->lie == LIE_LENGTHS_LEFT)
		assert_int_equal(buf_add_byte(&raw, 1), 0);
	assert_int_equal(frame_add(w, SHARD_LENGTHS, records, raw.data, raw.len, &packed), 0);
	buf_release(&raw);
	buf_release(&packed);
}

static inline void made_flush(struct frame_writer *w, struct instance_columns *c)
{
	struct buf raw = BUF_INIT, packed = BUF_INIT;
	const uint32_t records = c->records;

	assert_int_equal(instance_columns_flush(c, 1, &raw, &packed), 0);
	assert_int_equal(frame_add(w, SHARD_INSTANCES, records, raw.data, raw.len, &packed), 0);
	buf_release(&raw);
	buf_release(&packed);
}

static inline void made_instances(const struct made *m, const struct shard_header *h, const struct vocab *vocab,
				  struct frame_writer *w, struct shard_totals *t)
{
	static struct made_instance list[MADE_INSTANCES_MAX];
	const struct instance_shape shape = shard_header_shape(h, MADE_DOCUMENTS);
	const struct mask_rule rule = shard_recipe_mask(&h->recipe, vocab);
	const size_t n = made_plan(m, h->recipe.dupe_factor, list);
	struct instance_columns c;
	struct instance i;
	struct mask mask;
	uint32_t room = m->lie == LIE_SHORT_BLOCK ? MADE_BLOCK - 1 : MADE_BLOCK;

	assert_true(n <= MADE_INSTANCES_MAX && n > 2 * MADE_BLOCK);
	assert_int_equal(instance_init(&i, &shape) | instance_columns_init(&c, &shape) | mask_init(&mask, &rule), 0);
	for (size_t k = 0; k < n; k++) {
		made_fill(m, &h->recipe, &mask, &list[k], k, &i);
		const struct shard_totals one = { .instances = 1, .random_next = i.flags & INSTANCE_RANDOM_NEXT,
						  .instance_tokens = i.n, .predictions = i.predictions };

		shard_totals_add(t, &one);
		instance_columns_add(&c, &i);
		if (c.records == room || k == n - 1) {
			made_flush(w, &c);
			room = MADE_BLOCK;
		}
	}
	instance_release(&i);
	instance_columns_release(&c);
	mask_release(&mask);
}

/* Writes the shard to PATH; VOCAB_PATH is what made_vocab wrote. Adds its sums to *T and *KEYS, which may be NULL. */
static inline void made_shard(const char *path, const char *vocab_path, const struct made *m, struct shard_totals *t,
			      struct key *keys)
{
	struct vocab *vocab;
	struct frame_writer *w;
	struct out *out;
	struct shard_totals totals = { .documents = 0 };
	struct key sum = { 0, 0 };
	char *text;

	assert_int_equal(vocab_load(&vocab, vocab_path), 0);
	struct shard_header h = { .recipe = made_recipe(m, vocab), .shard = m->shard, .shards = m->shards,
				  .block_records = MADE_BLOCK,
				  .corpus_documents = m->corpus_documents, .corpus = m->corpus };

	text = shard_header_print(&h);
	assert_non_null(text);
	assert_int_equal(out_open(&out, path), 0);
	assert_int_equal(frame_create(&w, out, SHARD_KIND, text, strlen(text)), 0);
	free(text);
	made_documents(m, w, &totals, &sum);
	if (m->lie != LIE_LATE_LENGTHS)
		made_lengths(m, w);
	made_instances(m, &h, vocab, w, &totals);
	if (m->lie == LIE_LATE_LENGTHS)
		made_lengths(m, w);
	totals.instances += m->lie == LIE_COUNT;
	totals.truncated += m->lie == LIE_TRUNCATED ? totals.instances + 1 : 0;
	totals.dropped += m->lie == LIE_DROPPED;
	json_t *o = shard_totals_json(&totals);

	text = canon_print(o);
	assert_int_equal(frame_finish(w, text, strlen(text)), 0);
	assert_int_equal(out_commit(out), 0);
	free(text);
	json_decref(o);
	json_decref(h.recipe.tokenizer);
	vocab_free(vocab);
	if (t)
		shard_totals_add(t, &totals);
	if (keys)
		*keys = key_add(*keys, sum);
}

#endif
