"""What gvoys makes of a molecule: the options, how SMILES are parsed, the labels, and canonical SMILES."""

from gvoys.io.chemistry.canonical import canonical_smiles, scaffolds
from gvoys.io.chemistry.options import Chemistry, as_chemistry

__all__ = ["Chemistry", "as_chemistry", "canonical_smiles", "scaffolds"]
