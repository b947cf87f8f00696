#!/usr/bin/env python3
"""Makes trajectories.safetensors: ten steps of AdamW, google's and torch's, on the tiny model of ../model. Needs numpy and jax.

Model and gradients are those of ../model/make.py; the optimizers are written here from google-research/bert's optimization.py and
torch.optim.AdamW. Everything in double; the same in float says how far rounding alone strays.
"""
import json, os, sys
import numpy as np
import jax, jax.numpy as jnp

here = os.path.dirname(os.path.abspath(__file__))
maker = {}
exec(open(here + '/../model/make.py').read().split("\nif sys.argv[1]")[0], maker)     # its functions, not its main part
STEPS, B, S, P = 10, 4, 12, 3


def batches():
    r = np.random.default_rng(99)
    out = {k: [] for k in ('input_ids', 'input_mask', 'segment_ids', 'masked_lm_positions', 'masked_lm_ids', 'masked_lm_weights')}
    out['next_sentence_labels'] = r.integers(0, 2, (STEPS, B)).astype(np.int32)
    for n in r.integers(6, S + 1, STEPS * B):
        p = 1 + r.integers(P)
        pad = lambda x, m: np.pad(x, (0, m - len(x))).astype(np.int32)
        out['input_ids'].append(pad(r.integers(1, 40, n), S))
        out['input_mask'].append(pad(np.ones(n), S))
        out['segment_ids'].append(pad(np.arange(n) >= n // 2, S))
        out['masked_lm_positions'].append(pad(np.sort(r.choice(np.arange(1, n), p, replace=False)), P))
        out['masked_lm_ids'].append(pad(r.integers(1, 40, p), P))
        out['masked_lm_weights'].append(pad(np.ones(p), P).astype(np.float32))
    return {k: v if k[0] == 'n' else np.array(v).reshape(STEPS, B, -1) for k, v in out.items()}


def inputs(data, t):
    labels = np.full((B, S), -100, np.int32)
    for b in range(B):
        for p in range(P):
            if data['masked_lm_weights'][t, b, p]:
                labels[b, data['masked_lm_positions'][t, b, p]] = data['masked_lm_ids'][t, b, p]
    return {'input_ids': data['input_ids'][t], 'attention_mask': data['input_mask'][t], 'token_type_ids': data['segment_ids'][t],
            'labels': labels, 'next_sentence_label': data['next_sentence_labels'][t]}


def train(kind, w0, c, data, dtype):
    w = {k: jnp.asarray(v, dtype) for k, v in w0.items()}
    m, v = ({k: jnp.zeros_like(x) for k, x in w.items()} for _ in range(2))
    step = jax.jit(jax.value_and_grad(lambda p, i: maker['model'](p, c, i, False)[0]))
    losses, rates, after = [], [], {}
    for t in range(STEPS):
        loss, g = step(w, inputs(data, t))
        norm = jnp.sqrt(sum((x ** 2).sum() for x in g.values()))
        n = t + 1
        if kind == 'google':
            lr = 1e-3 * (t / 3 if t < 3 else 1 - t / 12)
            clip = jnp.minimum(1, 1 / norm)
        else:
            lr = 1e-3 * (n / 3 if n <= 3 else (12 - n) / 9)
            clip = jnp.minimum(1, 1 / (norm + 1e-6))
        assert norm > 1, norm
        for k in w:
            d = dtype(0 if k.endswith('.bias') or 'LayerNorm' in k else 0.01)
            x = g[k] * clip
            m[k] = dtype(0.9) * m[k] + dtype(0.1) * x
            v[k] = dtype(0.999) * v[k] + dtype(0.001) * x * x
            if kind == 'google':
                w[k] = w[k] - dtype(lr) * (m[k] / (jnp.sqrt(v[k]) + dtype(1e-6)) + d * w[k])
            else:
                w[k] = w[k] * (1 - dtype(lr) * d)
                w[k] = w[k] - dtype(lr) * (m[k] / dtype(1 - 0.9 ** n)) / (jnp.sqrt(v[k] / dtype(1 - 0.999 ** n)) + dtype(1e-8))
            assert w[k].dtype == dtype
        losses.append(float(loss))
        rates.append(lr)
        if n in (1, 2, 10):
            after[n] = {k: np.asarray(x, np.float64) for k, x in w.items()}
    return np.array(losses), np.array(rates), after


def main():
    c = json.load(open(here + '/../model/tiny/config.json'))
    w = {k: v for k, v in maker['load'](here + '/../model/tiny/model.safetensors').items() if not k.startswith(('classifier', 'qa_outputs'))}
    data = batches()
    out = dict(data)
    for kind in ('google', 'torch'):
        losses, rates, after = train(kind, w, c, data, np.float64)
        f_losses, _, f_after = train(kind, w, c, data, np.float32)
        out[kind + '.loss'], out[kind + '.rate'] = losses, rates
        out[kind + '.loss_strays'] = np.array([np.abs(losses - f_losses).max()])
        for n, x in after.items():
            # Parameters sorted by name: sum, L2 norm, and the first four elements of each; then how far floats stray.
            out[f'{kind}.{n}'] = np.array([[x[k].sum(), np.sqrt((x[k] ** 2).sum()), *np.resize(x[k].reshape(-1)[:4], 4)] for k in sorted(x)])
            out[f'{kind}.{n}.strays'] = np.array([np.abs(x[k] - f_after[n][k]).max() for k in sorted(x)])
            print(kind, n, out[f'{kind}.{n}.strays'].max())
    maker['save'](here + '/trajectories.safetensors', out)


main()
