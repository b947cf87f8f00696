/*
 * decode.h - ids back to text, as Hugging Face's transformers do it.
 *
 * Tokens are joined by spaces, and those that begin with "##" without one, less
 * the "##"; not so the first token, which stays as it is. The spaces before
 * some marks go: " .", " ?", " !", " ,", and those of English contractions that
 * are one token, such as "'s". That is the decode of transformers 5 with
 * clean_up_tokenization_spaces=False, and with its default: the tokenizers
 * package does this to each token, and only what transformers would do to the
 * whole text afterwards is switched off. Case, accents and other white space are lost.
 */
#ifndef TOKENIZER_DECODE_H
#define TOKENIZER_DECODE_H

#include "base/buf.h"
#include "tokenizer/vocab.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Adds the text of N ids, all below vocab_size. */
int decode_ids(const struct vocab *v, const uint32_t *ids, size_t n, struct buf *out);

#ifdef __cplusplus
}
#endif

#endif
