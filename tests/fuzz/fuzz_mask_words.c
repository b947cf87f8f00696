/*
 * Any bytes as a list of words: refused, or a list whose one form is read back as the same words, each of which is
 * found where it stands. The first byte says whether it is a list that is given, or a file beside shards.
 */
#include "base/utf8.h"
#include "shards/mask_words.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static const char vocab_text[] = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nb\nc\n##a\nab\n\xE4\xB8\xAD\n\xE5\x9B\xBD\n";

static void require(int holds)
{
	if (!holds)
		abort();
}

static int make_file(const void *bytes, size_t size, char path[32])
{
	const int fd = memfd_create("words", 0);

	require(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
	snprintf(path, 32, "/proc/self/fd/%d", fd);
	return fd;
}

static void find_all(const struct mask_words *w, const struct vocab *v)
{
	size_t len;
	const char *p = mask_words_text(w, &len), *const end = p + len;

	while (p < end) {
		uint32_t ids[MASK_WORDS_LENGTH], n = 0;

		while (*p != '\n') {
			const char *const at = p;

			utf8_next(&p);
			require(n < MASK_WORDS_LENGTH);
			ids[n++] = vocab_id(v, at, (size_t)(p - at));
		}
		p++;
		require(n >= 2 && mask_words_match(w, ids, n) == n);
	}
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	static struct tokenizer *t;
	struct mask_words *w, *again;
	char path[32], back[32];
	size_t len;
	const char *text;
	int fd, fd_back;

	if (!t) {
		const int made = make_file(vocab_text, strlen(vocab_text), path);

		require(!tokenizer_open(&t, &(struct tokenizer_opts){ .vocab = path }));
		close(made);
	}
	if (!size)
		return 0;
	fd = make_file(data + 1, size - 1, path);
	if (data[0] % 2 ? mask_words_gather(&w, path, t) : mask_words_load(&w, path, tokenizer_vocab(t))) {
		close(fd);
		return 0;
	}
	text = mask_words_text(w, &len);
	fd_back = make_file(text, len, back);
	require(!mask_words_load(&again, back, tokenizer_vocab(t)));
	require(!strcmp(mask_words_sha256(w), mask_words_sha256(again)) && mask_words_count(w) == mask_words_count(again));
	find_all(again, tokenizer_vocab(t));
	mask_words_free(again);
	mask_words_free(w);
	close(fd_back);
	close(fd);
	return 0;
}
