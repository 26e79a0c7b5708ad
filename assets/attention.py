"""Causal self-attention as GPT-2 has it, for one text: the seven stages in PyTorch.

h is [N, d], the residual stream; w_qkv [d, 3d], w_o [d, d]; biases may be zeros. The program
shows the lines between the marks, stage by stage; a test runs them against its own numbers.
"""
import math

import torch


def attention(h, ln_gain, ln_bias, w_qkv, b_qkv, w_o, b_o, n_head, eps=1e-5):
    n, d = h.shape
    # listing: 1
    x = torch.layer_norm(h, (d,), ln_gain, ln_bias, eps)
    q, k, v = (x @ w_qkv + b_qkv).split(d, dim=1)
    q, k, v = (t.view(n, n_head, -1).transpose(0, 1) for t in (q, k, v))
    # listing: 2
    s = q @ k.transpose(1, 2)
    # listing: 3
    s = s / math.sqrt(d // n_head)
    # listing: 4
    future = torch.ones(n, n, dtype=torch.bool).triu(1)
    s = s.masked_fill(future, -math.inf)
    # listing: 5
    a = torch.softmax(s, dim=-1)
    # listing: 6
    o = a @ v
    # listing: 7
    z = o.transpose(0, 1).reshape(n, d)
    y = z @ w_o + b_o + h
    # listing: end
    return y
