"""Requests of the page by WebSocket: JSON messages, validated before use."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

from graphtv.app.denoiser import Job
from graphtv.app.downloads import colours
from graphtv.app.limits import LARGEST_BRUSH, LONGEST_NAME, MOST_CLASSES
from graphtv.app.names import printable
from graphtv.app.samples import SAMPLES
from graphtv.app.strokes import Stroke
from graphtv.decomposition.preconditioner import NAMES
from graphtv.io.palette import Colour

PRECONDITIONERS = ("auto", *(name for name in NAMES if name != "auto"))

MOST_POINTS_AT_ONCE = 4096

HEAVIEST = 1e12
"""Largest weight. Data types without a white level can have any scale."""


@dataclass(frozen=True)
class UseSample:
    """Use a sample as the image."""

    name: str


@dataclass(frozen=True)
class Paint:
    """Add a stroke, or continue the last one."""

    stroke: Stroke
    continues: bool


@dataclass(frozen=True)
class Undo:
    """Remove the last stroke."""


@dataclass(frozen=True)
class Clear:
    """Remove all strokes."""


@dataclass(frozen=True)
class Redo:
    """Repeat what was undone."""


@dataclass(frozen=True)
class UseSlice:
    """Show another slice of the stack."""

    index: int


@dataclass(frozen=True)
class NameClasses:
    """Set the names and the colours of the classes."""

    names: tuple[str, ...]
    colours: tuple[Colour, ...]


@dataclass(frozen=True)
class RemoveClass:
    """Remove a class and its strokes; later classes are renumbered."""

    number: int


@dataclass(frozen=True)
class Segment:
    """Show the segmentation with these settings."""

    weight: float
    preconditioner: str


@dataclass(frozen=True)
class Denoise:
    """Show the denoised image with these settings; a weight of None is chosen automatically."""

    job: Job


@dataclass(frozen=True)
class Finish:
    """Denoise the whole image in full size with these settings."""

    job: Job


@dataclass(frozen=True)
class Cancel:
    """Stop the full-size run."""


@dataclass(frozen=True)
class StartRace:
    """Race the preconditioners on the problem that is shown."""


@dataclass(frozen=True)
class StopRace:
    """Stop the race."""


Request = (
    UseSample
    | UseSlice
    | Paint
    | Undo
    | Redo
    | Clear
    | NameClasses
    | RemoveClass
    | Segment
    | Denoise
    | Finish
    | Cancel
    | StartRace
    | StopRace
)

PLAIN: dict[str, Request] = {
    "undo": Undo(),
    "redo": Redo(),
    "clear": Clear(),
    "cancel": Cancel(),
    "race": StartRace(),
    "stop race": StopRace(),
}
"""Messages without content."""


def parse(text: str) -> Request:
    """Return the request in a message; raise ValueError if it is invalid."""
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError("The message is not JSON.") from None
    if not isinstance(message, dict):
        raise ValueError("The message is not an object.")
    kind = message.get("type")
    if kind == "sample":
        return UseSample(_choice(message, "name", tuple(SAMPLES)))
    if kind == "stroke":
        stroke = Stroke(
            _whole(message, "class", 0, MOST_CLASSES),
            _number(message, "size", 1.0, LARGEST_BRUSH),
            _points(message.get("points")),
        )
        return Paint(stroke, message.get("continues") is True)
    if isinstance(kind, str) and kind in PLAIN:
        return PLAIN[kind]
    if kind == "slice":
        return UseSlice(_whole(message, "index", 0, 10**9))
    if kind == "classes":
        names = _names(message.get("names"))
        return NameClasses(names, _colours(message.get("colours"), len(names)))
    if kind == "remove":
        return RemoveClass(_whole(message, "class", 1, MOST_CLASSES))
    if kind == "segment":
        return Segment(
            _number(message, "weight", 0.001, 10.0),
            _choice(message, "preconditioner", PRECONDITIONERS),
        )
    if kind in ("denoise", "finish"):
        job = _job(message)
        if kind == "finish" and job.weight is None:
            raise ValueError("A full-size run needs a weight.")
        return Denoise(job) if kind == "denoise" else Finish(job)
    raise ValueError("The type of the message is unknown.")


def _job(message: dict[str, Any]) -> Job:
    weight = message.get("weight")
    return Job(
        None if weight == "auto" else _number(message, "weight", 0.0, HEAVIEST),
        _number(message, "noise", 0.0, 1.0),
        message.get("isotropic") is True,
        message.get("coupled") is True,
        message.get("volume") is True,
        _choice(message, "preconditioner", PRECONDITIONERS),
    )


def _number(message: dict[str, Any], key: str, least: float, most: float) -> float:
    value = message.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        raise ValueError(f"{key} must be a number from {least:g} to {most:g}.")
    return float(value)


def _whole(message: dict[str, Any], key: str, least: int, most: int) -> int:
    value = message.get(key)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise ValueError(f"{key} must be a whole number from {least} to {most}.")
    return value


def _choice(message: dict[str, Any], key: str, choices: tuple[str, ...]) -> str:
    value = message.get(key)
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{key} must be one of {', '.join(choices)}.")
    return value


def _points(value: Any) -> list[tuple[float, float]]:
    if not isinstance(value, list) or not 0 < len(value) <= MOST_POINTS_AT_ONCE:
        raise ValueError(f"points must be a list of 1 to {MOST_POINTS_AT_ONCE} points.")
    points = []
    for pair in value:
        if not isinstance(pair, list) or len(pair) != 2 or not all(map(_is_near, pair)):
            raise ValueError("points must contain pairs of numbers.")
        points.append((float(pair[0]), float(pair[1])))
    return points


def _is_near(value: Any) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and abs(value) < 1e6 and math.isfinite(value)


def _names(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not 2 <= len(value) <= MOST_CLASSES:
        raise ValueError(f"names must be a list of 2 to {MOST_CLASSES} names.")
    if not all(isinstance(name, str) and 0 < len(name) <= LONGEST_NAME for name in value):
        raise ValueError(f"A name must have 1 to {LONGEST_NAME} characters.")
    return tuple(map(printable, value))


def _colours(value: Any, n_classes: int) -> tuple[Colour, ...]:
    if value is None:
        return tuple(colours()[:n_classes])
    if not isinstance(value, list) or len(value) != n_classes or not all(map(_is_colour, value)):
        raise ValueError(f"colours must be a list of {n_classes} colours of three bytes.")
    return tuple((red, green, blue) for red, green, blue in value)


def _is_colour(value: Any) -> bool:
    return (
        isinstance(value, list)
        and len(value) == 3
        and all(isinstance(v, int) and not isinstance(v, bool) and 0 <= v <= 255 for v in value)
    )
