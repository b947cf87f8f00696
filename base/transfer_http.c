#include "base/transfer.h"

#include "base/err.h"

#if HAVE_CURL

#include "base/tool.h"

#include <ctype.h>
#include <curl/curl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define REDIRECTS_MAX 10L
#define CONNECT_SECONDS 30L
#define SILENT_SECONDS 60L	/* with less than this many bytes a second the server counts as silent: */
#define SILENT_RATE 16L
#define FIELD_MAX 256

enum stop { STOP_NOT, STOP_SAME, STOP_CHANGED, STOP_FAILED };

/* What the server says, and what becomes of it. */
struct answer {
	struct transfer *t;
	long status;
	char etag[FIELD_MAX], modified[FIELD_MAX];
	bool has_length, has_range, has_total;
	uint64_t length;		/* of the body */
	uint64_t range_begin, total;	/* from Content-Range */
	bool started;			/* the body */
	enum stop stop;
};

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void start_curl(void)
{
	curl_global_init(CURL_GLOBAL_DEFAULT);
}

/* --- the head ---------------------------------------------------------------------- */

static bool read_number(const char **p, uint64_t *n)
{
	char *end;

	if (!isdigit((unsigned char)**p))
		return false;
	*n = strtoull(*p, &end, 10);
	*p = end;
	return true;
}

/* "bytes 100-199/1000", "bytes 100-199/" with a star, or that with a star before the slash */
static void read_range(struct answer *a, const char *value)
{
	const char *p = value;
	uint64_t last;

	if (strncasecmp(p, "bytes ", 6))
		return;
	p += 6;
	if (*p == '*')
		p++;
	else if (read_number(&p, &a->range_begin) && *p++ == '-' && read_number(&p, &last))
		a->has_range = true;
	else
		return;
	if (*p++ == '/')
		a->has_total = read_number(&p, &a->total);
}

/* Each answer of a chain of redirections begins anew. */
static void read_status(struct answer *a, const char *line)
{
	const char *space = strchr(line, ' ');

	*a = (struct answer){ .t = a->t };
	a->status = space ? strtol(space, NULL, 10) : 0;
}

static void read_field(struct answer *a, const char *name, const char *value)
{
	const char *p = value;

	if (!strcasecmp(name, "etag") && *value == '"')		/* a weak one tells nothing of bytes */
		snprintf(a->etag, sizeof(a->etag), "%s", value);
	else if (!strcasecmp(name, "last-modified"))
		snprintf(a->modified, sizeof(a->modified), "%s", value);
	else if (!strcasecmp(name, "content-length"))
		a->has_length = read_number(&p, &a->length);
	else if (!strcasecmp(name, "content-range"))
		read_range(a, value);
}

static size_t on_header(char *bytes, size_t size, size_t n, void *ctx)
{
	struct answer *a = ctx;
	char line[2 * FIELD_MAX], *colon, *value;
	size_t len = n * size < sizeof(line) - 1 ? n * size : sizeof(line) - 1;

	memcpy(line, bytes, len);
	while (len && isspace((unsigned char)line[len - 1]))
		len--;
	line[len] = 0;
	if (!strncmp(line, "HTTP/", 5)) {
		read_status(a, line);
		return n * size;
	}
	colon = strchr(line, ':');
	if (!colon)
		return n * size;
	*colon = 0;
	value = colon + 1;
	while (isspace((unsigned char)*value))
		value++;
	read_field(a, line, value);
	return n * size;
}

static const char *validator_of(const struct answer *a)
{
	return *a->etag ? a->etag : a->modified;
}

/* --- the body ---------------------------------------------------------------------- */

/* A part, from where we stand; of the same version as what we have. */
static enum stop begin_part(struct answer *a)
{
	const char *now = validator_of(a);

	if (!a->has_range || a->range_begin != a->t->have || (*a->t->validator && *now && strcmp(now, a->t->validator)))
		return STOP_CHANGED;
	return STOP_NOT;
}

static enum stop begin_whole(struct answer *a)
{
	struct transfer *t = a->t;

	if (t->in_place && a->has_length && a->length == t->in_place_size && t->modified >= 0 && t->modified == t->in_place_time)
		return STOP_SAME;
	a->has_total = a->has_length;
	a->total = a->length;
	return transfer_begin(t, validator_of(a)) ? STOP_FAILED : STOP_NOT;
}

static void begin_body(struct answer *a)
{
	a->started = true;
	a->t->modified = *a->modified ? (int64_t)curl_getdate(a->modified, NULL) : -1;
	a->stop = a->status == 206 ? begin_part(a) : begin_whole(a);
}

static size_t on_body(char *bytes, size_t size, size_t n, void *ctx)
{
	struct answer *a = ctx;

	if (!a->started)
		begin_body(a);
	if (a->stop == STOP_NOT && transfer_add(a->t, bytes, n * size))
		a->stop = STOP_FAILED;
	return a->stop == STOP_NOT ? n * size : 0;
}

/* --- the end ----------------------------------------------------------------------- */

static enum transfer_result restart(struct transfer *t)
{
	if (!t->have) {
		err_fail("cannot fetch '%s': the server sends a part when asked for the whole", t->url);
		return TRANSFER_FAILED;
	}
	return transfer_begin(t, "") ? TRANSFER_FAILED : TRANSFER_RESTART;
}

static enum transfer_result end_stopped(const struct answer *a)
{
	switch (a->stop) {
	case STOP_SAME: return TRANSFER_SAME;
	case STOP_CHANGED: return restart(a->t);
	default: return TRANSFER_FAILED;
	}
}

static enum transfer_result end_refused(const struct answer *a, CURL *curl)
{
	struct transfer *t = a->t;
	curl_off_t after = 0;

	if (a->status == 416 && t->have)	/* there is nothing behind what we have, or it is another file now */
		return a->has_total && a->total == t->have ? TRANSFER_DONE : restart(t);
	err_fail("cannot fetch '%s': HTTP status %ld", t->url, a->status);
	if (a->status != 408 && a->status != 429 && a->status < 500)
		return TRANSFER_FAILED;
	if (curl_easy_getinfo(curl, CURLINFO_RETRY_AFTER, &after) == CURLE_OK)
		t->wait = (double)after;
	return TRANSFER_AGAIN;
}

static bool may_pass(CURLcode code)
{
	switch (code) {
	case CURLE_COULDNT_RESOLVE_PROXY:
	case CURLE_COULDNT_RESOLVE_HOST:
	case CURLE_COULDNT_CONNECT:
	case CURLE_PARTIAL_FILE:
	case CURLE_OPERATION_TIMEDOUT:
	case CURLE_SSL_CONNECT_ERROR:
	case CURLE_GOT_NOTHING:
	case CURLE_SEND_ERROR:
	case CURLE_RECV_ERROR:
	case CURLE_HTTP2:
	case CURLE_HTTP2_STREAM:
	case CURLE_WEIRD_SERVER_REPLY: return true;
	default: return false;
	}
}

static enum transfer_result end(struct answer *a, CURL *curl, CURLcode code, const char *why)
{
	struct transfer *t = a->t;

	if (code == CURLE_OK && !a->started)
		begin_body(a);		/* an empty one */
	if (a->stop != STOP_NOT)
		return end_stopped(a);
	if (code == CURLE_HTTP_RETURNED_ERROR)
		return end_refused(a, curl);
	if (code != CURLE_OK) {
		err_fail("cannot fetch '%s': %s (after %" PRIu64 " bytes)", t->url, *why ? why : curl_easy_strerror(code), t->have);
		return may_pass(code) ? TRANSFER_AGAIN : TRANSFER_FAILED;
	}
	if (a->has_total && a->total != t->have) {
		err_fail("cannot fetch '%s': cut short at byte %" PRIu64 " of %" PRIu64, t->url, t->have, a->total);
		return TRANSFER_AGAIN;
	}
	return TRANSFER_DONE;
}

/* --- a try ------------------------------------------------------------------------- */

static struct curl_slist *ask_for_rest(CURL *curl, const struct transfer *t)
{
	char text[TRANSFER_VALIDATOR_MAX + 16];

	snprintf(text, sizeof(text), "%" PRIu64 "-", t->have);
	curl_easy_setopt(curl, CURLOPT_RANGE, text);
	if (!*t->validator)
		return NULL;
	snprintf(text, sizeof(text), "If-Range: %s", t->validator);
	return curl_slist_append(NULL, text);
}

static void set_up(CURL *curl, struct answer *a, char *why)
{
	curl_easy_setopt(curl, CURLOPT_URL, a->t->url);
	curl_easy_setopt(curl, CURLOPT_USERAGENT, "berttools/" BERTTOOLS_VERSION " (bert-fetch)");
#if LIBCURL_VERSION_NUM >= 0x075500
	curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
#else
	curl_easy_setopt(curl, CURLOPT_PROTOCOLS, CURLPROTO_HTTP | CURLPROTO_HTTPS);
	curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS, CURLPROTO_HTTP | CURLPROTO_HTTPS);
#endif
	curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
	curl_easy_setopt(curl, CURLOPT_MAXREDIRS, REDIRECTS_MAX);
	curl_easy_setopt(curl, CURLOPT_FAILONERROR, 1L);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, CONNECT_SECONDS);
	curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, SILENT_SECONDS);
	curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, SILENT_RATE);
	curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, on_header);
	curl_easy_setopt(curl, CURLOPT_HEADERDATA, a);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, a);
	curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, why);
}

enum transfer_result transfer_http(struct transfer *t)
{
	struct answer a = { .t = t };
	char why[CURL_ERROR_SIZE] = "";
	struct curl_slist *fields = NULL;
	enum transfer_result r;
	CURL *curl;

	pthread_once(&once, start_curl);
	curl = curl_easy_init();
	if (!curl) {
		err_fail("cannot fetch '%s': libcurl does not start", t->url);
		return TRANSFER_FAILED;
	}
	t->wait = 0;
	set_up(curl, &a, why);
	if (t->have)
		fields = ask_for_rest(curl, t);
	if (fields)
		curl_easy_setopt(curl, CURLOPT_HTTPHEADER, fields);
	r = end(&a, curl, curl_easy_perform(curl), why);
	curl_slist_free_all(fields);
	curl_easy_cleanup(curl);
	return r;
}

#else

enum transfer_result transfer_http(struct transfer *t)
{
	err_fail("cannot fetch '%s': built without curl", t->url);
	return TRANSFER_FAILED;
}

#endif
