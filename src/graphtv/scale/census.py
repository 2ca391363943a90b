"""Statistics of the data, from which the coordinates of all parts are chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from graphtv._validate import Floats
from graphtv.scale.block import Block


@dataclass(frozen=True)
class Census:
    """Statistics of data per channel, and of vertex weights.

    Attributes
    ----------
    known, unknown : ndarray
        Numbers of entries with and without data.
    total, least, most : ndarray
        The sum, the minimum and the maximum of the data.
    mass, heaviest : float
        The sum of all vertex weights, and the largest of them.
    """

    known: Floats
    unknown: Floats
    total: Floats
    least: Floats
    most: Floats
    mass: float
    heaviest: float

    @classmethod
    def of(cls, block: Block, n_channel_axes: int) -> Self:
        """Return the statistics of one part."""
        f, c = block.f, block.c
        axes = tuple(range(f.ndim - n_channel_axes))
        known = np.ones(f.shape, dtype=bool) if c is None else c > 0.0
        return cls(
            known.sum(axis=axes, dtype=np.float64),
            (~known).sum(axis=axes, dtype=np.float64),
            np.sum(f, axis=axes, where=known, dtype=np.float64),
            np.min(f, axis=axes, where=known, initial=np.inf).astype(np.float64),
            np.max(f, axis=axes, where=known, initial=-np.inf).astype(np.float64),
            float(f.size if c is None else np.sum(c, dtype=np.float64)),
            float(1.0 if c is None else np.max(c, initial=0.0)),
        )

    @classmethod
    def joined(cls, parts: Sequence[Census]) -> Self:
        """Return the statistics of all parts."""
        known, unknown, total = (
            np.asarray(sum(getattr(part, name) for part in parts))
            for name in ("known", "unknown", "total")
        )
        return cls(
            known,
            unknown,
            total,
            np.min([part.least for part in parts], axis=0),
            np.max([part.most for part in parts], axis=0),
            sum(part.mass for part in parts),
            max(part.heaviest for part in parts),
        )

    @property
    def has_unknown(self) -> bool:
        """Whether data is missing."""
        return bool(self.unknown.any())

    @property
    def mean_weight(self) -> float:
        """The mean weight of the entries with data."""
        return self.mass / float(self.known.sum())

    def check(self, name: str) -> None:
        """Raise if a channel has no data at all; `name` is that of the argument."""
        if self.has_unknown and not self.known.all():
            where = "" if self.known.ndim == 0 else f" in channel {int(np.argmin(self.known))}"
            raise ValueError(f"{name} must have a known entry, got none{where}")
