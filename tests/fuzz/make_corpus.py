#!/usr/bin/env python3
"""Writes the seeds of the fuzz corpora: small good models and tokenizers, and some that are
broken in one place. What the fuzzer found is kept beside them under names of its own."""
import json
import os
import struct
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "corpus")


def write(target, name, data):
    folder = os.path.join(ROOT, target)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), "wb") as f:
        f.write(data)


def part(data):
    return struct.pack("<H", len(data)) + data


def config(**change):
    c = {"model_type": "gpt2", "vocab_size": 3, "n_positions": 2, "n_embd": 2, "n_layer": 1,
         "n_head": 1, "n_inner": 3, "activation_function": "gelu_new",
         "layer_norm_epsilon": 1e-5}
    c.update(change)
    return json.dumps(c, separators=(",", ":")).encode()


SHAPES = [("wte.weight", [3, 2]), ("wpe.weight", [2, 2]), ("h.0.ln_1.weight", [2]),
          ("h.0.ln_1.bias", [2]), ("h.0.attn.c_attn.weight", [2, 6]),
          ("h.0.attn.c_attn.bias", [6]), ("h.0.attn.c_proj.weight", [2, 2]),
          ("h.0.attn.c_proj.bias", [2]), ("h.0.ln_2.weight", [2]), ("h.0.ln_2.bias", [2]),
          ("h.0.mlp.c_fc.weight", [2, 3]), ("h.0.mlp.c_fc.bias", [3]),
          ("h.0.mlp.c_proj.weight", [3, 2]), ("h.0.mlp.c_proj.bias", [2]),
          ("ln_f.weight", [2]), ("ln_f.bias", [2])]


def safetensors(dtype="F32", prefix="", shapes=SHAPES, extra=()):
    size = 4 if dtype == "F32" else 2
    head, at = {}, 0
    for name, shape in list(shapes) + list(extra):
        n = size
        for x in shape:
            n *= x
        head[prefix + name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + n]}
        at += n
    text = json.dumps(head, separators=(",", ":")).encode()
    return struct.pack("<Q", len(text)) + text + bytes((7 * i + 1) % 256 for i in range(at))


good = part(config()) + safetensors()
write("safetensors", "f32", good)
write("safetensors", "f16_prefix", part(config()) + safetensors("F16", "transformer."))
write("safetensors", "bf16_head", part(config(tie_word_embeddings=False)) +
      safetensors("BF16", extra=[("lm_head.weight", [3, 2])]))
write("safetensors", "no_biases", part(config(activation_function="gelu")) +
      safetensors(shapes=[s for s in SHAPES if not s[0].endswith("bias")]))
write("safetensors", "masks", part(config()) +
      safetensors(extra=[("h.0.attn.bias", [1, 1, 2, 2])]))
write("safetensors", "transposed", part(config()) +
      safetensors(shapes=[(n, s[::-1]) for n, s in SHAPES]))
write("safetensors", "truncated", good[:-40])
write("safetensors", "long_header", part(config()) + struct.pack("<Q", 2 ** 63) + b"{}")
write("safetensors", "nested", part(config()) + struct.pack("<Q", 64) + b"[" * 64)
write("safetensors", "many_layers", part(config(n_layer=4096)) + safetensors())

for version, size in ((3, 4), (5, 2)):
    n = 4 * 2 + 2 * 2 + 12 * 4 + 13 * 2 + 2 * 2
    head = struct.pack("<8i", 20240326, version, 2, 3, 1, 1, 2, 4)
    data = bytes((5 * i + 3) % 256 for i in range(n * size))
    write("llmc", "v%d" % version, head + data)
write("llmc", "layers", struct.pack("<8i", 20240326, 3, 2, 3, 4096, 1, 2, 4))
write("llmc", "short", struct.pack("<3i", 20240326, 3, 2))

vocab = {"a": 0, "b": 1, "\u0120": 2, "ab": 3, "\u0120b": 4, "'": 5, "s": 6, "1": 7, "2": 8,
         "\u010a": 9, "\u00c3": 10, "\u00a9": 11, "\u00c3\u00a9": 12, "<|endoftext|>": 13,
         "aab": 14}
for i, c in enumerate("<|endoftx>"):
    vocab.setdefault(c, 20 + i)
merges = ["a b", "\u0120 b", "\u00c3 \u00a9", "a ab"]
v = json.dumps(vocab, ensure_ascii=False).encode()
write("tokenizer", "pair", part(v) + ("#version: 0.2\n" + "\n".join(merges) + "\n").encode())
write("tokenizer", "unknown", part(v) + b"a z\n")
one = {"added_tokens": [{"id": 99, "content": "<x>", "special": True}],
       "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False},
       "model": {"type": "BPE", "vocab": vocab, "merges": merges}}
write("tokenizer", "single", part(b"") + json.dumps(one).encode())
one["model"]["merges"] = [m.split() for m in merges]
write("tokenizer", "pairs", part(b"") + json.dumps(one, ensure_ascii=False).encode())

write("text", "words", b"the the aaaaaaaaaaaaa it's we'll  12345  \t\n x")
write("text", "unicode", "\u00e9 \u4e16\u754c \U0001f600\u200d \u00a0\u3000 \u0661\u0662".encode())
write("text", "special", b"<|endoftext|>\x00\x7f")
write("text", "broken", b"a\xc3\x28\xed\xa0\x80")
sys.exit(0)
