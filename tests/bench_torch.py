"""PyTorch's side of headlight-bench: forward, GPT-2's blocks on the same weights and ids,
and block, attention's part of one.

    python3 bench_torch.py MODEL.safetensors N_TOKENS THREADS

Answers each line on standard input by one forward pass; prints its seconds and the first
values of the last row of what ln_f would read. Before that, one line that names the form
of attention, the faster of what this PyTorch has.

    python3 bench_torch.py block THREADS

Answers each line "FILE N" by one block of GPT-2 small: FILE holds x, h, W_qkv,
b_qkv, W_O, b_O and room for y, in float32.
"""
import json
import math
import os
import sys
import time

# Read when torch is loaded. It has two pools of threads, OpenBLAS's and OpenMP's: those of
# one that spin would keep the other's from their cores.
os.environ["OPENBLAS_NUM_THREADS"] = sys.argv[-1]
os.environ["OMP_WAIT_POLICY"] = "passive"

try:
    import numpy as np
    import torch
    import torch.nn.functional as F
except ImportError as e:
    print("none", e, flush=True)
    sys.exit(0)


def tensors(path):
    raw = np.memmap(path, dtype=np.uint8, mode="r")
    n = int(raw[:8].view("<u8")[0])
    out = {}
    for name, t in json.loads(bytes(raw[8:8 + n])).items():
        if name == "__metadata__" or t["dtype"] != "F32":
            continue
        a, b = (8 + n + x for x in t["data_offsets"])
        data = np.frombuffer(raw[a:b].tobytes(), dtype="<f4").reshape(t["shape"])
        out[name.removeprefix("transformer.")] = torch.from_numpy(data.copy())
    return out


def fused(q, k, v, mask):
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)


def fused_113(q, k, v, mask):
    return F._scaled_dot_product_attention(q, k, v, is_causal=True)[0]


def eager(q, k, v, mask):
    s = torch.baddbmm(mask, q, k.transpose(1, 2), alpha=1 / math.sqrt(q.shape[-1]))
    return torch.bmm(torch.softmax(s, dim=-1), v)


def forms():
    if hasattr(F, "scaled_dot_product_attention"):
        yield "scaled_dot_product_attention", fused
    elif hasattr(F, "_scaled_dot_product_attention"):
        yield "_scaled_dot_product_attention", fused_113
    yield "baddbmm, softmax, bmm", eager


def forward(w, x, attention, n_head, mask):
    n, d = x.shape
    for l in range(sum(k.endswith("attn.c_attn.weight") for k in w)):
        h = f"h.{l}."
        a = F.layer_norm(x, (d,), w[h + "ln_1.weight"], w[h + "ln_1.bias"])
        a = torch.addmm(w[h + "attn.c_attn.bias"], a, w[h + "attn.c_attn.weight"])
        q, k, v = (t.reshape(n, n_head, -1).transpose(0, 1) for t in a.split(d, dim=1))
        a = attention(q, k, v, mask).transpose(0, 1).reshape(n, d)
        x = x + torch.addmm(w[h + "attn.c_proj.bias"], a, w[h + "attn.c_proj.weight"])
        a = F.layer_norm(x, (d,), w[h + "ln_2.weight"], w[h + "ln_2.bias"])
        a = torch.addmm(w[h + "mlp.c_fc.bias"], a, w[h + "mlp.c_fc.weight"])
        a = F.gelu(a, approximate="tanh")
        x = x + torch.addmm(w[h + "mlp.c_proj.bias"], a, w[h + "mlp.c_proj.weight"])
    return x


class Block:
    def __init__(self, path, n, d=768, n_head=12):
        shapes = (n, d), (n, d), (d, 3 * d), (3 * d,), (d, d), (d,), (n, d)
        file = torch.from_numpy(np.memmap(path, dtype="<f4", mode="r+"))
        parts = file.split([math.prod(s) for s in shapes])
        *given, self.y = (p.view(s) for p, s in zip(parts, shapes))
        self.x, self.h, self.w, self.b, self.w_o, self.b_o = (t.clone() for t in given)
        self.n_head = n_head
        self.mask = torch.full((n, n), -math.inf).triu(1).expand(n_head, n, n)
        self.attention = min((f for _, f in forms()),
                             key=lambda f: min(self.seconds(f) for _ in range(3)))
        self.y.copy_(self.run(self.attention))

    def run(self, attention):
        n, d = self.x.shape
        qkv = torch.addmm(self.b, self.x, self.w)
        q, k, v = (t.reshape(n, self.n_head, -1).transpose(0, 1) for t in qkv.split(d, dim=1))
        z = attention(q, k, v, self.mask).transpose(0, 1).reshape(n, d)
        return torch.addmm(self.b_o, z, self.w_o) + self.h

    def seconds(self, attention):
        t = time.perf_counter()
        self.run(attention)
        return time.perf_counter() - t


def blocks(threads):
    torch.set_num_threads(threads)
    print("torch", torch.__version__, flush=True)
    asked, block = None, None
    for line in sys.stdin:
        if line != asked:
            path, n = line.split()
            asked, block = line, Block(path, int(n))
        print(block.seconds(block.attention), flush=True)


def main():
    path, n, threads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    torch.set_num_threads(threads)
    w = tensors(path)
    vocab, d = w["wte.weight"].shape
    ids = torch.tensor([(i * 7919 + 13) % vocab for i in range(n)])
    x = w["wte.weight"][ids] + w["wpe.weight"][:n]
    mask = torch.full((n, n), -math.inf).triu(1).expand(d // 64, n, n)

    def timed(attention):
        t = time.perf_counter()
        y = forward(w, x, attention, d // 64, mask)
        return time.perf_counter() - t, y

    with torch.inference_mode():
        best = min(forms(), key=lambda f: min(timed(f[1])[0] for _ in range(2)))
        print("torch", torch.__version__, best[0], flush=True)
        for _ in sys.stdin:
            seconds, y = timed(best[1])
            print(seconds, *(f"{v:.6f}" for v in y[-1, :4].tolist()), flush=True)


if sys.argv[1] == "block":
    with torch.inference_mode():
        blocks(int(sys.argv[2]))
else:
    main()
