"""Moves of the stereo algorithm with occlusions, like the paper's instances KZ2.

V. Kolmogorov and R. Zabih, "Computing visual correspondence with occlusions using graph cuts", ICCV
2001. An assignment matches a pixel p of the left image with the pixel of the right image that is d
      to the left. A configuration makes some assignments active, at most one per pixel. Its energy
      is

    Σ D(a) over the active + K for every pixel without one + Σ V(a, a') over neighbours of the same
    disparity of which one is active and the other is not.

A move deactivates some active assignments of disparities other than α, and activates some of
disparity α. These assignments are the vertices, and the source side means no change. Two
assignments that share a pixel must not both be active. An arc from the old to the new assignment,
with a capacity above any possible gain, ensures this. If neither is active, this costs K, which is
the capacity of the arc back.

The paper's images are not available. The pair Venus has the same size.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from graphtv.applications.cuts.cut_problem import CutProblem
from graphtv.applications.cuts.flow_network import FlowNetwork
from graphtv.paper.experiment import UnavailableError
from graphtv.paper.instances import Instance, Make, require

DISPARITIES = 20
OCCLUSION = 100
"""K."""
SMOOTH, CONTRAST = 30, 10
"""V where the images are smooth, and V elsewhere."""
FORBIDDEN = 1000
"""More than the cost of removing an assignment, 2K + 4V."""

Ints = NDArray[np.int64]


def venus_with_occlusions(alpha: int) -> Make:
    """Return the function that builds a move to α on Venus, from consistent matches."""

    def make(quick: bool, data: Path | None) -> Instance:
        paths = (require(data, f"stereo/venus_{name}.png") for name in ("im2", "im6"))
        left, right = (_read(path).astype(np.int64) for path in paths)
        if quick:
            left, right = left[100:130, 100:150], right[100:130, 100:150]
        return Instance.of(CutProblem.of_network(move(left, right, alpha)))

    return make


def move(left: Ints, right: Ints, alpha: int) -> FlowNetwork:
    """Return the network of the move to α."""
    shape = left.shape[:2]
    height, width = shape
    costs = np.stack([matching_cost(left, right, d) for d in range(DISPARITIES)])
    disparity = agreed(costs)
    pixels = np.arange(height * width).reshape(shape)
    column = pixels % width
    old = (disparity >= 0) & (disparity != alpha)
    new = column >= alpha
    n_old, n_new = int(old.sum()), int(new.sum())
    vertex_old, vertex_new = np.full((2, *shape), -1)
    vertex_old[old] = np.arange(n_old)
    vertex_new[new] = n_old + np.arange(n_new)
    n = n_old + n_new
    source, sink = np.zeros((2, n), dtype=np.int64)
    sink[:n_old] = np.take_along_axis(costs, np.maximum(disparity, 0)[None], 0)[0][old]
    source[n_old:] = costs[alpha][new]

    # By pixel of the left and of the right image: its old assignment and its new one, or -1.
    old_right, new_right = np.full((2, height * width), -1)
    old_right[(pixels - disparity)[old]] = vertex_old[old]
    new_right[(pixels - alpha)[new]] = vertex_new[new]
    olds = np.concatenate([vertex_old.ravel(), old_right])
    news = np.concatenate([vertex_new.ravel(), new_right])
    both = (olds >= 0) & (news >= 0)
    np.add.at(source, olds[(olds >= 0) & (news < 0)], OCCLUSION)
    np.add.at(sink, news[(olds < 0) & (news >= 0)], OCCLUSION)
    pairs = np.stack([olds[both], news[both]], axis=1)
    arcs = [pairs, pairs[:, ::-1]]
    capacities = [np.full(len(pairs), FORBIDDEN), np.full(len(pairs), OCCLUSION)]

    for here, there in (
        (np.s_[:, :-1], np.s_[:, 1:]),
        (np.s_[:-1, :], np.s_[1:, :]),
    ):
        smooth = np.abs(left[here] - left[there]).max(axis=2) < 8
        weight = np.where(smooth, SMOOTH, CONTRAST)
        same = (disparity[here] == disparity[there]) & old[here] & old[there]
        for vertex, alike in ((vertex_old, same), (vertex_new, new[here] & new[there])):
            ends = np.stack([vertex[here][alike], vertex[there][alike]], axis=1)
            arcs += [ends, ends[:, ::-1]]
            capacities += [weight[alike], weight[alike]]
        # A neighbour of the same disparity that is inactive and stays inactive.
        for one, other in ((here, there), (there, here)):
            alone = old[one] & ~same & (column[other] >= disparity[one])
            np.add.at(sink, vertex_old[one][alone], weight[alone])

    inner = np.arange(n)
    arcs += [
        np.stack([np.full(n, n), inner], axis=1),
        np.stack([inner, np.full(n, n + 1)], axis=1),
    ]
    return FlowNetwork(
        n + 2, np.concatenate(arcs), np.concatenate([*capacities, source, sink]), n, n + 1
    )


def matching_cost(left: Ints, right: Ints, disparity: int) -> Ints:
    """Return D: the squared mean difference of the colours, truncated."""
    shifted = np.empty_like(right)
    shifted[:, disparity:] = right[:, : right.shape[1] - disparity]
    shifted[:, :disparity] = right[:, :1]
    cost: Ints = np.minimum(np.abs(left - shifted).sum(axis=2) // 3, 20) ** 2
    return cost


def agreed(costs: Ints) -> Ints:
    """Return the disparity of each pixel on which both images agree, else -1."""
    means = np.stack([ndimage.uniform_filter(cost.astype(float), 5) for cost in costs])
    n, _, width = means.shape
    column = np.arange(width)
    for d in range(n):
        means[d, :, :d] = np.inf
    best = means.argmin(axis=0)
    # The cost of pixel x of the right image at d is that of pixel x + d of the left.
    from_right = np.full_like(means, np.inf)
    for d in range(n):
        from_right[d, :, : width - d] = means[d, :, d:]
    best_right = from_right.argmin(axis=0)
    matched = np.take_along_axis(best_right, np.maximum(column - best, 0), axis=1)
    # Both agree exactly, so no pixel of either image has two matches.
    found: Ints = np.where(matched == best, best, -1).astype(np.int64)
    return found


def _read(path: Path) -> NDArray[Any]:
    try:
        from skimage.io import imread
    except ImportError:
        raise UnavailableError("needs scikit-image: pip install scikit-image") from None
    image: NDArray[Any] = imread(path)[..., :3]
    return image
