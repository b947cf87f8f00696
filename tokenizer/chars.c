#include "tokenizer/chars.h"

#include "base/err.h"
#include "tokenizer/tables/tables.h"

#include <string.h>

const struct chars *chars_google(const char *unicode)
{
	static const struct chars *const versions[] = { &chars_google_14_0, &chars_google_15_0 };

	if (!unicode)
		return versions[0];
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
		if (!strcmp(versions[i]->unicode, unicode))
			return versions[i];
	err_usage("no tables of Unicode '%s': there are 14.0 and 15.0", unicode);
	return NULL;
}

const struct chars *chars_hf(void)
{
	return &chars_hf_table;
}
