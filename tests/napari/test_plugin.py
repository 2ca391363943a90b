"""The plugin for napari: its manifest, its forms, and the layers that it adds.

napari draws with OpenGL, which an offscreen Qt does not have. So these tests use its model of a
viewer, without a window.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from graphtv import denoise_tv, gallery, segment_image

pytest.importorskip("napari")
npe2 = pytest.importorskip("npe2")

from napari.components import ViewerModel  # noqa: E402
from napari.layers import Image, Labels, Layer  # noqa: E402

from graphtv.napari.widgets import denoised_layer, segmented_layer  # noqa: E402

NOISY, _ = gallery.piecewise_constant_image((24, 30), rng=0, noise=0.1)
PLAIN = {"isotropic": False, "coupled": False, "use_scale": True, "tol": 1e-6}


@pytest.fixture
def application(monkeypatch):
    """Return a Qt application without a screen."""
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    widgets = pytest.importorskip("qtpy.QtWidgets")
    return widgets.QApplication.instance() or widgets.QApplication([])


@pytest.fixture
def plugins():
    """Return a plugin manager that has found the installed package."""
    manager = npe2.PluginManager.instance()
    manager.discover()
    return manager


def added(layer):
    """Return a new layer as napari adds it to a viewer."""
    viewer = ViewerModel()
    viewer.add_layer(Layer.create(*layer))
    return viewer.layers[0]


def test_the_manifest_is_found(plugins):
    manifest = plugins.get_manifest("graphtv")
    assert [widget.display_name for widget in manifest.contributions.widgets] == [
        "Denoise by total variation",
        "Segment from labels",
    ]
    for command in manifest.contributions.commands:
        assert callable(npe2.manifest.utils.import_python_name(command.python_name))


def test_an_image_is_denoised():
    image = Image(NOISY, name="picture", scale=(2.0, 0.5), translate=(3.0, 4.0), colormap="magma")
    layer = added(denoised_layer(image, 0.1, **PLAIN))
    assert_allclose(layer.data, denoise_tv(NOISY, 0.1, spacing=(4.0, 1.0)))
    assert layer.name == "picture denoised"
    assert_allclose(layer.scale, image.scale)
    assert_allclose(layer.translate, image.translate)
    assert layer.colormap.name == "magma"
    assert layer.metadata["graphtv"]["status"] == "optimal"
    assert layer.metadata["graphtv"]["relative_gap"] <= 1e-6


def test_bytes_become_intensities():
    image = Image((255 * np.clip(NOISY, 0, 1)).astype(np.uint8))
    layer = added(denoised_layer(image, "auto", **PLAIN))
    assert layer.data.max() <= 1.0
    assert_allclose(layer.contrast_limits, np.array(image.contrast_limits) / 255)


@pytest.mark.parametrize("options", [{"isotropic": True}, {"coupled": True}])
def test_colours(options):
    pixels = np.clip(np.stack([NOISY, 1 - NOISY, NOISY**2], axis=-1), 0.0, 1.0)
    layer = added(denoised_layer(Image(pixels, rgb=True), 0.1, **{**PLAIN, **options}))
    assert layer.rgb
    assert_allclose(layer.data, denoise_tv(pixels, 0.1, channel_axis=-1, **options), atol=1e-12)


def test_a_multiscale_layer_is_denoised_at_full_resolution():
    image = Image([NOISY, NOISY[::2, ::2]], multiscale=True)
    assert added(denoised_layer(image, 0.1, **PLAIN)).data.shape == NOISY.shape


def test_painted_labels_are_extended():
    marks = np.zeros(NOISY.shape, dtype=np.int32)
    marks[2:4, 2:8], marks[-4:, -8:] = 7, 3
    layer = added(segmented_layer(Image(NOISY, name="picture"), Labels(marks), tol=1e-4))
    assert isinstance(layer, Labels)
    assert layer.name == "picture segmented"
    assert set(np.unique(layer.data)) == {3, 7}
    assert (layer.data[marks > 0] == marks[marks > 0]).all()
    classes = np.searchsorted([3, 7], marks) + 1
    expected = segment_image(NOISY, np.where(marks > 0, classes, 0), tol=1e-4)
    assert_allclose(layer.data, np.array([0, 3, 7])[expected])


def test_a_single_label_is_an_error():
    marks = np.zeros(NOISY.shape, dtype=np.int32)
    marks[0, 0] = 5
    with pytest.raises(ValueError, match=r"at least two labels, painted .*, got \[5\]"):
        segmented_layer(Image(NOISY), Labels(marks))


def test_the_forms(application, plugins):
    """napari makes the forms from the annotations; running them computes the layers."""
    from napari.qt.threading import FunctionWorker

    viewer = ViewerModel()
    image, marks = viewer.add_image(NOISY), viewer.add_labels(np.zeros(NOISY.shape, dtype=int))
    marks.data[:2, :2], marks.data[-2:, -2:] = 1, 2
    forms = {
        widget.display_name: widget.get_callable()()
        for widget in plugins.get_manifest("graphtv").contributions.widgets
    }
    denoise, segment = forms["Denoise by total variation"], forms["Segment from labels"]
    for form in forms.values():
        form.image.choices = [image]
    segment.scribbles.choices = [marks]
    assert denoise.weight.value == 0.1
    for form, kind in ((denoise, Image), (segment, Labels)):
        worker = form()
        assert isinstance(worker, FunctionWorker)
        assert isinstance(added(worker.work()), kind)
