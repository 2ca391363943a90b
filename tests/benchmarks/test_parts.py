"""The parts of the benchmarks: problems, proofs, searches, profiles, workers, files."""

import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from races import peer_process
from races.comparison import PROBLEMS as COMPARED
from races.comparison import comparison
from races.outcome import Figure, Outcome, Row
from races.peer_process import PeerError, Worker
from races.peers.task import Task, iterations, tolerances
from races.problems import PROBLEMS, make, title
from races.profile import performance_profile, share
from races.race import Elsewhere, race
from races.race_tables import absent, detail, ratios, wins
from races.reference import dual, primal, prove
from races.search import Search, settings_for
from races.settings import Settings


@pytest.mark.parametrize("name", PROBLEMS)
def test_small_twins_have_proved_optima(name):
    instance = make(name, small=True)
    found = prove(instance)
    assert found.certified
    # Near u = f the objective is higher by what is known of it.
    assert found.accuracy(instance, instance.signal) == pytest.approx(
        primal(instance, instance.signal) / found.dual - 1
    )
    assert title(name, small=True).startswith(title(name))


def test_a_dual_point_must_be_feasible():
    instance = make("P3S", small=True)
    with pytest.raises(ValueError, match="p must lie"):
        dual(instance, np.full(instance.graph.n_edges, 1.1))
    assert dual(instance, np.zeros(instance.graph.n_edges)) == 0.0


def test_what_is_no_number_reaches_nothing():
    instance = make("P3S", small=True)
    assert prove(instance).accuracy(instance, np.full(len(instance.signal), np.nan)) == np.inf


def test_tasks_survive_their_folder(tmp_path):
    task = make("P5", small=True).task(n_threads=2, budget=3.0)
    task.save(tmp_path)
    again = Task.load(tmp_path)
    assert again.shape == (8, 8, 8)
    assert (again.weight, again.n_threads, again.budget) == (0.1, 2, 3.0)
    np.testing.assert_array_equal(again.image.ravel(), task.signal)
    np.testing.assert_array_equal(again.edges, task.edges)


def test_ladders_ascend():
    steps = iterations(1000)
    assert steps[0] == 1
    assert steps[-1] >= 1000
    assert all(a < b for a, b in itertools.pairwise(steps))
    assert tolerances(1e-4, 1) == pytest.approx([1e-1, 1e-2, 1e-3, 1e-4])


# Searches ---------------------------------------------------------------------------------------


@given(needed=st.integers(1, 10**5), most=st.integers(1, 10**5))
def test_search_finds_the_cheapest_setting(needed, most):
    ladder = iterations(most)
    tried = []

    def attempt(n):
        tried.append(n)
        return needed / n, 1e-3 * n

    found = settings_for(Search(ladder, attempt, budget=1e9), [1.0], [])
    good = [n for n in ladder if n >= needed]
    assert [trial.setting for trial in found.values()] == good[:1]
    assert len(tried) == len(set(tried))


def test_search_gives_up_at_the_budget():
    tried = []

    def attempt(n):
        tried.append(n)
        return 1.0, float(n)

    search = Search(iterations(10**6), attempt, budget=100.0)
    assert settings_for(search, [1e-3], [1e-3]) == {}
    assert max(tried) < 250
    assert search.best().accuracy == 1.0


def test_search_stops_with_a_method_that_has_stopped():
    tried = []

    def attempt(n):
        tried.append(n)
        return 1.0, min(n, 100) * 1.0

    assert settings_for(Search(iterations(10**6), attempt, 1e9), [1e-3], []) == {}
    assert max(tried) < 1000


def test_curves_take_what_was_seen():
    search = Search(iterations(10**4), lambda n: (1 / n, n * 1e-3), 1e9)
    found = settings_for(search, [1e-3], [1e-1, 1e-2, 1e-9])
    assert set(found) == {1e-1, 1e-2, 1e-3}
    assert all(trial.accuracy <= accuracy for accuracy, trial in found.items())


# Profiles ---------------------------------------------------------------------------------------


def test_profile_of_dolan_and_more():
    found = performance_profile([{"a": 1.0, "b": 2.0}, {"a": 3.0, "b": 1.0}, {"a": 5.0}])
    assert found["a"].tolist() == [1.0, 1.0, 3.0]
    assert found["b"].tolist() == [1.0, 2.0]
    assert [share(found["a"], tau, 3) for tau in (1.0, 2.9, 3.0)] == pytest.approx(
        [2 / 3, 2 / 3, 1]
    )
    assert share(found["b"], 1e9, 3) == pytest.approx(2 / 3)  # one instance is never finished


@given(
    st.lists(st.dictionaries(st.sampled_from("abc"), st.floats(1e-6, 1e6), min_size=1), min_size=1)
)
def test_profiles_are_shares(instances):
    found = performance_profile(instances)
    firsts = sum(share(ratios_, 1.0, len(instances)) for ratios_ in found.values())
    assert firsts >= 1 - 1e-12  # some solver is the fastest on every instance
    for solver, ratios_ in found.items():
        assert (ratios_ >= 1.0).all()
        assert share(ratios_, np.inf, len(instances)) == pytest.approx(
            sum(solver in times for times in instances) / len(instances)
        )


# Races and tables -------------------------------------------------------------------------------


def test_race_takes_the_best_turn_and_is_patient_once():
    turns = {"fast": iter([0.3, 0.1, 0.2]), "slow": iter([9.0])}
    found = race({k: lambda k=k: Elsewhere(next(turns[k])) for k in turns}, turns=3)
    assert found == {"fast": 0.1, "slow": 9.0}


def outcome(**rows):
    made = Outcome("P1", title("P1"), 4, 4, 1, 1.0, 1.0)
    for peer, times in rows.items():
        figures = {accuracy: Figure(time, accuracy, "", 0) for accuracy, time in times.items()}
        made.rows.append(Row(peer, figures=figures, closest=min(times)))
    return made


def test_tables_put_graphtv_first_and_mark_where_a_peer_wins():
    made = outcome(other={1e-3: 1.0, 1e-6: 8.0}, graphtv={1e-3: 2.0, 1e-6: 4.0})
    made.rows.append(Row("gone", status="missing", reason="not installed: No module named 'gone'"))
    assert ratios([made], 1e-3).rows == [["512² image, weight 0.1", "2", "**0.50×**"]]
    assert ratios([made], 1e-6).rows[0][2] == "2×"
    shown = detail(made, [1e-3, 1e-6, 1e-12])
    assert [row[0] for row in shown.rows] == ["graphtv", "other"]
    assert shown.rows[1][1:5] == ["1 (**0.50×**)", "8 (2×)", "–", "1.0e-06 in – s"]
    assert "gone: not installed" in shown.caption
    assert wins([made], [1e-3, 1e-6]) == [
        "other, 512² image, weight 0.1, to 1e-3 (0.50 of graphtv's time)"
    ]
    assert absent([made]) == ["gone: not installed: No module named 'gone' (P1)"]
    columns = shown.markdown().splitlines()[2].count("|")
    assert all(line.count("|") == columns for line in shown.markdown().splitlines()[2:6])


def test_the_table_of_the_readme_has_date_machine_and_command():
    names = [name for group in COMPARED.values() for name in group]
    made = []
    for name in names:
        each = outcome(graphtv={1e-6: 2.0}, prox_tv={1e-6: 1.0})
        each.name, each.date = name, "2026-01-02"
        each.rows.append(Row("scikit-image", figures={1e-3: Figure(1.0, 1e-3, "", 0)}))
        each.rows.append(Row("pycut-pursuit", status="declined"))
        made.append(each)
    text = comparison(made, {"processor": "abacus", "cores": "3"})
    assert text.startswith("Measured on 2026-01-02 on one machine: abacus; 3 cores.")
    assert "`graphtv bench peers" in text
    table = [line for line in text.splitlines() if line.startswith("|")]
    assert len({line.count("|") for line in table}) == 1
    rows = {line.split("|")[1].strip(): line.split("|")[2:4] for line in table}
    assert rows["**graphtv**"] == [" 1 ", " 1 "]
    assert rows["prox_tv"] == [" **0.50**, **0.50** ", " **0.50** "]
    assert rows["scikit-image"] == [" – ", " – "]
    assert {cell.strip() for cell in rows["pycut-pursuit"]} == {""}
    assert comparison(made[1:], {}) is None
    readme = (Path(__file__).parents[2] / "README.md").read_text("utf-8")
    shown = readme.partition("<!-- comparison -->")[2].partition("<!-- end of comparison -->")[0]
    assert next(line for line in shown.splitlines() if line.startswith("|")) == table[0]


def test_outcomes_survive_a_file():
    made = outcome(graphtv={1e-3: 2.0})
    assert Outcome.from_json(made.to_json()) == made


def test_settings_survive_a_file_and_follow_the_data(tmp_path):
    instance, other = make("P3", small=True), make("P3S", small=True)
    settings = Settings(tmp_path / "new" / "settings.json")
    settings.put(Settings.key(instance, "peer"), {"found": 1})
    again = Settings(tmp_path / "new" / "settings.json")
    assert again.get(Settings.key(instance, "peer")) == {"found": 1}
    assert again.get(Settings.key(other, "peer")) is None


# Workers ----------------------------------------------------------------------------------------


def write_interpreter(folder, *lines):
    python = folder / "PyMaxflow" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text("\n".join(["#!/bin/sh", *lines]) + "\n")
    python.chmod(0o755)


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (["exit 3"], "crashed with exit code 3"),
        (["kill -ABRT $$"], "crashed with signal SIGABRT"),
        (["read line", "echo free >&2", "exit 1"], "crashed with exit code 1: free"),
        (["sleep 60"], "no answer within 0 s"),
    ],
)
def test_a_broken_peer_is_an_error_with_its_last_words(lines, reason, tmp_path, monkeypatch):
    monkeypatch.setattr(peer_process, "LEAST_LIMIT", 0.3)
    write_interpreter(tmp_path, *lines)
    worker = Worker("divide_and_conquer", tmp_path)
    try:
        with pytest.raises(PeerError, match=reason):
            worker.enter(make("P3S", small=True).task(budget=0.01))
    finally:
        worker.close()


def test_a_worker_that_died_is_started_again():
    instance = make("P3S", small=True)
    worker = Worker("graphtv_solve", None)
    try:
        offer = worker.enter(instance.task())[0]
        first = worker.run(offer, 1e-3)
        worker._process.kill()
        with pytest.raises(PeerError, match="SIGKILL"):
            worker.run(offer, 1e-3)
        again = worker.run(offer, 1e-3)
        np.testing.assert_array_equal(first.u, again.u)
        assert again.proved <= 1e-3
        with pytest.raises(PeerError, match="ValueError: tol"):
            worker.run(offer, -1.0)
        assert worker.run(offer, 1e-3).proved <= 1e-3
    finally:
        worker.close()
