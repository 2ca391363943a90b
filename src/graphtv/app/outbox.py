"""Queue of messages and frames from a session to its page.

Any thread can add items, and the event loop removes them. Messages are kept in order. Of each kind
of frame only the newest is kept: a slow page receives fewer frames, and memory stays bounded.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections import deque
from typing import Any

from graphtv.app.frame import Frame

MOST_MESSAGES = 256


class Outbox:
    """Messages and frames that have not been sent yet."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._messages: deque[str] = deque(maxlen=MOST_MESSAGES)
        self._frames: dict[str, Frame] = {}
        self._loop = asyncio.get_running_loop()
        self._has_items = asyncio.Event()

    def send(self, kind: str, **content: Any) -> None:
        """Add a message."""
        with self._lock:
            self._messages.append(json.dumps({"type": kind, **content}))
        self._notify()

    def show(self, frame: Frame, turn: int) -> None:
        """Add a frame with its turn; it replaces an older frame of the same kind."""
        header = {**frame.header, "turn": turn}
        with self._lock:
            self._frames[header["type"]] = Frame(header, frame.payload)
        self._notify()

    def drop_frames(self) -> None:
        """Discard all frames."""
        with self._lock:
            self._frames.clear()

    async def take(self) -> tuple[list[str], list[Frame]]:
        """Wait until there are items, then remove and return all of them."""
        await self._has_items.wait()
        self._has_items.clear()
        with self._lock:
            messages, frames = list(self._messages), list(self._frames.values())
            self._messages.clear()
            self._frames.clear()
        return messages, frames

    def _notify(self) -> None:
        # After the loop is closed nothing is sent.
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._has_items.set)
