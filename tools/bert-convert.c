/* bert-convert - model directories into the form that transformers saves today. */
#include "base/args.h"
#include "base/err.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/out.h"
#include "base/tool.h"
#include "model/model_host.h"

struct options {
	struct args_common common;
	const char *from, *to;		/* TO NULL: only the table is wanted */
	int head;
	bool drop_unused;
};

/* A line of the table: fate, name in FROM, name in TO, dtype, shape. */
static int print_match(struct out *out, const struct match *item)
{
	const struct safetensor *t = item->tensor;
	char shape[128] = "-";

	if (t)
		safetensors_shape(t, shape, sizeof(shape));
	return out_printf(out, "%s\t%s\t%s\t%s\t%s\n", mapping_word(item->fate), t ? t->name : "-",
			  item->param ? item->param->name : "-", t ? safetensors_dtype_name(t->dtype) : "-", shape);
}

static int print_table(const struct mapping *map)
{
	struct out *out;

	if (out_open(&out, NULL))
		return -1;
	for (size_t i = 0; i < map->count; i++)
		if (print_match(out, &map->items[i])) {
			out_discard(out);
			return -1;
		}
	if (out_commit(out)) {
		out_discard(out);
		return -1;
	}
	return 0;
}

/* TO must not be a model already: files of two would mix. */
static int check_target(const char *folder)
{
	static const char *const names[] = { MODEL_DIR_CONFIG, MODEL_DIR_WEIGHTS };

	for (int i = 0; i < 2; i++) {
		char *path = fs_join(folder, names[i]);
		const bool there = path && fs_exists(path);

		free(path);
		if (!path)
			return -1;
		if (there)
			return err_fail("'%s' holds a model already", folder);
	}
	return 0;
}

static int check_unused(const struct options *o, const struct model_source *s, const struct model *m)
{
	if (!s->map.unused || o->drop_unused || o->head != HEAD_UNSAID)
		return 0;
	return err_fail("%zu tensors of '%s' are not a %s's; say --drop-unused, or with --head which model it is",
			s->map.unused, o->from, head_infos[m->config.head].architecture);
}

static int convert(const struct options *o, struct model_host *h)
{
	const struct model_source *s = h->source;

	if (print_table(&s->map) || model_dir_check(s, &h->model, false) || check_unused(o, s, &h->model))
		return -1;
	if (!o->to)
		return 0;
	if (check_target(o->to) || model_host_read(h) || model_dir_copy_tokenizer(o->from, o->to))
		return -1;
	return model_dir_save(&h->model, o->to);
}

static int run(const struct options *o, size_t *tensors)
{
	struct model_host h;
	int rc;

	if (model_host_open(&h, &(struct model_host_opts){ .backend = "ref", .threads = 1, .folder = o->from, .head = (enum head)o->head }))
		return -1;
	*tensors = h.source->map.mapped;
	rc = convert(o, &h);
	model_host_close(&h);
	return rc;
}

int main(int argc, char **argv)
{
	static struct options o = { .head = HEAD_UNSAID };
	const struct arg table[] = {
		ARG_CHOICE("head", 0, &o.head, HEAD_WORDS, "make it a model with this head (default: as config.json says)"),
		ARG_FLAG("drop-unused", 0, &o.drop_unused, "leave out tensors that the model does not have, instead of failing"),
		ARG_COMMON_NO_OUTPUT(&o.common),
		ARG_END
	};
	struct args a = { .synopsis = "bert-convert [options] FROM [TO]",
			  .about = "Writes a model directory anew, in fp32 under today's names, and tells what became of each tensor.",
			  .table = table, .common = &o.common, .min_operands = 1, .max_operands = 2 };
	const int rc = args_parse(&a, argc, argv);
	size_t tensors = 0;

	if (rc != ARGS_RUN)
		return rc;
	tool_start();
	o.from = a.operands[0];
	o.to = a.n_operands > 1 ? a.operands[1] : NULL;
	if (run(&o, &tensors))
		return tool_fail();
	return tool_finish("%zu tensors", tensors);
}
