"""The parts of the objective: data terms G and penalties F.

Terms are immutable and keep copies of their data. They can also be used without a `Problem`:
`value(u)` is G(u), `conjugate(s)` is G*(s) = sup_u ⟨s, u⟩ - G(u), and `prox(v, step)` is the
minimiser of G(u) + ‖u - v‖²/(2 step). The last two are computed for G restricted to an interval
that contains a solution of every problem with this term (docs/theory/terms.md). This keeps the
conjugate finite.
"""

from graphtv.terms.constrained import EntropicSimplex, LinearBox
from graphtv.terms.coupled import CoupledTV
from graphtv.terms.custom import DataTerm
from graphtv.terms.isotropic import IsotropicTV
from graphtv.terms.likelihood import LogisticLoss, PoissonLoss
from graphtv.terms.location import AbsoluteLoss, HuberLoss, QuantileLoss, SquaredLoss
from graphtv.terms.penalty import HuberTV, Penalty, TotalVariation

__all__ = [
    "AbsoluteLoss",
    "CoupledTV",
    "DataTerm",
    "EntropicSimplex",
    "HuberLoss",
    "HuberTV",
    "IsotropicTV",
    "LinearBox",
    "LogisticLoss",
    "Penalty",
    "PoissonLoss",
    "QuantileLoss",
    "SquaredLoss",
    "TotalVariation",
]
