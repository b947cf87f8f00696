/* Canonical JSON with one long list. */
#include "shards/canon_list.h"
#include "base/buf.h"
#include "base/err.h"
#include "shards/canon.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

/* --- the list in a text ------------------------------------------------------------------------- */

/* Where a string that begins at I ends: its closing quote, or LEN. */
static size_t string_end(const char *text, size_t len, size_t i)
{
	for (i++; i < len && text[i] != '"'; i++)
		i += text[i] == '\\';
	return i < len ? i : len;
}

struct place {
	size_t first, end;		/* of the elements; at END the closing bracket is */
	size_t commas;			/* between them */
};

/* The list that is member NAME of the object TEXT. Of a TEXT that is no JSON what is found means nothing. */
static bool find_list(const char *text, size_t len, const char *name, struct place *p)
{
	char key[32];
	const size_t key_len = (size_t)snprintf(key, sizeof(key), "\"%s\":[", name);
	size_t depth = 0;
	bool found = false;

	p->commas = 0;
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '"' && depth == 1 && len - i >= key_len && !memcmp(text + i, key, key_len)) {
			found = true;
			depth++;
			i += key_len - 1;
			p->first = i + 1;
		} else if (text[i] == '"') {
			i = string_end(text, len, i);
		} else if (text[i] == ',') {
			p->commas += found && depth == 2;
		} else if (text[i] == '{' || text[i] == '[') {
			depth++;
		} else if ((text[i] == '}' || text[i] == ']') && depth && --depth == 1 && found) {
			p->end = i;
			return true;
		}
	}
	return false;
}

static int not_canonical(void)
{
	return err_corrupt("it is not in canonical form: something was changed");
}

/* Why TEXT has no list NAME, or cannot be read without it. */
static int say_why(const char *text, size_t len, const char *name)
{
	json_t *o = canon_parse(text, len);

	if (o && canon_array(o, name))
		not_canonical();
	json_decref(o);
	return -1;
}

/* --- reading -------------------------------------------------------------------------------------- */

static int read_rest(struct canon_list *l)
{
	struct buf rest = BUF_INIT;
	char *printed = NULL;
	int rc = -1;

	if (buf_add(&rest, l->text, l->first) || buf_add(&rest, l->text + l->end, l->len - l->end))
		goto done;
	l->rest = canon_parse(rest.data, rest.len);
	if (!l->rest) {
		say_why(l->text, l->len, l->name);
		goto done;
	}
	printed = canon_print(l->rest);
	if (printed)
		rc = strlen(printed) == rest.len && !memcmp(printed, rest.data, rest.len) ? 0 : not_canonical();
done:
	free(printed);
	buf_release(&rest);
	return rc;
}

int canon_list_open(struct canon_list *l, const char *name, const char *text, size_t len)
{
	struct place p;

	*l = (struct canon_list)CANON_LIST_INIT;
	if (!find_list(text, len, name, &p))
		return say_why(text, len, name);
	*l = (struct canon_list){ .text = text, .len = len, .first = p.first, .end = p.end, .at = p.first,
				  .n = p.end > p.first ? p.commas + 1 : 0, .name = name };
	if (!read_rest(l))
		return 0;
	canon_list_release(l);
	return -1;
}

/* The comma before the next element, if there is one. */
static int next_begins(struct canon_list *l)
{
	if (l->at == l->end)
		return 0;
	if (l->at > l->first && l->text[l->at++] != ',')
		return not_canonical();
	return 1;
}

int canon_list_next(struct canon_list *l, json_t **o)
{
	const size_t flags = JSON_REJECT_DUPLICATES | JSON_DISABLE_EOF_CHECK;
	json_error_t e;
	char *printed;
	size_t len;
	int rc = next_begins(l);

	*o = NULL;
	if (rc <= 0)
		return rc;
	*o = json_loadb(l->text + l->at, l->end - l->at, flags, &e);
	if (!*o)
		return err_corrupt("it is no valid JSON at byte %zu: %s", l->at + (size_t)e.position, e.text);
	printed = canon_print(*o);
	len = printed ? strlen(printed) : 0;
	if (!printed)
		rc = -1;
	else if (len > l->end - l->at || memcmp(printed, l->text + l->at, len))
		rc = not_canonical();
	free(printed);
	if (rc < 0) {
		json_decref(*o);
		*o = NULL;
		return -1;
	}
	l->at += len;
	return 1;
}

void canon_list_release(struct canon_list *l)
{
	json_decref(l->rest);
	*l = (struct canon_list)CANON_LIST_INIT;
}

/* --- printing --------------------------------------------------------------------------------------- */

/* The text of REST, and where the list's elements go into it. */
static char *print_rest(const json_t *rest, const char *name, size_t *at)
{
	char *text = canon_print(rest);
	struct place p;

	if (!text)
		return NULL;
	if (find_list(text, strlen(text), name, &p)) {
		*at = p.first;
		return text;
	}
	free(text);
	err_fail("the list '%s' is missing", name);
	return NULL;
}

static int print_item(const struct canon_list_source *s, size_t i, int (*put)(void *ctx, const void *text, size_t len), void *ctx)
{
	json_t *o = s->item(s->ctx, i);
	char *text = o ? canon_print(o) : NULL;
	int rc = text ? 0 : -1;

	if (text && ((i && put(ctx, ",", 1)) || put(ctx, text, strlen(text))))
		rc = -1;
	free(text);
	json_decref(o);
	return rc;
}

int canon_list_print(const struct canon_list_source *s, int (*put)(void *ctx, const void *text, size_t len), void *ctx)
{
	size_t at = 0;
	char *rest = print_rest(s->rest, s->name, &at);
	int rc = rest ? put(ctx, rest, at) : -1;

	for (size_t i = 0; i < s->n && !rc; i++)
		rc = print_item(s, i, put, ctx);
	if (!rc)
		rc = put(ctx, rest + at, strlen(rest + at));
	free(rest);
	return rc;
}

/* --- digests ------------------------------------------------------------------------------------------ */

static int put_hash(void *ctx, const void *text, size_t len)
{
	return XXH3_128bits_update(ctx, text, len) == XXH_OK ? 0 : err_fail("cannot hash");
}

static struct key digest_of(const XXH3_state_t *state)
{
	const XXH128_hash_t hash = XXH3_128bits_digest(state);

	return (struct key){ hash.high64, hash.low64 };
}

static XXH3_state_t *new_hash(void)
{
	XXH3_state_t *state = XXH3_createState();

	if (state)
		XXH3_128bits_reset(state);
	else
		err_memory();
	return state;
}

int canon_list_source_digest(const struct canon_list_source *s, struct key *digest)
{
	XXH3_state_t *state = new_hash();
	int rc = state ? canon_list_print(s, put_hash, state) : -1;

	if (!rc)
		*digest = digest_of(state);
	XXH3_freeState(state);
	return rc;
}

int canon_list_digest(const struct canon_list *l, struct key *digest)
{
	json_t *others = json_copy(l->rest);
	XXH3_state_t *state = new_hash();
	char *text = NULL;
	size_t at = 0;
	int rc = -1;

	if (!others)
		err_memory();
	else if (state && (!json_object_get(others, "digest") || !json_object_del(others, "digest")))
		text = print_rest(others, l->name, &at);
	if (text && !put_hash(state, text, at) && !put_hash(state, l->text + l->first, l->end - l->first))
		rc = put_hash(state, text + at, strlen(text + at));
	if (!rc)
		*digest = digest_of(state);
	free(text);
	XXH3_freeState(state);
	json_decref(others);
	return rc;
}
