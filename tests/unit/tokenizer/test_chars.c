/*
 * The words of every code point, alone, between letters, after a space, beside
 * marks and beside a sigma, as their digests: tests/data/tokenizer/sweep.tsv
 * holds those of the peers (tests/long/tokenizer-sweep.py).
 */
#include "tokenizer/normalize.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/fs.h"
#include "base/utf8.h"

#include <openssl/evp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

/* '@' stands for the code point. */
static const char pattern[] = "@ a@b  @A e\xCC\x81@q @\xCC\x81 A@\xCE\xA3 A\xCE\xA3@A \xCE\xA3@ o\xF0\x9D\x85\xAD@\xF0\x9D\x85\xA5@ @@. z";

static size_t make_line(uint32_t cp, char *line)
{
	char *o = line;

	for (const char *p = pattern; *p; p++) {
		if (*p == '@')
			o += utf8_write(cp, o);
		else
			*o++ = *p;
	}
	return (size_t)(o - line);
}

/* Adds the words of a line, a space between them and \n after them. */
static void add_words(struct normalizer *n, const char *line, size_t len, bool spans, struct buf *b)
{
	struct words w;
	bool first = true;

	normalizer_start(n, line, len, spans);
	while (normalizer_next(n, &w) > 0)
		for (size_t i = 0; i < w.count; i++, first = false)
			if (buf_adds(b, first ? "" : " ") || buf_add(b, w.text + w.starts[i], w.ends[i] - w.starts[i]))
				fail();
	if (buf_add_byte(b, '\n'))
		fail();
}

/* SPANS changes how the text is gone through, not what is found. */
static void sweep(const struct normalizer_opts *o, bool spans, const char *name, const char *want)
{
	struct normalizer *n = normalizer_new(o);
	EVP_MD_CTX *digest = EVP_MD_CTX_new();
	struct buf b = BUF_INIT;
	unsigned char sum[32];
	char got[65], line[sizeof(pattern) * UTF8_MAX];

	assert_true(EVP_DigestInit_ex(digest, EVP_sha256(), NULL));
	for (uint32_t cp = 0; cp < 0x110000; cp++) {
		if (cp == '\n' || (cp >= 0xD800 && cp < 0xE000))
			continue;
		add_words(n, line, make_line(cp, line), spans, &b);
		if (b.len > 1 << 16 || cp == 0x10FFFF) {
			EVP_DigestUpdate(digest, b.data, b.len);
			buf_clear(&b);
		}
	}
	EVP_DigestFinal_ex(digest, sum, NULL);
	for (size_t i = 0; i < sizeof(sum); i++)
		snprintf(got + 2 * i, 3, "%02x", sum[i]);
	if (strcmp(got, want))
		fail_msg("%s: digest %s, wanted %s", name, got, want);
	EVP_MD_CTX_free(digest);
	buf_release(&b);
	normalizer_free(n);
}

/* A row: the options of bert-tokenize, a tab, the digest. */
static void sweep_row(char *row, bool spans)
{
	char *const want = strchr(row, '\t') + 1;
	struct normalizer_opts o = { .chars = chars_hf(), .space_cjk = true };

	want[-1] = 0;
	o.lower = o.strip_accents = !strstr(row, "--cased");
	if (strstr(row, "--strip-accents"))
		o.strip_accents = strstr(row, "--strip-accents yes") != NULL;
	if (strstr(row, "google"))
		o.chars = chars_google(strstr(row, "14.0") ? "14.0" : "15.0");
	sweep(&o, spans, row, want);
}

static void every_code_point_is_what_the_peers_say(void **state)
{
	const char *const top = getenv("TOP");
	char *path = fs_join(top ? top : ".", "tests/data/tokenizer/sweep.tsv");
	struct buf b = BUF_INIT;
	size_t rows = 0;

	(void)state;
	if (fs_read_all(path, 1 << 20, &b))
		fail_msg("%s", err_text());
	for (char *row = b.data, *end; (end = strchr(row, '\n')); row = end + 1) {
		*end = 0;
		if (*row != '#')
			sweep_row(row, rows++ == 0);
	}
	assert_int_equal(rows, 7);
	buf_release(&b);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_code_point_is_what_the_peers_say),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
