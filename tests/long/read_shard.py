#!/usr/bin/env python3
"""Reads shards by shards/FORMAT.md, "The frame" and "Shards", and prints their instances as bert-cat does: a whole reader in 60
lines. Needs Python's standard library and the zstd program; believes checksums unseen.    read_shard.py FILE.shard..."""
import itertools, json, struct, subprocess, sys
def frame(path):
    """The header, and the raw bytes of each block of instances with their number."""
    b = open(path, 'rb').read()
    at = 32 + struct.unpack_from('<I', b, 16)[0]
    header, at, blocks = json.loads(b[32:at]), at + 8, []
    while b[at:at + 4] == b'BLK1':
        kind, codec, _, _, size, records = struct.unpack_from('<BBHQQI', b, at + 4)
        raw, at = b[at + 40:at + 40 + size], at + 40 + size
        if codec == 1:
            raw = subprocess.run(['zstd', '-dcq'], input=raw, stdout=subprocess.PIPE, check=True).stdout
        if kind == 0:
            blocks.append((records, raw))
    return header, blocks

def columns(b):
    """A function that takes the next column of B: M numbers of W bytes, plane by plane."""
    at = 0
    def column(m, w):
        nonlocal at
        planes, at = [b[at + k * m:at + k * m + m] for k in range(w)], at + m * w
        return [int.from_bytes(number, 'little') for number in zip(*planes)]
    return column

def instances(path):
    header, blocks = frame(path)
    recipe, special = header['recipe'], header['recipe']['special']
    size = recipe['tokenizer']['vocab']['size']
    v = next(w for w in (1, 2, 3, 4) if size <= 256 ** w)
    k = next(k for k in range(8, 33) if -(-size >> k) <= (128 if k == 8 else 64))
    plain = lambda ids: [next((to + x - a for a, b, to in recipe.get('read_as', ()) if a <= x <= b), x) for x in ids]
    d = 256 - -(-size >> k)                                 # codes from here on tell the upper bits of an id
    for records, b in blocks:
        column = columns(b)
        flags, segments, _, masks = (column(records, w) for w in (1, 1, 2, 2))
        lengths, _, _ = (column(sum(segments), w) for w in (2, 4, 4))
        gaps = column(sum(masks), 1 if recipe['max_seq_length'] <= 256 else 2)
        kinds = [x >> i & 3 for x in column(-(-len(gaps) // 4), 1) for i in (0, 2, 4, 6)][:len(gaps)]
        others = iter(column(kinds.count(2), v))
        common = list(itertools.accumulate(column(column(1, 1)[0], v)))
        codes = column(sum(lengths), 1)
        rest = iter(column(sum(c >= d for c in codes), -(-k // 8)))
        ids = iter([common[c] if c < d else (c - d << k) + next(rest) for c in codes])
        lengths, masked = iter(lengths), iter(zip(gaps, kinds))
        for i in range(records):
            parts = [[next(ids) for _ in range(next(lengths))] + [special['sep']] for _ in range(segments[i])]
            tokens = [special['cls']] + sum(parts, [])
            types = [0] * (1 + len(parts[0])) + [int(recipe['pairs'] != 'none')] * sum(map(len, parts[1:]))
            found = list(itertools.islice(masked, masks[i]))
            positions = list(itertools.accumulate(gap for gap, _ in found))
            labels = [tokens[p] for p in positions]
            for p, (_, kind) in zip(positions, found):
                tokens[p] = (special['mask'], tokens[p], next(others) if kind == 2 else None)[kind]
            yield dict(input_ids=plain(tokens), segment_ids=types, masked_lm_positions=positions, masked_lm_ids=plain(labels), next_sentence_label=flags[i])

for instance in itertools.chain.from_iterable(map(instances, sys.argv[1:])):
    print(json.dumps(instance, separators=(',', ':')))
