"""Dask processes: the same solution, even if workers fail."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np
import pytest

from graphtv import Problem, SquaredLoss, denoise_tv, grid_graph, solve
from graphtv.scale import scheduler

distributed = pytest.importorskip("distributed")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),  # from Dask, about ports and lost workers
]


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture
def image() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(80, 120))


def expected_of(image: np.ndarray, weight: float) -> tuple[np.ndarray, Any]:
    """Return the solution by the threads of this process."""
    lazy = da.from_array(image, chunks=40)
    found, result = denoise_tv(lazy, weight, tol=1e-8, return_result=True)
    return found.compute(scheduler="threads"), result


def kill_one(client: Any) -> None:
    pid = next(iter(client.run(os.getpid).values()))
    os.kill(pid, signal.SIGKILL)


def test_workers_give_the_bits_of_threads(client: Any, image: np.ndarray) -> None:
    with client.as_current():
        lazy = da.from_array(image, chunks=40)
        found, result = denoise_tv(lazy, 1.0, tol=1e-8, return_result=True)
        values = found.compute()
    with dask.config.set(scheduler="threads"):
        expected, local = expected_of(image, 1.0)
    np.testing.assert_array_equal(values, expected)
    assert (result.primal, result.dual) == (local.primal, local.dual)


@pytest.mark.parametrize("has_checkpoint", [False, True])
def test_a_killed_worker(
    client: Any, image: np.ndarray, tmp_path: Path, has_checkpoint: bool
) -> None:
    killed = []

    def kill(record: Any) -> None:
        if record.iteration == 2 and not killed:
            kill_one(client)
            killed.append(True)

    options = {"checkpoint": tmp_path / "run"} if has_checkpoint else {}
    lazy = da.from_array(image, chunks=40)
    found, result = denoise_tv(lazy, 1.0, tol=1e-8, callback=kill, return_result=True, **options)
    values = found.compute()
    assert killed
    assert result.status == "optimal"
    with dask.config.set(scheduler="threads"):
        expected, local = expected_of(image, 1.0)
    np.testing.assert_array_equal(values, expected)
    assert result.iterations == local.iterations


def test_workers_that_are_paused_for_good(
    image: np.ndarray, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduler, "POLL_INTERVAL", 0.1)
    monkeypatch.setattr(scheduler, "PAUSE_LIMIT", 0.5)
    full = {"distributed.worker.memory.pause": 1e-3, "distributed.worker.memory.terminate": False}
    with (
        dask.config.set(full),
        distributed.Client(
            processes=False, n_workers=1, memory_limit="1GB", dashboard_address=None
        ) as client,
        client.as_current(),
        pytest.raises(RuntimeError, match=r"paused for .* the same call continues from the checkp"),
    ):
        denoise_tv(da.from_array(image, chunks=40), 1.0, checkpoint=tmp_path / "run")


def test_many_small_problems(client: Any) -> None:
    rng = np.random.default_rng(0)
    problems = [Problem(grid_graph((20, 20)), SquaredLoss(rng.normal(size=400))) for _ in range(6)]
    found = dask.compute(*map(dask.delayed(solve), problems))
    for problem, result in zip(problems, found, strict=True):
        np.testing.assert_array_equal(result.u, solve(problem).u)
