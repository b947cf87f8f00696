/* elementwise.c - cast, copy, fill, scale, add. */
#include "kernels/ref/ref.h"

void REF(cast)(struct queue *q, const struct cast *a)
{
	(void)q;
	for (int64_t i = 0; i < tensor_count(a->x); i++)
		element_put(a->y.data, a->y.dtype, i, element_get(a->x.data, a->x.dtype, i));
}

void REF(copy)(struct queue *q, const struct copy *a)
{
	(void)q;
	if (tensor_count(a->x))
		memcpy(a->y.data, a->x.data, tensor_bytes(a->x));
}

void REF(fill)(struct queue *q, const struct fill *a)
{
	(void)q;
	for (int64_t i = 0; i < tensor_count(a->y); i++)
		element_put(a->y.data, a->y.dtype, i, a->value);
}

void REF(scale)(struct queue *q, const struct scale *a)
{
	(void)q;
	for (int64_t i = 0; i < tensor_count(a->x); i++)
		((REAL *)a->y.data)[i] = (REAL)(*a->factor * (double)((const REAL *)a->x.data)[i]);
}

void REF(add)(struct queue *q, const struct add *a)
{
	(void)q;
	for (int64_t i = 0; i < tensor_count(a->y); i++)
		((REAL *)a->y.data)[i] = ((const REAL *)a->a.data)[i] + ((const REAL *)a->b.data)[i];
}
