"""What labels were, as JSON: numbers, strings, None, bytes and tuples of these come back as they were."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["decode_value", "encode_value"]


def encode_value(value: Any) -> Any:
    """A label as JSON; of any other type the text is kept. Kernels read hashes, which are stored beside.

    Parameters
    ----------
    value : object
        The label.

    Returns
    -------
    object
        What JSON can hold.
    """
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, tuple):
        return {"tuple": [encode_value(item) for item in value]}
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    if value is None or type(value) in (bool, int, float, str):
        return value
    return {"text": repr(value)}


def decode_value(value: Any) -> Any:
    """The label that `encode_value` was given.

    Parameters
    ----------
    value : object
        What `encode_value` returned.

    Returns
    -------
    object
        The label.

    Raises
    ------
    ValueError
        If `encode_value` never writes such a value.
    """
    if value is None or type(value) in (bool, int, float, str):
        return value
    if not isinstance(value, dict) or len(value) != 1:
        raise ValueError
    kind, content = next(iter(value.items()))
    if kind == "tuple" and isinstance(content, list):
        return tuple(decode_value(item) for item in content)
    if kind not in ("bytes", "text") or not isinstance(content, str):
        raise ValueError
    return bytes.fromhex(content) if kind == "bytes" else content
