/* tf.Example records taken apart. */
#include "shards/example.h"
#include "base/err.h"

/* A stretch of the record: what is left of a message. */
struct span {
	const unsigned char *at, *end;
};

static int bad(void)
{
	return err_corrupt("it is no tf.Example");
}

static int get_varint(struct span *s, uint64_t *v)
{
	*v = 0;
	for (unsigned shift = 0; s->at < s->end && shift < 64; shift += 7) {
		const unsigned char byte = *s->at++;

		*v |= (uint64_t)(byte & 127) << shift;
		if (byte < 128)
			return 0;
	}
	return bad();
}

/* The next field of S: 1, 0 at the end, -1. INSIDE is what a field of wire type 2 holds, VALUE that of type 0. */
static int next_field(struct span *s, unsigned *number, unsigned *type, struct span *inside, uint64_t *value)
{
	uint64_t key, n = 0;

	if (s->at == s->end)
		return 0;
	if (get_varint(s, &key) || key >> 3 > 1000)
		return bad();
	*number = (unsigned)(key >> 3);
	*type = key & 7;
	switch (*type) {
	case 0: return get_varint(s, value) ? -1 : 1;
	case 1: n = 8; break;
	case 2:
		if (get_varint(s, &n))
			return -1;
		break;
	case 5: n = 4; break;
	default: return bad();
	}
	if (n > (size_t)(s->end - s->at))
		return bad();
	*inside = (struct span){ s->at, s->at + n };
	s->at += n;
	return 1;
}

static int add_value(struct example *e, int64_t v)
{
	if (array_grow(&e->values, &e->cap, e->count + 1, sizeof(*e->values)))
		return -1;
	e->values[e->count++] = v;
	return 0;
}

/* Four bytes, little-endian. */
static int64_t float_value(const unsigned char *b)
{
	const uint32_t bits = (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;

	if (!(bits & 0x7FFFFFFF))
		return 0;
	return bits == 0x3F800000 ? 1 : EXAMPLE_OTHER;
}

static int add_floats(struct example *e, struct span s)
{
	const size_t n = (size_t)(s.end - s.at) / 4;

	if ((s.end - s.at) % 4)
		return bad();
	if (array_grow(&e->values, &e->cap, e->count + n, sizeof(*e->values)))
		return -1;
	for (; s.at < s.end; s.at += 4)
		e->values[e->count++] = float_value(s.at);
	return 0;
}

/* Packed ones: room is made once, and most are of one byte or two. */
static int add_integers(struct example *e, struct span s)
{
	const size_t most = (size_t)(s.end - s.at);
	int64_t *out;

	if (!most)
		return 0;
	if (array_grow(&e->values, &e->cap, e->count + most, sizeof(*e->values)))
		return -1;
	for (out = e->values + e->count; s.at < s.end; out++) {
		uint64_t v = *s.at;

		if (v < 128) {
			s.at++;
		} else if (s.end - s.at > 1 && s.at[1] < 128) {
			v = (v & 127) | (uint64_t)s.at[1] << 7;
			s.at += 2;
		} else if (get_varint(&s, &v)) {
			return -1;
		}
		*out = (int64_t)v;
	}
	e->count = (size_t)(out - e->values);
	return 0;
}

/* A FloatList or an Int64List: values packed or one by one. */
static int add_list(struct example *e, struct span s, bool floats)
{
	unsigned number, type;
	struct span inside;
	uint64_t value;
	int rc;

	while ((rc = next_field(&s, &number, &type, &inside, &value)) > 0) {
		if (number != 1)
			continue;
		if (type == 0 ? floats : floats ? type == 1 : type != 2)
			return bad();
		if (type == 0 ? add_value(e, (int64_t)value) : floats ? add_floats(e, inside) : add_integers(e, inside))
			return -1;
	}
	return rc;
}

/* A Feature: one of bytes (1), floats (2), integers (3). */
static int add_feature(struct example *e, struct span s)
{
	unsigned number, type;
	struct span inside;
	uint64_t value;
	int rc;

	while ((rc = next_field(&s, &number, &type, &inside, &value)) > 0)
		if ((number == 2 || number == 3) && (type != 2 ? bad() : add_list(e, inside, number == 2)))
			return -1;
	return rc;
}

/* An entry of the map: name (1), Feature (2). */
static int add_entry(struct example *e, struct span s)
{
	struct example_list *l = &e->lists[e->n];
	struct span inside, feature = { NULL, NULL };
	unsigned number, type;
	uint64_t value;
	int rc;

	if (e->n == EXAMPLE_LISTS)
		return err_corrupt("it has more than %d features", EXAMPLE_LISTS);
	*l = (struct example_list){ .name = "", .first = e->count };
	while ((rc = next_field(&s, &number, &type, &inside, &value)) > 0) {
		if (number > 2 || type != 2)
			continue;
		if (number == 1) {
			l->name = (const char *)inside.at;
			l->name_len = (size_t)(inside.end - inside.at);
		} else {
			feature = inside;
		}
	}
	if (rc || (feature.at && add_feature(e, feature)))
		return -1;
	l->n = e->count - l->first;
	e->n++;
	return 0;
}

/* Example: Features (1), which is a map (1). */
static int add_features(struct example *e, struct span s)
{
	unsigned number, type;
	struct span inside;
	uint64_t value;
	int rc;

	while ((rc = next_field(&s, &number, &type, &inside, &value)) > 0)
		if (number == 1 && (type != 2 ? bad() : add_entry(e, inside)))
			return -1;
	return rc;
}

int example_parse(struct example *e, const void *record, size_t len)
{
	struct span s = { record, (const unsigned char *)record + len }, inside;
	unsigned number, type;
	uint64_t value;
	int rc;

	e->n = 0;
	e->count = 0;
	while ((rc = next_field(&s, &number, &type, &inside, &value)) > 0)
		if (number == 1 && (type != 2 ? bad() : add_features(e, inside)))
			return -1;
	return rc;
}

const struct example_list *example_find(const struct example *e, const char *name)
{
	const size_t len = strlen(name);

	for (unsigned k = e->n; k-- > 0;)
		if (e->lists[k].name_len == len && !memcmp(e->lists[k].name, name, len))
			return &e->lists[k];
	return NULL;
}

void example_release(struct example *e)
{
	free(e->values);
	*e = (struct example)EXAMPLE_INIT;
}
