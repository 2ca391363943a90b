"""Default colours of classes."""

from __future__ import annotations

Colour = tuple[int, int, int]

PALETTE: tuple[Colour, ...] = (
    (0, 114, 178),
    (230, 159, 0),
    (0, 158, 115),
    (204, 121, 167),
    (213, 94, 0),
    (86, 180, 233),
    (240, 228, 66),
)
"""The colours of Okabe and Ito, which are safe for colour-blind readers."""


def default_colour(number: int) -> Colour:
    """Return the default colour of a class, counted from 0."""
    red, green, blue = PALETTE[number % len(PALETTE)]
    fade = 1.0 / (1 + number // len(PALETTE))
    return round(red * fade), round(green * fade), round(blue * fade)
