"""Options, errors and progress reports of a run."""

from typing import Any

import dask.array as da
import numpy as np
import pytest

from graphtv import denoise_tv, fused_lasso
from graphtv.scale.rounds import Rounds


@pytest.fixture
def image() -> da.Array:
    rng = np.random.default_rng(0)
    return da.from_array(rng.normal(size=(80, 120)), chunks=40)


def test_nothing_is_computed_twice_and_the_result_is_lazy(image: da.Array) -> None:
    found, result = denoise_tv(image, 0.5, return_result=True)
    assert isinstance(found, da.Array)
    assert isinstance(result.u, da.Array)
    assert found.chunks == image.chunks
    assert "optimal" in repr(result)
    assert result.bytes_per_round > 0


def test_callback_and_log(image: da.Array, capsys: pytest.CaptureFixture[str]) -> None:
    seen: list[Any] = []
    _, result = denoise_tv(image, 2.0, callback=seen.append, verbose=True, return_result=True)
    assert [record.iteration for record in seen] == list(range(1, len(seen) + 1))
    printed = capsys.readouterr().out
    assert "6 tiles" in printed
    assert "optimal" in printed
    _, result = denoise_tv(image, 2.0, tol=0, callback=lambda record: True, return_result=True)
    assert result.status == "interrupted"
    assert result.iterations == 1


def test_limits(image: da.Array) -> None:
    _, result = denoise_tv(image, 5.0, tol=0, max_iterations=2, return_result=True)
    assert result.status == "iteration_limit"
    assert result.iterations == 2
    _, result = denoise_tv(image, 5.0, tol=0, time_limit=0.05, return_result=True)
    assert result.status == "time_limit"
    assert result.primal >= result.dual


def test_an_early_end_warns(image: da.Array) -> None:
    with pytest.warns(RuntimeWarning, match="iteration_limit"):
        denoise_tv(image, 5.0, tol=0, max_iterations=1)


def test_interrupt_between_rounds(image: da.Array) -> None:
    def stop(record: Any) -> None:
        if record.iteration == 2:
            raise KeyboardInterrupt

    _, result = denoise_tv(image, 5.0, tol=0, callback=stop, return_result=True)
    assert result.status == "interrupted"
    assert result.iterations == 2
    assert np.isfinite(result.u.compute()).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weight": -1.0}, "weight"),
        ({"weight": np.nan}, "weight"),
        ({"weight": np.ones((3, 3))}, "weight"),
        ({"weight": -np.ones((80, 120))}, "weight"),
        ({"weight": [1.0]}, "weight"),
        ({"weight": [1.0, np.ones((80, 120))]}, r"weight\[1\]"),
        ({"mask": np.ones((3, 3), dtype=bool)}, "mask"),
        ({"mask": np.ones((80, 120))}, "mask"),
        ({"mask": np.zeros((80, 120), dtype=bool)}, "known"),
        ({"spacing": 0.0}, "spacing"),
        ({"channel_axis": 5}, "channel_axis"),
        ({"loss": "absolute"}, "loss"),
        ({"connectivity": 5}, "connectivity"),
        ({"method": "pdhg"}, "method"),
        ({"tol": -1.0}, "tol"),
        ({"max_iterations": 0}, "max_iterations"),
        ({"time_limit": -1.0}, "time_limit"),
        ({"callback": 3}, "callback"),
        ({"n_threads": 0}, "n_threads"),
        ({"checkpoint": 3}, "checkpoint"),
    ],
)
def test_errors_name_the_argument(image: da.Array, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        denoise_tv(image, **options)


def test_errors_about_the_image() -> None:
    with pytest.raises(ValueError, match="image must hold real numbers"):
        denoise_tv(da.zeros((3, 3), dtype=complex))
    with pytest.raises(ValueError, match="image must not be empty"):
        denoise_tv(da.zeros((0, 3)))
    with pytest.raises(ValueError, match="image must not be infinite"):
        denoise_tv(da.from_array(np.full((40, 40), np.inf), chunks=20))
    with pytest.raises(ValueError, match="image must have a known"):
        denoise_tv(da.from_array(np.full((40, 40), np.nan), chunks=20))


def test_errors_of_the_fused_lasso(image: da.Array) -> None:
    for options, message in (
        ({"graph": [[0, 1]]}, "graph"),
        ({"graph": "line"}, "graph"),
        ({"graph": [1.0]}, "graph"),
        ({"loss": "absolute"}, "loss must be one of .* for a dask array"),
        ({"loss": "huber", "delta": 0.0}, "delta"),
        ({"coupled": True}, "coupled"),
        ({"sparsity": 1.0}, "sparsity"),
        ({"vertex_weights": -np.ones((80, 120))}, "vertex_weights"),
        ({"vertex_weights": np.ones(3)}, "vertex_weights"),
    ):
        arguments: dict[str, Any] = {"graph": "grid", "signal": image, **options}
        with pytest.raises(ValueError, match=message):
            fused_lasso(**arguments)


@pytest.mark.slow
def test_momentum_saves_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pieces are larger than the tiles."""
    slope = np.add.outer(np.arange(160), np.arange(160)) / 50.0
    noise = np.random.default_rng(0).normal(size=slope.shape)
    image = da.from_array(slope + noise, chunks=40)
    with_momentum = denoise_tv(image, 3.0, tol=1e-9, return_result=True)[1]
    monkeypatch.setattr(Rounds, "_momentum", lambda self: 0.0)
    without = denoise_tv(image, 3.0, tol=1e-9, return_result=True)[1]
    assert with_momentum.status == without.status == "optimal"
    assert with_momentum.iterations < 0.7 * without.iterations
