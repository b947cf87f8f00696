/* bert-convert - model directories into the form that transformers saves today. */
#include "base/args.h"
#include "base/err.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/out.h"
#include "base/tool.h"
#include "model/model_host.h"
#include "model/resize.h"
#include "tokenizer/tokenizer_config.h"
#include "tokenizer/vocab_change.h"

#include <inttypes.h>

#define VOCAB_BYTES ((size_t)256 << 20)	/* of a vocabulary at most, as vocab_load has it */

struct options {
	struct args_common common;
	const char *from, *to;		/* TO NULL: only the table is wanted */
	const char *resize_vocab;	/* NULL: the vocabulary stays */
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
	int rc = out_open(&out, NULL);

	for (size_t i = 0; i < map->count && !rc; i++)
		rc = print_match(out, &map->items[i]);
	if (!rc)
		rc = out_commit(out);
	if (rc)
		out_discard(out);
	return rc;
}

/* --- another vocabulary ------------------------------------------------------------------- */

/* The two vocabularies, and the way from one to the other. */
struct change {
	struct vocab *old, *new;
	struct vocab_change tokens;
};

static int change_open(struct change *c, const struct options *o)
{
	char *path = fs_join(o->from, "vocab.txt");
	const int rc = path && !vocab_load(&c->old, path) && !vocab_load(&c->new, o->resize_vocab) ? 0 : -1;

	free(path);
	return rc || vocab_change_make(&c->tokens, c->old, c->new) ? -1 : 0;
}

static void change_close(struct change *c)
{
	vocab_change_release(&c->tokens);
	vocab_free(c->new);
	vocab_free(c->old);
}

/* A token of the new vocabulary that the old one lacks: its fate, the pieces that it is the mean of, the token. */
static int print_new(struct out *out, const struct change *c, uint32_t i)
{
	const struct vocab_change *t = &c->tokens;

	if (t->origins[i] == TOKEN_COPIED)
		return 0;
	if (out_printf(out, "%s\t", t->origins[i] == TOKEN_AVERAGED ? "averaged" : "unknown"))
		return -1;
	for (size_t k = i ? t->ends[i - 1] : 0, first = k; k < t->ends[i]; k++)
		if (out_printf(out, "%s%s", k > first ? " " : "", vocab_token(c->old, t->pieces.items[k], NULL)))
			return -1;
	return out_printf(out, "\t%s\t-\t-\n", vocab_token(c->new, i, NULL));
}

/* The lines of the table that tell of tokens. */
static int print_tokens(const struct change *c)
{
	struct out *out;
	int rc = out_open(&out, NULL);

	if (!rc)
		rc = out_printf(out, "copied\t%zu tokens\t%zu tokens\t-\t-\n", c->tokens.counts[TOKEN_COPIED], c->tokens.counts[TOKEN_COPIED]);
	for (uint32_t i = 0; i < vocab_size(c->new) && !rc; i++)
		rc = print_new(out, c, i);
	for (uint32_t id = 0; id < vocab_size(c->old) && !rc; id++)
		if (vocab_change_drops(c->old, c->new, id))
			rc = out_printf(out, "dropped\t%s\t-\t-\t-\n", vocab_token(c->old, id, NULL));
	if (!rc)
		rc = out_commit(out);
	if (rc)
		out_discard(out);
	return rc;
}

/* What a tokenizer needs, with the new vocabulary; files that hold the old one in forms of their own are left out. */
static int write_tokenizer(const struct options *o, const struct change *c)
{
	static const char *const stale[] = { "tokenizer.json", "added_tokens.json" };
	char *config = fs_join(o->from, "tokenizer_config.json"), *to_config = fs_join(o->to, "tokenizer_config.json");
	char *vocab = fs_join(o->to, "vocab.txt");
	struct buf text = BUF_INIT;
	int rc = -1;

	if (config && to_config && vocab && !fs_make_folder(o->to) && !tokenizer_config_carry(config, to_config, c->new) &&
	    !model_dir_copy_file(o->from, o->to, "special_tokens_map.json") && !fs_read_all(o->resize_vocab, VOCAB_BYTES, &text))
		rc = fs_write_all(vocab, text.data, text.len);
	buf_release(&text);
	free(vocab);
	free(to_config);
	free(config);
	for (size_t i = 0; i < sizeof(stale) / sizeof(stale[0]) && !rc; i++) {
		char *path = fs_join(o->from, stale[i]);

		rc = path ? 0 : -1;
		if (path && fs_exists(path))
			log_warn("'%s' holds the old vocabulary, and is left out", path);
		free(path);
	}
	return rc;
}

static int write_resized(const struct options *o, const struct change *c, const struct model *m)
{
	const uint32_t pad = vocab_special(c->new).pad;
	const struct vocab_rows rows = { .pieces = c->tokens.pieces.items, .ends = c->tokens.ends, .count = vocab_size(c->new),
					 .pad_token_id = pad == VOCAB_NONE ? -1 : (int)pad };
	struct model resized;
	int rc = model_resize(&resized, m, &rows) || write_tokenizer(o, c) ? -1 : 0;

	if (!rc)
		rc = model_dir_save(&resized, o->to);
	model_release(&resized);
	return rc;
}

static int resize(const struct options *o, struct model_host *h)
{
	struct change c = { .old = NULL };
	int rc = change_open(&c, o) || print_tokens(&c) ? -1 : 0;

	if (!rc && o->to)
		rc = model_host_read(h) || write_resized(o, &c, &h->model) ? -1 : 0;
	change_close(&c);
	return rc;
}

/* --- all ------------------------------------------------------------------------------------ */

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
	if (o->to && check_target(o->to))
		return -1;
	if (o->resize_vocab)
		return resize(o, h);
	if (!o->to)
		return 0;
	if (model_host_read(h) || model_dir_copy_tokenizer(o->from, o->to))
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
		ARG_STR("resize-vocab", 0, &o.resize_vocab, "VOCAB", "give it this vocabulary: a new token's row is the mean of its old pieces' rows"),
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
