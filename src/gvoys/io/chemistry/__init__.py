"""Molecules as graphs: options, parsing of SMILES, labels and canonical SMILES."""

from gvoys.io.chemistry.canonical import canonical_smiles, scaffolds
from gvoys.io.chemistry.parse import Chemistry, as_chemistry

__all__ = ["Chemistry", "as_chemistry", "canonical_smiles", "scaffolds"]
