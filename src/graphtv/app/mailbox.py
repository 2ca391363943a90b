"""What a session has to say to its page, put in by any thread and taken out by the event loop.

Words are kept in order. Of frames of a kind only the newest is kept: a page that is slow sees fewer
of them, and the server does not fill up.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections import deque
from typing import Any

from graphtv.app.frame import Frame

MOST_WORDS = 256


class Mailbox:
    """Messages on their way out."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._words: deque[str] = deque(maxlen=MOST_WORDS)
        self._frames: dict[str, Frame] = {}
        self._loop = asyncio.get_running_loop()
        self._arrived = asyncio.Event()

    def say(self, kind: str, **content: Any) -> None:
        """Put in a message."""
        with self._lock:
            self._words.append(json.dumps({"type": kind, **content}))
        self._ring()

    def show(self, frame: Frame, turn: int) -> None:
        """Put in a frame with its turn; an older one of its kind that is still there is dropped."""
        header = {**frame.header, "turn": turn}
        with self._lock:
            self._frames[header["type"]] = Frame(header, frame.payload)
        self._ring()

    def drop_frames(self) -> None:
        """Throw away the frames, which are out of date."""
        with self._lock:
            self._frames.clear()

    async def take(self) -> tuple[list[str], list[Frame]]:
        """Wait until there is something, and return it all."""
        await self._arrived.wait()
        self._arrived.clear()
        with self._lock:
            words, frames = list(self._words), list(self._frames.values())
            self._words.clear()
            self._frames.clear()
        return words, frames

    def _ring(self) -> None:
        # A loop that is closed has nobody left who listens.
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._arrived.set)
