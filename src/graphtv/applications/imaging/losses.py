"""The losses that functions for images accept by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphtv.terms import AbsoluteLoss, DataTerm, HuberLoss, PoissonLoss, SquaredLoss

Loss = Callable[..., DataTerm]

LOSSES: dict[str, Loss] = {
    "squared": SquaredLoss,
    "absolute": AbsoluteLoss,
    "poisson": PoissonLoss,
}
"""The losses of denoising."""

OPERATOR_LOSSES: dict[str, Loss] = {**LOSSES, "huber": HuberLoss}
"""The losses of reconstruction."""


def as_loss(loss: Any, known: dict[str, Loss]) -> Loss:
    """Return the loss of this name, or the callable that makes a loss."""
    if isinstance(loss, str) and loss in known:
        return known[loss]
    if not isinstance(loss, str) and callable(loss):
        made: Loss = loss
        return made
    names = ", ".join(map(repr, known))
    raise ValueError(f"loss must be one of {names} or a callable, got {loss!r}")
