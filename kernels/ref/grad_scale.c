/* grad_scale.c - what gradients are multiplied by: clipping, and the loss scale taken out. */
#include "kernels/ref/ref.h"

void REF(grad_scale)(struct queue *q, const struct grad_scale *a)
{
	struct step *step = a->step;
	double sum = 0, clip = 1;

	(void)q;
	for (int64_t i = 0; i < tensor_count(a->sums); i++)
		sum += ((const double *)a->sums.data)[i];
	step->grad_norm = sqrt(sum) / step->loss_scale;
	if (a->max_norm > 0 && step->grad_norm + a->eps > a->max_norm)
		clip = a->max_norm / (step->grad_norm + a->eps);
	step->grad_scale = clip / step->loss_scale;
	step->skip = *a->bad || !isfinite(step->grad_norm);
}
