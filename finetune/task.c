/* task.c - the table of tasks. */
#include "finetune/task.h"

#include "base/err.h"

#include <string.h>

#define TASK(name) extern const struct task task_##name;
#include "finetune/tasks.def"
#undef TASK

static const struct task *const tasks[] = {
#define TASK(name) &task_##name,
#include "finetune/tasks.def"
#undef TASK
};
#define N_TASKS (sizeof(tasks) / sizeof(tasks[0]))

const struct task *task_find(const char *name)
{
	char names[256] = "";

	for (size_t i = 0; i < N_TASKS; i++) {
		if (!strcmp(name, tasks[i]->name))
			return tasks[i];
		snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s", i ? ", " : "", tasks[i]->name);
	}
	err_usage("no task is named '%s'; there is %s", name, names);
	return NULL;
}
