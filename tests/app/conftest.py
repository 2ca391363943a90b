"""A browser and a server for the tests of the page."""

import asyncio
import os
import shutil
import sys
import threading

import pytest

from graphtv.app.limits import Limits
from page_support import serving

LIMITS = Limits(upload_bytes=2_000_000, pixels=4_000, preview_pixels=4_000)


@pytest.fixture(scope="module")
def browser():
    """Start Chromium: Debian's, or one that `playwright install chromium` has fetched."""
    playwright = pytest.importorskip("playwright.sync_api", reason="needs Playwright")
    names = ("chromium", "chromium-browser", "google-chrome")
    path = next(filter(None, map(shutil.which, names)), None)
    is_root = sys.platform == "linux" and os.geteuid() == 0  # the sandbox fails for root
    with playwright.sync_playwright() as driver:
        try:
            found = driver.chromium.launch(
                executable_path=path, args=["--no-sandbox"] if is_root else []
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
        async with serving(LIMITS) as (server, _):
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
