"""Features of a file: a function of the parameters and the kind of labels, not of the file's graphs."""

from __future__ import annotations

from gvoys.estimators import RandomWalkFeatures
from gvoys.graphs.batch import GraphBatch
from gvoys.io.sources import FileSource, Skipped
from gvoys.scale.job import Parameters
from gvoys.walks import Sequences, Sketch

COLUMNS_OF_SEQUENCES = 2**20  # an error of at most 0.14 % of sqrt(K(G, G) K(H, H)), typically far less
_FIRST = 1000  # rows


def first_graphs(source: FileSource) -> GraphBatch:
    """The graphs of the first rows that hold a node: the kind of labels comes from there, and nothing else.

    How many rows that are does not depend on the parts, so that features do not either.
    """
    first: list[Skipped] = []
    empty: GraphBatch | None = None
    for chunk in source.chunks(_FIRST):
        records = source.records(chunk)
        graphs, _, skipped = source.graphs_of(records)
        if graphs.n_nodes:
            return graphs
        empty = empty or (graphs if len(graphs) else None)
        first = first or sorted([*records.skipped, *skipped])
    if empty is None:
        raise source.no_graph(first)
    return empty


def fit_model(graphs: GraphBatch, parameters: Parameters) -> RandomWalkFeatures:
    """Fit features on the first graphs; what is "auto" comes from their kind of labels."""
    parameters.check()
    counts = parameters.method == Sequences.name  # in columns that do not depend on the graphs
    model = RandomWalkFeatures(
        parameters.series_of_walks(),
        parameters.walk,
        parameters.method,
        n_components=parameters.n_components,
        lengths="stacked" if parameters.lengths == "auto" else parameters.lengths,
        n_columns=COLUMNS_OF_SEQUENCES if counts and parameters.n_columns is None else parameters.n_columns,
        random_state=parameters.seed,
        device=parameters.device,
    ).fit(graphs)
    if parameters.lengths == "auto" and model.method_ == Sketch.name:
        model.set_params(lengths="summed").fit(graphs)
    return model
