"""Settings of PDHG for experts, such as those that the paper's experiments vary."""

from __future__ import annotations

from dataclasses import dataclass, replace

from graphtv._validate import as_choice, as_real
from graphtv.terms._units import NO_UNITS, Units

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

    def in_units(self, units: Units, degree_of_S: float, degree_of_T: float) -> PDHG:
        """Return the settings for v, where u = 2ᵃ v and the objective is divided by 2ᵇ.

        S and T are functions of ω of these degrees.
        """
        if units == NO_UNITS:
            return self
        a, b = units
        exponents = {
            "gamma": 2 * a - b,
            "primal_step": exponent_of_primal_step(units, degree_of_S),
            "dual_step": degree_of_T * (b - a) - b,
            "primal_weight": exponent_of_weight(units, degree_of_S, degree_of_T),
        }
        given = {name: getattr(self, name) for name in exponents}
        return replace(
            self,
            **{
                name: value * 2.0 ** exponents[name]
                for name, value in given.items()
                if value is not None
            },
        )


def exponent_of_primal_step(units: Units, degree_of_S: float) -> float:
    """Return x such that s is multiplied by 2ˣ if u is divided by 2ᵃ and the objective by 2ᵇ.

    s‖u‖² has the unit of the objective in the norm of S, whose unit is a power of that of ω, 2ᵇ⁻ᵃ.
    """
    a, b = units
    return degree_of_S * (b - a) + 2 * a - b


def exponent_of_weight(units: Units, degree_of_S: float, degree_of_T: float) -> float:
    """Return the same exponent for √(s/t), where t‖p‖² has the unit of the objective."""
    a, b = units
    return 0.5 * (degree_of_S - degree_of_T) * (b - a) + a
