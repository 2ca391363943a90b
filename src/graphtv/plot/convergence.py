"""Plot the certified relative gap of runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from graphtv._validate import as_choice, brief
from graphtv.plot.style import GREY, axes_or_current, check_axes, palette, tidy
from graphtv.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEAST_GAP = 1e-16
"""Smaller gaps, including 0, are drawn at this value."""

AXES = {"iteration": "iteration", "time": "seconds", "sweeps": "forest sweeps"}


def draw_convergence(
    results: Any, ax: Axes | None = None, *, against: str = "iteration", labels: Any = None
) -> Axes:
    """Plot the certified relative gap of one or several runs.

    Parameters
    ----------
    results : Result, sequence of Result, or dict of str to Result
        The runs; the keys of a dict are their names.
    ax : matplotlib Axes, optional
        Where to draw; by default the current axes.
    against : {'iteration', 'time', 'sweeps'}
        The horizontal axis. Time does not include the setup.
    labels : sequence of str, optional
        Names of the runs; by default method and preconditioner.

    Returns
    -------
    matplotlib Axes
        The axes, with a logarithmic scale for the gap. A dot marks the end of each run, at 1e-16 if
        its gap is 0. A dashed line marks the tolerance if it is the same for all runs.

    Examples
    --------
    >>> runs = {name: solve(problem, preconditioner=name) for name in ("none", "nested")}
    ... # doctest: +SKIP
    >>> draw_convergence(runs, against="time")  # doctest: +SKIP
    """
    column = as_choice(against, "against", tuple(AXES))
    runs, names = _as_runs(results, labels)
    check_axes(ax)
    axes = axes_or_current(ax)
    # Thick lines first, so that equal runs remain visible.
    widths = np.linspace(3.2, 1.4, len(runs)) if len(runs) > 1 else [1.8]
    for run, name, colour, width in zip(runs, names, palette(len(runs)), widths, strict=True):
        xs, gaps = run.history[column], run.history["relative_gap"]
        shown = np.isfinite(gaps)
        gaps = np.maximum(gaps[shown], LEAST_GAP)
        axes.plot(xs[shown], gaps, color=colour, linewidth=width, label=name)
        axes.plot(xs[shown][-1:], gaps[-1:], "o", color=colour, markersize=width + 3)
    tolerances = {run.tolerance for run in runs}
    if len(tolerances) == 1 and (tolerance := tolerances.pop()) > 0.0:
        axes.axhline(tolerance, color=GREY, linewidth=1, linestyle=(0, (4, 3)))
    axes.set_yscale("log")
    axes.minorticks_off()
    axes.set_xlabel(AXES[column])
    axes.set_ylabel("certified relative gap")
    if len(runs) > 1 or labels is not None:
        axes.legend(frameon=False)
    tidy(axes)
    return axes


def _as_runs(results: Any, labels: Any) -> tuple[list[Result], list[str]]:
    """Return the runs and their names."""
    names: list[str] | None = None
    if isinstance(results, Result):
        runs = [results]
    elif isinstance(results, Mapping):
        names, runs = [str(name) for name in results], list(results.values())
    else:
        try:
            runs = list(results)
        except TypeError:
            runs = []
    if not runs or not all(isinstance(run, Result) for run in runs):
        raise ValueError(f"results must be one or several of type Result, got {brief(results)}")
    if labels is not None:
        names = [str(name) for name in ([labels] if isinstance(labels, str) else labels)]
        if len(names) != len(runs):
            raise ValueError(f"labels must have an entry per result, {len(runs)}, got {labels!r}")
    return runs, names or [f"{run.method}, {run.preconditioner}" for run in runs]
