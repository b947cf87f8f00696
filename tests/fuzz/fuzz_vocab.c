/*
 * Any bytes as a vocabulary: refused, or a vocabulary whose tokens are found
 * under their last line's id, and that tokenizes.
 */
#include "tokenizer/tokenizer.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void check_vocab(const struct vocab *v)
{
	for (uint32_t id = 0; id < vocab_size(v); id++) {
		size_t len;
		const char *const token = vocab_token(v, id, &len);
		const uint32_t last = vocab_id(v, token, len);
		size_t last_len;

		require(strlen(token) == len && last >= id && last < vocab_size(v));
		require(!strcmp(vocab_token(v, last, &last_len), token) && last_len == len);
		vocab_is_special(v, id);
	}
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	const int fd = memfd_create("vocab", 0);
	char path[32];
	struct tokenizer *t;

	require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (tokenizer_open(&t, &(struct tokenizer_opts){ .vocab = path }) == 0) {
		static const char text[] = "an unaffable word, caf\xC3\xA9 \xE5\xAD\x97";
		struct encoder *e = encoder_new_sized(t, 0);
		struct ids ids = IDS_INIT;

		check_vocab(tokenizer_vocab(t));
		require(e && encoder_encode(e, text, strlen(text), &ids) == 0 && ids.count > 0);
		for (size_t i = 0; i < ids.count; i++)
			require(ids.items[i] < vocab_size(tokenizer_vocab(t)));
		ids_release(&ids);
		encoder_free(e);
		tokenizer_close(t);
	}
	close(fd);
	return 0;
}
