"""
A volume with thick slices
==========================

`denoise_tv` works in any dimension. ``spacing`` is the distance of neighbouring voxels along each
axis: slices that are far apart influence each other less.
"""

import matplotlib.pyplot as plt

from graphtv import denoise_tv, gallery

noisy, truth = gallery.piecewise_constant_image((12, 48, 48), rng=1, noise=0.2)
smooth = denoise_tv(noisy, 0.2, spacing=(3.0, 1.0, 1.0))

figure, axes = plt.subplots(2, 4, figsize=(9, 4.8), layout="constrained")
for row, (name, volume) in zip(axes, {"noisy": noisy, "smooth": smooth}.items(), strict=True):
    for ax, z in zip(row, (1, 4, 7, 10), strict=True):
        ax.imshow(volume[z], cmap="gray", vmin=0, vmax=1)
        ax.set_title(f"{name}, slice {z}")
        ax.set_axis_off()
