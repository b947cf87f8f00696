/*
 * Arbitrary bytes as a dump. Pages are given or a reason is, and their texts are valid
 * UTF-8 without the characters that XML forbids.
 */
#include "base/err.h"
#include "base/in.h"
#include "base/utf8.h"
#include "corpus/mediawiki.h"

#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void need(int ok)
{
	if (!ok)
		abort();
}

static void check(struct span s)
{
	need(utf8_valid_prefix(s.text, s.len) == s.len);
	for (size_t i = 0; i < s.len; i++)
		need((unsigned char)s.text[i] >= ' ' || s.text[i] == '\n' || s.text[i] == '\t' || s.text[i] == '\r');
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	const int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct mediawiki_page page;
	struct mediawiki *m;
	struct wiki_site site;
	struct in *in;
	char path[64];
	int rc;

	need(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	err_clear();
	need(!wiki_site_init(&site));
	if (!in_open(&in, path, 1)) {
		rc = mediawiki_open(&m, in, &site);
		while (!rc && (rc = mediawiki_next(m, &page)) > 0) {
			check(page.title);
			check(page.text);
			check(page.id);
			rc = 0;
		}
		if (rc < 0)
			need(err_code() == EXIT_CORRUPT);
		mediawiki_close(m);
		in_close(in);
	}
	wiki_site_release(&site);
	close(fd);
	return 0;
}
