"""The fused lasso on a graph: data at the vertices, smoothed into pieces of equal value.

R. Tibshirani, M. Saunders, S. Rosset, J. Zhu and K. Knight (2005) fuse neighbours on a chain; here
the neighbours are those of any weighted graph, as in the graph-guided and the generalised lasso.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphtv._validate import (
    as_array,
    as_real,
    is_dask,
    moderate,
    unmasked,
)
from graphtv.applications.fused.fused_model import FusedModel
from graphtv.applications.keywords import check_keywords
from graphtv.applications.learning.graph_input import to_graph
from graphtv.result import Result

__all__ = ["fused_lasso"]


def fused_lasso(
    graph: Any,
    signal: Any,
    *,
    lam: float = 1.0,
    vertex_weights: Any = None,
    sparsity: Any = 0.0,
    loss: str = "squared",
    delta: float = 1.0,
    **solve_options: Any,
) -> Result:
    r"""Fuse a signal on a graph, and prove how good the answer is.

    Minimises Σ_i c_i g(u_i; f_i) + λ Σ_e ω_e |u_i - u_j| + Σ_i μ_i |u_i|.

    Parameters
    ----------
    graph : Graph, sparse matrix, array_like or tuple
        The graph with its weights ω: a `Graph`, a symmetric scipy sparse matrix of weights, an
        (m, 2) array of edges of weight 1, or a pair (edges, weights). For a signal that is a dask
        array: ``'grid'``, or a list with one number or array of weights per axis.
    signal : array_like, shape (n,) or (n, C), or dask array of any shape
        The data f, a number per vertex (or C of them, fused independently). NaN, and the masked
        entries of a masked array, mean that there is no data; ±∞ is an error. For the Poisson loss
        these are counts. For the logistic loss they are labels of two classes: booleans, 0 and 1,
        or -1 and 1, where 0 beside -1 means that there is no label.
    lam : float, optional
        λ > 0, by which all edge weights are multiplied: the larger, the fewer the pieces.
    vertex_weights : float or array_like, optional
        Weights c ≥ 0 of the observations, per vertex or per entry; 1 by default, 0 where there is
        no data.
    sparsity : float or array_like, optional
        μ ≥ 0, for all or per vertex: pulls values to 0, and leaves those at 0 that are near.
    loss : {'squared', 'absolute', 'huber', 'logistic', 'poisson'}
        g: see `SquaredLoss`, `AbsoluteLoss`, `HuberLoss`, `LogisticLoss`, `PoissonLoss`.
    delta : float, optional
        The width of the quadratic zone of the Huber loss.
    **solve_options
        Options of `solve`: ``tol``, ``verbose``, ``callback``, ``time_limit``, ``warm_start``, …

    Returns
    -------
    Result or TiledResult
        `u` and `p` with the certificate of the whole problem, sparsity included.

    See Also
    --------
    fused_lasso_path : Many λ, and the choice of one.
    FusedLasso : The same as an estimator of scikit-learn.

    Notes
    -----
    With sparsity and the squared loss, where μ is proportional to the vertex weights (no weights
    and one μ, as a rule), the answer is the one without sparsity, soft-thresholded [2]_, and as
    exact. It is exact too where all μ are positive, and for the Poisson loss. Other losses with
    sparsity are solved by PDHG; there ask for a `tol` of 1e-6 or so, not for 0. The history of an
    exact result with sparsity is that of its first run, without.

    Where a vertex has no data, every value between some of its neighbours' may be optimal; `u` has
    one of them.

    A dask array is a signal on a grid of its shape, and `graph` is ``'grid'`` or a list with the
    weights of each axis. It is solved chunk by chunk on Dask's scheduler, to the same optimum; the
    `TiledResult` has dask arrays. The loss has to be squared, without sparsity. Of the options
    `tol`, `max_iterations` (rounds over all chunks), `time_limit`, `callback`, `verbose`,
    `n_threads` (per chunk) and ``checkpoint=folder`` apply, see `denoise_tv`.

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
    check_keywords(fused_lasso, solve_options, *(("checkpoint",) if is_dask(signal) else ()))
    factor = moderate(as_real(lam, "lam", minimum=0.0, strict=True), "lam")
    if is_dask(signal):
        if loss != "squared" or np.any(sparsity):
            raise ValueError(
                "loss must be 'squared' and sparsity 0 for a dask array,"
                f" got loss={loss!r}, sparsity={sparsity!r}"
            )
        tiled: Result = _fuse_tiled(graph, signal, factor, vertex_weights, **solve_options)
        return tiled
    model = FusedModel.of(
        to_graph(graph, n_vertices_of(signal)), signal, vertex_weights, loss, delta, sparsity
    )
    return model.solve(factor, **solve_options)


def _fuse_tiled(*args: Any, **options: Any) -> Any:
    from graphtv.applications.imaging.tiled_denoising import fuse_tiled

    return fuse_tiled(*args, **options)


def n_vertices_of(signal: Any) -> int:
    """Return how many vertices a signal is for."""
    shape = as_array(unmasked(signal), "signal").shape
    if len(shape) not in (1, 2):
        raise ValueError(f"signal must have shape (n,) or (n, C), got {shape}")
    return int(shape[0])
