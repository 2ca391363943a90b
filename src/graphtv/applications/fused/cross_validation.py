"""Cross-validation on a graph: vertices are held out and predicted from the others.

A vertex without data gets the value of the piece that contains it, so a weight of 0 holds it out.
If several values are optimal, `Medians` chooses one. Folds are spread evenly over the graph: in
Cuthill-McKee order, which keeps neighbours close to each other, every run of K vertices contains
one of each fold. The order is computed here, because scipy breaks ties with an unstable sort whose
result depends on the processor.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from graphtv import _core
from graphtv._validate import Floats, Rng, as_array, as_count, as_generator, brief
from graphtv.applications.fused.fused_model import FusedModel
from graphtv.applications.fused.medians import Medians
from graphtv.graph.components import connected_components
from graphtv.graph.graph import Graph

Folds = np.ndarray[Any, np.dtype[np.int64]]


def spread_folds(graph: Graph, n_folds: int, rng: Rng, observed: Any = None) -> Folds:
    """Return the fold of each vertex, -1 if it is not `observed`."""
    rng = as_generator(rng)
    order = _core.reverse_cuthill_mckee(graph.n_vertices, graph.edges)
    if observed is not None:
        order = order[observed[order]]
    runs = -(-len(order) // n_folds)
    folds = np.full(graph.n_vertices, -1, dtype=np.int64)
    folds[order] = rng.permuted(np.tile(np.arange(n_folds), (runs, 1)), axis=1).ravel()[
        : len(order)
    ]
    return folds


def as_folds(cv: Any, model: FusedModel, rng: Rng) -> Folds:
    """Return the fold of each vertex; a negative number means never held out."""
    n = model.graph.n_vertices
    observed = model.observed.reshape(n, -1).any(axis=1)
    given = as_array(cv, "cv")
    if given.ndim == 0:
        n_folds = as_count(cv, "cv", minimum=2)
        if n_folds > observed.sum():
            raise ValueError(
                f"cv must be at most {observed.sum()}, the number of vertices with data,"
                f" got {n_folds}"
            )
        folds = spread_folds(model.graph, n_folds, rng, observed)
    else:
        if given.shape != (n,) or given.dtype.kind not in "iu":
            raise ValueError(f"cv must be a number or {n} integers, got {brief(cv)}")
        folds = np.where(observed, given.astype(np.int64), -1)
    for fold in range(int(folds.max(initial=-1)) + 1):
        folds[_indispensable(model, folds == fold)] = -1
    if not (folds >= 0).any():
        raise ValueError(f"cv must leave data on some connected component, got {brief(cv)}")
    return folds


def _indispensable(model: FusedModel, held_out: Any) -> Any:
    """Return the vertices that cannot be held out, because their component would have no data.

    With the logistic loss, a component needs both labels.
    """
    graph, loss = model.graph, model.loss
    count, component = connected_components(graph)
    kept = ~held_out.reshape(-1, *(1 for _ in loss.shape[1:]))
    lacking = np.zeros(count, dtype=bool)
    for kind in (loss.observed,) if model.is_sparse else loss.kinds_of_data:
        for column in (kind & kept).reshape(graph.n_vertices, -1).T:
            lacking |= np.bincount(component, column, count) == 0
    return held_out & lacking[component]


def cross_validate(
    model: FusedModel, lambdas: Floats, folds: Folds, options: dict[str, Any], verbose: bool
) -> Floats:
    """Return the mean loss at the vertices held out, for every fold and λ."""
    numbers = [k for k in range(int(folds.max()) + 1) if (folds == k).any()]
    errors = np.empty((len(numbers), len(lambdas)))
    for row, number in enumerate(numbers):
        start = time.perf_counter()
        held_out = folds == number
        training, test = model.without(held_out), model.only(held_out)
        total = float(test.weights.sum())
        medians = Medians(model.graph, ~training.observed.reshape(len(folds), -1).all(axis=1))
        for k, result in training.solutions(lambdas, options):
            errors[row, k] = test.value(medians.settle(result.u)) / total
        if verbose:
            best = int(np.argmin(errors[row]))
            print(
                f"fold {row + 1:2d}/{len(numbers)}: {int(held_out.sum())} vertices held out, least"
                f" error {errors[row, best]:.4g} at λ = {lambdas[best]:.4g},"
                f" {time.perf_counter() - start:.3f} s",
                flush=True,
            )
    return errors
