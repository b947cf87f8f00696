#include "base/sha256.h"

#include "base/err.h"

#include <openssl/evp.h>
#include <stdio.h>

int sha256_hex(const void *data, size_t len, char hex[SHA256_HEX])
{
	unsigned char digest[EVP_MAX_MD_SIZE];

	if (!EVP_Digest(data, len, digest, NULL, EVP_sha256(), NULL))
		return err_fail("libcrypto cannot compute SHA-256");
	for (size_t i = 0; i < (SHA256_HEX - 1) / 2; i++)
		snprintf(hex + 2 * i, 3, "%02x", digest[i]);
	return 0;
}
