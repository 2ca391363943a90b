"""graphtv itself: the whole call of `solve`, including decomposition and certificate.

*graphtv* stops when it has proved the accuracy. This is the harder task, since it does not know the
optimum. *graphtv, unproved* is measured like the peers: with the loosest tolerance whose point is
accurate enough.
"""

from __future__ import annotations

from .task import Answer, Entrant, Task, tolerances

PACKAGES = ("graphtv",)


def enter(task: Task) -> list[Entrant]:
    """Return both entrants."""
    import graphtv

    if task.shape:
        graph = graphtv.grid_graph(task.shape, task.weight)
    else:
        graph = graphtv.Graph(len(task.signal), task.edges, task.weights)

    def run(tol: float) -> Answer:
        problem = graphtv.Problem(graph, graphtv.SquaredLoss(task.signal))
        result = graphtv.solve(problem, tol=tol, n_threads=task.n_threads)
        return Answer(result.u, result.relative_gap)

    return [
        Entrant("graphtv", "proved", run, threads=task.n_threads),
        Entrant("graphtv, unproved", "", run, tolerances(1e-13, 4), threads=task.n_threads),
    ]
