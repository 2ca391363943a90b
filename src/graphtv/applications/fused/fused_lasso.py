"""The fused lasso on a graph.

R. Tibshirani, M. Saunders, S. Rosset, J. Zhu and K. Knight (2005) introduced the fused lasso on a
chain. Here it is defined on any weighted graph, as in the graph-guided and the generalised lasso.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from graphtv._validate import (
    as_array,
    as_choice,
    as_flag,
    as_real,
    brief,
    is_dask,
    is_partitioned,
    moderate,
    unmasked,
)
from graphtv.applications.fused.fused_model import LOSSES, FusedModel, make_loss
from graphtv.applications.graph_input import to_graph
from graphtv.applications.keywords import check_keywords
from graphtv.graph.graph import Graph
from graphtv.graph.labelled import is_labelled, with_labels
from graphtv.result import Result
from graphtv.terms import TotalVariation

__all__ = ["fused_lasso"]


def fused_lasso(
    graph: Any,
    signal: Any,
    lam: float = 1.0,
    *,
    vertex_weights: Any = None,
    sparsity: Any = 0.0,
    loss: str = "squared",
    delta: float = 1.0,
    coupled: bool = False,
    **solve_options: Any,
) -> Result:
    r"""Compute the fused lasso of a signal on a graph, with a certificate.

    Minimises Σ_i c_i g(u_i; f_i) + λ Σ_e ω_e |u_i - u_j| + Σ_i μ_i |u_i|.

    Parameters
    ----------
    graph : Graph, PartitionedGraph, sparse matrix, array_like, tuple, networkx or igraph graph
        The graph with its weights ω: a `Graph`, a symmetric scipy sparse matrix of weights, an
        (m, 2) array of edges of weight 1, or a pair (edges, weights). For a signal that is a dask
        array: ``'grid'``, or a list with one number or array of weights per axis.
    signal : array_like, shape (n,) or (n, C), pandas, dict, str or dask array of any shape
        The data f, one value per vertex, or C values that are fused independently. A Series, a
        DataFrame or a dictionary is matched with the names of the graph by its labels. A string is
        the name of a vertex attribute of NetworkX or igraph. NaN and the masked entries of a masked
        array are missing data. Infinite values are errors. For the Poisson loss the data are
        counts. For the logistic loss they are labels of two classes: booleans, 0 and 1, or -1 and 1
        (in this case 0 means that there is no label).
    lam : float, optional
        λ > 0, a factor for all edge weights. Larger values give fewer pieces.
    vertex_weights : float or array_like, optional
        Weights c ≥ 0 of the observations, per vertex or per entry. The default is 1. Missing data
        have weight 0.
    sparsity : float or array_like, optional
        μ ≥ 0, one number or one per vertex. It shrinks values towards 0 and sets small ones to 0.
    loss : {'squared', 'absolute', 'huber', 'logistic', 'poisson'}
        The loss g; see `SquaredLoss`, `AbsoluteLoss`, `HuberLoss`, `LogisticLoss` and
        `PoissonLoss`.
    delta : float, optional
        The threshold above which the Huber loss is linear.
    coupled : bool, optional
        Penalise λ Σ_e ω_e ‖u_i - u_j‖ with the Euclidean norm over the channels of the signal, as
        in the network lasso. By default the channels are fused independently.
    **solve_options
        Options of `solve`: ``tol``, ``verbose``, ``callback``, ``time_limit``, ``warm_start``, …

    Returns
    -------
    Result, PartitionedResult or TiledResult
        `u` and `p` with the certificate of the whole problem, including sparsity. If the signal
        is a Series or a DataFrame, so is `u`, with the same index. If it is a dictionary or the
        name of an attribute, `u` is a dictionary by name.

    See Also
    --------
    fused_lasso_path : Solutions for many λ, and the choice of λ.
    FusedLasso : The fused lasso as a scikit-learn estimator.

    Notes
    -----
    With sparsity, the squared loss, and μ proportional to the vertex weights (usually no weights
    and one μ), the solution is the one without sparsity, soft-thresholded [2]_, and equally exact.
    The solution is also exact if all μ are positive, and for the Poisson loss. Other losses with
    sparsity are solved by PDHG; use a `tol` of about 1e-6 for them, not 0. The history of an exact
    result with sparsity is that of its first run, without sparsity.

    If a vertex has no data, its optimal value need not be unique. `u` contains one of the optimal
    values.

    The labels of `signal`, `vertex_weights` and `sparsity` must be the names of the graph, in any
    order. If the graph has no names, labels that are vertex numbers are matched too. A Series with
    other labels then has one value per vertex, in order.

    A dask array is a signal on a grid of its shape, and `graph` is ``'grid'`` or a list with the
    weights of each axis. It is solved chunk by chunk on the Dask scheduler, to the same optimum.
    The `TiledResult` contains dask arrays. The loss must be smooth (not ``'absolute'``), `sparsity`
    0 and `coupled` False. The supported options are `tol`, `max_iterations` (rounds over all
    chunks), `time_limit`, `stop`, `callback`, `verbose`, `n_threads` (per chunk) and
    ``checkpoint=folder``; see `denoise_tv`.

    On a `PartitionedGraph` the problem is solved part by part on the Dask scheduler, with the same
    options, for the same losses.

    References
    ----------
    .. [1] R. Tibshirani, M. Saunders, S. Rosset, J. Zhu, K. Knight, "Sparsity and smoothness via
       the fused lasso", JRSS B 67, 2005.
    .. [2] J. Friedman, T. Hastie, H. Höfling, R. Tibshirani, "Pathwise coordinate optimization",
       Annals of Applied Statistics 1, 2007.

    Examples
    --------
    >>> edges = [[0, 1], [1, 2], [2, 3], [3, 0]]
    >>> result = fused_lasso(edges, [0.1, -0.1, 2.0, 1.8], lam=0.2, tol=0)
    >>> result.u.round(3), result.status
    (array([0.2, 0.2, 1.7, 1.7]), 'optimal')
    >>> fused_lasso(edges, [0.1, -0.1, 2.0, 1.8], lam=0.2, sparsity=0.5, tol=0).u.round(3)
    array([0. , 0. , 1.2, 1.2])
    """
    in_parts = is_dask(signal) or is_partitioned(graph)
    check_keywords(fused_lasso, solve_options, *(("checkpoint",) if in_parts else ()))
    factor = moderate(as_real(lam, "lam", minimum=0.0, strict=True), "lam")
    if is_partitioned(graph):
        _check_in_parts("a graph in parts", coupled, sparsity)
        if is_dask(signal):
            kind = _smooth_loss(loss, delta)
            lazy: Result = _fuse_partitioned(
                graph, signal, factor, vertex_weights, kind, **solve_options
            )
            return lazy
        data = make_loss(signal, vertex_weights, loss, delta)
        problem = graph.problem(data, TotalVariation(), factor)
        found: Result = problem.solve_in_parts(solve_options, "fused_lasso")
        return found
    if is_dask(signal):
        _check_in_parts("a dask array", coupled, sparsity)
        kind = _smooth_loss(loss, delta)
        tiled: Result = _fuse_tiled(graph, signal, factor, vertex_weights, kind, **solve_options)
        return tiled
    made = graph_of_signal(graph, signal)
    model = FusedModel.of(
        made,
        signal,
        vertex_weights,
        loss,
        delta,
        sparsity,
        is_coupled=as_flag(coupled, "coupled"),
    )
    result = model.solve(factor, **solve_options)
    if not is_labelled(signal):
        return result
    return dataclasses.replace(result, u=with_labels(result.u, signal, "signal", made))


def _check_in_parts(graph: str, coupled: Any, sparsity: Any) -> None:
    if as_flag(coupled, "coupled"):
        raise ValueError(f"coupled must be False for {graph}, got {coupled}")
    if np.any(sparsity):
        raise ValueError(f"sparsity must be 0 for {graph}, got {brief(sparsity)}")


def _smooth_loss(loss: Any, delta: Any) -> Any:
    """Return the loss of a dask array."""
    from graphtv.scale.loss import NAMES, Loss

    name = as_choice(loss, "loss", LOSSES)
    if name not in NAMES:
        names = ", ".join(map(repr, NAMES))
        raise ValueError(f"loss must be one of {names} for a dask array, got {loss!r}")
    return Loss(name, as_real(delta, "delta", minimum=0.0, strict=True) if name == "huber" else 0.0)


def _fuse_partitioned(*args: Any, **options: Any) -> Any:
    from graphtv.applications.imaging.tiled_denoising import fuse_partitioned

    return fuse_partitioned(*args, **options)


def _fuse_tiled(*args: Any, **options: Any) -> Any:
    from graphtv.applications.imaging.tiled_denoising import fuse_tiled

    return fuse_tiled(*args, **options)


def graph_of_signal(graph: Any, signal: Any) -> Graph:
    """Return a graph-like argument as a `Graph` that fits the signal."""
    if is_labelled(signal):
        is_list_of_edges = isinstance(graph, np.ndarray | list | tuple)
        return to_graph(graph, len(signal) if is_list_of_edges else None)
    return to_graph(graph, _n_vertices_of(signal))


def _n_vertices_of(signal: Any) -> int:
    """Return the number of vertices of a signal."""
    shape = as_array(unmasked(signal), "signal").shape
    if len(shape) not in (1, 2):
        raise ValueError(f"signal must have shape (n,) or (n, C), got {shape}")
    return int(shape[0])
