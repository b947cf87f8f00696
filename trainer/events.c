/* events.c - TensorBoard's event files. */
#include "trainer/events.h"

#include "base/err.h"
#include "base/fs.h"
#include "base/out.h"
#include "base/tfrecord.h"

#include <errno.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#define VERSION "brain.Event:2"

/* Fields of Event, Summary, Summary.Value and SessionLog. */
enum { EVENT_WALL_TIME = 1, EVENT_STEP = 2, EVENT_FILE_VERSION = 3, EVENT_SUMMARY = 5, EVENT_SESSION_LOG = 7 };
enum { SUMMARY_VALUE = 1, VALUE_TAG = 1, VALUE_SIMPLE = 2, SESSION_STATUS = 1, SESSION_START = 1 };

struct events {
	struct out *out;
	int fd;
	struct buf scalars, message;
};

/* --- protobuf's wire format ----------------------------------------------------------- */

enum wire { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 };

static int put_varint(struct buf *b, uint64_t x)
{
	for (; x >= 0x80; x >>= 7)
		if (buf_add_byte(b, (unsigned char)(x | 0x80)))
			return -1;
	return buf_add_byte(b, (unsigned char)x);
}

static int put_key(struct buf *b, int field, enum wire wire)
{
	return put_varint(b, (uint64_t)field << 3 | wire);
}

static int put_number(struct buf *b, int field, uint64_t x)
{
	return put_key(b, field, WIRE_VARINT) || put_varint(b, x) ? -1 : 0;
}

static int put_bytes(struct buf *b, int field, const void *bytes, size_t n)
{
	return put_key(b, field, WIRE_BYTES) || put_varint(b, n) || buf_add(b, bytes, n) ? -1 : 0;
}

static int put_little(struct buf *b, uint64_t bits, int bytes)
{
	for (int i = 0; i < bytes; i++)
		if (buf_add_byte(b, (unsigned char)(bits >> 8 * i)))
			return -1;
	return 0;
}

static int put_double(struct buf *b, int field, double x)
{
	uint64_t bits;

	memcpy(&bits, &x, sizeof(bits));
	return put_key(b, field, WIRE_64) || put_little(b, bits, 8) ? -1 : 0;
}

static int put_float(struct buf *b, int field, float x)
{
	uint32_t bits;

	memcpy(&bits, &x, sizeof(bits));
	return put_key(b, field, WIRE_32) || put_little(b, bits, 4) ? -1 : 0;
}

/* --- messages ------------------------------------------------------------------------------ */

int events_scalar(struct buf *scalars, const char *tag, double value)
{
	struct buf one = BUF_INIT;
	const int rc = put_bytes(&one, VALUE_TAG, tag, strlen(tag)) || put_float(&one, VALUE_SIMPLE, (float)value) ||
		       put_bytes(scalars, SUMMARY_VALUE, one.data, one.len);

	buf_release(&one);
	return rc ? -1 : 0;
}

int events_message(struct buf *b, double wall_time, uint64_t step, const struct buf *scalars)
{
	if (put_double(b, EVENT_WALL_TIME, wall_time) || put_number(b, EVENT_STEP, step))
		return -1;
	return scalars ? put_bytes(b, EVENT_SUMMARY, scalars->data, scalars->len) : 0;
}

static double wall_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int put_record(struct events *e)
{
	return tfrecord_write(e->out, e->message.data, e->message.len) || out_flush(e->out) ? -1 : 0;
}

/* --- files --------------------------------------------------------------------------------- */

/* The file is there to be read while it grows: it has its name from the start. Others of this second get later ones. */
static int create(const char *folder)
{
	char host[256] = "localhost", name[512];
	time_t now = time(NULL);

	gethostname(host, sizeof(host) - 1);
	for (int tries = 0; tries < 1000; tries++, now++) {
		char *path;
		int fd;

		snprintf(name, sizeof(name), "events.out.tfevents.%010lld.%s", (long long)now, host);
		path = fs_join(folder, name);
		if (!path)
			return -1;
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (fd < 0 && errno != EEXIST)
			err_sys("cannot create '%s'", path);
		free(path);
		if (fd >= 0 || errno != EEXIST)
			return fd;
	}
	return err_fail("'%s' holds event files of the coming minutes", folder);
}

static int put_start(struct events *e, uint64_t step)
{
	struct buf session = BUF_INIT;
	int rc = put_double(&e->message, EVENT_WALL_TIME, wall_time()) ||
		 put_bytes(&e->message, EVENT_FILE_VERSION, VERSION, strlen(VERSION)) || put_record(e);

	buf_clear(&e->message);
	if (!rc)
		rc = events_message(&e->message, wall_time(), step, NULL) || put_number(&session, SESSION_STATUS, SESSION_START) ||
		     put_bytes(&e->message, EVENT_SESSION_LOG, session.data, session.len) || put_record(e);
	buf_clear(&e->message);
	buf_release(&session);
	return rc ? -1 : 0;
}

int events_open(struct events **e, const char *folder, uint64_t step)
{
	struct events *new = calloc(1, sizeof(*new));
	char name[32];

	*e = NULL;
	if (!new)
		return err_memory();
	new->fd = create(folder);
	if (new->fd < 0)
		goto fail;
	snprintf(name, sizeof(name), "/dev/fd/%d", new->fd);	/* written in place */
	if (out_open(&new->out, name) || put_start(new, step + 1))
		goto fail;
	*e = new;
	return 0;
fail:
	events_close(new);
	return -1;
}

int events_add(struct events *e, const char *tag, double value)
{
	return events_scalar(&e->scalars, tag, value);
}

int events_write(struct events *e, uint64_t step)
{
	const int rc = events_message(&e->message, wall_time(), step, &e->scalars) || put_record(e);

	buf_clear(&e->message);
	buf_clear(&e->scalars);
	return rc ? -1 : 0;
}

int events_close(struct events *e)
{
	int rc = 0;

	if (!e)
		return 0;
	if (e->out && (rc = out_commit(e->out)))
		out_discard(e->out);
	if (e->fd >= 0)
		close(e->fd);
	buf_release(&e->scalars);
	buf_release(&e->message);
	free(e);
	return rc;
}
