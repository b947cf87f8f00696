/* Blocks through zstd, with contexts that each thread keeps. */
#include "base/frame_impl.h"

#include <pthread.h>
#include <stdlib.h>
#include <zstd.h>

#define LEVEL_MAX 19		/* beyond it windows grow past WINDOW_LOG */
#define WINDOW_LOG 23
#define EXPANSION_TRUSTED 64	/* room is made at once for so many times the packed size; beyond, as bytes come */

struct contexts {
	ZSTD_CCtx *pack;
	ZSTD_DCtx *unpack;
};

static pthread_key_t contexts_key;
static pthread_once_t contexts_once = PTHREAD_ONCE_INIT;
static int contexts_error;

static void contexts_free(void *arg)
{
	struct contexts *c = arg;

	ZSTD_freeCCtx(c->pack);
	ZSTD_freeDCtx(c->unpack);
	free(c);
}

static void contexts_start(void)
{
	contexts_error = pthread_key_create(&contexts_key, contexts_free);
}

/* The calling thread's contexts; freed when the thread ends. NULL: out of memory, reason set. */
static struct contexts *contexts_get(void)
{
	struct contexts *c;

	pthread_once(&contexts_once, contexts_start);
	c = contexts_error ? NULL : pthread_getspecific(contexts_key);
	if (c || contexts_error)
		goto done;
	c = calloc(1, sizeof(*c));
	if (c && pthread_setspecific(contexts_key, c)) {
		free(c);
		c = NULL;
	}
done:
	if (!c)
		err_memory();
	return c;
}

int frame_pack(const void *raw, size_t n, int level, struct buf *packed)
{
	struct contexts *c;
	size_t size;

	buf_clear(packed);
	if (level < 0 || level > LEVEL_MAX)
		return err_usage("compression level %d is not between 0 and %d", level, LEVEL_MAX);
	if (!level || !n)
		return 0;
	c = contexts_get();
	if (!c || buf_reserve(packed, ZSTD_compressBound(n)))
		return -1;
	if (!c->pack)
		c->pack = ZSTD_createCCtx();
	if (!c->pack)
		return err_memory();
	size = ZSTD_compressCCtx(c->pack, packed->data, ZSTD_compressBound(n), raw, n, level);
	if (ZSTD_isError(size))
		return err_fail("cannot compress: %s", ZSTD_getErrorName(size));
	if (size < n) {
		packed->len = size;
		packed->data[size] = 0;
	}
	return 0;
}

/* Unpacks into RAW as room can be made, up to RAW_BYTES. */
static int unpack_stream(ZSTD_DCtx *d, ZSTD_inBuffer *in, uint64_t raw_bytes, struct buf *raw)
{
	uint64_t room = (uint64_t)in->size * EXPANSION_TRUSTED;
	size_t rc = 1;

	while (rc) {
		ZSTD_outBuffer out = { .pos = raw->len };
		const size_t in_before = in->pos, out_before = out.pos;

		if (room > raw_bytes)
			room = raw_bytes;
		if (buf_reserve(raw, (size_t)room - raw->len))
			return -1;
		out.dst = raw->data;
		out.size = (size_t)room;
		rc = ZSTD_decompressStream(d, &out, in);
		if (ZSTD_isError(rc))
			return err_corrupt("cannot decompress: %s", ZSTD_getErrorName(rc));
		raw->len = out.pos;
		if (rc && in->pos == in_before && out.pos == out_before && (out.pos < room || room == raw_bytes))
			return err_corrupt("cannot decompress: %s",
					   out.pos < room ? "it ends early" : "it is longer than its head says");
		if (out.pos == room)
			room *= 2;
	}
	raw->data[raw->len] = 0;
	return 0;
}

int frame_unpack(const void *packed, size_t n, uint64_t raw_bytes, struct buf *raw)
{
	ZSTD_inBuffer in = { packed, n, 0 };
	struct contexts *c = contexts_get();

	buf_clear(raw);
	if (!c)
		return -1;
	if (!c->unpack && (!(c->unpack = ZSTD_createDCtx()) ||
			   ZSTD_isError(ZSTD_DCtx_setParameter(c->unpack, ZSTD_d_windowLogMax, WINDOW_LOG))))
		return err_memory();
	ZSTD_DCtx_reset(c->unpack, ZSTD_reset_session_only);
	if (raw_bytes > SIZE_MAX / 4 || ZSTD_getFrameContentSize(packed, n) != raw_bytes)
		return err_corrupt("cannot decompress: its size is not the one its head says");
	if (unpack_stream(c->unpack, &in, raw_bytes, raw))
		return -1;
	if (in.pos != in.size || raw->len != raw_bytes)
		return err_corrupt("cannot decompress: its size is not the one its head says");
	return 0;
}
