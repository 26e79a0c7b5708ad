"""--dump and --compare from outside, with numpy on the other side.

    dump_numpy.py PROGRAM WORK    exit code 77: there is no numpy
"""
import json
import os
import resource
import shutil
import subprocess
import sys
import zipfile

try:
    import numpy as np
except ImportError:
    sys.exit(77)

PROGRAM, WORK = sys.argv[1:]
failed = 0


def run(*args, limit=None, stdout=subprocess.PIPE):
    def bounded():
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    env = dict(os.environ, DISPLAY="", WAYLAND_DISPLAY="")
    return subprocess.run([PROGRAM, *args], cwd=WORK, stdout=stdout, stderr=subprocess.PIPE,
                          text=True, env=env, preexec_fn=bounded, restore_signals=False)


def check(ok, what):
    global failed
    if not ok:
        print("FAILED:", what)
        failed = 1


def refused(why, *args, code=1, **kw):
    """One line on standard error that says `why`, and nothing else."""
    r = run(*args, **kw)
    line = r.stderr.count("\n") == 1 and r.stderr.startswith("headlight: ")
    check(r.returncode == code and line and why in r.stderr and (kw or not r.stdout),
          f"{args}: {r.returncode} {r.stderr!r} {r.stdout!r}, expected {why!r}")


def softmax(s):
    e = np.exp(s - s.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def attention(load, n, d, heads):
    """Stages 1 to 7 from x and the parameters alone, in double."""
    x, w, wo = (load(k).astype("f8") for k in ("x", "w_qkv", "w_o"))
    qkv = x @ w
    out = {}
    for h in range(heads):
        each = d // heads
        q, k, v = (qkv[:, i * d + h * each: i * d + (h + 1) * each] for i in range(3))
        s = q @ k.T
        m = np.where(np.tri(n, dtype=bool), s / np.sqrt(each), -np.inf)
        p = softmax(m)
        out |= {f"h{h:02}.{a}": b for a, b in zip(
            "q k v scores scaled masked weights z".split(),
            (q, k, v, s, s / np.sqrt(each), m, p, p @ v))}
    z = np.concatenate([out[f"h{h:02}.z"] for h in range(heads)], 1)
    out |= {"merged": z, "y_proj": z @ wo, "y": z @ wo + load("h")}
    return out


def numpy_reads_dumps():
    stages = "1,2,3,4,5,6,7,block,w_qkv,w_o"
    check(run("--seed", "7", "--dump", "toy", "--stages", stages).returncode == 0, "toy")
    check(run("--seed", "7", "--dump", "toy.npz", "--stages", stages).returncode == 0, "npz")
    manifest = json.load(open(f"{WORK}/toy/manifest.json"))
    z = np.load(f"{WORK}/toy.npz")
    check(json.loads(z["manifest"].tobytes()) == manifest, "both manifests say the same")
    check(manifest["counts_from"] == 0 and manifest["model"]["seed"] == 7, "manifest")
    listed = {a["name"]: a["shape"] for a in manifest["arrays"]}
    files = {f[:-4] for f in os.listdir(f"{WORK}/toy") if f.endswith(".npy")}
    check(files == set(listed) and set(z.files) == files | {"manifest"}, "names")
    for name, shape in listed.items():
        a = np.load(f"{WORK}/toy/{name}.npy")
        check(a.dtype == np.dtype("<f4") and list(a.shape) == shape, name)
        check(a.flags["C_CONTIGUOUS"] and np.array_equal(a, z[name]), name)
    want = attention(lambda k: np.load(f"{WORK}/toy/b00.{k}.npy"), 5, 8, 2)
    for k, v in want.items():
        with np.errstate(invalid="ignore"):
            a = np.load(f"{WORK}/toy/b00.{k}.npy")
            check(((a == v) | (np.abs(a - v) < 1e-5)).all(), f"{k} is not numpy's")
    check(run("--seed", "7", "--compare", "toy").returncode == 0, "the toy agrees with itself")
    r = run("--seed", "8", "--compare", "toy")
    check(r.returncode == 1 and "DIFFERS" in r.stdout and not r.stderr, "other seeds differ")


def dumps_are_whole_or_not():
    before = sorted(os.listdir(WORK))
    refused("toy: is there already", "--dump", "toy")
    refused("toy.npz: is there already", "--dump", "toy.npz")
    refused("none/x: ", "--dump", "none/x")
    refused("big", "--scale", "gpt2", "--dump", "big", limit=1 << 14)
    refused("big.npz", "--scale", "gpt2", "--dump", "big.npz", limit=1 << 14)
    refused("--stages logits", "--dump", "x", "--stages", "logits", code=2)
    refused("goes with --dump", "--stages", "5", code=2)
    refused("blocks from 1 to 1", "--dump", "x", "--blocks", "2", code=2)
    refused("heads from 1 to 2", "--dump", "x", "--heads", "1,3-", code=2)
    check(sorted(os.listdir(WORK)) == before, "something was left behind")


def dtypes_and_orders():
    scores = {h: np.load(f"{WORK}/toy/b00.h{h:02}.scaled.npy") for h in range(2)}
    both = np.stack([scores[0], scores[1]])
    bf16 = (both.view("u4") + 0x8000 >> 16).astype("<u2")
    ways = {"f4": both, "f8": both.astype("f8"), "f2": both.astype("f2"),
            "big": both.astype(">f4"), "bf16": bf16, "batch": both[None],
            "fortran": np.asfortranarray(both), "tokens_first": both.transpose(1, 0, 2)}
    for way, a in ways.items():
        os.makedirs(f"{WORK}/{way}")
        np.save(f"{WORK}/{way}/scaled_scores.npy", a)
        r = run("--seed", "7", "--compare", way)
        check(r.returncode == 0 and " agrees " in r.stdout, f"{way}: {r.stdout}{r.stderr}")
    np.savez_compressed(f"{WORK}/packed.npz", **{"attn.scaled": both})
    check(run("--seed", "7", "--compare", "packed.npz").returncode == 0, "deflated")
    w = np.load(f"{WORK}/toy/b00.w_qkv.npy")
    np.savez(f"{WORK}/w.npz", **{"h.0.attn.c_attn.weight": w.T.copy()})
    r = run("--seed", "7", "--compare", "w.npz")
    check(r.returncode == 0 and "w_qkv" in r.stdout, f"[out, in]: {r.stdout}{r.stderr}")


def hostile_dumps():
    a = np.zeros((5, 8), "f4")
    good = open(f"{WORK}/toy/b00.x.npy", "rb").read()

    def file(name, data):
        open(f"{WORK}/{name}", "wb").write(data)
        return name

    compare = ("--seed", "7", "--compare")
    refused("cannot be opened", *compare, "nowhere")
    refused("is no .npy file", *compare, file("magic.npy", b"\x93NUMPX" + good[6:]))
    refused("header", *compare, file("header.npy", good[:20] + b"}" + good[21:]))
    refused("truncated", *compare, file("short.npy", good[:-1]))
    huge = good.replace(b"(5, 8), }  ", b"(5, 8000),}")
    check(len(huge) == len(good) and huge != good, "the header was not replaced")
    refused("huge.npy", *compare, file("huge.npy", huge))
    np.save(f"{WORK}/objects.npy", np.array([{}, "code"], object), allow_pickle=True)
    refused("Python objects", *compare, "objects.npy")
    np.save(f"{WORK}/records.npy", np.zeros(3, "i4,f4"))
    refused("records", *compare, "records.npy")
    os.makedirs(f"{WORK}/empty")
    refused("holds no .npy file", *compare, "empty")
    refused("is no .npz archive", *compare, file("text.npz", b"not a zip at all"))
    with zipfile.ZipFile(f"{WORK}/path.npz", "w") as z:
        z.writestr("../../evil.npy", good)
    refused("leaves the archive", *compare, "path.npz")
    with zipfile.ZipFile(f"{WORK}/bomb.npz", "w", zipfile.ZIP_DEFLATED) as z:
        header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1048576,), }\n"
        z.writestr("ln_1.npy", b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") +
                   header + bytes(1 << 22))
    refused("more than", *compare, "bomb.npz")
    np.savez(f"{WORK}/shape.npz", ln_1=a[:4])
    refused("ln_1: shape [4,8]; x of 5 tokens is [5,8]", *compare, "shape.npz")
    np.savez(f"{WORK}/more.npz", ln_1=np.zeros((6, 8), "f4"))
    refused("6 tokens", *compare, "more.npz")
    refused("no manifest", "--compare", "toy", "--with", "packed.npz")
    refused("--tolerance", *compare, "toy", "--tolerance", "0", code=2)
    refused("--window: goes with --compare", "--window", code=2)
    r, w = os.pipe()
    os.close(r)
    refused("standard output", *compare, "toy", stdout=w)
    os.close(w)
    check(not os.path.exists(f"{WORK}/../evil.npy"), "a path led out of the archive")


def a_comparison_is_drawn():
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "scripts", "compare.txt")
    r = run("--seed", "8", "--compare", "toy", "--script", script)
    check(r.returncode == 0, f"script: {r.stdout}{r.stderr}")
    r = run("--seed", "8", "--compare", "toy", "--show", "theirs", "--state")
    again = "--compare toy --window --show theirs"
    check(r.returncode == 0 and again in r.stdout, f"--state: {r.stdout}{r.stderr}")


shutil.rmtree(WORK, ignore_errors=True)
os.makedirs(WORK)
numpy_reads_dumps()
dumps_are_whole_or_not()
dtypes_and_orders()
hostile_dumps()
a_comparison_is_drawn()
sys.exit(failed)
