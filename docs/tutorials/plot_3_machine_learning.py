"""
Machine learning: handwritten digits from 50 labels
===================================================

The task: 1797 images of handwritten digits, and somebody has labelled five of each. Find the other
labels, and say how good they are. You need the extras ``ml`` and ``plot``.
"""

# %%
# The data
# --------
# scikit-learn has the images, 8 × 8 pixels each. -1 means that there is no label.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier
from sklearn.semi_supervised import LabelSpreading

from graphtv import TVClassifier

images, digits = load_digits(return_X_y=True)
rng = np.random.default_rng(0)
labels = np.full(len(digits), -1)
for digit in range(10):
    known = rng.choice(np.flatnonzero(digits == digit), 5, replace=False)
    labels[known] = digit
print((labels >= 0).sum(), "labels for", len(labels), "images")

# %%
# Spread the labels
# -----------------
# `TVClassifier` joins each image to its nearest neighbours, and looks for classes with short
# borders in this graph. It has the interface of scikit-learn.

model = TVClassifier().fit(images, labels)
print("relative gap of the solution:", f"{model.result_.relative_gap:.0e}")

# %%
# Compare
# -------
# The same labels with two methods of scikit-learn.

known = labels >= 0
guesses = {
    "nearest neighbour": KNeighborsClassifier(1).fit(images[known], labels[known]).predict(images),
    "LabelSpreading": LabelSpreading(kernel="knn").fit(images, labels).transduction_,
    "TVClassifier": model.transduction_,
}
for name, guess in guesses.items():
    print(f"{name:18} {(guess[~known] == digits[~known]).mean():6.1%} right")

# %%
# The figure
# ----------
# The images on which `TVClassifier` is wrong, with its answer and the truth.

wrong = np.flatnonzero(model.transduction_ != digits)[:16]
figure, axes = plt.subplots(2, 8, figsize=(9, 2.8), layout="constrained")
for ax in axes.flat:
    ax.set_axis_off()
for ax, k in zip(axes.flat, wrong, strict=False):
    ax.imshow(images[k].reshape(8, 8), cmap="gray_r")
    ax.set_title(f"{model.transduction_[k]}, not {digits[k]}", fontsize=9)

# %%
# Next: :doc:`/applications/transduction` explains the model and its parameters.
