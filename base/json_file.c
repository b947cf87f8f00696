/* json_file.c - small JSON files. */
#include "base/json_file.h"

#include "base/err.h"
#include "base/fs.h"

json_t *json_file_parse(const char *text, size_t n, const char *name)
{
	json_error_t e;
	json_t *o = json_loadb(text, n, JSON_REJECT_DUPLICATES, &e);

	if (!o)
		err_corrupt("cannot read '%s': line %d: %s", name, e.line, e.text);
	return o;
}

json_t *json_file_read(const char *path, size_t limit)
{
	struct buf text = BUF_INIT;
	json_t *o = NULL;

	if (!buf_reserve(&text, 1) && !fs_read_all(path, limit, &text))
		o = json_file_parse(text.data, text.len, path);
	buf_release(&text);
	return o;
}

int json_file_write(const char *path, const json_t *o)
{
	char *text = o ? json_dumps(o, JSON_INDENT(1) | JSON_SORT_KEYS | JSON_REAL_PRECISION(17)) : NULL;
	int rc;

	if (!text)
		return err_memory();
	rc = fs_write_all(path, text, strlen(text));
	free(text);
	return rc;
}
