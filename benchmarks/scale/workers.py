"""One and two worker processes; a grid larger than their memory, from zarr to zarr."""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
from dask.distributed import Client

sys.path.insert(0, str(Path(__file__).parents[1]))
from graphtv import denoise_tv
from process_memory import peak, reset_peak
from scale.turns import header, make_image, row


def one_and_two(quick: bool) -> None:
    """Print time, the work of the busier worker and memory, for one and for two workers."""
    side, length = (128, 64) if quick else (1024, 256)
    header(
        f"{side}² in chunks of {length}², to 1e-6", "workers", "seconds on the wall",
        "processor seconds of the busiest worker", "its peak in MB", "above the idle worker's",
        "state per worker",
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        store = str(Path(folder, "image.zarr"))
        da.from_array(make_image((side, side)), chunks=length).to_zarr(store)
        for n_workers in (1, 2):
            with cluster(n_workers, None) as client:
                denoise_tv(da.from_zarr(store)[:64, :64], 0.1)  # memory that the first call loads
                before = client.run(measure)
                wall, result = timed(da.from_zarr(store))
                used = difference(client, before)
                assert result.status == "optimal", result
            state = 8 * (1 + 1 + 2) * side**2 / n_workers
            row(
                n_workers, f"{wall:.2f}", f"{max(u[0] for u in used):.2f}",
                f"{max(u[1] for u in used) / 1e6:.0f}", f"{max(u[2] for u in used) / 1e6:.0f}",
                f"{state / 1e6:.0f}",
            )  # fmt: skip


def larger_than_memory(quick: bool) -> None:
    """Print the memory of a grid whose state is several times the limit of the workers."""
    side, length, limit = (256, 64, 400_000_000) if quick else (6144, 512, 400_000_000)
    header(
        f"{side}² of float32 from zarr to zarr, tiles in files, to 1e-3",
        "limit of the worker in MB", "its peak", "state in files", "in memory it would take",
        "rounds", "seconds on the wall", "processor time, µs per pixel",
    )  # fmt: skip
    folder = Path(tempfile.mkdtemp())
    try:
        source, target = str(folder / "noisy.zarr"), str(folder / "clean.zarr")
        with cluster(1, limit) as client:
            make(side, length).to_zarr(source)
            before = client.run(measure)
            start = time.perf_counter()
            clean, result = denoise_tv(
                da.from_zarr(source), 0.1, tol=1e-3, checkpoint=folder / "run", return_result=True
            )
            state = sum(p.stat().st_size for p in (folder / "run").rglob("*.npy"))
            clean.to_zarr(target)
            wall = time.perf_counter() - start
            ((processor, most, _),) = difference(client, before)
            assert result.status == "optimal", result
        row(
            f"{limit / 1e6:.0f}", f"{most / 1e6:.0f}", f"{state / 1e6:.0f}",
            f"{8 * (12 + 2 * 3 + 2 * 2) * side**2 / 1e6:.0f}", result.iterations, f"{wall:.1f}",
            f"{1e6 * processor / side**2:.2f}",
        )  # fmt: skip
    finally:
        shutil.rmtree(folder)


def make(side: int, length: int) -> Any:
    """Return discs with noise, generated chunk by chunk."""

    def block(block_info: Any = None) -> Any:
        (i0, i1), (j0, j1) = block_info[None]["array-location"]
        i, j = np.ogrid[i0:i1, j0:j1]
        discs = (i % 700 - 350) ** 2 + (j % 900 - 450) ** 2 < 300**2
        rng = np.random.default_rng([i0, j0])
        return (discs + rng.normal(0, 0.2, discs.shape)).astype(np.float32)

    chunks = da.core.normalize_chunks(length, (side, side))
    return da.map_blocks(block, chunks=chunks, dtype=np.float32, meta=np.empty((0, 0), np.float32))


def cluster(n_workers: int, limit: int | None) -> Client:
    """Return a client of workers of one thread."""
    return Client(
        n_workers=n_workers, threads_per_worker=1, memory_limit=limit or 0, dashboard_address=":0"
    )


def timed(image: Any) -> tuple[float, Any]:
    start = time.perf_counter()
    _, result = denoise_tv(image, 0.1, tol=1e-6, return_result=True)
    return time.perf_counter() - start, result


def measure() -> tuple[float, int, int]:
    """Return the processor time, the peak memory and the current memory of a worker."""
    highest = peak()
    return time.process_time(), highest, reset_peak()


def difference(client: Client, before: dict[str, tuple[float, int, int]]) -> list[Any]:
    """Return processor time, peak, and the increase of the peak, by worker."""
    after = client.run(measure)
    return [
        (after[name][0] - time_, after[name][1], after[name][1] - present)
        for name, (time_, _, present) in before.items()
    ]
