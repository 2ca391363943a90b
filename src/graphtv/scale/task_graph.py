"""Tasks that refer to each other, in one dictionary.

`dask.delayed` merges the graphs of all arguments for each new task. For a round with thousands of
tasks this takes time proportional to the square of their number. Here a task is one more entry of a
dictionary, and the dictionary is culled once, when its tasks are computed.
"""

from __future__ import annotations

import operator
import uuid
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from dask.delayed import Delayed
from dask.highlevelgraph import HighLevelGraph
from dask.optimization import cull


class Ref(NamedTuple):
    """A task of a graph, by its key."""

    key: str
    graph: TaskGraph

    def __getitem__(self, number: Any) -> Any:
        """Return the task that takes one entry of the result."""
        return self.graph.add("getitem", operator.getitem, self, number)

    def delayed(self) -> Delayed:
        """Return the task as an object of Dask."""
        return self.graph.delayed([self])[0]


class TaskGraph:
    """Tasks with names for the dashboard. Arguments may be other tasks or delayed objects."""

    def __init__(self) -> None:
        self._tasks: dict[Any, Any] = {}
        self._merged: dict[int, Any] = {}

    def add(self, name: str, function: Callable[..., Any], *args: Any) -> Ref:
        """Add a task; lists among the arguments may contain tasks."""
        key = f"{name}-{uuid.uuid4().hex}"
        self._tasks[key] = (function, *map(self._referred, args))
        return Ref(key, self)

    def delayed(self, refs: Sequence[Any]) -> list[Any]:
        """Return tasks as objects of Dask that share one graph; other values are unchanged."""
        keys = [ref.key for ref in refs if isinstance(ref, Ref)]
        if not keys:
            return list(refs)
        layer = f"graphtv-{uuid.uuid4().hex}"
        tasks, _ = cull(self._tasks, keys)
        graph = HighLevelGraph({layer: tasks}, {layer: set()})
        return [
            Delayed(ref.key, graph, layer=layer) if isinstance(ref, Ref) else ref for ref in refs
        ]

    def _referred(self, value: Any) -> Any:
        """Return an argument with keys in place of tasks."""
        if isinstance(value, Ref):
            return value.key
        if isinstance(value, Delayed):
            self._merge(value)
            return value.key
        return [self._referred(entry) for entry in value] if isinstance(value, list) else value

    def _merge(self, value: Delayed) -> None:
        """Add the tasks of a delayed object; blocks of an array share their graph."""
        graph = value.__dask_graph__()
        if id(graph) not in self._merged:
            self._merged[id(graph)] = graph
            self._tasks.update(graph)
