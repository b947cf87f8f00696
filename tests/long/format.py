#!/usr/bin/env python3
"""Another reader, written from shards/FORMAT.md alone: reads token documents and shards, makes
every instance of the shards again from the documents, masks and order included, and compares.

    format.py FOLDER FILE.tok...        (Python's standard library and the zstd program)
"""
import collections, glob, itertools, json, random, struct, subprocess, sys

U32 = 0xFFFFFFFF


# --- the frame -----------------------------------------------------------------------------

def frame(path):
    """Header, blocks (type, records, raw bytes) and totals of a framed file."""
    b = open(path, 'rb').read()
    at = 32 + struct.unpack_from('<I', b, 16)[0]
    header, at, blocks = json.loads(b[32:at]), at + 8, []
    while b[at:at + 4] == b'BLK1':
        kind, codec, _, _, size, records = struct.unpack_from('<BBHQQI', b, at + 4)
        body = b[at + 40:at + 40 + size]
        if codec:
            body = subprocess.run(['zstd', '-dcq'], input=body, stdout=subprocess.PIPE, check=True).stdout
        blocks.append((kind, records, body))
        at += 40 + size
    n, count = struct.unpack_from('<IQ', b, at + 4)
    at += 16 + 40 * count
    return header, blocks, json.loads(b[at:at + n])


def varint(b, at):
    v = shift = 0
    while True:
        v |= (b[at] & 127) << shift
        shift += 7
        at += 1
        if b[at - 1] < 128:
            return v, at


def text(b, at):
    n, at = varint(b, at)
    return b[at:at + n], at + n


# --- token documents -------------------------------------------------------------------------

def token_documents(path):
    """(record's bytes, key, token lists of sentences) of each document."""
    header, blocks, _ = frame(path)
    width = header['tokenizer']['id_bytes']
    for kind, records, b in blocks:
        at = 0
        for _ in range(records if kind == 0 else 0):
            n, at = varint(b, at)
            end, body = at + n, b[at:at + n]
            key, at = int.from_bytes(b[at:at + 16], 'big'), at + 16
            size, at = varint(b, at)
            name, at = text(b, at)
            title, at = text(b, at)
            count, at = varint(b, at)
            lengths = []
            for _ in range(count):
                n, at = varint(b, at)
                lengths.append(n)
            ids = [int.from_bytes(b[i:i + width], 'little') for i in range(at, end, width)]
            at, sentences = 0, []
            for n in lengths:
                sentences.append(ids[at:at + n])
                at += n
            at = end
            yield body, key, sentences


# --- shards -----------------------------------------------------------------------------------

def read_shard(path):
    """Header, table of documents [(key, occurrence, sentences, tokens)], lengths of their sentences, instances as dicts."""
    header, blocks, totals = frame(path)
    recipe = header['recipe']
    size, length = recipe['tokenizer']['vocab']['size'], recipe['max_seq_length']
    v = next(w for w in (1, 2, 3, 4) if size <= 256 ** w)
    k = next(k for k in range(8, 33) if -(-size >> k) <= (128 if k == 8 else 64))
    d = 256 - -(-size >> k)
    documents, instances, sentences = [], [], []
    for kind, records, b in blocks:
        at = 0
        if kind == 2:
            for _ in range(records):
                left, mine = documents[len(sentences)][3], []
                while left > 0:
                    n, at = varint(b, at)
                    assert n > 0
                    mine.append(n)
                    left -= n
                assert left == 0
                sentences.append(mine)
            assert at == len(b)
        elif kind == 1:
            for _ in range(records):
                key, at, entry = int.from_bytes(b[at:at + 16], 'big'), at + 16, []
                for _ in range(4):
                    x, at = varint(b, at)
                    entry.append(x)
                _, at = text(b, at)
                _, at = text(b, at)
                documents.append((key, entry[0], entry[1], entry[2]))
        elif kind == 0:
            def column(m, w):
                nonlocal at
                planes = [b[at + k * m:at + (k + 1) * m] for k in range(w)]
                at += m * w
                return [sum(planes[k][j] << 8 * k for k in range(w)) for j in range(m)]
            flags, segments, passes, masks = column(records, 1), column(records, 1), column(records, 2), column(records, 2)
            s, p = sum(segments), sum(masks)
            lengths, docs, firsts = column(s, 2), column(s, 4), column(s, 4)
            gaps, kinds = column(p, 1 if length <= 256 else 2), column(-(-p // 4), 1)
            kinds = [x >> i & 3 for x in kinds for i in (0, 2, 4, 6)]
            assert 3 not in kinds and not any(kinds[p:])
            other = iter(column(kinds.count(2), v))
            common = list(itertools.accumulate(column(column(1, 1)[0], v)))
            codes = column(sum(lengths), 1)
            rest = iter(column(sum(c >= d for c in codes), -(-k // 8)))
            assert at == len(b) and common == sorted(set(common))
            ids = [common[c] if c < d else (c - d << k) + next(rest) for c in codes]
            often = collections.Counter(ids[::4])
            most = sorted((i for i in often if often[i] > 1), key=lambda i: (-often[i], i))[:d if size <= 1 << 20 else 0]
            assert common == sorted(most) and not any(c >= d and i in most for c, i in zip(codes, ids))
            s = p = t = 0
            for i in range(records):
                one = {'flags': flags[i], 'pass': passes[i], 'segments': [], 'masks': []}
                for _ in range(segments[i]):
                    one['segments'].append((docs[s], firsts[s], ids[t:t + lengths[s]]))
                    t += lengths[s]
                    s += 1
                position, tokens = 0, [None]
                for segment in one['segments']:
                    tokens += segment[2] + [None]
                for _ in range(masks[i]):
                    position += gaps[p]
                    label = tokens[position]
                    shown = (recipe['special']['mask'], label, next(other) if kinds[p] == 2 else None)[kinds[p]]
                    assert kinds[p] == (0 if shown == recipe['special']['mask'] else 1 if shown == label else 2)
                    one['masks'].append((position, shown))
                    p += 1
                instances.append(one)
    return header, documents, sentences, instances, totals


# --- random numbers -----------------------------------------------------------------------------

def philox(k, x):
    (k0, k1), (x0, x1, x2, x3) = k, x
    for _ in range(10):
        p, q = 0xD2511F53 * x0, 0xCD9E8D57 * x2
        x0, x1, x2, x3 = (q >> 32) ^ x1 ^ k0, q & U32, (p >> 32) ^ x3 ^ k1, p & U32
        k0, k1 = (k0 + 0x9E3779B9) & U32, (k1 + 0xBB67AE85) & U32
    return x0, x1, x2, x3


class Stream:
    def __init__(self, seed, purpose, key, occurrence, number, item):
        k = (seed & U32, seed >> 32)
        t = philox(k, tuple(key >> 32 * i & U32 for i in range(4)))
        self.s = philox(k, tuple(a ^ b for a, b in zip(t, (purpose, occurrence, number, item))))
        self.block, self.words, self.coins = 0, [], []

    def u32(self):
        if not self.words:
            self.words = list(philox(self.s[2:], (self.block & U32, self.block >> 32, self.s[0], self.s[1])))
            self.block += 1
        return self.words.pop(0)

    def u64(self):
        low = self.u32()
        return low | self.u32() << 32

    def below(self, n):
        m = n * self.u32()
        while (m & U32) < 2 ** 32 % n:
            m = n * self.u32()
        return m >> 32

    def unit(self):
        return self.u32() / 2 ** 32

    def coin(self):
        if not self.coins:
            x = self.u32()
            self.coins = [x >> i & 1 for i in range(32)]
        return self.coins.pop(0)


def shorten(a, b, most, coin):
    while a[1] - a[0] + b[1] - b[0] > most:
        longer = a if a[1] - a[0] > b[1] - b[0] else b
        if coin():
            longer[0] += 1
        else:
            longer[1] -= 1


# --- documents to instances ----------------------------------------------------------------------

def draw(recipe, k, n_shards, docs):
    """The instances of shard k: docs = [(key, occurrence, sentences with tokens)] in order."""
    share = recipe.get('random_next')
    most, out = recipe['max_seq_length'] - 3, []
    ring = [i for i, (key, occurrence, s) in enumerate(docs) if s and not occurrence]
    flat = [[t for s in d[2] for t in s] for d in docs]
    for a_doc, (key, occurrence, sentences) in enumerate(docs):
        starts = [0]
        for s in sentences:
            starts.append(starts[-1] + len(s))
        for number in range(recipe['dupe_factor']):
            i = 0
            while i < len(sentences) and (share is None or len(sentences) > 1):
                r = Stream(recipe['seed'], 1, key, occurrence, number, starts[i])
                target = target_of(recipe, most, r, key, occurrence, number)
                end = i + (1 if share is None else 2)
                while end < len(sentences) and starts[end] - starts[i] < target:
                    end += 1
                if share is not None and len(sentences) - end == 1:
                    end += 1
                c = end - i
                a = 1 if c == 1 else 1 + r.below(c - 1)
                if share is not None:
                    rand = r.unit() < share and len(ring) > 1
                    if rand and len(sentences) - (i + a) == 1:
                        a += 1
                elif len(ring) == 1:
                    if c == 1:
                        i = end
                        continue
                    rand = False
                else:
                    rand = c == 1 or r.unit() < .5
                sa = [starts[i], starts[i + a]]
                if rand:
                    point = (k * 2 ** 64 + r.u64()) * 2 ** 64 // n_shards
                    at = next((j for j, d in enumerate(ring) if docs[d][0] >= point), 0)
                    if docs[ring[at]][0] == key:
                        at = (at + 1) % len(ring)
                    b_doc = ring[at]
                    bs = docs[b_doc][2]
                    first = r.below(len(bs))
                    offset = sum(map(len, bs[:first]))
                    sb, last = [offset, offset], first
                    while last < len(bs) and (last == first or sb[1] - sb[0] < target - (sa[1] - sa[0])):
                        sb[1] += len(bs[last])
                        last += 1
                    i += a
                else:
                    b_doc, sb = a_doc, [starts[i + a], starts[end]]
                    i = end
                shorten(sa, sb, most, r.coin)
                one = {'flags': int(rand), 'pass': number, 'masks': [],
                       'segments': [(d, s[0], flat[d][s[0]:s[1]]) for d, s in ((a_doc, sa), (b_doc, sb))]}
                order = Stream(recipe['seed'], 2, key, occurrence, number, sa[0]).u64()
                out.append(((order, key, occurrence, number, sa[0]), one))
    out.sort(key=lambda x: x[0])
    return out


def target_of(recipe, most, r, key, occurrence, number):
    if recipe.get('document_lengths'):
        r = Stream(recipe['seed'], 1, key, occurrence, number, 2 ** 32 - 1)
    return 2 + r.below(most - 1) if r.unit() < recipe['short_seq_prob'] else most


def starts_of(sentences):
    starts = [0]
    for s in sentences:
        starts.append(starts[-1] + len(s))
    return starts


def draw_sop(recipe, k, n_shards, docs):
    most, out = recipe['max_seq_length'] - 3, []
    for d, (key, occurrence, sentences) in enumerate(docs):
        starts, flat = starts_of(sentences), [t for s in sentences for t in s]
        for number in range(recipe['dupe_factor'] if len(sentences) > 1 else 0):
            i = 0
            while i < len(sentences):
                if i and i + 1 == len(sentences):
                    i -= 1
                r = Stream(recipe['seed'], 1, key, occurrence, number, starts[i])
                target = target_of(recipe, most, r, key, occurrence, number)
                end = i + 2
                while end < len(sentences) and starts[end] - starts[i] < target:
                    end += 1
                a = 1 + r.below(end - i - 1)
                x, y = [starts[i], starts[i + a]], [starts[i + a], starts[end]]
                swapped = r.unit() < .5
                shorten(*((y, x) if swapped else (x, y)), most, r.coin)
                one = {'flags': int(swapped), 'pass': number, 'masks': [],
                       'segments': [(d, s[0], flat[s[0]:s[1]]) for s in ((y, x) if swapped else (x, y))]}
                out.append(((Stream(recipe['seed'], 2, key, occurrence, number, x[0]).u64(), key, occurrence, number, x[0]), one))
                i = end
    out.sort(key=lambda x: x[0])
    return out


def draw_none(recipe, k, n_shards, docs):
    most, out, tails = recipe['max_seq_length'] - 2, [], []
    for d, (key, occurrence, sentences) in enumerate(docs):
        ends, flat = starts_of(sentences)[1:], [t for s in sentences for t in s]
        for number in range(recipe['dupe_factor']):
            f = 0
            while f < len(flat):
                r = Stream(recipe['seed'], 1, key, occurrence, number, f)
                target = target_of(recipe, most, r, key, occurrence, number)
                fits = [e for e in ends if f < e <= f + target]
                end = max(fits) if fits else min(min(e for e in ends if e > f), f + most)
                name = (Stream(recipe['seed'], 2, key, occurrence, number, f).u64(), key, occurrence, number, f)
                one = {'flags': 0, 'pass': number, 'masks': [], 'segments': [(d, f, flat[f:end])]}
                (tails if recipe['cross_documents'] and end == len(flat) else out).append((name, one))
                f = end
    tails.sort(key=lambda x: (x[1]['pass'], x[0]))
    for name, one in tails:
        if out and 'open' in out[-1][1] and out[-1][1]['pass'] == one['pass']:
            last = out[-1][1]['segments']
            if 1 + sum(1 + len(s[2]) for s in last + one['segments']) <= recipe['max_seq_length'] and len(last) < 255:
                last += one['segments']
                continue
        one['open'] = True
        out.append((name, one))
    for _, one in out:
        one.pop('open', None)
    out.sort(key=lambda x: x[0])
    return out


def draw_google(recipe, everything, words, vocab):
    """All instances in order: everything = [(number in the table, sentences with tokens)] in the order of the input."""
    r, most, out = random.Random(recipe['seed']), recipe['max_seq_length'] - 3, []
    entries = {t: i for i, t in enumerate(vocab)}
    pool = list(entries.values())
    docs = [d for d in everything if d[1]]
    r.shuffle(docs)
    for number in range(recipe['dupe_factor']):
        for place, (d, sentences) in enumerate(docs):
            starts, i = starts_of(sentences), 0
            target = r.randint(2, most) if r.random() < recipe['short_seq_prob'] else most
            while i < len(sentences):
                end = i + 1
                while end < len(sentences) and starts[end] - starts[i] < target:
                    end += 1
                c = end - i
                a = r.randint(1, c - 1) if c > 1 else 1
                x, b_doc = [starts[i], starts[i + a]], d
                rand = c == 1 or r.random() < .5
                if rand:
                    for _ in range(10):
                        other = r.randint(0, len(docs) - 1)
                        if other != place:
                            break
                    b_doc, bs = docs[other]
                    first = r.randint(0, len(bs) - 1)
                    bstarts, last = starts_of(bs), first + 1
                    while last < len(bs) and bstarts[last] - bstarts[first] < target - (x[1] - x[0]):
                        last += 1
                    y, i = [bstarts[first], bstarts[last]], i + a
                else:
                    y, bs, i = [starts[i + a], starts[end]], sentences, end
                shorten(x, y, most, lambda: r.random() < .5)
                segments = [(n, s[0], [t for z in ss for t in z][s[0]:s[1]]) for n, s, ss in ((d, x, sentences), (b_doc, y, bs))]
                one = {'flags': int(rand), 'pass': number, 'segments': segments, 'masks': []}
                tokens = [None] + segments[0][2] + [None] + segments[1][2] + [None]
                candidates = []
                for p, t in enumerate(tokens):
                    if t is None:
                        continue
                    if recipe['whole_word_mask'] and t in words and candidates:
                        candidates[-1].append(p)
                    else:
                        candidates.append([p])
                r.shuffle(candidates)
                want = min(recipe['max_predictions_per_seq'], max(1, round(len(tokens) * recipe['masked_lm_prob'])))
                for word in candidates:
                    if len(one['masks']) + len(word) > want:
                        continue
                    for p in word:
                        new = (recipe['special']['mask'] if r.random() < .8 else tokens[p] if r.random() < .5
                               else pool[r.randint(0, len(pool) - 1)])
                        one['masks'].append((p, new))
                one['masks'].sort()
                out.append(one)
    r.shuffle(out)
    return out


def join(candidates, tokens, listed):
    k, longest = 0, max(map(len, listed))
    while k < len(candidates):
        for n in range(longest, 0, -1):
            run = candidates[k:k + n]
            if n == 1 or (all(len(c) == 1 for c in run) and run[-1][0] - run[0][0] == n - 1
                          and tuple(tokens[c[0]] for c in run) in listed):
                break
        run = candidates[k:k + n]
        yield [p for c in run for p in c]
        k += len(run)


def mask(recipe, name, one, words, pool, listed):
    """Draws the masks of ONE. words: ids that continue a word; listed: words as tuples of ids of characters."""
    _, key, occurrence, number, first = name
    r = Stream(recipe['seed'], 3, key, occurrence, number, first)
    tokens = [None]
    for _, _, segment in one['segments']:
        tokens += segment + [None]
    want = min(recipe['max_predictions_per_seq'], max(1, round(len(tokens) * recipe['masked_lm_prob'])))
    candidates = []
    for p, t in enumerate(tokens):
        if t is None:
            continue
        if recipe['whole_word_mask'] and t in words and tokens[p - 1] is not None:
            candidates[-1].append(p)
        else:
            candidates.append([p])
    if listed:
        candidates = list(join(candidates, tokens, listed))
    spans, runs = recipe.get('mask_spans'), set()
    order, chosen, j = list(range(len(candidates))), [], 0
    while spans and len(chosen) < want and j < len(order):
        o = j + r.below(len(order) - j)
        order[j], order[o] = order[o], order[j]
        w, j = order[j], j + 1
        if candidates[w][0] in chosen:
            continue
        if spans == 'ngram':
            length = (1, 1, 1, 1, 1, 1, 2, 2, 2, 3, 3)[r.below(11)]
        else:
            length = 1
            while r.unit() >= .2:
                length = 1 if length == 10 else length + 1
        for k in range(w, min(w + length, len(candidates))):
            if candidates[k][0] in chosen or len(chosen) + len(candidates[k]) > want:
                break
            if k > w and None in tokens[candidates[k - 1][0]:candidates[k][0]]:
                break
            if k == w or spans == 'ngram':
                runs.add(candidates[k][0])
            chosen += candidates[k]
    while not spans and len(chosen) < want and j < len(candidates):
        o = j + r.below(len(candidates) - j)
        candidates[j], candidates[o] = candidates[o], candidates[j]
        if len(chosen) + len(candidates[j]) <= want:
            runs.add(candidates[j][0])
            chosen += candidates[j]
        j += 1
    for p in sorted(chosen):
        if p in runs or not (spans == 'span' or recipe.get('word_draws')):
            x = r.unit()
        new = recipe['special']['mask'] if x < .8 else tokens[p] if x < .9 else pool[r.below(len(pool))]
        one['masks'].append((p, new))


def main(folder, *files):
    manifest = json.load(open(f'{folder}/manifest.json'))
    recipe, n = manifest['recipe'], len(manifest['shards'])
    vocab = [line.strip() for line in open(f'{folder}/vocab.txt', encoding='utf-8')]
    words = {i for i, t in enumerate(vocab) if t.startswith('##')}
    listed = set()
    if 'masking_words' in recipe:
        entries = {t: i for i, t in enumerate(vocab)}
        listed = {tuple(entries[c] for c in line.rstrip('\n')) for line in open(f'{folder}/masking-words.txt', encoding='utf-8')}
        assert len(listed) == recipe['masking_words']['words']
    never = {i for first, last in recipe['never'] for i in range(first, last + 1)}
    pool = [i for i in range(len(vocab)) if i not in never]
    everything = sorted((body, key, sentences) for f in files for body, key, sentences in token_documents(f))
    assert f'{sum(d[1] for d in everything) % 2 ** 128:032x}' == manifest['corpus']['digest']
    google = recipe['rules'] == 'google 1'
    if google:
        given = [d for f in files for d in token_documents(f)]
        order = sorted(range(len(given)), key=lambda i: given[i][0])
        all_drawn = draw_google(recipe, [(order.index(i), [s for s in d[2] if s]) for i, d in enumerate(given)], words, vocab)
    how = {'nsp': draw, 'sop': draw_sop, 'none': draw_none}[recipe['pairs']]
    compared = 0
    for k, path in enumerate(sorted(glob.glob(f'{folder}/*.shard'))):
        header, table, lengths, instances, totals = read_shard(path)
        assert (header['shard'], header['shards'], header['recipe']) == (k, n, recipe)
        mine = [(key, sentences) for _, key, sentences in everything if google or key * n >> 128 == k]
        docs = [(key, sum(key == o for o, _ in mine[:i]), [s for s in sentences if s]) for i, (key, sentences) in enumerate(mine)]
        assert table == [(d[0], d[1], len(m[1]), sum(map(len, m[1]))) for d, m in zip(docs, mine)]
        assert lengths == ([] if google else [[len(s) for s in d[2]] for d in docs])
        drawn = [(None, one) for one in all_drawn[k::n]] if google else how(recipe, k, n, docs)
        for name, one in drawn:
            if recipe['masking'] == 'static' and not google:
                mask(recipe, name, one, words, pool, listed)
        assert len(instances) == len(drawn) == totals['instances'], (len(instances), len(drawn))
        for i, (is_, (_, want)) in enumerate(zip(instances, drawn)):
            assert is_ == want, (path, i, is_, want)
        compared += len(instances)
    print(f'{compared} instances in {n} shards are as FORMAT.md draws them')


main(*sys.argv[1:])
