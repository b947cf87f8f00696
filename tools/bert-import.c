/* bert-import - other programs' instances to shards. */
#include "base/args.h"
#include "base/err.h"
#include "base/tool.h"
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

static int check_options(void)
{
	if (!i.tokenizer.vocab == !i.tokenizer.model)
		return err_usage("give --vocab FILE or --model DIR");
	if (!i.folder)
		return err_usage("give the folder to write into: -o DIR");
	if (!strcmp(i.folder, "-"))
		return err_usage("shards are files: -o - is no folder to write them into");
	if (!*i.name || *i.name == '.' || strchr(i.name, '/') || strlen(i.name) > 200)
		return err_usage("--name '%s' is no good name for files", i.name);
	for (size_t k = 0; k < i.n; k++)
		if (!strcmp(i.files[k], "-"))
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
	i.files = a.operands;
	i.n = (size_t)a.n_operands;
	i.compress = (unsigned)compress;
	i.threads = (unsigned)common.threads;
	i.progress = &progress;
	if (check_options() || import_run(&i))
		return tool_fail();
	return tool_finish("%" PRIu64 " instances, %zu shards, %" PRIu64 " there already", i.instances, i.n, i.kept);
}
