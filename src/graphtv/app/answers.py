"""Files that the page can download from a session."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass

from graphtv.app import downloads
from graphtv.app.limits import VIEW_PIXELS
from graphtv.app.photo import Photo, reduced
from graphtv.app.session import Session
from graphtv.io.picture import Picture
from graphtv.io.pictures import of_type


@dataclass(frozen=True)
class File:
    """The content type and the content of a download."""

    kind: str
    content: bytes


def _image(session: Session) -> File | None:
    photo, index = session.photo, session.index
    if photo is None:
        return None
    return _png(downloads.encode_image(photo.view(index, VIEW_PIXELS)))


def _before(session: Session) -> File | None:
    run, index = session.full_run, session.index
    if run is None:
        return None
    noisy = run.photo.shown_intensities(run.photo.intensities(index, run.job.noise))
    return _png(downloads.encode_image(reduced(noisy, VIEW_PIXELS)))


def _after(session: Session) -> File | None:
    run, index = session.full_run, session.index
    if run is None or run.picture is None:
        return None
    shown = Photo(run.picture).slice(index)
    colours = reduced(run.photo.shown(shown), VIEW_PIXELS)
    return _png(downloads.encode_image(colours))


def _labels(session: Session) -> File | None:
    photo, answer = session.photo, session.labels
    if photo is None or answer is None:
        return None
    names, colours = session.names, session.colours
    return _png(downloads.encode_classes(answer.labels, photo.size, names, colours))


def _scribbles(session: Session) -> File | None:
    photo, marks = session.photo, session.marks
    if photo is None or not marks.any():
        return None
    names, colours = session.names, session.colours
    return _png(downloads.encode_classes(marks, photo.size, names, colours))


def _denoised(session: Session) -> File | None:
    picture = _full_picture(session)
    if picture is None:
        return None
    kind = downloads.written_format(picture)
    return File(f"image/{kind}", downloads.encode_picture(picture))


def _full_picture(session: Session) -> Picture | None:
    """Return the result of the full-size run, or of the preview if that has the full size."""
    run, photo, answer = session.full_run, session.photo, session.denoised
    if run is not None and run.picture is not None:
        return run.picture
    if photo is None or answer is None or answer.values is None:
        return None
    pixels = of_type(answer.values, photo.picture.pixels.dtype)
    return dataclasses.replace(photo.picture, pixels=photo.in_layout(pixels))


def _png(content: bytes) -> File:
    return File("image/png", content)


MAKERS: dict[str, Callable[[Session], File | None]] = {
    "image.png": _image,
    "before.png": _before,
    "after.png": _after,
    "labels.png": _labels,
    "scribbles.png": _scribbles,
    "denoised": _denoised,
}
"""The downloads by their name in the address."""
