"""A page served inside the test, images to upload, and the expected results."""

import asyncio
from contextlib import asynccontextmanager
from functools import wraps
from io import BytesIO

import numpy as np
from aiohttp import ClientSession, web
from PIL import Image

from graphtv.app.limits import Limits
from graphtv.app.server import Server
from tab import Tab

SMALL = Limits(
    upload_bytes=200_000,
    decoded_pixels=1_000_000,
    pixels=4_000,
    preview_pixels=4_000,
    sessions=16,
)
TRUTH = np.where(np.arange(60) < 30, 1, 2) * np.ones((40, 1), dtype=int)
"""Classes of the two halves of the image below."""


@asynccontextmanager
async def serving(limits=SMALL):
    """Serve the page at a free port; yield the server and a client session."""
    server = Server("127.0.0.1", limits)
    runner = web.AppRunner(server.application(), access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        server.address = f"http://127.0.0.1:{runner.addresses[0][1]}"
        async with ClientSession() as client:
            yield server, client
    finally:
        await runner.cleanup()


@asynccontextmanager
async def one_tab(limits=SMALL):
    async with serving(limits) as (server, client), Tab(client, server.address) as tab:
        yield tab


def asynchronous(test):
    """Run a test that is a coroutine."""

    @wraps(test)
    def run(*arguments, **named):
        asyncio.run(test(*arguments, **named))

    return run


async def eventually(condition):
    """Wait until a condition holds, however slow the machine is."""
    while not condition():
        await asyncio.sleep(0.01)


def halves(width=60, height=40, left=(200, 60, 50), right=(40, 90, 180), column=None, seed=0):
    """Return an image of two colours that meet in a column, with a little noise."""
    image = np.empty((height, width, 3))
    column = width // 2 if column is None else column
    image[:, :column], image[:, column:] = left, right
    image += np.random.default_rng(seed).normal(0.0, 6.0, image.shape)
    return np.clip(image, 0, 255).astype(np.uint8)


def encoded(pixels, kind="PNG", **options):
    buffer = BytesIO()
    image = pixels if isinstance(pixels, Image.Image) else Image.fromarray(pixels)
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def decoded(data):
    return Image.open(BytesIO(data))


async def paint_halves(tab):
    """Paint both halves; return the final frame."""
    await tab.paint(1, (5, 5), (8, 35))
    await tab.hear("waiting")
    await tab.paint(2, (52, 5), (50, 35))
    return await tab.hear_done("labels")
