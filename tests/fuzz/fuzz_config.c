/* Arbitrary bytes as config.json. What is accepted has a table of parameters, and is written as it was read. */
#include "base/err.h"
#include "model/params.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void need(int ok)
{
	if (!ok)
		abort();
}

static void walk_params(struct config *c)
{
	struct params p;
	int64_t at = 0;

	if (c->head == HEAD_UNSAID)
		c->head = HEAD_PRETRAINING;
	if (c->num_hidden_layers > 64)
		return;
	need(!params_plan(&p, c));
	for (int l = LAYER_EMBEDDINGS; l <= c->num_hidden_layers; l++) {
		int64_t first, count;

		params_range(&p, l, &first, &count);
		need(first == at && count >= 0);
		at += count;
	}
	need(at == p.total && p.total > 0);
	params_release(&p);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	struct config c, again;
	char *text, *second;

	if (config_parse(&c, (const char *)data, size, "config.json")) {
		need(err_code() == EXIT_CORRUPT);
		return 0;
	}
	text = config_print(&c);
	need(text && !config_parse(&again, text, strlen(text), "written"));
	second = config_print(&again);
	need(second && !strcmp(text, second));
	walk_params(&again);
	free(second);
	free(text);
	config_release(&again);
	config_release(&c);
	return 0;
}
