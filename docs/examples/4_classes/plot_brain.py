"""
Coefficients in a brain
=======================

Each sample is a volume with 1,900 voxels inside a mask, and belongs to one of two classes. Two
regions make the difference. `FusedLogisticRegression` finds them from 150 samples. λ penalises the
borders of the regions, and sparsity sets the rest to zero.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy import ndimage

from graphtv import FusedLogisticRegression

rng = np.random.default_rng(0)
x, y, z = np.indices((18, 20, 10)) - np.array([8.5, 9.5, 4.5])[:, None, None, None]
mask = (x / 9) ** 2 + (y / 10) ** 2 + (z / 5) ** 2 < 1
truth = np.zeros(mask.shape)
truth[(x + 4) ** 2 + (y - 3) ** 2 + z**2 < 9] = 1.0
truth[(x - 4) ** 2 + (y + 4) ** 2 + z**2 < 9] = -1.0

volumes = ndimage.gaussian_filter(rng.normal(size=(150, *mask.shape)), (0, 0.8, 0.8, 0.8))
volumes /= volumes.std()
label = volumes[:, mask] @ truth[mask] + 2.0 * rng.normal(size=150) > 0
model = FusedLogisticRegression.from_mask(mask, lam=0.7, sparsity=0.1, tol=0.02)
model.fit(volumes[:, mask], label)

picture = np.full(mask.shape, np.nan)
picture[mask] = model.coef_[0]
limit = np.nanmax(np.abs(picture))
figure, axes = plt.subplots(2, 4, figsize=(8, 4.4), layout="constrained")
for column, level in zip(axes.T, (3, 4, 5, 6), strict=True):
    column[0].imshow(np.where(mask, truth, np.nan)[:, :, level], cmap="RdBu_r", vmin=-1, vmax=1)
    column[1].imshow(picture[:, :, level], cmap="RdBu_r", vmin=-limit, vmax=limit)
    column[0].set_title(f"slice {level}")
for ax in axes.ravel():
    ax.set_axis_off()
