"""
Graphs: how a karate club split
===============================

The task: Wayne Zachary observed the friendships in a karate club. Then its instructor and its
president quarrelled, and the club split. Predict from the friendships who went with whom. You need
the extras ``graphs`` and ``plot``.
"""

# %%
# The data
# --------
# NetworkX has the network. The weight of an edge is the number of contexts in which two members
# met.

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np

from graphtv import Graph, min_cut

club = nx.karate_club_graph()
graph = Graph.from_networkx(club)
stayed = np.array([club.nodes[member]["club"] == "Mr. Hi" for member in club])
print(graph, "; instructor 0, president 33")

# %%
# The minimum cut
# ---------------
# Zachary's own idea [1]_: the club breaks where the flow between the two leaders is narrowest. So
# the instructor is tied to the source and the president to the sink.

source, sink = np.zeros(34), np.zeros(34)
source[0] = sink[33] = 1000
cut = min_cut(graph, source, sink)
print(cut)
print("right for", (cut.source_side == stayed).sum(), "of 34 members; wrong for", end=" ")
print(np.flatnonzero(cut.source_side != stayed).tolist())

# %%
# The figure
# ----------
# Edges of the cut are dark.

places = nx.spring_layout(club, seed=5)
positions = np.array([places[member] for member in club])
figure, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
for i, j in graph.edges:
    is_cut = cut.source_side[i] != cut.source_side[j]
    ax.plot(*positions[[i, j]].T, color="black" if is_cut else "lightgray", zorder=1)
colours = np.where(cut.source_side, "tab:blue", "tab:orange")
ax.scatter(*positions.T, 220, colours, zorder=2)
for member, place in enumerate(positions):
    ax.text(*place, str(member), color="white", ha="center", va="center", fontsize=8)
ax.set_title(f"a minimum cut of value {cut.value:g}")
ax.set_axis_off()

# %%
# Next: :doc:`/applications/minimum-cuts` has directed networks, all thresholds and DIMACS files.
#
# .. [1] W. W. Zachary, "An information flow model for conflict and fission in small groups",
#    Journal of Anthropological Research 33, 1977.
