"""Solve a problem in parts: on a grid of dask arrays, or on a partitioned graph."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Any

import numpy as np

from graphtv._validate import as_callable, as_count, as_flag, as_real
from graphtv.result import History
from graphtv.scale.checkpoint import PARTS, Checkpoint
from graphtv.scale.graph_problem import GraphProblem, dual_point, primal_point
from graphtv.scale.grid_arrays import dual_arrays, primal_array
from graphtv.scale.grid_problem import GridProblem
from graphtv.scale.layout import Layout
from graphtv.scale.parts import Parts
from graphtv.scale.result import PartitionedResult, TiledResult
from graphtv.scale.rounds import Options, Rounds
from graphtv.scale.scheduler import WorkersPausedError
from graphtv.scale.storage import Memory
from graphtv.solver.log import Log
from graphtv.solver.termination import EXACT_GAP

TAKEN = (
    "tol",
    "max_iterations",
    "time_limit",
    "callback",
    "verbose",
    "n_threads",
    "stop",
    "checkpoint",
)

LOST = ("KilledWorker", "CommClosedError", "FutureCancelledError", "TimeoutError")
"""Errors that Dask raises when it cannot complete the work."""


def solve_tiled(problem: GridProblem, caller: str, options: dict[str, Any]) -> TiledResult:
    """Solve a problem on a grid tile by tile, and return the solution with its certificate."""
    parts, facts = _run(problem, caller, options)
    u, p = primal_array(parts), dual_arrays(parts)
    return TiledResult(u=u, p=p, chunks=problem.tiling.chunks, **facts)


def solve_partitioned(
    problem: GraphProblem, caller: str, options: dict[str, Any]
) -> PartitionedResult:
    """Solve a problem on a graph part by part, and return the solution with its certificate."""
    parts, facts = _run(problem, caller, options)
    return PartitionedResult(u=primal_point(parts), p=dual_point(parts), **facts)


def _run(problem: Layout, caller: str, options: dict[str, Any]) -> tuple[Parts, dict[str, Any]]:
    """Run until the end, and return the parts and the attributes of the result.

    Parameters
    ----------
    problem : Layout
        The problem.
    caller : str
        The name of the calling function for error messages.
    options : dict
        `tol`, `max_iterations` (rounds), `time_limit`, `callback`, `verbose` and `n_threads` (per
        window) as in `graphtv.solve`. `checkpoint` is a folder for the parts.
    """
    start, clock = time.perf_counter(), time.time()
    tolerance = as_real(options.get("tol", 1e-6), "tol", minimum=0.0)
    chosen = _as_options(problem, caller, options, clock, tolerance)
    log, checkpoint = chosen.log, chosen.checkpoint
    parts = Parts(problem, Memory() if checkpoint is None else checkpoint.folder)
    rounds = Rounds(parts, chosen)
    log.header(**_facts(problem, tolerance, checkpoint))
    found = None if checkpoint is None else checkpoint.read(parts)
    try:
        if found is not None:
            rounds.resume(found)
        else:
            if checkpoint is not None:
                checkpoint.clear()
            parts.open()
            rounds.start_from_coarse()
        setup_time = time.perf_counter() - start
        status = rounds.run()
    except Exception as error:
        if isinstance(error, WorkersPausedError):
            raise RuntimeError(_advise(str(error), checkpoint)) from error
        if type(error).__name__ in LOST and type(error).__module__.startswith("distributed"):
            what = f"workers were lost, and their work could not be repeated: {error!r}"
            raise RuntimeError(_advise(what, checkpoint)) from error
        raise
    coordinates, proof = parts.coordinates, rounds.proof
    facts: dict[str, Any] = {
        "primal": coordinates.objective(proof.primal),
        "dual": coordinates.objective(proof.dual),
        "gap": coordinates.objective(proof.gap),
        "relative_gap": proof.relative_gap,
        "rounding": coordinates.objective(proof.rounding),
        "status": status,
        "tolerance": tolerance,
        "iterations": len(rounds.records),
        "n_parts": parts.n_parts,
        "bytes_per_round": problem.bytes_per_round,
        "setup_time": setup_time,
        "solve_time": time.perf_counter() - start - setup_time,
        "history": History(rounds.records),
        "error_bound": _error_bound(rounds),
    }
    log.footer(PartitionedResult(u=None, p=None, **facts))
    return parts, facts


def _as_options(
    problem: Layout, caller: str, options: dict[str, Any], clock: float, tolerance: float
) -> Options:
    """Return the validated options of a run that began at a time."""
    for name in options:
        if name not in TAKEN:
            raise ValueError(
                f"{caller} does not support {name} for {problem.input}, only {', '.join(TAKEN)}"
            )
    limit, threads = options.get("time_limit"), options.get("n_threads")
    return Options(
        tolerance or EXACT_GAP,
        as_count(options.get("max_iterations", 1000), "max_iterations", minimum=1),
        None if limit is None else clock + as_real(limit, "time_limit", minimum=0.0),
        None if threads is None else as_count(threads, "n_threads", minimum=1),
        as_callable(options.get("callback"), "callback"),
        as_callable(options.get("stop"), "stop"),
        Log(as_flag(options.get("verbose", False), "verbose")),
        _as_checkpoint(options.get("checkpoint")),
    )


def _advise(what: str, checkpoint: Checkpoint | None) -> str:
    if checkpoint is None:
        return f"{what}; use checkpoint=folder to keep complete rounds"
    return f"{what}; the same call continues from the checkpoint {checkpoint.path}"


def _as_checkpoint(given: Any) -> Checkpoint | None:
    if given is None:
        return None
    try:
        path = Path(given)
    except TypeError:
        raise ValueError(f"checkpoint must be the path of a folder, got {given!r}") from None
    if path.exists() and not path.is_dir():
        raise ValueError(f"checkpoint must be a folder, got the file {path}")
    if path.is_dir() and not (path / "manifest.json").exists():
        strange = next((p.name for p in path.iterdir() if p.name not in PARTS), None)
        if strange is not None:
            raise ValueError(
                f"checkpoint must be a folder without other files, got {path} with {strange!r}"
            )
    path.mkdir(parents=True, exist_ok=True)
    return Checkpoint(path.absolute())


def _error_bound(rounds: Rounds) -> float | None:
    """Return √(2 gap/γ) ≥ ‖u - u*‖ where γ = 1, without vertex weights."""
    problem = rounds.parts.problem
    if problem.c is not None or not problem.loss.is_squared:
        return None
    proof, unknown = rounds.proof, rounds.parts.unknown
    bound = math.sqrt(2.0 * (proof.gap + proof.gap_rounding)) * (1.0 + 1e-15)
    extent = float(np.max(unknown.most - unknown.least))
    if not bound <= math.sqrt(rounds.parts.problem.n_entries) * extent:
        return None  # the range of the data says more
    return rounds.parts.coordinates.length(bound)


def _facts(problem: Layout, tolerance: float, checkpoint: Checkpoint | None) -> dict[str, str]:
    penalty = "total variation" if problem.delta == 0.0 else f"Huber({problem.delta:g})"
    penalty = f"coupled {penalty}" if problem.couples else penalty
    facts = {
        "problem": f"{problem.loss.name} loss + {penalty}",
        **problem.description(),
        "method": "block descent over parts and strips across their borders",
        "tolerance": "exact" if tolerance == 0.0 else f"{tolerance:g}",
    }
    if checkpoint is not None:
        facts["checkpoint"] = str(checkpoint.path)
    return facts
