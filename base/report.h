/*
 * report.h - a program's report: one JSON object, indented. For tools.
 *
 *	if (report_write(o, path, 6))		(NULL or "-": standard output)
 *		return -1;
 *	report_warn(o);				(what stands in its "warnings", to stderr too)
 *
 * Libraries do not print; what they have to say to a user stands in the object's
 * list "warnings".
 */
#ifndef BASE_REPORT_H
#define BASE_REPORT_H

#include <jansson.h>

/* Numbers with so many DIGITS. O NULL fails, leaving the reason as it is. */
int report_write(const json_t *o, const char *path, int digits);
void report_warn(const json_t *o);

#endif
