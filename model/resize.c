/* resize.c - a model with another vocabulary. */
#include "model/resize.h"

#include "base/err.h"

#include <assert.h>
#include <inttypes.h>

static int check_pieces(const struct model *from, const struct vocab_rows *r)
{
	for (size_t i = 0; r->count && i < r->ends[r->count - 1]; i++)
		if (r->pieces[i] >= (uint32_t)from->config.vocab_size)
			return err_fail("token %" PRIu32 " of the old vocabulary has no row in a model of %d", r->pieces[i],
					from->config.vocab_size);
	return 0;
}

/* Whether the rows of parameter P are those of tokens. */
static bool is_of_tokens(const struct model *m, const struct param *p)
{
	const void *const data = model_elements(m, p->first, p->count).data;

	return data == m->w.word.data || data == m->w.table.data || data == m->w.table_bias.data;
}

/* N rows of WIDTH from R on, each a mean of rows of OLD; one row stays as it is, to the bit. */
static void mix_rows(const struct vocab_rows *r, int64_t width, const float *old, float *new)
{
	size_t first = 0;

	for (size_t i = 0; i < r->count; first = r->ends[i++]) {
		const size_t n = r->ends[i] - first;
		float *const row = new + (int64_t)i * width;

		assert(n > 0);
		for (int64_t c = 0; c < width; c++) {
			double sum = old[r->pieces[first] * width + c];

			for (size_t k = 1; k < n; k++)
				sum += (double)old[r->pieces[first + k] * width + c];
			row[c] = (float)(sum / (double)n);
		}
	}
}

/* Parameter P of TO from Q of FROM, by way of the host. */
static int carry(struct model *to, const struct param *p, const struct model *from, const struct param *q, const struct vocab_rows *r)
{
	const struct kernels *const k = from->k;
	const struct tensor x = model_elements(from, q->first, q->count), y = model_elements(to, p->first, p->count);
	void *old = NULL, *new = NULL;
	int rc = -1;

	if (k->host_alloc(&old, tensor_bytes(x)) || k->host_alloc(&new, tensor_bytes(y)))
		goto out;
	k->download(from->q, old, x.data, tensor_bytes(x));
	if (k->sync(from->q))
		goto out;
	if (is_of_tokens(from, q))
		mix_rows(r, q->count / q->rows, old, new);
	else
		memcpy(new, old, tensor_bytes(x));
	k->upload(to->q, y.data, new, tensor_bytes(y));
	rc = k->sync(to->q);
out:
	k->host_free(new, tensor_bytes(y));
	k->host_free(old, tensor_bytes(x));
	return rc;
}

int model_resize(struct model *to, const struct model *from, const struct vocab_rows *r)
{
	struct config c;
	int rc;

	assert(from->weights && from->dtype == DTYPE_F32 && r->count > 0 && r->count <= INT32_MAX);
	*to = (struct model){ 0 };
	if (check_pieces(from, r) || config_copy(&c, &from->config))
		return -1;
	c.vocab_size = (int)r->count;
	if (r->pad_token_id >= 0)
		c.pad_token_id = r->pad_token_id;
	if (model_init(to, from->k, from->q, &c, from->dtype))
		return -1;
	assert(to->params.count == from->params.count);
	rc = model_alloc(to);
	for (int i = 0; i < to->params.count && !rc; i++)
		if (to->params.items[i].tied < 0)
			rc = carry(to, &to->params.items[i], from, &from->params.items[i], r);
	if (rc)
		model_release(to);
	return rc;
}
