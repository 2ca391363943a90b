"""Interactive segmentation on the ICG benchmark: overlap with the truth, iterations, seconds.

    python benchmarks/segmentation.py [--quick] [--images image_0001 …] [--preconditioners none …]

The images, scribbles and true labels (Santner, Pock, Bischof, "Interactive multi-label
segmentation", ACCV 2010) are read from the folder icgbench below GRAPHTV_DATA; without it, and with
--quick, a made-up image takes their place. Four tables, all but one with the default parameters:

- Dice's coefficient of every label, 2|A ∩ B| / (|A| + |B|), and their mean.
- Iterations to a relative gap of 5e-4 with each preconditioner under the paper's scheme
  (Algorithm 2 of Chambolle and Pock, γ = ε), and as `auto` would have it. `-` is out of reach.
- The same in the paper's setting as far as it can be told: ε = 1, ρ = -log P_c, the density itself,
  borders not weighted otherwise than by exp(-0.1‖I_i - I_j‖²) with I on 0…1. The paper does not say
  relative to what it measures the gap: the first number is for the objective, the second for the
  gap of u = 1/C, p = 0.
- Processor seconds of the parts of `segment_image` with `auto`, on one thread, and the iterations
  from an earlier result when half the scribbles of one class are added.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

from graphtv import PDHG, EntropicSimplex, Problem, _core, grid_graph, segment, segment_image
from graphtv.applications import scribbles, segmentation
from graphtv.solver.factory import make_engine
from graphtv.solver.plan import choose

PRECONDITIONERS = ("none", "diagonal", "chains", "linear", "nested")
TABLES = ("dice", "iterations", "paper", "seconds")
TOLERANCE = 5e-4


class Instance(NamedTuple):
    """An image with scribbles and its true labels, both from 1."""

    name: str
    image: np.ndarray
    scribbles: np.ndarray
    truth: np.ndarray


def read_icg(folder: Path, name: str) -> Instance:
    """Read an image of the benchmark; seeds and labels are runs of (value, length), row by row."""
    from skimage.io import imread

    path = next((folder / "gt").glob(f"{name}*.gt"))
    text = path.read_text(errors="replace")

    def entry(key: str, pattern: str) -> str:
        return re.search(rf"^{key}:\s*({pattern})", text, re.MULTILINE)[1]

    def runs(key: str) -> np.ndarray:
        value, length = np.array(entry(key, r"[\d\s]+").split(), int).reshape(-1, 2).T
        return np.repeat(value, length).reshape(int(entry("HEIGHT", r"\d+")), -1)

    image = imread(folder / "images" / entry("IMAGE", r"\S+"))
    return Instance(name, image, runs("SEEDS"), runs("LABELS") + 1)


def icg_names(folder: Path) -> list[str]:
    """Return the names of the benchmark's images."""
    return sorted(path.stem.rsplit("_", 1)[0] for path in (folder / "gt").glob("*.gt"))


def icg_folder() -> Path | None:
    """Return where the benchmark is, if it is there."""
    folder = Path(os.environ.get("GRAPHTV_DATA", "nowhere")) / "icgbench"
    return folder if folder.is_dir() else None


def made_up(side: int) -> Instance:
    """Return noisy stripes in four colours, with a short scribble each."""
    rng = np.random.default_rng(0)
    truth = 1 + (np.arange(side)[:, None] * 2 // side) + 2 * (np.arange(side)[None, :] * 2 // side)
    colours = np.array([[0.8, 0.2, 0.2], [0.2, 0.8, 0.2], [0.2, 0.2, 0.8], [0.7, 0.7, 0.2]])
    image = np.clip(colours[truth - 1] + rng.normal(0.0, 0.2, (side, side, 3)), 0.0, 1.0)
    scribbles = np.zeros_like(truth)
    for row in (side // 4, 3 * side // 4):
        for start in (side // 8, 5 * side // 8):
            scribbles[row, start : start + side // 4] = truth[row, start]
    return Instance("made up", image, scribbles, truth)


def dice(labels: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Return the overlap of each class."""
    classes = range(1, truth.max() + 1)
    return np.array(
        [
            2.0 * ((labels == c) & (truth == c)).sum() / ((labels == c).sum() + (truth == c).sum())
            for c in classes
        ]
    )


def recorded(instance: Instance) -> dict:
    """Return the graph, cost, ε and seconds of the parts of one call of `segment_image`."""
    found: dict = {}

    def costing(colours, scribbles, sigma_color, spread):
        start = time.process_time()
        cost = scribble_cost(colours, scribbles, sigma_color, spread)
        found["density"] = time.process_time() - start
        return cost

    def solving(graph, cost, *, epsilon, **options):
        start = time.process_time()
        result = segment(graph, cost, epsilon=epsilon, **options)
        found.update(graph=graph, cost=cost, epsilon=epsilon, solve=time.process_time() - start)
        return result

    scribble_cost = segmentation.scribble_cost
    segmentation.scribble_cost, segmentation.segment = costing, solving
    try:
        start = time.process_time()
        found["labels"], found["result"] = segment_image(
            instance.image, instance.scribbles, n_threads=1, return_result=True
        )
        found["total"] = time.process_time() - start
    finally:
        segmentation.scribble_cost, segmentation.segment = scribble_cost, segment
    return found


def papers_problem(instance: Instance) -> dict:
    """Return graph, cost and ε as the paper has them, where it says."""
    image, marks = instance.image.astype(float), instance.scribbles
    image /= max(image.max(), 1.0)
    squares = [(np.diff(image, axis=axis) ** 2).sum(axis=-1) for axis in (0, 1)]
    sigma = 0.25 * np.sqrt(image.var(axis=(0, 1)).sum())
    shades = (image.reshape(marks.size, -1) / sigma).astype(np.float32)
    places = np.argwhere(np.ones(marks.shape, bool)).astype(np.float32)
    places -= places[-1] / 2
    logs = [scribbles._log_density(shades, places, marks == c + 1, 3.0) for c in range(marks.max())]
    constant = 3.0 * math.log(255.0 * sigma) + 2.5 * math.log(2.0 * math.pi)  # of kernels on 0…255
    graph = grid_graph(marks.shape, [np.exp(-0.1 * square) for square in squares])
    return {"graph": graph, "cost": constant - np.stack(logs, axis=1), "epsilon": 1.0}


def iterations(
    found: dict, preconditioner: str, scheme: str, limit: int, n_measures: int
) -> list[str]:
    """Return the iterations to the tolerance, of the objective and of the gap of u = 1/C, p = 0."""
    problem = Problem(found["graph"], EntropicSimplex(found["cost"], found["epsilon"]))
    watch = _core.Watch(math.inf)
    plan = choose(problem, PDHG(scheme=scheme), preconditioner, TOLERANCE, watch)
    engine = make_engine(problem, plan, TOLERANCE, watch, 1, None)
    needed = ["-"] * n_measures
    even = np.full(problem.shape, 1.0 / problem.shape[1])
    first = problem.primal(even) - problem.dual(np.zeros(problem.dual_shape))
    while "-" in needed and engine.iterations < limit:
        engine.advance(limit - engine.iterations)
        if engine.iterations % (engine.iterations // 50 + 1) == 0:
            primal, dual = engine.evaluate()
            for k, scale in enumerate((max(abs(primal), abs(dual)), first)[:n_measures]):
                if needed[k] == "-" and primal - dual <= TOLERANCE * scale:
                    needed[k] = str(engine.iterations)
    return needed


def warm_iterations(instance: Instance) -> tuple[int, int]:
    """Return the iterations for all scribbles, from those without half of class 1, and anew."""
    scribbles = instance.scribbles.copy()
    marked = np.flatnonzero(scribbles.ravel() == 1)
    scribbles.ravel()[marked[: len(marked) // 2]] = 0
    options = {"n_threads": 1, "return_result": True}
    _, start = segment_image(instance.image, scribbles, **options)
    _, warm = segment_image(instance.image, instance.scribbles, warm_start=start, **options)
    _, cold = segment_image(instance.image, instance.scribbles, **options)
    return warm.iterations, cold.iterations


def print_iterations(
    title: str, instances: list, problems: list, columns: list, limit: int, n_measures: int
) -> None:
    """Print one table of iterations, cell by cell."""
    print(f"\n{title:>12}" + "".join(f"{heading:>12}" for heading, *_ in columns))
    for instance, found in zip(instances, problems, strict=True):
        print(f"{instance.name:>12}", end="", flush=True)
        for _, preconditioner, scheme in columns:
            cell = " / ".join(iterations(found, preconditioner, scheme, limit, n_measures))
            print(f"{cell:>12}", end="", flush=True)
        print()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a small made-up image only")
    parser.add_argument("--images", nargs="*", help="names; all by default")
    parser.add_argument("--preconditioners", nargs="*", default=list(PRECONDITIONERS))
    parser.add_argument("--max-iterations", type=int, default=1000)
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=list(TABLES))
    arguments = parser.parse_args()
    folder = None if arguments.quick else icg_folder()
    if folder is None:
        instances = [made_up(32 if arguments.quick else 256)]
    else:
        names = arguments.images or icg_names(folder)
        instances = [read_icg(folder, name) for name in names]
    is_default = any(table != "paper" for table in arguments.tables)
    runs = [recorded(instance) for instance in instances] if is_default else []
    if "dice" in arguments.tables:
        print(f"{'image':>12} {'mean':>6}  Dice of each label")
        means = []
        for instance, found in zip(instances, runs, strict=True):
            overlap = dice(found["labels"], instance.truth)
            means.append(overlap.mean())
            print(
                f"{instance.name:>12} {means[-1]:>6.3f}  {'  '.join(f'{d:.3f}' for d in overlap)}"
            )
        print(f"{'mean':>12} {np.mean(means):>6.3f}", flush=True)
    columns = [(name, name, "accelerated") for name in arguments.preconditioners]
    columns.append(("auto", "auto", "auto"))
    if "iterations" in arguments.tables:
        print_iterations("default", instances, runs, columns, arguments.max_iterations, 1)
    if "paper" in arguments.tables:
        problems = [papers_problem(instance) for instance in instances]
        print_iterations("paper", instances, problems, columns, arguments.max_iterations, 2)
    if "seconds" in arguments.tables:
        print(f"\n{'image':>12}{'classes':>8}{'density':>9}{'solve':>7}{'total':>7}  warm / cold")
        for instance, found in zip(instances, runs, strict=True):
            warm, cold = warm_iterations(instance)
            print(
                f"{instance.name:>12}{found['cost'].shape[1]:>8}{found['density']:>9.2f}"
                f"{found['solve']:>7.2f}{found['total']:>7.2f}  {warm} / {cold} iterations",
                flush=True,
            )


if __name__ == "__main__":
    main()
