"""Learn weights for denoising: one number, and one per pixel by a small network.

    python docs/gallery/learned_weights.py [picture.png]

Needs PyTorch, scikit-image (for its photographs) and matplotlib. It takes about two minutes.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import torch
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from skimage import color, data

from graphtv.torch import TVDenoise

NOISE = 0.1


class LocalWeights(torch.nn.Module):
    """A network that predicts the weight of each pixel from the noisy image."""

    def __init__(self) -> None:
        super().__init__()
        self.features = torch.nn.Sequential(
            torch.nn.Conv2d(1, 16, 5, padding=2),
            torch.nn.ReLU(),
            torch.nn.Conv2d(16, 16, 5, padding=2),
            torch.nn.ReLU(),
            torch.nn.Conv2d(16, 1, 3, padding=1),
        )
        self.denoise = TVDenoise(2, weight=NOISE, learnable=False)

    def weights(self, noisy: torch.Tensor) -> torch.Tensor:
        """Return positive weights."""
        return 0.1 * torch.exp(self.features(noisy))

    def forward(self, noisy: torch.Tensor) -> torch.Tensor:
        """Return the denoised images."""
        return self.denoise(noisy, self.weights(noisy))


def crops(photographs: list[np.ndarray], count: int, size: int, rng: np.random.Generator):
    """Return random crops with and without noise."""
    truth = np.empty((count, 1, size, size), dtype=np.float32)
    for crop in truth:
        photograph = photographs[rng.integers(len(photographs))]
        top, left = (rng.integers(length - size) for length in photograph.shape)
        crop[0] = photograph[top : top + size, left : left + size]
    noisy = truth + NOISE * rng.standard_normal(truth.shape).astype(np.float32)
    return torch.from_numpy(noisy), torch.from_numpy(truth)


def train(model: torch.nn.Module, photographs: list[np.ndarray], steps: int, size: int) -> None:
    """Minimise the squared error on random crops."""
    rng = np.random.default_rng(0)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for _ in range(steps):
        noisy, truth = crops(photographs, 8, size, rng)
        optimizer.zero_grad()
        torch.mean((model(noisy) - truth) ** 2).backward()
        optimizer.step()


def psnr(image: torch.Tensor, truth: torch.Tensor) -> float:
    """Return the peak signal-to-noise ratio in decibels."""
    return -10.0 * float(torch.log10(torch.mean((image - truth) ** 2)))


def main(output: Path, steps: int = 400, size: int = 48, test_size: int = 192) -> None:
    """Save the picture to `output`."""
    torch.manual_seed(0)
    photographs = [color.rgb2gray(image) for image in (data.astronaut(), data.coffee(), data.cat())]
    one, local = TVDenoise(2, weight=NOISE), LocalWeights()
    for model in (one, local):
        train(model, photographs, steps, size)
    held_out = data.camera()[60 : 60 + test_size, 160 : 160 + test_size] / 255.0
    noisy, truth = crops(
        [np.pad(held_out, ((0, 1), (0, 1)))], 1, test_size, np.random.default_rng(1)
    )
    with torch.no_grad():
        pictures = {
            "noisy": noisy,
            f"one weight, {one.weight.item():.2f}": one(noisy),
            "weights per pixel": local(noisy),
        }
        pictures = {f"{k}: {psnr(u, truth):.1f} dB": u for k, u in pictures.items()}
        predicted = local.weights(noisy)
    figure = Figure(figsize=(10.4, 3.0), layout="constrained")
    panels = figure.subplots(1, 4)
    for axes, (title, picture) in zip(panels, pictures.items(), strict=False):
        axes.imshow(picture[0, 0].numpy(), cmap="gray", vmin=0, vmax=1, interpolation="nearest")
        axes.set_title(title, fontsize=10)
    shown = panels[3].imshow(predicted[0, 0].numpy(), cmap="magma", vmin=0, interpolation="nearest")
    panels[3].set_title("the predicted weights", fontsize=10)
    figure.colorbar(shown, ax=panels[3], shrink=0.8)
    for axes in panels:
        axes.set_axis_off()
    FigureCanvasAgg(figure)
    figure.savefig(output, dpi=70)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "learned_weights.png"))
