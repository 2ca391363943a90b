"""Plots of convergence, images, labels, regularisation paths, signals on graphs and forests.

Every function draws into matplotlib axes, by default the current ones, and returns them. Matplotlib
(the extra `plot`) is imported only when something is drawn.
"""

from graphtv.plot.convergence import draw_convergence
from graphtv.plot.dendrograms import draw_dendrogram
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
    "draw_dendrogram",
    "draw_labels",
    "draw_partition",
    "draw_partitions",
    "draw_path",
    "draw_signal",
]
