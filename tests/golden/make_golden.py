#!/usr/bin/env python3
"""Writes attn_toy.safetensors and attn_odd.safetensors beside itself: float32 inputs of
one attention block and every intermediate in float64, by numpy. Run by hand; the files
are kept in the repository.

toy: 5 tokens, d_model 8, 2 heads, no biases.  odd: 7 tokens, d_model 15, 3 heads, biases.
"""
import json
import os
import struct

import numpy as np


def softmax(s):
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def block(rng, n, d, heads, biases):
    """Names and arrays, inputs as float32, results as float64."""
    def f32(*shape, sd=1.0):
        return rng.normal(0, sd, shape).astype(np.float32)

    t = {
        "h": f32(n, d),
        "gain": 1 + f32(d, sd=0.1) if biases else np.ones(d, np.float32),
        "bias": f32(d, sd=0.1) if biases else np.zeros(d, np.float32),
        "w_qkv": f32(d, 3 * d, sd=0.8 / np.sqrt(d / 8)),
        "w_o": f32(d, d, sd=0.4),
    }
    if biases:
        t["b_qkv"] = f32(3 * d, sd=0.3)
        t["b_o"] = f32(d, sd=0.3)
    w = {k: v.astype(np.float64) for k, v in t.items()}
    h = w["h"]
    centred = h - h.mean(axis=1, keepdims=True)
    x = centred / np.sqrt(centred.var(axis=1, keepdims=True) + 1e-5) * w["gain"] + w["bias"]
    qkv = x @ w["w_qkv"] + w.get("b_qkv", 0.0)
    dh = d // heads
    q, k, v = (qkv[:, i * d:(i + 1) * d].reshape(n, heads, dh).swapaxes(0, 1)
               for i in range(3))
    s = q @ k.swapaxes(1, 2)
    scaled = s / np.sqrt(dh)
    p = softmax(np.where(np.tri(n, dtype=bool), scaled, -np.inf))
    z = (p @ v).swapaxes(0, 1).reshape(n, d)
    proj = z @ w["w_o"] + w.get("b_o", 0.0)
    t.update(x=x, qkv=qkv, s_raw=s, s_scaled=scaled, p=p, z=z, y_proj=proj, y=proj + h)
    return t


def write(path, tensors):
    header, data = {}, b""
    for name, a in tensors.items():
        raw = np.ascontiguousarray(a).tobytes()
        header[name] = {"dtype": "F%d" % (8 * a.itemsize), "shape": list(a.shape),
                        "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + data)


here = os.path.dirname(os.path.abspath(__file__))
write(os.path.join(here, "attn_toy.safetensors"),
      block(np.random.default_rng(5), 5, 8, 2, False))
write(os.path.join(here, "attn_odd.safetensors"),
      block(np.random.default_rng(7), 7, 15, 3, True))
