"""Denoising requests of the page: previews, full size, formats and stacks."""

from io import BytesIO

import numpy as np
import pytest

from graphtv import denoise_tv, suggest_weight
from page_support import SMALL, asynchronous, decoded, encoded, halves, one_tab

tifffile = pytest.importorskip("tifffile")


def tiff(pixels, **options):
    buffer = BytesIO()
    tifffile.imwrite(buffer, pixels, **options)
    return buffer.getvalue()


@asynchronous
async def test_denoising_follows_the_weight_from_warm_starts():
    async with one_tab() as tab:
        flat = halves(seed=1)
        await tab.upload(encoded(flat))
        await tab.denoise(weight=0.3, noise=0.1)
        first = await tab.hear_done("denoised")
        await tab.denoise(weight=0.31, noise=0.1)
        second = await tab.hear_done("denoised")
        assert second["warm"]
        assert second["full"]
        assert second["gap"] <= second["tolerance"]
        noisy, clean = second["pixels"].astype(float)
        assert np.abs(noisy - flat).mean() > 10
        assert clean[:, :28].std(axis=(0, 1)).max() < 6
        assert first["weight"] == 0.3
        status, data = await tab.download("denoised")
        np.testing.assert_array_equal(np.asarray(decoded(data)), second["pixels"][1])
        assert status == 200


@pytest.mark.parametrize("settings", [{"isotropic": True}, {"coupled": True}])
@asynchronous
async def test_other_models_can_be_chosen(settings):
    async with one_tab() as tab:
        pixels = halves(seed=1)
        await tab.upload(encoded(pixels))
        await tab.denoise(weight=0.2, **settings)
        done = await tab.hear_done("denoised")
        expected = denoise_tv(pixels, 0.2, channel_axis=-1, tol=1e-6, **settings)
        assert np.abs(done["pixels"][1] - 255 * expected).mean() < 0.5
        other = denoise_tv(pixels, 0.2, channel_axis=-1)
        assert np.abs(255 * (other - expected)).max() > 1


@asynchronous
async def test_a_weight_is_suggested_on_the_original():
    async with one_tab() as tab:
        rng = np.random.default_rng(0)
        pixels = halves(300, 200) + rng.normal(0, 30, (200, 300, 3))
        pixels = np.clip(pixels, 0, 255).astype(np.uint8)
        await tab.upload(encoded(pixels[:100, :100]))
        await tab.denoise(weight="auto")
        whole = await tab.hear_done("denoised")
        assert whole["weight"] == pytest.approx(suggest_weight(pixels[:100, :100], channel_axis=-1))
        assert whole["width"] * whole["height"] <= SMALL.preview_pixels
        assert not whole["full"]
        assert 0.05 < whole["weight"] < 0.3


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("image/png", encoded(halves(150, 100))),
        ("image/png", encoded(halves(150, 100)[..., 0].astype(np.uint16) * 100)),
        ("image/jpeg", encoded(halves(150, 100), "JPEG")),
        ("image/bmp", encoded(halves(150, 100), "BMP")),
        ("image/tiff", tiff(halves(150, 100)[..., 0].astype(np.uint16) * 13)),
        ("image/tiff", tiff(halves(150, 100), photometric="rgb")),
        ("image/tiff", tiff(halves(150, 100)[..., 0].astype(np.float32))),
    ],
)
@asynchronous
async def test_the_download_has_the_size_and_the_depth_of_the_upload(kind, content):
    from graphtv.io.pictures import picture_of

    async with one_tab() as tab:
        assert (await tab.upload(content, kind))[0] == 200
        image = await tab.hear("image")
        settings = {"weight": 0.2 * image["contrast"]}
        await tab.denoise(**settings)
        await tab.hear_done("denoised")
        assert (await tab.download("denoised"))[0] == 409
        await tab.denoise("finish", **settings)
        done = await tab.hear_state("done", "failed")
        assert done["state"] == "done"
        assert done["gap"] <= 1e-5
        status, data = await tab.download("denoised")
        assert status == 200
        before, after = picture_of(content, "before"), picture_of(data, "after")
        assert after.pixels.shape == before.pixels.shape
        assert after.pixels.dtype == before.pixels.dtype
        assert after.format == (before.format if before.format != "bmp" else "png")
        assert before.pixels[..., :70].std() > 0
        for name in ("before.png", "after.png"):
            status, view = await tab.download(name)
            assert status == 200
            assert decoded(view).size == (150, 100)


@asynchronous
async def test_stacks_have_slices_and_become_stacks_again():
    stack = np.stack([halves(60, 40, seed=k)[..., 0].astype(np.uint16) * 16 for k in range(5)])
    async with one_tab() as tab:
        content = tiff(stack, imagej=True, metadata={"axes": "ZYX", "spacing": 2.0, "unit": "um"})
        assert (await tab.upload(content, "image/tiff"))[0] == 200
        image = await tab.hear("image")
        assert (image["slices"], image["slice"], image["depth"]) == (5, 2, "uint16")
        await tab.say("slice", index=4)
        assert (await tab.hear("image"))["slice"] == 4
        await tab.say("slice", index=5)
        assert "no such slice" in (await tab.hear("error"))["message"]
        settings = {"weight": 0.2 * image["contrast"], "volume": True}
        await tab.denoise(**settings)
        assert not (await tab.hear_done("denoised"))["full"]
        await tab.denoise("finish", **settings)
        assert (await tab.hear_state("done", "failed"))["state"] == "done"
        await tab.say("slice", index=1)  # the result stays
        await tab.hear("image")
        status, data = await tab.download("denoised")
        assert status == 200
        with tifffile.TiffFile(BytesIO(data)) as file:
            assert file.imagej_metadata["spacing"] == 2.0
            found = file.asarray()
        expected = denoise_tv(stack, settings["weight"], tol=1e-7)
        assert found.dtype == np.uint16
        assert np.abs(found - 65535 * expected).mean() < 5


@asynchronous
async def test_strokes_belong_to_their_slice():
    stack = np.stack([halves(60, 40, seed=k)[..., 0] for k in range(2)])
    async with one_tab() as tab:
        await tab.upload(tiff(stack), "image/tiff")
        assert (await tab.hear("image"))["slice"] == 1
        await tab.paint(1, (5, 5), (8, 35))
        await tab.paint(2, (52, 5), (50, 35))
        await tab.hear_done("labels")
        await tab.say("slice", index=0)
        assert not (await tab.hear("image"))["marked"]
        assert "each of two" in (await tab.hear("waiting"))["message"]
        await tab.say("slice", index=1)
        assert (await tab.hear("image"))["marked"]
        assert (await tab.hear_done("labels"))["pixels"].max() == 2


@asynchronous
async def test_new_settings_and_new_images_end_a_full_size_run():
    async with one_tab() as tab:
        await tab.upload(encoded(halves(150, 100)))
        await tab.denoise()
        await tab.denoise("finish")
        await tab.hear_state("done")
        await tab.denoise()  # the same settings
        assert (await tab.download("denoised"))[0] == 200
        await tab.denoise(weight=0.2)
        await tab.hear_state("cancelled")
        assert (await tab.download("denoised"))[0] == 409
        await tab.denoise("finish", weight=0.2)
        await tab.say("cancel")
        await tab.hear_state("cancelled")
        await tab.denoise("finish", weight=0.2)
        await tab.hear_state("done")
        await tab.upload(encoded(halves()))
        await tab.hear_state("cancelled")
        assert (await tab.download("after.png"))[0] == 409
        await tab.denoise("finish", weight="auto")
        assert "needs a weight" in (await tab.hear("error"))["message"]


@asynchronous
async def test_limits_of_memory_are_told():
    from dataclasses import replace

    async with one_tab(replace(SMALL, run_bytes=100_000, held_bytes=20_000)) as tab:
        status, text = await tab.upload(encoded(halves(150, 100)))
        assert status == 422
        assert "too many large images" in text
        assert (await tab.upload(encoded(halves(60, 40))))[0] == 200
        await tab.denoise("finish", coupled=True)
        assert "--memory" in (await tab.hear("error"))["message"]
