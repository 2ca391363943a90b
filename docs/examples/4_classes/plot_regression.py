"""
Regression with the pixels of images
====================================

Each sample is a noisy image with 450 pixels inside a mask, and its target depends on two regions.
There are 100 samples. `FusedLinearRegression` finds the regions. Ridge regression does not.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import Ridge

from graphtv import FusedLinearRegression

rng = np.random.default_rng(0)
rows, columns = np.indices((24, 24))
mask = np.hypot(rows - 11.5, columns - 11.5) < 12
truth = np.zeros(mask.shape)
truth[4:11, 6:12] = 1.0
truth[13:20, 12:20] = -0.7
images = rng.normal(size=(100, 24, 24))
y = images[:, mask] @ truth[mask] + 2.0 * rng.normal(size=100)

models = {
    "ridge": Ridge(10.0),
    "total variation": FusedLinearRegression.from_mask(mask, lam=40.0),
}
figure, axes = plt.subplots(1, 3, figsize=(9, 3.2), layout="constrained")
axes[0].imshow(np.where(mask, truth, np.nan), cmap="RdBu_r", vmin=-1, vmax=1)
axes[0].set_title("coefficients of the data")
for ax, (name, model) in zip(axes[1:], models.items(), strict=True):
    picture = np.full(mask.shape, np.nan)
    picture[mask] = model.fit(images[:, mask], y).coef_
    ax.imshow(picture, cmap="RdBu_r", vmin=-1, vmax=1)
    ax.set_title(name)
for ax in axes:
    ax.set_axis_off()
