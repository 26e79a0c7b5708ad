"""The README's line that exports a nanoGPT checkpoint, run for real: makes a checkpoint as
nanoGPT's train.py saves it, runs the line on it, opens what it wrote in the program, and
compares the next tokens on screen with PyTorch's. Needs PyTorch; 77 is "skipped".

    python3 nanogpt.py PROGRAM README.md FOLDER
"""
import math
import os
import re
import subprocess
import sys

try:
    import torch
    import torch.nn.functional as F
except ImportError:
    print("skipped: there is no PyTorch")
    sys.exit(77)


def checkpoint(args, seed, compiled):
    """model.py's names and shapes; nn.Linear has [out, in]."""
    torch.manual_seed(seed)
    d, w = args["n_embd"], {}

    def layer(name, n_in, n_out):
        w[name + ".weight"] = torch.randn(n_out, n_in) / math.sqrt(n_in)
        if args["bias"]:
            w[name + ".bias"] = torch.randn(n_out) * 0.1

    def norm(name):
        w[name + ".weight"] = 1 + 0.1 * torch.randn(d)
        if args["bias"]:
            w[name + ".bias"] = 0.1 * torch.randn(d)

    w["transformer.wte.weight"] = torch.randn(args["vocab_size"], d) * 0.3
    w["transformer.wpe.weight"] = torch.randn(args["block_size"], d) * 0.3
    for l in range(args["n_layer"]):
        h = f"transformer.h.{l}."
        norm(h + "ln_1")
        layer(h + "attn.c_attn", d, 3 * d)
        layer(h + "attn.c_proj", d, d)
        # The mask, which checkpoints hold where there was no flash attention.
        size = args["block_size"]
        w[h + "attn.bias"] = torch.tril(torch.ones(size, size)).view(1, 1, size, size)
        norm(h + "ln_2")
        layer(h + "mlp.c_fc", d, 4 * d)
        layer(h + "mlp.c_proj", 4 * d, d)
    norm("transformer.ln_f")
    w["lm_head.weight"] = w["transformer.wte.weight"]
    prefix = "_orig_mod." if compiled else ""
    return {"model": {prefix + k: v for k, v in w.items()}, "model_args": args,
            "iter_num": 1, "best_val_loss": 1.0, "config": {}}, w


def logits(w, args, ids):
    """model.py's forward, the last row's logits."""
    d, n_head, n = args["n_embd"], args["n_head"], len(ids)

    def norm(x, name):
        return F.layer_norm(x, (d,), w[name + ".weight"], w.get(name + ".bias"), 1e-5)

    def layer(x, name):
        return F.linear(x, w[name + ".weight"], w.get(name + ".bias"))

    x = w["transformer.wte.weight"][ids] + w["transformer.wpe.weight"][:n]
    for l in range(args["n_layer"]):
        h = f"transformer.h.{l}."
        q, k, v = layer(norm(x, h + "ln_1"), h + "attn.c_attn").split(d, dim=1)
        q, k, v = (t.view(n, n_head, d // n_head).transpose(0, 1) for t in (q, k, v))
        s = q @ k.transpose(1, 2) / math.sqrt(d // n_head)
        s = s.masked_fill(torch.triu(torch.ones(n, n), 1) > 0, -math.inf)
        y = (F.softmax(s, dim=-1) @ v).transpose(0, 1).reshape(n, d)
        x = x + layer(y, h + "attn.c_proj")
        x = x + layer(F.gelu(layer(norm(x, h + "ln_2"), h + "mlp.c_fc")), h + "mlp.c_proj")
    return (norm(x, "transformer.ln_f") @ w["transformer.wte.weight"].T)[-1]


def main():
    program, readme, folder = sys.argv[1:]
    line = re.search(r'^ +python3 -c "(import torch.*)"$', open(readme).read(), re.M)
    assert line, "README.md has no such line"
    os.makedirs(folder, exist_ok=True)
    os.chdir(folder)
    for case in range(2):
        args = {"n_layer": 3, "n_head": 4, "n_embd": 96, "block_size": 24,
                "bias": case % 2 == 0, "vocab_size": 65, "dropout": 0.0}
        saved, w = checkpoint(args, case, case == 1)
        torch.save(saved, "ckpt.pt")
        subprocess.run([sys.executable, "-c", line[1]], check=True)
        ids = [(case * 11 + i * 7) % 65 for i in range(20)]
        want = logits(w, args, ids)
        p = F.softmax(want, dim=-1)
        with open("script.txt", "w") as f:
            print("ready\nexpect head 1\nexpect tokens 20\nkey 7\nkey Right\nready", file=f)
            for t in torch.topk(want, 5).indices.tolist():
                assert want[t] > 0.1, "a figure with a minus is not looked for"
                print(f'expect text "{t}"', file=f)
                print(f'expect text "{want[t]:.2f}"', file=f)
                if p[t] >= 0.0001:
                    print(f'expect text "{p[t]:.4f}"', file=f)
            print("key ]\nkey ]\nkey ]\nready\nexpect head 4\nkey ]\nexpect head 4", file=f)
        subprocess.run([program, "nanogpt", "--text", " ".join(map(str, ids)), "--block", "3",
                        "--script", "script.txt"], check=True)
    print("nanoGPT's logits are the program's")


main()
