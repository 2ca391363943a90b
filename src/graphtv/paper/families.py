"""The rows of Table 2: the construction of each instance, and the paper's results."""

from __future__ import annotations

from dataclasses import dataclass

from graphtv.paper import instances, stand_ins, stereo
from graphtv.paper.instances import Make

OF_THE_PAPER = ("none", "diagonal", "nested", "linear")
"""The preconditioners whose figures the paper has, in its order."""

Theirs = tuple[int | None, str]
"""Iterations, None beyond 10⁵, and seconds with those of the preconditioner in brackets."""


@dataclass(frozen=True)
class Line:
    """A row: the paper's name of the instance, its construction, and the paper's figures."""

    name: str
    make: Make
    size: str
    ratio: str
    theirs: tuple[Theirs, Theirs, Theirs, Theirs]
    stand_in: str = ""


FAILED: Theirs = (None, "–")
SECTIONS: dict[str, list[Line]] = {
    "synthetic": [
        Line(
            "rmf-long.n2",
            instances.rmf_long,
            "64",
            "2.87",
            (FAILED, FAILED, (1794, "62.9 (+0.7)"), (5070, "24.4 (+1.2)")),
        ),
        Line(
            "rmf-wide.n2",
            instances.rmf_wide,
            "32",
            "2.84",
            (FAILED, FAILED, (159, "2.6 (+0.3)"), (23518, "62.2 (+0.6)")),
        ),
        Line(
            "wash-rlg-long.n1024",
            instances.wash_rlg_long,
            "64",
            "2.99",
            (
                (73309, "134.1 (+9.4)"),
                (14333, "49.7 (+0.0)"),
                (5848, "373.9 (+0.8)"),
                (18798, "108.7 (+1.3)"),
            ),
        ),
    ],
    "bisection": [
        Line(
            "horse-48112",
            instances.horse,
            "47",
            "2.99",
            (FAILED, (21593, "38.3 (+0.0)"), (964, "33.9 (+0.3)"), (19145, "90.4 (+2.8)")),
        ),
        Line(
            "alue7065-33338",
            instances.alue7065,
            "33",
            "1.61",
            (FAILED, (23218, "21.5 (+0.0)"), (2499, "21.4 (+0.17)"), (49452, "99.4 (+1.7)")),
        ),
    ],
    "stereo": [
        Line(
            "BVZ-venus1*",
            instances.venus(1),
            "162",
            "1.99",
            (
                (9068, "20.8 (+7.9)"),
                (3741, "20.2 (+0.0)"),
                (1111, "90.7 (+0.9)"),
                (414, "1.9 (+0.1)"),
            ),
            "an α-move with the same costs on the same pair of images, α = 1",
        ),
        Line(
            "BVZ-venus2*",
            instances.venus(8),
            "162",
            "1.99",
            (
                (10099, "24.4 (+7.9)"),
                (3124, "17.2 (+0.0)"),
                (1065, "88.8 (+0.9)"),
                (384, "1.7 (+0.1)"),
            ),
            "an α-move with the same costs on the same pair of images, α = 8",
        ),
        Line(
            "KZ2-sawtooth1",
            stereo.venus_with_occlusions(8),
            "310",
            "2.91",
            (
                (96974, "736.5 (+31.8)"),
                (3468, "51.7 (+0.0)"),
                (336, "102.8 (+3.0)"),
                (526, "14.9 (+6.1)"),
            ),
            "a move of Kolmogorov and Zabih's stereo on Venus in place of Sawtooth, α = 8",
        ),
        Line(
            "KZ2-sawtooth2",
            stereo.venus_with_occlusions(12),
            "294",
            "2.79",
            (
                (95849, "675.3 (+33.1)"),
                (3520, "48.2 (+0.0)"),
                (432, "124.8 (+2.9)"),
                (652, "15.7 (+5.8)"),
            ),
            "a move of Kolmogorov and Zabih's stereo on Venus in place of Sawtooth, α = 12",
        ),
    ],
    "misc vision": [
        Line(
            "texture_graph",
            stand_ins.texture,
            "9",
            "4.76",
            (
                (4860, "1.6 (+1.45)"),
                (3554, "1.9 (+0.0)"),
                (1091, "9.12 (+0.1)"),
                (1669, "1.7 (+0.3)"),
            ),
            "the seam between two patches of scikit-image's picture of bricks, 8 neighbours",
        ),
        Line(
            "lazybrush-mangagirl*",
            stand_ins.line_art,
            "579",
            "1.99",
            (FAILED, FAILED, (13318, "5727.3 (+3.3)"), (6330, "95.4 (+0.4)")),
            "one colour of LazyBrush on a line drawing of scikit-image's astronaut",
        ),
        Line(
            "imgseggmm-ferro",
            stand_ins.colour_models,
            "231",
            "3.98",
            (
                (3594, "32.2 (+75.9)"),
                (5806, "95.0 (+0.0)"),
                (786, "276.8 (+4.4)"),
                (775, "25.6 (+3.1)"),
            ),
            "scikit-image's cup of coffee, mixtures of Gaussians, 8 neighbours",
        ),
    ],
}
LINES = {line.name: line for lines in SECTIONS.values() for line in lines}
