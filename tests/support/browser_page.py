"""A tab of a real browser, and the actions of a user in it."""

from contextlib import contextmanager

import numpy as np
import pytest

from page_support import encoded, halves

playwright = pytest.importorskip("playwright.sync_api", reason="needs Playwright")
expect = playwright.expect

MILLISECONDS = 60_000
DESKTOP, PHONE = {"width": 1100, "height": 800}, {"width": 390, "height": 844}


class Page:
    """A tab, and the actions of a user in it."""

    def __init__(self, context, address):
        self.errors = []
        self.tab = context.new_page()
        self.tab.set_default_timeout(MILLISECONDS)
        self.tab.on("pageerror", lambda error: self.errors.append(str(error)))
        self.tab.on("console", self._hear)
        self.tab.goto(address)
        self.wait_for("Waiting for scribbles")

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
        self.wait_for("Waiting for scribbles")

    def choose(self, number):
        self.tab.locator("#classes .pick").nth(number - 1).click()

    def open_task(self, task):
        self.tab.click(f"#tab-{task}")

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
def opened(browser, address, **options):
    """Open a tab and check at the end that it had no errors."""
    context = browser.new_context(**{"viewport": DESKTOP, "accept_downloads": True} | options)
    page = Page(context, address)
    yield page
    assert page.errors == []
    context.close()
