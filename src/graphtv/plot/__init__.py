"""Pictures: convergence, images before and after, labels, λ-paths, signals and forests on graphs.

Every function draws into matplotlib axes, the current ones unless others are given, and returns
them. The module needs matplotlib (the extra `plot`) only when something is drawn.
"""

from graphtv.plot.convergence import draw_convergence
from graphtv.plot.images import draw_before_after, draw_labels
from graphtv.plot.partitions import TITLES, draw_partition, draw_partitions
from graphtv.plot.paths import draw_criterion, draw_path
from graphtv.plot.signals import draw_signal
from graphtv.plot.style import COLOURS, GREY, INK

__all__ = [
    "COLOURS",
    "GREY",
    "INK",
    "TITLES",
    "draw_before_after",
    "draw_convergence",
    "draw_criterion",
    "draw_labels",
    "draw_partition",
    "draw_partitions",
    "draw_path",
    "draw_signal",
]
