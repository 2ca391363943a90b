"""
Statistics: regions of unemployment
===================================

The task: 3109 counties of the United States with their unemployment in 2009. Which larger regions
have the same rate, and which states do they belong to? You need the extra ``plot``.
"""

# %%
# The data
# --------
# The data set has a rate per county, and a graph whose edges join counties with a common boundary.

from collections import Counter

import matplotlib.pyplot as plt
import numpy as np

from graphtv import datasets, fused_lasso_path
from graphtv.plot import draw_criterion, draw_signal

counties = datasets.us_counties()
print(counties.graph)
print("rates from", counties.unemployment.min(), "to", counties.unemployment.max(), "per cent")

# %%
# Many values of λ
# ----------------
# The fused lasso makes neighbouring rates equal unless the data speak against it. λ says how
# strongly. We solve for 25 values and let a criterion choose.

path = fused_lasso_path(counties.graph, counties.unemployment, n_lambdas=25)
chosen = path.best_index("bic")
fit = path.results[chosen]
print("λ =", round(float(path.lambdas[chosen]), 2), " regions:", path.df[chosen], " ", fit.status)

figure, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
draw_criterion(path, ax, criterion="bic")

# %%
# The largest regions
# -------------------
# Values of one region are equal to the last bit, so ``np.unique`` finds them. Two regions far apart
# could share a value by chance; that does not happen here often enough to matter for a table.

values, region, sizes = np.unique(fit.u, return_inverse=True, return_counts=True)
for number in np.argsort(-sizes)[:6]:
    states = Counter(counties.states[region == number].tolist()).most_common(5)
    names = ", ".join(f"{state} {count}" for state, count in states)
    print(f"{values[number]:5.1f} %  {sizes[number]:4} counties: {names}")

# %%
# The figure
# ----------

figure, axes = plt.subplots(1, 2, figsize=(12, 3.8), layout="constrained")
for ax, rates, title in (
    (axes[0], counties.unemployment, "unemployment in 2009, per cent"),
    (axes[1], fit.u, f"{path.df[chosen]} regions by BIC"),
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

# %%
# Next: :doc:`/applications/fused-lasso` has cross-validation, sparsity and other losses.
