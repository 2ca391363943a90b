"""Denoising requests of the page."""

import numpy as np

from page_support import asynchronous, decoded, encoded, halves, one_tab


@asynchronous
async def test_denoising_follows_the_weight_from_warm_starts():
    async with one_tab() as tab:
        flat = halves(seed=1)
        await tab.upload(encoded(flat))
        await tab.say("denoise", weight=0.3, noise=0.1, preconditioner="auto")
        first = await tab.hear_done("denoised")
        await tab.say("denoise", weight=0.31, noise=0.1, preconditioner="auto")
        second = await tab.hear_done("denoised")
        assert second["warm"]
        assert second["gap"] <= second["tolerance"]
        noisy, clean = second["pixels"].astype(float)
        assert np.abs(noisy - flat).mean() > 10
        assert clean[:, :28].std(axis=(0, 1)).max() < 6
        assert first["weight"] == 0.3
        status, data = await tab.download("denoised")
        np.testing.assert_array_equal(np.asarray(decoded(data)), second["pixels"][1])
        assert status == 200


@asynchronous
async def test_a_weight_is_suggested():
    async with one_tab() as tab:
        await tab.upload(encoded(halves()))
        await tab.say("denoise", weight="auto", noise=0.2, preconditioner="auto")
        done = await tab.hear_done("denoised")
        assert 0.05 < done["weight"] < 0.6
