/*
 * HDF5 files as NVIDIA's BERT for PyTorch writes and reads them: input_ids, input_mask, segment_ids [n, max_seq_length],
 * masked_lm_positions, masked_lm_ids [n, max_predictions_per_seq], next_sentence_labels [n]; padded by zeros, in chunks
 * packed by gzip. There are no weights: a masked position of 0 is padding.
 */
#include "shards/export_impl.h"
#include "base/err.h"

#if HAVE_HDF5

#include "base/out.h"
#include "shards/hdf5.h"

#include <unistd.h>

#define SETS 6

/* The data sets. Numbers are of 4 bytes or of 1. */
static const struct set {
	const char *name;
	bool wide;
	enum { ROW_TOKENS, ROW_PREDICTIONS, ROW_ONE } row;
} sets[SETS] = {
	{ "input_ids", true, ROW_TOKENS },
	{ "input_mask", false, ROW_TOKENS },
	{ "segment_ids", false, ROW_TOKENS },
	{ "masked_lm_positions", true, ROW_PREDICTIONS },
	{ "masked_lm_ids", true, ROW_PREDICTIONS },
	{ "next_sentence_labels", false, ROW_ONE },
};

/* A bin's. */
struct file {
	int fd;				/* of an unlinked file, which the library writes; -1: none */
	hid_t file, sets[SETS];		/* -1: not open */
	uint32_t length;		/* tokens of a row */
	uint64_t rows;			/* written */
};

struct state {
	struct file *files;		/* [n] */
	uint32_t n, max_predictions;
};

/* Numbers of a row of SET. */
static size_t row_of(const struct state *h, const struct file *f, const struct set *set)
{
	return set->row == ROW_TOKENS ? f->length : set->row == ROW_PREDICTIONS ? h->max_predictions : 1;
}

static size_t bytes_of(const struct state *h, const struct file *f, const struct set *set)
{
	return row_of(h, f, set) * (set->wide ? 4 : 1);
}

/* --- opening ----------------------------------------------------------------------------------- */

static int make_set(const struct exporting *x, const struct state *h, struct file *f, unsigned k, uint64_t rows,
		    uint32_t block_records)
{
	const struct set *set = &sets[k];
	const int rank = set->row == ROW_ONE ? 1 : 2;
	const hsize_t chunk_rows = rows < block_records ? rows : block_records;
	const hsize_t dims[2] = { rows, row_of(h, f, set) }, chunk[2] = { chunk_rows, row_of(h, f, set) };
	const hid_t space = H5Screate_simple(rank, dims, NULL), how = H5Pcreate(H5P_DATASET_CREATE);
	bool good = space >= 0 && how >= 0;

	if (good && rows)
		good = H5Pset_chunk(how, rank, chunk) >= 0;
	if (good && rows && x->e->compress)
		good = H5Pset_deflate(how, x->e->compress) >= 0;
	if (good)
		f->sets[k] = H5Dcreate2(f->file, set->name, set->wide ? H5T_STD_I32LE : H5T_STD_I8LE, space, H5P_DEFAULT,
					how, H5P_DEFAULT);
	H5Pclose(how);
	H5Sclose(space);
	return good && f->sets[k] >= 0 ? 0 : hdf5_failed("cannot make the data set '%s'", set->name);
}

/* Puts the name of BIN's file before the reason that is set. */
static int name_bin(const struct exporting *x, uint32_t bin)
{
	char *path = export_file_path(x, bin, export_hdf5.suffix);

	if (path)
		err_prefix("'%s'", path);
	free(path);
	return -1;
}

static int open_bin(struct exporting *x, const struct scan *s, uint32_t bin)
{
	struct state *h = x->state;
	struct file *f = &h->files[bin];

	x->bins[bin].listed = true;
	f->file = hdf5_create(x->e->folder, &f->fd);
	if (f->file < 0)
		return -1;
	for (unsigned k = 0; k < SETS; k++)
		if (make_set(x, h, f, k, x->bins[bin].expected, s->header.block_records))
			return name_bin(x, bin);
	return 0;
}

/* Bins have a file where they will have an instance. */
static int open_files(struct exporting *x, const struct scan *s)
{
	struct state *h = calloc(1, sizeof(*h));

	x->state = h;
	if (!h)
		return err_memory();
	h->files = calloc(x->n_bins, sizeof(*h->files));
	if (!h->files)
		return err_memory();
	h->n = x->n_bins;
	h->max_predictions = s->header.recipe.max_predictions_per_seq;
	for (uint32_t k = 0; k < h->n; k++)
		h->files[k] = (struct file){ .fd = -1, .file = -1, .sets = { -1, -1, -1, -1, -1, -1 }, .length = x->bins[k].length };
	hdf5_start();
	for (uint32_t k = 0; k < h->n; k++)
		if ((x->bins[k].expected || !x->e->bin_size) && open_bin(x, s, k))
			return -1;
	return 0;
}

/* --- blocks -------------------------------------------------------------------------------------- */

/*
 * A block's output: of each bin how many rows it gets, then of each bin these rows, laid out set after set.
 */
static size_t bytes_of_row(const struct state *h, const struct file *f)
{
	size_t bytes = 0;

	for (unsigned k = 0; k < SETS; k++)
		bytes += bytes_of(h, f, &sets[k]);
	return bytes;
}

/* Row K of each data set, out of I, in N rows laid out set after set. */
static void lay_row(const struct state *h, const struct file *f, char *block, uint32_t n, uint32_t k, const struct instance *i,
		    const struct instance_shape *shape)
{
	const uint32_t second = shape->pairs ? i->segments[0].length + 2 : i->n;
	char *rows[SETS];

	for (unsigned set = 0; set < SETS; set++) {
		rows[set] = block + k * bytes_of(h, f, &sets[set]);
		block += n * bytes_of(h, f, &sets[set]);
	}
	memcpy(rows[0], i->ids, i->n * sizeof(*i->ids));
	memset(rows[1], 1, i->n);
	memset(rows[2] + second, 1, i->n - second);
	memcpy(rows[3], i->positions, i->predictions * sizeof(*i->positions));
	memcpy(rows[4], i->labels, i->predictions * sizeof(*i->labels));
	*rows[5] = i->flags & INSTANCE_RANDOM_NEXT ? 1 : 0;
}

/* How many rows of block B each bin gets. */
static void count_rows(const struct exporting *x, const struct scan_block *b, unsigned worker, uint32_t *counts)
{
	struct instance *i = &x->workers[worker].instance;

	memset(counts, 0, x->n_bins * sizeof(*counts));
	if (x->n_bins == 1)
		counts[0] = b->frame.records;
	for (uint32_t k = 0; x->n_bins > 1 && k < b->frame.records; k++) {
		instance_block_get(&b->instances, k, i);
		counts[export_bin_of(x, i->n)]++;
	}
}

static int work(struct exporting *x, const struct scan *s, struct scan_block *b, unsigned worker)
{
	const struct state *h = x->state;
	uint32_t counts[EXPORT_MAX_BINS], done[EXPORT_MAX_BINS] = { 0 };
	size_t at[EXPORT_MAX_BINS], bytes = h->n * sizeof(*counts);

	count_rows(x, b, worker, counts);
	for (uint32_t bin = 0; bin < h->n; bin++) {
		at[bin] = bytes;
		bytes += counts[bin] * bytes_of_row(h, &h->files[bin]);
	}
	if (buf_reserve(&b->out, bytes))
		return -1;
	memset(b->out.data, 0, bytes);
	memcpy(b->out.data, counts, h->n * sizeof(*counts));
	b->out.len = bytes;
	for (uint32_t k = 0; k < b->frame.records; k++) {
		const struct instance *i = export_instance(x, s, b, k, worker);
		const uint32_t bin = export_bin_of(x, i->n);

		lay_row(h, &h->files[bin], b->out.data + at[bin], counts[bin], done[bin]++, i, &s->shape);
	}
	return 0;
}

static int write_rows(const struct state *h, const struct file *f, unsigned k, uint32_t n, const char *rows)
{
	const int rank = sets[k].row == ROW_ONE ? 1 : 2;
	const hsize_t start[2] = { f->rows, 0 }, count[2] = { n, row_of(h, f, &sets[k]) };
	const hid_t file = H5Dget_space(f->sets[k]), memory = H5Screate_simple(rank, count, NULL);
	const bool good = file >= 0 && memory >= 0 && H5Sselect_hyperslab(file, H5S_SELECT_SET, start, NULL, count, NULL) >= 0 &&
			  H5Dwrite(f->sets[k], sets[k].wide ? H5T_NATIVE_INT32 : H5T_NATIVE_INT8, memory, file, H5P_DEFAULT,
				   rows) >= 0;

	H5Sclose(memory);
	H5Sclose(file);
	return good ? 0 : hdf5_failed("cannot write the data set '%s'", sets[k].name);
}

static int write_block(struct exporting *x, const struct scan *s, struct scan_block *b)
{
	const struct state *h = x->state;
	const char *rows = b->out.data + h->n * sizeof(uint32_t);

	for (uint32_t bin = 0; bin < h->n; bin++) {
		struct file *f = &h->files[bin];
		uint32_t n;

		memcpy(&n, b->out.data + bin * sizeof(n), sizeof(n));
		if (n > x->bins[bin].expected - f->rows)
			return err_fail("'%s' changed while it was read", s->name);
		for (unsigned k = 0; n && k < SETS; k++) {
			if (write_rows(h, f, k, n, rows))
				return name_bin(x, bin);
			rows += n * bytes_of(h, f, &sets[k]);
		}
		f->rows += n;
		x->bins[bin].records = f->rows;
	}
	return 0;
}

/* --- the end ---------------------------------------------------------------------------------------- */

static int close_all(struct file *f)
{
	bool good = true;

	for (unsigned k = 0; k < SETS; k++) {
		good = (f->sets[k] < 0 || H5Dclose(f->sets[k]) >= 0) && good;
		f->sets[k] = -1;
	}
	good = (f->file < 0 || H5Fclose(f->file) >= 0) && good;
	f->file = -1;
	return good ? 0 : hdf5_failed("cannot write the file");
}

static int copy(int fd, struct out *out)
{
	char bytes[65536];
	ssize_t n;

	for (off_t at = 0; (n = pread(fd, bytes, sizeof(bytes), at)) > 0; at += n)
		if (out_write(out, bytes, (size_t)n))
			return -1;
	return n < 0 ? err_sys("cannot read what was written") : 0;
}

static int finish_bin(struct exporting *x, uint32_t bin)
{
	struct file *f = &((struct state *)x->state)->files[bin];
	struct out *out = NULL;
	char *path;

	if (close_all(f))
		return name_bin(x, bin);
	path = export_file_path(x, bin, export_hdf5.suffix);
	if (path && !out_open_tidied(&out, path) && !copy(f->fd, out) && !out_commit(out)) {
		free(path);
		return 0;
	}
	out_discard(out);
	free(path);
	return -1;
}

static int finish(struct exporting *x)
{
	for (uint32_t k = 0; k < x->n_bins; k++)
		if (x->bins[k].records != x->bins[k].expected)
			return err_fail("'%s' changed while it was read", x->from);
	for (uint32_t k = 0; k < x->n_bins; k++)
		if (x->bins[k].listed && finish_bin(x, k))
			return -1;
	return 0;
}

static void release(struct exporting *x)
{
	struct state *h = x->state;

	if (!h)
		return;
	for (uint32_t k = 0; k < h->n; k++) {
		close_all(&h->files[k]);
		if (h->files[k].fd >= 0)
			close(h->files[k].fd);
	}
	free(h->files);
	free(h);
}

#else

static int open_files(struct exporting *x, const struct scan *s)
{
	(void)x;
	(void)s;
	return err_fail("this program was built without HDF5");
}

static int work(struct exporting *x, const struct scan *s, struct scan_block *b, unsigned worker)
{
	(void)worker;
	(void)b;
	return open_files(x, s);
}

static int write_block(struct exporting *x, const struct scan *s, struct scan_block *b)
{
	(void)b;
	return open_files(x, s);
}

static int finish(struct exporting *x)
{
	return open_files(x, NULL);
}

static void release(struct exporting *x)
{
	(void)x;
}

#endif

const struct export_kind export_hdf5 = { ".hdf5", false, true, open_files, work, write_block, finish, release };
