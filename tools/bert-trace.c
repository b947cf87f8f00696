/* bert-trace - from an instance to its documents, and to where they stand in text files. */
#include "base/args.h"
#include "base/err.h"
#include "base/out.h"
#include "base/tool.h"
#include "shards/trace.h"

#include <inttypes.h>
#include <jansson.h>

struct options {
	struct args_common common;
	const char *vocab;
	int from;
};

/* "PATH:N" */
static int read_instance(char *text, struct trace *t)
{
	char *colon = strrchr(text, ':'), *end;

	if (!colon || colon == text || colon[1] < '0' || colon[1] > '9')
		return err_usage("'%s' names no instance: SHARD:N, N counted from 0", text);
	t->number = strtoull(colon + 1, &end, 10);
	if (*end)
		return err_usage("'%s' names no instance: SHARD:N, N counted from 0", text);
	*colon = 0;
	t->path = text;
	return 0;
}

static json_t *text_or_null(const char *text, size_t len)
{
	return text ? json_stringn(text, len) : json_null();
}

static json_t *place_json(const struct trace_place *p)
{
	if (p->tokens)
		return json_pack("{s:s, s:I}", "file", p->file, "document", (json_int_t)p->first);
	if (!p->segment_end)
		return json_pack("{s:s, s:[I,I]}", "file", p->file, "document", (json_int_t)p->first, (json_int_t)p->end);
	return json_pack("{s:s, s:[I,I], s:s, s:[I,I]}", "file", p->file, "document", (json_int_t)p->first,
			 (json_int_t)p->end, "segment_file", p->segment_file, "segment", (json_int_t)p->segment_first,
			 (json_int_t)p->segment_end);
}

static json_t *segment_json(const struct trace_segment *s, bool searched)
{
	char key[33];
	json_t *places = searched ? json_array() : json_null();
	json_t *o;

	for (size_t k = 0; k < s->n_places; k++)
		json_array_append_new(places, place_json(&s->places[k]));
	key_print(s->key, key);
	o = json_pack("{s:s, s:I, s:o, s:o, s:I, s:I, s:I, s:I, s:o}", "key", key, "occurrence", (json_int_t)s->occurrence,
		      "id", text_or_null(s->id, s->id_len), "title", text_or_null(s->title, s->title_len), "sentences",
		      (json_int_t)s->sentences, "tokens", (json_int_t)s->tokens, "first", (json_int_t)s->first, "length",
		      (json_int_t)s->length, "places", places);
	return o;
}

static int print(const struct trace *t, const char *path)
{
	struct out *out = NULL;
	int rc = out_open(&out, path);

	for (uint32_t k = 0; k < t->n_segments && !rc; k++) {
		json_t *o = segment_json(&t->segments[k], t->n_files > 0);
		char *text = o ? json_dumps(o, JSON_COMPACT) : NULL;

		rc = text ? out_printf(out, "%s\n", text) : err_memory();
		free(text);
		json_decref(o);
	}
	if (!rc && !out_commit(out))
		return 0;
	out_discard(out);
	return -1;
}

int main(int argc, char **argv)
{
	static struct options o;
	const struct arg table[] = {
		ARG_STR("vocab", 0, &o.vocab, "FILE", "the vocabulary (default: vocab.txt beside the shard)"),
		ARG_CHOICE("from", 0, &o.from, "auto|text|jsonl", "what FILEs hold that are not token documents; auto: by their first bytes"),
		ARG_COMMON(&o.common),
		ARG_END
	};
	struct args a = { .synopsis = "bert-trace [options] SHARD:N [FILE...]",
			  .about = "Tells which documents an instance was made of, and where they stand in files.",
			  .table = table, .common = &o.common, .min_operands = 1, .max_operands = -1 };
	struct trace t = { .threads = 1 };
	char *instance = NULL;
	int rc = args_parse(&a, argc, argv);

	if (rc != ARGS_RUN)
		return rc;
	tool_start();
	instance = strdup(a.operands[0]);
	t.files = a.operands + 1;
	t.n_files = (size_t)a.n_operands - 1;
	t.vocab_path = o.vocab;
	t.from = o.from;
	t.threads = (unsigned)o.common.threads;
	rc = !instance ? err_memory() : read_instance(instance, &t) || trace_run(&t) || print(&t, o.common.output) ? -1 : 0;
	rc = rc ? tool_fail() : tool_finish("%" PRIu32 " segments", t.n_segments);
	trace_release(&t);
	free(instance);
	return rc;
}
