/* Rows of TFRecord and HDF5 files. */
#include "shards/import_rows.h"
#include "base/err.h"
#include "base/in.h"
#include "base/tfrecord.h"
#include "shards/hdf5.h"
#include "shards/import_impl.h"
#include "shards/shard.h"

#include <inttypes.h>
#include <stdbool.h>

enum { IDS, MASK, TYPES, POSITIONS, LABELS, NEXT, ARRAYS };
static const char *const names[ARRAYS] = {
	"input_ids", "input_mask", "segment_ids", "masked_lm_positions", "masked_lm_ids", "next_sentence_labels",
};

struct rows {
	const char *path;
	uint64_t number;		/* of the next row */
	uint32_t max_seq_length, max_predictions;	/* 0: no row was seen yet */
	bool failed;			/* after rows that were given */
	struct err failure;
	/* TFRecord */
	struct tfrecord_reader records;
#if HAVE_HDF5
	/* HDF5: a block of rows at a time */
	hid_t file, sets[ARRAYS];
	uint64_t n;			/* rows */
	uint64_t block_first, block_end;	/* rows in BLOCK */
	uint32_t *block[ARRAYS];
#endif
};

struct rows_record {
	size_t at;			/* in the batch's bytes */
	struct tfrecord record;		/* its bytes set when it is taken */
};

static int at_row(const struct rows *r, uint64_t number)
{
	return err_prefix("'%s': instance %" PRIu64, r->path, number);
}

static size_t length_of(const struct rows *r, unsigned array)
{
	return array < POSITIONS ? r->max_seq_length : array < NEXT ? r->max_predictions : 1;
}

/* Values of a row. */
static size_t row_values(const struct rows *r)
{
	return 3 * (size_t)r->max_seq_length + 2 * (size_t)r->max_predictions + 1;
}

static int set_lengths(struct rows *r, uint64_t max_seq_length, uint64_t max_predictions)
{
	if (max_seq_length < SHARD_MIN_SEQ_LENGTH || max_seq_length > SHARD_MAX_SEQ_LENGTH || !max_predictions ||
	    max_predictions > SHARD_MAX_SEQ_LENGTH)
		return err_corrupt("'%s': instances of length %" PRIu64 " with %" PRIu64 " predictions", r->path,
				   max_seq_length, max_predictions);
	r->max_seq_length = (uint32_t)max_seq_length;
	r->max_predictions = (uint32_t)max_predictions;
	return 0;
}

static void give(const struct rows *r, struct row *row, uint32_t *const arrays[ARRAYS], uint32_t predictions)
{
	*row = (struct row){
		.max_seq_length = r->max_seq_length, .max_predictions = r->max_predictions,
		.ids = arrays[IDS], .mask = arrays[MASK], .types = arrays[TYPES],
		.positions = arrays[POSITIONS], .labels = arrays[LABELS],
		.predictions = predictions, .label = *arrays[NEXT],
	};
}

/* --- TFRecord ------------------------------------------------------------------------------------ */

static const struct example_list *need(const struct example *e, const char *name)
{
	const struct example_list *l = example_find(e, name);

	if (!l)
		err_corrupt("it has no '%s'", name);
	return l;
}

static int take_list(const struct rows *r, const struct example *e, unsigned array, uint32_t *out)
{
	const struct example_list *l = need(e, names[array]);
	const int64_t *values = l ? e->values + l->first : NULL;
	uint64_t above = 0;

	if (!l)
		return -1;
	if (l->n != length_of(r, array))
		return err_corrupt("'%s' has %zu values, not %zu", names[array], l->n, length_of(r, array));
	for (size_t k = 0; k < l->n; k++) {
		above |= (uint64_t)values[k];
		out[k] = (uint32_t)values[k];
	}
	for (size_t k = 0; above > UINT32_MAX && k < l->n; k++)
		if (values[k] < 0 || values[k] > UINT32_MAX)
			return err_corrupt("'%s' has the value %" PRId64, names[array], values[k]);
	return 0;
}

/* The weights that are not 0 come first. */
static int count_weights(const struct rows *r, const struct example *e, uint32_t *n)
{
	const struct example_list *l = need(e, "masked_lm_weights");

	if (!l)
		return -1;
	for (size_t k = 0; k < l->n; k++)
		if (e->values[l->first + k] != 0 && e->values[l->first + k] != 1)
			return err_corrupt("'masked_lm_weights' has one that is neither 0 nor 1, and shards hold none");
	*n = 0;
	while (*n < l->n && e->values[l->first + *n])
		++*n;
	for (size_t k = *n; k < l->n; k++)
		if (e->values[l->first + k])
			return err_corrupt("'masked_lm_weights' has a 0 before others");
	return l->n == r->max_predictions ? 0 : err_corrupt("'masked_lm_weights' has %zu values, not %" PRIu32, l->n,
							    r->max_predictions);
}

static int take_example(const struct rows *r, struct row_parser *p, struct row *row)
{
	uint32_t *arrays[ARRAYS], *at, predictions = 0;

	if (array_grow(&p->values, &p->cap_values, row_values(r), sizeof(*p->values)))
		return -1;
	at = p->values;
	for (unsigned k = 0; k < ARRAYS; at += length_of(r, k++)) {
		arrays[k] = at;
		if (take_list(r, &p->example, k, at))
			return -1;
	}
	if (count_weights(r, &p->example, &predictions))
		return -1;
	give(r, row, arrays, predictions);
	return 0;
}

static int parse_record(const struct rows *r, const struct rows_batch *b, uint32_t k, struct row_parser *p, struct row *row)
{
	struct tfrecord t = b->records[k].record;

	t.bytes = b->bytes.data + b->records[k].at;
	if (tfrecord_check(r->path, &t))
		return -1;
	return example_parse(&p->example, t.bytes, t.len) || take_example(r, p, row) ? at_row(r, b->first + k) : 0;
}

/* What T, the file's first record, says of all. */
static int look_at_first(struct rows *r, const struct tfrecord *t)
{
	struct example e = EXAMPLE_INIT;
	const struct example_list *ids = NULL, *positions = NULL;
	int rc = -1;

	if (tfrecord_check(r->path, t))
		return -1;
	if (!example_parse(&e, t->bytes, t->len) && (ids = need(&e, names[IDS])))
		positions = need(&e, names[POSITIONS]);
	if (positions)
		rc = set_lengths(r, ids->n, positions->n);
	if (rc)
		at_row(r, 0);
	example_release(&e);
	return rc;
}

static int add_record(struct rows *r, struct rows_batch *b)
{
	struct tfrecord t;
	const int rc = tfrecord_next(&r->records, &t);

	if (rc <= 0)
		return rc;
	if ((!r->max_seq_length && look_at_first(r, &t)) ||
	    array_grow(&b->records, &b->cap_records, b->n + 1, sizeof(*b->records)))
		return -1;
	b->records[b->n] = (struct rows_record){ b->bytes.len, t };
	return buf_add(&b->bytes, t.bytes, t.len) ? -1 : 1;
}

/* --- HDF5 ------------------------------------------------------------------------------------------- */

#define SIGNATURE "\x89HDF\r\n\x1a\n"
#define SIGNATURE_LEN 8

#if HAVE_HDF5

#define BLOCK_VALUES (1 << 18)

#define NAMED 5				/* of what is there instead */

static int add_link(hid_t file, hsize_t k, struct buf *b)
{
	char name[64] = "";

	if (H5Lget_name_by_idx(file, ".", H5_INDEX_NAME, H5_ITER_INC, k, name, sizeof(name), H5P_DEFAULT) < 0)
		return 0;
	for (char *c = name; *c; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7F)
			*c = '?';
	return buf_addf(b, "%s '%s'", k ? "," : "", name);
}

/* Says what a file holds that lacks a data set. */
static int lacks(const struct rows *r, unsigned array)
{
	struct buf has = BUF_INIT;
	H5G_info_t info;
	int rc = 0;

	if (H5Gget_info(r->file, &info) < 0)
		info.nlinks = 0;
	for (hsize_t k = 0; k < info.nlinks && k < NAMED && !rc; k++)
		rc = add_link(r->file, k, &has);
	if (!rc)
		rc = err_corrupt("'%s' is HDF5, but not of instances as NVIDIA's trainers read them: it has no data set '%s'%s%s%s", r->path,
				 names[array], has.len ? ", but" : "", has.len ? has.data : "", info.nlinks > NAMED ? ", ..." : "");
	buf_release(&has);
	return rc;
}

/* The extents of a data set; its second one is 1 where it has one only. */
static int extents(struct rows *r, unsigned array, hsize_t dims[2])
{
	hid_t space;
	int rank;

	if (H5Lexists(r->file, names[array], H5P_DEFAULT) == 0)
		return lacks(r, array);
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

/* What is no number of 32 bits is not to be made one. */
static H5T_conv_ret_t refuse_number(H5T_conv_except_t what, hid_t from, hid_t to, void *number, void *out, void *ctx)
{
	(void)what;
	(void)from;
	(void)to;
	(void)number;
	(void)out;
	*(bool *)ctx = true;
	return H5T_CONV_ABORT;
}

static int read_block(struct rows *r, unsigned array)
{
	const int rank = array == NEXT ? 1 : 2;
	const hsize_t start[2] = { r->block_first, 0 },
		      count[2] = { r->block_end - r->block_first, length_of(r, array) };
	const hid_t file = H5Dget_space(r->sets[array]), memory = H5Screate_simple(rank, count, NULL);
	const hid_t how = H5Pcreate(H5P_DATASET_XFER);
	bool strange = false;
	const bool good = file >= 0 && memory >= 0 && how >= 0 &&
			  H5Pset_type_conv_cb(how, refuse_number, &strange) >= 0 &&
			  H5Sget_simple_extent_ndims(file) == rank &&
			  H5Sselect_hyperslab(file, H5S_SELECT_SET, start, NULL, count, NULL) >= 0 &&
			  H5Dread(r->sets[array], H5T_NATIVE_UINT32, memory, file, how, r->block[array]) >= 0;

	H5Pclose(how);
	H5Sclose(memory);
	H5Sclose(file);
	if (strange)
		return err_corrupt("'%s': '%s' has a number, in instances %" PRIu64 " to %" PRIu64
				   ", that is not one from 0 to %" PRIu32,
				   r->path, names[array], r->block_first, r->block_end - 1, UINT32_MAX);
	return good ? 0 : hdf5_corrupt("'%s': cannot read '%s'", r->path, names[array]);
}

/* Rows from number FIRST on. */
static int fill_block(struct rows *r, uint64_t first)
{
	const uint64_t most = BLOCK_VALUES / r->max_seq_length, left = r->n - first;

	r->block_first = first;
	r->block_end = first + (left < most ? left : most);
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

/* MOST rows at most, array after array. */
static int add_rows(struct rows *r, struct rows_batch *b, uint32_t most)
{
	const uint64_t left = r->n - r->number;

	b->stride = left < most ? (uint32_t)left : most;
	if (array_grow(&b->values, &b->cap_values, b->stride * row_values(r), sizeof(*b->values)))
		return -1;
	while (b->n < b->stride) {
		const uint64_t number = r->number + b->n;
		uint32_t *at = b->values, n = b->stride - b->n;

		if (number >= r->block_end && fill_block(r, number))
			return -1;
		n = r->block_end - number < n ? (uint32_t)(r->block_end - number) : n;
		for (unsigned k = 0; k < ARRAYS; at += b->stride * length_of(r, k++))
			memcpy(at + b->n * length_of(r, k), r->block[k] + (number - r->block_first) * length_of(r, k),
			       n * length_of(r, k) * sizeof(*at));
		b->n += n;
	}
	return b->n ? 1 : 0;
}

static void parse_row(const struct rows *r, const struct rows_batch *b, uint32_t k, struct row *row)
{
	uint32_t *arrays[ARRAYS], *at = b->values, predictions = 0;

	for (unsigned a = 0; a < ARRAYS; at += b->stride * length_of(r, a++))
		arrays[a] = at + k * length_of(r, a);
	while (predictions < r->max_predictions && arrays[POSITIONS][predictions])
		predictions++;
	give(r, row, arrays, predictions);
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

static int open_hdf5(struct rows *r)
{
	return err_fail("'%s' is an HDF5 file, and this program was built without HDF5", r->path);
}

static int add_rows(struct rows *r, struct rows_batch *b, uint32_t most)
{
	(void)b;
	(void)most;
	return open_hdf5(r);
}

static void parse_row(const struct rows *r, const struct rows_batch *b, uint32_t k, struct row *row)
{
	(void)r;
	(void)b;
	(void)k;
	(void)row;
}

#endif

/* --- both ---------------------------------------------------------------------------------------------- */

/* Refuses what is neither; of a record that is cut in its first bytes, reading will tell. */
static int check_beginning(const char *path, const char *head, size_t n)
{
	const char *kind = tfrecord_begins(head, n) ? NULL : import_kind(head, n);

	if (kind)
		return err_corrupt("'%s' is neither TFRecord nor HDF5: it looks like %s", path, kind);
	if (n < TFRECORD_HEAD || tfrecord_begins(head, n))
		return 0;
	return err_corrupt("'%s' is neither TFRecord nor HDF5, or damaged at its very beginning", path);
}

int rows_open(struct rows **out, const char *path)
{
	struct rows *r = calloc(1, sizeof(*r));
	struct in **in;
	char head[64];
	ssize_t n;
	int rc;

	*out = NULL;
	if (!r)
		return err_memory();
	in = &r->records.in;
	r->path = path;
#if HAVE_HDF5
	r->file = -1;
	for (unsigned k = 0; k < ARRAYS; k++)
		r->sets[k] = -1;
#endif
	rc = in_open(in, path, 1);
	n = rc ? 0 : in_peek(*in, head, sizeof(head));
	if (n >= SIGNATURE_LEN && !memcmp(head, SIGNATURE, SIGNATURE_LEN)) {
		in_close(*in);
		*in = NULL;
		rc = open_hdf5(r);
	} else if (n > 0) {
		rc = check_beginning(path, head, (size_t)n);
	}
	if (rc) {
		rows_close(r);
		return -1;
	}
	*out = r;
	return 0;
}

int rows_read(struct rows *r, struct rows_batch *b, uint32_t most)
{
	int rc = 1;

	b->first = r->number;
	b->n = 0;
	buf_clear(&b->bytes);
	if (r->failed)
		return err_put(&r->failure);
	if (r->records.in)
		while (b->n < most && (rc = add_record(r, b)) > 0)
			b->n++;
	else
		rc = add_rows(r, b, most);
	r->number += b->n;
	if (rc < 0 && b->n) {
		err_get(&r->failure);
		r->failed = true;
	}
	return b->n ? 1 : rc;
}

int rows_parse(const struct rows *r, const struct rows_batch *b, uint32_t k, struct row_parser *p, struct row *row)
{
	if (r->records.in)
		return parse_record(r, b, k, p, row);
	parse_row(r, b, k, row);
	return 0;
}

void rows_close(struct rows *r)
{
	if (!r)
		return;
#if HAVE_HDF5
	close_hdf5(r);
#endif
	in_close(r->records.in);
	tfrecord_reader_release(&r->records);
	free(r);
}

void rows_batch_release(struct rows_batch *b)
{
	buf_release(&b->bytes);
	free(b->records);
	free(b->values);
	*b = (struct rows_batch)ROWS_BATCH_INIT;
}

void row_parser_release(struct row_parser *p)
{
	example_release(&p->example);
	free(p->values);
	*p = (struct row_parser)ROW_PARSER_INIT;
}
