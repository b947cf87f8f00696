#!/usr/bin/env python3
"""Holds bert-tokenize --never-split against the slow BertTokenizer of transformers 4.

    never-split.py check BIN VOCAB N    N random texts for each setting of the switches; exits 1 at any difference
    never-split.py cases VOCAB          the cases of tests/data/tokenizer/never-split.tsv, to standard output

Texts are composed (NFC) first, as that tokenizer composes them and bert-tokenize does not. It is asked by _tokenize,
since its tokenize lower-cases the whole text before it looks for such tokens.
"""
import itertools
import random
import subprocess
import sys
import unicodedata

from transformers import BertTokenizer

NEVER = ['C++', 'c++', '.NET', 'foo', 'İx', 'ΑΣ', 'ας', 'é', 'e\u0301', 'Cé', '日本', '日', 'x-y', 'x-', '...', 'Zß', "don't", 'unaffable',
         'zzqq', '\u2260', 'a' * 120, '각']
ATOMS = NEVER + ['C', '+', 'c', 'x', 'y', '-', '.', 'İ', 'Σ', 'α', 'Α', '\u0301', '本', '\u200b', '\u3000', ' ', '  ', '\t', 'Unaffable', 'N',
                 'net', 'NET', 'q', '!', 'ß', 'ﬁ', 'foo,bar', '(', '\u00a0', "DON'T", 'X-Y', '\uf900']
SETTINGS = list(itertools.product((True, False), (None, True, False), (True, False)))
WORDS = {None: 'auto', True: 'yes', False: 'no'}


def texts(rnd, n):
    for _ in range(n):
        yield unicodedata.normalize('NFC', ''.join(rnd.choice(ATOMS) + (' ' if rnd.random() < .4 else '') for _ in range(rnd.randint(1, 9))))


def peer(vocab, lower, strip, cjk):
    return BertTokenizer(vocab, do_lower_case=lower, strip_accents=strip, tokenize_chinese_chars=cjk, never_split=NEVER)


def ids(tokenizer, text):
    return ' '.join(map(str, tokenizer.convert_tokens_to_ids(tokenizer._tokenize(text))))


def check(binary, vocab, n):
    rnd, bad = random.Random(n), 0
    for lower, strip, cjk in SETTINGS:
        asked, tokenizer = list(texts(rnd, n)), peer(vocab, lower, strip, cjk)
        command = [binary, '--vocab', vocab, '--max-word', '100', '--lower', WORDS[lower], '--strip-accents', WORDS[strip],
                   '--split-cjk', WORDS[cjk], *(f'--never-split={x}' for x in NEVER)]
        got = subprocess.run(command, input='\n'.join(asked) + '\n', capture_output=True, encoding='utf-8', check=True).stdout.split('\n')
        differ = [(a, g, ids(tokenizer, a)) for a, g in zip(asked, got) if g != ids(tokenizer, a)]
        print(f'lower {WORDS[lower]}, strip {WORDS[strip]}, cjk {WORDS[cjk]}: {len(differ)} of {n} differ')
        for a, g, w in differ[:5]:
            print(f'  {ascii(a)}\n    got  {g}\n    want {w}')
        bad += len(differ) + (len(got) != n + 1)
    return bad


def cases(vocab):
    print('never', *NEVER, sep='\t')
    for k, (lower, strip, cjk) in enumerate(SETTINGS):
        tokenizer = peer(vocab, lower, strip, cjk)
        for text in texts(random.Random(k), 60):
            if '\t' not in text and text.strip():
                print(WORDS[lower], WORDS[strip], WORDS[cjk], text, ids(tokenizer, text), sep='\t')


if sys.argv[1] == 'cases':
    cases(sys.argv[2])
else:
    sys.exit(check(sys.argv[2], sys.argv[3], int(sys.argv[4])) > 0)
