#include "tokenizer/vocab.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/fs.h"
#include "base/sha256.h"
#include "base/utf8.h"
#include "tokenizer/token_table.h"

#include <stdlib.h>
#include <string.h>

#define FILE_MAX_BYTES TOKEN_TABLE_BYTES
#define BOM "\xEF\xBB\xBF"
#define LINE_SEPARATOR "\xE2\x80\xA8"

_Static_assert(VOCAB_MAX == TOKEN_NONE - 1, "what a token table can hold");

struct token {
	const char *text;		/* in vocab.file, 0-ended */
	uint32_t len;
};

struct vocab {
	struct buf file;
	struct token *tokens;
	size_t size, cap;
	struct token_table table;
	uint32_t empty;			/* id of the empty token, which blank lines make */
	size_t blank_lines, duplicates;
	struct vocab_special special;
	char sha256[SHA256_HEX];
};

static int refuse_line(const struct vocab *v, const char *at, const char *path, const char *what)
{
	size_t line = 1;

	for (const char *p = v->file.data; (p = memchr(p, '\n', (size_t)(at - p))); p++)
		line++;
	return err_corrupt("cannot use vocabulary '%s': line %zu %s", path, line, what);
}

static int check_bytes(const struct vocab *v, const char *path)
{
	const char *const nul = memchr(v->file.data, 0, v->file.len);
	const size_t valid = utf8_valid_prefix(v->file.data, v->file.len);

	if (!v->file.len)
		return err_corrupt("cannot use vocabulary '%s': it is empty", path);
	if (valid < v->file.len)
		return refuse_line(v, v->file.data + valid, path, "is not UTF-8");
	return nul ? refuse_line(v, nul, path, "holds a NUL byte") : 0;
}

/* The part of a line, in valid UTF-8, that Python's str.strip leaves. */
static struct token strip(const char *p, const char *end)
{
	while (p < end) {
		const char *q = p;

		if (!utf8_is_space(utf8_next(&q)))
			break;
		p = q;
	}
	while (p < end) {
		const char *last = end, *q;

		do
			last--;
		while (((unsigned char)*last & 0xC0) == 0x80);
		q = last;
		if (!utf8_is_space(utf8_next(&q)))
			break;
		end = last;
	}
	return (struct token){ p, (uint32_t)(end - p) };
}

/* Whether a line, of which TOKEN is left, is blank. BERT's Chinese vocabulary has U+2028 as a token, and is in order. */
static bool is_blank(const char *line, struct token token)
{
	return !token.len && strncmp(line, LINE_SEPARATOR, strlen(LINE_SEPARATOR));
}

static int add_token(struct vocab *v, struct token token, const char *path)
{
	uint32_t before;

	if (v->size == VOCAB_MAX)
		return err_corrupt("cannot use vocabulary '%s': it has more than %u lines", path, VOCAB_MAX);
	if (array_grow(&v->tokens, &v->cap, v->size + 1, sizeof(*v->tokens)))
		return -1;
	if (token.len) {
		before = token_table_put(&v->table, (uint32_t)(token.text - v->file.data), token.len, (uint32_t)v->size);
		v->duplicates += before != TOKEN_NONE;
	} else {
		v->empty = (uint32_t)v->size;
	}
	v->tokens[v->size++] = token;
	return 0;
}

/* Cuts the file into lines. What follows a token is white space, a line's end or the file's, so a 0 byte fits there. */
static int add_lines(struct vocab *v, const char *path)
{
	const char *p = v->file.data, *const end = p + v->file.len;

	while (p < end) {
		const char *const newline = memchr(p, '\n', (size_t)(end - p));
		const char *const stop = newline ? newline : end;

		const struct token token = strip(p, stop);

		v->blank_lines += is_blank(p, token);
		v->file.data[token.text + token.len - v->file.data] = 0;
		if (add_token(v, token, path))
			return -1;
		p = newline ? newline + 1 : end;
	}
	return 0;
}

static uint32_t id_of(const struct vocab *v, const char *token)
{
	return vocab_id(v, token, strlen(token));
}

static size_t count_lines(const struct buf *b)
{
	size_t n = 1;

	for (size_t i = 0; i < b->len; i++)
		n += b->data[i] == '\n';
	return n < b->len ? n : b->len;
}

static int parse(struct vocab *v, const char *path)
{
	v->empty = VOCAB_NONE;
	if (buf_reserve(&v->file, 1) || check_bytes(v, path) || sha256_hex(v->file.data, v->file.len, v->sha256) ||
	    token_table_init(&v->table, v->file.data, v->file.len, count_lines(&v->file)) || add_lines(v, path))
		return -1;
	v->special = (struct vocab_special){ .pad = id_of(v, "[PAD]"), .unk = id_of(v, "[UNK]"), .cls = id_of(v, "[CLS]"),
					     .sep = id_of(v, "[SEP]"), .mask = id_of(v, "[MASK]") };
	if (v->special.unk == VOCAB_NONE)
		return err_corrupt("cannot use vocabulary '%s': it has no [UNK]%s", path,
				   strncmp(v->tokens[0].text, BOM, 3) ? "" : " (a byte-order mark is part of its first token)");
	return 0;
}

int vocab_load(struct vocab **v, const char *path)
{
	*v = calloc(1, sizeof(**v));
	if (!*v)
		return err_memory();
	if (fs_read_all(path, FILE_MAX_BYTES, &(*v)->file) == 0 && parse(*v, path) == 0)
		return 0;
	vocab_free(*v);
	*v = NULL;
	return -1;
}

int vocab_take(struct vocab **v, struct buf *bytes, const char *name)
{
	struct buf taken = *bytes;

	*bytes = (struct buf)BUF_INIT;
	*v = calloc(1, sizeof(**v));
	if (!*v) {
		buf_release(&taken);
		return err_memory();
	}
	(*v)->file = taken;
	if (taken.len > FILE_MAX_BYTES)
		err_corrupt("%s is longer than %zu bytes", name, FILE_MAX_BYTES);
	else if (parse(*v, name) == 0)
		return 0;
	vocab_free(*v);
	*v = NULL;
	return -1;
}

void vocab_free(struct vocab *v)
{
	if (!v)
		return;
	buf_release(&v->file);
	free(v->tokens);
	token_table_release(&v->table);
	free(v);
}

uint32_t vocab_size(const struct vocab *v)
{
	return (uint32_t)v->size;	/* fewer than FILE_MAX_BYTES */
}

const char *vocab_token(const struct vocab *v, uint32_t id, size_t *len)
{
	if (len)
		*len = v->tokens[id].len;
	return v->tokens[id].text;
}

uint32_t vocab_id(const struct vocab *v, const char *token, size_t len)
{
	const uint32_t id = len ? token_table_find(&v->table, token, len) : v->empty;

	return id == TOKEN_NONE ? VOCAB_NONE : id;
}

const struct token_table *vocab_table(const struct vocab *v)
{
	return &v->table;
}

bool vocab_is_continuation(const struct vocab *v, uint32_t id)
{
	return !strncmp(v->tokens[id].text, "##", 2);
}

const char *vocab_sha256(const struct vocab *v)
{
	return v->sha256;
}

size_t vocab_blank_lines(const struct vocab *v)
{
	return v->blank_lines;
}

size_t vocab_duplicates(const struct vocab *v)
{
	return v->duplicates;
}

int vocab_describe_faults(const struct vocab *v, struct buf *text)
{
	const size_t blank = v->blank_lines, again = v->duplicates;
	const bool mark = v->size && !strncmp(v->tokens[0].text, BOM, 3);

	if (mark && buf_addf(text, "a byte-order mark, which is part of its first token%s", blank || again ? "," : ""))
		return -1;
	if (blank && buf_addf(text, "%s%zu blank line%s", mark ? again ? " " : " and " : "", blank, blank == 1 ? "" : "s"))
		return -1;
	if (!again)
		return 0;
	return buf_addf(text, "%s%zu line%s an earlier one and take%s its place", mark || blank ? " and " : "", again,
			again == 1 ? " that repeats" : "s that repeat", again == 1 ? "s" : "");
}

unsigned vocab_id_bytes(const struct vocab *v)
{
	return v->size <= 65536 ? 2 : 4;
}

struct vocab_special vocab_special(const struct vocab *v)
{
	return v->special;
}

/* "[unused", digits, "]": the slots that vocabularies keep for their users. */
static bool is_unused_slot(const char *token)
{
	const char *p = token;
	size_t digits;

	if (strncmp(p, "[unused", 7))
		return false;
	p += 7;
	digits = strspn(p, "0123456789");
	return digits && !strcmp(p + digits, "]");
}

bool vocab_is_slot(const struct vocab *v, uint32_t id)
{
	return is_unused_slot(v->tokens[id].text);
}

bool vocab_is_special(const struct vocab *v, uint32_t id)
{
	const struct vocab_special *s = &v->special;

	return id == s->pad || id == s->unk || id == s->cls || id == s->sep || id == s->mask ||
	       vocab_is_slot(v, id);
}
