"""Stores taken apart and written again with checksums that fit, so that only the content can give them away."""

import json
import zlib

import numpy as np

from gvoys.io.store.store_reader import MANIFEST, npy_header


def take_apart(folder):
    """Arrays, label values and the manifest of a store."""
    manifest = json.loads((folder / MANIFEST).read_text())
    arrays = {name: np.load(folder / f"{name}.npy") for name in manifest["arrays"]}
    values = {name: json.loads((folder / f"{name}_values.json").read_text()) for name in manifest["values"]}
    return arrays, values, manifest


def write_again(folder, arrays, values, manifest, change=lambda manifest: None):
    """Files and a manifest whose sizes and checksums fit; `change` alters the manifest before it is summed up."""
    described = {}
    for name, array in arrays.items():
        raw = npy_header(array.dtype, array.shape) + array.tobytes()
        (folder / f"{name}.npy").write_bytes(raw)
        described[name] = {
            "bytes": len(raw),
            "crc32": zlib.crc32(array.tobytes()),
            "dtype": array.dtype.str,
            "shape": list(array.shape),
        }
    tables = {}
    for name, table in values.items():
        raw = table if isinstance(table, bytes) else json.dumps(table).encode()
        (folder / f"{name}_values.json").write_bytes(raw)
        tables[name] = {"bytes": len(raw), "crc32": zlib.crc32(raw)}
    body = {**manifest, "arrays": described, "values": tables}
    body.pop("checksum", None)
    change(body)
    body["checksum"] = zlib.crc32(json.dumps(body, sort_keys=True).encode())
    (folder / MANIFEST).write_text(json.dumps(body))
