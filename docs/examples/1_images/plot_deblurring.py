"""
Deblur a photo
==============

A photo was blurred by a known kernel and has noise. `deblur_tv` finds the sharp image whose blurred
version fits the photo, and proves how close to the optimum it is.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy import ndimage
from skimage import data

from graphtv import deblur_tv

photo = data.camera()[60:316:2, 150:406:2] / 255
offsets = np.arange(-6, 7)
kernel = np.exp(-(offsets[:, None] ** 2 + offsets**2) / (2 * 1.5**2))
kernel /= kernel.sum()
rng = np.random.default_rng(0)
blurred = ndimage.convolve(photo, kernel, mode="reflect") + rng.normal(0.0, 0.01, photo.shape)

sharp, result = deblur_tv(
    blurred, kernel, weight=1e-3, lower=0.0, upper=1.0, tol=0.02, return_result=True
)
print(f"relative gap {result.relative_gap:.1e}, {result.operator_calls} products with the blur")

figure, axes = plt.subplots(1, 3, figsize=(9, 3.2), layout="constrained")
images = {"blurred, with noise": blurred, "deblurred": sharp, "original": photo}
for ax, (title, image) in zip(axes, images.items(), strict=True):
    ax.imshow(image, cmap="gray", vmin=0, vmax=1)
    ax.set_title(title)
    ax.set_axis_off()
