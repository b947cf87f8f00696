/*
 * Feeds files to a fuzz target, so that its corpus is tested without a fuzzer:
 * replay_x FILE... Ends by whatever the target does; prints the number of files.
 */
#include "base/err.h"
#include "base/fs.h"

#include <stdio.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		struct buf b = BUF_INIT;

		if (buf_reserve(&b, 1) || fs_read_all(argv[i], (size_t)1 << 30, &b)) {
			fprintf(stderr, "replay: %s\n", err_text());
			return 1;
		}
		LLVMFuzzerTestOneInput((const unsigned char *)b.data, b.len);
		buf_release(&b);
	}
	printf("%d inputs\n", argc - 1);
	return 0;
}
