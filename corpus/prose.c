#include "corpus/prose.h"

#include "base/utf8.h"

#include <utf8proc.h>

bool prose_has_word(struct span s)
{
	for (unsigned size; s.len; s = span_skip(s, size)) {
		const uint32_t c = utf8_decode(s.text, s.len, &size, NULL);
		const utf8proc_category_t category = utf8proc_category((utf8proc_int32_t)c);

		if ((category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO) || category == UTF8PROC_CATEGORY_ND)
			return true;
	}
	return false;
}

bool prose_ends_sentence(struct span s)
{
	static const char *const closing[] = { "\"", "'", ")", "]", "”", "’", "»", "“", "」", "』", "）" };
	static const char *const ends[] = { ".", "!", "?", "…", "。", "！", "？", "।", "؟", "۔" };
	const char *const *found;

	do {
		found = NULL;
		for (size_t i = 0; i < sizeof(closing) / sizeof(closing[0]) && !found; i++)
			if (s.len > strlen(closing[i]) && !memcmp(s.text + s.len - strlen(closing[i]), closing[i], strlen(closing[i])))
				found = &closing[i];
		if (found)
			s.len -= strlen(*found);
	} while (found);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (s.len > strlen(ends[i]) && !memcmp(s.text + s.len - strlen(ends[i]), ends[i], strlen(ends[i])))
			return true;
	return false;
}
