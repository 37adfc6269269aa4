"""device="cuda": whether it agrees with the CPU, its kernels, Gram matrices, and sketches beside two cores.

Runs where there is an NVIDIA GPU: python -m studies gpu writes studies/results/gpu-DEVICE-DATE.json.
"""

import functools
import json
import shutil
import tempfile
import time
import traceback
from collections.abc import Callable
from datetime import date
from pathlib import Path

from rich.console import Console
from rich.table import Table

import gvoys as gv
from gvoys.errors import DatasetError, UnsupportedError
from studies import huge, learning_data
from studies.timing import measure, show

RESULTS = Path(__file__).parent / "results"
_SECONDS = 30.0  # after which the table's last row, the dearest, is left out


def run(console: Console) -> None:
    """Section after section, whatever fails: time on a GPU is dear."""
    try:
        gv.profiles(gv.datasets.molecules(2), gv.Walk(1), method="sketch", n_components=128, device="cuda")
    except UnsupportedError as error:
        console.print(f"the GPU is left out: {error}\n", markup=False)
        return
    from numba import cuda

    from studies import gpu_kernels

    sections = {
        "checks that failed": _checks,
        "kernels, ms": gpu_kernels.kernels,
        "Gram matrix, ms": gpu_kernels.gram,
        "parts of a Gram matrix, ms": gpu_kernels.parts,
        "walker steps a second": _steps,
        "regressor, s": regressor,
        "table": _table,
    }
    found = {"device": _text(cuda.get_current_device().name), "date": date.today().isoformat()}
    begin = time.perf_counter()
    for name, section in sections.items():
        try:
            found[name] = section(console)
        except Exception:
            console.print(f"{name}:\n{traceback.format_exc()}", markup=False)
        console.print(f"({name}: {time.perf_counter() - begin:.0f} s since the begin)\n", markup=False)
        _keep(found)


def _checks(console: Console) -> list[str]:
    from studies import gpu_agreement

    compare = (gpu_agreement.compare, gpu_agreement.compare_nodes)
    return [name for each in compare for name in each(on_progress=_plainly(console))]


def _plainly(console: Console) -> Callable[[str], None]:
    return functools.partial(console.print, markup=False, highlight=False)


def _keep(found: dict[str, object]) -> None:
    RESULTS.mkdir(exist_ok=True)
    device = str(found["device"]).replace("NVIDIA ", "").replace(" ", "-")
    (RESULTS / f"gpu-{device}-{found['date']}.json").write_text(json.dumps(found, indent=1))


def _text(name: object) -> str:
    return name.decode() if isinstance(name, bytes) else str(name)


def regressor(console: Console) -> dict[str, float] | None:
    """A fit on 3,400 molecules, kernels compiled, and whether the likelihood is the CPU's."""
    try:
        molecules = learning_data.read("Lipophilicity")
    except DatasetError as error:
        console.print(f"the regressor is left out: {error}\n", markup=False)
        return None
    some, y = molecules.batch[:3400], molecules.y[:3400]
    found: dict[str, float] = {}
    for device in ("cuda", "cpu"):
        model = gv.RandomWalkRegressor(device=device)
        model.fit(some[:200], y[:200])
        begin = time.perf_counter()
        model.fit(some, y)
        found[device] = time.perf_counter() - begin
        found[f"log likelihood, {device}"] = model.log_marginal_likelihood()
    likelihoods = found["log likelihood, cuda"], found["log likelihood, cpu"]
    console.print(
        f"RandomWalkRegressor, 3,400 molecules: {show(found['cuda'])} on the GPU (5 s wanted), {show(found['cpu'])} on "
        f"the CPU; log likelihood {likelihoods[0]:.3f} and {likelihoods[1]:.3f}\n"
    )
    return found


def _steps(console: Console) -> float:
    """One-sided walks on a graph of a million nodes of degree 8."""
    batch = gv.datasets.regular(1, 1_000_000, 8)
    n_components, max_length = 100, 20
    work = measure(
        lambda: gv.profiles(
            batch, gv.Walk(max_length), method="voyagers", n_components=n_components, scale=8.0, device="cuda"
        ),
        repeats=3,
    )
    rate = n_components * batch.n_nodes * max_length / work.seconds
    console.print(f"walkers: {rate:.2e} steps a second, copies included (2e9 wanted)\n")
    return rate


def _table(console: Console) -> list[dict[str, object]]:
    folder = Path(tempfile.mkdtemp(prefix="gvoys-gpu-"))
    rows = []
    table = Table("graphs", "components, length", "CPU, two cores", "GPU, host to host", "ratio", title="sketches")
    try:
        for name, graphs, n_components, max_length in _cases(folder, time.perf_counter() + _SECONDS):
            times = {}
            for device, extra in (("cpu", {"n_jobs": 2}), ("cuda", {})):
                work = lambda d=device, e=extra: _profile(graphs, n_components, max_length, d, e)  # noqa: B023, E731
                work() if device == "cuda" or len(graphs) < 10_000 else None
                begin = time.perf_counter()
                work()
                times[device] = time.perf_counter() - begin
            ratio = times["cpu"] / times["cuda"]
            table.add_row(
                name, f"{n_components}, {max_length}", show(times["cpu"]), show(times["cuda"]), f"{ratio:.0f}"
            )
            rows.append({"graphs": name, "cpu": times["cpu"], "gpu": times["cuda"], "ratio": ratio})
    finally:
        shutil.rmtree(folder)
    console.print(table)
    return rows


def _cases(folder: Path, until: float) -> object:
    for name in ("MUTAG", "NCI1", "DD"):
        try:
            yield name, gv.datasets.load_tu(name)[0], 1024, 8
        except DatasetError:
            continue
    some = gv.datasets.molecules(10_000)
    yield "10^6 molecules", gv.GraphBatch.concatenate([some] * 100), 256, 6
    if time.perf_counter() > until:
        return
    huge.write_graph(folder / "graph", huge.N_NODES)
    yield "one graph of 10^8 entries", gv.open_store(folder / "graph", verify=False), 64, 6


def _profile(graphs: gv.GraphBatch, n_components: int, max_length: int, device: str, extra: dict[str, int]) -> None:
    """Block by block, as the estimators do, so that features need not fit into memory."""
    for first in range(0, len(graphs), 20_000):
        part = graphs[first : first + 20_000]
        gv.profiles(
            part, gv.Walk(max_length), method="sketch", n_components=n_components, device=device, scale=16.0, **extra
        )
