/* tables.h - the generated tables, for chars.c only. */
#ifndef TOKENIZER_TABLES_TABLES_H
#define TOKENIZER_TABLES_TABLES_H

#include "tokenizer/chars.h"

extern const struct chars chars_google_14_0, chars_google_15_0, chars_hf_table;

#endif
