/* model_host.c - a model directory together with its backend. */
#include "model/model_host.h"

int model_host_open(struct model_host *h, const struct model_host_opts *o)
{
	struct config c = CONFIG_INIT;

	*h = (struct model_host){ .q = NULL };
	if (kernels_open(&h->k, o->backend, o->threads)) {
		h->k.name = NULL;
		return -1;
	}
	if (!h->k.queue_open(&h->k, &h->q) && !model_dir_config(&c, o->folder, o->head) &&
	    !model_init(&h->model, &h->k, h->q, &c, DTYPE_F32) && !model_dir_open(&h->source, &h->model, o->folder))
		return 0;
	model_host_close(h);
	return -1;
}

int model_host_read(struct model_host *h)
{
	return model_dir_check(h->source, &h->model, false) || model_dir_read(h->source, &h->model, 0) ? -1 : 0;
}

void model_host_close(struct model_host *h)
{
	if (!h->k.name)
		return;
	model_dir_close(h->source);
	model_release(&h->model);
	h->k.queue_close(h->q);
	kernels_close(&h->k);
	*h = (struct model_host){ .q = NULL };
}
