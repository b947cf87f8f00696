/* The folder that instances are imported into: whose it is, and what in it is whole. */
#include "base/err.h"
#include "base/fs.h"
#include "base/out.h"
#include "shards/canon.h"
#include "shards/folder.h"
#include "base/folder_lock.h"
#include "shards/import_impl.h"
#include "shards/manifest.h"
#include "shards/scan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CLAIM ".import.json"	/* until the manifest is there: what the shards are made of, and how */
#define CLAIM_MAX ((size_t)1 << 30)

static char *claim_path(const char *folder)
{
	return fs_join(folder, CLAIM);
}

static int refuse_other(const char *folder, const json_t *is, const json_t *identity)
{
	struct buf what = BUF_INIT;
	int rc = canon_difference(is, identity, &what);

	if (rc > 0)
		rc = err_fail("'%s' holds shards of another import: %s: choose another folder, or empty it", folder,
			      what.data);
	buf_release(&what);
	return rc;
}

static int check_claim(const char *folder, const char *path, const json_t *identity)
{
	struct buf text = BUF_INIT;
	json_t *is = NULL;
	int rc = -1;

	if (!fs_read_all(path, CLAIM_MAX, &text)) {
		is = canon_parse(text.data, text.len);
		rc = is ? refuse_other(folder, is, identity) : err_prefix("'%s'", path);
	}
	buf_release(&text);
	json_decref(is);
	return rc;
}

static int save_claim(const char *path, const json_t *identity)
{
	char *text = canon_print(identity);
	const int rc = text ? fs_write_all(path, text, strlen(text)) : -1;

	free(text);
	return rc;
}

int import_claim(const char *folder, const json_t *identity, int *lock)
{
	char *path, **names;
	size_t n;
	int rc = -1;

	if (fs_make_folder(folder) || folder_lock(lock, folder, false, "bert-import") || folder_names(folder, &names, &n))
		return -1;
	fs_free_names(names, n);
	path = claim_path(folder);
	if (path && n && !fs_exists(path))
		err_fail("'%s' holds shards: choose another folder, or empty it", folder);
	else if (path && n)
		rc = check_claim(folder, path, identity);
	else if (path)
		rc = save_claim(path, identity);
	free(path);
	return rc ? rc : out_remove_stale(folder);
}

int import_finished(const char *folder)
{
	char *path = claim_path(folder);
	const int rc = !path ? -1 : unlink(path) && errno != ENOENT ? err_sys("cannot remove '%s'", path) : 0;

	free(path);
	return rc;
}

int import_kept(const char *path, const char *header, unsigned threads)
{
	struct shard *s = NULL;
	char *is = NULL;
	int rc = 0;

	if (!fs_exists(path))
		return 0;
	if (shard_open(&s, path)) {
		rc = err_code() == EXIT_CORRUPT ? 0 : -1;
	} else {
		is = shard_header_print(shard_header(s));
		rc = !is ? -1 : strcmp(is, header) ? 0 : scan_is_sound(path, threads);
	}
	free(is);
	shard_close(s);
	return rc;
}
