/* bert-eval - the metrics of a task: predictions against gold labels. */
#include "base/args.h"
#include "base/err.h"
#include "base/log.h"
#include "base/report.h"
#include "base/tool.h"
#include "finetune/task.h"

struct options {
	struct args_common common;
	const char *task, *gold, *predictions;
	struct task_opts file;
};

static int work(struct options *o, json_int_t *examples)
{
	const struct task *task;
	json_t *metrics;
	int rc;

	if (!o->task)
		return err_usage("no task; name one with --task");
	if (!strcmp(o->gold, "-") && !strcmp(o->predictions, "-"))
		return err_usage("standard input ('-') is given twice");
	task = task_find(o->task);
	o->file.threads = (unsigned)o->common.threads;
	if (!task || task->score(&o->file, o->gold, o->predictions, &metrics))
		return -1;
	report_warn(metrics);
	rc = report_write(metrics, o->common.output, 15);
	*examples = json_integer_value(json_object_get(metrics, "examples"));
	json_decref(metrics);
	return rc;
}

int main(int argc, char **argv)
{
	static struct options o = { .file = TASK_OPTS_DEFAULT };
	const struct arg table[] = {
		ARG_STR("task", 0, &o.task, "NAME", "what was predicted: classify"),
		ARG_STR("label", 0, &o.file.label, "NAME", "the column of the label in GOLD"),
		ARG_FLAG("no-header", 0, &o.file.no_header, "GOLD has no header; its first column is the label"),
		ARG_COMMON(&o.common),
		ARG_END
	};
	struct args a = { .synopsis = "bert-eval [options] --task NAME GOLD PREDICTIONS",
			  .about = "Measures predictions against gold labels and prints the task's official metrics as JSON.",
			  .table = table, .common = &o.common, .min_operands = 2, .max_operands = 2 };
	const int rc = args_parse(&a, argc, argv);
	json_int_t examples = 0;

	if (rc != ARGS_RUN)
		return rc;
	tool_start();
	o.gold = a.operands[0];
	o.predictions = a.operands[1];
	if (work(&o, &examples))
		return tool_fail();
	return tool_finish("%" JSON_INTEGER_FORMAT " examples", examples);
}
