/* Canonical JSON. */
#include "shards/canon.h"
#include "base/err.h"

#include <inttypes.h>
#include <string.h>
#include <xxhash.h>

char *canon_print(const json_t *o)
{
	const size_t flags = JSON_SORT_KEYS | JSON_COMPACT;
	char *text = json_dumps(o, flags | JSON_REAL_PRECISION(15));
	json_t *back = text ? json_loads(text, 0, NULL) : NULL;

	if (text && !json_equal(o, back)) {
		free(text);
		text = json_dumps(o, flags | JSON_REAL_PRECISION(17));
	}
	json_decref(back);
	if (!text)
		err_memory();
	return text;
}

json_t *canon_parse(const char *text, size_t len)
{
	json_error_t e;
	json_t *o = json_loadb(text, len, JSON_REJECT_DUPLICATES, &e);

	if (!o) {
		err_corrupt("it is no valid JSON at byte %d: %s", e.position, e.text);
		return NULL;
	}
	if (!json_is_object(o)) {
		json_decref(o);
		err_corrupt("it is no JSON object");
		return NULL;
	}
	return o;
}

static const json_t *member(const json_t *o, const char *name, json_type type, const char *what)
{
	const json_t *m = json_object_get(o, name);

	if (m && json_typeof(m) == type)
		return m;
	if (m)
		err_corrupt("'%s' is not %s", name, what);
	else
		err_corrupt("'%s' is missing", name);
	return NULL;
}

const json_t *canon_object(const json_t *o, const char *name)
{
	return member(o, name, JSON_OBJECT, "an object");
}

const json_t *canon_array(const json_t *o, const char *name)
{
	return member(o, name, JSON_ARRAY, "an array");
}

const char *canon_string(const json_t *o, const char *name)
{
	const json_t *m = member(o, name, JSON_STRING, "a string");

	return m ? json_string_value(m) : NULL;
}

int canon_uint(const json_t *o, const char *name, uint64_t min, uint64_t max, uint64_t *v)
{
	const json_t *m = member(o, name, JSON_INTEGER, "a whole number");
	json_int_t i;

	if (!m)
		return -1;
	i = json_integer_value(m);
	if (min == max && (uint64_t)i != min)
		return err_corrupt("'%s' is %" JSON_INTEGER_FORMAT ", not %" PRIu64, name, i, min);
	if (i < 0 || (uint64_t)i < min || (uint64_t)i > max)
		return err_corrupt("'%s' is %" JSON_INTEGER_FORMAT ", not from %" PRIu64 " to %" PRIu64, name, i, min,
				   max);
	*v = (uint64_t)i;
	return 0;
}

int canon_uint32(const json_t *o, const char *name, uint32_t min, uint32_t max, uint32_t *v)
{
	uint64_t wide;

	if (canon_uint(o, name, min, max, &wide))
		return -1;
	*v = (uint32_t)wide;
	return 0;
}

int canon_real(const json_t *o, const char *name, double min, double max, double *v)
{
	const json_t *m = json_object_get(o, name);

	if (!json_is_number(m))
		return m ? err_corrupt("'%s' is not a number", name) : err_corrupt("'%s' is missing", name);
	*v = json_number_value(m);
	if (!(*v >= min && *v <= max))
		return err_corrupt("'%s' is %g, not from %g to %g", name, *v, min, max);
	return 0;
}

int canon_bool(const json_t *o, const char *name, bool *v)
{
	const json_t *m = json_object_get(o, name);

	if (!json_is_boolean(m))
		return m ? err_corrupt("'%s' is not true or false", name) : err_corrupt("'%s' is missing", name);
	*v = json_is_true(m);
	return 0;
}

int canon_key(const json_t *o, const char *name, struct key *k)
{
	const char *text = canon_string(o, name);

	if (!text)
		return -1;
	if (strlen(text) != 32 || strspn(text, "0123456789abcdef") != 32 || key_parse(text, k))
		return err_corrupt("'%s' is not 32 hexadecimal digits in lower case", name);
	return 0;
}

int canon_is(const json_t *o, const char *name, const char *want)
{
	const char *text = canon_string(o, name);

	if (!text)
		return -1;
	return strcmp(text, want) ? err_corrupt("'%s' is '%.100s', not '%s'", name, text, want) : 0;
}

int canon_is_version(const json_t *o, uint64_t read)
{
	uint64_t version;

	if (canon_uint(o, "version", 0, INT64_MAX, &version))
		return -1;
	if (version == read)
		return 0;
	return err_corrupt("of version %" PRIu64 ", which this program does not read (it reads %" PRIu64 "): %smake it anew, in a new folder",
			   version, read, version > read ? "use a newer program, or " : "");
}

int canon_set(json_t *o, const char *name, json_t *value)
{
	return json_object_set_new(o, name, value) ? err_memory() : 0;
}

json_t *canon_of_key(struct key k)
{
	char text[33];

	key_print(k, text);
	return json_string(text);
}

json_t *canon_of_uint(uint64_t v)
{
	return json_integer((json_int_t)v);
}

/* --- differences -------------------------------------------------------------------------- */

/* VALUE in few words. */
static int add_value(struct buf *text, const json_t *value)
{
	char *printed =
		value ? json_dumps(value, JSON_ENCODE_ANY | JSON_SORT_KEYS | JSON_COMPACT | JSON_REAL_PRECISION(15))
		      : NULL;
	int rc;

	if (value && !printed)
		return err_memory();
	rc = buf_addf(text, "%.70s%s", printed ? printed : "absent", printed && strlen(printed) > 70 ? "..." : "");
	free(printed);
	return rc;
}

static int differ(const json_t *is, const json_t *want, const char *path, struct buf *text);

/* The first difference between members of two objects. */
static int objects_differ(const json_t *is, const json_t *want, const char *path, struct buf *text)
{
	json_t *names = json_copy((json_t *)(uintptr_t)is);
	const char *name;
	json_t *value;
	int rc = names && !json_object_update_missing(names, (json_t *)(uintptr_t)want) ? 0 : err_memory();

	json_object_foreach (names, name, value) {
		struct buf below = BUF_INIT;

		if (rc)
			break;
		rc = buf_addf(&below, "%s%s%s", path, *path ? "." : "", name);
		if (!rc)
			rc = differ(json_object_get(is, name), json_object_get(want, name), below.data, text);
		buf_release(&below);
	}
	json_decref(names);
	return rc;
}

static int arrays_differ(const json_t *is, const json_t *want, const char *path, struct buf *text)
{
	const size_t n = json_array_size(is), m = json_array_size(want);
	int rc = 0;

	if (n != m)
		return buf_addf(text, "%s has %zu entries, not %zu", path, n, m) ? -1 : 1;
	for (size_t i = 0; i < n && !rc; i++) {
		struct buf below = BUF_INIT;

		rc = buf_addf(&below, "%s[%zu]", path, i);
		if (!rc)
			rc = differ(json_array_get(is, i), json_array_get(want, i), below.data, text);
		buf_release(&below);
	}
	return rc;
}

static int differ(const json_t *is, const json_t *want, const char *path, struct buf *text)
{
	if (is && want && json_equal(is, want))
		return 0;
	if (json_is_object(is) && json_is_object(want))
		return objects_differ(is, want, path, text);
	if (json_is_array(is) && json_is_array(want))
		return arrays_differ(is, want, path, text);
	if (buf_addf(text, "%s is ", path) || add_value(text, is) || buf_adds(text, ", not ") || add_value(text, want))
		return -1;
	return 1;
}

int canon_difference(const json_t *is, const json_t *want, struct buf *text)
{
	return differ(is, want, "", text);
}

/* --- digests -------------------------------------------------------------------------------------------- */

#define DIGEST "digest"

int canon_digest(const json_t *o, struct key *digest)
{
	char *text = canon_print(o);
	XXH128_hash_t hash;

	if (!text)
		return -1;
	hash = XXH3_128bits(text, strlen(text));
	*digest = (struct key){ hash.high64, hash.low64 };
	free(text);
	return 0;
}

int canon_seal(json_t *o)
{
	struct key digest;

	if (canon_digest(o, &digest))
		return -1;
	return canon_set(o, DIGEST, canon_of_key(digest));
}

int canon_hold_digest(struct key says, struct key is)
{
	return key_compare(says, is) ? err_corrupt("its digest is not that of the rest: something was changed") : 0;
}

int canon_unseal(json_t *o)
{
	struct key says, is;

	if (canon_key(o, DIGEST, &says) || json_object_del(o, DIGEST) || canon_digest(o, &is))
		return -1;
	return canon_hold_digest(says, is);
}
