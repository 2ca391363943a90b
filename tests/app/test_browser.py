"""The page in a real browser: painting, viewing, undoing, downloading, two tabs at once.

Needs Playwright and a Chromium: Debian's, or one that `playwright install chromium` has fetched.
"""

import asyncio
import os
import shutil
import sys
import threading
from contextlib import contextmanager

import numpy as np
import pytest

from graphtv.app.limits import Limits
from page_support import decoded, encoded, halves, serving

playwright = pytest.importorskip("playwright.sync_api", reason="needs Playwright")

pytestmark = pytest.mark.slow
expect = playwright.expect

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
MILLISECONDS = 60_000
BLUE, ORANGE = (0, 114, 178), (230, 159, 0)


@pytest.fixture(scope="module")
def browser():
    sandbox = sys.platform == "linux" and os.geteuid() == 0  # it fails for root
    with playwright.sync_playwright() as driver:
        try:
            found = driver.chromium.launch(
                executable_path=CHROMIUM, args=["--no-sandbox"] if sandbox else []
            )
        except playwright.Error as error:
            pytest.skip(f"no browser: {str(error).splitlines()[0]}")
        yield found
        found.close()


@pytest.fixture(scope="module")
def server():
    """Serve the page from a thread."""
    ready, loop = threading.Event(), asyncio.new_event_loop()
    servers, ended = [], asyncio.Event()

    async def serve():
        async with serving(Limits(upload_bytes=2_000_000, pixels=4_000)) as (server, _):
            servers.append(server)
            ready.set()
            await ended.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),), daemon=True)
    thread.start()
    assert ready.wait(20)
    servers[0].loop = loop
    yield servers[0]
    loop.call_soon_threadsafe(ended.set)
    thread.join(20)
    loop.close()


@pytest.fixture(scope="module")
def address(server):
    return server.address


class Page:
    """A tab, and the actions of a user in it."""

    def __init__(self, context, address):
        self.errors = []
        self.tab = context.new_page()
        self.tab.set_default_timeout(MILLISECONDS)
        self.tab.on("pageerror", lambda error: self.errors.append(str(error)))
        self.tab.on("console", self._hear)
        self.tab.goto(address)
        self.wait_for("waiting for scribbles")

    def _hear(self, message):
        # Browsers log rejected requests as errors.
        if message.type == "error" and "Failed to load resource" not in message.text:
            self.errors.append(message.text)

    def wait_for(self, state):
        expect(self.tab.locator("#state")).to_have_text(state, timeout=MILLISECONDS)

    def open(self, content, name="image.png", kind="image/png"):
        file = {"name": name, "mimeType": kind, "buffer": content}
        self.tab.locator("#file").set_input_files(file)

    def open_halves(self, **options):
        with self.tab.expect_response(lambda response: "image.png" in response.url):
            self.open(encoded(halves(**options)))
        self.wait_for("waiting for scribbles")

    def choose(self, number):
        self.tab.locator("#classes .swatch").nth(number - 1).click()

    def paint(self, *points):
        """Paint through points (x, y), given as fractions of width and height."""
        box = self.tab.locator("#strokes").bounding_box()
        places = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in points]
        self.tab.mouse.move(*places[0])
        self.tab.mouse.down()
        for place in places[1:]:
            self.tab.mouse.move(*place, steps=6)
        self.tab.mouse.up()

    def paint_halves(self):
        self.choose(1)
        self.paint((0.1, 0.2), (0.15, 0.8))
        self.choose(2)
        self.paint((0.9, 0.2), (0.85, 0.8))

    def pixels(self, canvas="result"):
        """Return the pixels of a canvas: red, green, blue, alpha."""
        size, values = self.tab.locator(f"#{canvas}").evaluate(
            """canvas => {
                const { width, height } = canvas;
                const data = canvas.getContext("2d").getImageData(0, 0, width, height).data;
                return [[height, width], Array.from(data)];
            }"""
        )
        return np.array(values).reshape(*size, 4)

    def download(self, selector):
        with self.tab.expect_download() as waiting:
            self.tab.click(selector)
        return waiting.value.suggested_filename, waiting.value.path().read_bytes()


@contextmanager
def opened(browser, address):
    """Open a tab and check at the end that it had no errors."""
    context = browser.new_context(viewport={"width": 1100, "height": 800}, accept_downloads=True)
    page = Page(context, address)
    yield page
    assert page.errors == []
    context.close()


def assert_halves(shown, column=30, first=BLUE, second=ORANGE):
    """Check the colours of both sides; the border is white, and the last column of the first."""
    np.testing.assert_allclose(shown[:, : column - 1, :3].reshape(-1, 3).mean(0), first, atol=2)
    np.testing.assert_allclose(shown[:, column:, :3].reshape(-1, 3).mean(0), second, atol=2)
    assert (shown[:, column - 1] == 255).all()


def test_two_classes_are_painted_shown_and_downloaded(browser, address):
    with opened(browser, address) as page:
        shown = "select => select.selectedOptions[0].textContent"
        assert page.tab.locator("#sample").evaluate(shown) == "landscape"
        page.open_halves()
        assert page.tab.locator("#sample").evaluate(shown) == "your image"
        page.paint_halves()
        page.wait_for("done")
        assert_halves(page.pixels())
        assert float(page.tab.inner_text("#gap")) <= 5e-4
        assert page.tab.inner_text("#iterations").isdigit()  # 0 if the start is optimal

        name, content = page.download("#get-labels")
        assert name == "labels.png"
        truth = np.where(np.arange(60) < 30, 1, 2) * np.ones((40, 1), dtype=int)
        np.testing.assert_array_equal(np.asarray(decoded(content)), truth)
        name, content = page.download("#get-scribbles")
        assert name == "scribbles.png"
        marks = np.asarray(decoded(content))
        assert set(marks.ravel().tolist()) == {0, 1, 2}
        assert (marks[:, :20] != 2).all()


def test_undo_takes_the_last_stroke_back(browser, address):
    with opened(browser, address) as page:
        page.open_halves()
        page.paint_halves()
        page.wait_for("done")
        with_both = page.pixels("strokes")
        page.tab.keyboard.press("Control+z")
        page.wait_for("waiting for scribbles")
        assert (page.pixels()[..., 3] == 0).all()
        assert (page.pixels("strokes")[:, 40:] == 0).all()
        assert page.tab.locator("#get-labels").get_attribute("aria-disabled") == "true"
        page.paint((0.9, 0.2), (0.85, 0.8))
        page.wait_for("done")
        assert np.abs(page.pixels("strokes") - with_both).mean() < 2  # except at smooth edges
        assert_halves(page.pixels())
        page.tab.click("#undo")
        page.tab.click("#undo")
        expect(page.tab.locator("#undo")).to_be_disabled()


def test_what_is_no_image_is_told_and_changes_nothing(browser, address):
    with opened(browser, address) as page:
        page.open_halves()
        page.paint_halves()
        page.wait_for("done")
        message = page.tab.locator("#message")
        for content, name, kind, words in [
            (b"not an image", "fake.png", "image/png", "not a PNG image"),
            (b"plain text", "notes.txt", "text/plain", "not a PNG, JPEG"),
            (bytes(3_000_000), "large.png", "image/png", "too large"),
        ]:
            page.open(content, name, kind)
            expect(message).to_contain_text(words, timeout=MILLISECONDS)
            page.tab.click("#message button")
            expect(message).to_be_hidden()
        assert_halves(page.pixels())


def test_a_reduced_image_is_announced(browser, address):
    with opened(browser, address) as page:
        page.open_halves()
        notice = page.tab.locator("#reduced")
        expect(notice).to_be_hidden()
        page.open_halves(width=300, height=200)
        expect(notice).to_contain_text("The image was reduced from 300 × 200 to 77 × 51 pixels")
        expect(notice).to_contain_text("Labels and scribbles are downloaded in the original size")
        page.open_halves()
        expect(notice).to_be_hidden()


def test_classes_are_added_named_and_removed(browser, address):
    with opened(browser, address) as page:
        page.open_halves()
        page.tab.click("#add")
        name = page.tab.locator("#classes input").nth(2)
        name.fill("sea")
        name.press("Tab")
        page.choose(1)
        page.paint((0.1, 0.2), (0.15, 0.8))
        page.tab.keyboard.press("3")
        page.paint((0.9, 0.2), (0.85, 0.8))
        page.wait_for("done")
        assert_halves(page.pixels(), second=(0, 158, 115))
        _, content = page.download("#get-labels")
        assert decoded(content).text["Classes"].endswith("3 sea")
        page.tab.locator("#classes .remove").nth(1).click()
        expect(page.tab.locator("#classes li")).to_have_count(2)
        page.wait_for("done")
        expect(page.tab.locator("#classes input").nth(1)).to_have_value("sea")
        assert_halves(page.pixels())


def test_two_tabs_at_once_know_nothing_of_each_other(browser, address):
    with opened(browser, address) as one, opened(browser, address) as other:
        one.open_halves(column=20)
        other.open_halves(column=42, left=(30, 140, 60), right=(230, 210, 80))
        one.choose(1)
        other.choose(1)
        one.paint((0.1, 0.2), (0.15, 0.8))
        other.paint((0.1, 0.2), (0.15, 0.8))
        one.choose(2)
        other.choose(2)
        one.paint((0.9, 0.2), (0.85, 0.8))
        other.paint((0.9, 0.2), (0.85, 0.8))
        one.wait_for("done")
        other.wait_for("done")
        assert_halves(one.pixels(), 20)
        assert_halves(other.pixels(), 42)
        one.tab.click("#undo")
        one.wait_for("waiting for scribbles")
        assert_halves(other.pixels(), 42)


def test_settings_the_slider_and_the_eraser(browser, address):
    with opened(browser, address) as page:
        page.open_halves()
        page.paint_halves()
        page.wait_for("done")
        page.tab.select_option("#preconditioner", "nested")
        expect(page.tab.locator("#detail")).to_have_text(
            "preconditioner nested", timeout=MILLISECONDS
        )
        page.wait_for("done")
        assert_halves(page.pixels())
        page.tab.locator("#split").fill("50")
        assert "50%" in page.tab.locator("#result").evaluate("canvas => canvas.style.clipPath")
        expect(page.tab.locator("#divider")).to_be_visible()
        page.tab.locator("#brush").fill("20")
        page.tab.click("#eraser")
        page.paint((0.9, 0.0), (0.85, 1.0))
        page.wait_for("waiting for scribbles")
        assert (page.pixels("strokes")[:, 45:55, 3] == 0).all()


def test_denoising_follows_the_slider(browser, address):
    with opened(browser, address) as page:
        page.open_halves()
        page.tab.click("#tab-denoise")
        page.wait_for("done")
        page.tab.locator("#noise").fill("0.2")
        page.tab.locator("#strength").fill("-0.5")
        expect(page.tab.locator("#detail")).to_contain_text("warm start", timeout=MILLISECONDS)
        page.wait_for("done")
        noisy, clean = page.pixels("picture")[..., :3], page.pixels("result")[..., :3]
        assert noisy[:, :25].std() > clean[:, :25].std()
        assert clean[:, :25].std(axis=(0, 1)).max() < 12 < noisy[:, :25].std(axis=(0, 1)).min()
        page.tab.click("#auto")
        page.wait_for("done")
        name, content = page.download("#get-denoised")
        assert name == "denoised.png"
        assert decoded(content).size == (60, 40)
        page.tab.click("#tab-segment")
        page.wait_for("waiting for scribbles")


def test_after_an_interruption_the_tab_comes_back(browser, server):
    with opened(browser, server.address) as page:
        page.open_halves()
        page.paint_halves()
        page.wait_for("done")
        cut = asyncio.run_coroutine_threadsafe(server._say_goodbye(None), server.loop)
        cut.result(20)
        page.wait_for("reconnecting")
        page.wait_for("done")
        assert_halves(page.pixels())
        page.tab.click("#undo")
        page.wait_for("waiting for scribbles")
        expect(page.tab.locator("#message")).to_be_hidden()
