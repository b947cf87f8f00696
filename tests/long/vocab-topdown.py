#!/usr/bin/env python3
"""Holds bert-vocab --method topdown against tensorflow-text's learner, on random words.

    vocab-topdown.py BIN LEARNER SECONDS        LEARNER: folder of wordpiece_tokenizer_learner_lib.py
    vocab-topdown.py BIN LEARNER --write WORDS SIZE LEAST    what the learner makes of the words of a file

Exits 1 at the first difference.
"""
import collections
import random
import subprocess
import sys
import time

BIN = sys.argv[1]
sys.path.insert(0, sys.argv[2])
import wordpiece_tokenizer_learner_lib as peer  # noqa: E402

SPECIALS = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]']
LETTERS = 'abcdefghijklmnopqrstuvwxyzßéжфяαωש한국어ÀÿɏẞŁ'


def learn(counts, size, **options):
    return peer.learn(sorted(counts.items(), key=lambda x: (-x[1], x[0])), size, SPECIALS, **options)


def random_counts(rnd):
    letters = rnd.sample(LETTERS, rnd.choice([1, 2, 3, 5, 26]))
    words = [''.join(rnd.choices(letters, k=rnd.choice([1, 2, 3, 5, 8, 12, 30]))) for _ in range(rnd.choice([1, 5, 50, 400]))]
    if rnd.random() < .2:
        words.append(rnd.choice(letters) * rnd.choice([49, 50, 51, 60, 199, 200, 201, 300]))
    if rnd.random() < .3:
        words += ['!', '.', '#', '—']
    scale, power = rnd.choice([1, 3, 20, 300]), rnd.choice([1, 4])
    counts = collections.Counter()
    for word in words:
        counts[word] += 1 + int(scale * rnd.random() ** power)
    if rnd.random() < .1:
        counts[words[-1]] += rnd.choice([0, 400, 5000])
    return counts


def compare(seconds):
    rnd = random.Random(1)
    end, n, spent, ours = time.time() + seconds, 0, 0, 0
    while time.time() < end:
        counts = random_counts(rnd)
        size = rnd.choice([10, 30, 60, 100, 200, 500, 1000, 5000]) + rnd.randrange(20)
        least, alphabet = rnd.choice([1, 2, 3, 10, 10, 50]), rnd.choice([1, 2, 3, 10, 1000])
        start = time.time()
        want = learn(counts, size, lower_thresh=least, max_unique_chars=alphabet)
        spent += time.time() - start
        words = list(counts.elements())
        rnd.shuffle(words)
        start = time.time()
        got = subprocess.run([f'{BIN}/bert-vocab', '-q', '--cased', '--method', 'topdown', '--size', str(size), '--min-count', str(least),
                              '--alphabet', str(alphabet)], input=' '.join(words).encode(), stdout=subprocess.PIPE, check=True).stdout
        ours += time.time() - start
        if got.decode().split('\n')[:-1] != want:
            print(f'text {n}, size {size}, least count {least}, alphabet {alphabet} differs: {sorted(counts.items())[:20]}')
            sys.exit(1)
        n += 1
    print(f'{n} vocabularies, 0 differ; {spent:.1f} s in the learner, {ours:.1f} s in bert-vocab, programs started and all')


if sys.argv[3] == '--write':
    with open(sys.argv[4], encoding='utf-8') as f:
        print('\n'.join(learn(collections.Counter(f.read().split()), int(sys.argv[5]), lower_thresh=int(sys.argv[6]))))
else:
    compare(float(sys.argv[3]))
