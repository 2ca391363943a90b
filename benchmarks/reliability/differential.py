"""Differential: small problems against exact solvers that share no code with the library.

Squared loss: divide and conquer assembles the solution from minimum cuts by OR-Tools (scipy if it
is missing). The cuts are in integers, so the last division is the only source of rounding. Other
terms: CVXPY with Clarabel, a conic solver. Its accuracy does not matter, because only CVXPY's
formula of the objective is used: at the library's point it must give the library's value, and at
Clarabel's point it must not be below the library's lower bound. Networks: the value of the cut, to
the last digit.
"""

from __future__ import annotations

import importlib
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtv import FlowNetwork, Graph, Problem, SquaredLoss, solve
from reliability.harness import Figures, Property
from reliability.problems import make_problem
from reliability.verifier import confirm

AGREEMENT = 1e-8
"""How far u may be from a solution in fractions, relative to its largest value."""

ROUNDINGS = 100.0 * float(np.finfo(float).eps)
"""The rounding error of an objective with at most 40 vertices, relative to its summands."""

Integers = NDArray[np.int64]


def max_flow(n: int, arcs: Integers, capacities: Integers, s: int, t: int) -> tuple[int, Any]:
    """Return the value of a maximum flow and the source side of a minimum cut by a peer."""
    try:
        from ortools.graph.python import max_flow as ortools
    except ImportError:
        return _scipy_flow(n, arcs, capacities, s, t)
    flow = ortools.SimpleMaxFlow()
    flow.add_arcs_with_capacity(arcs[:, 0], arcs[:, 1], capacities)
    if flow.solve(s, t) != flow.OPTIMAL:
        raise RuntimeError("OR-Tools found no maximum flow")
    side = np.zeros(n, dtype=bool)
    side[np.asarray(flow.get_source_side_min_cut(), dtype=np.int64)] = True
    return int(flow.optimal_flow()), side


def _has_ortools() -> bool:
    try:
        importlib.import_module("ortools.graph.python.max_flow")
    except ImportError:
        return False
    return True


def _scipy_flow(n: int, arcs: Integers, capacities: Integers, s: int, t: int) -> tuple[int, Any]:
    from scipy import sparse
    from scipy.sparse.csgraph import breadth_first_order, maximum_flow

    matrix = sparse.csr_array((capacities, arcs.T), shape=(n, n)).astype(np.int32)
    matrix.sum_duplicates()
    found = maximum_flow(matrix, s, t)
    residual = matrix - found.flow
    residual.data[residual.data < 0] = 0
    residual.eliminate_zeros()
    side = np.zeros(n, dtype=bool)
    side[breadth_first_order(residual, s, return_predecessors=False)] = True
    return int(found.flow_value), side


def exact_levels(graph: Graph, f: Integers, weights: Integers) -> list[Fraction]:
    """Return argmin ½‖u - f‖² + TV(u) for whole f and ω, exactly.

    Consider a set of vertices whose solution has the mean m. The vertices above m are one side of a
    minimum cut with the terminal capacities |f_i - m|. If there are none, all vertices of the set
    have the value m. For the two parts, the cut edges are added to f.
    """
    n = graph.n_vertices
    u = [Fraction(0)] * n
    work = [(np.arange(n), f.astype(object))]
    while work:
        members, g = work.pop()
        m = Fraction(int(sum(g)), len(members))
        where = np.full(n, -1)
        where[members] = np.arange(len(members))
        ends = where[graph.edges]
        inside = (ends >= 0).all(axis=1)
        ends, omega = ends[inside], weights[inside]
        q = len(members)  # all in multiples of 1/q
        excess = [int(x * q - m * q) for x in g]
        k, s, t = len(members), len(members), len(members) + 1
        arcs = [(int(i), int(j), int(w) * q) for (i, j), w in zip(ends, omega, strict=True)]
        arcs += [(j, i, w) for i, j, w in arcs]
        arcs += [(s, i, e) if e > 0 else (i, t, -e) for i, e in enumerate(excess) if e]
        if not arcs or not any(excess):
            for v in members:
                u[v] = m
            continue
        table = np.array(arcs, dtype=np.int64)
        value, side = max_flow(k + 2, table[:, :2], table[:, 2], s, t)
        upper = side[:k]
        if value == sum(e for e in excess if e > 0) or not upper.any() or upper.all():
            for v in members:
                u[v] = m
            continue
        for mine in (upper, ~upper):
            h = g.copy()
            for (i, j), w in zip(ends, omega, strict=True):
                if upper[i] != upper[j]:
                    inner = i if mine[i] else j
                    h[inner] += -int(w) if mine is upper else int(w)
            work.append((members[mine], h[mine]))
    return u


def _whole_problem(rng: np.random.Generator) -> Figures:
    n = int(rng.integers(2, 30))
    m = int(rng.integers(1, 4 * n))
    graph = Graph(n, rng.integers(0, n, (m, 2)), rng.integers(1, 30, m).astype(float))
    f = rng.integers(-50, 50, n) * int(rng.choice([1, 1, 10]))
    right = np.array(exact_levels(graph, f, graph.weights.astype(np.int64)), dtype=float)
    problem = Problem(graph, SquaredLoss(f.astype(float)))
    result = solve(problem, tol=0.0, n_threads=1)
    confirm(problem, result)
    largest = max(1.0, float(abs(right).max()))
    off = float(abs(result.u - right).max()) / largest
    assert off <= AGREEMENT, f"u is off by {off:.3g} of {largest:g}; {graph!r}, {f.tolist()}"
    return {"against minimum cuts": 1, "largest difference of u": off}


def _model(problem: Problem) -> tuple[Any, Any]:
    """Return CVXPY's model of a problem and its variable u."""
    cp: Any = importlib.import_module("cvxpy")
    data: Any = problem.data
    K = problem.graph.gradient()
    u = cp.Variable(problem.shape)
    name = type(data).__name__
    limits = []
    if name == "SquaredLoss":
        G = cp.sum(cp.multiply(data.weights / 2, cp.square(u - data.signal)))
    elif name == "AbsoluteLoss":
        G = cp.sum(cp.multiply(data.weights, cp.abs(u - data.signal)))
    elif name == "QuantileLoss":
        below, above = data.slopes
        G = cp.sum(cp.multiply(below, cp.pos(data.signal - u)))
        G += cp.sum(cp.multiply(above, cp.pos(u - data.signal)))
    elif name == "HuberLoss":
        G = cp.sum(cp.multiply(data.weights / 2, cp.huber(u - data.signal, data.delta)))
    elif name == "LogisticLoss":
        known = data.weights * (data.labels != 0)
        G = cp.sum(cp.multiply(known, cp.logistic(-cp.multiply(data.labels, u))))
    elif name == "PoissonLoss":
        terms = u - cp.multiply(data.counts, cp.log(u))
        zero = data.counts == 0
        limits = [u >= 0]
        if zero.any():  # log 0 has no cone
            terms = u - cp.multiply(data.counts, cp.log(u + zero))
        G = cp.sum(cp.multiply(data.weights, terms))
    elif name == "LinearBox":
        G = cp.sum(cp.multiply(data.cost, u))
        limits = [u >= data.lower, u <= data.upper]
    else:
        G = cp.sum(cp.multiply(data.cost, u)) - data.epsilon * cp.sum(cp.entr(u))
        limits = [cp.sum(u, axis=1) == 1]
    F = cp.norm1(K @ u) if problem.graph.n_edges else cp.Constant(0)
    if problem.penalty.delta:
        delta = problem.penalty.delta
        F = cp.sum(cp.huber(K @ u, delta)) / (2 * delta) if problem.graph.n_edges else F
    return cp.Problem(cp.Minimize(G + F), limits), u


def _conic(problem: Problem, model: Any, u: Any) -> Any:
    """Return Clarabel's minimiser, moved into the domain, or None if it finds none."""
    cp: Any = importlib.import_module("cvxpy")
    accuracy = {"tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11}
    try:
        model.solve(solver=cp.CLARABEL, **accuracy)
    except cp.error.SolverError:
        return None
    return problem.data.prox(u.value, 1e-300) if model.status == "optimal" else None


def _objective(problem: Problem, model: Any, u: Any, point: Any) -> tuple[float, float]:
    """Return CVXPY's value of the objective at a point, and a bound of its rounding error."""
    u.value = point
    value = float(model.objective.value)
    data: Any = problem.data
    size = abs(value) + 2.0 * float(np.sum(abs(problem.graph.gradient()) @ abs(point)))
    if hasattr(data, "cost"):
        size += float(np.sum(abs(data.cost * point)))
    if hasattr(data, "counts"):
        logs = np.log(np.where(data.counts > 0.0, point, 1.0))
        size += 2.0 * float(np.sum(data.weights * (point + data.counts * abs(logs))))
    return value, ROUNDINGS * size


def _any_term(rng: np.random.Generator) -> Figures:
    import warnings

    while True:
        with np.errstate(all="ignore"):
            problem, told = make_problem(rng, largest=1.0)
        weights = problem.graph.weights
        if problem.graph.n_vertices <= 40 and weights.max(initial=1.0) < 1e3:
            break
    model, u = _model(problem)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = _conic(problem, model, u)
    if theirs is None:
        return {"no answer of the conic solver": 1}
    result = solve(problem, tol=1e-10, max_iterations=20_000, time_limit=20, n_threads=1)
    true = confirm(problem, result)
    ours, rounding = _objective(problem, model, u, result.u)
    primal = float(true.primal)
    assert abs(ours - primal) <= rounding, f"{told}: {ours!r} at u is not {primal!r} ± {rounding}"
    least, rounding = _objective(problem, model, u, theirs)
    dual = float(true.dual)
    assert dual <= least + rounding, f"{told}: {least!r} is below the lower bound {dual!r}"
    return {"against a conic solver": 1}


def _network(rng: np.random.Generator) -> Figures:
    n = int(rng.integers(2, 60))
    m = int(rng.integers(1, 6 * n))
    sizes = [2, 100, 10**6, 10**12] if _has_ortools() else [2, 100, 10**5]  # scipy has 32 bits
    largest = int(rng.choice(sizes))
    arcs = rng.integers(0, n, (m, 2))
    arcs = arcs[arcs[:, 0] != arcs[:, 1]]
    capacities = rng.integers(0, largest, len(arcs))
    s, t = (int(x) for x in rng.choice(n, 2, replace=False))
    if len(arcs) == 0:
        arcs, capacities = np.array([[s, t]]), np.array([1])
    right, _ = max_flow(n, arcs, capacities, s, t)
    cut = FlowNetwork(n, arcs.astype(np.int32), capacities, s, t).min_cut(n_threads=1)
    assert cut.certified, "the cut is not certified"
    assert cut.value == right == cut.bound, f"cut {cut.value}, flow {right}, bound {cut.bound}"
    leaves = cut.source_side[arcs[:, 0]] & ~cut.source_side[arcs[:, 1]]
    assert int(capacities[leaves].sum()) == right
    return {"networks": 1}


def check(seed: int, number: int) -> Figures:
    """Compare one problem: three in five by cuts, one by cones, one network."""
    _has_ortools()  # import before CVXPY, whose libraries conflict with it otherwise
    rng = np.random.default_rng([seed, number, 1])
    return (_network if number % 5 == 0 else _any_term if number % 5 == 1 else _whole_problem)(rng)


PROPERTY = Property("differential", "Differential", check, cases=2500, quick=60)
