"""Reproduction of the tables and figures of the paper, run by ``graphtv paper``.

An `experiment` is a list of cells. Each cell is run separately and saved by the `store`. From the
outcomes the experiment makes tables and figures, which the `report` shows in the terminal, as CSV
and as an HTML page. There is one module per table and figure, imported when needed.

References
----------
T. Möllenhoff, Z. Ye, T. Wu, D. Cremers, "Combinatorial Preconditioners for Proximal Algorithms on
Graphs", AISTATS 2018.
"""

from graphtv.paper.experiment import NAMES, Experiment, load

__all__ = ["NAMES", "Experiment", "load"]
