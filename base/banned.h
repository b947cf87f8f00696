/*
 * banned.h - functions that invite mistakes do not compile here. The Makefile
 * includes this file before every source of ours.
 */
#ifndef BASE_BANNED_H
#define BASE_BANNED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BANNED(name) banned_function_##name##_see_base_banned_h

#undef strcpy
#define strcpy(a, b) BANNED(strcpy)
#undef strcat
#define strcat(a, b) BANNED(strcat)
#undef strncpy
#define strncpy(a, b, n) BANNED(strncpy)
#undef strncat
#define strncat(a, b, n) BANNED(strncat)
#undef sprintf
#define sprintf(...) BANNED(sprintf)
#undef vsprintf
#define vsprintf(...) BANNED(vsprintf)
#undef strtok
#define strtok(a, b) BANNED(strtok)
#undef atoi
#define atoi(a) BANNED(atoi)
#undef atol
#define atol(a) BANNED(atol)
#undef atof
#define atof(a) BANNED(atof)
#undef gets
#define gets(a) BANNED(gets)
#undef rand
#define rand() BANNED(rand)
#undef srand
#define srand(a) BANNED(srand)

#endif
