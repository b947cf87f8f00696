/* The HDF5 library. */
#include "shards/hdf5.h"

#if HAVE_HDF5

#include "base/err.h"
#include "base/fs.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void hdf5_start(void)
{
	H5dont_atexit();	/* after a file that could not be closed, its own end crashes */
	H5open();
	H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

#define WHY 200

/* The innermost reason; of a failed system call, which comes with all its numbers, its message. */
static herr_t take_text(unsigned n, const H5E_error2_t *e, void *text)
{
	static const char mark[] = "error message = '";
	const char *message = e->desc ? strstr(e->desc, mark) : NULL;

	(void)n;
	if (message) {
		message += sizeof(mark) - 1;
		snprintf(text, WHY, "%.*s", (int)strcspn(message, "'"), message);
	} else if (e->desc && *e->desc) {
		snprintf(text, WHY, "%s", e->desc);
	}
	return 0;
}

static int set_reason(enum exit_code code, const char *fmt, va_list ap)
{
	char what[512], why[WHY] = "";

	vsnprintf(what, sizeof(what), fmt, ap);
	H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, take_text, why);
	return *why ? err_set(code, "%s: %s", what, why) : err_set(code, "%s", what);
}

int hdf5_failed(const char *fmt, ...)
{
	va_list ap;
	int rc;

	va_start(ap, fmt);
	rc = set_reason(EXIT_FAILED, fmt, ap);
	va_end(ap);
	return rc;
}

int hdf5_corrupt(const char *fmt, ...)
{
	va_list ap;
	int rc;

	va_start(ap, fmt);
	rc = set_reason(EXIT_CORRUPT, fmt, ap);
	va_end(ap);
	return rc;
}

hid_t hdf5_create(const char *folder, int *fd)
{
	char *path = fs_join(folder, ".hdf5-XXXXXX");
	hid_t file = -1;

	*fd = path ? mkstemp(path) : -1;
	if (path && *fd < 0)
		err_sys("cannot write in '%s'", folder);
	if (*fd >= 0) {
		file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
		if (file < 0)
			hdf5_failed("cannot write in '%s'", folder);
		unlink(path);
	}
	free(path);
	return file;
}

#endif
