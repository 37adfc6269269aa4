"""One reader per graph format. Each module has `matches(graph)` and `read(graph, names)`; none imports its format."""

from gvoys.io.readers import from_grakel, from_igraph, from_matrix, from_networkx, from_node_link, from_pyg, from_rdkit

# In order of trial; GraKeL's tuples come last because a tuple says least about itself.
READERS = (from_networkx, from_igraph, from_matrix, from_pyg, from_node_link, from_rdkit, from_grakel)
