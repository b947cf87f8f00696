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

struct state {
	int fd;				/* of an unlinked file, which the library writes; -1: none */
	hid_t file, sets[SETS];		/* -1: not open */
	uint32_t max_seq_length, max_predictions;
};

/* Numbers of a row of SET. */
static size_t row_of(const struct state *h, const struct set *set)
{
	return set->row == ROW_TOKENS ? h->max_seq_length : set->row == ROW_PREDICTIONS ? h->max_predictions : 1;
}

static size_t bytes_of(const struct state *h, const struct set *set)
{
	return row_of(h, set) * (set->wide ? 4 : 1);
}

/* --- opening ----------------------------------------------------------------------------------- */

static int make_set(const struct exporting *x, struct state *h, unsigned k, uint32_t block_records)
{
	const struct set *set = &sets[k];
	const int rank = set->row == ROW_ONE ? 1 : 2;
	const hsize_t rows = x->expected, chunk_rows = rows < block_records ? rows : block_records;
	const hsize_t dims[2] = { rows, row_of(h, set) }, chunk[2] = { chunk_rows, row_of(h, set) };
	const hid_t space = H5Screate_simple(rank, dims, NULL), how = H5Pcreate(H5P_DATASET_CREATE);
	bool good = space >= 0 && how >= 0;

	if (good && rows)
		good = H5Pset_chunk(how, rank, chunk) >= 0;
	if (good && rows && x->e->compress)
		good = H5Pset_deflate(how, x->e->compress) >= 0;
	if (good)
		h->sets[k] = H5Dcreate2(h->file, set->name, set->wide ? H5T_STD_I32LE : H5T_STD_I8LE, space, H5P_DEFAULT,
					how, H5P_DEFAULT);
	H5Pclose(how);
	H5Sclose(space);
	return good && h->sets[k] >= 0 ? 0 : hdf5_failed("cannot make the data set '%s'", set->name);
}

static int open_file(struct exporting *x, const struct scan *s)
{
	struct state *h = calloc(1, sizeof(*h));
	int rc = -1;

	x->state = h;
	if (!h)
		return err_memory();
	*h = (struct state){ .fd = -1, .file = -1, .sets = { -1, -1, -1, -1, -1, -1 },
			     .max_seq_length = s->shape.max_seq_length, .max_predictions = s->shape.max_predictions };
	h->max_seq_length = s->header.recipe.max_seq_length;
	h->max_predictions = s->header.recipe.max_predictions_per_seq;
	hdf5_start();
	h->file = hdf5_create(x->e->folder, &h->fd);
	if (h->file >= 0)
		rc = 0;
	for (unsigned k = 0; k < SETS && !rc; k++)
		rc = make_set(x, h, k, s->header.block_records);
	return rc;
}

/* --- blocks -------------------------------------------------------------------------------------- */

/* Row K of each data set, out of I, in a block of N rows laid out set after set. */
static void lay_row(const struct state *h, char *block, uint32_t n, uint32_t k, const struct instance *i,
		    const struct instance_shape *shape)
{
	const uint32_t second = shape->pairs ? i->segments[0].length + 2 : i->n;
	char *rows[SETS];

	for (unsigned set = 0; set < SETS; set++) {
		rows[set] = block + k * bytes_of(h, &sets[set]);
		block += n * bytes_of(h, &sets[set]);
	}
	memcpy(rows[0], i->ids, i->n * sizeof(*i->ids));
	memset(rows[1], 1, i->n);
	memset(rows[2] + second, 1, i->n - second);
	memcpy(rows[3], i->positions, i->predictions * sizeof(*i->positions));
	memcpy(rows[4], i->labels, i->predictions * sizeof(*i->labels));
	*rows[5] = i->flags & INSTANCE_RANDOM_NEXT ? 1 : 0;
}

static int work(struct exporting *x, const struct scan *s, struct scan_block *b, unsigned worker)
{
	const struct state *h = x->state;
	size_t bytes = 0;

	for (unsigned set = 0; set < SETS; set++)
		bytes += bytes_of(h, &sets[set]);
	bytes *= b->frame.records;
	if (buf_reserve(&b->out, bytes))
		return -1;
	memset(b->out.data, 0, bytes);
	b->out.len = bytes;
	for (uint32_t k = 0; k < b->frame.records; k++)
		lay_row(h, b->out.data, b->frame.records, k, export_instance(x, s, b, k, worker), &s->shape);
	return 0;
}

static int write_rows(const struct state *h, unsigned k, uint64_t first, uint32_t n, const char *rows)
{
	const int rank = sets[k].row == ROW_ONE ? 1 : 2;
	const hsize_t start[2] = { first, 0 }, count[2] = { n, row_of(h, &sets[k]) };
	const hid_t file = H5Dget_space(h->sets[k]), memory = H5Screate_simple(rank, count, NULL);
	const bool good = file >= 0 && memory >= 0 && H5Sselect_hyperslab(file, H5S_SELECT_SET, start, NULL, count, NULL) >= 0 &&
			  H5Dwrite(h->sets[k], sets[k].wide ? H5T_NATIVE_INT32 : H5T_NATIVE_INT8, memory, file, H5P_DEFAULT,
				   rows) >= 0;

	H5Sclose(memory);
	H5Sclose(file);
	return good ? 0 : hdf5_failed("cannot write the data set '%s'", sets[k].name);
}

static int write_block(struct exporting *x, const struct scan *s, struct scan_block *b)
{
	const struct state *h = x->state;
	const char *rows = b->out.data;

	if (b->frame.first_record + b->frame.records > x->expected)
		return err_fail("'%s' changed while it was read", s->name);
	for (unsigned k = 0; k < SETS; k++) {
		if (write_rows(h, k, b->frame.first_record, b->frame.records, rows))
			return -1;
		rows += b->frame.records * bytes_of(h, &sets[k]);
	}
	return 0;
}

/* --- the end ---------------------------------------------------------------------------------------- */

static int close_all(struct state *h)
{
	bool good = true;

	for (unsigned k = 0; k < SETS; k++) {
		good = (h->sets[k] < 0 || H5Dclose(h->sets[k]) >= 0) && good;
		h->sets[k] = -1;
	}
	good = (h->file < 0 || H5Fclose(h->file) >= 0) && good;
	h->file = -1;
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

static int finish(struct exporting *x)
{
	struct state *h = x->state;
	struct out *out = NULL;
	char *path;

	if (x->records != x->expected)
		return err_fail("'%s' changed while it was read", x->from);
	if (close_all(h))
		return -1;
	path = export_file_path(x, export_hdf5.suffix);
	if (path && !out_open(&out, path) && !copy(h->fd, out) && !out_commit(out)) {
		free(path);
		return 0;
	}
	out_discard(out);
	free(path);
	return -1;
}

static void release(struct exporting *x)
{
	struct state *h = x->state;

	if (!h)
		return;
	close_all(h);
	if (h->fd >= 0)
		close(h->fd);
	free(h);
}

#else

static int open_file(struct exporting *x, const struct scan *s)
{
	(void)x;
	(void)s;
	return err_fail("this program was built without HDF5");
}

static int work(struct exporting *x, const struct scan *s, struct scan_block *b, unsigned worker)
{
	(void)worker;
	(void)b;
	return open_file(x, s);
}

static int write_block(struct exporting *x, const struct scan *s, struct scan_block *b)
{
	(void)b;
	return open_file(x, s);
}

static int finish(struct exporting *x)
{
	return open_file(x, NULL);
}

static void release(struct exporting *x)
{
	(void)x;
}

#endif

const struct export_kind export_hdf5 = { ".hdf5", false, open_file, work, write_block, finish, release };
