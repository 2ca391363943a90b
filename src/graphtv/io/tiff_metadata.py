"""Copy the metadata of a TIFF to a TIFF with other pixels of the same shape.

These are the resolution, the colour profile, and the metadata of ImageJ or of the Open Microscopy
Environment: names of axes and channels, physical sizes, display ranges, and free text.
"""

from __future__ import annotations

import re
import sys
from typing import Any

COMPUTED = ("ImageJ", "images", "channels", "slices", "frames", "hyperstack")
"""ImageJ keys that tifffile computes from the shape."""

TIFF_DATA = re.compile(r"<(\w+:)?TiffData\b[^>]*?(?:/>|>.*?</(?:\w+:)?TiffData>)\s*", re.S)
UUID = re.compile(r'(<(?:\w+:)?OME\b[^>]*?)\s+UUID="[^"]*"')
BIG_ENDIAN = re.compile(r'(\bBigEndian=")(?:true|false)"')
BITS = re.compile(r'(<(?:\w+:)?Pixels\b[^>]*?\bType=")bit"')


def metadata_of(file: Any) -> dict[str, Any]:
    """Return the metadata of the first series of an open `tifffile.TiffFile`."""
    tags = file.pages[0].tags
    found: dict[str, Any] = {}
    if "XResolution" in tags and "YResolution" in tags:
        x, y = tags["XResolution"].value, tags["YResolution"].value
        unit = tags["ResolutionUnit"].value if "ResolutionUnit" in tags else None
        if x[1] and y[1]:
            found["resolution"] = (x, y, unit)
    if "InterColorProfile" in tags:
        found["icc_profile"] = bytes(tags["InterColorProfile"].value)
    if file.is_imagej:
        found["imagej"] = dict(file.imagej_metadata or {})
    elif file.is_ome and len(file.series) == 1:
        found["ome"] = file.ome_metadata
    return found


def write_options(extras: dict[str, Any], axes: str, shape: tuple[int, ...]) -> dict[str, Any]:
    """Return arguments of `tifffile.imwrite` for pixels with these axes and this shape."""
    options: dict[str, Any] = {}
    if "resolution" in extras:
        x, y, unit = extras["resolution"]
        options["resolution"] = (x, y)
        if unit is not None:
            options["resolutionunit"] = unit
    if "icc_profile" in extras:
        options["iccprofile"] = extras["icc_profile"]
    if "imagej" in extras:
        kept = {key: value for key, value in extras["imagej"].items() if key not in COMPUTED}
        options |= {"imagej": True, "metadata": {**kept, "axes": axes}}
    elif extras.get("ome"):
        n_planes = 1
        for letter, length in zip(axes, shape, strict=True):
            n_planes *= 1 if letter in "YXS" else length
        options |= {"description": _ome_xml(extras["ome"], n_planes), "metadata": None}
    return options


def _ome_xml(xml: str, n_planes: int) -> bytes:
    """Return OME-XML for the planes of a new file, which are in order."""
    planes = f'TiffData IFD="0" PlaneCount="{n_planes}"/>'
    count = 0

    def replace(match: re.Match[str]) -> str:
        nonlocal count
        count += 1
        return f"<{match[1] or ''}{planes}" if count == 1 else ""

    xml = UUID.sub(r"\1", TIFF_DATA.sub(replace, xml))
    is_big = "true" if sys.byteorder == "big" else "false"
    return BITS.sub(r'\1uint8"', BIG_ENDIAN.sub(rf'\g<1>{is_big}"', xml)).encode()
