/* warmup.c - the length of a warm-up. */
#include "trainer/warmup.h"

#include "base/err.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int warmup_parse(struct warmup *w, const char *text)
{
	char *end;

	*w = (struct warmup){ .value = strtod(text, &end), .is_share = strchr(text, '.') != NULL };
	if (end == text || *end || !(w->value >= 0) ||
	    (w->is_share ? w->value > 1 : w->value > (double)UINT32_MAX || w->value != floor(w->value)))
		return err_usage("--warmup takes a number of steps, or a share of them such as 0.1, not '%s'", text);
	return 0;
}

uint64_t warmup_steps(const struct warmup *w, uint64_t steps)
{
	return (uint64_t)(w->is_share ? w->value * (double)steps + 0.5 : w->value);
}
