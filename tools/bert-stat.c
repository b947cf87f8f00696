/* bert-stat - what is in shards and token documents, with warnings. */
#include "base/args.h"
#include "base/err.h"
#include "base/log.h"
#include "base/report.h"
#include "base/tool.h"
#include "shards/folder.h"
#include "shards/stats.h"

#include <inttypes.h>

struct options {
	struct args_common common;
	const char *vocab;
};

static int count_all(struct stats *s, const char *const *paths, int n)
{
	struct scan_progress progress = { .records = 0 };
	int rc = 0;

	progress_start(&progress.line, "records", folder_bytes(paths, n));
	s->progress = &progress;
	for (int k = 0; !rc && k < n; k++)
		rc = stats_add(s, paths[k]);
	s->progress = NULL;
	progress_end(&progress.line);
	return rc;
}

static int work(const struct options *o, struct stats *s, const char *const *paths, int n)
{
	json_t *result = count_all(s, paths, n) ? NULL : stats_json(s);
	int rc = -1;

	if (result)
		rc = report_write(result, o->common.output, 6);
	if (!rc)
		report_warn(result);
	json_decref(result);
	return rc;
}

int main(int argc, char **argv)
{
	static struct options o;
	const struct arg table[] = { ARG_STR("vocab", 0, &o.vocab, "FILE",
					     "the vocabulary (default: vocab.txt beside each file)"),
				     ARG_COMMON(&o.common), ARG_END };
	struct args a = { .synopsis = "bert-stat [options] [PATH...]",
			  .about = "Counts what is in shards and token documents, and warns of what looks wrong.",
			  .table = table, .common = &o.common, .max_operands = -1 };
	const char *const standard_input = "-";
	struct stats s = { .threads = 1 };
	int rc = args_parse(&a, argc, argv);

	if (rc != ARGS_RUN)
		return rc;
	tool_start();
	s.threads = (unsigned)o.common.threads;
	s.vocab_path = o.vocab;
	rc = a.n_operands ? work(&o, &s, a.operands, a.n_operands) : work(&o, &s, &standard_input, 1);
	stats_release(&s);
	if (rc)
		return tool_fail();
	return tool_finish("%" PRIu64 " files, %" PRIu64 " documents, %" PRIu64 " instances", s.sum.counts.files,
			   s.sum.counts.documents, s.sum.counts.instances);
}
