"""
Neighbours and directions
=========================

Total variation flattens the top of a cone. With four neighbours, edges along the axes are cheaper
than diagonal ones, so the flat top is a square. With eight neighbours it is an octagon, with
sixteen it has sixteen sides, and with isotropic total variation it is nearly a disc. In volumes,
`connectivity` may be 6, 18 or 26.
"""

import matplotlib.pyplot as plt
import numpy as np

from graphtv import IsotropicTV, Problem, SquaredLoss, denoise_tv, grid_graph, solve

y, x = np.mgrid[-1:1:64j, -1:1:64j]
cone = np.maximum(1 - np.hypot(x, y), 0)
weight = 2.0
isotropic = Problem(grid_graph(cone.shape, weight), SquaredLoss(cone), IsotropicTV())
images = {
    "cone": cone,
    "four neighbours": denoise_tv(cone, weight, tol=0),
    "eight neighbours": denoise_tv(cone, weight, connectivity=8, tol=0),
    "sixteen neighbours": denoise_tv(cone, weight, connectivity=16, tol=0),
    "isotropic": solve(isotropic, tol=1e-4).u,
}
figure, axes = plt.subplots(1, 5, figsize=(13, 3), layout="constrained")
for ax, (title, image) in zip(axes, images.items(), strict=True):
    ax.imshow(image, cmap="gray")
    ax.contour(image, levels=[image.max() - 0.01], colors="tab:orange")
    ax.set_title(title)
    ax.set_axis_off()
