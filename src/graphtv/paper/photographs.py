"""Photographs with scribbles: the ICG benchmark, read from a folder, and one of scikit-image.

The benchmark (J. Santner, T. Pock, H. Bischof, "Interactive multi-label segmentation", ACCV 2010)
may not be bundled. scikit-image's `coffee` (CC0, by Rachel Michetti) comes with the extra `image`.
Its scribbles are our own, and it has no true segmentation.
"""

from __future__ import annotations

import importlib
import re
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtv.paper.experiment import UnavailableError

Labels = NDArray[np.intp]

STROKES = (
    (
        ((60, 60), (150, 40), (250, 30), (370, 60), (375, 150)),
        ((40, 500), (200, 540), (350, 500)),
        ((15, 30), (15, 150)),
    ),
    (
        ((130, 130), (250, 110), (340, 220), (360, 320)),
        ((120, 440), (230, 450), (310, 420)),
        ((225, 320), (265, 220)),
    ),
    (
        ((25, 280), (60, 200), (110, 183), (150, 195), (180, 230), (200, 290)),
        ((60, 300), (80, 380)),
    ),
    (((140, 230), (170, 300), (150, 350)), ((110, 260), (115, 330))),
    (((85, 413), (150, 405)), ((260, 370), (300, 365)), ((270, 395), (300, 390))),
)
"""For each class of `coffee` (table, red china, white china, coffee, spoon) its strokes, each a
line through points (row, column)."""


class Photograph(NamedTuple):
    """An image with scribbles (0 for none) and, if known, its true labels.

    Classes count from 1.
    """

    name: str
    image: NDArray[np.uint8]
    scribbles: Labels
    truth: Labels | None

    def every(self, step: int) -> Photograph:
        """Return every `step`-th row and column."""
        some = (slice(None, None, step),) * 2
        truth = None if self.truth is None else self.truth[some]
        return Photograph(self.name, self.image[some], self.scribbles[some], truth)


def icg_folder(data: Path | None) -> Path:
    """Return the folder of the benchmark inside a data folder."""
    if data is None:
        raise UnavailableError("needs the ICG benchmark: --data")
    folder = data / "icgbench"
    if not folder.is_dir():
        raise UnavailableError(f"needs the ICG benchmark: there is no {folder.name} in --data")
    return folder


def read_icg(data: Path | None, name: str) -> Photograph:
    """Read an image of the benchmark, for example ``image_0001``.

    Seeds and labels are stored as runs of (value, length), row by row. Seed 0 means no scribble,
    and seed k belongs to label k - 1.
    """
    folder = icg_folder(data)
    found = sorted((folder / "gt").glob(f"{name}_*.gt"))
    if not found:
        raise UnavailableError(f"there is no {name} in {folder.name}")
    text = found[0].read_text(errors="replace")

    def entry(key: str, pattern: str) -> str:
        match = re.search(rf"^{key}:\s*({pattern})", text, re.MULTILINE)
        if match is None:
            raise UnavailableError(f"{found[0].name} has no {key}")
        return match[1]

    def runs(key: str) -> Labels:
        value, length = np.array(entry(key, r"[\d\s]+").split(), np.intp).reshape(-1, 2).T
        return np.repeat(value, length).reshape(int(entry("HEIGHT", r"\d+")), -1)

    image = np.asarray(_skimage("io").imread(folder / "images" / entry("IMAGE", r"\S+")))
    return Photograph(name, image, runs("SEEDS"), runs("LABELS") + 1)


def icg_names(data: Path | None) -> list[str]:
    """Return the names of the benchmark's images."""
    paths = (icg_folder(data) / "gt").glob("*.gt")
    return sorted({path.stem.rsplit("_", 1)[0] for path in paths})


def coffee(step: int = 1) -> Photograph:
    """Return every `step`-th row and column of scikit-image's photograph of a cup of coffee.

    The strokes are drawn on the reduced image, so that thin lines are not interrupted.
    """
    image = np.asarray(_skimage("data").coffee())[::step, ::step]
    return Photograph("coffee", image, coffee_scribbles(image.shape[:2], step), None)


def coffee_scribbles(shape: tuple[int, ...], step: int = 1) -> Labels:
    """Draw the strokes on a photograph reduced to every `step`-th row and column."""
    scribbles = np.zeros(shape, dtype=np.intp)
    for number, strokes in enumerate(STROKES, start=1):
        for stroke in strokes:
            for start, end in pairwise(np.array(stroke) // step):
                n_points = int(np.abs(end - start).max()) + 1
                line = np.rint(np.linspace(start, end, n_points)).astype(np.intp)
                scribbles[tuple(line.T)] = number
    return scribbles


def _skimage(module: str) -> Any:
    try:
        return importlib.import_module(f"skimage.{module}")
    except ImportError as error:
        raise UnavailableError("needs scikit-image: pip install scikit-image") from error
