"""
Steps in a time series
======================

`tv_chain` computes the exact minimiser on a chain in linear time.
"""

import matplotlib.pyplot as plt
import numpy as np

from graphtv import tv_chain

rng = np.random.default_rng(0)
truth = np.repeat([0.0, 2.0, 1.0, 3.0, 0.5], 60)
noisy = truth + 0.4 * rng.standard_normal(len(truth))
steps = tv_chain(noisy, 3.0)

figure, ax = plt.subplots(figsize=(7, 3), layout="constrained")
ax.plot(noisy, ".", color="lightgray")
ax.plot(truth, "k--", linewidth=1, label="truth")
ax.plot(steps, label=f"tv_chain: {1 + np.count_nonzero(np.diff(steps))} pieces")
ax.legend()
