"""Settings of PDHG for experts, such as those that the paper's experiments vary."""

from __future__ import annotations

from dataclasses import dataclass

from graphtv._validate import as_choice, as_real

SCHEMES = ("auto", "fixed", "accelerated", "balanced", "restarted")


@dataclass(frozen=True)
class PDHG:
    """PDHG with custom settings, for the argument `method` of `graphtv.solve`.

    Parameters
    ----------
    scheme : {'auto', 'fixed', 'accelerated', 'balanced', 'restarted'}
        ``fixed``: constant steps. ``accelerated``: Algorithm 2 of Chambolle and Pock [1]_, for
        strongly convex data terms. ``balanced``: over-relaxed, with steps that are balanced
        periodically. ``restarted``: Halpern's iteration with restarts [2]_. ``auto``: balanced
        while that makes steady progress, otherwise restarted; terms without strong convexity are
        restarted from the beginning.
    gamma : float, optional
        Constant of strong convexity for ``accelerated``; by default that of the data term. The
        paper uses 0.25 for the squared loss.
    primal_step, dual_step : float, optional
        The inverse step sizes s and t. By default st = N, the bound of ‖T^-½ K S^-½‖².
    primal_weight : float, optional
        √(s/t) at the start, if the steps are not given. The default is 1, as in the paper, in units
        of the largest data and weights. For terms without strong convexity or of extreme scale, and
        schemes that balance the steps, the default is computed from the range of u and the weights.
    alpha : float
        Exponent of the diagonal preconditioner.

    References
    ----------
    .. [1] A. Chambolle, T. Pock, "A first-order primal-dual algorithm for convex problems with
       applications to imaging", Journal of Mathematical Imaging and Vision 40, 2011.
    .. [2] H. Lu, J. Yang, "Restarted Halpern PDHG for linear programming", 2024.

    Examples
    --------
    >>> from graphtv import Problem, SquaredLoss, gallery, grid_graph, solve
    >>> noisy, truth = gallery.piecewise_constant_image((16, 16), rng=1)
    >>> problem = Problem(grid_graph(noisy.shape, 0.1), SquaredLoss(noisy))
    >>> solve(problem, method=PDHG("accelerated", gamma=0.25), preconditioner="chains").status
    'optimal'
    """

    scheme: str = "auto"
    gamma: float | None = None
    primal_step: float | None = None
    dual_step: float | None = None
    primal_weight: float | None = None
    alpha: float = 1.0

    def __post_init__(self) -> None:
        as_choice(self.scheme, "scheme", SCHEMES)
        if self.gamma is not None:
            as_real(self.gamma, "gamma", minimum=0.0)
        for name in ("primal_step", "dual_step", "primal_weight"):
            value = getattr(self, name)
            if value is not None:
                as_real(value, name, minimum=0.0, strict=True)
        alpha = as_real(self.alpha, "alpha", minimum=0.0)
        if alpha > 2.0:
            raise ValueError(f"alpha must lie in [0, 2], got {alpha}")
