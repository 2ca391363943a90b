"""Short versions of `benchmarks/reliability`: a few of the same cases, in this process."""

import pytest

from reliability import harness, specimens
from reliability.properties import PROPERTIES

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")

FEW = {
    "false-success": 80,
    "exact": 150,
    "exact-operators": 40,
    "exact-applications": 60,
    "differential": 7,
    "metamorphic": 36,
    "convergence": 300,
    "cut-levels": 65,
    "determinism": 4,
}


@pytest.mark.slow
@pytest.mark.parametrize("key", FEW)
def test_a_few_cases(key):
    if key in ("differential", "exact-operators"):
        pytest.importorskip("cvxpy")
    if key == "exact-applications":
        pytest.importorskip("sklearn")
        pytest.importorskip("dask")
    first = 40 if key == "determinism" else 0  # earlier numbers repeat large problems
    for number in range(first, first + FEW[key]):
        PROPERTIES[key].check(12345, number)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("key", "numbers"),
    [
        ("readers", range(12)),
        ("out-of-memory", [0, 8, 10, 11]),
        ("interrupts", [1, 3]),
        ("load", [0]),
        ("size", [0]),
    ],
)
def test_cases_in_a_process_of_their_own(key, numbers):
    """They change the limits or the signals of their process."""
    pytest.importorskip("resource")
    if key == "readers":
        pytest.importorskip("tifffile")
    for figures, reason, _ in harness.in_child(PROPERTIES[key], 12345, list(numbers)):
        assert not reason
        assert figures


def test_long_runs_judge_times_which_these_tests_do_not(monkeypatch):
    answers = [({"longest seconds": seconds}, "", 0.0) for seconds in (0.5, 2.0)]
    monkeypatch.setattr(harness, "in_child", lambda *_: answers)
    limits = {"longest seconds": 1.0}
    prop = harness.Property("readers", "Readers", lambda *_: {}, 2, 2, limits=limits)
    outcome = harness.run(prop, 0, 2, harness.Store(None))
    assert outcome.told == ["case 1: longest seconds must be at most 1: longest seconds 2"]


def test_everything_public_has_a_specimen():
    """A new function must be added to specimens.py, with all of its arguments."""
    for name, argument in specimens.targets():
        call = specimens.call(name)
        assert not argument or argument in call.arguments, f"{name}: {argument}"


SOME = [
    ("Graph", "edges"), ("Graph", "weights"), ("SquaredLoss", "signal"), ("Problem.gap", "p"),
    ("solve", "tol"), ("solve", "warm_start"), ("min_cut", "source_capacities"),
    ("fused_lasso", "signal"), ("denoise_tv", "image"), ("segment", "epsilon"),
    ("CoupledTV.conjugate", "p"), ("tv_chain", "weights"), ("knn_graph", "points"),
    ("write_dimacs", "path"),
]  # fmt: skip


@pytest.mark.slow
def test_bad_input():
    pytest.importorskip("resource")
    numbers = [specimens.targets().index(target) for target in SOME]
    answers = list(harness.in_child(PROPERTIES["bad-input"], 0, numbers))
    assert not [reason for _, reason, _ in answers if reason]
    assert sum(figures["calls"] for figures, _, _ in answers) > 400
