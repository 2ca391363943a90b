"""What is minimised: data terms G and penalties F."""

from graphtv.terms.custom import DataTerm
from graphtv.terms.data import (
    AbsoluteLoss,
    EntropicSimplex,
    HuberLoss,
    LinearBox,
    LogisticLoss,
    PoissonLoss,
    SquaredLoss,
)
from graphtv.terms.penalty import HuberTV, Penalty, TotalVariation

__all__ = [
    "AbsoluteLoss",
    "DataTerm",
    "EntropicSimplex",
    "HuberLoss",
    "HuberTV",
    "LinearBox",
    "LogisticLoss",
    "Penalty",
    "PoissonLoss",
    "SquaredLoss",
    "TotalVariation",
]
