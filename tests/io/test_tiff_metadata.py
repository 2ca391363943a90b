"""The denoised TIFF keeps the metadata of the pixels."""

import re

import numpy as np
import pytest

from graphtv.cli import main

tifffile = pytest.importorskip("tifffile")


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def stack(*shape, dtype="uint16"):
    return np.random.default_rng(0).integers(0, 250, shape).astype(dtype)


def denoised():
    assert main(["denoise", "in.tif", "out.tif", "--weight", "0.01", "-q"]) == 0
    return tifffile.TiffFile("out.tif")


@pytest.mark.parametrize(
    ("axes", "shape", "dtype"),
    [
        ("YX", (12, 14), "uint8"),
        ("ZYX", (3, 12, 14), "uint16"),
        ("TZCYX", (2, 3, 2, 12, 14), "uint16"),
        ("CYX", (2, 12, 14), "float32"),
        ("YXS", (12, 14, 3), "uint8"),
    ],
)
def test_imagej(axes, shape, dtype):
    metadata = {"unit": "um", "spacing": 2.5, "min": 3.0, "max": 200.0, "Info": "a cell\nby night"}
    if axes == "ZYX":
        metadata["Labels"] = ["first", "second", "third"]
    tifffile.imwrite(
        "in.tif",
        stack(*shape, dtype=dtype),
        imagej=True,
        resolution=(4.0, 5.0),
        metadata={"axes": axes, **metadata},
    )
    with tifffile.TiffFile("in.tif") as before, denoised() as file:
        assert file.is_imagej
        assert file.series[0].axes == before.series[0].axes
        assert file.series[0].shape == before.series[0].shape
        assert file.series[0].dtype == np.dtype(dtype)
        assert file.imagej_metadata == before.imagej_metadata
        assert file.pages[0].resolution == (4.0, 5.0)


@pytest.mark.parametrize(
    ("axes", "shape"),
    [
        ("YX", (12, 14)),
        ("TCZYX", (2, 2, 3, 12, 14)),
        ("ZCYX", (3, 2, 12, 14)),
        ("YXS", (12, 14, 3)),
    ],
)
def test_ome(axes, shape):
    metadata = {
        "axes": axes,
        "PhysicalSizeX": 0.29,
        "PhysicalSizeXUnit": "µm",
        "Name": "ein Bild",
        "Description": "größer > kleiner",
    }
    if "C" in axes:
        metadata["Channel"] = {"Name": ["DAPI", "GFP"]}
    tifffile.imwrite("in.ome.tif", stack(*shape, dtype="uint8"), ome=True, metadata=metadata)
    assert main(["denoise", "in.ome.tif", "out.ome.tif", "--weight", "0.01", "-q"]) == 0
    with tifffile.TiffFile("in.ome.tif") as before, tifffile.TiffFile("out.ome.tif") as file:
        assert file.is_ome
        assert file.series[0].axes == before.series[0].axes
        assert file.series[0].shape == before.series[0].shape
        assert len(file.pages) == len(before.pages)
        own = re.compile(r' UUID="[^"]*"|<TiffData.*?(/>|</TiffData>)', re.S)
        assert own.sub("", file.ome_metadata) == own.sub("", before.ome_metadata)
        assert file.ome_metadata.count("<TiffData") == 1
        difference = before.asarray().astype(float) - file.asarray()
        assert 0 < np.abs(difference).max() < 30  # planes keep their place


def test_resolution_and_profile_of_any_tiff():
    tifffile.imwrite(
        "in.tif",
        stack(12, 14),
        photometric="minisblack",
        resolution=(300, 150),
        resolutionunit="INCH",
        iccprofile=b"a profile",
    )
    with denoised() as file:
        page = file.pages[0]
        assert page.resolution == (300.0, 150.0)
        assert page.resolutionunit == tifffile.RESUNIT.INCH
        assert page.iccprofile == b"a profile"


def test_metadata_with_pages_of_another_series_are_not_handed_on():
    with tifffile.TiffWriter("in.tif", ome=True) as file:
        file.write(stack(12, 14), photometric="minisblack")
        file.write(stack(6, 7), photometric="minisblack")
    with denoised() as file:
        assert not file.is_ome
        assert file.series[0].shape == (12, 14)
