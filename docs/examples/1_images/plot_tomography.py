"""
Tomography from few angles
==========================

A scanner measures sums along rays. With 20 angles there are far fewer measurements than pixels.
Least squares fits them with streaks. Total variation with bounds finds the regions.
"""

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import lsqr
from skimage import data, transform

from graphtv import reconstruct_tv

size, angles = 64, np.arange(20) * np.pi / 20
truth = transform.resize(data.shepp_logan_phantom(), (size, size), anti_aliasing=True)

# The projection matrix: each pixel adds to the two nearest bins of the detector, at every angle.
y, x = (coordinate.ravel() - (size - 1) / 2 for coordinate in np.indices(truth.shape))
n_bins = int(1.5 * size)
place = np.outer(np.cos(angles), x) + np.outer(np.sin(angles), y) + n_bins / 2
first = np.floor(place).astype(int)
row = first + n_bins * np.arange(len(angles))[:, None]
pixel = np.broadcast_to(np.arange(size**2), row.shape)
share = place - first
entries = np.concatenate([1.0 - share, share]).ravel()
where = np.concatenate([row, row + 1]).ravel(), np.concatenate([pixel, pixel]).ravel()
A = sp.csr_array((entries, where), shape=(n_bins * len(angles), size**2)) / size

sinogram = A @ truth.ravel() + np.random.default_rng(0).normal(0.0, 0.003, A.shape[0])
streaks = lsqr(A, sinogram, iter_lim=30)[0].reshape(truth.shape)
image = reconstruct_tv(sinogram, A, truth.shape, weight=2e-4, lower=0.0, upper=1.0, tol=0.05)

figure, axes = plt.subplots(1, 4, figsize=(11, 3), layout="constrained")
axes[0].imshow(sinogram.reshape(len(angles), n_bins), cmap="gray", aspect="auto")
axes[0].set_title("sinogram, 20 angles")
images = {"least squares": streaks, "total variation": image, "truth": truth}
for ax, (title, shown) in zip(axes[1:], images.items(), strict=True):
    ax.imshow(shown, cmap="gray", vmin=0, vmax=1)
    ax.set_title(title)
for ax in axes:
    ax.set_axis_off()
