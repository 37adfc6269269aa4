"""Graphs to work on: the TU collection, tables of molecules, one that ships with the package, and random ones."""

from gvoys.datasets.generators import erdos_renyi, molecules, regular, stochastic_block
from gvoys.datasets.loaders import freesolv, load_smiles, load_tu

__all__ = ["erdos_renyi", "freesolv", "load_smiles", "load_tu", "molecules", "regular", "stochastic_block"]
