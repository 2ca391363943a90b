"""
A graph decomposed into forests
===============================

Three ways to partition the edges of a planar graph, with the condition number κ of each.
"""

import matplotlib.pyplot as plt

from graphtv import gallery
from graphtv.plot import draw_partitions

graph, positions = gallery.delaunay_graph(96, 150, rng=1)
figure = plt.figure(figsize=(11, 3.2), layout="constrained")
draw_partitions(graph, ("linear", "nested", "matroid"), positions, figure)
