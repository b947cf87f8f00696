#!/usr/bin/env python3
"""bert-export's files as their readers see them: TensorFlow reads TFRecord as google-research/bert's run_pretraining.py
does, h5py the HDF5 files, numpy Megatron's, after the layout of megatron/core/datasets/indexed_dataset.py. Speaks TAP.

    exports.py BIN VOCAB TEXT        (in an empty folder)
"""
import glob, json, os, subprocess, sys

os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')
import h5py
import numpy as np
import tensorflow as tf

L, P = 96, 14


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout


def pad(x, n):
    return x + [0] * (n - len(x))


def wanted(path):
    """The features of each instance that bert-cat shows."""
    for line in run(f'{sys.argv[1]}/bert-cat', path).decode().splitlines():
        d = json.loads(line)
        n, m = len(d['input_ids']), len(d['masked_lm_ids'])
        yield {'input_ids': pad(d['input_ids'], L), 'input_mask': pad([1] * n, L), 'segment_ids': pad(d['segment_ids'], L),
               'masked_lm_positions': pad(d['masked_lm_positions'], P), 'masked_lm_ids': pad(d['masked_lm_ids'], P),
               'masked_lm_weights': pad([1.0] * m, P), 'next_sentence_labels': [d['next_sentence_label']]}


def tfrecord(files):
    shape = {'input_ids': L, 'input_mask': L, 'segment_ids': L, 'masked_lm_positions': P, 'masked_lm_ids': P,
             'masked_lm_weights': P, 'next_sentence_labels': 1}
    features = {k: tf.io.FixedLenFeature([n], tf.float32 if k.endswith('weights') else tf.int64) for k, n in shape.items()}
    for record in tf.data.TFRecordDataset(files):
        yield {k: v.numpy().tolist() for k, v in tf.io.parse_single_example(record, features).items()}


def hdf5(files):
    names = ['input_ids', 'input_mask', 'segment_ids', 'masked_lm_positions', 'masked_lm_ids', 'next_sentence_labels']
    for path in files:
        with h5py.File(path) as h:
            assert [str(h[n].dtype) for n in names] == ['int32', 'int8', 'int8', 'int32', 'int32', 'int8']
            for i in range(len(h['input_ids'])):
                yield {n: np.atleast_1d(h[n][i]).tolist() for n in names}


def megatron(prefix):
    """Documents as lists of sequences."""
    with open(prefix + '.idx', 'rb') as f:
        assert f.read(9) == b'MMIDIDX\x00\x00' and int.from_bytes(f.read(8), 'little') == 1
        dtype = {4: np.int32, 8: np.uint16}[f.read(1)[0]]
        sequences, documents = (int.from_bytes(f.read(8), 'little') for _ in range(2))
        lengths = np.frombuffer(f.read(4 * sequences), np.int32)
        pointers = np.frombuffer(f.read(8 * sequences), np.int64)
        begins = np.frombuffer(f.read(8 * documents), np.int64)
        assert not f.read()
    ids = np.memmap(prefix + '.bin', dtype, 'r')
    size = np.dtype(dtype).itemsize
    for a, b in zip(begins, begins[1:]):
        yield [ids[pointers[s] // size:pointers[s] // size + lengths[s]].tolist() for s in range(a, b)]


count = 0


def same(got, want, what):
    global count
    count += 1
    got, want = list(got), list(want)
    print('ok' if got == want and got else 'not ok', count, '-', f'{what}: {len(got)} for {len(want)}', flush=True)


def main(binaries, vocab, text):
    for name, options in (('pairs', []), ('full sentences', ['--pairs', 'none', '--cross-documents'])):
        base = name.split()[0]
        run(f'{binaries}/bert-shard', '--vocab', vocab, '--max-seq-length', str(L), '--max-predictions-per-seq', str(P),
            '--shards', '2', *options, '-o', base, text)
        want = list(wanted(base))
        for form, read in (('tfrecord', tfrecord), ('hdf5', hdf5)):
            out = f'{base}.{form}'
            run(f'{binaries}/bert-export', '--to', form, '-o', out, base)
            lacks = ['masked_lm_weights'] if form == 'hdf5' else []
            same(read(sorted(glob.glob(f'{out}/*.{form}'))), [{k: v for k, v in w.items() if k not in lacks} for w in want],
                 f'{form}, {name}')
    run(f'{binaries}/bert-tokenize', '--vocab', vocab, '--to', 'docs', '-o', 'docs.tok', text)
    run(f'{binaries}/bert-export', '--to', 'megatron', '-o', 'megatron', 'docs.tok')
    docs = [json.loads(line)['sentences'] for line in run(f'{binaries}/bert-cat', 'docs.tok').splitlines()]
    same(megatron('megatron/docs'), [d for d in ([s for s in d if s] for d in docs) if d], 'megatron')
    print(f'1..{count}')


main(*sys.argv[1:])
