/* file_sum.h - how long a file is, and its XXH3-64: what a manifest says of it. */
#ifndef TRAINER_FILE_SUM_H
#define TRAINER_FILE_SUM_H

#include <stdint.h>

struct file_sum {
	uint64_t bytes, xxh3;
};

int file_sum(const char *path, struct file_sum *s);

#endif
