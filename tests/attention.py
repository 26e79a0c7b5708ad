"""assets/attention.py against the toy's float64 numbers in tests/golden. 77: no PyTorch."""
import json
import pathlib
import struct
import sys

try:
    import torch
except ImportError:
    sys.exit(77)

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "assets"))
sys.dont_write_bytecode = True
from attention import attention  # noqa: E402

data = (HERE / "golden" / "attn_toy.safetensors").read_bytes()
size = struct.unpack("<Q", data[:8])[0]
kinds = {"F32": torch.float32, "F64": torch.float64}
t = {}
for name, entry in json.loads(data[8:8 + size]).items():
    if name == "__metadata__":
        continue
    a, b = entry["data_offsets"]
    raw = bytearray(data[8 + size + a:8 + size + b])
    t[name] = torch.frombuffer(raw, dtype=kinds[entry["dtype"]]).reshape(entry["shape"]).double()

d = t["h"].shape[1]
none = torch.zeros(3 * d, dtype=torch.float64)
y = attention(t["h"], t["gain"], t["bias"], t["w_qkv"], none, t["w_o"], none[:d], t["p"].shape[0])
off = (y - t["y"]).abs().max().item()
print("largest difference", off)
sys.exit(0 if off < 1e-12 else 1)
