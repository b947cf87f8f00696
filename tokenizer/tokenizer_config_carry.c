/* tokenizer_config_carry.c - tokenizer_config.json for another vocabulary. */
#include "base/buf.h"
#include "base/err.h"
#include "base/fs.h"
#include "tokenizer/tokenizer_config.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define NUMBERED "added_tokens_decoder"	/* {"103": {"content": "[MASK]", ...}, ...} */

/* Whether V has each of these tokens under that id. */
static bool has_numbered(const struct vocab *v, json_t *numbered)
{
	const char *key;
	json_t *token;

	json_object_foreach(numbered, key, token) {
		const json_t *const content = json_object_get(token, "content");
		char id[16];

		if (!json_is_string(content))
			return false;
		snprintf(id, sizeof(id), "%u", vocab_id(v, json_string_value(content), json_string_length(content)));
		if (strcmp(id, key))
			return false;
	}
	return true;
}

static int write_without(json_t *object, const char *member, const char *path)
{
	char *text;
	int rc;

	json_object_del(object, member);
	text = json_dumps(object, JSON_INDENT(2));
	rc = text ? fs_write_all(path, text, strlen(text)) : err_memory();
	free(text);
	return rc;
}

int tokenizer_config_carry(const char *from, const char *to, const struct vocab *v)
{
	struct buf text = BUF_INIT;
	json_t *object = NULL, *numbered;
	int rc = -1;

	if (!fs_exists(from))
		return 0;
	if (!fs_read_all(from, TOKENIZER_CONFIG_BYTES_MAX, &text))
		object = tokenizer_config_parse(text.data ? text.data : "", text.len, from);
	if (object) {
		numbered = json_object_get(object, NUMBERED);
		rc = numbered && !has_numbered(v, numbered) ? write_without(object, NUMBERED, to) : fs_write_all(to, text.data, text.len);
	}
	json_decref(object);
	buf_release(&text);
	return rc;
}
