"""The input of a worker, a problem in a folder, and its output, the entrants."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
FILE = "task.npz"


@dataclass(frozen=True)
class Task:
    """min ½‖u - f‖² + Σ ω_e |u_i - u_j|, with a number of threads.

    Attributes
    ----------
    signal : ndarray, shape (n,)
        f.
    edges, weights : ndarray, shapes (m, 2) and (m,)
        The graph. There are no edges where the task is a batch of chains, the rows of `shape`.
    shape : tuple of int
        The lengths of the axes of a grid; empty for other graphs.
    weight : float
        The weight of all edges of a grid.
    n_threads : int
        How many threads an entrant may use.
    budget : float
        The time limit of a run in seconds.
    """

    signal: Floats
    edges: NDArray[np.int32]
    weights: Floats
    shape: tuple[int, ...] = ()
    weight: float = 0.0
    n_threads: int = 1
    budget: float = 60.0

    @property
    def image(self) -> Floats:
        """The signal in the shape of the grid."""
        return self.signal.reshape(self.shape)

    def save(self, folder: Path) -> None:
        """Write the task into a folder."""
        arrays: dict[str, Any] = {name: np.asarray(value) for name, value in vars(self).items()}
        np.savez(folder / FILE, **arrays)

    @classmethod
    def load(cls, folder: Path) -> Task:
        """Return the task that a folder holds."""
        with np.load(folder / FILE) as arrays:
            return cls(
                arrays["signal"],
                arrays["edges"],
                arrays["weights"],
                tuple(int(length) for length in arrays["shape"]),
                float(arrays["weight"]),
                int(arrays["n_threads"]),
                float(arrays["budget"]),
            )


class Answer(NamedTuple):
    """A primal point and, if the method proves one, its relative gap."""

    u: NDArray[Any]
    proved: float | None = None


def iterations(most: int = 200_000) -> list[int]:
    """Return numbers of iterations from 1 to `most`, each an eighth larger than the last."""
    ladder = [1]
    while ladder[-1] < most:
        ladder.append(max(ladder[-1] + 1, ladder[-1] * 9 // 8))
    return ladder


def tolerances(least: float, per_decade: int = 2) -> list[float]:
    """Return tolerances from 0.1 down to `least`."""
    n_steps = round(per_decade * (-1 - np.log10(least)))
    return [10 ** (-1 - step / per_decade) for step in range(n_steps + 1)]


@dataclass(frozen=True)
class Entrant:
    """A way to solve the task with a ladder of settings, cheap to expensive; `run` takes one.

    Attributes
    ----------
    peer : str
        The name under which it races; the fastest variant of a peer counts.
    variant : str
        Which of its methods this is.
    ladder : sequence
        Settings that JSON can hold.
    rescues : str
        The cheaper variant that this one backs up; it is tried only if that one fails.
    threads : int
        How many threads it uses.
    note : str
        A remark for readers of its figures.
    """

    peer: str
    variant: str
    run: Callable[[Any], Answer]
    ladder: Sequence[Any] = (0,)
    rescues: str = ""
    threads: int = 1
    note: str = ""


def imported(module: str) -> Any:
    """Return a module of the peer, without type information."""
    return importlib.import_module(module)


class DeclinedError(Exception):
    """The peer has no method for this kind of task; the message says which tasks it supports."""
