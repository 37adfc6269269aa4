"""Batches that hold the same graphs."""

import numpy as np

ARRAYS = ("node_offsets", "indptr", "indices", "edge_weights", "node_attributes", "edge_attributes")


def same_graphs(left, right):
    """The same bits in every array, and the same labels."""
    assert left.directed == right.directed
    for name in ARRAYS:
        one, other = getattr(left, name), getattr(right, name)
        assert (one is None) == (other is None), name
        if one is not None:
            assert one.dtype == other.dtype
            np.testing.assert_array_equal(one, other)
    for name in ("node_labels", "edge_labels"):
        one, other = getattr(left, name), getattr(right, name)
        assert (one is None) == (other is None), name
        if one is not None:
            np.testing.assert_array_equal(one.hashed, other.hashed)
            assert one.decode() == other.decode()
