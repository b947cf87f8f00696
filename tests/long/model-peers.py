#!/usr/bin/env python3
"""Holds bert-forward and bert-convert against transformers; speaks TAP.

    model-peers.py BIN TINY TEXT [WEIGHTS]

Each kind of model: ours is loaded by transformers, theirs by us, both put out the same (1e-4; commonly 1e-6),
and theirs converted is theirs, byte for byte. A checkpoint of bert-train is loaded by transformers, and bert-train
starts from theirs. Of what bert-finetune makes transformers says what bert-predict does. TINY is a model directory with every head, TEXT a folder with corpus.txt, vocab.txt and
config.json, WEIGHTS a model directory with real weights, or nothing. Works in the current folder.
"""
import os
import shutil
import subprocess
import sys

os.environ['TRANSFORMERS_VERBOSITY'] = 'error'
import torch
import transformers
from safetensors.torch import load_file, save_file

BIN, TINY, TEXT = sys.argv[1:4]
WEIGHTS = sys.argv[4] if len(sys.argv) > 4 else ''
KINDS = {'none': 'BertModel', 'pretraining': 'BertForPreTraining', 'mlm': 'BertForMaskedLM',
         'nsp': 'BertForNextSentencePrediction', 'classify': 'BertForSequenceClassification',
         'span': 'BertForQuestionAnswering', 'tokens': 'BertForTokenClassification'}
TOLERANCE = 1e-4
count = 0


def say(ok, what):
    global count
    count += 1
    print(f'{"ok" if ok else "not ok"} {count} - {what}', flush=True)


def tool(name, *args):
    return subprocess.run([f'{BIN}/{name}', '-q', *args], check=True, stdout=subprocess.PIPE, text=True).stdout


def inputs(vocab, length):
    lengths = torch.tensor([length, length // 2 + 1, 1, length, 4])
    mask = (torch.arange(length)[None] < lengths[:, None]).long()
    made = {'input_ids': torch.randint(1, vocab, mask.shape) * mask, 'attention_mask': mask,
            'token_type_ids': torch.randint(0, 2, mask.shape) * mask}
    save_file(made, 'in')
    return made


def wanted(output, name):
    kind, _, number = name.partition('.')
    return getattr(output, kind)[int(number)] if number else getattr(output, kind)


def worst_difference(model, folder, made):
    """Over all that bert-forward puts out, rows at padding left aside."""
    tool('bert-forward', '--hidden', '--attention', '--model', folder, '--input', 'in', '-o', 'out')
    model.eval()
    model.set_attn_implementation('eager')
    with torch.no_grad():
        output = model(**made, output_hidden_states=True, output_attentions=True)
    mask, worst, got = made['attention_mask'].bool(), 0, load_file('out')
    for name, tensor in got.items():
        want = wanted(output, name)
        assert want.shape == tensor.shape, (name, want.shape, tensor.shape)
        difference = want - tensor
        if name.startswith('attentions'):
            difference = difference.permute(0, 2, 1, 3)[mask]
        elif want.shape[:2] == mask.shape:
            difference = difference[mask]
        worst = max(worst, float(difference.abs().max()))
    L = model.config.num_hidden_layers
    assert len(got) == 2 * L + 1 + sum(isinstance(output[k], torch.Tensor) and k != 'loss' for k in output.keys()), list(got)
    return worst


def same_bytes(a, b):
    with open(a, 'rb') as x, open(b, 'rb') as y:
        return x.read() == y.read()


def check_untied():
    shutil.rmtree('theirs', ignore_errors=True)
    shutil.rmtree('again', ignore_errors=True)
    model = transformers.BertForMaskedLM(transformers.BertConfig(
        vocab_size=40, hidden_size=24, num_hidden_layers=2, num_attention_heads=3, intermediate_size=40, max_position_embeddings=16,
        tie_word_embeddings=False))
    for p in model.parameters():
        torch.nn.init.normal_(p, 0, 0.3)
    model.save_pretrained('theirs')
    worst = worst_difference(model, 'theirs', inputs(40, 12))
    say(worst < TOLERANCE, f'untied: theirs puts out the same, {worst:.1e}')
    tool('bert-convert', 'theirs', 'again')
    model, info = transformers.BertForMaskedLM.from_pretrained('again', output_loading_info=True)
    worst = worst_difference(model, 'again', inputs(40, 12))
    say(worst < TOLERANCE and not any(info.values()), f'untied: converted puts out the same, {worst:.1e}')


def train(*args):
    tool('bert-train', '--data', 'shards', '--batch', '8', *args)


def check_checkpoint():
    tool('bert-shard', '--vocab', f'{TEXT}/vocab.txt', '--max-seq-length', '64', '--dupe-factor', '1', '-o', 'shards', f'{TEXT}/corpus.txt')
    for optimizer in 'adamw', 'lamb':
        train('--config', f'{TEXT}/config.json', '--steps', '20', '--learning-rate', '1e-2', '--optimizer', optimizer, '-o', optimizer)
        folder = f'{optimizer}/checkpoint-20'
        model, info = transformers.BertForPreTraining.from_pretrained(folder, output_loading_info=True)
        say(not any(info.values()), f'{optimizer}: transformers loads a checkpoint, nothing missing or left {[k for k, v in info.items() if v]}')
        worst = worst_difference(model, folder, inputs(model.config.vocab_size, 60))
        say(worst < TOLERANCE, f'{optimizer}: a checkpoint puts out the same, {worst:.1e}')
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    line = "Alice's t\u00eate-\u00e0-t\u00eate: \u4e2d\u6587, UNBELIEVABLE!"
    ours = subprocess.run([f'{BIN}/bert-tokenize', '--vocab', f'{folder}/vocab.txt'], input=line + '\n', text=True, check=True, stdout=subprocess.PIPE).stdout
    theirs = tokenizer.encode(line, add_special_tokens=False)
    say(ours.split() == [str(i) for i in theirs], 'its tokenizer is ours, by the files of the checkpoint')
    # Theirs as a start: nothing has moved after a step at rate 0.
    model.save_pretrained('start')
    train('--init', 'start', '--steps', '1', '--learning-rate', '0', '-o', 'on')
    say(same_bytes('start/model.safetensors', 'on/checkpoint-1/model.safetensors'), 'bert-train starts from theirs')


def check_tuned():
    """What bert-finetune writes is a model of transformers', and bert-predict says the same as that."""
    books = f'{TEXT}/books.tsv'
    tool('bert-finetune', '--task', 'classify', '--model', 'adamw/checkpoint-20', '--train', books, '--epochs', '60', '--batch', '8',
         '--learning-rate', '3e-3', '-o', 'tuned')
    ours = [line.split('\t') for line in tool('bert-predict', '--task', 'classify', '--model', 'tuned', books).splitlines()[1:]]
    model = transformers.AutoModelForSequenceClassification.from_pretrained('tuned').eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained('tuned')
    texts = [line.rstrip('\n').split('\t')[1] for line in open(books, encoding='utf-8')][1:]
    made = tokenizer(texts, truncation=True, max_length=64, padding=True, return_tensors='pt')
    with torch.no_grad():
        share = model(**made).logits.softmax(-1)
    best = share.max(-1)
    say([model.config.id2label[int(i)] for i in best.indices] == [row[1] for row in ours], 'bert-predict names the classes that transformers does')
    worst = max(abs(float(v) - float(row[2])) for v, row in zip(best.values, ours))
    say(worst < 1e-5, f'with the same probabilities, {worst:.1e}')
    say(len(set(row[1] for row in ours)) == 2, 'of both classes')


def check_kind(word, name):
    kind = getattr(transformers, name)
    for folder in ('ours', 'theirs', 'again'):
        shutil.rmtree(folder, ignore_errors=True)
    made = inputs(40, 12)
    tool('bert-convert', '--head', word, TINY, 'ours')
    model, info = kind.from_pretrained('ours', output_loading_info=True)
    say(not any(info.values()), f'{name}: transformers loads ours, nothing missing or left {[k for k, v in info.items() if v]}')
    worst = worst_difference(model, 'ours', made)
    say(worst < TOLERANCE, f'{name}: ours puts out the same, {worst:.1e}')
    config = transformers.BertConfig(vocab_size=40, hidden_size=24, num_hidden_layers=3, num_attention_heads=3, intermediate_size=40,
                                     max_position_embeddings=16, hidden_act='gelu_new',
                                     num_labels=4 if word in ('classify', 'tokens') else 2)
    model = kind(config)
    for p in model.parameters():
        torch.nn.init.normal_(p, 0, 0.3)
    model.save_pretrained('theirs')
    worst = worst_difference(model, 'theirs', made)
    say(worst < TOLERANCE, f'{name}: theirs puts out the same, {worst:.1e}')
    tool('bert-convert', 'theirs', 'again')
    say(same_bytes('theirs/model.safetensors', 'again/model.safetensors'), f'{name}: converted, the same bytes')


torch.manual_seed(1)
for word, name in KINDS.items():
    check_kind(word, name)
check_untied()
check_checkpoint()
check_tuned()
if WEIGHTS:
    model = transformers.BertModel.from_pretrained(WEIGHTS)
    worst = worst_difference(model, WEIGHTS, inputs(model.config.vocab_size, 100))
    say(worst < TOLERANCE, f'real weights put out the same, {worst:.1e}')
print(f'1..{count}')
