/* mapping.c - names of tensors. */
#include "model/mapping.h"

#include "base/buf.h"
#include "base/err.h"

#define PREFIX "bert."

const char *mapping_word(enum fate f)
{
	static const char *const words[] = { "mapped", "tied", "missing", "unused", "passed over" };

	return words[f];
}

static bool ends_with(const char *text, const char *end)
{
	const size_t n = strlen(text), k = strlen(end);

	return n >= k && !strcmp(text + n - k, end);
}

/* Puts NEW in place of the end OLD, where TEXT has that. */
static void change_end(char *text, size_t size, const char *old, const char *new)
{
	if (ends_with(text, old))
		snprintf(text + strlen(text) - strlen(old), size - (strlen(text) - strlen(old)), "%s", new);
}

/* The line of P that a tensor NAME is, or -1. An encoder's parameters may lack the prefix, or have it where ours do not. */
static int line_of(const struct params *p, const char *name)
{
	const bool prefixed = !strncmp(p->items[0].name, PREFIX, strlen(PREFIX));
	char wanted[PARAM_NAME_MAX + sizeof(PREFIX)] = PREFIX, *plain = wanted + strlen(PREFIX);
	int line;

	if (strlen(name) >= PARAM_NAME_MAX - 1)
		return -1;
	snprintf(plain, PARAM_NAME_MAX, "%s", name);
	change_end(plain, PARAM_NAME_MAX, "LayerNorm.gamma", "LayerNorm.weight");
	change_end(plain, PARAM_NAME_MAX, "LayerNorm.beta", "LayerNorm.bias");
	line = params_find(p, plain);
	if (line >= 0)
		return line;
	if (prefixed)
		return params_find(p, wanted);
	return strncmp(plain, PREFIX, strlen(PREFIX)) ? -1 : params_find(p, plain + strlen(PREFIX));
}

static int check_shape(const struct safetensors *s, const struct safetensor *t, const struct param *p)
{
	const int64_t want[2] = { p->rows, p->cols };
	struct safetensor wanted = { .n_dims = p->n_dims, .shape = { p->rows, p->cols } };
	char is[128], should[128];

	if (t->dtype != ST_F32 && t->dtype != ST_F64 && t->dtype != ST_F16 && t->dtype != ST_BF16)
		return err_fail("cannot use '%s': tensor '%s' is %s, no floating-point type that is known here", s->path,
				t->name, safetensors_dtype_name(t->dtype));
	if (t->n_dims == p->n_dims && !memcmp(t->shape, want, (size_t)p->n_dims * sizeof(want[0])))
		return 0;
	safetensors_shape(t, is, sizeof(is));
	safetensors_shape(&wanted, should, sizeof(should));
	return err_fail("cannot use '%s': tensor '%s' is %s, and config.json makes it %s", s->path, t->name, is, should);
}

static int add(struct mapping *map, enum fate fate, const struct safetensor *t, const struct param *p)
{
	if (array_grow(&map->items, &map->cap, map->count + 1, sizeof(*map->items)))
		return -1;
	map->items[map->count++] = (struct match){ fate, t, p };
	return 0;
}

/* Whether a tensor NAME is of MODULE, which may be NULL. */
static bool is_of(const char *name, const char *module)
{
	const size_t n = module ? strlen(module) : 0;

	return n && !strncmp(name, module, n) && name[n] == '.';
}

/* Which tensor is which line: LINES[p->count], NULL: none. One under its other name only goes to the parameter itself. */
static int find_lines(const struct params *p, const struct safetensors *s, const char *renewed, const struct safetensor **lines)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct safetensor *t = &s->items[i];
		const int line = is_of(t->name, renewed) ? -1 : line_of(p, t->name);

		if (line < 0)
			continue;
		if (lines[line])
			return err_fail("cannot use '%s': tensors '%s' and '%s' are the same parameter", s->path,
					lines[line]->name, t->name);
		lines[line] = t;
		if (check_shape(s, t, &p->items[line]))
			return -1;
	}
	for (int i = 0; i < p->count; i++) {
		const int tied = p->items[i].tied;

		if (tied < 0 || lines[tied])
			continue;
		lines[tied] = lines[i];
		lines[i] = NULL;
	}
	return 0;
}

static int add_params(struct mapping *map, const struct params *p, const struct safetensor *const *lines)
{
	for (int i = 0; i < p->count; i++) {
		const bool tied = p->items[i].tied >= 0;
		enum fate fate = tied ? FATE_TIED : lines[i] ? FATE_MAPPED : FATE_MISSING;

		if (tied && !lines[i])
			continue;
		if (tied && p->items[i].saved)		/* transformers does not read it */
			fate = FATE_PASSED;
		if (add(map, fate, lines[i], fate == FATE_PASSED ? NULL : &p->items[i]))
			return -1;
		map->mapped += fate == FATE_MAPPED;
		map->missing += fate == FATE_MISSING;
	}
	return 0;
}

static int add_rest(struct mapping *map, const struct params *p, const struct safetensors *s, const char *renewed)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct safetensor *t = &s->items[i];
		const bool old = is_of(t->name, renewed);
		const bool passed = old || ends_with(t->name, "embeddings.position_ids") ||
				    ends_with(t->name, "embeddings.token_type_ids");

		if (!old && line_of(p, t->name) >= 0)
			continue;
		if (add(map, passed ? FATE_PASSED : FATE_UNUSED, t, NULL))
			return -1;
		map->unused += !passed;
	}
	return 0;
}

int mapping_make(struct mapping *map, const struct params *p, const struct safetensors *s, const char *renewed)
{
	const struct safetensor **lines = calloc((size_t)p->count, sizeof(*lines));
	int rc;

	*map = (struct mapping){ 0 };
	if (!lines)
		return err_memory();
	rc = find_lines(p, s, renewed, lines) || add_params(map, p, lines) || add_rest(map, p, s, renewed) ? -1 : 0;
	free(lines);
	if (rc)
		mapping_release(map);
	return rc;
}

void mapping_release(struct mapping *map)
{
	free(map->items);
	*map = (struct mapping){ 0 };
}
