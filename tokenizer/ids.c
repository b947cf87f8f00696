#include "tokenizer/ids.h"

#include "base/buf.h"
#include "base/err.h"

#include <stdlib.h>

int ids_grow(struct ids *ids, size_t more)
{
	if (more > SIZE_MAX - ids->count)
		return err_memory();
	return array_grow(&ids->items, &ids->cap, ids->count + more, sizeof(*ids->items));
}

int ids_add(struct ids *ids, uint32_t id)
{
	if (ids_reserve(ids, 1))
		return -1;
	ids->items[ids->count++] = id;
	return 0;
}

void ids_release(struct ids *ids)
{
	free(ids->items);
	*ids = (struct ids)IDS_INIT;
}
