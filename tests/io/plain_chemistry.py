"""Molecules as RDKit reads them, atom by atom: slow, and written without a look at gvoys.io.chemistry."""

from pathlib import Path

import rdkit
from rdkit import Chem
from rdkit.Chem import Descriptors, rdCIPLabeler

SMILES = [
    *("CCO", "c1ccccc1", "C1=CC=CC=C1", "C#N", "C", "*C", "C:C", "C~C", "[Fe]<-N", "N->[Fe]<-N", "[C]$[C]", "C" * 200),
    *(
        "[Na+].[Cl-]",
        "CC(=O)[O-].[Na+]",
        "CCO.COC",
        "OCC.CCO",
        "C[NH3+].[Cl-].O",
        "[Cl].CCN",
        "CCN.Cl",
        "C1.C1",
        "Cl.Cl",
    ),
    *("[NH3+]CC(=O)[O-]", "O=[N+]([O-])c1ccccc1", "[Fe+2]", "[Fe+3]", "[O-][Cl+3]([O-])([O-])[O-]", "c1cc[nH]c1"),
    *("[2H]CCl", "[13CH4]", "[13CH3]C", "[2H]O[2H]", "[3H]c1ccccc1", "[H][H]", "[H]C([H])O", "C[#1]", "[2H][2H].O"),
    *("C[C@H](N)C(=O)O", "C[C@@H](N)C(=O)O", "F/C=C/F", "F/C=C\\F", "C[C@H]([2H])O", "F/C=C/[2H]", "[CH3:1][CH2:2]O"),
    *("C[C@H](O)[C@H](O)[C@@H](O)C", "C[C@@H]1CC[C@H](C)CC1", "C/C=C/[C@H](F)Cl.Br", "[13CH3][C@H](C)O", "CC1CC1"),
    *("N[C@@H](C)C(=O)O.N[C@H](C)C(=O)O", "[2H]C.CC", "[13CH4].C", "[H]/C(C)=C/C", "C[S@](=O)CC", "N[Pt](N)(Cl)Cl"),
    *(
        "CN(=O)=O",
        "[#10]",
        "N[Pt](N)(Cl)Cl",
        "c1ccc2cccc-2cc1",
        "[I]1C2=C(C=CC=C2)C3=C1C=CC=C3",
        "C1CC[C@H]2CCCC[C@@H]2C1",
    ),
]


def first_5000():
    """RDKit's own molecules, or none where they are not installed."""
    path = Path(rdkit.__file__).parent / "Data" / "NCI" / "first_5K.smi"
    return [line.split()[0] for line in path.read_text().splitlines() if line.strip()] if path.is_file() else []


def molecule_of(text, fragments="keep", isotopes=False, stereo=False, **_):
    """The part of the molecule that is left, with isotopes only where they are used."""
    molecule = Chem.MolFromSmiles(text)
    if fragments == "largest":
        molecule = min(Chem.GetMolFrags(molecule, asMols=True), key=_order)
    if stereo and not isotopes:
        for atom in molecule.GetAtoms():
            atom.SetIsotope(0)
        Chem.AssignStereochemistry(molecule, cleanIt=True, force=True)
    return molecule


def _order(part):
    return -part.GetNumHeavyAtoms(), -round(Descriptors.MolWt(part), 6), Chem.MolToSmiles(part)


def plain_graph(text, **options):
    """Labels of atoms, and labels of bonds by their two ends in both directions."""
    molecule, hydrogens = molecule_of(text, **options), options.get("hydrogens", "count")
    codes = {}
    if options.get("stereo"):
        rdCIPLabeler.AssignCIPLabels(molecule)
        for thing in (*molecule.GetAtoms(), *molecule.GetBonds()):
            if thing.HasProp("_CIPCode"):
                codes[type(thing).__name__, thing.GetIdx()] = thing.GetProp("_CIPCode")
    if hydrogens == "atoms":
        molecule = Chem.AddHs(molecule)
    labels = []
    for atom in molecule.GetAtoms():
        atoms = options.get("atoms", "usual")
        label = [atom.GetSymbol()] if atoms == "element" else [atom.GetSymbol(), atom.GetIsAromatic()]
        if hydrogens == "count" and atoms != "element":
            label.append(atom.GetTotalNumHs())
        if (options.get("charges") or atoms == "fine") and atom.GetFormalCharge() != 0:
            label.append(("+" if atom.GetFormalCharge() > 0 else "-") + str(abs(atom.GetFormalCharge())))
        if options.get("isotopes") and atom.GetIsotope() != 0:
            label.append(str(atom.GetIsotope()))
        if atoms == "fine":
            label.append("D" + str(atom.GetDegree()))
            sizes = [str(k) for k in range(3, 9) if atom.IsInRingSize(k)]
            label += ["R" + ",".join(sizes)] if sizes else []
        if ("Atom", atom.GetIdx()) in codes:
            label.append(codes["Atom", atom.GetIdx()])
        labels.append(tuple(label))
    bonds = {}
    for bond in molecule.GetBonds():
        order, code = bond.GetBondTypeAsDouble(), codes.get(("Bond", bond.GetIdx()))
        ends = bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()
        bonds[ends] = bonds[ends[::-1]] = order if code is None else (order, code)
    return labels, bonds


def graph_of(batch):
    """The same of a batch of one graph."""
    ends = zip(batch.rows().tolist(), batch.indices.tolist(), strict=True)
    edge_labels = [] if batch.edge_labels is None else batch.edge_labels.decode()
    return batch.node_labels.decode(), dict(zip(ends, edge_labels, strict=True))


def invariant(batch):
    """What does not depend on the order of the atoms: labels, and bonds between labels."""
    labels, bonds = graph_of(batch)
    return sorted(map(repr, labels)), sorted(repr((labels[u], labels[v], order)) for (u, v), order in bonds.items())
