"""Preconditioners of PDHG: the metrics T of the dual and S of the primal variable.

=========  ======================================  ================================  =============
name       T                                       S                                 paper's steps
=========  ======================================  ================================  =============
none       the identity                            the identity                      s = t = ‖K‖
diagonal   T_e = 2 ω_e^α                           S_i = Σ_e∋i ω_e^(2-α)             s = t = 1
forests    T_l = K_lK_lᵀ on each of L forests      the identity                      s = t = √L
=========  ======================================  ================================  =============

The forests are those of a `ForestPartition`: chains, linear, nested, matroid or custom.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from graphtv import _core
from graphtv._validate import as_real, brief
from graphtv.decomposition.partition import METHODS, ForestPartition, _decompose
from graphtv.graph.graph import Graph

NAMES = ("none", "diagonal", *METHODS)


@dataclass(frozen=True, eq=False, repr=False)
class Preconditioner:
    """A preconditioner for problems on one graph.

    Attributes
    ----------
    graph : Graph
        The graph.
    name : str
        ``none``, ``diagonal``, or the method of the partition.
    partition : ForestPartition or None
        The forests, or None if the preconditioner uses no forests.
    alpha : float or None
        The exponent of the diagonal preconditioner.
    reason : str
        Why it was chosen.
    """

    graph: Graph
    name: str
    partition: ForestPartition | None
    alpha: float | None
    reason: str

    def without_forests(self) -> Preconditioner:
        """Return a copy without the partition, so that its memory can be freed."""
        return replace(self, partition=None)

    @property
    def n_forests(self) -> int:
        """The number L of forests, or 0 if there are none."""
        return 0 if self.partition is None else self.partition.n_forests

    @property
    def condition_number(self) -> float | None:
        """κ(T^-1/2 K S^-1/2) if a theorem gives it, else None; see `graphtv.condition_number`."""
        return None if self.partition is None else self.partition.condition_number

    @property
    def setup_time(self) -> float:
        """Seconds taken to build the forests."""
        return 0.0 if self.partition is None else self.partition.setup_time

    def __repr__(self) -> str:
        if self.partition is not None:
            title, *rows = repr(self.partition).splitlines()
            metric = f"  metric     T_l = K_l K_lᵀ, S = I, s = t = √{self.n_forests}"
            return "\n".join([f"Preconditioner: {title}", metric, *rows])
        metric = (
            "T = I, S = I, s = t = ‖K‖"
            if self.alpha is None
            else f"T_e = 2 ω_e^α, S_i = Σ ω_e^(2-α), α = {self.alpha:g}, s = t = 1"
        )
        return "\n".join(
            [
                f"Preconditioner of {self.graph.n_edges} edges on {self.graph.n_vertices} vertices",
                f"  metric     {metric}",
                f"  method     {self.name}: {self.reason}",
                "  κ          not given by a theorem",
            ]
        )


def as_preconditioner(
    preconditioner: Any,
    graph: Graph,
    *,
    alpha: float = 1.0,
    watch: _core.Watch | None = None,
) -> Preconditioner:
    """Return the preconditioner for the argument `preconditioner` of `graphtv.solve`.

    Parameters
    ----------
    preconditioner : str, ForestPartition or Preconditioner
        One of ``none``, ``diagonal``, ``chains``, ``linear``, ``nested``, ``matroid``, ``auto``
        (forests chosen by `decompose`), or a partition of `graph`.
    graph : Graph
        The graph of the problem.
    alpha : float
        Exponent of the diagonal preconditioner, in [0, 2].
    watch : Watch, optional
        Raises `_core.Expired` when it expires.

    References
    ----------
    .. [1] T. Pock, A. Chambolle, "Diagonal preconditioning for first order primal-dual algorithms
       in convex optimization", ICCV 2011.
    .. [2] T. Möllenhoff, Z. Ye, T. Wu, D. Cremers, "Combinatorial Preconditioners for Proximal
       Algorithms on Graphs", AISTATS 2018.
    """
    alpha = as_real(alpha, "alpha")
    if not 0.0 <= alpha <= 2.0:
        raise ValueError(f"alpha must lie in [0, 2], got {alpha}")
    if isinstance(preconditioner, Preconditioner):
        _require_same_graph(preconditioner.graph, graph)
        return preconditioner
    if isinstance(preconditioner, ForestPartition):
        _require_same_graph(preconditioner.graph, graph)
        partition = preconditioner
    elif isinstance(preconditioner, str) and preconditioner in ("none", "diagonal"):
        exponent = alpha if preconditioner == "diagonal" else None
        return Preconditioner(graph, preconditioner, None, exponent, "requested")
    elif isinstance(preconditioner, str) and preconditioner in METHODS:
        try:
            partition = _decompose(graph, preconditioner, "maximum_weight", "weight", 0, watch)
        except ValueError as error:
            raise ValueError(str(error).replace("method must", "preconditioner must")) from None
    else:
        raise ValueError(
            f"preconditioner must be one of {', '.join(NAMES)} or a ForestPartition,"
            f" got {brief(preconditioner)}"
        )
    return Preconditioner(graph, partition.method, partition, None, partition.reason)


def single_forest(graph: Graph, is_path: bool) -> Preconditioner:
    """Return the preconditioner that ``auto`` means for a graph without cycles, without forests."""
    name, reason = "nested", "the graph is a forest"
    if graph.n_edges == 0:
        reason = "there are no edges"
    elif is_path:
        name, reason = "chains", f"the graph is a grid of shape {(graph.n_vertices,)}"
    return Preconditioner(graph, name, None, None, reason)


def _require_same_graph(theirs: Graph, ours: Graph) -> None:
    """Raise if the edges or their order differ; weights may differ, forests ignore them."""
    same = theirs is ours or (
        theirs.n_vertices == ours.n_vertices
        and theirs.edges.shape == ours.edges.shape
        and bool((theirs.edges == ours.edges).all())
    )
    if not same:
        raise ValueError(
            "preconditioner must be a partition of the problem's graph, got one of a graph with"
            f" {theirs.n_vertices} vertices and {theirs.n_edges} edges"
            f" for {ours.n_vertices} and {ours.n_edges}"
        )
