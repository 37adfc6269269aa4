"""Graphs to work on: the TU collection, and random ones."""

from gvoys.datasets.generators import erdos_renyi, molecules, regular, stochastic_block
from gvoys.datasets.tu import load_tu

__all__ = ["erdos_renyi", "load_tu", "molecules", "regular", "stochastic_block"]
