#include "tokenizer/tokenizer_config.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/fs.h"
#include "tokenizer/chars.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* --- the file ---------------------------------------------------------------------------------- */

/* Reals that are whole, and no larger than a real can tell from its neighbours, become integers; the reference is the caller's. */
static json_t *with_integers(json_t *value)
{
	const double limit = (double)(1LL << 53), real = json_real_value(value);
	const char *key;
	json_t *item;
	size_t i;
	bool bad = false;

	if (json_is_real(value) && real >= -limit && real <= limit && (double)(json_int_t)real == real)
		return json_integer((json_int_t)real);
	if (json_is_object(value))
		json_object_foreach(value, key, item)
			bad |= json_object_set_new(value, key, with_integers(item)) != 0;
	if (json_is_array(value))
		json_array_foreach(value, i, item)
			bad |= json_array_set_new(value, i, with_integers(item)) != 0;
	return bad ? NULL : json_incref(value);
}

json_t *tokenizer_config_parse(const char *text, size_t len, const char *path)
{
	json_error_t error;
	json_t *object = json_loadb(text, len, 0, &error), *reals;

	if (!object && json_error_code(&error) == json_error_numeric_overflow) {
		reals = json_loadb(text, len, JSON_DECODE_INT_AS_REAL, &error);
		object = reals ? with_integers(reals) : NULL;
		json_decref(reals);
		if (reals && !object) {
			err_memory();
			return NULL;
		}
	}
	if (object && json_is_object(object))
		return object;
	if (object)
		err_corrupt("cannot use '%s': not a JSON object", path);
	else
		err_corrupt("cannot use '%s': line %d: %s", path, error.line, error.text);
	json_decref(object);
	return NULL;
}

/* --- its fields -------------------------------------------------------------------------------- */

/* Field NAME into *VALUE, which stays where it is null or absent. */
static int read_bool(const json_t *object, const char *name, bool *value, const char *path)
{
	const json_t *field = json_object_get(object, name);

	if (!field || json_is_null(field))
		return 0;
	if (!json_is_boolean(field))
		return err_corrupt("cannot use '%s': \"%s\" is neither true nor false", path, name);
	*value = json_is_true(field);
	return 0;
}

/* The strings of the list NAME, where it is neither null nor absent. */
static int read_tokens(const json_t *object, const char *name, struct never_split *n, const char *path)
{
	const json_t *list = json_object_get(object, name), *item;
	size_t i;

	if (!list || json_is_null(list))
		return 0;
	if (!json_is_array(list))
		return err_corrupt("cannot use '%s': \"%s\" is no list", path, name);
	json_array_foreach(list, i, item) {
		if (!json_is_string(item))
			return err_corrupt("cannot use '%s': \"%s\" has an item that is no string", path, name);
		if (never_split_add(n, json_string_value(item), json_string_length(item)))
			return err_code() == EXIT_USAGE ? err_corrupt("cannot use '%s': \"%s\": %s", path, name, err_text()) : -1;
	}
	return 0;
}

/* The command NAME into *VALUE, which the caller frees; NULL where it is null or absent. */
static int read_command(const json_t *object, const char *name, char **value, const char *path)
{
	const json_t *field = json_object_get(object, name);
	const char *const text = json_string_value(field);

	if (!field || json_is_null(field))
		return 0;
	if (!text || !*text || strlen(text) != json_string_length(field) || strchr(text, '\n'))
		return err_corrupt("cannot use '%s': \"%s\" is no command", path, name);
	*value = strdup(text);
	return *value ? 0 : err_memory();
}

/* Characters, where they are neither null nor absent: as many as --max-word takes. */
static int read_max_word(const json_t *object, uint64_t *max_word, const char *path)
{
	const json_t *const field = json_object_get(object, TOKENIZER_CONFIG_MAX_WORD);
	const json_int_t n = json_integer_value(field);

	if (!field || json_is_null(field))
		return 0;
	if (n < 1 || n > INT32_MAX)
		return err_corrupt("cannot use '%s': \"%s\" is no number from 1 to %d", path, TOKENIZER_CONFIG_MAX_WORD, INT32_MAX);
	*max_word = (uint64_t)n;
	return 0;
}

static int read_unicode(const json_t *object, const char **unicode, const char *path)
{
	const json_t *const field = json_object_get(object, TOKENIZER_CONFIG_UNICODE);
	const struct chars *chars;

	if (!field || json_is_null(field))
		return 0;
	if (!json_is_string(field))
		return err_corrupt("cannot use '%s': \"%s\" is no string", path, TOKENIZER_CONFIG_UNICODE);
	chars = chars_google(json_string_value(field));
	if (!chars)
		return err_corrupt("cannot use '%s': \"%s\": %s", path, TOKENIZER_CONFIG_UNICODE, err_text());
	*unicode = chars->unicode;
	return 0;
}

/* The string NAME into *TEXT, which OBJECT keeps; NULL where it is null or absent. */
static int read_string(const json_t *object, const char *name, const char **text, const char *path)
{
	const json_t *field = json_object_get(object, name);

	*text = json_string_value(field);
	if (field && !json_is_null(field) && !*text)
		return err_corrupt("cannot use '%s': \"%s\" is no string", path, name);
	return 0;
}

/*
 * Transformers' BertJapaneseTokenizer: another program may cut the text into words, and other pieces than WordPiece's may
 * be wanted. It keeps case by default, and sets no character apart; words that another program made keep their accents.
 */
static int read_japanese(struct tokenizer_config *c, const json_t *object, const char *path)
{
	const json_t *const segmenter = json_object_get(object, "segmenter");
	const char *class, *words, *pieces;

	if (read_string(object, "tokenizer_class", &class, path) || read_string(object, "word_tokenizer_type", &words, path) ||
	    read_string(object, "subword_tokenizer_type", &pieces, path))
		return -1;
	if (pieces && strcmp(pieces, "wordpiece"))
		return err_corrupt("cannot use '%s': \"subword_tokenizer_type\" is \"%s\", and pieces are WordPiece's alone here", path, pieces);
	if (words && strcmp(words, "basic")) {
		if (!segmenter || json_is_null(segmenter))
			return err_corrupt("cannot use '%s': \"word_tokenizer_type\" is \"%s\"; put the command that cuts texts so there, "
					   "as \"segmenter\"", path, words);
		c->strip_accents = TOKENIZER_STRIP_NO;
	}
	if (words || (class && !strcmp(class, "BertJapaneseTokenizer")))
		c->lower = c->split_cjk = false;
	return 0;
}

static int read_fields(struct tokenizer_config *c, const json_t *object, const char *path)
{
	bool strip = false;

	if (read_japanese(c, object, path))
		return -1;
	if (read_bool(object, "do_lower_case", &c->lower, path) || read_bool(object, "strip_accents", &strip, path))
		return -1;
	if (json_is_boolean(json_object_get(object, "strip_accents")))
		c->strip_accents = strip ? TOKENIZER_STRIP_YES : TOKENIZER_STRIP_NO;
	if (read_bool(object, "tokenize_chinese_chars", &c->split_cjk, path))
		return -1;
	if (read_tokens(object, "never_split", &c->never_split, path))
		return -1;
	if (read_max_word(object, &c->max_word, path) || read_unicode(object, &c->unicode, path))
		return -1;
	return read_command(object, "segmenter", &c->segmenter, path);
}

int tokenizer_config_read(struct tokenizer_config *c, const char *path)
{
	struct buf text = BUF_INIT;
	json_t *object = NULL;
	int rc = -1;

	*c = (struct tokenizer_config)TOKENIZER_CONFIG_INIT;
	if (!fs_exists(path))
		return 0;
	if (!fs_read_all(path, TOKENIZER_CONFIG_BYTES_MAX, &text))
		object = tokenizer_config_parse(text.data ? text.data : "", text.len, path);
	if (object)
		rc = read_fields(c, object, path);
	json_decref(object);
	buf_release(&text);
	return rc;
}

void tokenizer_config_release(struct tokenizer_config *c)
{
	never_split_release(&c->never_split);
	free(c->segmenter);
	c->segmenter = NULL;
}
