"""Small versions of Figures 1 and 2: κ as in the theorems, and labels after eleven iterations."""

import math

import pytest

from graphtv.paper.experiment import Outcomes, UnavailableError
from graphtv.paper.figure1 import METHODS, Figure1
from graphtv.paper.figure2 import ITERATIONS, Figure2, unlike

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def figure1():
    return Figure1(quick=True)


@pytest.fixture(scope="module")
def kappas(figure1):
    return Outcomes({cell.key: cell.run(lambda _: None) for cell in figure1.cells()})


@pytest.fixture(scope="module")
def figure2():
    pytest.importorskip("skimage")
    return Figure2(quick=True)


@pytest.fixture(scope="module")
def labels(figure2):
    known, reasons = {}, {}
    for cell in figure2.cells():
        try:
            known[cell.key] = cell.run(lambda _: None)
        except UnavailableError as error:
            reasons[cell.key] = str(error)
    return Outcomes(known, reasons)


@pytest.mark.parametrize("graph", ["random", "planar"])
def test_condition_numbers_are_ordered_as_in_the_paper(kappas, graph):
    kappa = [kappas[graph][method]["kappa"] for method in METHODS]
    assert kappa == sorted(kappa, reverse=True)
    assert kappa[2] == pytest.approx(math.sqrt(3), rel=1e-12)
    assert kappa[3] == pytest.approx(math.sqrt(2), rel=1e-12)


@pytest.mark.parametrize("graph", ["random", "planar"])
def test_nested_forests_have_the_condition_number_of_the_theorem(kappas, graph):
    for method in ("nested", "matroid"):
        found = kappas[graph][method]
        n_forests, n_spanning = found["theorem"]
        assert n_forests == found["forests"]
        assert found["kappa"] == pytest.approx(math.sqrt(n_forests / n_spanning), rel=1e-12)


def test_condition_numbers_of_the_random_graph_are_near_the_papers(kappas):
    assert kappas["random"]["none"]["kappa"] == pytest.approx(6.41, rel=0.05)
    assert kappas["random"]["linear"]["kappa"] == pytest.approx(5.13, rel=0.05)
    of_seeds = kappas["seeds"]
    assert all(kappa == pytest.approx(math.sqrt(2), rel=1e-12) for kappa in of_seeds["matroid"])
    assert min(of_seeds["none"]) < 6.41 < max(of_seeds["none"])


def test_table_of_figure_1(figure1, kappas):
    (table,) = figure1.tables(kappas)
    first = table.rows[0].entries
    assert [(e.ours, e.paper) for e in (first[4], first[6])] == [("√3", "√3"), ("√2", "√2")]
    assert [e.is_best for e in first[1::2]][-1] is False
    assert first[6].is_best
    assert all(len(row.entries) == len(table.columns) for row in table.rows)


def test_claims(figure1, kappas, figure2, labels):
    claims = [*figure1.claims(kappas), *figure2.claims(labels)]
    assert len(claims) == 3
    assert all(claim.holds for claim in claims)
    assert figure1.claims(Outcomes()) == []
    assert figure2.claims(Outcomes())[0].holds is None


def test_pictures_of_figure_1(figure1, kappas, tmp_path):
    pytest.importorskip("matplotlib")
    made = figure1.pictures(kappas, tmp_path)
    assert [picture.path.name for picture in made] == ["figure1-random.png", "figure1-planar.png"]
    assert all(picture.path.read_bytes().startswith(b"\x89PNG") for picture in made)


def test_after_eleven_iterations_chains_have_nearly_the_converged_labels(labels):
    converged = labels["coffee/converged"]
    assert converged["gap"] <= 1e-6
    chains, none = labels["coffee/chains"], labels["coffee/none"]
    assert chains["iterations"] == none["iterations"] == ITERATIONS
    assert chains["gap"] < 0.2 * none["gap"]
    assert unlike(chains, converged) < 0.02
    assert unlike(chains, converged) < 0.25 * unlike(none, converged)


def test_table_of_figure_2_says_what_is_missing(figure2, labels):
    (table,) = figure2.tables(labels)
    (missing,) = [row for row in table.rows if row.note]
    assert missing.entries[0].ours == "image_0001"
    assert "--data" in missing.note
    assert [row.entries[0].ours for row in table.rows if row.section == "coffee"] == ["chains"]


def test_pictures_of_figure_2(figure2, labels, tmp_path):
    pytest.importorskip("matplotlib")
    (made,) = figure2.pictures(labels, tmp_path)
    assert made.path.name == "figure2-coffee.png"
    assert made.path.read_bytes().startswith(b"\x89PNG")
