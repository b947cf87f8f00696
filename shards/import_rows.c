/* Rows of TFRecord and HDF5 files. */
#include "shards/import_rows.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/in.h"
#include "base/tfrecord.h"
#include "shards/example.h"
#include "shards/hdf5.h"
#include "shards/shard.h"

#include <inttypes.h>

enum { IDS, MASK, TYPES, POSITIONS, LABELS, NEXT, ARRAYS };
static const char *const names[ARRAYS] = {
	"input_ids", "input_mask", "segment_ids", "masked_lm_positions", "masked_lm_ids", "next_sentence_labels",
};

struct rows {
	const char *path;
	uint64_t number;		/* of the next row */
	uint32_t max_seq_length, max_predictions;
	uint32_t *memory;		/* of the arrays */
	uint32_t *arrays[ARRAYS];
	/* TFRecord */
	struct in *in;
	struct buf record;
	struct example example;
#if HAVE_HDF5
	/* HDF5: a block of rows at a time */
	hid_t file, sets[ARRAYS];
	uint64_t n;			/* rows */
	uint64_t block_first, block_end;	/* rows in BLOCK */
	uint32_t *block[ARRAYS];
#endif
};

static int at_row(const struct rows *r)
{
	return err_prefix("'%s': instance %" PRIu64, r->path, r->number);
}

static size_t length_of(const struct rows *r, unsigned array)
{
	return array < POSITIONS ? r->max_seq_length : array < NEXT ? r->max_predictions : 1;
}

static int set_lengths(struct rows *r, uint64_t max_seq_length, uint64_t max_predictions)
{
	size_t n;
	uint32_t *at;

	if (max_seq_length < SHARD_MIN_SEQ_LENGTH || max_seq_length > SHARD_MAX_SEQ_LENGTH || !max_predictions ||
	    max_predictions > max_seq_length)
		return err_corrupt("'%s': instances of length %" PRIu64 " with %" PRIu64 " predictions", r->path,
				   max_seq_length, max_predictions);
	r->max_seq_length = (uint32_t)max_seq_length;
	r->max_predictions = (uint32_t)max_predictions;
	n = 3 * (size_t)r->max_seq_length + 2 * (size_t)r->max_predictions + 1;
	r->memory = at = calloc(n, sizeof(*at));
	if (!at)
		return err_memory();
	for (unsigned k = 0; k < ARRAYS; at += length_of(r, k++))
		r->arrays[k] = at;
	return 0;
}

static void give(const struct rows *r, struct row *row, uint32_t predictions)
{
	*row = (struct row){
		.max_seq_length = r->max_seq_length, .max_predictions = r->max_predictions,
		.ids = r->arrays[IDS], .mask = r->arrays[MASK], .types = r->arrays[TYPES],
		.positions = r->arrays[POSITIONS], .labels = r->arrays[LABELS],
		.predictions = predictions, .label = *r->arrays[NEXT],
	};
}

/* --- TFRecord ------------------------------------------------------------------------------------ */

static const struct example_list *need(const struct rows *r, const char *name)
{
	const struct example_list *l = example_find(&r->example, name);

	if (!l)
		err_corrupt("it has no '%s'", name);
	return l;
}

static int take_list(struct rows *r, unsigned array)
{
	const struct example_list *l = need(r, names[array]);

	if (!l)
		return -1;
	if (l->n != length_of(r, array))
		return err_corrupt("'%s' has %zu values, not %zu", names[array], l->n, length_of(r, array));
	for (size_t k = 0; k < l->n; k++) {
		const int64_t v = r->example.values[l->first + k];

		if (v < 0 || v > UINT32_MAX)
			return err_corrupt("'%s' has the value %" PRId64, names[array], v);
		r->arrays[array][k] = (uint32_t)v;
	}
	return 0;
}

/* The weights that are not 0 come first. */
static int count_weights(const struct rows *r, uint32_t *n)
{
	const struct example_list *l = need(r, "masked_lm_weights");

	if (!l)
		return -1;
	*n = 0;
	while (*n < l->n && r->example.values[l->first + *n])
		++*n;
	for (size_t k = *n; k < l->n; k++)
		if (r->example.values[l->first + k])
			return err_corrupt("'masked_lm_weights' has a 0 before others");
	return l->n == r->max_predictions ? 0 : err_corrupt("'masked_lm_weights' has %zu values, not %" PRIu32, l->n,
							    r->max_predictions);
}

static int take_example(struct rows *r, struct row *row)
{
	uint32_t predictions;

	if (example_parse(&r->example, r->record.data, r->record.len))
		return -1;
	if (!r->memory) {
		const struct example_list *ids = need(r, names[IDS]), *positions = ids ? need(r, names[POSITIONS]) : NULL;

		if (!positions || set_lengths(r, ids->n, positions->n))
			return -1;
	}
	for (unsigned k = 0; k < ARRAYS; k++)
		if (take_list(r, k))
			return -1;
	if (count_weights(r, &predictions))
		return -1;
	give(r, row, predictions);
	return 0;
}

static int next_example(struct rows *r, struct row *row)
{
	const int rc = tfrecord_read(r->in, &r->record);

	if (rc <= 0)
		return rc;
	if (take_example(r, row))
		return at_row(r);
	r->number++;
	return 1;
}

/* --- HDF5 ------------------------------------------------------------------------------------------- */

#define SIGNATURE "\x89HDF\r\n\x1a\n"

#if HAVE_HDF5

#define BLOCK_VALUES (1 << 18)

/* The extents of a data set; its second one is 1 where it has one only. */
static int extents(struct rows *r, unsigned array, hsize_t dims[2])
{
	hid_t space;
	int rank;

	r->sets[array] = H5Dopen2(r->file, names[array], H5P_DEFAULT);
	if (r->sets[array] < 0)
		return hdf5_corrupt("'%s' has no data set '%s'", r->path, names[array]);
	space = H5Dget_space(r->sets[array]);
	dims[1] = 1;
	rank = space < 0 ? -1 : H5Sget_simple_extent_ndims(space);
	if (rank == 1 || rank == 2)
		rank = H5Sget_simple_extent_dims(space, dims, NULL);
	H5Sclose(space);
	return rank == (array == NEXT ? 1 : 2) ? 0 : err_corrupt("'%s': '%s' is no table of numbers", r->path, names[array]);
}

static int open_sets(struct rows *r)
{
	hsize_t dims[ARRAYS][2];

	for (unsigned k = 0; k < ARRAYS; k++)
		if (extents(r, k, dims[k]))
			return -1;
	if (set_lengths(r, dims[IDS][1], dims[POSITIONS][1]))
		return -1;
	r->n = dims[IDS][0];
	for (unsigned k = 0; k < ARRAYS; k++)
		if (dims[k][0] != r->n || dims[k][1] != length_of(r, k))
			return err_corrupt("'%s': '%s' has %" PRIu64 " rows of %" PRIu64 ", not %" PRIu64 " of %zu", r->path,
					   names[k], (uint64_t)dims[k][0], (uint64_t)dims[k][1], r->n, length_of(r, k));
	return 0;
}

static int read_block(struct rows *r, unsigned array)
{
	const int rank = array == NEXT ? 1 : 2;
	const hsize_t start[2] = { r->block_first, 0 },
		      count[2] = { r->block_end - r->block_first, length_of(r, array) };
	const hid_t file = H5Dget_space(r->sets[array]), memory = H5Screate_simple(rank, count, NULL);
	const bool good = file >= 0 && memory >= 0 && H5Sget_simple_extent_ndims(file) == rank &&
			  H5Sselect_hyperslab(file, H5S_SELECT_SET, start, NULL, count, NULL) >= 0 &&
			  H5Dread(r->sets[array], H5T_NATIVE_UINT32, memory, file, H5P_DEFAULT, r->block[array]) >= 0;

	H5Sclose(memory);
	H5Sclose(file);
	return good ? 0 : hdf5_corrupt("'%s': cannot read '%s'", r->path, names[array]);
}

static int fill_block(struct rows *r)
{
	const uint64_t most = BLOCK_VALUES / r->max_seq_length, left = r->n - r->number;

	r->block_first = r->number;
	r->block_end = r->number + (left < most ? left : most);
	for (unsigned k = 0; k < ARRAYS; k++) {
		if (!r->block[k])
			r->block[k] = malloc(most * length_of(r, k) * sizeof(**r->block));
		if (!r->block[k])
			return err_memory();
		if (read_block(r, k))
			return -1;
	}
	return 0;
}

static int next_row(struct rows *r, struct row *row)
{
	uint32_t predictions = 0;

	if (r->number == r->n)
		return 0;
	if (r->number >= r->block_end && fill_block(r))
		return -1;
	for (unsigned k = 0; k < ARRAYS; k++)
		memcpy(r->arrays[k], r->block[k] + (r->number - r->block_first) * length_of(r, k),
		       length_of(r, k) * sizeof(**r->arrays));
	while (predictions < r->max_predictions && r->arrays[POSITIONS][predictions])
		predictions++;
	give(r, row, predictions);
	r->number++;
	return 1;
}

static int open_hdf5(struct rows *r)
{
	hdf5_start();
	r->file = H5Fopen(r->path, H5F_ACC_RDONLY, H5P_DEFAULT);
	if (r->file < 0)
		return hdf5_corrupt("cannot read '%s'", r->path);
	return open_sets(r);
}

static void close_hdf5(struct rows *r)
{
	for (unsigned k = 0; k < ARRAYS; k++) {
		if (r->sets[k] >= 0)
			H5Dclose(r->sets[k]);
		free(r->block[k]);
	}
	if (r->file >= 0)
		H5Fclose(r->file);
}

#else

static int next_row(struct rows *r, struct row *row)
{
	(void)row;
	return err_fail("'%s' is an HDF5 file, and this program was built without HDF5", r->path);
}

static int open_hdf5(struct rows *r)
{
	return next_row(r, NULL);
}

#endif

/* --- both ---------------------------------------------------------------------------------------------- */

int rows_open(struct rows **out, const char *path)
{
	struct rows *r = calloc(1, sizeof(*r));
	char head[8];
	int rc;

	*out = NULL;
	if (!r)
		return err_memory();
	r->path = path;
	r->record = (struct buf)BUF_INIT;
#if HAVE_HDF5
	r->file = -1;
	for (unsigned k = 0; k < ARRAYS; k++)
		r->sets[k] = -1;
#endif
	rc = in_open(&r->in, path, 1);
	if (!rc && in_peek(r->in, head, sizeof(head)) == sizeof(head) && !memcmp(head, SIGNATURE, sizeof(head))) {
		in_close(r->in);
		r->in = NULL;
		rc = open_hdf5(r);
	}
	if (rc) {
		rows_close(r);
		return -1;
	}
	*out = r;
	return 0;
}

int rows_next(struct rows *r, struct row *row)
{
	return r->in ? next_example(r, row) : next_row(r, row);
}

void rows_close(struct rows *r)
{
	if (!r)
		return;
#if HAVE_HDF5
	close_hdf5(r);
#endif
	in_close(r->in);
	buf_release(&r->record);
	example_release(&r->example);
	free(r->memory);
	free(r);
}
