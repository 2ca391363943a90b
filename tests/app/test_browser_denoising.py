"""Denoising in a real browser: the slider, the sides, full size, stacks and saving."""

from io import BytesIO

import numpy as np
import pytest

from browser_page import MILLISECONDS, expect, opened
from page_support import decoded, encoded, halves

pytestmark = pytest.mark.slow


def test_denoising_follows_the_slider(browser, address):
    with opened(browser, address) as page:
        page.open_halves()
        page.open_task("denoise")
        page.wait_for("Done")
        page.tab.locator("#noise").fill("0.2")
        while page.pixels("picture")[:, :25, :3].std(axis=(0, 1)).min() <= 12:
            page.tab.wait_for_timeout(20)  # the next run starts from the answer with this noise
        page.wait_for("Done")
        page.tab.locator("#strength").fill("-0.5")
        expect(page.tab.locator("#detail")).to_contain_text("warm start", timeout=MILLISECONDS)
        page.wait_for("Done")
        noisy, clean = page.pixels("picture")[..., :3], page.pixels("result")[..., :3]
        assert noisy[:, :25].std() > clean[:, :25].std()
        assert clean[:, :25].std(axis=(0, 1)).max() < 12 < noisy[:, :25].std(axis=(0, 1)).min()
        page.tab.click("#auto")
        page.wait_for("Done")
        name, content = page.download("#get-denoised")
        assert name == "image-denoised.png"
        assert decoded(content).size == (60, 40)
        page.open_task("segment")
        page.wait_for("Waiting for scribbles")


def test_the_page_says_that_a_suggestion_is_for_the_standard_model(browser, address):
    with opened(browser, address) as page:
        page.open_halves()
        page.open_task("denoise")
        note = page.tab.locator("#suggestion-note")
        expect(note).to_be_hidden()
        page.tab.locator("#isotropic").check()
        expect(note).to_contain_text("Adjust it by eye")
        page.tab.locator("#isotropic").uncheck()
        expect(note).to_be_hidden()


def test_the_sides_are_named(browser, address):
    with opened(browser, address) as page:
        page.open_halves()
        expect(page.tab.locator("#side-before")).to_be_hidden()
        expect(page.tab.locator("#side-after")).to_have_text("Segments")
        page.open_task("denoise")
        page.wait_for("Done")
        expect(page.tab.locator("#side-before")).to_have_text("Original")
        expect(page.tab.locator("#side-after")).to_have_text("Denoised")
        split = page.tab.locator("#split")
        words = "Original on the left 50 %, denoised on the right 50 %"
        expect(split).to_have_attribute("aria-valuetext", words)
        box = page.tab.locator("#frame").bounding_box()
        page.tab.mouse.move(box["x"] + box["width"] / 2, box["y"] + 20)
        page.tab.mouse.down()
        page.tab.mouse.move(box["x"] + 0.25 * box["width"], box["y"] + 20, steps=3)
        page.tab.mouse.up()
        assert abs(float(split.input_value()) - 25) <= 1
        split.fill("100")
        expect(page.tab.locator("#side-after")).to_be_hidden()
        expect(page.tab.locator("#divider")).to_be_hidden()


def test_a_large_image_is_previewed_and_saved_in_full_size(browser, address):
    with opened(browser, address) as page:
        pixels = halves(300, 200, seed=4)
        page.open(encoded(pixels, "JPEG"), "holiday.jpeg", "image/jpeg")
        expect(page.tab.locator("#note")).to_contain_text("300 × 200 pixels", timeout=9000)
        page.open_task("denoise")
        page.wait_for("Done")
        expect(page.tab.locator("#note")).to_be_hidden()
        expect(page.tab.locator("#full-note")).to_contain_text("You see a preview")
        saving = page.tab.locator("#get-denoised")
        expect(saving).to_have_attribute("aria-disabled", "true")
        assert page.pixels("result").shape[0] * page.pixels("result").shape[1] <= 4000
        page.tab.locator("#coupled").check()
        page.tab.locator("#isotropic").check()
        page.wait_for("Done")
        page.tab.click("#finish")
        expect(page.tab.locator("#proof")).to_contain_text("Full size", timeout=MILLISECONDS)
        expect(page.tab.locator("#full-note")).to_contain_text("in full size")
        expect(page.tab.locator("#result")).to_have_js_property("width", 300)
        name, content = page.download("#get-denoised")
        assert name == "holiday-denoised.jpg"
        saved = np.asarray(decoded(content), dtype=float)
        assert saved.shape == (200, 300, 3)
        assert np.abs(saved - pixels).mean() < 12
        page.tab.locator("#strength").fill("-1.5")
        expect(saving).to_have_attribute("aria-disabled", "true")
        page.wait_for("Done")


def test_a_stack_has_a_slider_and_stays_a_stack(browser, address):
    tifffile = pytest.importorskip("tifffile")
    stack = np.stack([halves(seed=k)[..., 0].astype(np.uint16) * 16 for k in range(4)])
    buffer = BytesIO()
    tifffile.imwrite(buffer, stack, photometric="minisblack")
    with opened(browser, address) as page:
        page.open(buffer.getvalue(), "cells.tif", "image/tiff")
        expect(page.tab.locator("#slice-shown")).to_have_text("3 of 4", timeout=MILLISECONDS)
        page.wait_for("Waiting for scribbles")
        page.paint_halves()
        page.wait_for("Done")
        page.tab.locator("#slice").fill("0")
        page.wait_for("Waiting for scribbles")
        assert (page.pixels("strokes")[..., 3] == 0).all()
        page.tab.locator("#slice").fill("2")
        page.wait_for("Done")
        assert page.pixels("strokes")[..., 3].any()
        page.open_task("denoise")
        page.wait_for("Done")
        page.tab.locator("#volume").check()
        page.wait_for("Done")
        page.tab.click("#finish")
        expect(page.tab.locator("#proof")).to_contain_text("Full size", timeout=MILLISECONDS)
        page.tab.keyboard.press(".")
        expect(page.tab.locator("#slice-shown")).to_have_text("4 of 4")
        name, content = page.download("#get-denoised")
        assert name == "cells-denoised.tif"
        saved = tifffile.imread(BytesIO(content))
        assert (saved.shape, saved.dtype) == (stack.shape, stack.dtype)
        assert saved.std() < stack.std()
