#!/usr/bin/env python3
"""Makes the models and facts of this folder, and the model of the man pages' examples: make.py FOLDER MAN. Needs numpy and jax.

A BERT of its own, written from the formulas, in double, with gradients by automatic differentiation.
make.py --check MODEL GOLDEN compares it with outputs and gradient norms that transformers computed.
"""
import json, os, struct, sys
import numpy as np
import jax, jax.numpy as jnp

jax.config.update('jax_enable_x64', True)
TYPES = {'F32': np.float32, 'F64': np.float64, 'F16': np.float16, 'I32': np.int32, 'I64': np.int64}


def load(path):
    b = open(path, 'rb').read()
    n, = struct.unpack('<Q', b[:8])
    out = {}
    for k, t in json.loads(b[8:8 + n]).items():
        if k != '__metadata__':
            s, e = t['data_offsets']
            out[k] = np.frombuffer(b[8 + n + s:8 + n + e], TYPES[t['dtype']]).reshape(t['shape'])
    return out


def save(path, tensors):
    names = {v: k for k, v in TYPES.items()}
    head, at = {'__metadata__': {'format': 'pt'}}, 0
    for k in sorted(tensors):
        v = np.ascontiguousarray(tensors[k])
        head[k] = {'dtype': names[v.dtype.type], 'shape': list(v.shape), 'data_offsets': [at, at + v.nbytes]}
        at += v.nbytes
    h = json.dumps(head, separators=(',', ':')).encode()
    h += b' ' * (-len(h) % 8)
    with open(path, 'wb') as f:
        f.write(struct.pack('<Q', len(h)) + h + b''.join(np.ascontiguousarray(tensors[k]).tobytes() for k in sorted(tensors)))


def gelu(x):
    return x * jax.scipy.stats.norm.cdf(x)


def norm(w, name, x, eps):
    m = x.mean(-1, keepdims=True)
    return (x - m) / jnp.sqrt(((x - m) ** 2).mean(-1, keepdims=True) + eps) * w[name + '.weight'] + w[name + '.bias']


def linear(w, name, x):
    return x @ w[name + '.weight'].T + w[name + '.bias']


def encoder(w, c, ids, mask, types, pad_row_fixed):
    B, S = ids.shape
    e = 'bert.embeddings.'
    x = w[e + 'word_embeddings.weight'][ids]
    if pad_row_fixed:
        x = jnp.where((ids == 0)[..., None], jax.lax.stop_gradient(x), x)
    x = x + w[e + 'position_embeddings.weight'][:S] + w[e + 'token_type_embeddings.weight'][types]
    x = norm(w, e + 'LayerNorm', x, c['layer_norm_eps'])
    hidden, probs = [x], []
    D = c['hidden_size'] // c['num_attention_heads']
    for l in range(c['num_hidden_layers']):
        p = f'bert.encoder.layer.{l}.'
        q, k, v = (linear(w, p + 'attention.self.' + n, x).reshape(B, S, -1, D).transpose(0, 2, 1, 3) for n in ('query', 'key', 'value'))
        s = q @ k.transpose(0, 1, 3, 2) / np.sqrt(D) + jnp.where(mask, 0, -1e30)[:, None, None, :]
        a = jax.nn.softmax(s, -1)
        probs.append(a)
        y = linear(w, p + 'attention.output.dense', (a @ v).transpose(0, 2, 1, 3).reshape(B, S, -1))
        x = norm(w, p + 'attention.output.LayerNorm', x + y, c['layer_norm_eps'])
        y = linear(w, p + 'output.dense', gelu(linear(w, p + 'intermediate.dense', x)))
        x = norm(w, p + 'output.LayerNorm', x + y, c['layer_norm_eps'])
        hidden.append(x)
    return hidden, probs


def xent(logits, labels):
    """Mean over the labels that are not -100."""
    nll = -jnp.take_along_axis(jax.nn.log_softmax(logits, -1), jnp.maximum(labels, 0)[..., None], -1)[..., 0]
    return (nll * (labels != -100)).sum() / (labels != -100).sum()


def model(w, c, i, padding):
    """PADDING: as transformers has it, answers are looked for at padding too, and [PAD]'s word embedding learns nothing as an input."""
    hidden, probs = encoder(w, c, i['input_ids'], i['attention_mask'], i['token_type_ids'], padding)
    x, out, kind = hidden[-1], {}, c['architectures'][0]
    pooled = jnp.tanh(linear(w, 'bert.pooler.dense', x[:, 0])) if 'bert.pooler.dense.weight' in w else None
    loss = jnp.zeros(())
    if kind == 'BertForPreTraining':
        h = norm(w, 'cls.predictions.transform.LayerNorm', gelu(linear(w, 'cls.predictions.transform.dense', x)), c['layer_norm_eps'])
        out['prediction_logits'] = h @ w['bert.embeddings.word_embeddings.weight'].T + w['cls.predictions.bias']
        out['seq_relationship_logits'] = linear(w, 'cls.seq_relationship', pooled)
        loss = xent(out['prediction_logits'], i['labels']) + xent(out['seq_relationship_logits'], i['next_sentence_label'])
    elif kind == 'BertForQuestionAnswering':
        s = linear(w, 'qa_outputs', x)
        out['start_logits'], out['end_logits'] = s[..., 0], s[..., 1]
        if not padding:
            s = jnp.where(i['attention_mask'][..., None] == 1, s, -1e30)
        loss = (xent(s[..., 0], i['start_positions']) + xent(s[..., 1], i['end_positions'])) / 2
    elif kind == 'BertForSequenceClassification':
        out['logits'] = linear(w, 'classifier', pooled)
        loss = xent(out['logits'], i['labels'])
    elif kind == 'BertForTokenClassification':
        out['logits'] = linear(w, 'classifier', x)
        loss = xent(out['logits'], i['labels'])
    else:
        out['last_hidden_state'], out['pooler_output'] = x, pooled
    for n, h in enumerate(hidden):
        out[f'hidden_states.{n}'] = h
    for n, a in enumerate(probs):
        out[f'attentions.{n}'] = a
    return loss, out


def facts(w, c, inputs, padding=False):
    w = {k: jnp.asarray(v, jnp.float64) for k, v in w.items()}
    (loss, out), grad = jax.value_and_grad(lambda p: model(p, c, inputs, padding), has_aux=True)(w)
    return loss, out, {k: jnp.sqrt((g ** 2).sum()) for k, g in grad.items()}


def check(folder, golden):
    c, g = json.load(open(folder + '/config.json')), load(golden)
    inputs = {k[3:]: v for k, v in g.items() if k.startswith('in.')}
    loss, out, norms = facts(load(folder + '/model.safetensors'), c, inputs, True)
    mask, worst = inputs['attention_mask'].astype(bool), (0, '')
    for k, v in g.items():
        if k == 'out.loss':
            d = abs(float(v[0]) - float(loss))
        elif k.startswith('out.'):
            a, b = np.asarray(out[k[4:]]), v
            d = np.abs(a - b)[mask].max() if a.shape[:2] == mask.shape else np.abs(a - b).max()
        elif k.startswith('gradnorm.'):
            d = abs(float(norms[k[9:]]) - float(v.reshape(-1)[0]))
        else:
            continue
        worst = max(worst, (d / max(1, np.abs(v).max()), k))
    print(f'{folder}: worst difference {worst[0]:.1e}, in {worst[1]}')


CONFIG = {'architectures': ['BertForPreTraining'], 'attention_probs_dropout_prob': 0.1, 'classifier_dropout': None, 'hidden_act': 'gelu',
          'hidden_dropout_prob': 0.1, 'hidden_size': 16, 'initializer_range': 0.02, 'intermediate_size': 24, 'layer_norm_eps': 1e-12,
          'id2label': {'0': 'negative', '1': 'neutral', '2': 'positive'}, 'label2id': {'negative': 0, 'neutral': 1, 'positive': 2},
          'max_position_embeddings': 12, 'model_type': 'bert', 'num_attention_heads': 2, 'num_hidden_layers': 2, 'pad_token_id': 0,
          'tie_word_embeddings': True, 'type_vocab_size': 2, 'vocab_size': 40}


def weights(r, c):
    H, F = c['hidden_size'], c['intermediate_size']
    shapes = {'bert.embeddings.word_embeddings.weight': (c['vocab_size'], H),
              'bert.embeddings.position_embeddings.weight': (c['max_position_embeddings'], H),
              'bert.embeddings.token_type_embeddings.weight': (c['type_vocab_size'], H)}
    def dense(name, n, k):
        shapes[name + '.weight'], shapes[name + '.bias'] = (n, k), (n,)
    def layer_norm(name):
        shapes[name + '.weight'] = shapes[name + '.bias'] = (H,)
    layer_norm('bert.embeddings.LayerNorm')
    for l in range(c['num_hidden_layers']):
        p = f'bert.encoder.layer.{l}.'
        for n in ('query', 'key', 'value'):
            dense(p + 'attention.self.' + n, H, H)
        dense(p + 'attention.output.dense', H, H)
        layer_norm(p + 'attention.output.LayerNorm')
        dense(p + 'intermediate.dense', F, H)
        dense(p + 'output.dense', H, F)
        layer_norm(p + 'output.LayerNorm')
    dense('bert.pooler.dense', H, H)
    dense('cls.predictions.transform.dense', H, H)
    layer_norm('cls.predictions.transform.LayerNorm')
    shapes['cls.predictions.bias'] = (c['vocab_size'],)
    dense('cls.seq_relationship', 2, H)
    dense('classifier', 3, H)
    dense('qa_outputs', 2, H)
    return {k: (('LayerNorm.weight' in k) + r.normal(0, 0.3, s)).astype(np.float32) for k, s in shapes.items()}


def make(folder):
    r = np.random.default_rng(2024)
    c, w = CONFIG, weights(np.random.default_rng(7), CONFIG)
    B, S, lengths = 3, 10, [10, 6, 1]
    mask = (np.arange(S)[None] < np.array(lengths)[:, None]).astype(np.int32)
    types = ((np.arange(S)[None] >= 4) * mask).astype(np.int32)
    ids = (r.integers(1, c['vocab_size'], (B, S)) * mask).astype(np.int32)
    base = {'input_ids': ids, 'attention_mask': mask, 'token_type_ids': types}
    mlm = np.full((B, S), -100, np.int32)
    for b, s in ((0, 2), (0, 7), (1, 5), (0, 9)):
        mlm[b, s] = r.integers(1, c['vocab_size'])
    tokens = np.where(mask == 1, r.integers(0, 3, (B, S)), -100).astype(np.int32)
    kinds = {'pretraining': ('BertForPreTraining', {'labels': mlm, 'next_sentence_label': np.array([1, 0, 0], np.int32)}),
             'classify': ('BertForSequenceClassification', {'labels': np.array([2, 0, 1], np.int32)}),
             'span': ('BertForQuestionAnswering', {'start_positions': np.array([3, 1, 0], np.int32), 'end_positions': np.array([5, 1, 0], np.int32)}),
             'tokens': ('BertForTokenClassification', {'labels': tokens}), 'none': ('BertModel', {})}
    os.makedirs(folder + '/tiny', exist_ok=True)
    json.dump(c, open(folder + '/tiny/config.json', 'w'), indent=2, sort_keys=True)
    save(folder + '/tiny/model.safetensors', w)
    for word, (architecture, labels) in kinds.items():
        cc = dict(c, architectures=[architecture])
        if word == 'none':                      # padding anywhere
            mask[1] = [0, 1, 1, 0, 1, 1, 1, 0, 0, 1]
        loss, out, norms = facts(w, cc, {**base, **labels})
        g = {'in.' + k: v for k, v in {**base, **labels}.items()}
        g.update({'out.' + k: np.asarray(v, np.float32) * (mask.reshape(B, S, *[1] * (v.ndim - 2)) if v.shape[:2] == (B, S) else 1) for k, v in out.items()
                  if word == 'none' or not k.startswith(('hidden', 'attentions'))})
        for k in [k for k in g if k.startswith('out.attentions')]:
            g[k] = (g[k] * mask[:, None, :, None]).astype(np.float32)
        if 'out.pooler_output' in g:
            g['out.pooler_output'] = g['out.pooler_output'] * mask[:, :1]
        if labels:
            g['out.loss'] = np.array([float(loss)])
            g.update({'gradnorm.' + k: np.array([float(v)]) for k, v in norms.items() if float(v)})
        save(f'{folder}/{word}.safetensors', {k: (v.astype(np.float32) if k.startswith('out.') and k != 'out.loss' else v) for k, v in g.items()})


def make_old(man):
    """The same model as files of 2019 have it, pretraining heads only, and two sentences for it."""
    w = {}
    for k, v in weights(np.random.default_rng(7), CONFIG).items():
        if not k.startswith(('classifier', 'qa_outputs')):
            w[k.replace('LayerNorm.weight', 'LayerNorm.gamma').replace('LayerNorm.bias', 'LayerNorm.beta')] = v
    w['bert.embeddings.position_ids'] = np.arange(CONFIG['max_position_embeddings'])[None]
    os.makedirs(man + '/model', exist_ok=True)
    json.dump({k: v for k, v in CONFIG.items() if 'label' not in k}, open(man + '/model/config.json', 'w'), indent=2, sort_keys=True)
    save(man + '/model/model.safetensors', w)
    ids = np.array([[2, 7, 8, 9, 3, 10, 11, 3], [2, 12, 4, 13, 3, 0, 0, 0]], np.int64)
    save(man + '/input.safetensors', {'input_ids': ids, 'attention_mask': (ids > 0).astype(np.int64),
                                      'token_type_ids': np.array([[0] * 5 + [1] * 3, [0] * 8], np.int64)})


if sys.argv[1] == '--check':
    check(sys.argv[2], sys.argv[3])
else:
    make(sys.argv[1])
    make_old(sys.argv[2])
