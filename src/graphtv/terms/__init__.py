"""The parts of the objective: data terms G and penalties F."""

from graphtv.terms.coupled import CoupledTV
from graphtv.terms.custom import DataTerm
from graphtv.terms.data import (
    AbsoluteLoss,
    EntropicSimplex,
    HuberLoss,
    LinearBox,
    LogisticLoss,
    PoissonLoss,
    QuantileLoss,
    SquaredLoss,
)
from graphtv.terms.isotropic import IsotropicTV
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
