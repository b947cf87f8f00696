#include "tokenizer/tokenizer.h"

#include "base/err.h"
#include "base/fs.h"
#include "tokenizer/tokenizer_config.h"
#include "tokenizer/tokenizer_impl.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static int read_model(struct tokenizer *t, const struct tokenizer_opts *o)
{
	char *const vocab = fs_join(o->model, "vocab.txt");
	char *const config = fs_join(o->model, "tokenizer_config.json");
	struct tokenizer_config c;
	int rc = -1;

	if (vocab && config && !vocab_load(&t->vocab, vocab) && !tokenizer_config_read(&c, config)) {
		t->rules.lower = c.lower;
		t->rules.strip_accents = c.strip_accents;
		t->rules.space_cjk = c.space_cjk;
		rc = 0;
	}
	free(vocab);
	free(config);
	return rc;
}

static void find_specials(struct tokenizer *t)
{
	static const char *const texts[SPECIALS_MAX] = { "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]" };

	for (size_t i = 0; i < SPECIALS_MAX; i++) {
		const size_t len = strlen(texts[i]);
		const uint32_t id = vocab_id(t->vocab, texts[i], len);

		if (id != VOCAB_NONE)
			t->specials[t->n_specials++] = (struct special){ texts[i], len, id };
	}
}

static int check_opts(const struct tokenizer_opts *o)
{
	if (!o->vocab == !o->model)
		return err_usage("a tokenizer needs either a vocabulary or a model directory");
	if (o->model && o->cased)
		return err_usage("a model directory says itself whether it is cased");
	if (o->compat == TOKENIZER_HF && o->unicode)
		return err_usage("Hugging Face's tokenizer has one table of its own: no Unicode version can be chosen for it");
	return 0;
}

static int open_parts(struct tokenizer *t, const struct tokenizer_opts *o)
{
	if (check_opts(o))
		return -1;
	t->compat = o->compat;
	t->max_word = o->max_word ? o->max_word : o->compat == TOKENIZER_HF ? 100 : 200;
	t->rules.chars = o->compat == TOKENIZER_HF ? chars_hf() : chars_google(o->unicode);
	t->rules.lower = t->rules.strip_accents = !o->cased;
	t->rules.space_cjk = true;
	if (!t->rules.chars)
		return -1;
	if (o->model ? read_model(t, o) : vocab_load(&t->vocab, o->vocab))
		return -1;
	if (o->strip_accents != TOKENIZER_STRIP_AUTO)
		t->rules.strip_accents = o->strip_accents == TOKENIZER_STRIP_YES;
	if (o->compat == TOKENIZER_HF)
		find_specials(t);
	t->wordpiece = wordpiece_new(t->vocab, t->max_word);
	return t->wordpiece ? 0 : -1;
}

int tokenizer_open(struct tokenizer **t, const struct tokenizer_opts *o)
{
	*t = calloc(1, sizeof(**t));
	if (!*t)
		return err_memory();
	if (open_parts(*t, o) == 0)
		return 0;
	tokenizer_close(*t);
	*t = NULL;
	return -1;
}

void tokenizer_close(struct tokenizer *t)
{
	if (!t)
		return;
	wordpiece_free(t->wordpiece);
	vocab_free(t->vocab);
	free(t);
}

const struct vocab *tokenizer_vocab(const struct tokenizer *t)
{
	return t->vocab;
}

json_t *tokenizer_describe(const struct tokenizer *t)
{
	json_t *o = json_pack("{s:b, s:b, s:s, s:I, s:I, s:b, s:s?, s:{s:s, s:I}}", "cased", !t->rules.lower, "cjk",
			      t->rules.space_cjk, "compat", t->compat == TOKENIZER_HF ? "hf" : "google", "id_bytes",
			      (json_int_t)vocab_id_bytes(t->vocab), "max_word", (json_int_t)t->max_word,
			      "strip_accents", t->rules.strip_accents, "unicode", t->rules.chars->unicode, "vocab",
			      "sha256", vocab_sha256(t->vocab), "size", (json_int_t)vocab_size(t->vocab));

	if (!o)
		err_memory();
	return o;
}
