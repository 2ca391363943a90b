"""All parts of a problem on the Dask workers, and the task graphs that operate on them.

In memory, parts and their results stay on the workers (with the threaded scheduler, in this
process). With a folder they are files. Only numbers are sent to the client.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from graphtv.objective.proof import Proof
from graphtv.scale import logistic, steps
from graphtv.scale.census import Census
from graphtv.scale.certificate import proof_of
from graphtv.scale.coordinates import Coordinates
from graphtv.scale.layout import Index, Layout, Pair
from graphtv.scale.scheduler import compute, persist
from graphtv.scale.steps import Effort
from graphtv.scale.storage import Folder, Storage
from graphtv.scale.task_graph import TaskGraph
from graphtv.scale.tuning import TUNING
from graphtv.scale.window import Unknown
from graphtv.terms._units import scaled

Handles = dict[Index, Any]


class Parts:
    """The parts of a problem.

    Parameters
    ----------
    problem : Layout
        The problem, which defines its parts.
    storage : Storage
        The storage of the parts.

    Attributes
    ----------
    unknown : Unknown
        The treatment of vertices without data.
    coordinates : Coordinates
        Where the parts are solved.
    """

    def __init__(self, problem: Layout, storage: Storage) -> None:
        self.problem, self.storage = problem, storage
        self.handles: Handles = {}
        self.unknown = Unknown(TUNING.proximal, np.zeros(()), np.zeros(()), problem.loss)
        self.coordinates = Coordinates()
        self.version = 1
        self._strips = problem.strips()
        self._graph = TaskGraph()

    @property
    def n_parts(self) -> int:
        """Number of parts."""
        return len(self.problem.keys)

    @property
    def n_windows(self) -> int:
        """Number of parts and of strips across the borders between them."""
        return self.n_parts + sum(map(len, self._strips))

    # Data ----------------------------------------------------------------------------------------

    def open(self) -> None:
        """Make the parts, with p = 0."""
        kind, delta = self.problem.kind, self.problem.delta
        self._keep(
            {
                index: self._task(steps.open_part, index, kind, list(ingredients), delta)
                for index, ingredients in self.problem.ingredients().items()
            }
        )
        self._change_coordinates()

    def check(self) -> bool:
        """Return whether parts read from a folder belong to the problem."""
        kind, delta = self.problem.kind, self.problem.delta
        return all(
            self._compute(
                [
                    self._task(
                        steps.is_made_of, self.handles[index], kind, list(ingredients), delta
                    )
                    for index, ingredients in self.problem.ingredients().items()
                ]
            )
        )

    def _change_coordinates(self) -> None:
        """Centre and scale the data; set vertices without data to the mean of the others."""
        channel_axes, handles = self.problem.n_channel_axes, self.handles.values()
        tasks = [self._task(steps.take_census, handle, channel_axes) for handle in handles]
        census = Census.joined(self._compute(tasks))
        census.check(self.problem.name)
        loss, plain = self.problem.loss, Coordinates(np.zeros(census.least.shape))
        coordinates = plain
        if loss.is_location:
            coordinates = Coordinates.of(census.least, census.most, census.heaviest)
        if not self._fits(coordinates):
            coordinates = plain
        a, b = coordinates.units
        self.coordinates = coordinates
        ends: tuple[Any, ...] = census.least, census.most
        if loss.name == "logistic":
            ends = tuple(np.full(census.least.shape, end) for end in self._logistic_interval())
        least, most = map(coordinates.point, ends)
        loss = loss.between(float(np.min(least)), float(np.max(most)), a)
        rho = TUNING.proximal * float(scaled(np.float64(census.mean_weight), 2 * a - b))
        self.unknown = Unknown(rho, least, most, loss)
        if census.has_unknown or not coordinates.are_plain or not loss.is_squared:
            filling = coordinates.point(np.asarray(census.total / census.known))
            self._keep(
                {
                    index: self._task(
                        steps.change_coordinates, handle, index, coordinates, filling, loss
                    )
                    for index, handle in self.handles.items()
                }
            )

    def _fits(self, coordinates: Coordinates) -> bool:
        """Return whether all numbers of the parts are exact in these coordinates."""
        return coordinates.are_plain or all(
            self._compute([self._task(steps.fits, h, coordinates) for h in self.handles.values()])
        )

    def _logistic_interval(self) -> tuple[float, float]:
        """Return an interval that contains a solution, from the components of the whole graph."""
        pieces = [self._task(logistic.take_components, h) for h in self.handles.values()]
        pairs = [
            self._task(logistic.joined_components, pieces[low], at_low, pieces[high], at_high)
            for low, high, at_low, at_high in self.problem.borders()
        ]
        found = self._compute([*(self._task(logistic.without_border, p) for p in pieces), *pairs])
        return logistic.interval(
            found[: len(pieces)],
            list(zip(self.problem.borders(), found[len(pieces) :], strict=True)),
            self.problem.delta,
        )

    # Points --------------------------------------------------------------------------------------

    def start_from(self, coarse: Parts) -> None:
        """Start from the solution of a coarser problem of the same kind."""
        version = self._next_version()
        self._keep(
            {
                index: self._task(steps.prolong, self.handles[index], index, version, *args)
                for index, args in self.problem.starts(coarse).items()
            }
        )

    def start_from_clusters(self, tolerance: float, deadline: float | None) -> None:
        """Start from the flows of the problem for functions that are constant on clusters."""
        levels, size = TUNING.cluster_levels, self.problem.n_entries >> 2 * TUNING.cluster_levels
        while size > TUNING.most_pieces:
            levels, size = levels + 1, size >> 2
        loss = self.unknown.loss
        reduced = [
            self._task(steps.reduce_to_clusters, h, levels, loss) for h in self.handles.values()
        ]
        coarse = self._solve_reduced(reduced, tolerance, deadline)
        version, borders = self._next_version(), self.problem.borders()
        places: list[dict[int, int]] = [{} for _ in self.handles]
        for border, (low, high, at_low, at_high) in enumerate(borders):
            places[low][at_low] = places[high][at_high] = border
        started = {
            index: self._task(steps.start_flows, handle, index, version, mine, coarse, loss)
            for mine, (index, handle) in zip(places, self.handles.items(), strict=True)
        }
        self._keep(started)

    def relax(self, effort: Effort) -> tuple[Proof, Proof]:
        """Solve all windows once, parts first, then the reduced problem.

        Return what is proved of the points as returned, and before they are rounded around an
        offset, both in the coordinates of the parts.
        """
        version = self._next_version()
        handles = {
            index: self._task(steps.relax_part, handle, index, version, effort)
            for index, handle in self.handles.items()
        }
        for strips in self._strips:
            handles = self._relax_strips(handles, strips, effort)
        candidates = [handles]
        if self.n_parts > 1 and self.problem.delta == 0.0:
            improved = self._improve(handles, effort)
            candidates = [improved]
            if not self.unknown.loss.is_squared:
                candidates = [improved, handles, self._reverted(handles)]
        return self._best(candidates)

    def _reverted(self, handles: Handles) -> Handles:
        """Return the new flows with u of the last round.

        Proximal terms may make u worse. But the anchor of these terms is u, and has to move: the
        old u is kept only if the gap becomes much smaller.
        """
        version = self._next_version()
        return {
            index: self._task(steps.with_u_of, handle, index, version, self.handles[index])
            for index, handle in handles.items()
        }

    def _best(self, candidates: list[Handles]) -> tuple[Proof, Proof]:
        """Compute points, keep those with the smallest gap, and return what is proved of them."""
        numbered = {
            (number, *index): handle
            for number, handles in enumerate(candidates)
            for index, handle in handles.items()
        }
        shares = self._keep(numbered, [s for handles in candidates for s in self._shares(handles)])
        kept, count, found = self.handles, self.n_parts, []
        for number in range(len(candidates)):
            returned, unrounded = zip(*shares[number * count : (number + 1) * count], strict=True)
            found.append((proof_of(returned), proof_of(unrounded)))
        handicap = [1.0, 1.0, TUNING.handicap]
        best = min(range(len(found)), key=lambda k: handicap[k] * found[k][1].gap)
        self.handles = {index[1:]: kept[index] for index in kept if index[0] == best}
        return found[best]

    def _relax_strips(self, handles: Handles, strips: list[Pair], effort: Effort) -> Handles:
        received: dict[Index, tuple[list[Any], list[Any]]] = {}
        for low, high, at_low, at_high in strips:
            sides = (
                self._task(steps.take, handles[low], at_low),
                self._task(steps.take, handles[high], at_high),
            )
            found = self._task(steps.relax_strip, *sides, effort)
            for index, at, piece in ((low, at_low, found[0]), (high, at_high, found[1])):
                places, pieces = received.setdefault(index, ([], []))
                places.append(at)
                pieces.append(piece)
        version = self._next_version()
        return handles | {
            i: self._task(steps.paste, handles[i], i, version, *pieces)
            for i, pieces in received.items()
        }

    def _improve(self, handles: Handles, effort: Effort) -> Handles:
        """Replace u by the solution of the problem for functions constant on the pieces of u."""
        flat = TUNING.flat * float(np.max(self.unknown.most - self.unknown.least))
        most, loss = TUNING.most_pieces // self.n_parts, self.unknown.loss
        reduced = [
            self._task(steps.reduce_to_pieces, h, flat, most, loss) for h in handles.values()
        ]
        coarse = self._solve_reduced(reduced, effort.tolerance, effort.deadline)
        version = self._next_version()
        return {
            index: self._task(steps.use_values, handle, index, version, number, coarse, flat, loss)
            for number, (index, handle) in enumerate(handles.items())
        }

    def _solve_reduced(self, reduced: list[Any], tolerance: float, deadline: float | None) -> Any:
        problem, delta = self.problem, float(scaled(self.problem.delta, -self.coordinates.units[1]))
        return self._task(
            steps.solve_reduced,
            reduced,
            problem.borders(),
            problem.n_entries,
            delta,
            tolerance,
            deadline,
        )

    def _shares(self, handles: Handles) -> list[Any]:
        shares = []
        for index, handle in handles.items():
            beyond = [
                None
                if place is None
                else self._task(steps.border_values, handles[place[0]], place[1])
                for place in self.problem.beyond(index)
            ]
            shares.append(self._task(steps.certify, handle, beyond, self.unknown, self.coordinates))
        return shares

    # Dask ----------------------------------------------------------------------------------------

    def task(self, step: Callable[..., Any], index: Index, *args: Any) -> Any:
        """Return a task on a part, as a delayed object."""
        self._graph = TaskGraph()
        return self._task(step, self.handles[index], *args).delayed()

    def _task(self, step: Callable[..., Any], *args: Any) -> Any:
        """Add a task, named for the dashboard."""
        name = step.__name__.replace("_", "-")
        return self._graph.add(name, steps.run, step, self.storage, *args)

    def _compute(self, tasks: Sequence[Any]) -> Sequence[Any]:
        """Return the values of tasks."""
        graph, self._graph = self._graph, TaskGraph()
        return compute(graph.delayed(tasks))

    def _keep(self, handles: Handles, others: Sequence[Any] = ()) -> Sequence[Any]:
        """Compute tasks on the workers; keep the tiles there and return the other values."""
        keep = compute if isinstance(self.storage, Folder) else persist
        graph, self._graph = self._graph, TaskGraph()
        found = keep(graph.delayed([*handles.values(), *others]))
        self.handles = dict(zip(handles, found[: len(handles)], strict=True))
        numbers = found[len(handles) :]
        # Errors of the tasks are raised here.
        return compute(numbers) if numbers else ()

    def _next_version(self) -> int:
        self.version += 1
        return self.version
