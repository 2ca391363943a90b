"""``graphtv app``: interactive segmentation and denoising in a browser."""

from __future__ import annotations

import argparse
import sys

from graphtv.cli.errors import UsageError
from graphtv.cli.solving import positive, positive_count

DESCRIPTION = """\
Open a page in the browser. Paint scribbles on an image to segment it, or move a
slider to remove noise; the result is updated live. All work is done on this
machine, and by default only this machine can reach the page."""

EXAMPLES = """\
examples:
  graphtv app
  graphtv app --no-browser --port 9000
  graphtv app --pixels 250000 --sessions 4

Ctrl-C ends it. Needs the extra `app`: pip install "graphtv[app]"."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command."""
    parser.description, parser.epilog = DESCRIPTION, EXAMPLES
    parser.add_argument(
        "--host",
        default="127.0.0.1",
        metavar="H",
        help="address to listen on (default: %(default)s, which only this machine can reach)",
    )
    parser.add_argument(
        "--port",
        type=_port,
        default=8047,
        metavar="N",
        help="port to listen on (default: %(default)s; 0: any free port)",
    )
    parser.add_argument("--no-browser", action="store_true", help="do not open a browser")
    parser.add_argument(
        "--pixels",
        type=positive_count,
        default=100_000,
        metavar="N",
        help="larger images are reduced to this number of pixels for segmentation"
        " (default: %(default)s)",
    )
    parser.add_argument(
        "--upload",
        type=positive,
        default=100.0,
        metavar="MB",
        help="largest size of an uploaded file in MB (default: %(default)g)",
    )
    parser.add_argument(
        "--memory",
        type=positive,
        default=4.0,
        metavar="GB",
        help="largest memory of a full-size run in GB (default: %(default)g)",
    )
    parser.add_argument(
        "--time-limit",
        type=positive,
        default=10.0,
        metavar="MIN",
        help="minutes after which a full-size run is stopped (default: %(default)g)",
    )
    parser.add_argument(
        "--sessions",
        type=positive_count,
        default=32,
        metavar="N",
        help="largest number of tabs open at the same time (default: %(default)s)",
    )
    parser.add_argument(
        "--idle",
        type=positive,
        default=30.0,
        metavar="MIN",
        help="minutes of inactivity after which a session is closed (default: %(default)g)",
    )


def _port(text: str) -> int:
    port = int(text)
    if not 0 <= port < 2**16:
        raise argparse.ArgumentTypeError(f"must lie in [0, 65535], got {port}")
    return port


_port.__name__ = "port"  # argparse names it in its errors


def run(arguments: argparse.Namespace) -> None:
    """Serve the page until Ctrl-C."""
    try:
        import aiohttp  # noqa: F401
        import PIL  # noqa: F401
    except ImportError as error:
        raise UsageError(f'{error.name} is missing: pip install "graphtv[app]"') from None
    import asyncio

    from graphtv.app.limits import Limits

    limits = Limits(
        upload_bytes=int(arguments.upload * 2**20),
        pixels=max(arguments.pixels, 1024),
        run_bytes=int(arguments.memory * 2**30),
        run_seconds=60.0 * arguments.time_limit,
        sessions=arguments.sessions,
        idle_seconds=60.0 * arguments.idle,
    )
    try:
        asyncio.run(_serve(arguments, limits))
    except OSError as error:
        place = f"{arguments.host}:{arguments.port}"
        raise UsageError(f"cannot listen at {place}: {error.strerror or error}") from None
    except KeyboardInterrupt:
        print("ended", file=sys.stderr)


async def _serve(arguments: argparse.Namespace, limits: object) -> None:
    import asyncio
    import contextlib
    import signal
    import webbrowser

    from aiohttp import web

    from graphtv.app.limits import Limits
    from graphtv.app.origin_guard import is_loopback
    from graphtv.app.server import Server

    assert isinstance(limits, Limits)
    runner = web.AppRunner(
        Server(arguments.host, limits).application(), access_log=None, shutdown_timeout=1.0
    )
    await runner.setup()
    try:
        await web.TCPSite(runner, arguments.host, arguments.port).start()
        host, port = runner.addresses[0][:2]
        address = f"http://{f'[{host}]' if ':' in host else host}:{port}/"
        print(f"graphtv app at {address} (Ctrl-C ends it)", flush=True)
        if not is_loopback(arguments.host):
            print("Warning: anyone who can reach this machine can use the page.", file=sys.stderr)
        if not arguments.no_browser:
            await asyncio.to_thread(webbrowser.open, address)
        ended = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            with contextlib.suppress(NotImplementedError):  # Windows; Ctrl-C works there anyway
                loop.add_signal_handler(number, ended.set)
        await ended.wait()
    finally:
        await runner.cleanup()
