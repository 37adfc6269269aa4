"""Explanations beside what is known: Crippen's contributions to logP, nitro groups; and what they cost.

Lipophilicity.csv of GVOYS_DATA where it is, else RDKit's own first 5,000 molecules of the NCI set.
"""

import os
import warnings
from collections.abc import Iterator

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.ensemble import RandomForestRegressor
from sklearn.metrics import roc_auc_score

import gvoys as gv
from gvoys.errors import DatasetError, InputWarning
from studies.learning_data import read
from studies.timing import measure, show

N_TRAINING, N_TEST = 2000, 400
N_NITRO = 400  # molecules with a nitro group, and as many without
BITS, RADIUS = 2048, 2
KERNELS = ("linear", "matern12", "matern32", "gaussian")
OPTIONS: dict[str, dict] = {
    "defaults": {},
    "method='sequences'": {"method": "sequences"},
    "method='sketch'": {"method": "sketch"},
    "refine=0": {"walk": gv.Walk(backtrack=False)},
    "backtrack=True": {"walk": gv.Walk(refine=3)},
    "labels='both'": {"walk": gv.Walk(labels="both", refine=3)},
    "structure='core'": {"walk": gv.Walk(labels=None, structure="core", refine=3)},
    "landmarks": {"max_exact": 100},
}


def run(console: Console) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InputWarning)
        _crippen(console)
        _nitro(console)
        _mutag(console)
        _sums(console)
        _proteins(console)


# -- Crippen's logP


def _crippen(console: Console) -> None:
    """Correlation of shares with contributions that are known, molecule by molecule."""
    from rdkit.Chem import Crippen

    smiles, molecules = _molecules()
    order = np.random.default_rng(0).permutation(len(smiles))[: N_TRAINING + N_TEST]
    molecules = [molecules[i] for i in order]
    batch = gv.from_smiles([smiles[i] for i in order])
    y = np.array([Crippen.MolLogP(each) for each in molecules])
    known, new = slice(N_TRAINING), slice(N_TRAINING, None)
    truth = [_contributions(each) for each in molecules[new]]
    table = Table("", "RMSE", "median correlation", "mean", "10 % of molecules below", title="Crippen's contributions")

    model = gv.RandomWalkRegressor().fit(batch[known], y[known])
    found = model.explain(batch[new])
    worst = max(abs(each.nodes.sum() - (each.decision - each.baseline)) for each in found)
    rows = {"gvoys": ([each.decision for each in found], [each.nodes for each in found])}
    deleted = slice(N_TRAINING, N_TRAINING + 100)
    by_deletion = model.explain_by_deletion(batch[deleted])
    forest, prints = _forest(molecules[known], y[known])
    rows["ECFP4 random forest, bits of an atom removed"] = (
        forest.predict(_matrix(prints, molecules[new])),
        [_by_removal(forest, prints, each) for each in molecules[new]],
    )
    for name, (predicted, shares) in rows.items():
        table.add_row(name, f"{np.sqrt(np.mean((predicted - y[new]) ** 2)):.3f}", *_correlations(shares, truth))
    table.add_row("gvoys, each node deleted (100 molecules)", "", *_correlations(by_deletion, truth[:100]))
    console.print(table)
    console.print(f"largest difference of a sum: {worst:.1e}")
    _times(console, model, batch[new])


def _correlations(shares: list[np.ndarray], truth: list[np.ndarray]) -> list[str]:
    found = [np.corrcoef(a, b)[0, 1] for a, b in zip(shares, truth, strict=False) if np.ptp(a) > 0 and np.ptp(b) > 0]
    return [f"{np.median(found):.3f}", f"{np.mean(found):.3f}", f"{np.percentile(found, 10):.3f}"]


def _contributions(molecule: object) -> np.ndarray:
    """What every atom adds to logP, with its hydrogens."""
    from rdkit import Chem
    from rdkit.Chem import rdMolDescriptors

    whole = Chem.AddHs(molecule)
    parts = np.array([part for part, _ in rdMolDescriptors._CalcCrippenContribs(whole)])
    n = molecule.GetNumAtoms()
    owners = [a.GetIdx() if a.GetIdx() < n else a.GetNeighbors()[0].GetIdx() for a in whole.GetAtoms()]
    return np.bincount(owners, parts, minlength=n)


def _forest(molecules: list, y: np.ndarray) -> tuple[RandomForestRegressor, object]:
    from rdkit.Chem import rdFingerprintGenerator

    prints = rdFingerprintGenerator.GetMorganGenerator(radius=RADIUS, fpSize=BITS)
    forest = RandomForestRegressor(500, n_jobs=-1, random_state=0)
    return forest.fit(_matrix(prints, molecules), y), prints


def _matrix(prints: object, molecules: list) -> np.ndarray:
    return np.array([prints.GetCountFingerprintAsNumPy(each) for each in molecules])


def _by_removal(forest: RandomForestRegressor, prints: object, molecule: object) -> np.ndarray:
    """What a prediction loses without the environments that an atom is in (Riniker and Landrum 2013)."""
    from rdkit.Chem import FindAtomEnvironmentOfRadiusN, rdFingerprintGenerator

    extra = rdFingerprintGenerator.AdditionalOutput()
    extra.AllocateBitInfoMap()
    whole = prints.GetCountFingerprintAsNumPy(molecule, additionalOutput=extra)
    rows = np.tile(whole, (molecule.GetNumAtoms() + 1, 1)).astype(float)
    for bit, places in extra.GetBitInfoMap().items():
        for centre, radius in places:
            bonds = FindAtomEnvironmentOfRadiusN(molecule, radius, centre) if radius else ()
            atoms = {centre}
            for bond in map(molecule.GetBondWithIdx, bonds):
                atoms |= {bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()}
            rows[list(atoms), bit] -= 1
    predicted = forest.predict(rows)
    return predicted[-1] - predicted[:-1]


def _times(console: Console, model: gv.RandomWalkRegressor, batch: gv.GraphBatch) -> None:
    few = batch[:40]
    kernel = model.posterior_.kernel
    profile = measure(lambda: kernel.profile(batch), 3)
    predict, explain = (measure(lambda work=work: work(batch), 3) for work in (model.predict, model.explain))
    bare = measure(lambda: model.explain(batch, n_sequences=0), 3)
    delete = measure(lambda: model.explain_by_deletion(few), 1, warm=False)
    per = delete.seconds / len(few), explain.seconds / len(batch)
    console.print(
        f"regressor, {len(batch)} molecules: profiles {profile}, predict {predict}, explain {explain}, "
        f"without sequences {bare}; a molecule by deletion {show(per[0])}, explained {show(per[1])}: "
        f"{per[0] / per[1]:.1f} times"
    )


# -- nitro groups


def _nitro(console: Console) -> None:
    """Molecules with and without a nitro group: it alone decides, so that it must be found."""
    from rdkit import Chem

    group = Chem.MolFromSmarts("[N+](=O)[O-]")
    smiles, molecules = _molecules(own=True)
    marks = [_marked(each, group) for each in molecules]
    has = np.array([each.any() for each in marks])
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.permutation(np.flatnonzero(has == kind))[:N_NITRO] for kind in (True, False)])
    rows = rng.permutation(rows)
    batch, half = gv.from_smiles([smiles[i] for i in rows]), len(rows) // 2
    model = gv.RandomWalkClassifier().fit(batch[:half], has[rows[:half]])
    found = model.explain(batch[half:])
    score = model.score(batch[half:], has[rows[half:]])
    areas = _areas([marks[i] for i in rows[half:]], [each.nodes for each in found])
    console.print(
        f"molecules with a nitro group or not, accuracy {score:.3f}: AUROC of its atoms {areas.mean():.3f} in the mean "
        f"over {len(areas)} molecules, {(areas > 0.8).mean():.1%} above 0.8"
    )


def _marked(molecule: object, group: object) -> np.ndarray:
    atoms = [atom for match in molecule.GetSubstructMatches(group) for atom in match]
    return np.isin(np.arange(molecule.GetNumAtoms()), atoms)


def _areas(marks: list[np.ndarray], shares: list[np.ndarray]) -> np.ndarray:
    pairs = zip(marks, shares, strict=True)
    return np.array([roc_auc_score(mark, own) for mark, own in pairs if mark.any() and not mark.all()])


def _mutag(console: Console) -> None:
    """Nitro atoms in MUTAG: all of its molecules have some, so that other atoms may decide."""
    try:
        batch, y = gv.datasets.load_tu("MUTAG")
    except DatasetError as error:
        console.print(f"MUTAG is left out: {error}", markup=False)
        return
    marks = [_nitro_nodes(graph) for graph in batch.to_networkx()]
    model = gv.RandomWalkClassifier().fit(batch, y)
    table = Table("", "all", "mutagenic", "others", title="MUTAG, AUROC of nitro atoms, mean over molecules")
    shares = {
        "explain": [each.nodes for each in model.explain(batch)],
        "each node deleted": model.explain_by_deletion(batch),
    }
    for name, own in shares.items():
        areas = _areas(marks, own)
        table.add_row(name, *(f"{areas[rows].mean():.3f}" for rows in (y == y, y == y.max(), y != y.max())))
    console.print(table, f"{sum(mark.any() for mark in marks)} of {len(marks)} molecules have a nitro group")


def _nitro_nodes(graph: object) -> np.ndarray:
    """Nitrogen with two oxygens that have no other neighbour, and those; labels are the dataset's codes."""
    labels, found = dict(graph.nodes(data="label")), np.zeros(len(graph), bool)
    for node, label in labels.items():
        oxygens = [other for other in graph[node] if labels[other] == 2 and graph.degree(other) == 1]
        if label == 1 and len(oxygens) >= 2:
            found[[node, *oxygens]] = True
    return found


# -- sums, options and sketches


def _sums(console: Console) -> None:
    """The largest difference of a sum of shares, over 1,000 graphs, for every option and base kernel."""
    batch = gv.datasets.molecules(1000, mean_nodes=15)
    y = batch.graph_sizes > np.median(batch.graph_sizes)
    table = Table("", *KERNELS, title="largest |sum of shares - (decision - baseline)|, 1,000 graphs")
    for name, how in OPTIONS.items():
        cells = []
        for kernel in KERNELS:
            model = gv.RandomWalkClassifier(kernel=kernel, C=1.0, **how).fit(batch[:200], y[:200])
            cells.append(_worst(model.explain(batch, n_sequences=0)))
        table.add_row(name, *cells)
    cells = []
    for kernel in KERNELS:
        model = gv.RandomWalkRegressor(kernel=kernel, max_iterations=5).fit(batch[:200], batch.graph_sizes[:200])
        cells.append(_worst(model.explain(batch, n_sequences=0)))
    table.add_row("RandomWalkRegressor", *cells)
    console.print(table)


def _worst(found: list) -> str:
    return f"{max(abs(each.nodes.sum() - (each.decision - each.baseline)) for each in found):.1e}"


def _proteins(console: Console) -> None:
    """Default models of protein graphs, whose longer walks are sketched, and which may use attributes."""
    for name, batch, y in _tu("MUTAG", "PROTEINS", "ENZYMES"):
        model = gv.RandomWalkClassifier().fit(batch, y)
        profile = measure(lambda batch=batch, model=model: model.profiler_.profile(batch), 3)
        decide, explain = (
            measure(lambda work=work, batch=batch: work(batch), 3) for work in (model.decision_function, model.explain)
        )
        found = model.explain(batch)
        error = np.mean([each.node_errors.mean() / max(np.abs(each.nodes).max(), 1e-300) for each in found])
        console.print(
            f"{name}, {type(model.profiler_.method).__name__}, {model.chosen_.kernel}: profile {profile}, decide "
            f"{decide}, explain {explain}, {explain.seconds / profile.seconds:.1f} times a profile; sums within "
            f"{_worst(found)}; standard error of a share {error:.1%} of the largest"
        )


def _tu(*names: str) -> Iterator[tuple[str, gv.GraphBatch, np.ndarray]]:
    for name in names:
        try:
            yield name, *gv.datasets.load_tu(name)
        except DatasetError:
            continue


def _molecules(own: bool = False) -> tuple[list[str], list]:
    """SMILES and RDKit's molecules: Lipophilicity where it is and not RDKit's `own` are asked for."""
    from rdkit import Chem, RDConfig, RDLogger

    RDLogger.DisableLog("rdApp.*")
    try:
        smiles = None if own else list(read("Lipophilicity").smiles)
    except DatasetError:
        smiles = None
    if smiles is None:
        with open(os.path.join(RDConfig.RDDataDir, "NCI", "first_5K.smi")) as file:
            smiles = [line.split()[0] for line in file]
    pairs = [(text, Chem.MolFromSmiles(text)) for text in smiles]
    kept = [(text, molecule) for text, molecule in pairs if molecule is not None and molecule.GetNumAtoms() > 1]
    return [text for text, _ in kept], [molecule for _, molecule in kept]
