/*
 * Arbitrary bytes as a shard or a file of token documents: verified, counted,
 * read by block and by number, shown. What is found good must be readable.
 *
 * An input that begins as a framed file is taken as it is. Any other is made
 * into one, so that what lies behind the checksums is reached: its first byte
 * chooses the header, and then follow blocks: type, records, length (two bytes,
 * little-endian), bytes.
 */
#include "base/err.h"
#include "base/fs.h"
#include "shards/reader.h"
#include "shards/show.h"
#include "shards/stats.h"
#include "shards/verify.h"

#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void need(int ok)
{
	if (!ok)
		abort();
}

/* --- a frame around the bytes ------------------------------------------------------------- */

enum { DYNAMIC = 1, WHOLE_WORD = 2, WIDE = 4, LONG = 8, TOKENS = 16, SORTED = 32 };

static void print_header(unsigned how, char *out, size_t n)
{
	char tokenizer[200];

	snprintf(tokenizer, sizeof(tokenizer),
		 "\"tokenizer\":{\"id_bytes\":%d,\"vocab\":{\"sha256\":\"x\",\"size\":%d}}", how & WIDE ? 4 : 2,
		 how & WIDE ? 70000 : 300);
	if (how & TOKENS) {
		snprintf(out, n, "{\"format\":\"berttools token documents\",\"version\":1,\"sorted\":%s,%s}",
			 how & SORTED ? "true" : "false", tokenizer);
		return;
	}
	snprintf(out, n,
		 "{\"format\":\"berttools shard\",\"version\":2,\"shard\":0,\"shards\":1,\"block_records\":4,"
		 "\"corpus\":{\"documents\":1,\"digest\":\"00000000000000000000000000000000\"},"
		 "\"recipe\":{\"rules\":\"berttools 1\",%s,"
		 "\"special\":{\"pad\":0,\"unk\":1,\"cls\":2,\"sep\":3,\"mask\":4},\"never\":[[0,4]],"
		 "\"max_seq_length\":%d,\"max_predictions_per_seq\":5,\"masked_lm_prob\":0.15,"
		 "\"short_seq_prob\":0.1,\"dupe_factor\":%d,\"whole_word_mask\":%s,\"seed\":1,"
		 "\"masking\":\"%s\",\"pairs\":\"nsp\"}}",
		 tokenizer, how & LONG ? 300 : 20, how & DYNAMIC ? 1 : 2, how & WHOLE_WORD ? "true" : "false",
		 how & DYNAMIC ? "dynamic" : "static");
}

/* Those of the seeds composed-static, composed-dynamic and composed-tokens, which are good. */
static const char *totals_of(unsigned how)
{
	if (how & TOKENS)
		return "{\"documents\":2,\"keys\":\"b2e795acad974dc6176f70b3af6ab57c\",\"sentences\":2,"
		       "\"text_bytes\":28,\"tokens\":10}";
	if (how & DYNAMIC)
		return "{\"documents\":2,\"dropped\":0,\"empty_documents\":0,\"instance_tokens\":26,\"instances\":2,"
		       "\"predictions\":0,\"random_next\":2,\"sentences\":2,\"text_bytes\":28,\"tokens\":10,"
		       "\"truncated\":0}";
	return "{\"documents\":2,\"dropped\":0,\"empty_documents\":0,\"instance_tokens\":52,\"instances\":4,"
	       "\"predictions\":8,\"random_next\":4,\"sentences\":2,\"text_bytes\":28,\"tokens\":10,\"truncated\":0}";
}

static void write_frame(const char *path, const unsigned char *p, size_t size)
{
	const unsigned how = size ? *p : 0;
	const struct buf raw = BUF_INIT;
	struct frame_writer *w;
	struct out *out;
	const char *totals = totals_of(how);
	char header[1000];

	print_header(how, header, sizeof(header));
	need(!out_open(&out, path));
	need(!frame_create(&w, out, how & TOKENS ? TOKDOC_KIND : SHARD_KIND, header, strlen(header)));
	for (size_t at = 1; at + 4 <= size;) {
		const size_t said = p[at + 2] | (size_t)p[at + 3] << 8, left = size - at - 4;
		const size_t n = said < left ? said : left;

		need(!frame_add(w, p[at], p[at + 1], p + at + 4, n, &raw));
		at += 4 + n;
	}
	need(!frame_finish(w, totals, strlen(totals)) && !out_commit(out));
}

/* --- readers -------------------------------------------------------------------------------- */

static void say(void *ctx, const char *name, enum verify_verdict verdict, const char *text)
{
	(void)name;
	need(text && *text && (verdict != VERIFY_UNREAD || strstr(text, "memory")));
	*(bool *)ctx = verdict == VERIFY_GOOD;
}

static bool verify(const char *path)
{
	bool good = false;
	struct verify v = { .threads = 1, .memory = 1 << 23, .say = say, .ctx = &good };

	verify_path(&v, path);
	need(v.files == 1);
	verify_release(&v);
	return good;
}

static void count(const char *path, bool good)
{
	struct stats s = { .threads = 1 };
	const int rc = stats_add(&s, &path, 1);

	need(!rc || !good);
	if (!rc)
		json_decref(stats_json(&s));
	stats_release(&s);
}

static void read_blocks(const char *path, bool good)
{
	struct instance_block b = INSTANCE_BLOCK_INIT;
	struct frame_block f = FRAME_BLOCK_INIT;
	struct buf text = BUF_INIT;
	struct instance i;
	struct shard *s;
	struct show show;

	if (shard_open(&s, path))
		return;
	need(!instance_init(&i, shard_shape(s)) && !show_init(&show, &(struct show_opts){ SHOW_JSON, NULL }));
	for (uint64_t k = 0; k < shard_blocks(s); k++) {
		const int rc = shard_read(s, k, &f, &b);

		need(!rc || !good);
		for (uint32_t j = 0; !rc && j < b.records; j++) {
			instance_block_get(&b, j, &i);
			buf_clear(&text);
			need(!show_instance(&show, &text, &i, shard_shape(s), j));
		}
	}
	show_release(&show);
	buf_release(&text);
	instance_release(&i);
	instance_block_release(&b);
	frame_block_release(&f);
	shard_close(s);
}

static void read_numbers(const char *path, bool good)
{
	struct reader_cursor *c;
	struct reader *r;

	if (reader_open(&r, &path, 1, &(struct reader_opts){ .unmasked = false }))
		return;
	c = reader_cursor_new(r);
	for (uint64_t k = 0; c && k < reader_size(r) && k < 1000; k++)
		need(reader_get(c, k, k) || !good);
	reader_cursor_free(c);
	reader_close(r);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	const int fd = memfd_create("fuzz", MFD_CLOEXEC);
	char path[64];
	bool good;

	need(fd >= 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (size >= FRAME_MAGIC_LEN && !memcmp(data, frame_magic, FRAME_MAGIC_LEN))
		need(write(fd, data, size) == (ssize_t)size);
	else
		write_frame(path, data, size);
	good = verify(path);
	count(path, good);
	read_blocks(path, good);
	read_numbers(path, good);
	close(fd);
	return 0;
}
