"""Sample images. They are computed, so that no licence applies."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from graphtv._validate import Floats
from graphtv.app.photo import Photo
from graphtv.io.picture import Picture

HEIGHT, WIDTH, N_SLICES = 240, 360, 16


def sample(name: str) -> Photo:
    """Return the sample with this name, one of `SAMPLES`."""
    values = SAMPLES[name]()
    if name == STACK:
        counts = np.rint(4095.0 * np.clip(values, 0.0, 1.0)).astype(np.uint16)
        return Photo(Picture(counts, "tiff", None, None, {"axes": "ZYX"}))
    return Photo(Picture(np.rint(255.0 * np.clip(values, 0.0, 1.0)).astype(np.uint8), "png", 2))


def _landscape() -> Floats:
    from graphtv.gallery.examples import landscape

    return landscape(HEIGHT, WIDTH).image


def _fruit() -> Floats:
    """Return an apple, an orange and a plum on a wooden table, lit from the upper left."""
    rng = np.random.default_rng(4)
    y, x = _places()
    grain = 0.05 * np.sin(90.0 * y + 5.0 * np.sin(4.0 * x)) + 0.03 * np.sin(230.0 * y + 9.0 * x)
    image = (np.array([0.74, 0.58, 0.42]) * (1.0 + grain[..., None])) * (1.05 - 0.25 * y[..., None])
    fruits = (
        ((0.42, 0.40), 0.25, (0.80, 0.13, 0.15)),
        ((0.58, 0.90), 0.27, (0.95, 0.56, 0.12)),
        ((0.74, 0.52), 0.17, (0.34, 0.18, 0.46)),
    )
    for (row, column), radius, colour in fruits:
        shade = _disc(y - row - 0.05, x - column - 0.06, 1.08 * radius, 0.06)[..., None]
        image = image * (1.0 - 0.45 * shade)
        inside = _disc(y - row, x - column, radius, 0.008)[..., None]
        away = ((y - row) ** 2 + (x - column) ** 2) / radius**2
        height = np.sqrt(np.clip(1.0 - away, 0.0, 1.0))
        light = 0.45 + 0.65 * np.clip(
            0.70 * height - 0.52 * (y - row) / radius - 0.5 * (x - column) / radius, 0.0, 1.3
        )
        gloss = 0.35 * np.exp(-60.0 * ((y - row + 0.4 * radius) ** 2))
        gloss *= np.exp(-60.0 * ((x - column + 0.4 * radius) ** 2)) ** 1.5
        body = np.array(colour) * light[..., None] + gloss[..., None]
        image = inside * body + (1.0 - inside) * image
    return np.asarray(image + rng.normal(0.0, 0.025, image.shape))


def _cells() -> Floats:
    """Return cells with nuclei on a pink background, as under a microscope."""
    rng = np.random.default_rng(11)
    y, x = _places()
    image = np.empty((*y.shape, 3))
    image[:] = (0.93, 0.80, 0.86)
    for row, column in _scattered(rng, 26, 0.19):
        stretch, angle = rng.uniform(0.85, 1.2), rng.uniform(0.0, np.pi)
        a = np.cos(angle) * (y - row) + np.sin(angle) * (x - column)
        b = np.cos(angle) * (x - column) - np.sin(angle) * (y - row)
        body = 0.75 * _disc(a * stretch, b / stretch, rng.uniform(0.075, 0.1), 0.012)[..., None]
        core = _disc(a * stretch, b / stretch, rng.uniform(0.030, 0.042), 0.006)[..., None]
        image = (1.0 - body) * image + body * np.array([0.72, 0.55, 0.78])
        image = (1.0 - core) * image + core * np.array([0.29, 0.19, 0.50])
    return np.asarray(image + rng.normal(0.0, 0.03, image.shape))


def _noisy_shapes() -> Floats:
    """Return flat shapes with strong noise, for denoising."""
    rng = np.random.default_rng(2)
    y, x = _places()
    image = np.empty((*y.shape, 3))
    image[:] = (0.90, 0.88, 0.82)
    image[x + 0.4 * y > 1.15] = (0.30, 0.48, 0.66)
    image[np.abs(x - 0.42) + np.abs(y - 0.48) < 0.30] = (0.80, 0.42, 0.30)
    image[(x - 1.08) ** 2 + (y - 0.60) ** 2 < 0.07] = (0.96, 0.78, 0.30)
    image[(np.abs(x - 0.42) < 0.10) & (np.abs(y - 0.48) < 0.10)] = (0.22, 0.24, 0.30)
    return np.asarray(image + rng.normal(0.0, 0.15, image.shape))


def _nuclei() -> Floats:
    """Return a stack of slices with blurred spheres, as a confocal microscope records it."""
    rng = np.random.default_rng(7)
    y, x = _places()
    y, x = y[:, :HEIGHT], x[:, :HEIGHT]
    centres = [(rng.uniform(0.0, 1.0), *place) for place in _scattered(rng, 30, 0.16)]
    stack = np.full((N_SLICES, HEIGHT, HEIGHT), 0.08)
    for k in range(N_SLICES):
        z = k / (N_SLICES - 1)
        for depth, row, column in centres:
            radius = 0.085**2 - (0.35 * (z - depth)) ** 2
            if radius > 0.0:
                inside = _disc(y - row, x - column, np.sqrt(radius), 0.015)
                stack[k] += inside * (0.3 + 0.25 * np.sin(40.0 * (y + x)) ** 4)
    return np.asarray(rng.poisson(40.0 * stack) / 40.0 + rng.normal(0.0, 0.02, stack.shape))


def _places() -> tuple[Floats, Floats]:
    """Return the row and column coordinates of the pixels, in units of the height."""
    rows, columns = np.mgrid[0:HEIGHT, 0:WIDTH]
    return (rows + 0.5) / HEIGHT, (columns + 0.5) / HEIGHT


def _disc(y: Floats, x: Floats, radius: float, blur: float) -> Floats:
    """Return 1 inside the disc, 0 outside, and a smooth transition."""
    return np.asarray(np.clip((radius - np.hypot(y, x)) / blur + 0.5, 0.0, 1.0))


def _scattered(rng: np.random.Generator, number: int, apart: float) -> list[NDArray[np.float64]]:
    """Return up to `number` random points with a minimum distance."""
    places: list[NDArray[np.float64]] = []
    for _ in range(60 * number):
        place = rng.uniform((0.08, 0.08), (0.92, WIDTH / HEIGHT - 0.08))
        if all(np.hypot(*(place - other)) > apart for other in places):
            places.append(place)
    return places[:number]


STACK = "nuclei (stack)"

SAMPLES: dict[str, Callable[[], Floats]] = {
    "landscape": _landscape,
    "fruit": _fruit,
    "cells": _cells,
    "noisy shapes": _noisy_shapes,
    STACK: _nuclei,
}
"""Names of the samples, in display order, and the functions that compute them."""
