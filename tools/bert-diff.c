/* bert-diff - the first instance in which two sets of shards differ, and why. */
#include "base/args.h"
#include "base/err.h"
#include "base/out.h"
#include "base/tool.h"
#include "shards/compare.h"

#include <inttypes.h>

struct options {
	struct args_common common;
	const char *vocab;
	uint64_t epoch;
	bool unmasked, instances;
};

static int print(const struct compare *c, const char *path)
{
	struct out *out;

	if (out_open(&out, path))
		return -1;
	if (!out_write(out, c->text.data, c->text.len) && !out_commit(out))
		return 0;
	out_discard(out);
	return -1;
}

int main(int argc, char **argv)
{
	static struct options o;
	const struct arg table[] = {
		ARG_UINT("epoch", 0, &o.epoch, 0, UINT32_MAX, "N", "compare dynamic masks as epoch N sees them"),
		ARG_FLAG("instances", 0, &o.instances, "compare instances alone, not ids and titles of documents"),
		ARG_FLAG("unmasked", 0, &o.unmasked, "take masks out, and do not compare them"),
		ARG_STR("vocab", 0, &o.vocab, "FILE", "the vocabulary (default: vocab.txt beside A)"),
		ARG_COMMON(&o.common),
		ARG_END
	};
	struct args a = { .synopsis = "bert-diff [options] A B",
			  .about = "Says in which instance two sets of shards first differ, and why.",
			  .table = table, .common = &o.common, .min_operands = 2, .max_operands = 2 };
	static struct progress progress;
	struct compare c = { .progress = &progress };
	int rc = args_parse(&a, argc, argv);

	if (rc != ARGS_RUN)
		return rc;
	tool_start();
	c.a = a.operands[0];
	c.b = a.operands[1];
	c.vocab_path = o.vocab;
	c.draws = args_given("epoch");
	c.epoch = o.epoch;
	c.unmasked = o.unmasked;
	c.instances_only = o.instances;
	rc = compare_run(&c) || print(&c, o.common.output) ? tool_fail()
							   : tool_finish("%" PRIu64 " instances are the same", c.instances);
	if (!rc && !c.same)
		rc = EXIT_FAILED;
	compare_release(&c);
	return rc;
}
