#!/usr/bin/env python3
"""Holds bert-tokenize against its peers, code point by code point and on random text.

    tokenizer-sweep.py google BIN VOCAB     google-research/bert's rules, by this Python's unicodedata and str
    tokenizer-sweep.py hf BIN VOCAB         Hugging Face's tokenizers package

Every code point stands in one line, alone, between letters, after a space, before and after marks, and
beside a sigma. The SHA-256 of the peer's words for all lines is printed as well: tests/data/tokenizer/sweep.tsv
keeps it for the tests that have no peer at hand. Exits 1 at any difference.
"""
import hashlib
import random
import sys
import unicodedata

from tokenizer_peers import Google, HuggingFace, ask, compare, random_text

LINE = '{0} a{0}b  {0}A e\u0301{0}q {0}\u0301 A{0}Σ AΣ{0}A Σ{0} o\U0001D16D{0}\U0001D165{0} {0}{0}. z'


def lines():
    for c in range(0x110000):
        if c != 0x0A and not 0xD800 <= c < 0xE000:
            yield LINE.format(chr(c))


def sweep(peer, program, options):
    texts = list(lines())
    want = [' '.join(peer.words(t)) for t in texts]
    name = ' '.join(options[2:])
    print(f'{name}\t' + hashlib.sha256(('\n'.join(want) + '\n').encode()).hexdigest())
    return compare(f'sweep {name}', texts, ask(program, texts, *options, '--to', 'words'), want)


def main():
    kind, program, vocab = sys.argv[1:4]
    version = unicodedata.unidata_version[:4]
    n, bad = int(sys.argv[4]) if len(sys.argv) > 4 else 200000, 0
    r = random.Random(1)
    texts = [random_text(r) for _ in range(n)]
    for lower, strip in ((True, True), (False, False), (True, False), (False, True)):
        options = ['--vocab', vocab, '--compat', kind] + ([] if lower else ['--cased']) + \
            ([] if lower == strip else ['--strip-accents', 'yes' if strip else 'no'])
        if kind == 'google':
            options += ['--unicode', version]
        peer = (Google if kind == 'google' else HuggingFace)(vocab, lower, strip)
        bad += sweep(peer, program, options)
        bad += compare('random ' + ' '.join(options[2:]), texts, ask(program, texts, *options), [peer.ids(t) for t in texts])
        if kind == 'hf':
            bad += compare('offsets ' + ' '.join(options[2:]), texts, ask(program, texts, *options, '--to', 'offsets'),
                           [peer.offsets(t) for t in texts])
    sys.exit(bad > 0)


main()
