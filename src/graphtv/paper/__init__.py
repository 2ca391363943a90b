"""The paper's tables and figures, computed anew: what ``graphtv paper`` runs.

An `experiment` is a list of cells, each of which is run by itself and kept by the `store`; of their
outcomes it makes tables and pictures, which the `report` shows in the terminal, as CSV and in one
page of HTML. There is a module per table and figure, imported when it is asked for.

References
----------
T. Möllenhoff, Z. Ye, T. Wu, D. Cremers, "Combinatorial Preconditioners for Proximal Algorithms on
Graphs", AISTATS 2018.
"""

from graphtv.paper.experiment import NAMES, Experiment, load

__all__ = ["NAMES", "Experiment", "load"]
