/* bert-verify - whether shards, folders of them, token documents and checkpoints are what they say. */
#include "base/args.h"
#include "base/err.h"
#include "base/log.h"
#include "base/out.h"
#include "base/tool.h"
#include "shards/folder.h"
#include "shards/verify.h"
#include "trainer/checkpoint.h"

#include <inttypes.h>

struct options {
	struct args_common common;
	const char *vocab;
	struct arg_list absent;
	uint64_t memory;
};

struct printer {
	struct out *out;
	bool quiet, failed;
	struct err reason;		/* of the failure */
};

/* One line a file; what could not be read is an error too. A line that did not get out is the program's failure, whatever follows. */
static void say(void *ctx, const char *name, enum verify_verdict verdict, const char *text)
{
	static const char *const words[] = { "ok, ", "fault: ", "" };
	struct printer *p = ctx;

	if (p->failed || (p->quiet && verdict == VERIFY_GOOD))
		return;
	log_status(NULL);
	if (verdict == VERIFY_UNREAD)
		log_error("%s: %s", name, text);
	p->failed = out_printf(p->out, "%s: %s%s\n", name, words[verdict], text) || out_flush(p->out);
	if (p->failed)
		err_get(&p->reason);
}

static int parse_keys(const struct arg_list *texts, struct key **keys)
{
	*keys = calloc(texts->count + 1, sizeof(**keys));
	if (!*keys)
		return err_memory();
	for (size_t k = 0; k < texts->count; k++)
		if (key_parse(texts->items[k], &(*keys)[k]))
			return -1;
	return 0;
}

static int verify_all(struct verify *v, const struct options *o, const char *const *paths, int n)
{
	struct printer p = { .quiet = o->common.quiet };
	struct scan_progress progress = { .records = 0 };
	struct key *absent = NULL;
	int rc = -1;

	if (parse_keys(&o->absent, &absent) || out_open(&p.out, o->common.output))
		goto done;
	v->absent = absent;
	v->n_absent = o->absent.count;
	v->progress = &progress;
	v->say = say;
	v->ctx = &p;
	progress_start(&progress.line, "records", folder_bytes(paths, n));
	for (int k = 0; k < n && !p.failed; k++)
		if (!checkpoint_verify_path(v, paths[k]))
			verify_path(v, paths[k]);
	progress_end(&progress.line);
	rc = p.failed ? err_put(&p.reason) : out_commit(p.out);
	if (!rc)
		p.out = NULL;
done:
	out_discard(p.out);
	free(absent);
	return rc;
}

static int conclude(const struct verify *v)
{
	if (v->faults)
		return err_corrupt("faults in %" PRIu64 " of %" PRIu64 " files", v->faults, v->files);
	return v->unread ? err_fail("%" PRIu64 " of %" PRIu64 " files could not be read", v->unread, v->files) : 0;
}

int main(int argc, char **argv)
{
	static struct options o = { .memory = VERIFY_MEMORY };
	const struct arg table[] = { ARG_STR("vocab", 0, &o.vocab, "FILE",
					     "the vocabulary (default: vocab.txt beside each file)"),
				     ARG_LIST("absent", 0, &o.absent, "KEY",
					      "the document with this key must not be in; may be given often"),
				     ARG_SIZE("memory", 0, &o.memory, 1 << 20, UINT64_C(1) << 50, "memory to draw the instances of a shard in again"),
				     ARG_COMMON(&o.common), ARG_END };
	struct args a = { .synopsis = "bert-verify [options] [PATH...]",
			  .about =
				  "Checks every byte and every claim of shards, folders of shards, token documents and checkpoints.",
			  .table = table,
			  .common = &o.common,
			  .max_operands = -1 };
	const char *const standard_input = "-";
	struct verify v = { .faults = 0 };
	int rc = args_parse(&a, argc, argv);

	if (rc != ARGS_RUN)
		return rc;
	tool_start();
	v.threads = (unsigned)o.common.threads;
	v.vocab_path = o.vocab;
	v.memory = o.memory;
	rc = a.n_operands ? verify_all(&v, &o, a.operands, a.n_operands) : verify_all(&v, &o, &standard_input, 1);
	verify_release(&v);
	if (rc || conclude(&v))
		return tool_fail();
	return tool_finish("%" PRIu64 " files, no faults", v.files);
}
