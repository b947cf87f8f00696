/*
 * Arbitrary bytes as a safetensors file: opened, every tensor read, and mapped to a model's parameters. In what is
 * accepted, tensors follow each other and fill the data.
 */
#include "base/err.h"
#include "model/mapping.h"

#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void need(int ok)
{
	if (!ok)
		abort();
}

static const char config_text[] = "{\"architectures\": [\"BertForPreTraining\"], \"vocab_size\": 40, \"hidden_size\": 16,"
	" \"num_hidden_layers\": 1, \"num_attention_heads\": 2, \"intermediate_size\": 8, \"max_position_embeddings\": 12}";

/* A parameter and its tensor have the same size; nothing is lost from the table. */
static void walk_mapping(const struct safetensors *s)
{
	struct config c;
	struct params p;
	struct mapping map;

	need(!config_parse(&c, config_text, sizeof(config_text) - 1, "config") && !params_plan(&p, &c));
	if (!mapping_make(&map, &p, s, NULL)) {
		for (size_t i = 0; i < map.count; i++) {
			const struct match *item = &map.items[i];

			need(item->tensor || item->fate == FATE_MISSING);
			need(item->param || item->fate == FATE_UNUSED || item->fate == FATE_PASSED);
			need(!item->tensor || !item->param || item->tensor->count == item->param->count);
		}
		need(map.mapped + map.missing <= (size_t)p.count && map.unused <= s->count);
		mapping_release(&map);
	}
	params_release(&p);
	config_release(&c);
}

static void walk(const struct safetensors *s, size_t size)
{
	uint64_t at = 0;

	need(s->data_first + s->data_bytes == size);
	for (size_t i = 0; i < s->count; i++) {
		const struct safetensor *t = &s->items[i];
		unsigned char *bytes = malloc((size_t)t->bytes + 1);
		char shape[64];

		need(t->first == at && bytes && !safetensors_read(s, t, 0, bytes, (size_t)t->bytes));
		need(safetensors_read(s, t, 1, bytes, (size_t)t->bytes) == -1);
		safetensors_shape(t, shape, sizeof(shape));
		need(strcmp(safetensors_find(s, t->name)->name, t->name) == 0);
		at += t->bytes;
		free(bytes);
	}
	need(at == s->data_bytes);
	walk_mapping(s);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	const int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct safetensors *s;
	char path[64];

	need(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!safetensors_open(&s, path))
		walk(s, size);
	else
		need(err_code() != EXIT_DONE);
	safetensors_close(s);
	close(fd);
	return 0;
}
