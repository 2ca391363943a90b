"""
Inverse problems: read a clock in a blurred photograph
======================================================

The task: the camera moved while it took the photograph of a clock. Find out how it moved, undo the
blur, and read the time. You need the extra ``plot`` and scikit-image.
"""

# %%
# The data
# --------
# scikit-image has the photograph. The blur is real, and nobody tells us its length.

import matplotlib.pyplot as plt
import numpy as np
from scipy import ndimage
from skimage.data import clock

from graphtv import deblur_tv, estimate_noise

photograph = clock() / 255
print("pixels:", photograph.shape, " noise:", round(estimate_noise(photograph), 4))

# %%
# How long is the blur?
# ---------------------
# The camera moved along a line, so each pixel is the mean of L pixels of the sharp image. Such a
# mean removes the frequencies with a whole number of periods in L pixels. The spectrum of the
# photograph must have dark stripes there. One of them is 400 / L frequencies from the next.

window = np.outer(*(np.hanning(n) for n in photograph.shape))
spectrum = np.abs(np.fft.fft2((photograph - photograph.mean()) * window))
rows = np.r_[2:25, -24:-1]  # low vertical frequencies without the bright ones in the middle
profile = np.log(spectrum[rows].mean(axis=0))[:101]
is_least = ndimage.minimum_filter1d(profile, 9) == profile
stripes = np.flatnonzero(is_least)[:6]
spacing = np.polyfit(range(len(stripes)), stripes, 1)[0]
length = round(photograph.shape[1] / spacing)
print("stripes at the frequencies", stripes, " L =", length)

figure, axes = plt.subplots(1, 2, figsize=(10, 3.4), layout="constrained")
axes[0].imshow(photograph, cmap="gray")
axes[0].set_title("the photograph")
axes[0].set_axis_off()
axes[1].plot(profile)
axes[1].plot(stripes, profile[stripes], "v", color="tab:orange")
axes[1].set(xlabel="horizontal frequency", ylabel="logarithm of the spectrum", title="dark stripes")

# %%
# The kernel
# ----------
# The kernel of the blur is a line of this length. A line that is not quite horizontal touches
# several rows of pixels, so we draw it with many points and share each of them among the four
# nearest pixels.


def line(length, slope):
    """Return the kernel of a motion along a line."""
    x = np.linspace(-0.5, 0.5, 2000) * length
    kernel = np.zeros((5, 2 * int(length / 2) + 5))
    middle = np.array(kernel.shape) // 2
    places = np.stack([slope * x, x]) + middle[:, None]
    corner = np.floor(places).astype(int)
    share = places - corner
    for i, j in np.ndindex(2, 2):
        part = np.abs(1 - i - share[0]) * np.abs(1 - j - share[1])
        np.add.at(kernel, (corner[0] + i, corner[1] + j), part)
    return kernel / kernel.sum()


# %%
# Which slope?
# ------------
# A wrong kernel cannot explain the photograph with few edges, so the objective rises. We compare
# a few slopes. Each certificate gives a range for the minimum, and an accuracy of 5 % is enough to
# tell which slope is best. ``boundary="unknown"`` says that the pixels
# beyond the border are not known, and the bounds say that the image has values from 0 to 1.

crop = photograph[80:230, 90:330]
model = {"boundary": "unknown", "lower": 0.0, "upper": 1.0, "return_result": True}
objectives = {}
for slope in (-0.06, -0.03, 0.0, 0.03):
    _, result = deblur_tv(crop, line(length, slope), 1e-3, tol=0.05, **model)
    objectives[slope] = result.primal
    print(f"slope {slope:5.2f}: objective {result.primal:.3f}, at least {result.dual:.3f}")
best = min(objectives, key=objectives.get)

# %%
# Deblur
# ------
# With the best slope, a smaller weight keeps more details. The certificate says how close the
# objective is to its minimum, and how many products with the blur this took.

sharp, result = deblur_tv(crop, line(length, best), 2e-4, tol=0.05, **model)
print(f"{result.status}, relative gap {result.relative_gap:.2f}, {result.operator_calls} products")

# %%
# The figure
# ----------
# The clock is round again, and it has hands. The short one points between 1 and 2, and the long
# one to 4. It is twenty past one. The ghosts on both sides are frequencies that the blur removed.

figure, axes = plt.subplots(1, 2, figsize=(10, 4.3), layout="constrained")
for ax, image, title in ((axes[0], crop, "photograph"), (axes[1], sharp, "deblurred")):
    ax.imshow(image[12:142, 55:195], cmap="gray", vmin=0.4, vmax=0.95)
    ax.set_title(title)
    ax.set_axis_off()

# %%
# Next: :doc:`/applications/inverse-problems` has other operators, losses and bounds, and
# :doc:`/theory/operators` explains the method and its certificate.

# sphinx_gallery_thumbnail_number = 2
