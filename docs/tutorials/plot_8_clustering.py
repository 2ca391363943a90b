"""
Clustering: sort handwritten digits without labels
==================================================

The task: a pile of images of handwritten digits, and nobody has labelled any of them. Sort them
into groups, and find out how many groups there are. You need the extras ``ml`` and ``plot``.
"""

# %%
# The data
# --------
# scikit-learn has the images, 8 × 8 pixels each. Our pile has 200 images of 0, 3, 4 and 6. The
# labels serve to check the answer at the end.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score

from graphtv import convex_clustering_path
from graphtv.plot import draw_dendrogram

images, digits = load_digits(return_X_y=True)
pile = np.flatnonzero(np.isin(digits, (0, 3, 4, 6)))[:200]
images, digits = images[pile], digits[pile]
print(len(images), "images,", images.shape[1], "pixels each")

# %%
# Points that fuse
# ----------------
# Each image is a point. Convex clustering moves the points towards each other, more and more as λ
# grows, and points that meet form a cluster. The path has the clusters for many values of λ.

path = convex_clustering_path(images, n_lambdas=20, tol=1e-3)
print("clusters along the path:", np.unique(path.n_clusters).tolist())

figure, ax = plt.subplots(figsize=(8, 3.2), layout="constrained")
draw_dendrogram(path, ax)

# %%
# How many groups?
# ----------------
# The number of clusters that persists over the largest range of λ. No one has to guess it.

clusters = path.best()
print(clusters.n_clusters, "clusters of", np.bincount(clusters.labels).tolist(), "images")

# %%
# Compare
# -------
# The adjusted Rand index is 1 if the clusters are the digits, and 0 for random groups. k-means has
# to be told the number of clusters.

k_means = KMeans(4, n_init=10, random_state=0).fit_predict(images)
for name, labels in (("convex clustering", clusters.labels), ("k-means", k_means)):
    print(f"{name:18} adjusted Rand index {adjusted_rand_score(digits, labels):.2f}")

# %%
# The figure
# ----------
# One row per cluster: the point where its images meet, and nine of them.

figure, axes = plt.subplots(
    clusters.n_clusters, 10, figsize=(9, clusters.n_clusters), layout="constrained"
)
for row, centroid, label in zip(axes, clusters.centroids, range(clusters.n_clusters), strict=True):
    members = images[clusters.labels == label][:9]
    for ax, image in zip(row, [centroid, *members], strict=False):
        ax.imshow(image.reshape(8, 8), cmap="gray_r")
    for ax in row:
        ax.set_axis_off()

# %%
# These four digits are well apart. All ten are harder: with the first 300 images, only the zeros
# separate from the rest by themselves. With ``n_clusters=10`` the index is 0.59; k-means has 0.79.
# :doc:`plot_3_machine_learning` shows what a few labels are worth in such a case.
#
# Next: :doc:`/applications/convex-clustering` explains the model and the weights.

# sphinx_gallery_thumbnail_number = 2
