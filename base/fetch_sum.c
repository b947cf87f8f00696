#include "base/fetch.h"

#include "base/err.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCK_BYTES ((size_t)256 << 10)

static const struct {
	enum fetch_sum sum;
	const char *name;
	size_t digits;
} sums[] = {
	{ FETCH_SUM_MD5, "md5", 32 },
	{ FETCH_SUM_SHA1, "sha1", 40 },
	{ FETCH_SUM_SHA256, "sha256", 64 },
};
#define N_SUMS (sizeof(sums) / sizeof(sums[0]))

const char *fetch_sum_name(enum fetch_sum sum)
{
	for (size_t i = 0; i < N_SUMS; i++)
		if (sums[i].sum == sum)
			return sums[i].name;
	return "none";
}

enum fetch_sum fetch_sum_of(const char *name, size_t len)
{
	for (size_t i = 0; i < N_SUMS; i++)
		if (strlen(sums[i].name) == len && !memcmp(sums[i].name, name, len))
			return sums[i].sum;
	return FETCH_SUM_NONE;
}

bool fetch_is_digest(enum fetch_sum sum, const char *text)
{
	size_t n = 0;

	while (isxdigit((unsigned char)text[n]))
		n++;
	for (size_t i = 0; i < N_SUMS; i++)
		if (sums[i].sum == sum)
			return n == sums[i].digits && !text[n];
	return false;
}

static const EVP_MD *method(enum fetch_sum sum)
{
	return sum == FETCH_SUM_MD5 ? EVP_md5() : sum == FETCH_SUM_SHA1 ? EVP_sha1() : EVP_sha256();
}

static int digest_fd(int fd, const char *path, EVP_MD_CTX *ctx)
{
	unsigned char *block = malloc(BLOCK_BYTES);
	ssize_t n = block ? 1 : err_memory();

	while (n > 0) {
		n = read(fd, block, BLOCK_BYTES);
		if (n < 0 && errno == EINTR)
			n = 1;
		else if (n < 0)
			err_sys("cannot read '%s'", path);
		else if (n > 0 && !EVP_DigestUpdate(ctx, block, (size_t)n))
			n = err_fail("cannot take the sum of '%s'", path);
	}
	free(block);
	return (int)n;
}

int fetch_digest(const char *path, enum fetch_sum sum, char *out)
{
	unsigned char bytes[EVP_MAX_MD_SIZE];
	unsigned n = 0;
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc = -1;

	if (fd < 0)
		err_sys("cannot open '%s'", path);
	else if (!ctx || !EVP_DigestInit_ex(ctx, method(sum), NULL))
		err_fail("cannot take the %s of '%s': libcrypto does not offer it", fetch_sum_name(sum), path);
	else if (!digest_fd(fd, path, ctx))
		rc = EVP_DigestFinal_ex(ctx, bytes, &n) ? 0 : err_fail("cannot take the sum of '%s'", path);
	for (unsigned i = 0; i < n; i++)
		snprintf(out + 2 * i, 3, "%02x", bytes[i]);
	EVP_MD_CTX_free(ctx);
	if (fd >= 0)
		close(fd);
	return rc;
}
