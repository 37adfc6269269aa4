"""A page to look at graphs: a map, drawings, nearest graphs, what a model says of them, and mu by sliders.

The module can be called: ``gv.explore(graphs, y, "page.html")`` is ``gvoys.apps.explore.explore``.
"""

from __future__ import annotations

import inspect
import sys
from types import ModuleType
from typing import Any

from gvoys.apps.explore.collection import Collection, Property, as_property, load_collection
from gvoys.apps.explore.explore import Page, explore

__all__ = ["Collection", "Page", "Property", "as_property", "explore", "load_collection"]


class _Callable(ModuleType):
    """Importing a package sets an attribute of its name, so that the function could not have the name otherwise."""

    def __call__(self, *args: Any, **options: Any) -> Page:
        return explore(*args, **options)


__signature__ = inspect.signature(explore)
sys.modules[__name__].__class__ = _Callable
