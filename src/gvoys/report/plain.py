"""Results as JSON, for machines."""

from __future__ import annotations

import json
import math
from typing import Any


def as_json(result: Any) -> str:
    """Write a result as JSON."""
    return json.dumps(_plain(result), indent=1, ensure_ascii=False)


def _plain(value: Any) -> Any:
    value = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(value, dict):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)
