"""Convolution with a kernel as a linear operator, by Fourier transforms.

The image is extended beyond its border by a boundary condition, convolved, and cropped. The
extension repeats, mirrors or omits pixels, so it is a sparse matrix with at most one entry per row.
"""

from __future__ import annotations

import numpy as np
import scipy.fft
import scipy.sparse

from graphtv._validate import Floats

BOUNDARIES = ("reflect", "periodic", "nearest", "zero", "unknown")


class Convolution:
    """The map from an image to its convolution with a kernel, with the shape of the image.

    Parameters
    ----------
    kernel : ndarray
        The kernel. Its centre is the entry ``kernel.shape // 2`` along each axis.
    shape : tuple of int
        Shape of the convolved image.
    boundary : str
        What lies beyond the border: ``reflect`` (mirrored pixels), ``periodic`` (the other side),
        ``nearest`` (the pixel at the border), ``zero``, or ``unknown``. In the last case the image
        is larger than its convolution by the length of the kernel minus 1 along each axis.

    Attributes
    ----------
    shape : tuple of int
        Numbers of pixels of the convolved image and of the image.
    image_shape : tuple of int
        Shape of the image.
    inside : tuple of slice
        The part of the image that the convolved image shows.
    """

    dtype = np.dtype(np.float64)

    def __init__(self, kernel: Floats, shape: tuple[int, ...], boundary: str) -> None:
        self._axes, self._shown = tuple(range(kernel.ndim)), shape
        before = [k - 1 - k // 2 for k in kernel.shape]
        after = [k // 2 for k in kernel.shape]
        larger = tuple(n + k - 1 for n, k in zip(shape, kernel.shape, strict=True))
        self.image_shape, self.inside = shape, tuple(slice(0, n) for n in shape)
        self._padded, self._extension = larger, None
        self._first = [k - 1 for k in kernel.shape]
        # The circular convolution of the extended image is exact where the kernel fits.
        self._length = tuple(scipy.fft.next_fast_len(n, real=True) for n in larger)
        is_periodic = boundary == "periodic"
        if is_periodic:
            self._padded = self._length = shape
            self._first = [0] * kernel.ndim
        elif boundary == "unknown":
            self.image_shape = larger
            self.inside = tuple(slice(b, b + n) for b, n in zip(before, shape, strict=True))
        else:
            self._extension = _extension(shape, before, after, boundary)
        self._back = None if self._extension is None else self._extension.T.tocsr()
        placed = _placed(kernel, self._length, is_periodic)
        self._spectrum = scipy.fft.rfftn(placed, axes=self._axes)
        self.shape = int(np.prod(shape)), int(np.prod(self.image_shape))

    def matvec(self, x: Floats) -> Floats:
        """Return the convolved image of a flat image."""
        flat = x if self._extension is None else self._extension @ x
        image = flat.reshape(self._padded)
        spectrum = scipy.fft.rfftn(image, self._length, axes=self._axes)
        full = scipy.fft.irfftn(self._spectrum * spectrum, self._length, axes=self._axes)
        return np.ascontiguousarray(full[self._window()]).reshape(-1)

    def rmatvec(self, y: Floats) -> Floats:
        """Return the adjoint of the convolution, applied to a flat image."""
        full = np.zeros(self._length)
        full[self._window()] = y.reshape(self._shown)
        spectrum = scipy.fft.rfftn(full, axes=self._axes)
        back = scipy.fft.irfftn(self._spectrum.conj() * spectrum, self._length, axes=self._axes)
        padded = back[tuple(slice(0, n) for n in self._padded)].reshape(-1)
        return padded if self._back is None else np.asarray(self._back @ padded)

    def _window(self) -> tuple[slice, ...]:
        pairs = zip(self._first, self._shown, strict=True)
        return tuple(slice(first, first + n) for first, n in pairs)


def _placed(kernel: Floats, length: tuple[int, ...], is_periodic: bool) -> Floats:
    """Return the kernel in an array of the transform's shape, around the origin if periodic.

    A kernel that is longer than a periodic image wraps around.
    """
    out = np.zeros(length)
    shifts = [k // 2 if is_periodic else 0 for k in kernel.shape]
    places = np.indices(kernel.shape).reshape(kernel.ndim, -1)
    wrapped = tuple(
        (place - shift) % n for place, shift, n in zip(places, shifts, length, strict=True)
    )
    np.add.at(out, wrapped, kernel.reshape(-1))
    return out


def _extension(
    shape: tuple[int, ...], before: list[int], after: list[int], boundary: str
) -> scipy.sparse.csr_array:
    """Return the matrix that extends a flat image beyond its border."""
    mode = {"reflect": "symmetric", "nearest": "edge", "zero": "constant"}[boundary]
    numbers = np.arange(1, int(np.prod(shape)) + 1).reshape(shape)
    widths = list(zip(before, after, strict=True))
    source = np.pad(numbers, widths, mode=mode).reshape(-1)  # type: ignore[call-overload]
    rows = np.flatnonzero(source)
    entries = np.ones(len(rows)), (rows, source[rows] - 1)
    return scipy.sparse.csr_array(entries, shape=(len(source), numbers.size))
