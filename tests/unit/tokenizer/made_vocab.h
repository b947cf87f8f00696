/* made_vocab.h - vocabularies in a temporary file, for tests. */
#ifndef TESTS_UNIT_TOKENIZER_MADE_VOCAB_H
#define TESTS_UNIT_TOKENIZER_MADE_VOCAB_H

#include "tokenizer/vocab.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct made_file {
	char path[64];
};

/* A file that holds these bytes; made_file_remove it. */
static inline struct made_file made_file(const char *bytes, size_t n)
{
	struct made_file f = { "/tmp/berttools-test-XXXXXX" };
	const int fd = mkstemp(f.path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, n), n);
	assert_int_equal(close(fd), 0);
	return f;
}

static inline void made_file_remove(const struct made_file *f)
{
	assert_int_equal(unlink(f->path), 0);
}

/* Loads a vocabulary of these bytes; what vocab_load returned. */
static inline int load_bytes(struct vocab **v, const char *bytes, size_t n)
{
	const struct made_file f = made_file(bytes, n);
	const int rc = vocab_load(v, f.path);

	made_file_remove(&f);
	return rc;
}

#endif
