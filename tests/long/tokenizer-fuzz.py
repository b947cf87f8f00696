#!/usr/bin/env python3
"""Random and mutated text through bert-tokenize and through its peers, for some time.

    tokenizer-fuzz.py KIND BIN SECONDS SEED VOCAB...

KIND is google (this Python's unicodedata) or hf (its tokenizers package). Each round takes a vocabulary, one of those given or
one made of random tokens, and random options, threads and processor; all ids must be the peer's, and for hf all
offsets. The first text that differs is made as short as it can be, and printed with what repeats it. Exits 1 then.
"""
import os
import random
import subprocess
import sys
import tempfile
import time
import unicodedata

from tokenizer_peers import PARTS, Google, HuggingFace, random_text

TEXTS = 400     # of a round
EDGES = [0x2FFF, 0x3000, 0x33FF, 0x3400, 0x4DBF, 0x4DC0, 0x4DFF, 0x4E00, 0x9FFC, 0x9FFF, 0xA000, 0xD7A3, 0xD7A4, 0xABFF, 0xAC00, 0xD7FF,
         0xE000, 0xF8FF, 0xF900, 0xFAFF, 0xFB00, 0xFFFD, 0xFFFE, 0xFFFF, 0x10000, 0x1FFFF, 0x20000, 0x2A6DD, 0x2A6DE, 0x2A6DF, 0x2A6E0,
         0x2A6FF, 0x2A700, 0x2B738, 0x2B739, 0x2B73F, 0x2B740, 0x2B81D, 0x2B81F, 0x2B820, 0x2B91F, 0x2B920, 0x2CEA1, 0x2CEAF, 0x2CEB0,
         0x2F7FF, 0x2F800, 0x2FA1F, 0x2FA20, 0x30000, 0xE0001, 0xF0000, 0x10FFFD, 0x10FFFF, 0x7F, 0x80, 0x9F, 0xA0, 0x7FF, 0x800,
         0x1FFF, 0x2000, 0x200A, 0x200B, 0x200F, 0x2010, 0x203F, 0x2040, 0x202F, 0x205F, 0x2060, 0x1680, 0x85, 0x1C, 0x1F]
ILL_FORMED = [b'\x80', b'\xBF', b'\xC0\x80', b'\xC1\xBF', b'\xC3', b'\xE0\x80\x80', b'\xE0\x9F\xBF', b'\xE2\x82', b'\xED\xA0\x80',
              b'\xED\xBF\xBF', b'\xF0\x80\x80\x80', b'\xF0\x9F', b'\xF0\x9F\x98', b'\xF4\x90\x80\x80', b'\xF5\x80\x80\x80',
              b'\xF8\x88\x80\x80\x80', b'\xFE', b'\xFF']
SCRIPTS = [(0x41, 0x5B), (0x61, 0x7B), (0x21, 0x40), (0xC0, 0x250), (0x370, 0x400), (0x400, 0x530), (0x590, 0x600), (0x600, 0x700),
           (0x900, 0x980), (0xE00, 0xE80), (0x1100, 0x1200), (0x1E00, 0x2000), (0x3040, 0x3100), (0x4E00, 0x4F00), (0xAC00, 0xD7A4),
           (0x1F600, 0x1F650), (0x10400, 0x10450)]


def of_category(*names):
    return [chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000 and unicodedata.category(chr(c)) in names]


MARKS = of_category('Mn', 'Mc', 'Me')
CLASSED = [x for x in MARKS if unicodedata.combining(x)]
KEPT = [x for x in CLASSED if unicodedata.category(x) != 'Mn'] + ['\u302E', '\u302F']
FORMAT = of_category('Cf', 'Cc')
DECOMPOSING = [chr(c) for c in range(0x110000) if unicodedata.decomposition(chr(c)) and not unicodedata.decomposition(chr(c)).startswith('<')]
SPACES = of_category('Zs', 'Zl', 'Zp') + ['\t', '\r', '\x0b', '\x0c', '\x1c', '\x85']


def anything(r):
    c = r.randrange(0x110000 - 0x800)
    return chr(c + 0x800 if c >= 0xD800 else c)


def letters(r):
    low, high = r.choice(SCRIPTS)
    return ''.join(chr(r.randrange(low, high)) for _ in range(r.randint(1, 12)))


def sigma(r):
    around = ['a', 'B', '\u0301', '\u00AD', '\u200B', '.', "'", ':', '\u0345', '漢', ' ', '1', '\u02B0', '\u05F4', 'Σ', 'ς', 'σ', '\uE000']
    return ''.join(r.choice(around) for _ in range(r.randint(0, 3))) + 'Σ' + ''.join(r.choice(around) for _ in range(r.randint(0, 3)))


def marks(r):
    bases = ['', 'a', 'E', '가', '漢', '.', '=', 'é', 'ё', 'か', '\U0001D15E', r.choice(DECOMPOSING)]
    return r.choice(bases) + ''.join(r.choice(r.choice([MARKS, CLASSED, KEPT, FORMAT if r.random() < .3 else CLASSED]))
                                     for _ in range(r.randint(1, 6)))


def long_word(r):
    unit = r.choice(['x', 'Ab', 'é', 'e\u0301', '가', 'Σ', 'あ', '\u0301a', '\U00010400', r.choice(DECOMPOSING)])
    return unit * max(1, r.choice([16, 17, 32, 64, 100, 200, 1000]) // len(unit) + r.randint(-2, 2))


GENERATORS = [(8, letters), (5, random_text), (3, sigma), (3, marks), (1, long_word), (1, anything), (2, lambda r: chr(r.choice(EDGES))),
              (2, lambda r: r.choice(FORMAT)), (3, lambda r: r.choice(SPACES)), (5, lambda r: ' '), (2, lambda r: r.choice(PARTS)),
              (1, lambda r: chr(r.randrange(0xE000, 0xF900))), (1, lambda r: r.choice(DECOMPOSING)),
              (1, lambda r: r.choice(['[MASK]', '[UNK]', '[CLS]', '[SEP]', '[PAD]', '[mask]', '[MASK', 'MASK]', '[[UNK]', '##']))]


def mutated(r, text):
    """One of: a part twice, a part gone, two parts changed about, something put in, another case."""
    a, b = sorted(r.randrange(len(text) + 1) for _ in range(2))
    how = r.randrange(5)
    if how == 0:
        return text[:b] + text[a:]
    if how == 1:
        return text[:a] + text[b:]
    if how == 2:
        return text[a:b] + text[:a] + text[b:]
    if how == 3:
        return text[:a] + r.choice(EXTRAS) + text[a:]
    return text[:a] + text[a:b].swapcase() + text[b:]


EXTRAS = ['Σ', '\u0301', '\u0345', '\u302E', '\u200D', '\u00AD', '\x00', '\uFFFD', '\uFEFF', '漢', '.', ' ', '\U0001D165', '가', '\uE000', '\u034F']


def make_text(r, before):
    """Bytes of a line; mostly well-formed."""
    if before and r.random() < .3:
        text = mutated(r, r.choice(before))
    else:
        weights, makers = zip(*GENERATORS)
        text = ''.join(r.choices(makers, weights)[0](r) for _ in range(r.choice([1, 2, 3, 5, 8, 20, 60])))
    text = text.replace('\n', '')
    before.append(text[:300])
    raw = text.encode()
    if r.random() < .05:
        for _ in range(r.randint(1, 4)):
            at = r.randrange(len(raw) + 1)
            raw = raw[:at] + r.choice(ILL_FORMED) + raw[at:] if r.random() < .7 else raw[:at] + raw[at + 1:]
    return raw.replace(b'\n', b'')


def make_vocab(r, path, wide):
    """Random tokens: what the texts are made of and parts of it, some twice; WIDE: so many that ids need four bytes."""
    tokens = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]'][:r.choice([5, 5, 2])]
    for _ in range(r.choice([200, 2000, 20000])):
        weights, makers = zip(*GENERATORS[:4])
        text = ''.join(r.choices(makers, weights)[0](r) for _ in range(r.randint(1, 2)))
        text = unicodedata.normalize(r.choice(['NFD', 'NFC']), r.choice([text, text.lower()]))
        text = ''.join(x for x in text if unicodedata.category(x) not in ('Mn', 'Cc', 'Zs', 'Zl', 'Zp') or r.random() < .1)
        a = r.randrange(len(text) + 1)
        token = r.choice(['', '##']) + text[a:a + r.choice([1, 1, 2, 3, 8])]
        tokens.append(token.replace('\n', '').replace('\0', '').strip() or '.')
    tokens += [r.choice(['', '##']) + chr(r.randrange(*r.choice(SCRIPTS))) for _ in range(2000)]
    r.shuffle(tokens)
    tokens += [f'{r.choice(["", "##"])}{i:x}' for i in range(70000)] if wide else []
    with open(path, 'w', encoding='utf-8', newline='\n') as f:
        f.write('\n'.join(tokens) + '\n')


class Round:
    """A vocabulary and options, with the peer that has the same."""
    def __init__(self, kind, program, vocab, r):
        self.program, self.kind = program, kind
        lower, strip = r.choice([(True, True), (True, True), (False, False), (False, False), (True, False), (False, True)])
        most = r.choice([None, None, None, 1, 5, 300])
        self.options = ['--vocab', vocab, '--compat', kind, '--threads', r.choice(['1', '2'])]
        self.options += [] if lower else ['--cased']
        self.options += [] if lower == strip else ['--strip-accents', 'yes' if strip else 'no']
        self.options += ['--max-word', str(most)] if most else []
        self.options += ['--unicode', unicodedata.unidata_version[:4]] if kind == 'google' else []
        self.forms = [[], ['--to', 'offsets']] if kind == 'hf' else [[]]
        self.processor = r.choice(['none', 'avx2', 'native', 'native'])
        self.peer = (Google if kind == 'google' else HuggingFace)(vocab, lower, strip, most)

    def got(self, raws, form):
        r = subprocess.run([self.program, '-q', *self.options, *form], input=b''.join(x + b'\n' for x in raws), stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, check=False, env={**os.environ, 'BERTTOOLS_CPU': self.processor})
        lines = r.stdout.decode().split('\n')[:-1]
        if r.returncode or len(lines) != len(raws):
            lines = [f'exit status {r.returncode}, {len(lines)} lines of {len(raws)}: {r.stderr.decode()}'] * len(raws)
        return lines

    def want(self, raw, form):
        text = raw.decode('utf-8', 'replace')
        return self.peer.offsets(text) if form else self.peer.ids(text)

    def differs(self, raw, form):
        return self.got([raw], form) != [self.want(raw, form)]


def units(raw):
    """Characters where they are, else bytes, so that either can be left out."""
    try:
        return [x.encode() for x in raw.decode()]
    except UnicodeDecodeError:
        return [bytes([x]) for x in raw]


def minimised(differs, raw):
    """As short as leaving out parts of it makes it, each half as long as those before."""
    parts = units(raw)
    size = len(parts)
    while size > 0:
        at = 0
        while at < len(parts):
            fewer = parts[:at] + parts[at + size:]
            if differs(b''.join(fewer)):
                parts = fewer
            else:
                at += size
        size //= 2
    return b''.join(parts)


def report(t, raws, at, form, seed):
    raw = raws[at]
    if t.differs(raw, form):
        raw = minimised(lambda x: t.differs(x, form), raw)
        lines, want = t.got([raw], form), t.want(raw, form)
    else:       # only among others, so all before it matter
        lines, want = [t.got(raws, form)[at]], t.want(raw, form)
    print(f'seed {seed}: BERTTOOLS_CPU={t.processor} bert-tokenize {" ".join(t.options + form)}\n    text   {raw!r}\n'
          f'           {raw.decode("utf-8", "replace")!a}\n    got    {lines[0]}\n    wanted {want}')


def main():
    kind, program, seconds, seed = sys.argv[1], sys.argv[2], float(sys.argv[3]), int(sys.argv[4])
    vocabs = sys.argv[5:]
    r = random.Random(seed)
    end = time.monotonic() + seconds
    rounds = texts = size = 0
    before = []
    with tempfile.TemporaryDirectory() as folder:
        while time.monotonic() < end or not rounds:
            vocab = os.path.join(folder, 'vocab.txt')
            if rounds % 3 == 0 or not vocabs:
                make_vocab(r, vocab, r.random() < .3)
            else:
                vocab = r.choice(vocabs)
            t = Round(kind, program, vocab, r)
            for _ in range(5):
                raws = [make_text(r, before) for _ in range(TEXTS)]
                before = before[-500:]
                for form in t.forms:
                    lines = t.got(raws, form)
                    for at, raw in enumerate(raws):
                        if lines[at] != t.want(raw, form):
                            report(t, raws, at, form, seed)
                            sys.exit(1)
                texts += len(raws)
                size += sum(map(len, raws))
            rounds += 1
    print(f'seed {seed}: {rounds} rounds, {texts} texts, {size} bytes, 0 differ')


main()
