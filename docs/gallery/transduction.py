"""Classify three moons in a hundred dimensions and handwritten digits from a few labels.

The picture shows the first two coordinates of the moons; the other 98 are noise. Below, it shows
the accuracy on the digits against the fraction of labelled samples.

    python docs/gallery/transduction.py
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.semi_supervised import LabelSpreading

from graphtv import TVClassifier
from graphtv.gallery import three_moons

COLOURS = np.array(["#0072b2", "#d55e00", "#009e73"])
FRACTIONS = (0.01, 0.02, 0.05, 0.1)


def hide(y, fraction, seed):
    """Return y with all but a fraction of each class hidden, at least one label kept."""
    rng = np.random.default_rng(seed)
    shown = np.full(len(y), -1)
    for label in np.unique(y):
        members = np.flatnonzero(y == label)
        kept = rng.choice(members, max(round(fraction * len(members)), 1), replace=False)
        shown[kept] = label
    return shown


def spreading():
    """Return scikit-learn's estimator, with parameters that suit both data sets."""
    return LabelSpreading(kernel="knn", n_neighbors=7, alpha=0.9, max_iter=300)


def accuracy(model, X, y, shown):
    """Fit, and return the fraction of all samples with the correct label."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some components have no labels if labels are very few
        return np.mean(model.fit(X, shown).transduction_ == y)


def draw_moons(axes, quick):
    """Draw the given labels and the predictions of two methods."""
    X, y = three_moons(100 if quick else 500, rng=1)
    shown = hide(y, 0.05, 0)
    axes[0].scatter(X[:, 0], X[:, 1], s=3, c="0.8", linewidths=0)
    known = shown >= 0
    axes[0].scatter(X[known, 0], X[known, 1], s=14, c=COLOURS[y[known]], linewidths=0)
    axes[0].set_title("5 % of the labels")
    for ax, name, model in zip(
        axes[1:], ("TVClassifier", "LabelSpreading"), (TVClassifier(), spreading()), strict=True
    ):
        right = 100 * accuracy(model, X, y, shown)
        found = model.transduction_
        wrong = found != y
        ax.scatter(X[:, 0], X[:, 1], s=3, c=COLOURS[found], linewidths=0)
        ax.scatter(
            X[wrong, 0], X[wrong, 1], s=22, facecolors="none", edgecolors="k", linewidths=0.6
        )
        ax.set_title(f"{name}: {right:.1f} %")
    for ax in axes:
        ax.set_aspect("equal")
        ax.axis("off")


def draw_digits(ax, quick):
    """Draw accuracy against the fraction of labelled digits."""
    X, y = load_digits(return_X_y=True)
    if quick:
        X, y = X[:300], y[:300]
    seeds, fractions = (range(1), (0.05, 0.1)) if quick else (range(2), FRACTIONS)
    for name, make, colour in (
        ("TVClassifier", TVClassifier, COLOURS[0]),
        ("LabelSpreading", spreading, COLOURS[1]),
    ):
        values = 100 * np.array(
            [[accuracy(make(), X, y, hide(y, f, s)) for s in seeds] for f in fractions]
        )
        at = 100 * np.array(fractions)
        ax.plot(at, values.mean(axis=1), "o-", color=colour, label=name)
        ax.fill_between(at, values.min(axis=1), values.max(axis=1), color=colour, alpha=0.15, lw=0)
    ax.set_xscale("log")
    ax.set_xticks(100 * np.array(fractions), [f"{100 * f:g} %" for f in fractions])
    ax.minorticks_off()
    ax.set_xlabel("labelled digits")
    ax.set_ylabel("accuracy in %")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, loc="lower right")


def main(output: Path, quick: bool = False) -> None:
    """Save the picture."""
    figure, axes = plt.subplot_mosaic(
        [["given", "ours", "theirs"], ["digits"] * 3],
        figsize=(9, 5.6),
        height_ratios=[1, 1.3],
        layout="constrained",
    )
    draw_moons([axes["given"], axes["ours"], axes["theirs"]], quick)
    draw_digits(axes["digits"], quick)
    figure.savefig(output, dpi=110)
    plt.close(figure)


if __name__ == "__main__":
    default = Path(__file__).parents[1] / "images" / "gallery" / "transduction.png"
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else default)
