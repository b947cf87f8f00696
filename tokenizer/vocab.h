/*
 * vocab.h - a WordPiece vocabulary: tokens to ids and back.
 *
 * vocab.txt holds one token a line; the id is the line's number from 0.
 * As in google-research/bert's load_vocab, each line is stripped of white
 * space on both sides (Python's str.strip) and of two equal lines the last one
 * counts. Read-only after vocab_load, so threads may share it.
 */
#ifndef TOKENIZER_VOCAB_H
#define TOKENIZER_VOCAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define VOCAB_NONE UINT32_MAX
#define VOCAB_MAX 16777214u		/* tokens */

struct vocab;

/*
 * Loads PATH. Refused, with the line's number (EXIT_CORRUPT): ill-formed UTF-8,
 * NUL bytes; an empty file, a missing [UNK], more than VOCAB_MAX lines or
 * 256 MiB. Blank lines and
 * duplicates are accepted as the reference does, and counted. A byte-order mark
 * is no white space, so it is part of the first token, as in the reference.
 */
int vocab_load(struct vocab **v, const char *path);

/* The same of the bytes of a vocabulary that is no file, NAME being for messages. They are V's from here on, even on failure. */
struct buf;
int vocab_take(struct vocab **v, struct buf *bytes, const char *name);
void vocab_free(struct vocab *v);

uint32_t vocab_size(const struct vocab *v);				/* ids are below it */
const char *vocab_token(const struct vocab *v, uint32_t id, size_t *len);	/* ended by a 0 byte; LEN may be NULL */
uint32_t vocab_id(const struct vocab *v, const char *token, size_t len);	/* VOCAB_NONE when absent */
bool vocab_is_continuation(const struct vocab *v, uint32_t id);		/* begins with "##" */
const char *vocab_sha256(const struct vocab *v);			/* of the file's bytes, 64 hexadecimal digits */
size_t vocab_blank_lines(const struct vocab *v);			/* lines of white space, but for U+2028, which BERT's Chinese vocabulary has */
size_t vocab_duplicates(const struct vocab *v);				/* lines equal to an earlier one, and not blank */
/*
 * What a user should be warned of (a byte-order mark too), added to TEXT: "1 blank line and 2 lines that repeat an earlier one and
 * take its place". Nothing where all is well.
 */
int vocab_describe_faults(const struct vocab *v, struct buf *text);
unsigned vocab_id_bytes(const struct vocab *v);				/* 2 while size <= 65536, else 4 */

/* Ids of the tokens that BERT gives a meaning to; VOCAB_NONE when absent. */
struct vocab_special {
	uint32_t pad, unk, cls, sep, mask;
};
struct vocab_special vocab_special(const struct vocab *v);

/* Whether ID is an [unusedN] slot. */
bool vocab_is_slot(const struct vocab *v, uint32_t id);

/* Whether ID is one of those five or a slot. */
bool vocab_is_special(const struct vocab *v, uint32_t id);

#ifdef __cplusplus
}
#endif

#endif
