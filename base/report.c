/* report.c - a program's report. */
#include "base/report.h"

#include "base/err.h"
#include "base/log.h"
#include "base/out.h"

#include <stdlib.h>

int report_write(const json_t *o, const char *path, int digits)
{
	char *text = o ? json_dumps(o, JSON_INDENT(2) | JSON_REAL_PRECISION(digits)) : NULL;
	struct out *out = NULL;
	int rc = -1;

	if (o && !text)
		return err_memory();
	if (text && !out_open(&out, path) && !out_printf(out, "%s\n", text) && !out_commit(out)) {
		out = NULL;
		rc = 0;
	}
	out_discard(out);
	free(text);
	return rc;
}

void report_warn(const json_t *o)
{
	const json_t *list = json_object_get(o, "warnings");

	for (size_t k = 0; k < json_array_size(list); k++)
		log_warn("%s", json_string_value(json_array_get(list, k)));
}
