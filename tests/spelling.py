"""Options of tests, where a table has fields of walks among others."""

import gvoys as gv
from gvoys.walks import Combined, Sketch
from gvoys.walks.walk import FIELDS


def with_walk(**options):
    """The same options with the fields of a walk as one."""
    walk = {name: options.pop(name) for name in FIELDS if name in options}
    return options | {"walk": gv.Walk(**walk)} if walk else options


def classifier(max_length=6, **options):
    """A classifier by a walk with these fields; what else it chooses by itself, it chooses."""
    if "n_components" in options:  # of the sketch
        kind = Sketch if options.get("method") == "sketch" else Combined
        options["method"] = kind(options.pop("n_components"))
    chosen = {"refine": "auto", "backtrack": "auto", "attribute_bandwidth": "auto", "start": "ones", "stop": "ones"}
    return gv.RandomWalkClassifier(**with_walk(max_length=max_length, **chosen | options))


def regressor(max_length=5, labels="auto", **options):
    """The same of a regressor, by one walk or, for several choices of labels, by one for each."""
    fields = {"refine": "auto", "backtrack": "auto", "start": "ones", "stop": "ones"}
    fields |= {name: options.pop(name) for name in FIELDS if name in options}
    walks = tuple(gv.Walk(max_length, each, **fields) for each in (labels if isinstance(labels, tuple) else (labels,)))
    return gv.RandomWalkRegressor(walks if len(walks) > 1 else walks[0], **options)
