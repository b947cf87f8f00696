"""The tokenizer's peers, for tokenizer-sweep.py and tokenizer-fuzz.py: google-research/bert's rules, written anew over
Python's unicodedata and str, and Hugging Face's tokenizers package. Each says the words and the ids of a text; and random
text of what they, or bert-tokenize, may stumble over.
"""
import subprocess
import unicodedata


class Google:
    """The rules of tokenization.py, written anew; see the table in tokenizer/README.md."""
    def __init__(self, vocab, lower, strip, max_word=None):
        self.lower, self.strip, self.max_word = lower, strip, max_word or 200
        with open(vocab, encoding='utf-8', newline='\n') as f:
            self.vocab = {line.strip(): i for i, line in enumerate(f)}

    @staticmethod
    def cleaned(text):
        for x in text:
            c = ord(x)
            if c in (0, 0xFFFD):
                continue
            if x in ' \t\n\r' or unicodedata.category(x) == 'Zs':
                yield ' '
            elif unicodedata.category(x) in ('Cc', 'Cf'):
                continue
            elif 0x4E00 <= c <= 0x9FFF or 0x3400 <= c <= 0x4DBF or 0x20000 <= c <= 0x2A6DF or 0x2A700 <= c <= 0x2B73F or \
                    0x2B740 <= c <= 0x2B81F or 0x2B820 <= c <= 0x2CEAF or 0xF900 <= c <= 0xFAFF or 0x2F800 <= c <= 0x2FA1F:
                yield f' {x} '
            else:
                yield x

    @staticmethod
    def is_punctuation(x):
        c = ord(x)
        return 33 <= c <= 47 or 58 <= c <= 64 or 91 <= c <= 96 or 123 <= c <= 126 or unicodedata.category(x).startswith('P')

    def words(self, text):
        out = []
        for token in ''.join(self.cleaned(text)).split():
            if self.lower:
                token = token.lower()
            if self.strip:
                token = ''.join(x for x in unicodedata.normalize('NFD', token) if unicodedata.category(x) != 'Mn')
            word = ''
            for x in token:
                if self.is_punctuation(x):
                    out += [word, x]
                    word = ''
                else:
                    word += x
            out.append(word)
        return ' '.join(out).split()

    def pieces(self, word):
        if len(word) > self.max_word:
            return [self.vocab['[UNK]']]
        ids, start = [], 0
        while start < len(word):
            for end in range(len(word), start, -1):
                piece = ('##' if start else '') + word[start:end]
                if piece in self.vocab:
                    ids.append(self.vocab[piece])
                    start = end
                    break
            else:
                return [self.vocab['[UNK]']]
        return ids

    def ids(self, text):
        return ' '.join(str(i) for w in self.words(text) for i in self.pieces(w))


class HuggingFace:
    def __init__(self, vocab, lower, strip, max_word=None):
        from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, AddedToken
        with open(vocab, encoding='utf-8', newline='\n') as f:
            table = {line.strip(): i for i, line in enumerate(f)}
        t = Tokenizer(models.WordPiece(table, unk_token='[UNK]', max_input_chars_per_word=max_word or 100))
        t.normalizer = normalizers.BertNormalizer(True, True, strip, lower)
        t.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        t.add_special_tokens([AddedToken(x, special=True, normalized=False)
                              for x in ('[UNK]', '[SEP]', '[PAD]', '[CLS]', '[MASK]') if x in table])
        self.t = t

    def words(self, text):
        return [w for w, _ in self.t.pre_tokenizer.pre_tokenize_str(self.t.normalizer.normalize_str(text))]

    def ids(self, text):
        return ' '.join(map(str, self.t.encode(text, add_special_tokens=False).ids))

    def offsets(self, text):
        e = self.t.encode(text, add_special_tokens=False)
        return ' '.join(f'{i}:{a}:{b}' for i, (a, b) in zip(e.ids, e.offsets))


def ask(program, texts, *options):
    text = '\n'.join(texts) + '\n'
    r = subprocess.run([program, *options], input=text.encode(), stdout=subprocess.PIPE, check=True)
    return r.stdout.decode().split('\n')[:-1]


def compare(what, texts, got, want):
    bad = [(t, g, w) for t, g, w in zip(texts, got, want) if g != w]
    for t, g, w in bad[:5]:
        print(f'{what}: {t!a}\n    got    {g!a}\n    wanted {w!a}')
    print(f'{what}: {len(texts)} lines, {len(bad)} differ')
    return len(bad) + (len(got) != len(texts))


# What random text is drawn from: mostly what is treated specially.
PARTS = ['the', 'Unaffable', 'RUNNING', 'straße', 'ΟΔΥΣΣΕΥΣ', 'Σ', 'İ', 'ı', 'é', 'e\u0301', 'ﬁ', '한국어', '각', '\u1100\u1161', '漢',
         '\uF900', '\U0002B820', '\U0002B740', 'か\u3099', 'ガ', '\u0345', '\u0344', '\u0F73', '\u0340', '\u037E', '\u1FEF', '\u2260',
         '\u226E', '\u00AD', '\u200B', '\u200D', '\uFEFF', '\uFFFD', '\x00', '\x0b', '\x1c', '\x85', '\u2028', '\u3000', '\u180E',
         '\uE000', '\u0378', '[MASK]', '[CLS]', '[mask]', '[PAD', '[[SEP]]', '[UNK]', '##ing', '.', "'", '’', ':', '\u00B7', '#', '5€',
         '\U0001D15E', '\U0001D160', '\U0001D165', '\U0001D16D', '\U0001D167', '\u302E', '\u302A', '\U00016FF0', '\u0327', '\u034F',
         '\u0898', '\U0001E000', '\U0001E2AE', '\u1DF9', '\u05B0', '\u0E38', '\u0F71', '\U00011938', '\U00011935\U00011930', '😀', '👩\u200D👩',
         'x' * 99, 'y' * 101, 'z' * 201, 'ab' * 100, ' ', ' ', ' ', '\t', '-', 'a', 'B', '1', '42']


def random_text(r):
    out = []
    for _ in range(r.randint(1, 12)):
        k = r.random()
        if k < .7:
            out.append(r.choice(PARTS))
        elif k < .9:
            out.append(chr(r.choice([r.randrange(0x20, 0x3000), r.randrange(0x20, 0x20000)])))
        else:
            out.append(chr(r.randrange(0x110000)))
    return ''.join(x for x in out if x != '\n' and not 0xD800 <= ord(x[0]) < 0xE000).rstrip('\r').lstrip('\uFEFF')
