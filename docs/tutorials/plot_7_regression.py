"""
Regression: which pixels make a face?
=====================================

The task: 100 small images of faces and 100 of other things. Learn from half of them to tell them
apart, and say which parts of the image matter. An image has 625 pixels, so there are six times as
many features as samples. You need the extras ``ml`` and ``plot``, and scikit-image.
"""

# %%
# The data
# --------
# scikit-image has the images, 25 × 25 pixels each. They are part of the data set "Labeled Faces in
# the Wild". We remove differences in brightness and contrast between images.

import matplotlib.pyplot as plt
import numpy as np
from skimage.data import lfw_subset
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

from graphtv import FusedLogisticRegression

images = lfw_subset()
is_face = np.arange(200) < 100
X = images.reshape(200, 625)
X = (X - X.mean(axis=1, keepdims=True)) / X.std(axis=1, keepdims=True)
X_train, X_test, y_train, y_test = train_test_split(
    X, is_face, test_size=0.5, stratify=is_face, random_state=0
)

figure, axes = plt.subplots(2, 8, figsize=(9, 2.4), layout="constrained")
for ax, image in zip(axes.flat, images[[*range(0, 80, 10), *range(100, 180, 10)]], strict=True):
    ax.imshow(image, cmap="gray")
    ax.set_axis_off()

# %%
# Learn
# -----
# The coefficients form an image too. `FusedLogisticRegression` makes them equal on few regions.
# ``from_mask`` joins each pixel to its neighbours; here, all pixels take part.

model = FusedLogisticRegression.from_mask(np.ones((25, 25), dtype=bool), lam=1.0, tol=1e-2)
model.fit(X_train, y_train)
print("regions:", model.n_pieces_[0], " relative gap:", f"{model.results_[0].relative_gap:.0e}")

# %%
# Compare
# -------
# Logistic regression of scikit-learn has one coefficient for each pixel. We count the correct
# answers of both on the other half of the images. The regions cost little accuracy, and they can be
# named.

ridge = LogisticRegression(max_iter=1000).fit(X_train, y_train)
for name, each in ((f"{model.n_pieces_[0]} regions", model), ("625 pixels", ridge)):
    print(f"{name:11} {each.score(X_test, y_test):.0%} right")

# %%
# The figure
# ----------
# Red regions are bright in faces: the forehead, the cheeks and the bridge of the nose. Blue regions
# are dark: the eyes, a corner of the background, and the shadow below the cheek.

figure, axes = plt.subplots(1, 3, figsize=(9, 3.2), layout="constrained")
axes[0].imshow(X[is_face].mean(axis=0).reshape(25, 25), cmap="gray")
axes[0].set_title("mean of all faces")
for ax, each, title in ((axes[1], model, "regions"), (axes[2], ridge, "one number per pixel")):
    picture = each.coef_.reshape(25, 25)
    limit = np.abs(picture).max()
    ax.imshow(picture, cmap="RdBu_r", vmin=-limit, vmax=limit)
    ax.set_title(title)
for ax in axes:
    ax.set_axis_off()

# %%
# Next: :doc:`/applications/regression` explains the model, and how ``lam="cv"`` chooses λ.

# sphinx_gallery_thumbnail_number = 2
