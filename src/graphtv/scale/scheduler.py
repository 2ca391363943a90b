"""Compute with the configured Dask scheduler, and detect that all workers are paused.

`dask.distributed` pauses a worker when it approaches its memory limit, and continues when memory
has been freed. If all workers are paused, no memory is freed, and Dask would wait forever.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import dask
from dask.base import get_scheduler

POLL_INTERVAL = 5.0
"""Seconds between two checks of the workers."""

PAUSE_LIMIT = 60.0
"""Seconds for which all workers may be paused before an error is raised."""


class WorkersPausedError(RuntimeError):
    """All workers have been paused for too long."""


def compute(tasks: Sequence[Any]) -> tuple[Any, ...]:
    """Return the values of tasks."""
    client = _client()
    if client is None:
        return tuple(dask.compute(*tasks))
    futures = client.compute(list(tasks))
    _wait(client, futures)
    return tuple(client.gather(futures))


def persist(tasks: Sequence[Any]) -> tuple[Any, ...]:
    """Compute tasks and keep their values on the workers."""
    client, kept = _client(), dask.persist(*tasks, optimize_graph=False)
    if client is not None:
        from distributed import futures_of

        _wait(client, futures_of(list(kept)))
    return tuple(kept)


def _client() -> Any:
    """Return the active client of `dask.distributed`, or None with another scheduler."""
    client = getattr(get_scheduler(), "__self__", None)
    return client if hasattr(client, "scheduler_info") else None


def _wait(client: Any, futures: list[Any]) -> None:
    from distributed import wait

    paused_since = None
    while True:
        try:
            wait(futures, timeout=POLL_INTERVAL)
            return
        except TimeoutError:
            workers = client.scheduler_info(n_workers=-1)["workers"].values()
            states = [worker.get("status") for worker in workers]
        now = time.monotonic()
        is_stuck = bool(states) and all(state == "paused" for state in states)
        paused_since = (paused_since or now) if is_stuck else None
        if paused_since is not None and now - paused_since >= PAUSE_LIMIT:
            raise WorkersPausedError(
                f"all Dask workers have been paused for {now - paused_since:.0f} s, because they"
                " are near their memory limits: increase the limits or use smaller chunks"
            )
