"""Load test of the page: many simultaneous users with scripted strokes and a separate server.

    python benchmarks/page.py                      20 users for 2 minutes
    python benchmarks/page.py --users 5 --seconds 20
    python benchmarks/page.py --quick              3 users for 3 seconds

Every user has a different image, with two colours that meet in a column unique to this user. Users
paint, continue painting, undo, change settings, denoise, upload invalid files, close the tab and
open another. Labels that do not match the image of the user count as cross-talk.
"""

from __future__ import annotations

import argparse
import asyncio
import subprocess
import sys
import time
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path

import numpy as np
from aiohttp import ClientSession
from numpy.typing import NDArray
from PIL import Image

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))
from tab import Tab

HEIGHT = 160
REFUSED = [
    (b"not an image", "image/png", 422),
    (b"\x89PNG\r\n\x1a\n" + bytes(100), "image/png", 422),
    (b"GIF89a", "image/gif", 415),
    (b"{}", "application/json", 415),
    (bytes(21 * 2**20), "image/png", 413),
]


@dataclass
class Tally:
    """Counts of what the users observed."""

    strokes: int = 0
    answers: int = 0
    frames: int = 0
    refused: int = 0
    cross_talk: int = 0
    errors: list[str] = field(default_factory=list)
    first: list[float] = field(default_factory=list)
    last: list[float] = field(default_factory=list)


class User:
    """A user with a unique image."""

    def __init__(self, number: int, n_users: int, tally: Tally) -> None:
        self.rng = np.random.default_rng(number)
        self.tally = tally
        self.width = 200 + 4 * number
        self.column = int(0.25 * self.width + 0.5 * self.width * number / n_users)
        image = np.empty((HEIGHT, self.width, 3))
        image[:, : self.column] = self.rng.integers(0, 90, 3)
        image[:, self.column :] = self.rng.integers(160, 250, 3)
        image += self.rng.normal(0.0, 8.0, image.shape)
        buffer = BytesIO()
        Image.fromarray(np.clip(image, 0, 255).astype(np.uint8)).save(buffer, "PNG")
        self.file = buffer.getvalue()

    async def use(self, client: ClientSession, address: str, end: float) -> None:
        """Open tabs and use them until the end."""
        while time.monotonic() < end:
            try:
                async with Tab(client, address, timeout=120.0) as tab:
                    for _ in range(4):
                        await self.segment(tab)
                        await self.denoise(tab)
                        await self.misbehave(tab)
                        if time.monotonic() > end:
                            break
                    self.tally.frames += sum("pixels" in each for each in tab.heard)
                    wrong = [each for each in tab.heard if each["type"] == "error"]
                    self.tally.errors += [each["message"] for each in wrong]
            except Exception as error:  # count all errors
                self.tally.errors.append(f"{type(error).__name__}: {error}")

    async def segment(self, tab: Tab) -> None:
        """Upload the image, paint both sides and check; undo, change the weight and check again."""
        status, text = await tab.upload(self.file)
        if status != 200:
            raise RuntimeError(f"the upload was answered with {status}: {text}")
        weight = float(self.rng.uniform(0.05, 0.3))
        await tab.say("segment", weight=weight, preconditioner="auto")
        await self.paint(tab, 1, 0.1 * self.width)
        await self.paint(tab, 2, 0.9 * self.width)
        await self.look(tab)
        await tab.say("undo")
        await tab.hear("waiting")
        await self.paint(tab, 2, 0.85 * self.width)
        await self.look(tab)

    async def paint(self, tab: Tab, number: int, x: float) -> None:
        """Paint a stroke from top to bottom, in three parts."""
        y = np.linspace(0.2, 0.8, 12) * HEIGHT
        points = [(float(x + self.rng.normal()), float(each)) for each in y]
        await tab.paint(number, *points[:4], size=5.0)
        for k in range(4, 12, 4):
            await asyncio.sleep(0.05)
            await tab.paint(number, *points[k : k + 4], size=5.0, continues=True)
        self.tally.strokes += 1

    async def look(self, tab: Tab) -> None:
        """Wait for the labels and check that they belong to this user's image."""
        start = time.monotonic()
        message = await tab.hear("labels")
        self.tally.first.append(time.monotonic() - start)
        # Frames for the first parts of a stroke may arrive earlier; the newest is the last.
        while not message["done"]:
            message = await tab.hear("labels")
        self.tally.last.append(time.monotonic() - start)
        self.tally.answers += 1
        self.judge(message["pixels"])

    def judge(self, labels: NDArray[np.uint8]) -> None:
        """Count labels that cannot belong to this image."""
        truth = np.where(np.arange(self.width) < self.column, 1, 2)
        is_own = labels.shape == (HEIGHT, self.width) and (labels == truth).mean() > 0.995
        self.tally.cross_talk += not is_own

    async def denoise(self, tab: Tab) -> None:
        """Move the slider."""
        for weight in (0.05, 0.1, 0.2):
            await tab.say("denoise", weight=weight, noise=0.1, preconditioner="auto")
            await tab.hear_done("denoised")
            self.tally.answers += 1

    async def misbehave(self, tab: Tab) -> None:
        """Send requests that must be rejected."""
        data, kind, expected = REFUSED[self.rng.integers(len(REFUSED))]
        status, _ = await tab.upload(data, kind)
        if status != expected:
            self.tally.errors.append(f"{kind} of {len(data)} bytes was answered with {status}")
        self.tally.refused += 1


def memory(process: int, name: str) -> float:
    """Return a figure of a process in MB; 0 where the system does not provide it."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith(name)), 0.0)


async def load(
    address: str, process: int, n_users: int, seconds: float
) -> tuple[Tally, list[float]]:
    """Run users against the server; return their observations and its memory over time."""
    tally, course = Tally(), [memory(process, "VmRSS")]
    end = time.monotonic() + seconds
    async with ClientSession() as client:
        users = [User(k, n_users, tally) for k in range(n_users)]
        work = asyncio.gather(*(user.use(client, address, end) for user in users))
        while not work.done():
            await asyncio.wait([work], timeout=seconds / 8)
            course.append(memory(process, "VmRSS"))
        await work
    return tally, course


@dataclass(frozen=True)
class Report:
    """The result of a load test."""

    tally: Tally
    course: list[float]
    peak: float
    complaints: str
    returncode: int

    @property
    def is_good(self) -> bool:
        """Whether there were no errors."""
        tally = self.tally
        return not (tally.errors or tally.cross_talk or self.complaints or self.returncode)


def measure(n_users: int, seconds: float) -> Report:
    """Start a server, run users against it, and stop it."""
    command = [
        sys.executable,
        "-m",
        "graphtv",
        "app",
        "--no-browser",
        "--port",
        "0",
        "--upload",
        "20",
    ]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        address = server.stdout.readline().split()[3]
        try:
            tally, course = asyncio.run(load(address, server.pid, n_users, seconds))
            peak = memory(server.pid, "VmHWM")
        finally:
            server.terminate()
        complaints = server.communicate(timeout=30)[1].strip()
    return Report(tally, course, peak, complaints, server.returncode)


def main() -> int:
    """Run the load test and print a table; return 1 if there were errors."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--users", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.users, arguments.seconds = 3, 3.0
    report = measure(arguments.users, arguments.seconds)
    tally, course = report.tally, report.course
    rows = {
        "users at once": arguments.users,
        "strokes": tally.strokes,
        "answers, certified": tally.answers,
        "frames": tally.frames,
        "first frame after a stroke, median": f"{np.median(tally.first or [0]):.2f} s",
        "certified answer, median": f"{np.median(tally.last or [0]):.2f} s",
        "certified answer, slowest": f"{max(tally.last, default=0):.2f} s",
        "refused as they must be": tally.refused,
        "errors": len(tally.errors),
        "cross-talk": tally.cross_talk,
        "server's memory, at the start": f"{course[0]:.0f} MB",
        "server's memory, halfway": f"{course[len(course) // 2]:.0f} MB",
        "server's memory, at most": f"{report.peak:.0f} MB",
        "server's exit code": report.returncode,
    }
    for name, value in rows.items():
        print(f"{name:<36}{value}")
    for each in [*sorted(set(tally.errors)), report.complaints]:
        if each:
            print(each, file=sys.stderr)
    return int(not report.is_good)


if __name__ == "__main__":
    sys.exit(main())
