"""The stored outcomes of a run, and how a run resumes."""

import json

import pytest

from graphtv.paper.experiment import Cell, Experiment, UnavailableError
from graphtv.paper.run import run, stored
from graphtv.paper.store import Store


class Counting(Experiment):
    """Three cells, the second of which may be interrupted, or impossible."""

    name = "counting"
    title = "Counting"

    def __init__(self, quick=False, data=None):
        super().__init__(quick, data)
        self.runs = []
        self.trouble = None

    def cells(self):
        return [Cell(key, lambda tell, key=key: self.count(key)) for key in ("a", "b/1", "b 1")]

    def count(self, key):
        if key == "b/1" and self.trouble is not None:
            raise self.trouble
        self.runs.append(key)
        return {"key": key, "values": [1, 2.5, None], "nested": {"κ": "√2"}}

    def tables(self, outcomes):
        return []


class Silent:
    """Records the cells that could not be run."""

    def __init__(self):
        self.kept = None
        self.reasons = {}

    def begin(self, experiment, cells, kept):
        self.kept = kept

    def start(self, key):
        pass

    def tell(self, text):
        pass

    def finish(self, key, outcome, reason):
        if outcome is None:
            self.reasons[key] = reason


def test_outcomes_are_kept_and_not_run_again(tmp_path):
    store, experiment, listener = Store(tmp_path), Counting(), Silent()
    outcomes = run(experiment, store, listener)
    assert list(outcomes) == experiment.runs == ["a", "b/1", "b 1"]
    assert outcomes["b/1"] == {"key": "b/1", "values": [1, 2.5, None], "nested": {"κ": "√2"}}
    again = run(experiment, store, listener)
    assert dict(again) == dict(outcomes)
    assert len(experiment.runs) == 3
    assert listener.kept == 3
    assert dict(stored(Counting(), store)) == dict(outcomes)


def test_an_interrupted_run_goes_on_where_it_was(tmp_path):
    store, experiment = Store(tmp_path), Counting()
    experiment.trouble = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        run(experiment, store, Silent())
    assert experiment.runs == ["a"]
    experiment.trouble = None
    listener = Silent()
    assert len(run(experiment, store, listener)) == 3
    assert listener.kept == 1
    assert experiment.runs == ["a", "b/1", "b 1"]


def test_what_cannot_be_run_has_a_reason_and_is_tried_again(tmp_path):
    store, experiment, listener = Store(tmp_path), Counting(), Silent()
    experiment.trouble = UnavailableError("no data")
    outcomes = run(experiment, store, listener)
    assert list(outcomes) == ["a", "b 1"]
    assert outcomes.reasons == listener.reasons == {"b/1": "no data"}
    experiment.trouble = None
    assert len(run(experiment, store, listener)) == 3


def test_quick_and_full_runs_are_kept_apart(tmp_path):
    store = Store(tmp_path)
    run(Counting(quick=True), store, Silent())
    assert len(stored(Counting(quick=False), store)) == 0
    assert len(stored(Counting(quick=True), store)) == 3


@pytest.mark.parametrize("content", ["", "{", "[]", '{"of": {}, "outcome": {}}', "\x00\xff"])
def test_files_that_do_not_fit_count_as_none(tmp_path, content):
    store, experiment = Store(tmp_path), Counting()
    run(experiment, store, Silent())
    store.path(experiment, "a").write_bytes(content.encode("latin-1"))
    assert store.get(experiment, "a") is None
    run(experiment, store, Silent())
    assert store.get(experiment, "a") is not None


def test_an_older_revision_is_not_taken(tmp_path, monkeypatch):
    store = Store(tmp_path)
    run(Counting(), store, Silent())
    monkeypatch.setattr(Counting, "revision", 2)
    assert len(stored(Counting(), store)) == 0


def test_a_failed_write_leaves_what_was_there(tmp_path):
    store, experiment = Store(tmp_path), Counting()
    run(experiment, store, Silent())
    before = store.path(experiment, "a").read_bytes()
    with pytest.raises(TypeError):
        store.put(experiment, "a", {"not JSON": object()})
    assert store.path(experiment, "a").read_bytes() == before
    assert json.loads(before)["outcome"]["key"] == "a"
