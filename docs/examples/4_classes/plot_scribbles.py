"""
Segment an image from scribbles
===============================

A few strokes per class are enough. The numbers in the array of scribbles are the classes; 0 is no
stroke.
"""

import matplotlib.pyplot as plt
import numpy as np

from graphtv import segment_image
from graphtv.plot import draw_labels

rng = np.random.default_rng(0)
y, x = np.mgrid[:72, :96]
image = np.full((72, 96, 3), (0.3, 0.5, 0.8))
image[y > 44] = (0.3, 0.6, 0.2)
image[(x - 65) ** 2 + (y - 22) ** 2 < 140] = (1.0, 0.8, 0.2)
image = (image + 0.12 * rng.standard_normal(image.shape)).clip(0, 1)

scribbles = np.zeros((72, 96), int)
scribbles[10:13, 8:40], scribbles[58:61, 20:70], scribbles[20:23, 60:70] = 1, 2, 3
labels = segment_image(image, scribbles)

figure, axes = plt.subplots(1, 2, figsize=(9, 3.5), layout="constrained")
axes[0].imshow(image)
axes[0].imshow(np.ma.masked_equal(scribbles, 0), cmap="tab10", vmin=0, vmax=9)
axes[0].set_title("image and scribbles")
axes[0].set_axis_off()
draw_labels(image, labels, axes[1], names=("sky", "grass", "sun"))
