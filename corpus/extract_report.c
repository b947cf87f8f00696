#include "base/err.h"
#include "corpus/extract.h"
#include "base/jsonl.h"

#include <inttypes.h>
#include <stdlib.h>

#define NAMES_MAX ((size_t)1 << 20)	/* names of templates counted one by one: some 100 MB */
#define NAMES_TOLD 200

static int add_names(struct extract_report *report, struct span names)
{
	while (names.len) {
		const size_t n = span_find(names, '\n');
		uint64_t *count = NULL;

		report->templates_total++;
		if (report->templates.count < NAMES_MAX || map_get(&report->templates, names.text, n)) {
			count = map_put(&report->templates, names.text, n);
			if (!count)
				return -1;
			++*count;
		} else {
			report->templates_other++;
		}
		names = span_skip(names, n + 1);
	}
	return 0;
}

int extract_report_add(struct extract_report *r, const struct extract_report *part)
{
	r->in.pages += part->in.pages;
	r->in.redirects += part->in.redirects;
	r->in.other_namespaces += part->in.other_namespaces;
	r->in.other_models += part->in.other_models;
	r->in.repaired += part->in.repaired;
	r->articles += part->articles;
	r->characters_in += part->characters_in;
	r->documents += part->documents;
	r->empty += part->empty;
	r->paragraphs += part->paragraphs;
	r->characters_out += part->characters_out;
	r->dropped.templates += part->dropped.templates;
	r->dropped.references += part->dropped.references;
	r->dropped.tables += part->dropped.tables;
	r->dropped.lists += part->dropped.lists;
	r->dropped.sections += part->dropped.sections;
	return add_names(r, (struct span){ part->dropped.dropped.data, part->dropped.dropped.len });
}

/* Most often first, then by name. */
static int compare_counts(const void *a, const void *b)
{
	const struct map_entry *x = *(const struct map_entry *const *)a, *y = *(const struct map_entry *const *)b;

	if (x->value != y->value)
		return x->value > y->value ? -1 : 1;
	return strcmp(x->key, y->key);
}

static int put_templates(const struct extract_report *r, struct buf *b)
{
	const struct map_entry **sorted = calloc(r->templates.count + 1, sizeof(const struct map_entry *));
	int rc;

	if (!sorted)
		return err_memory();
	for (size_t i = 0; i < r->templates.count; i++)
		sorted[i] = &r->templates.entries[i];
	qsort(sorted, r->templates.count, sizeof(const struct map_entry *), compare_counts);
	rc = buf_addf(b, "  \"templates_dropped\": {\n    \"total\": %" PRIu64 ",\n    \"names\": %zu,\n    \"top\": [",
		      r->templates_total, r->templates.count);
	for (size_t i = 0; !rc && i < r->templates.count && i < NAMES_TOLD; i++) {
		rc = buf_adds(b, i ? ",\n      {\"name\": " : "\n      {\"name\": ");
		rc = rc || jsonl_put_string(b, (struct jsonl_text){ sorted[i]->key, sorted[i]->len });
		rc = rc || buf_addf(b, ", \"count\": %" PRIu64 "}", sorted[i]->value);
	}
	free(sorted);
	return rc || buf_adds(b, r->templates.count ? "\n    ]\n  }\n" : "]\n  }\n") ? -1 : 0;
}

static int put_report(const struct extract_report *r, struct buf *b)
{
	const double lost = r->characters_in ? 1.0 - (double)r->characters_out / (double)r->characters_in : 0.0;
	const struct { const char *name; uint64_t value; } counts[] = {
		{ "pages", r->in.pages }, { "redirects", r->in.redirects }, { "other_namespaces", r->in.other_namespaces },
		{ "other_models", r->in.other_models }, { "articles", r->articles }, { "empty", r->empty },
		{ "documents", r->documents }, { "paragraphs", r->paragraphs }, { "repaired", r->in.repaired },
		{ "characters_in", r->characters_in }, { "characters_out", r->characters_out },
	};

	if (buf_adds(b, "{\n"))
		return -1;
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		if (buf_addf(b, "  \"%s\": %" PRIu64 ",\n", counts[i].name, counts[i].value))
			return -1;
	if (buf_addf(b, "  \"share_lost\": %.4f,\n", lost < 0 ? 0.0 : lost) ||
	    buf_addf(b,
		     "  \"characters_dropped\": {\"templates\": %" PRIu64 ", \"references\": %" PRIu64 ", \"tables\": %" PRIu64
		     ", \"lists\": %" PRIu64 ", \"sections\": %" PRIu64 "},\n",
		     r->dropped.templates, r->dropped.references, r->dropped.tables, r->dropped.lists, r->dropped.sections) ||
	    put_templates(r, b))
		return -1;
	return buf_adds(b, "}\n");
}

int extract_report_write(const struct extract_report *report, struct out *out)
{
	struct buf b = BUF_INIT;
	const int rc = put_report(report, &b) || out_write(out, b.data, b.len) ? -1 : 0;

	buf_release(&b);
	return rc;
}

void extract_report_release(struct extract_report *report)
{
	map_release(&report->templates);
	buf_release(&report->dropped.dropped);
}
