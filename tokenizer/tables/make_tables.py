#!/usr/bin/env python3
"""Writes the tables of chars.h, from those who know.

    python3.11 make_tables.py google UCD > google_tables.c
    python3 make_tables.py hf > hf_tables.c

google: the rules of google-research/bert's tokenization.py. Unicode 14.0 is
what this Python knows (3.11: its unicodedata and str.lower); 15.0 is read from
UCD, a folder with UnicodeData.txt, SpecialCasing.txt and PropList.txt of
Unicode 15.0 (Debian: unicode-data 15.0.0-1, /usr/share/unicode).
hf: asks Hugging Face's tokenizers package about every code point; versions
0.22.2 and 0.23.3 answer alike.

Run by hand, when the rules change; the tables are committed.
"""
import os
import sys
import unicodedata

BLOCK = 128
DELETE, SPACE, CJK, PUNCT, PUNCT_BARE, HANGUL, NONSTARTER, TAIL, CASED, IGNORABLE, SIGMA = (1 << i for i in range(11))
SCALARS = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
CJK_RANGES = [(0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F),
              (0x2B820, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F)]


class Python:
    """Unicode as this interpreter has it."""
    version = unicodedata.unidata_version

    def category(self, c): return unicodedata.category(chr(c))
    def combining(self, c): return unicodedata.combining(chr(c))
    def nfd(self, s): return unicodedata.normalize('NFD', s)
    def lower(self, c): return chr(c).lower()
    # str.lower itself tells how a sigma sees the character before it.
    def cased(self, c): return (chr(c) + 'Σ').lower()[-1] == 'ς'
    def ignorable(self, c): return ('A' + chr(c) + 'Σ').lower()[-1] == 'ς' and not self.cased(c)


class Files:
    """Unicode as the files of the Unicode Character Database have it."""
    def __init__(self, folder, older):
        self.older = older
        self.cat, self.ccc, self.mapping, self.low, props = {}, {}, {}, {}, {}
        first = None
        for line in self.lines(folder, 'UnicodeData.txt'):
            f = line.split(';')
            c = int(f[0], 16)
            if f[1].endswith(', First>'):
                first = c
                continue
            for c in range(first if first is not None else c, c + 1):
                self.cat[c] = f[2]
            first = None
            if int(f[3]):
                self.ccc[c] = int(f[3])
            if f[5] and not f[5].startswith('<'):
                self.mapping[c] = [int(x, 16) for x in f[5].split()]
            if f[13]:
                self.low[c] = chr(int(f[13], 16))
        for line in self.lines(folder, 'SpecialCasing.txt'):
            f = [x.strip() for x in line.split(';')]
            if len(f) == 5:     # unconditional: code; lower; title; upper;
                self.low[int(f[0], 16)] = ''.join(chr(int(x, 16)) for x in f[1].split())
        for line in self.lines(folder, 'PropList.txt'):
            span, name = (x.strip() for x in line.split(';'))
            a, _, b = span.partition('..')
            props.setdefault(name, set()).update(range(int(a, 16), int(b or a, 16) + 1))
        self.other_cased = props['Other_Lowercase'] | props['Other_Uppercase']
        self.version = '15.0.0'
        assert self.cat[0x1DF25] == 'Ll' and older.category(0x1DF25) == 'Cn', 'these are not the files of 15.0'

    @staticmethod
    def lines(folder, name):
        for line in open(os.path.join(folder, name), encoding='utf-8'):
            line = line.split('#')[0].strip()
            if line:
                yield line

    def category(self, c): return self.cat.get(c, 'Cn')
    def combining(self, c): return self.ccc.get(c, 0)
    def lower(self, c): return self.low.get(c, chr(c))

    def decompose(self, c):
        if 0xAC00 <= c <= 0xD7A3:
            s = c - 0xAC00
            return [0x1100 + s // 588, 0x1161 + s % 588 // 28] + ([0x11A7 + s % 28] if s % 28 else [])
        return [y for x in self.mapping[c] for y in self.decompose(x)] if c in self.mapping else [c]

    def nfd(self, s):
        out, run = [], []
        for c in (y for x in s for y in self.decompose(ord(x))):
            if not self.combining(c):
                out += sorted(run, key=self.combining)
                run = []
                out.append(c)
            else:
                run.append(c)
        return ''.join(map(chr, out + sorted(run, key=self.combining)))

    # Case_Ignorable is these categories and a few marks of punctuation (Word_Break MidLetter, MidNumLet and
    # Single_Quote), which are the same in 14.0 and 15.0.
    def ignorable(self, c):
        return self.category(c) in ('Mn', 'Me', 'Cf', 'Lm', 'Sk') or (
            self.older.ignorable(c) and self.older.category(c) not in ('Mn', 'Me', 'Cf', 'Lm', 'Sk'))

    def cased(self, c):
        return not self.ignorable(c) and (self.category(c) in ('Lu', 'Ll', 'Lt') or c in self.other_cased)


def google(u):
    """(flags, ccc, lower, bare, lower_bare) of every code point; None for a form that is the code point itself."""
    def bare(s):
        return ''.join(x for x in u.nfd(s) if u.category(ord(x)) != 'Mn')

    def is_punct(c):
        return c in range(33, 48) or c in range(58, 65) or c in range(91, 97) or c in range(123, 127) \
            or u.category(c).startswith('P')

    table = {}
    for c in SCALARS:
        s, cat, low = chr(c), u.category(c), u.lower(c)
        flags = 0
        if c in (0, 0xFFFD) or (cat in ('Cc', 'Cf') and s not in '\t\n\r'):
            flags |= DELETE
        elif cat in ('Zs', 'Zl', 'Zp') or s in '\t\n\r':
            flags |= SPACE
        if any(a <= c <= b for a, b in CJK_RANGES):
            flags |= CJK
        if is_punct(c):
            flags |= PUNCT
        if u.cased(c):
            flags |= CASED
        if u.ignorable(c):
            flags |= IGNORABLE
        if s == 'Σ':
            flags |= SIGMA
        forms = low, bare(s), bare(low)
        assert any(map(is_punct, map(ord, forms[1]))) == any(map(is_punct, map(ord, forms[2])))
        if any(map(is_punct, map(ord, forms[2]))):
            assert len(forms[1]) == len(forms[2]) == 1
            flags |= PUNCT_BARE
        table[c] = finish(c, flags, u.nfd(s), forms, u.combining)
    return table


def hf():
    from tokenizers import normalizers, pre_tokenizers

    def normalizer(clean=False, cjk=False, strip=False, lower=False):
        return normalizers.BertNormalizer(clean, cjk, strip, lower).normalize_str

    clean, cjk, bare, lower = normalizer(clean=True), normalizer(cjk=True), normalizer(strip=True), normalizer(lower=True)
    lower_bare, nfd, split = normalizer(strip=True, lower=True), normalizers.NFD().normalize_str, \
        pre_tokenizers.BertPreTokenizer().pre_tokenize_str

    # A combining class shows in how NFD sorts a mark beside marks of known classes, those that the package knows
    # as marks: U+0334 is of the lowest class, U+0345 of the highest.
    known = {}
    for c in SCALARS:
        s = chr(c)
        if unicodedata.combining(s) and (nfd(s + '\u0334') == '\u0334' + s or nfd('\u0345' + s) == s + '\u0345'):
            known.setdefault(unicodedata.combining(s), s)
    order = sorted(known)

    def combining(c):
        s = chr(c)
        stays = [k for k in order if nfd(s + known[k]) == s + known[k] and nfd(known[k] + s) == known[k] + s]
        assert stays == order or len(stays) == 1, hex(c)
        return 0 if stays == order else stays[0]

    punct = {c for c in SCALARS if len(split('a' + chr(c) + 'b')) == 3}
    table = {}
    for c in SCALARS:
        s = chr(c)
        flags = {'': DELETE, ' ': SPACE}.get(clean(s), 0)
        if cjk(s) != s:
            assert cjk(s) == ' ' + s + ' '
            flags |= CJK
        if c in punct:
            flags |= PUNCT
        forms = lower(s), bare(s), lower_bare(s)
        if punct & set(map(ord, forms[2])):
            assert len(forms[1]) == len(forms[2]) == 1 and ord(forms[1]) in punct
            flags |= PUNCT_BARE
        table[c] = finish(c, flags, nfd(s), forms, combining)
    return table


def finish(c, flags, nfd, forms, combining):
    """Adds what concerns canonical ordering, and checks what normalize.c takes for granted."""
    s = chr(c)
    ccc = combining(ord(nfd[0]))
    if 0xAC00 <= c <= 0xD7A3:
        assert forms == (s, nfd, nfd)
        return flags | HANGUL, 0, None, None, None
    if ccc:
        flags |= NONSTARTER
        assert all(combining(ord(x)) for x in nfd)
        assert not flags & (DELETE | SPACE | CJK | PUNCT | PUNCT_BARE)
        assert forms in ((s, s, s), (s, '', '')), hex(c)
    elif not flags & DELETE:
        tails = [bool(combining(ord(x))) for x in forms[2]]
        if any(tails):
            assert tails == sorted(tails) and not tails[0] and forms[1] == forms[2]
            flags |= TAIL
    return (flags, ccc) + tuple(None if f == s else f for f in forms)


class Pool:
    """Everything equal is stored once."""
    def __init__(self):
        self.forms, self.form_at = bytearray([0]), {}       # place 0 stands for "itself"
        self.entries, self.entry_at = [], {}
        self.blocks, self.block_at = [], {}

    def form(self, f):
        if f is None:
            return 0
        if f not in self.form_at:
            self.form_at[f] = len(self.forms)
            self.forms += bytes([len(f.encode())]) + f.encode()
        return self.form_at[f]

    def entry(self, e):
        e = e[:2] + (0,) + tuple(map(self.form, e[2:]))
        if e not in self.entry_at:
            self.entry_at[e] = len(self.entries)
            self.entries.append(e)
        return self.entry_at[e]

    def add(self, table):
        """The place of every block."""
        places, nothing = [], (0, 0, None, None, None)
        for start in range(0, 0x110000, BLOCK):
            block = tuple(self.entry(table.get(c, nothing)) for c in range(start, start + BLOCK))
            if block not in self.block_at:
                self.block_at[block] = len(self.blocks)
                self.blocks.append(block)
            places.append(self.block_at[block])
        return places


def rows(numbers):
    line = '\t'
    for n in numbers:
        if len(line) + len(str(n)) > 105:
            print(line.rstrip())
            line = '\t'
        line += f'{n}, '
    print(line.rstrip())


def write(what, tables):
    pool = Pool()
    places = [(name, version, pool.add(t)) for name, version, t in tables]
    assert len(pool.blocks) <= 256 and len(pool.forms) < 65536 and len(pool.entries) < 65536
    assert max(len(f.encode()) for f in pool.form_at) <= 16        # CHARS_FORM_MAX
    print(f'/* Made by make_tables.py {what}; not to be edited. */\n#include "tokenizer/tables/tables.h"\n')
    print('static const unsigned char forms[] = {')
    rows(pool.forms + bytes(16))       # so that CHARS_FORM_MAX bytes can always be read
    print('};\n\nstatic const struct char_entry entries[] = {')
    for e in pool.entries:
        print('\t{ %d, %d, { %d, %d, %d, %d } },' % e)
    print('};\n\nstatic const uint16_t entries_of[][CHARS_BLOCK] = {')
    for b in pool.blocks:
        print('\t{')
        rows(b)
        print('\t},')
    print('};')
    for name, version, p in places:
        print(f'\nstatic const uint8_t {name}_blocks[] = {{')
        rows(p)
        print('};')
        quoted = f'"{version}"' if version else 'NULL'
        print(f'\nconst struct chars {name} = {{ {quoted}, {name}_blocks, entries_of, entries, forms }};')


if __name__ == '__main__':
    if sys.argv[1:2] == ['google'] and len(sys.argv) == 3:
        python = Python()
        assert python.version == '14.0.0', 'run by a Python whose unicodedata is of Unicode 14.0'
        files = Files(sys.argv[2], python)
        old, new = google(python), google(files)
        # Nothing that 14.0 knew became anything else in 15.0, so each way of reading checks the other.
        assert all(old[c] == new[c] for c in SCALARS if python.category(c) != 'Cn')
        write('google', [('chars_google_14_0', '14.0', old), ('chars_google_15_0', '15.0', new)])
    elif sys.argv[1:] == ['hf']:
        write('hf', [('chars_hf_table', None, hf())])
    else:
        sys.exit(__doc__)
