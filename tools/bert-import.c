/* bert-import - other programs' instances to shards. */
#include "base/args.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/fs.h"
#include "base/tool.h"
#include "shards/export.h"
#include "shards/folder.h"
#include "shards/import.h"

#include <inttypes.h>

static struct import i = { .compress = 1, .name = "shard", .made_by = "berttools " BERTTOOLS_VERSION };
static struct args_common common;
static uint64_t compress = 1;

static const struct arg table[] = {
	ARG_STR("vocab", 0, &i.tokenizer.vocab, "FILE", "the vocabulary that the files were made with, one token a line"),
	ARG_ALIAS("vocab-file", "vocab"),
	ARG_FLAG("cased", 0, &i.tokenizer.cased, "they were not lower-cased"),
	ARG_ALIAS("do-lower-case", "!cased"),
	ARG_STR("model", 0, &i.tokenizer.model, "DIR", "a model directory, in place of --vocab and --cased"),
	ARG_CHOICE("pairs", 0, &i.pairs, "auto|nsp|sop|none", "what the next sentence labels mean"),
	ARG_STR("name", 0, &i.name, "WORD", "first word of the shards' names"),
	ARG_UINT("compress", 0, &compress, 0, 19, "LEVEL", "zstd level; 0: not packed"),
	ARG_COMMON_FOLDER(&common),
	ARG_END
};

/* The files to read, which live until the program ends. */
static struct {
	const char **items;
	size_t n, cap;
} files;

static int add_file(const char *path)
{
	if (array_grow(&files.items, &files.cap, files.n + 1, sizeof(*files.items)))
		return -1;
	files.items[files.n++] = path;
	return 0;
}

/* What is in FOLDER, but for what bert-export and others keep there of their own. */
static int add_folder(const char *folder)
{
	const size_t before = files.n;
	char **names;
	size_t n;
	int rc = 0;

	if (fs_list(folder, &names, &n))
		return -1;
	for (size_t k = 0; k < n && !rc; k++) {
		char *path;

		if (names[k][0] == '.' || !strcmp(names[k], EXPORT_MANIFEST))
			continue;
		path = fs_join(folder, names[k]);
		rc = path ? add_file(path) : -1;
	}
	fs_free_names(names, n);
	return rc || files.n > before ? rc : err_fail("'%s' holds no files", folder);
}

static int list_files(const struct args *a)
{
	for (int k = 0; k < a->n_operands; k++)
		if (folder_is(a->operands[k]) ? add_folder(a->operands[k]) : add_file(a->operands[k]))
			return -1;
	i.files = files.items;
	i.n = files.n;
	return 0;
}

static int check_options(const struct args *a)
{
	if (!i.tokenizer.vocab == !i.tokenizer.model)
		return err_usage("give --vocab FILE or --model DIR");
	if (!i.folder)
		return err_usage("give the folder to write into: -o DIR");
	if (!strcmp(i.folder, "-"))
		return err_usage("shards are files: -o - is no folder to write them into");
	if (!*i.name || *i.name == '.' || strchr(i.name, '/') || strlen(i.name) > 200)
		return err_usage("--name '%s' is no good name for files", i.name);
	for (int k = 0; k < a->n_operands; k++)
		if (!strcmp(a->operands[k], "-"))
			return err_usage("files are read several times: standard input cannot be");
	return 0;
}

int main(int argc, char **argv)
{
	struct args a = { .synopsis = "bert-import (--vocab FILE [--cased] | --model DIR) -o DIR [options] FILE...",
			  .about = "Makes shards of TFRecord and HDF5 files of pretraining instances.",
			  .table = table, .common = &common, .min_operands = 1, .max_operands = 1000000 };
	static struct progress progress;
	int rc = args_parse(&a, argc, argv);

	if (rc != ARGS_RUN)
		return rc;
	tool_start();
	i.folder = common.output;
	i.compress = (unsigned)compress;
	i.threads = (unsigned)common.threads;
	i.progress = &progress;
	if (check_options(&a) || list_files(&a) || import_run(&i))
		return tool_fail();
	return tool_finish("%" PRIu64 " instances, %zu shards, %" PRIu64 " there already", i.instances, i.n, i.kept);
}
