"""The paper's experiments on small inputs: the shapes it reports, files that are whole, a page that needs no other."""

import json
import re
import shutil
import time
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from studies.paper import EXPERIMENTS, Plan, reproduce
from studies.paper.result import read_result, slope

import gvoys as gv
from gvoys.drawing.page import content_policy
from gvoys.errors import DatasetError, ParameterError


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """In CPU time of this process: what other processes do meanwhile does not count."""
    out = tmp_path_factory.mktemp("reproduced")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("studies.timing.time", SimpleNamespace(perf_counter=time.process_time))
        return reproduce(["all"], Plan(quick=True), out)


def test_every_experiment_leaves_its_files(report):
    folder = report.page.parent
    assert [result.name for result in report.results] == list(EXPERIMENTS)
    for result in report.results:
        assert (
            json.loads((folder / f"{result.name}.json").read_text())["command"]
            == f"python -m studies.paper {result.name} --quick --seed 0"
        )
        for figure in result.figures:
            assert (folder / f"{figure.name}.png").stat().st_size > 1000
            assert (folder / f"{figure.name}.svg").stat().st_size > 1000
    page = report.page.read_text()
    assert content_policy() in page
    assert page.count("<h2 ") == len(EXPERIMENTS)
    anchors = set(re.findall(r'<h2 id="(\w+)"', page))
    assert anchors == set(re.findall(r'<li><a href="#(\w+)"', page)) == set(EXPERIMENTS)
    assert 'src="data:image/png' in page
    assert not re.search(r'(src|href)="?http', page)
    assert '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; ' in page
    assert not list(folder.glob("*.part"))


def result(report, name):
    return next(each for each in report.results if each.name == name)


def test_the_error_falls_with_the_root_of_the_walks(report):
    for figure in result(report, "fig3").figures:
        for curve in figure.curves:
            assert slope(curve.x, curve.y) == pytest.approx(-0.5, abs=0.25)  # ten seeds, six points


def test_voyagers_grow_slower_than_every_solver(report):
    found = result(report, "fig4")
    curves = {curve.name: curve for curve in found.figures[0].curves}

    def seen(name):
        return [(n, y) for n, y in zip(curves[name].x, curves[name].y, strict=True) if y is not None]

    def growth(name):
        return slope(*np.array(seen(name)[-3:]).T)

    sampled = dict(seen("voyagers, 100 walks"))
    assert growth("voyagers, 100 walks") < growth("brute force")  # 0.6 and 5 at the time of writing
    for solver in ("brute force", "conjugate gradients"):  # 200 times and more
        n, seconds = seen(solver)[-1]
        assert sampled[n] < seconds
        assert len(seen(solver)) == len(sampled) or curves[solver].ended.startswith("out of")
    assert all(curve.y[0] is None and curve.y[1] is not None for curve in curves.values())  # 2 nodes: it diverges


def test_accuracies_are_the_papers_within_their_spread(report):
    try:
        gv.datasets.load_tu("MUTAG")
    except DatasetError:
        assert "MUTAG is left out" in result(report, "table1").notes[0]
        return
    row = result(report, "table1").rows[0]
    walks, labelled = (float(part.split(" ± ")[0].split()[-1]) for part in row.faithful.split(","))
    assert walks == pytest.approx(83.6, abs=6)
    assert labelled == pytest.approx(84.1, abs=6)
    assert float(row.best.split()[0]) > 84
    learned, geometric = result(report, "learn").rows[:2]
    assert float(learned.faithful.split()[0]) == pytest.approx(88.3, abs=4)
    assert float(geometric.faithful.split()[0]) > 81.4


def test_the_estimate_is_unbiased_off_the_diagonal(report):
    *pairs, same, independent = result(report, "unbiased").rows
    assert [row.paper for row in pairs] == ["1"] * 8
    assert all(abs(float(row.faithful.split()[-1])) < 5 for row in [*pairs, independent])
    assert float(same.faithful.split()[-1]) > 10


def test_signs_have_the_least_variance_and_the_bound_holds(report):
    rows = {row.what: row for row in result(report, "rademacher").rows}
    values = {name: float(row.faithful.split()[0]) for name, row in rows.items()}
    assert min(values, key=values.get) == "variance with rademacher g"
    bounds = result(report, "bound").rows
    assert "infinite" in bounds[1].paper
    assert all(row.paper.startswith("gives none; its bound, computed here: ") for row in bounds)
    for row in (bounds[0], bounds[2]):
        assert int(row.faithful.split()[0]) < int(row.paper.split()[-1].replace(",", ""))


def test_experiments_of_one_folder_share_a_page(report, tmp_path):
    for file in report.page.parent.glob("fig5*"):
        shutil.copy(file, tmp_path)
    again = reproduce(["rademacher"], Plan(quick=True), tmp_path)
    assert [each.name for each in again.results] == ["rademacher"]
    assert again.page.read_text().count("<h2 ") == 2
    assert read_result(tmp_path / "fig5.json") == result(report, "fig5")


def test_what_there_is_not(tmp_path):
    (tmp_path / "fig4.json").write_text("{}")
    with pytest.raises(DatasetError, match=r"fig4.json is no result of this version"):
        reproduce(["rademacher"], Plan(quick=True), tmp_path)
    with pytest.raises(DatasetError, match=r"there is neither MUTAG.zip nor MUTAG/"):
        reproduce(["learn"], Plan(quick=True, root=str(tmp_path)), tmp_path / "other")
    with pytest.raises(ParameterError, match="no experiment 'fig9'; choose among fig3"):
        reproduce(["fig9"], Plan(quick=True), tmp_path)
