/* Any bytes as tokenizer_config.json: refused with a reason, or read. */
#include "base/err.h"
#include "tokenizer/tokenizer_config.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	const int fd = memfd_create("config", 0);
	struct tokenizer_config c;
	char path[32];

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (tokenizer_config_read(&c, path) && (err_code() != EXIT_CORRUPT || !strstr(err_text(), path)))
		abort();
	tokenizer_config_release(&c);
	close(fd);
	return 0;
}
