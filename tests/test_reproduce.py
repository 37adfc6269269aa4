"""The paper's experiments on small inputs: the shapes it reports, files that are whole, a page that needs no other."""

import json

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from gvoys.errors import ParameterError
from gvoys.reproduce import EXPERIMENTS, Plan, reproduce
from gvoys.reproduce.result import slope


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    out = tmp_path_factory.mktemp("reproduced")
    return reproduce(["all"], Plan(quick=True), out)


def test_every_experiment_leaves_its_files(report):
    folder = report.page.parent
    assert [result.name for result in report.results] == list(EXPERIMENTS)
    for result in report.results:
        assert (
            json.loads((folder / f"{result.name}.json").read_text())["command"]
            == f"gvoys reproduce {result.name} --quick --seed 0"
        )
        for figure in result.figures:
            assert (folder / f"{figure.name}.png").stat().st_size > 1000
            assert (folder / f"{figure.name}.svg").stat().st_size > 1000
    page = report.page.read_text()
    assert page.count("<h2>") == len(EXPERIMENTS)
    assert 'src="data:image/png' in page
    assert "http" not in page
    assert not list(folder.glob("*.part"))


def test_the_error_falls_with_the_root_of_the_walks(report):
    for figure in report.results[0].figures:
        for curve in figure.curves:
            assert slope(curve.x, curve.y) == pytest.approx(-0.5, abs=0.25)  # ten seeds, six points


def test_voyagers_grow_slower_than_every_solver(report):
    curves = {curve.name: curve for curve in report.results[1].figures[0].curves}

    def growth(name):
        seen = [(n, y) for n, y in zip(curves[name].x, curves[name].y, strict=True) if y is not None]
        return slope(*np.array(seen[-3:]).T)

    assert growth("voyagers") < growth("brute force")
    assert curves["voyagers"].y[-1] < curves["conjugate gradients"].y[-1]
    assert curves["brute force"].y[-1] is None  # out of time or memory, and said so
    assert "; then out of" in report.results[1].rows[0].faithful


def test_signs_have_the_least_variance_and_the_bound_holds(report):
    rows = {row.what: row for row in report.results[2].rows}
    values = {name: float(row.faithful.split()[0]) for name, row in rows.items()}
    assert min(values, key=values.get) == "variance with rademacher g"
    bounds = report.results[3].rows
    assert "infinite" in bounds[1].paper
    for row in (bounds[0], bounds[2]):
        assert int(row.faithful.split()[0]) < int(row.paper.replace(",", ""))


def test_what_there_is_not(tmp_path):
    with pytest.raises(ParameterError, match="no experiment 'fig9'; choose among fig3"):
        reproduce(["fig9"], Plan(quick=True), tmp_path)
