"""How a run begins: the method, the first stage and the preconditioner, from facts alone.

The thresholds are in `tuning.py`. docs/theory/solver.md explains the rules.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from graphtv.solver.facts import Facts
from graphtv.solver.tuning import Tuning


@dataclass(frozen=True)
class Plan:
    """The start of a run.

    Attributes
    ----------
    method, reason : str
        The method, and the reason for the choice.
    stage : str
        The first stage: ``edges``, ``forests`` (including the direct solve of a tree), ``pdhg``
        or ``flows``.
    preconditioner : str
        The name of the preconditioner to create, or ``custom`` for that of the user.
    flows : bool
        Whether max-flow may finish the run.
    prefers_flows : bool
        Whether it is tried before forests are built, if edges are slow.
    is_blind : bool
        Whether descent solves a problem with substitute weights, because some vertices have no
        data.
    is_level_set : bool
        Whether the answer is a level set of the problem that the stages solve.
    can_polish : bool
        Whether the polish applies.
    can_reduce : bool
        Whether the polish from reduced problems applies.
    is_trial : bool
        Whether the first stage is given only a few iterations to solve the problem, before PDHG.
    next_preconditioner : str
        The preconditioner of PDHG where it is not the first stage.
    edge_trial : int
        Iterations after which PDHG over edges gives way to PDHG over forests if it is slow. 0 if it
        does not.
    shortest_stride : int
        Fewest iterations of a cheap kernel between evaluations of the gap.
    first_allowance : float
        Arcs per vertex that max-flow may visit, where it is the first stage.
    after_flows : str
        The stage that follows if this is not enough.
    """

    method: str
    reason: str
    stage: str
    preconditioner: str
    flows: bool = False
    prefers_flows: bool = False
    is_blind: bool = False
    is_level_set: bool = False
    can_polish: bool = False
    can_reduce: bool = False
    is_trial: bool = False
    next_preconditioner: str = "auto"
    edge_trial: int = 0
    shortest_stride: int = 4
    first_allowance: float = math.inf
    after_flows: str = "pdhg"

    @property
    def ascends(self) -> bool:
        """Whether later dual points are better, so that older ones need not be kept."""
        is_descent = self.stage in ("edges", "forests", "groups")
        return self.flows or (is_descent and not self.is_trial)


def plan(facts: Facts, tuning: Tuning) -> Plan:
    """Return the plan; raise ValueError if the requested method does not apply to the problem."""
    if facts.has_operator:
        return _for_operator(facts)
    method, reason = facts.method, "requested"
    if method == "auto":
        method, reason = _choose_method(facts, tuning)
    _check_method(facts, method)
    usual = _usual_stage(facts, method)
    stage = "flows" if method == "exact" and _flows_first(facts, usual, tuning) else usual
    is_trial = stage == "pdhg" and facts.method == "auto" and _is_tried(facts, tuning)
    preconditioner = _chosen_preconditioner(facts, stage, is_trial, tuning)
    flows = method == "exact" or (facts.method == "auto" and _may_flow(facts, method))
    return Plan(
        method,
        reason,
        "forests" if is_trial else stage,
        preconditioner,
        flows=flows,
        prefers_flows=flows and (method == "exact" or facts.spread > tuning.even_weights),
        is_blind=facts.is_squared and not facts.is_complete,
        is_level_set=method == "exact" and facts.is_box,
        can_polish=_can_polish(facts, stage, tuning),
        can_reduce=facts.is_squared and facts.is_complete and facts.is_tv and facts.n_edges > 0,
        is_trial=is_trial,
        next_preconditioner="auto" if facts.is_grid else "diagonal" if is_trial else "nested",
        edge_trial=_edge_trial(facts, tuning) if preconditioner == "diagonal" else 0,
        shortest_stride=max(
            tuning.shortest_cheap_stride, tuning.cheap_work // (facts.n_entries + facts.n_edges + 1)
        ),
        first_allowance=_first_allowance(facts, tuning),
        after_flows="pdhg" if facts.has_kinks else usual,
    )


def _chosen_preconditioner(facts: Facts, stage: str, is_trial: bool, tuning: Tuning) -> str:
    """Return the preconditioner of the first stage; raise if it does not apply to the problem."""
    chosen = facts.preconditioner
    if is_trial:
        chosen = "auto" if facts.is_grid else "nested"
    elif stage == "pdhg" and chosen == "auto" and not facts.is_tv:
        chosen = _for_curved_penalty(facts, tuning)
    if stage != "groups" or chosen != "auto":
        _check_preconditioner(facts, chosen)
    return chosen


def _for_operator(facts: Facts) -> Plan:
    """Return the plan for a problem with an operator or a constraint."""
    if facts.preconditioner != "auto":
        raise ValueError(
            "preconditioner must be 'auto' for a problem with an operator, bounds or sparsity,"
            f" got {facts.preconditioner!r}"
        )
    if facts.method not in ("auto", "pdhg"):
        raise ValueError(
            "method must be 'auto' or 'pdhg' for a problem with an operator, bounds or sparsity,"
            f" got {facts.method!r}"
        )
    if facts.method == "pdhg":
        return Plan("pdhg", "requested", "rows", "auto")
    if not facts.has_steps:
        return Plan(
            "pdhg", "no proximal gradient steps for this loss or constraint", "rows", "auto"
        )
    if facts.has_uneven_columns:
        return Plan("pdhg", "columns of the operator differ much in size", "rows", "auto")
    if facts.has_data_steps:
        return Plan("admm", "the operator is almost invariant, or small", "splitting", "auto")
    return Plan("proximal_gradient", "the loss is smooth", "proximal", "auto")


def _can_polish(facts: Facts, stage: str, tuning: Tuning) -> bool:
    """Whether the polish applies, and pays: at low accuracy, groups reach it sooner without."""
    if stage == "groups":
        return facts.tolerance < tuning.single_above
    return facts.is_separable and facts.is_tv and facts.n_edges > 0


def _check_method(facts: Facts, method: str) -> None:
    """Raise if the method does not apply to the problem, or to the preconditioner."""
    obstacle = {"descent": no_descent, "exact": no_flows}.get(method, lambda _: None)(facts)
    if obstacle:
        raise ValueError(f"method must not be {method!r}: {obstacle}")
    if method != "pdhg" and facts.preconditioner in ("none", "diagonal"):
        raise ValueError(
            f"preconditioner must be made of forests for method {facts.method!r},"
            f" got {facts.preconditioner!r}"
        )


def _check_preconditioner(facts: Facts, name: str) -> None:
    if not facts.is_edgewise and name not in ("none", "diagonal"):
        raise ValueError(
            "preconditioner must be 'none' or 'diagonal' for a penalty that is not a sum over"
            f" edges, got {name!r}"
        )
    if not facts.is_vertexwise and name == "diagonal":
        raise ValueError("preconditioner must not be 'diagonal': data is not separable")


def _choose_method(facts: Facts, tuning: Tuning) -> tuple[str, str]:
    if facts.preconditioner in ("none", "diagonal"):
        return "pdhg", f"preconditioner {facts.preconditioner} is for PDHG alone"
    not_descent = no_descent(facts)
    is_exact = facts.tolerance < tuning.exact_below or _is_cheap_to_flow(facts, tuning)
    if no_flows(facts) is None and (is_exact or not_descent):
        return "exact", "max-flow finishes where that is faster"
    is_curved = facts.is_edgewise and not facts.is_tv
    if is_curved and facts.preconditioner == "auto" and not facts.is_tree:
        return "pdhg", "the penalty is curved"
    if not_descent is None:
        return "descent", "the data term is quadratic"
    return "pdhg", not_descent


def _flows_first(facts: Facts, usual: str, tuning: Tuning) -> bool:
    """Whether max-flow is the first stage.

    A loss with kinks gives no better start. A warm start may be near enough. Otherwise max-flow is
    first where iterations cost more.
    """
    is_free = facts.method == "auto" and facts.preconditioner == "auto"
    is_quick = facts.start_gap <= tuning.near_start or _is_cheap_to_flow(facts, tuning)
    is_open = usual in ("edges", "pdhg") and not facts.is_box
    return facts.has_kinks or (is_free and is_quick and is_open)


def _is_cheap_to_flow(facts: Facts, tuning: Tuning) -> bool:
    """Whether max-flow from scratch costs less than iterations.

    On a small problem their evaluations cost more. PDHG is slow if the proximal map of a smooth
    loss is no formula.
    """
    is_steep = facts.is_sloped and not facts.has_closed_prox
    return is_steep or facts.n_entries <= (
        tuning.small if facts.is_squared else tuning.small_for_pdhg
    )


def _first_allowance(facts: Facts, tuning: Tuning) -> float:
    is_long = facts.has_kinks or _is_cheap_to_flow(facts, tuning)
    return tuning.first_flows if is_long else tuning.near_flows


def _usual_stage(facts: Facts, method: str) -> str:
    """Return the first stage unless max-flow is: edges if forests may not be worth their cost."""
    if method == "pdhg" or not (facts.is_squared or facts.is_box):
        return "pdhg"
    if not facts.is_edgewise:
        return "groups"
    is_free = facts.preconditioner == "auto" and facts.method != "descent"
    return "edges" if is_free and facts.is_tv and not facts.is_tree else "forests"


def _is_tried(facts: Facts, tuning: Tuning) -> bool:
    """Whether u is nearly constant, so that a few iterations of descent may be enough.

    Chains and spanning trees find a constant in one iteration.
    """
    is_free = facts.preconditioner == "auto" and not facts.is_tree
    return is_free and facts.is_complete and _is_stiff(facts, tuning)


def _for_curved_penalty(facts: Facts, tuning: Tuning) -> str:
    """Return the preconditioner of PDHG for a penalty that is not total variation.

    Both sides are curved, so steps over edges converge almost as fast as over forests, and cost far
    less. Forests are better if weights are very large. Chains are also better if the proximal map
    of the data term costs as much as they do, which are solved channel by channel.
    """
    if _is_stiff(facts, tuning):
        return "auto" if facts.is_grid or facts.is_tree else "diagonal"
    if facts.is_grid and _is_costly(facts) and facts.n_entries == facts.n_vertices:
        return "auto"
    return "diagonal" if facts.is_vertexwise else "none"


def _edge_trial(facts: Facts, tuning: Tuning) -> int:
    if facts.preconditioner != "auto" or not _is_costly(facts):
        return 0
    return tuning.grid_pdhg_doubt if facts.is_grid else tuning.pdhg_doubt


def _is_costly(facts: Facts) -> bool:
    """Whether a step over forests costs little more than one over edges."""
    return facts.is_edgewise and not facts.has_closed_prox


def _is_stiff(facts: Facts, tuning: Tuning) -> bool:
    """Whether a curved penalty is so strong that forests need far fewer steps than edges."""
    if facts.is_tv or not facts.is_edgewise:
        return False
    if facts.is_tree:
        return facts.stiffness >= tuning.stiff_tree
    if not facts.is_grid:
        return facts.is_complete and facts.stiffness >= tuning.stiff_graph
    if not facts.is_squared:
        is_long = facts.longest_side >= tuning.long_side
        return facts.is_curved and is_long and facts.stiffness >= tuning.stiff_curved_grid
    is_strong = facts.stiffness >= tuning.stiff_grid and facts.condition >= tuning.stiff_condition
    return facts.is_complete and is_strong


def _may_flow(facts: Facts, method: str) -> bool:
    """Whether max-flow may take over if descent is slow."""
    return method == "descent" and facts.preconditioner == "auto" and no_flows(facts) is None


def no_descent(facts: Facts) -> str | None:
    """Return why block descent cannot solve the problem, or None if it can."""
    if not facts.is_squared:
        return f"block descent needs a SquaredLoss, got {facts.data}"
    if not facts.is_edgewise and not facts.group_kernel:
        return (
            "block descent needs TotalVariation or HuberTV, or CoupledTV or IsotropicTV with one"
            f" weight for all vertices and for all edges of a pixel, got {facts.penalty}"
        )
    if not facts.is_complete:
        return "block descent needs positive weights, and some vertices have no data"
    return None


def no_flows(facts: Facts) -> str | None:
    """Return why max-flow cannot solve the problem, or None if it can."""
    if not facts.is_tv:
        return f"flows need TotalVariation, got {facts.penalty}"
    if facts.is_box:
        return None if facts.has_even_box else "flows need the same bounds at all vertices"
    if not facts.is_sloped:
        return f"flows need a data term with known slopes, got {facts.data}"
    return None


def is_solved_directly(facts: Facts, n_forests: int, tuning: Tuning) -> bool:
    """Whether one exact solve of a forest gives the solution."""
    return n_forests <= 1 and facts.has_one_weight and facts.n_entries <= tuning.largest_tree


def skips_forests(facts: Facts, tuning: Tuning) -> bool:
    """Whether the graph is solved directly if it has no cycle, before forests are built."""
    is_free = facts.preconditioner == "auto" and facts.is_tree
    return is_free and is_solved_directly(facts, 1, tuning)


def gains_from_order(
    n_vertices: int, n_edges: int, misses: float, tolerance: float, tuning: Tuning
) -> bool:
    """Whether a run is faster with other numbers of the vertices, in which neighbours are close.

    `misses` says how often a loop over the edges meets a vertex that is not in a small cache.
    """
    least = tuning.very_large_graph if tolerance >= tuning.few_iterations else tuning.large_graph
    return n_vertices >= least and n_edges >= n_vertices and misses > tuning.scattered


def edge_kernel(
    lattice: tuple[int, ...], n_edges: int, n_grid_edges: int, is_stencil: bool, tuning: Tuning
) -> str:
    """Return the kernel of edge descent.

    `lattice` is the shape of the grid whose numbering the vertices follow, or () if there is none.
    `n_grid_edges` is the number of edges of the whole grid. `is_stencil` says whether the ends of
    all edges differ by one of a few numbers, as in images with diagonal neighbours.
    """
    if is_stencil:
        return "stencil"
    if len(lattice) < 2 or lattice[-1] < tuning.shortest_line:
        return "edges"
    if n_edges < tuning.whole_grid * n_grid_edges:
        return "lattice"
    return "grid" if len(lattice) == 2 else "volume"
