/* bert-fetch - downloads that are whole, checked, and resumed. */
#include "base/args.h"
#include "base/downloads.h"
#include "base/err.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/tool.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MIRROR "https://dumps.wikimedia.org"
#define STATUS_MAX ((size_t)64 << 20)

struct options {
	struct args_common common;
	const char *folder, *list, *wikipedia, *date, *mirror;
	const char *sha256, *sha1, *md5;
	uint64_t retries;
	double wait;
};

struct totals {
	uint64_t files, kept, bytes;
};

/* --- usage ------------------------------------------------------------------------- */

static bool is_date(const char *text)
{
	return !strcmp(text, "latest") || (strlen(text) == 8 && strspn(text, "0123456789") == 8);
}

/* Language codes as Wikipedia has them: "en", "zh-yue", "be-x-old". */
static bool is_language(const char *text)
{
	const char *p = text;

	while (islower((unsigned char)*p) || isdigit((unsigned char)*p) || *p == '-' || *p == '_')
		p++;
	return *text && !*p;
}

static int check_usage(const struct options *o, int n_urls)
{
	const int sums = !!o->sha256 + !!o->sha1 + !!o->md5;

	if ((n_urls > 0) + !!o->list + !!o->wikipedia != 1)
		return err_usage("give either URLs, or --list, or --wikipedia");
	if (sums > 1)
		return err_usage("give one of --sha256, --sha1 and --md5");
	if (sums && n_urls != 1)
		return err_usage("a sum is for one URL; for more there is --list");
	if (o->common.output && n_urls != 1)
		return err_usage("-o is for one URL; for more there is --list");
	if (o->common.output && !strcmp(o->common.output, "-"))
		return err_usage("a download goes to a file, not to standard output");
	if (!o->wikipedia != !o->date)
		return err_usage("--wikipedia LANG and --date DATE go together");
	if (o->wikipedia && !is_language(o->wikipedia))
		return err_usage("'%s' is no language of Wikipedia", o->wikipedia);
	if (o->date && !is_date(o->date))
		return err_usage("'%s' is neither YYYYMMDD nor latest", o->date);
	return 0;
}

/* --- what to fetch ----------------------------------------------------------------- */

static int add_operands(const struct options *o, const struct args *a, struct downloads *d)
{
	const char *digest = o->sha256 ? o->sha256 : o->sha1 ? o->sha1 : o->md5;
	const enum fetch_sum sum = o->sha256 ? FETCH_SUM_SHA256 : o->sha1 ? FETCH_SUM_SHA1 : FETCH_SUM_MD5;
	const char *slash = o->common.output ? strrchr(o->common.output, '/') : NULL;

	if (o->common.output)
		return downloads_add(d, a->operands[0], slash ? slash + 1 : o->common.output, sum, digest);
	for (int i = 0; i < a->n_operands; i++)
		if (downloads_add_url(d, a->operands[i], sum, digest))
			return -1;
	return 0;
}

/* Adds a small file's text to B, by way of a hidden file in the folder. */
static int fetch_text(const struct options *o, const char *url, struct buf *b)
{
	struct fetch f = { .url = url, .retries = (unsigned)o->retries, .wait = o->wait };
	char *path = NULL;
	int rc;

	if (asprintf(&path, "%s/.bert-fetch.%ld.%s", o->folder, (long)getpid(), strrchr(url, '/') + 1) < 0)
		return err_memory();
	f.path = path;
	rc = fetch_file(&f) || buf_reserve(b, 1) || fs_read_all(path, STATUS_MAX, b) ? -1 : 0;
	unlink(path);
	free(path);
	return rc;
}

/* The date of the newest dump: WIKI/latest holds its sums, under its own date's names. */
static int find_latest(const struct options *o, const char *wiki, char date[9])
{
	struct buf url = BUF_INIT, text = BUF_INIT;
	int rc = buf_addf(&url, "%s/%s/latest/%s-latest-sha1sums.txt", o->mirror, wiki, wiki) || fetch_text(o, url.data, &text) ||
		 downloads_find_date(text.data, url.data, wiki, date) ? -1 : 0;

	buf_release(&url);
	buf_release(&text);
	return rc;
}

static int add_wikipedia(const struct options *o, struct downloads *d)
{
	struct buf url = BUF_INIT, text = BUF_INIT, wiki = BUF_INIT;
	char date[9];
	int rc = -1;

	snprintf(date, sizeof(date), "%s", o->date);
	if (buf_addf(&wiki, "%swiki", o->wikipedia))
		goto end;
	for (char *p = wiki.data; *p; p++)
		*p = *p == '-' ? '_' : *p;
	if (!strcmp(date, "latest") && find_latest(o, wiki.data, date))
		goto end;
	log_info("dump %s of %s", date, wiki.data);
	if (!buf_addf(&url, "%s/%s/%s/dumpstatus.json", o->mirror, wiki.data, date) && !fetch_text(o, url.data, &text))
		rc = downloads_read_dump(d, text.data, text.len, url.data, wiki.data, date, o->mirror);
end:
	buf_release(&url);
	buf_release(&text);
	buf_release(&wiki);
	return rc;
}

/* --- fetching ---------------------------------------------------------------------- */

/* Where an item goes; the folders above it are made. The caller frees. */
static char *place_of(const struct options *o, const struct download *i)
{
	const char *name = o->common.output ? o->common.output : i->name;
	const bool here = name[0] == '/' || !strcmp(o->folder, ".");
	char *path = here ? strdup(name) : fs_join(o->folder, name), *slash;

	if (!path) {
		err_memory();
		return NULL;
	}
	slash = strrchr(path, '/');
	if (!slash || slash == path)
		return path;
	*slash = 0;
	if (fs_make_folder(path)) {
		free(path);
		return NULL;
	}
	*slash = '/';
	return path;
}

static int fetch_one(const struct options *o, const struct download *i, struct progress *progress, struct totals *t)
{
	struct fetch f = { .url = i->url, .sum = i->sum, .digest = i->digest, .retries = (unsigned)o->retries, .wait = o->wait,
			   .progress = progress, .files_before = t->files, .bytes_before = t->bytes };
	char *path = place_of(o, i);

	f.path = path;
	if (!path || fetch_file(&f)) {
		free(path);
		return -1;
	}
	progress_end(progress);
	if (f.kept)
		log_info("'%s' is there already", path);
	else
		log_info("'%s': %" PRIu64 " bytes, %" PRIu64 " of them from an earlier try", path, f.bytes, f.resumed);
	t->files++;
	t->kept += f.kept;
	t->bytes += f.bytes;
	free(path);
	return 0;
}

static int fetch_all(const struct options *o, const struct downloads *d, struct totals *t)
{
	struct progress progress;
	uint64_t bytes = 0;
	bool known = true;
	int rc = 0;

	for (size_t i = 0; i < d->n; i++) {
		bytes += d->items[i].size;
		known &= d->items[i].size > 0;
	}
	progress_start(&progress, "files", known ? bytes : 0);
	for (size_t i = 0; i < d->n && !rc; i++)
		rc = fetch_one(o, &d->items[i], &progress, t);
	progress_end(&progress);
	return rc;
}

static int run(const struct options *o, const struct args *a, struct totals *t)
{
	struct downloads d = DOWNLOADS_INIT;
	int rc = check_usage(o, a->n_operands);

	if (!rc)
		rc = fs_make_folder(o->folder);
	if (!rc)
		rc = o->list ? downloads_read_list(&d, o->list) : o->wikipedia ? add_wikipedia(o, &d) : add_operands(o, a, &d);
	if (!rc)
		rc = fetch_all(o, &d, t);
	downloads_release(&d);
	return rc;
}

int main(int argc, char **argv)
{
	static struct options o = { .folder = ".", .mirror = MIRROR, .retries = 5, .wait = 1 };
	const struct arg table[] = {
		ARG_STR("directory", 'C', &o.folder, "DIR", "put files into DIR, which is made"),
		ARG_STR("sha256", 0, &o.sha256, "HEX", "the file's SHA-256"),
		ARG_STR("sha1", 0, &o.sha1, "HEX", "the file's SHA-1"),
		ARG_STR("md5", 0, &o.md5, "HEX", "the file's MD5"),
		ARG_STR("list", 0, &o.list, "FILE", "fetch what FILE lists: URL, tab, algorithm:hex or -, tab, name"),
		ARG_STR("wikipedia", 0, &o.wikipedia, "LANG", "fetch the articles of a dump of Wikipedia"),
		ARG_STR("date", 0, &o.date, "DATE", "which dump: YYYYMMDD or latest"),
		ARG_STR("mirror", 0, &o.mirror, "URL", "where the dumps are"),
		ARG_UINT("retries", 0, &o.retries, 0, 1000, "N", "try again N times in a row when nothing comes"),
		ARG_REAL("wait", 0, &o.wait, 0.001, 60, "SECONDS", "before the first of them; doubled for each next one"),
		ARG_STR("output", 'o', &o.common.output, "FILE", "the name of the one file that is fetched"),
		ARG_COMMON_NO_OUTPUT(&o.common),
		ARG_END
	};
	struct args a = { .synopsis = "bert-fetch [options] URL... | --list FILE | --wikipedia LANG --date DATE",
			  .about = "Downloads files, resumes, verifies, and names them when they are complete.",
			  .table = table, .common = &o.common, .max_operands = -1 };
	struct totals t = { 0, 0, 0 };
	const int rc = args_parse(&a, argc, argv);

	if (rc != ARGS_RUN)
		return rc;
	tool_start();
	if (run(&o, &a, &t))
		return tool_fail();
	return tool_finish("%" PRIu64 " files, %" PRIu64 " of them there already, %" PRIu64 " bytes", t.files, t.kept, t.bytes);
}
