/* bert-export - shards as the files that other trainers read. */
#include "base/args.h"
#include "base/err.h"
#include "base/tool.h"
#include "shards/export.h"
#include "shards/folder.h"

#include <inttypes.h>

struct options {
	struct args_common common;
	int to;
	const char *vocab;
	uint64_t epoch, compress, bin_size;
};

static int export_all(struct export *e, const char *const *paths, int n)
{
	struct scan_progress progress = { .records = 0 };
	int rc = 0;

	progress_start(&progress.line, "records", folder_bytes(paths, n));
	e->progress = &progress;
	for (int k = 0; k < n && !rc; k++)
		rc = export_path(e, paths[k]);
	progress_end(&progress.line);
	return rc ? rc : export_finish(e, "berttools " BERTTOOLS_VERSION);
}

static int check_options(const struct options *o)
{
	if (o->to < 0)
		return err_usage("say what to make: --to tfrecord, hdf5 or megatron");
	if (!o->common.output)
		return err_usage("give the folder to write into: -o DIR");
	if (o->bin_size && o->to == EXPORT_MEGATRON)
		return err_usage("--bin-size does not go with --to megatron, which pads nothing");
	if (args_given("epoch") && o->to == EXPORT_MEGATRON)
		return err_usage("--epoch does not go with --to megatron, which takes the masks out");
	return strcmp(o->common.output, "-") ? 0 : err_usage("exports are files: -o - is no folder to write them into");
}

int main(int argc, char **argv)
{
	static struct options o = { .to = -1, .compress = 1 };
	const struct arg table[] = {
		ARG_CHOICE("to", 0, &o.to, "tfrecord|hdf5|megatron", "what to make"),
		ARG_UINT("epoch", 0, &o.epoch, 0, UINT32_MAX, "N", "dynamic masks as epoch N sees them; for no others"),
		ARG_STR("vocab", 0, &o.vocab, "FILE",
			"the vocabulary, for masks of whole words (default: vocab.txt beside the shard)"),
		ARG_UINT("compress", 0, &o.compress, 0, 9, "LEVEL", "gzip level of HDF5; 0: not packed"),
		ARG_UINT("bin-size", 0, &o.bin_size, 0, SHARD_MAX_SEQ_LENGTH, "N",
			 "a file for each length that is a multiple of N, padded to that only; 0: one for all"),
		ARG_COMMON_FOLDER(&o.common),
		ARG_END
	};
	struct args a = { .synopsis = "bert-export --to tfrecord|hdf5|megatron -o DIR [options] PATH...",
			  .about = "Writes shards as the files that other trainers read.",
			  .table = table, .common = &o.common, .min_operands = 1, .max_operands = -1 };
	struct export e = { .threads = 1 };
	int rc = args_parse(&a, argc, argv);

	if (rc != ARGS_RUN)
		return rc;
	tool_start();
	if (check_options(&o))
		return tool_fail();
	e.to = (enum export_form)o.to;
	e.folder = o.common.output;
	e.threads = (unsigned)o.common.threads;
	e.vocab_path = o.vocab;
	e.draws = args_given("epoch");
	e.epoch = o.epoch;
	e.compress = (unsigned)o.compress;
	e.bin_size = (uint32_t)o.bin_size;
	rc = export_all(&e, a.operands, a.n_operands);
	export_release(&e);
	if (rc)
		return tool_fail();
	return tool_finish("%" PRIu64 " files, %" PRIu64 " records", e.files, e.records);
}
