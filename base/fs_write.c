/* Apart from fs.c, so that who only reads does not link what writes. */
#include "base/fs.h"

#include "base/out.h"

int fs_write_all(const char *path, const void *bytes, size_t n)
{
	struct out *o;

	if (out_open(&o, path))
		return -1;
	if (out_write(o, bytes, n) || out_commit(o)) {
		out_discard(o);
		return -1;
	}
	return 0;
}
