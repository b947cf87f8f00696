/*
 * records.h - what a file holds, one by one: a dump's pages, a book, the
 * documents of a text stream, the lines of a JSON lines file. Raw: what they are turned
 * into is extract.c's.
 *
 *	struct records *r;
 *	if (records_open(&r, path, RECORD_AUTO, threads, &site))
 *		return -1;
 *	while ((rc = records_next(r, &record)) > 0)
 *		...				(good until the next call)
 *	records_close(r);			(accepts NULL)
 *
 * RECORD_AUTO looks at the first bytes: a tag or UTF-16 makes a dump (whose
 * reader refuses other XML, and HTML), "Project Gutenberg" a book (as does a mark of its
 * beginning on one of the first hundred lines), '{' before '"' JSON lines, anything else is text.
 */
#ifndef CORPUS_RECORDS_H
#define CORPUS_RECORDS_H

#include "corpus/span.h"
#include "corpus/wiki_site.h"

#include <stdbool.h>
#include <stdint.h>

enum record_kind { RECORD_AUTO, RECORD_MEDIAWIKI, RECORD_GUTENBERG, RECORD_TEXT, RECORD_JSONL };	/* as --from has them */
#define RECORD_KINDS "auto|mediawiki|gutenberg|text|jsonl"

struct record {
	struct span id, title;		/* empty where the record does not say */
	struct span text;		/* wikitext, a book's bytes, lines of a document, a line of JSON */
	uint64_t line;			/* number of that line, from 1 */
};

struct record_counts {			/* what was read so far; added to */
	uint64_t pages;			/* of dumps */
	uint64_t redirects, other_namespaces, other_models;	/* of these, not given */
	uint64_t repaired;		/* bad bytes made U+FFFD */
};

struct records;

/* SITE is filled by a dump, and must outlive the reader and the use of its records. */
int records_open(struct records **r, const char *path, enum record_kind kind, unsigned threads, struct wiki_site *site);
enum record_kind records_kind(const struct records *r);			/* what AUTO found */
int records_next(struct records *r, struct record *record, struct record_counts *counts);	/* 1, 0 at the end, -1 failed */
uint64_t records_offset(const struct records *r);			/* bytes on disk read, for progress */
void records_close(struct records *r);

#endif
