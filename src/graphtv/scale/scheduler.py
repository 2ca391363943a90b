"""The scheduler that Dask has been told to use, and an end to waiting for workers that rest.

A worker of `dask.distributed` is paused when it comes near its limit of memory, and goes on when
memory has been given back. Where all of them are paused there is nobody to give it back: Dask would
wait for ever.
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
    """Return tasks whose values are where they were computed."""
    client, kept = _client(), dask.persist(*tasks, optimize_graph=False)
    if client is not None:
        from distributed import futures_of

        _wait(client, futures_of(list(kept)))
    return tuple(kept)


def _client() -> Any:
    """Return the client of `dask.distributed` that would be used, None if it is another way."""
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
                f"all workers of Dask have been paused for {now - paused_since:.0f} s, as they are"
                " near their limits of memory: give them more, or take smaller chunks"
            )
