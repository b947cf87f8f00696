/*
 * tokenizer.h - text to WordPiece ids, exactly as a named reference does it.
 *
 * One text:
 *	struct tokenizer *t;
 *	struct tokenizer_opts o = TOKENIZER_OPTS_DEFAULT;
 *	o.vocab = "vocab.txt";
 *	if (tokenizer_open(&t, &o))
 *		...					(err_text() says why: base/err.h)
 *	struct encoder *e = encoder_new(t);		(scratch and cache)
 *	struct ids ids = IDS_INIT;
 *	if (encoder_encode(e, text, len, &ids))		(adds to ids)
 *		...
 *	... ids.items[0 .. ids.count-1]
 *	ids_release(&ids);
 *	encoder_free(e);
 *	tokenizer_close(t);
 *
 * Many texts, on threads: the tokenizer is read-only after tokenizer_open, and
 * they share it; an encoder belongs to one thread at a time. With base/pool.h:
 *	static int work(void *ctx, size_t i, unsigned thread)
 *	{
 *		struct job *j = ctx;
 *		return encoder_encode(j->encoders[thread], j->texts[i], j->lens[i], &j->ids[i]);
 *	}
 *	if (pool_for(threads, n, work, &job))		(fails as the first text that fails)
 * Short texts, such as lines, cost least joined: encoder_encode_lines.
 *
 * Offsets: encoder_encode_spans says of each id which code points of the text it
 * came from, encoder_words the same of whole words; spans_to_bytes and
 * word_list_to_bytes make bytes of these. Back to text: decode.h. Tokens
 * by id, special ones too: vocab.h. [CLS] and [SEP] are the caller's to add.
 *
 * Tokens that are never split are looked for where the slow BertTokenizer of
 * transformers does it: a token between white space, once the text is cleaned
 * and Chinese characters are set apart, as it stands, and then lower-cased
 * and stripped; and words, before they are cut into pieces.
 *
 * Some models were made from texts that a program had cut into words (mecab for
 * Japanese). No library runs it: who does says so (opts.segmenter), and is held to
 * what tokenizer_config.json says of it, so that no text goes uncut by accident.
 *
 * Texts are valid UTF-8; utf8_valid_prefix and utf8_repair (base/utf8.h) see to those
 * that may not be. Ids do not depend on threads, processor or cache. There are no
 * globals but each thread's reason of failure.
 *
 * How: normalize.h (clean, CJK, lower-case, accents, punctuation: text to words),
 * then wordpiece.h (greedy longest match: a word to pieces).
 */
#ifndef TOKENIZER_TOKENIZER_H
#define TOKENIZER_TOKENIZER_H

#include "base/buf.h"
#include "tokenizer/ids.h"
#include "tokenizer/vocab.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum tokenizer_compat { TOKENIZER_GOOGLE, TOKENIZER_HF };
enum tokenizer_strip { TOKENIZER_STRIP_AUTO, TOKENIZER_STRIP_YES, TOKENIZER_STRIP_NO };	/* auto: yes where text is lower-cased */
enum tokenizer_switch { TOKENIZER_AUTO, TOKENIZER_YES, TOKENIZER_NO };			/* auto: as the model directory says, else yes */

struct tokenizer_opts {
	const char *vocab;		/* vocab.txt, or ... */
	const char *model;		/* ... a model directory: vocab.txt and tokenizer_config.json, which has the switches below */
	bool cased;			/* short for lower = TOKENIZER_NO; not with a model directory */
	int compat;			/* enum tokenizer_compat: whose ids */
	int strip_accents;		/* enum tokenizer_strip */
	int lower;			/* enum tokenizer_switch: lower-case */
	int split_cjk;			/* enum tokenizer_switch: each Chinese character is a word */
	const char *const *never_split;	/* tokens that stay whole, in place of the model directory's; NULL: those */
	size_t n_never_split;
	const char *segmenter;		/* texts come as this command has cut them into words; "": as the model directory's has; NULL: not cut */
	uint64_t max_word;		/* code points; longer words are [UNK]; 0: the model directory's, else the reference's (google 200, hf 100) */
	const char *unicode;		/* version of google's tables, "14.0"; NULL: the model directory's, else the default; hf has one table of its own */
};
#ifdef __cplusplus
#define TOKENIZER_OPTS_DEFAULT { }
#else
#define TOKENIZER_OPTS_DEFAULT { 0 }
#endif

struct tokenizer;

/* Fails as vocab_load does; EXIT_USAGE for options that do not go together, EXIT_CORRUPT for a bad tokenizer_config.json. */
int tokenizer_open(struct tokenizer **t, const struct tokenizer_opts *o);
void tokenizer_close(struct tokenizer *t);			/* accepts NULL */
const struct vocab *tokenizer_vocab(const struct tokenizer *t);

/*
 * What made the ids, for file headers: {"cased", "cjk", "compat", "id_bytes",
 * "max_word", "strip_accents", "unicode", "vocab": {"sha256", "size"}}, and
 * where there are such tokens "never_split", their list, sorted, and where there
 * is one "segmenter". Equal objects make equal ids. "unicode" is null for hf. The
 * object is jansson's json_t, whose reference the caller owns; NULL: out of memory.
 */
struct json_t;
struct json_t *tokenizer_describe(const struct tokenizer *t);

/*
 * Remembers the pieces of words met before, in a cache of 8 MiB, or of about CACHE_BYTES; only speed depends on it. NULL:
 * out of memory, or (EXIT_USAGE) the model directory names a segmenter, and the options say nothing of one.
 */
struct encoder;
struct encoder *encoder_new(const struct tokenizer *t);
struct encoder *encoder_new_sized(const struct tokenizer *t, size_t cache_bytes);
void encoder_free(struct encoder *e);				/* accepts NULL */

/*
 * From now on UNKNOWN is called with each word that becomes [UNK], as often as it is met: as it was looked up, that is
 * lower-cased and stripped where texts are. What it returns but 0 fails the call that it was met in, with the reason it has set.
 * To be asked for before the first text; it costs such words their place in the cache.
 */
typedef int (*encoder_unknown_fn)(void *ctx, const char *word, size_t len);
void encoder_on_unknown(struct encoder *e, encoder_unknown_fn unknown, void *ctx);

/*
 * Adds the ids of TEXT (valid UTF-8 without line ends; other control
 * characters and NUL are treated as the reference treats them) to IDS.
 */
int encoder_encode(struct encoder *e, const char *text, size_t len, struct ids *ids);

/*
 * The same for many lines, each ended by \n, at once: LINES->ends[i] is what IDS->count was at the end of the
 * i-th, counted from where LINES->count was before. Lines that are short cost less this way.
 */
struct encoded_lines {
	size_t *ends;
	size_t count, cap;
};
#define ENCODED_LINES_INIT { NULL, 0, 0 }
int encoder_encode_lines(struct encoder *e, const char *text, size_t len, struct ids *ids, struct encoded_lines *lines);
void encoded_lines_release(struct encoded_lines *l);

/*
 * The same with the place of each piece in code points of TEXT, as Hugging
 * Face's offsets: SPANS[i] belongs to IDS->items[i]. *SPANS has room for *CAP
 * spans and grows with IDS; the caller frees it.
 */
int encoder_encode_spans(struct encoder *e, const char *text, size_t len, struct ids *ids, struct span **spans, size_t *cap);

/* N spans in code points of TEXT, which all lie in it, become those in bytes. In any order; fastest in that of the text. */
void spans_to_bytes(struct span *spans, size_t n, const char *text);

/* Basic tokens: the words before they are cut into pieces, and where they came from. */
struct placed_word {
	size_t start, len;		/* bytes in word_list.text */
	struct span span;		/* code points of the text given (bytes after word_list_to_bytes) */
	uint32_t special;		/* hf: the id of a special token written in the text; else VOCAB_NONE */
};
struct word_list {
	struct buf text;
	struct placed_word *items;
	size_t count, cap;
};
#define WORD_LIST_INIT { BUF_INIT, NULL, 0, 0 }
void word_list_clear(struct word_list *w);
void word_list_release(struct word_list *w);

/* Adds the words of TEXT to W. */
int encoder_words(struct encoder *e, const char *text, size_t len, struct word_list *w);

/* The places of all words, which are in code points of TEXT, become those in bytes. */
void word_list_to_bytes(struct word_list *w, const char *text);

#ifdef __cplusplus
}
#endif

#endif
