#include "corpus/split.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/fs.h"
#include "base/out.h"
#include "base/rng.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_REST 1e-9		/* of a sum of fractions: less is rounding, not documents */

struct part {
	char *name;
	double end;		/* of its interval; it begins where the one before ends */
	struct out *out;
	uint64_t documents, bytes;
};

struct split {
	uint64_t seed;
	size_t n;
	struct part *parts;	/* in the order given, SPLIT_REST last */
};

static int check_name(const struct split *s, const char *name)
{
	if (!*name)
		return err_usage("a split has no name");
	for (const char *p = name; *p; p++)
		if (*p == '/' || (unsigned char)*p < ' ' || *p == 0x7F)
			return err_usage("a split cannot be named '%s': its name is part of a file's name", name);
	if (*name == '.')
		return err_usage("a split cannot be named '%s': its file would be hidden", name);
	if (strcmp(name, SPLIT_REST) == 0)
		return err_usage("a split cannot be named '%s': that is where all other documents go", name);
	for (size_t i = 0; i < s->n; i++)
		if (strcmp(s->parts[i].name, name) == 0)
			return err_usage("two splits are named '%s'", name);
	return 0;
}

/* Adds a split; -1 with the reason set. */
static int add_part(struct split *s, const char *name, size_t len, double end)
{
	struct part *p = &s->parts[s->n];

	p->name = strndup(name, len);
	if (!p->name)
		return err_memory();
	if (end < 1 && check_name(s, p->name)) {
		free(p->name);
		return -1;
	}
	p->end = end;
	s->n++;
	return 0;
}

static int read_spec(struct split *s, const char *spec)
{
	const double begin = s->n ? s->parts[s->n - 1].end : 0;
	const char *equals = strrchr(spec, '=');
	double fraction;
	char *end;

	if (!equals)
		return err_usage("split '%s' is not NAME=FRACTION", spec);
	errno = 0;
	fraction = strtod(equals + 1, &end);
	if (end == equals + 1 || *end || errno || !(fraction > 0 && fraction < 1))
		return err_usage("split '%s': '%s' is not a fraction between 0 and 1", spec, equals + 1);
	if (begin + fraction > 1 - LEAST_REST)
		return err_usage("split '%s': the fractions leave nothing for '%s'", spec, SPLIT_REST);
	return add_part(s, spec, (size_t)(equals - spec), begin + fraction);
}

int split_open(struct split **out, const char *const *specs, size_t n, uint64_t seed)
{
	struct split *s = calloc(1, sizeof(*s));

	*out = NULL;
	if (!s)
		return err_memory();
	s->seed = seed;
	s->parts = calloc(n + 1, sizeof(*s->parts));
	if (!s->parts) {
		err_memory();
		goto fail;
	}
	for (size_t i = 0; i < n; i++)
		if (read_spec(s, specs[i]))
			goto fail;
	if (add_part(s, SPLIT_REST, strlen(SPLIT_REST), 1))
		goto fail;
	*out = s;
	return 0;
fail:
	split_close(s);
	return -1;
}

void split_close(struct split *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++) {
		out_discard(s->parts[i].out);
		free(s->parts[i].name);
	}
	free(s->parts);
	free(s);
}

size_t split_count(const struct split *s)
{
	return s->n;
}

const char *split_name(const struct split *s, size_t i)
{
	return s->parts[i].name;
}

uint64_t split_documents(const struct split *s, size_t i)
{
	return s->parts[i].documents;
}

uint64_t split_bytes(const struct split *s, size_t i)
{
	return s->parts[i].bytes;
}

size_t split_of(const struct split *s, struct key key)
{
	struct rng r;
	double draw;
	size_t i = 0;

	rng_open(&r, s->seed, RNG_SPLIT, key.hi, key.lo, 0, 0, 0);
	draw = (double)(rng_u64(&r) >> 11) * 0x1p-53;
	while (i + 1 < s->n && draw >= s->parts[i].end)
		i++;
	return i;
}

static int open_parts(struct split *s, const char *folder)
{
	if (fs_make_folder(folder) || out_remove_stale(folder))
		return -1;
	for (size_t i = 0; i < s->n; i++) {
		struct part *p = &s->parts[i];
		struct buf path = BUF_INIT;
		int rc;

		p->documents = p->bytes = 0;
		rc = buf_addf(&path, "%s/%s.txt", folder, p->name) || out_open(&p->out, path.data) ? -1 : 0;
		buf_release(&path);
		if (rc)
			return -1;
	}
	return 0;
}

static int write_documents(struct split *s, struct lines *lines, struct progress *progress)
{
	struct document doc = DOCUMENT_INIT;
	uint64_t documents = 0, total;
	int rc;

	while ((rc = lines_next_document(lines, &doc)) > 0) {
		struct part *p = &s->parts[split_of(s, doc.key)];

		rc = out_write(p->out, doc.text.data, doc.text.len) || out_write(p->out, "\n", 1) ? -1 : 0;
		if (rc)
			break;
		documents++;
		p->documents++;
		p->bytes += doc.text.len;
		if (progress)
			progress_update(progress, documents, lines_progress(lines, &total));
	}
	document_release(&doc);
	if (!rc && !documents)
		rc = err_fail("no documents were found");
	return rc;
}

static int commit_parts(struct split *s)
{
	for (size_t i = 0; i < s->n; i++) {
		if (out_commit(s->parts[i].out))
			return -1;
		s->parts[i].out = NULL;
	}
	return 0;
}

int split_run(struct split *s, struct lines *lines, const char *folder, struct progress *progress)
{
	const int rc = open_parts(s, folder) || write_documents(s, lines, progress) || commit_parts(s) ? -1 : 0;

	for (size_t i = 0; i < s->n; i++) {
		out_discard(s->parts[i].out);
		s->parts[i].out = NULL;
	}
	return rc;
}
