/* What a file is that cannot be imported, by its first bytes. */
#include "base/frame.h"
#include "base/utf8.h"
#include "shards/import_impl.h"
#include "shards/shard.h"
#include "shards/tokdoc.h"

#include <string.h>

static const struct {
	const char *bytes;
	size_t len;
	const char *words;
} beginnings[] = {
#define BEGINS(bytes, words) { bytes, sizeof(bytes) - 1, words }
	BEGINS("MMIDIDX\0\0", "the .idx of Megatron's data"),
	BEGINS("\x93NUMPY", "a NumPy array"),
	BEGINS("PAR1", "Parquet"),
	BEGINS("ARROW1\0\0", "Arrow"),
	BEGINS("SQLite format 3\0", "an SQLite database"),
	BEGINS("PK\3\4", "a zip archive, as torch.save and numpy.savez make them"),
	BEGINS("\x80\2", "a Python pickle"),
	BEGINS("\x80\3", "a Python pickle"),
	BEGINS("\x80\4", "a Python pickle"),
	BEGINS("\x80\5", "a Python pickle"),
	BEGINS("\xFF\xFE", "text in UTF-16"),
	BEGINS("\xFE\xFF", "text in UTF-16"),
#undef BEGINS
};

/* A frame of ours: the kind stands behind the magic. */
static const char *kind_of_frame(const char *head, size_t n)
{
	if (n >= FRAME_MAGIC_LEN + 4 && !memcmp(head + FRAME_MAGIC_LEN, SHARD_KIND, 4))
		return "a shard, which needs no import";
	if (n >= FRAME_MAGIC_LEN + 4 && !memcmp(head + FRAME_MAGIC_LEN, TOKDOC_KIND, 4))
		return "token documents, of which bert-shard makes shards";
	return "a file of berttools";
}

/* A length below 2^32 before a JSON object. */
static bool is_safetensors(const char *head, size_t n)
{
	return n >= 10 && !memcmp(head + 4, "\0\0\0\0{\"", 6);
}

/* Nothing but printable characters, as far as the last one, which may be cut. */
static bool is_text(const char *head, size_t n)
{
	if (utf8_valid_prefix(head, n) + 4 <= n)
		return false;
	for (size_t k = 0; k < n; k++)
		if (head[k] == 0x7F || ((unsigned char)head[k] < 0x20 && !memchr("\t\n\f\r", head[k], 4)))
			return false;
	return true;
}

static const char *kind_of_text(const char *head, size_t n)
{
	size_t k = 0;

	while (k < n && strchr(" \t\n\r", head[k]))
		k++;
	if (k < n && head[k] == '{')
		return "JSON";
	/* Vocabularies begin with [PAD]. */
	return k + 1 < n && head[k] == '[' && strchr("{[\"-0123456789 \n\r", head[k + 1]) ? "JSON" : "text";
}

const char *import_kind(const char *head, size_t n)
{
	for (size_t k = 0; k < sizeof(beginnings) / sizeof(beginnings[0]); k++)
		if (n >= beginnings[k].len && !memcmp(head, beginnings[k].bytes, beginnings[k].len))
			return beginnings[k].words;
	if (n >= FRAME_MAGIC_LEN && !memcmp(head, frame_magic, FRAME_MAGIC_LEN))
		return kind_of_frame(head, n);
	if (is_safetensors(head, n))
		return "safetensors";
	return n && is_text(head, n) ? kind_of_text(head, n) : NULL;
}
