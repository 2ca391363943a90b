"""
Regions on a map
================

Unemployment in 2009 in the counties of the United States. The fused lasso joins neighbouring
counties with similar rates into regions.
"""

import matplotlib.pyplot as plt

from graphtv import datasets, fused_lasso
from graphtv.plot import draw_signal

counties = datasets.us_counties()
result = fused_lasso(counties.graph, counties.unemployment, lam=2.0, tol=0)

figure, axes = plt.subplots(1, 2, figsize=(12, 3.8), layout="constrained")
for ax, rates, title in (
    (axes[0], counties.unemployment, "per cent"),
    (axes[1], result.u, f"{len(set(result.u.tolist()))} different values"),
):
    draw_signal(
        counties.graph,
        rates,
        counties.coordinates,
        ax,
        geographic=True,
        limits=(2, 16),
        edges="none",
    )
    ax.set_title(title)
