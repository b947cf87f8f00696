#include "tokenizer/tokenizer.h"

#include "base/err.h"
#include "base/fs.h"
#include "base/utf8.h"
#include "tokenizer/tokenizer_config.h"
#include "tokenizer/tokenizer_impl.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* The vocabulary, and in *C what the model directory says of the rest. */
static int read_model(struct tokenizer *t, const char *model, struct tokenizer_config *c)
{
	char *const vocab = fs_join(model, "vocab.txt"), *const config = fs_join(model, "tokenizer_config.json");
	const int rc = vocab && config && !vocab_load(&t->vocab, vocab) ? tokenizer_config_read(c, config) : -1;

	free(vocab);
	free(config);
	return rc;
}

static bool decide(int chosen, bool otherwise)
{
	return chosen == TOKENIZER_AUTO ? otherwise : chosen == TOKENIZER_YES;
}

/* The caller's tokens in place of those of C. */
static int choose_never_split(struct tokenizer *t, const struct tokenizer_opts *o, struct tokenizer_config *c)
{
	if (!o->never_split) {
		t->never_split = c->never_split;
		c->never_split = (struct never_split)NEVER_SPLIT_INIT;
	}
	for (size_t i = 0; o->never_split && i < o->n_never_split; i++)
		if (never_split_add(&t->never_split, o->never_split[i], strlen(o->never_split[i])))
			return -1;
	never_split_sort(&t->never_split);
	return 0;
}

/* The model directory's segmenter must be the caller's, where both say something. */
static int choose_segmenter(struct tokenizer *t, const struct tokenizer_opts *o, const struct tokenizer_config *c)
{
	const char *const command = o->segmenter && *o->segmenter ? o->segmenter : c->segmenter;

	if (o->segmenter && *o->segmenter && c->segmenter && strcmp(o->segmenter, c->segmenter))
		return err_usage("the texts of '%s' were cut into words by '%s', not by '%s'", o->model, c->segmenter, o->segmenter);
	if (command && (strchr(command, '\n') || utf8_valid_prefix(command, strlen(command)) < strlen(command)))
		return err_usage("a segmenter's command is one line of UTF-8");
	t->is_cut = o->segmenter;
	t->segmenter = command ? strdup(command) : NULL;
	return command && !t->segmenter ? err_memory() : 0;
}

/* Longer words are [UNK]. */
static uint64_t choose_max_word(const struct tokenizer_opts *o, const struct tokenizer_config *c)
{
	if (o->max_word || c->max_word)
		return o->max_word ? o->max_word : c->max_word;
	return o->compat == TOKENIZER_HF ? WORDPIECE_MAX_WORD_HF : WORDPIECE_MAX_WORD_GOOGLE;
}

static const struct chars *choose_chars(const struct tokenizer_opts *o, const struct tokenizer_config *c)
{
	return o->compat == TOKENIZER_HF ? chars_hf() : chars_google(o->unicode ? o->unicode : c->unicode);
}

/* The rules: what the caller chooses, else what the model directory says, else google's own. */
static int choose_rules(struct tokenizer *t, const struct tokenizer_opts *o, struct tokenizer_config *c)
{
	const int strip = o->strip_accents != TOKENIZER_STRIP_AUTO ? o->strip_accents : c->strip_accents;

	t->max_word = choose_max_word(o, c);
	t->rules.chars = choose_chars(o, c);
	if (!t->rules.chars)
		return -1;
	t->rules.lower = !o->cased && decide(o->lower, c->lower);
	t->rules.strip_accents = strip == TOKENIZER_STRIP_AUTO ? t->rules.lower : strip == TOKENIZER_STRIP_YES;
	t->rules.space_cjk = decide(o->split_cjk, c->split_cjk);
	return choose_never_split(t, o, c) || choose_segmenter(t, o, c) ? -1 : 0;
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
	if (o->cased && o->lower == TOKENIZER_YES)
		return err_usage("cased text is not lower-cased: choose one");
	if (o->compat == TOKENIZER_HF && o->unicode)
		return err_usage("Hugging Face's tokenizer has one table of its own: no Unicode version can be chosen for it");
	return 0;
}

static int open_parts(struct tokenizer *t, const struct tokenizer_opts *o, struct tokenizer_config *c)
{
	if (check_opts(o))
		return -1;
	t->compat = o->compat;
	if ((o->model ? read_model(t, o->model, c) : vocab_load(&t->vocab, o->vocab)) || choose_rules(t, o, c))
		return -1;
	if (o->compat == TOKENIZER_HF)
		find_specials(t);
	t->wordpiece = wordpiece_new(t->vocab, t->max_word);
	if (t->wordpiece && t->never_split.count)
		wordpiece_keep(t->wordpiece, &t->never_split);
	return t->wordpiece ? 0 : -1;
}

int tokenizer_open(struct tokenizer **t, const struct tokenizer_opts *o)
{
	struct tokenizer_config c = TOKENIZER_CONFIG_INIT;
	int rc;

	*t = calloc(1, sizeof(**t));
	if (!*t)
		return err_memory();
	rc = open_parts(*t, o, &c);
	tokenizer_config_release(&c);
	if (!rc)
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
	never_split_release(&t->never_split);
	free(t->segmenter);
	vocab_free(t->vocab);
	free(t);
}

const struct vocab *tokenizer_vocab(const struct tokenizer *t)
{
	return t->vocab;
}

static int describe_never_split(const struct never_split *n, json_t *o)
{
	json_t *list = n->count ? json_array() : NULL;

	if (!n->count)
		return 0;
	for (size_t i = 0; list && i < n->count; i++)
		if (json_array_append_new(list, json_string(n->tokens[i]))) {
			json_decref(list);
			return -1;
		}
	return json_object_set_new(o, "never_split", list);
}

json_t *tokenizer_describe(const struct tokenizer *t)
{
	json_t *o = json_pack("{s:b, s:b, s:s, s:I, s:I, s:b, s:s?, s:{s:s, s:I}}", "cased", !t->rules.lower, "cjk",
			      t->rules.space_cjk, "compat", t->compat == TOKENIZER_HF ? "hf" : "google", "id_bytes",
			      (json_int_t)vocab_id_bytes(t->vocab), "max_word", (json_int_t)t->max_word,
			      "strip_accents", t->rules.strip_accents, "unicode", t->rules.chars->unicode, "vocab",
			      "sha256", vocab_sha256(t->vocab), "size", (json_int_t)vocab_size(t->vocab));

	if (o && !describe_never_split(&t->never_split, o) &&
	    (!t->segmenter || !json_object_set_new(o, "segmenter", json_string(t->segmenter))))
		return o;
	json_decref(o);
	err_memory();
	return NULL;
}
