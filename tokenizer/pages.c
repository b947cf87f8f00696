#include "tokenizer/pages.h"

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>

#define HUGE_PAGE ((size_t)2 << 20)

int pages_map(struct pages *p, size_t bytes)
{
	const bool huge = bytes >= HUGE_PAGE;

	*p = (struct pages){ .size = bytes + (huge ? HUGE_PAGE : 0) };
	p->memory = mmap(NULL, p->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p->memory == MAP_FAILED) {
		*p = (struct pages){ 0 };
		return err_memory();
	}
	p->start = p->memory;
	if (huge) {
		p->start = (char *)p->memory + (-(uintptr_t)p->memory & (HUGE_PAGE - 1));
		(void)madvise(p->start, bytes, MADV_HUGEPAGE); /* advice: nothing depends on it */
	}
	return 0;
}

void pages_unmap(struct pages *p)
{
	if (p->memory)
		munmap(p->memory, p->size);
	*p = (struct pages){ 0 };
}
