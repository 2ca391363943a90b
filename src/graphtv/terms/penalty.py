"""Penalties F on the weighted differences Ku along the edges."""

from __future__ import annotations

from dataclasses import dataclass

from graphtv._validate import as_real

__all__ = ["HuberTV", "Penalty", "TotalVariation"]


@dataclass(frozen=True)
class TotalVariation:
    """Total variation, F(Ku) = Σ_e |(Ku)_e| = Σ_e ω_e |u_i - u_j|.

    Its conjugate is 0 where every |p_e| ≤ 1 and infinite elsewhere. Channels of a vector-valued u
    are summed.
    """

    @property
    def delta(self) -> float:
        """Width of the quadratic zone: none."""
        return 0.0


@dataclass(frozen=True)
class HuberTV:
    """Total variation, rounded off at zero.

    F(Ku) = Σ_e h((Ku)_e) with h(x) = x²/(2δ) up to δ and |x| - δ/2 beyond.

    Its conjugate is δ/2 ‖p‖² where every |p_e| ≤ 1 and infinite elsewhere. Small differences are
    smoothed instead of removed, so edges stay sharp and plateaus become slopes.

    Parameters
    ----------
    delta : float
        The width δ > 0 of the quadratic zone.
    """

    delta: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "delta", as_real(self.delta, "delta", minimum=0.0, strict=True))


Penalty = TotalVariation | HuberTV
