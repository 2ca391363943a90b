"""Interactive segmentation on the ICG benchmark: overlap with the truth, iterations, seconds.

    python benchmarks/segmentation.py [--quick] [--images image_0001 …] [--preconditioners none …]

The images, scribbles and true labels (Santner, Pock, Bischof, "Interactive multi-label
segmentation", ACCV 2010) are read from the folder icgbench in GRAPHTV_DATA. Without it, and with
--quick, a generated image is used. The script prints three tables for the default parameters
(`graphtv paper table3` uses the paper's settings):

- Dice's coefficient of every label, 2|A ∩ B| / (|A| + |B|), and their mean.
- Iterations to a relative gap of 5e-4 with each preconditioner under the paper's scheme (Algorithm
  2 of Chambolle and Pock, γ = ε), and with `auto`. `-` means that the gap was not reached.
- Processor seconds of the parts of `segment_image` with `auto`, on one thread, and the iterations
  from an earlier result when half the scribbles of one class are added.
"""

from __future__ import annotations

import argparse
import math
import os
import time
from pathlib import Path

import numpy as np

from graphtv import PDHG, EntropicSimplex, Problem, _core, segment, segment_image
from graphtv.applications.imaging import image_segmentation
from graphtv.decomposition.preconditioner import as_preconditioner
from graphtv.objective.proof import relative_gap
from graphtv.paper.photographs import Photograph, icg_names, read_icg
from graphtv.solver.pdhg import Pdhg

PRECONDITIONERS = ("none", "diagonal", "chains", "linear", "nested")
TABLES = ("dice", "iterations", "seconds")
TOLERANCE = 5e-4


def data_folder() -> Path | None:
    """Return the folder of the benchmark, if it exists."""
    folder = Path(os.environ.get("GRAPHTV_DATA", "nowhere"))
    return folder if (folder / "icgbench").is_dir() else None


def made_up(side: int) -> Photograph:
    """Return noisy stripes in four colours, with a short scribble each."""
    rng = np.random.default_rng(0)
    truth = 1 + (np.arange(side)[:, None] * 2 // side) + 2 * (np.arange(side)[None, :] * 2 // side)
    colours = np.array([[0.8, 0.2, 0.2], [0.2, 0.8, 0.2], [0.2, 0.2, 0.8], [0.7, 0.7, 0.2]])
    image = np.clip(colours[truth - 1] + rng.normal(0.0, 0.2, (side, side, 3)), 0.0, 1.0)
    scribbles = np.zeros_like(truth)
    for row in (side // 4, 3 * side // 4):
        for start in (side // 8, 5 * side // 8):
            scribbles[row, start : start + side // 4] = truth[row, start]
    return Photograph("made up", image, scribbles, truth)


def dice(labels: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Return the overlap of each class."""
    classes = range(1, truth.max() + 1)
    return np.array(
        [
            2.0 * ((labels == c) & (truth == c)).sum() / ((labels == c).sum() + (truth == c).sum())
            for c in classes
        ]
    )


def recorded(instance: Photograph) -> dict:
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

    scribble_cost = image_segmentation.scribble_cost
    image_segmentation.scribble_cost, image_segmentation.segment = costing, solving
    try:
        start = time.process_time()
        found["labels"], found["result"] = segment_image(
            instance.image, instance.scribbles, n_threads=1, return_result=True
        )
        found["total"] = time.process_time() - start
    finally:
        image_segmentation.scribble_cost, image_segmentation.segment = scribble_cost, segment
    return found


def iterations(found: dict, preconditioner: str, scheme: str, limit: int) -> str:
    """Return the iterations to the tolerance."""
    problem = Problem(found["graph"], EntropicSimplex(found["cost"], found["epsilon"]))
    watch = _core.Watch(math.inf)
    made = as_preconditioner(preconditioner, problem.graph)
    stage = Pdhg(problem, made, watch, 1, None, PDHG(scheme=scheme))
    while stage.iterations < limit:
        stage.advance(limit - stage.iterations)
        is_look = stage.iterations % (stage.iterations // 50 + 1) == 0
        if is_look and relative_gap(*stage.evaluate()) <= TOLERANCE:
            return str(stage.iterations)
    return "-"


def warm_iterations(instance: Photograph) -> tuple[int, int]:
    """Return the iterations with all scribbles, warm (without half of class 1) and cold."""
    scribbles = instance.scribbles.copy()
    marked = np.flatnonzero(scribbles.ravel() == 1)
    scribbles.ravel()[marked[: len(marked) // 2]] = 0
    options = {"n_threads": 1, "return_result": True}
    _, start = segment_image(instance.image, scribbles, **options)
    _, warm = segment_image(instance.image, instance.scribbles, warm_start=start, **options)
    _, cold = segment_image(instance.image, instance.scribbles, **options)
    return warm.iterations, cold.iterations


def print_iterations(instances: list, problems: list, columns: list, limit: int) -> None:
    """Print the table of iterations, cell by cell."""
    print(f"\n{'iterations':>12}" + "".join(f"{heading:>12}" for heading, *_ in columns))
    for instance, found in zip(instances, problems, strict=True):
        print(f"{instance.name:>12}", end="", flush=True)
        for _, preconditioner, scheme in columns:
            print(f"{iterations(found, preconditioner, scheme, limit):>12}", end="", flush=True)
        print()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a small generated image only")
    parser.add_argument("--images", nargs="*", help="names of images (default: all)")
    parser.add_argument("--preconditioners", nargs="*", default=list(PRECONDITIONERS))
    parser.add_argument("--max-iterations", type=int, default=1000)
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=list(TABLES))
    arguments = parser.parse_args()
    folder = None if arguments.quick else data_folder()
    if folder is None:
        instances = [made_up(32 if arguments.quick else 256)]
    else:
        names = arguments.images or icg_names(folder)
        instances = [read_icg(folder, name) for name in names]
    runs = [recorded(instance) for instance in instances]
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
        print_iterations(instances, runs, columns, arguments.max_iterations)
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
