/* Any bytes as a list of downloads, as the sums of a dump, and as a dump's status. What is accepted stays in its folder. */
#include "base/buf.h"
#include "base/downloads.h"
#include "base/err.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void check(int rc, const struct downloads *d)
{
	require(rc == 0 || err_code() != EXIT_DONE);
	for (size_t i = 0; i < d->n; i++) {
		const char *name = d->items[i].name;

		require(*name && *name != '/' && strcmp(name, "..") && strncmp(name, "../", 3) && !strstr(name, "/../"));
		require(!d->items[i].digest == (d->items[i].sum == FETCH_SUM_NONE));
		require(!d->items[i].digest || fetch_is_digest(d->items[i].sum, d->items[i].digest));
	}
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	struct downloads list = DOWNLOADS_INIT, dump = DOWNLOADS_INIT;
	struct buf text = BUF_INIT;
	const int fd = memfd_create("list", MFD_CLOEXEC);
	char path[32], date[9];

	require(fd >= 0 && write(fd, data, size) == (ssize_t)size && !buf_add(&text, data, size));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	check(downloads_read_list(&list, path), &list);
	if (!downloads_find_date(text.data, "u", "xwiki", date))
		require(strspn(date, "0123456789") == 8);
	check(downloads_read_dump(&dump, text.data, text.len, "u", "xwiki", "20010203", "http://m"), &dump);
	downloads_release(&list);
	downloads_release(&dump);
	buf_release(&text);
	close(fd);
	return 0;
}
