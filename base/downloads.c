#include "base/downloads.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/lines.h"

#include <ctype.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* --- items ----------------------------------------------------------------------- */

static bool is_inside(const char *name)
{
	for (const char *p = name;; p++) {
		const size_t n = strcspn(p, "/");

		if (n == 0 || (n == 1 && p[0] == '.') || (n == 2 && p[0] == '.' && p[1] == '.'))
			return false;
		p += n;
		if (!*p)
			return true;
	}
}

static int check(const struct downloads *d, const char *name, enum fetch_sum sum, const char *digest)
{
	if (!is_inside(name))
		return err_usage("'%s' is no name for a file in the folder", name);
	if (digest && !fetch_is_digest(sum, digest))
		return err_usage("'%s' is no %s", digest, fetch_sum_name(sum));
	for (size_t i = 0; i < d->n; i++)
		if (!strcmp(d->items[i].name, name))
			return err_usage("two downloads are named '%s'", name);
	return 0;
}

static void release_item(struct download *i)
{
	free(i->url);
	free(i->name);
	free(i->digest);
}

int downloads_add(struct downloads *d, const char *url, const char *name, enum fetch_sum sum, const char *digest)
{
	struct download i = { .sum = digest ? sum : FETCH_SUM_NONE };

	if (check(d, name, sum, digest))
		return -1;
	i.url = strdup(url);
	i.name = strdup(name);
	i.digest = digest ? strdup(digest) : NULL;
	if (!i.url || !i.name || (digest && !i.digest) || array_grow(&d->items, &d->cap, d->n + 1, sizeof(*d->items))) {
		release_item(&i);
		return err_memory();
	}
	d->items[d->n++] = i;
	return 0;
}

int downloads_add_url(struct downloads *d, const char *url, enum fetch_sum sum, const char *digest)
{
	const char *scheme = strstr(url, ":/"), *slash;
	char *name;
	int rc;

	if (!scheme)
		return err_usage("'%s' is no http, https or file URL", url);
	name = strndup(scheme + 1, strcspn(scheme + 1, "?#"));
	if (!name)
		return err_memory();
	slash = strrchr(name, '/');
	/* In "http://host" the last slash stands before the host. */
	if (slash[1] && (slash != name + 1 || !strncmp(url, "file:", 5)))
		rc = downloads_add(d, url, slash + 1, sum, digest);
	else
		rc = err_usage("'%s' ends in no file name; give one with -o", url);
	free(name);
	return rc;
}

void downloads_release(struct downloads *d)
{
	for (size_t i = 0; i < d->n; i++)
		release_item(&d->items[i]);
	free(d->items);
	*d = (struct downloads)DOWNLOADS_INIT;
}

/* --- lists ----------------------------------------------------------------------- */

/* Cuts the field at *P off, and moves *P behind its tab; NULL when there is none. */
static char *next_field(char **p)
{
	char *field = *p, *tab;

	if (!field)
		return NULL;
	tab = strchr(field, '\t');
	if (tab)
		*tab = 0;
	*p = tab ? tab + 1 : NULL;
	return field;
}

static int add_line(struct downloads *d, char *line)
{
	char *url = next_field(&line), *sum = next_field(&line), *name = next_field(&line), *digest = NULL;
	enum fetch_sum kind = FETCH_SUM_NONE;

	if (line)
		return err_usage("more than three fields");
	if (sum && strcmp(sum, "-")) {
		digest = strchr(sum, ':');
		kind = digest ? fetch_sum_of(sum, (size_t)(digest - sum)) : FETCH_SUM_NONE;
		if (kind == FETCH_SUM_NONE)
			return err_usage("'%s' is neither '-' nor sha256:, sha1: or md5: and a sum", sum);
		digest++;
	}
	return name ? downloads_add(d, url, name, kind, digest) : downloads_add_url(d, url, kind, digest);
}

static int add_list_line(struct downloads *d, const struct line *line)
{
	char *copy;
	int rc;

	if (line->blank || line->text[0] == '#')
		return 0;
	if (memchr(line->text, 0, line->len))
		return err_usage("a NUL character");
	copy = strdup(line->text);
	if (!copy)
		return err_memory();
	rc = add_line(d, copy);
	free(copy);
	return rc;
}

int downloads_read_list(struct downloads *d, const char *path)
{
	struct lines *l;
	struct line line;
	uint64_t number = 0;
	int rc;

	if (lines_open(&l, &path, 1, &(struct lines_opts){ .strict = true }))
		return -1;
	while ((rc = lines_next(l, &line)) > 0) {
		number++;
		if (!add_list_line(d, &line))
			continue;
		rc = -1;
		if (err_code() == EXIT_USAGE) {
			struct err e;

			err_get(&e);
			err_corrupt("'%s', line %" PRIu64 ": %s", path, number, e.text);
		}
		break;
	}
	lines_close(l);
	return rc;
}

/* --- Wikimedia ------------------------------------------------------------------- */

#define JOB "articlesmultistreamdump"
#define DATE_LEN 8

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static bool ends(const char *text, const char *with)
{
	const size_t n = strlen(text), k = strlen(with);

	return n >= k && !strcmp(text + n - k, with);
}

/* Lines "SHA1  WIKI-DATE-...": all are of one dump. */
int downloads_find_date(const char *text, const char *url, const char *wiki, char date[DATE_LEN + 1])
{
	for (const char *p = text; p; p = strchr(p, '\n')) {
		const char *name;

		p += *p == '\n';
		name = p + strcspn(p, " \n");
		name += strspn(name, " ");
		if (!begins(name, wiki) || name[strlen(wiki)] != '-')
			continue;
		name += strlen(wiki) + 1;
		if (strspn(name, "0123456789") == DATE_LEN && name[DATE_LEN] == '-') {
			memcpy(date, name, DATE_LEN);
			date[DATE_LEN] = 0;
			return 0;
		}
	}
	return err_corrupt("'%s' names no file of a dump of %s", url, wiki);
}

static int add_dump_file(struct downloads *d, const char *name, json_t *file, const char *url, const char *folder)
{
	const char *sum = json_string_value(json_object_get(file, "sha1"));
	const json_t *size = json_object_get(file, "size");
	struct buf whole = BUF_INIT;
	int rc;

	if (!sum || !fetch_is_digest(FETCH_SUM_SHA1, sum))
		return err_corrupt("'%s' has no SHA-1 of '%s'", url, name);
	rc = buf_addf(&whole, "%s/%s", folder, name) || downloads_add(d, whole.data, name, FETCH_SUM_SHA1, sum) ? -1 : 0;
	if (!rc && json_is_integer(size) && json_integer_value(size) > 0)
		d->items[d->n - 1].size = (uint64_t)json_integer_value(size);
	buf_release(&whole);
	return rc;
}

/* FOLDER is the dump's URL, PREFIX what its files' names begin with. */
static int add_dump(struct downloads *d, json_t *root, const char *url, const char *folder, const char *prefix)
{
	json_t *job = json_object_get(json_object_get(root, "jobs"), JOB), *file;
	const char *status = json_string_value(json_object_get(job, "status")), *name;
	const size_t before = d->n;

	if (!status)
		return err_corrupt("'%s' tells no status of " JOB, url);
	if (strcmp(status, "done"))
		return err_fail("the dump of '%s' is not finished: " JOB " is '%s'", url, status);
	json_object_foreach(json_object_get(job, "files"), name, file)
		if (begins(name, prefix) && strstr(name, ".xml") && ends(name, ".bz2") && !strchr(name, '/') &&
		    add_dump_file(d, name, file, url, folder))
			return -1;
	return d->n > before ? 0 : err_corrupt("'%s' names no files of " JOB, url);
}

int downloads_read_dump(struct downloads *d, const char *json, size_t len, const char *url, const char *wiki, const char *date,
			const char *mirror)
{
	struct buf folder = BUF_INIT, prefix = BUF_INIT;
	json_error_t fault;
	json_t *root = json_loadb(json, len, JSON_REJECT_DUPLICATES, &fault);
	int rc = -1;

	if (!root)
		err_corrupt("'%s' is no JSON: %s at byte %d", url, fault.text, fault.position);
	else if (!buf_addf(&folder, "%s/%s/%s", mirror, wiki, date) && !buf_addf(&prefix, "%s-%s-pages-articles", wiki, date))
		rc = add_dump(d, root, url, folder.data, prefix.data);
	json_decref(root);
	buf_release(&folder);
	buf_release(&prefix);
	return rc;
}
