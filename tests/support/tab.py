"""A tab without a browser: a client that behaves like the page, for tests and load tests."""

from __future__ import annotations

import asyncio
import json
import struct
from types import TracebackType
from typing import Any

import numpy as np
from aiohttp import ClientSession, WSMsgType
from numpy.typing import NDArray


class Tab:
    """A connection with its session.

    Parameters
    ----------
    client : ClientSession
        The client that connects.
    address : str
        Address of the server, for example ``http://127.0.0.1:8047``.
    token : str, optional
        Token of a session to resume.
    timeout : float
        Largest number of seconds to wait for an answer.
    """

    def __init__(
        self, client: ClientSession, address: str, token: str = "", timeout: float = 60.0
    ) -> None:
        self.client, self.address, self.token = client, address.rstrip("/"), token
        self.hello: dict[str, Any] = {}
        self.heard: list[dict[str, Any]] = []
        self._timeout = timeout

    async def __aenter__(self) -> Tab:
        self._socket = await self.client.ws_connect(
            f"{self.address}/live", params={"session": self.token} if self.token else {}
        )
        self.hello = await self.hear("hello", "full")
        self.token = self.hello.get("session", "")
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._socket.close()

    async def say(self, kind: str, **content: Any) -> None:
        """Send a message."""
        await self._socket.send_str(json.dumps({"type": kind, **content}))

    async def say_raw(self, text: str) -> None:
        """Send a message that may be invalid."""
        await self._socket.send_str(text)

    async def paint(
        self, number: int, *points: tuple[float, float], size: float = 3.0, continues: bool = False
    ) -> None:
        """Paint a stroke through points (x, y)."""
        pairs = [list(point) for point in points]
        await self.say("stroke", **{"class": number}, size=size, points=pairs, continues=continues)

    async def upload(self, data: Any, kind: str = "image/png") -> tuple[int, str]:
        """Send an image; return the status of the answer, and its text."""
        url = f"{self.address}/session/{self.token}/image"
        headers = {"Content-Type": kind}
        async with self.client.post(url, data=data, headers=headers) as response:
            return response.status, await response.text()

    async def upload_scribbles(self, data: bytes, kind: str = "image/png") -> tuple[int, str]:
        """Send scribbles; return the status of the answer, and its text."""
        url = f"{self.address}/session/{self.token}/scribbles"
        headers = {"Content-Type": kind}
        async with self.client.post(url, data=data, headers=headers) as response:
            return response.status, await response.text()

    async def denoise(self, kind: str = "denoise", **settings: Any) -> None:
        """Send settings of denoising, with defaults for those that are missing."""
        await self.say(kind, **{"weight": 0.3, "noise": 0.0, "preconditioner": "auto"} | settings)

    async def hear_state(self, *states: str) -> dict[str, Any]:
        """Return the next progress message of a full-size run in one of these states."""
        while True:
            message = await self.hear("progress", "error")
            if message["type"] == "error" or message["state"] in states:
                return message

    async def download(self, name: str) -> tuple[int, bytes]:
        """Return the status and the content of a download."""
        url = f"{self.address}/session/{self.token}/{name}"
        async with self.client.get(url) as response:
            return response.status, await response.read()

    async def hear(self, *kinds: str) -> dict[str, Any]:
        """Return the next message, or header of a frame, of one of these kinds, or of any.

        The pixels of a frame are its ``pixels``.
        """
        async with asyncio.timeout(self._timeout):
            while True:
                message = await self._next()
                self.heard.append(message)
                if not kinds or message["type"] in kinds:
                    return message

    async def hear_done(self, kind: str) -> dict[str, Any]:
        """Return the next frame of a kind that ends the work."""
        while True:
            message = await self.hear(kind)
            if message["done"]:
                return message

    async def _next(self) -> dict[str, Any]:
        message = await self._socket.receive()
        if message.type is WSMsgType.TEXT:
            word: dict[str, Any] = json.loads(message.data)
            return word
        if message.type is WSMsgType.BINARY:
            (length,) = struct.unpack_from("<I", message.data)
            header: dict[str, Any] = json.loads(message.data[4 : 4 + length])
            return header | {"pixels": _pixels(header, message.data[4 + length :])}
        raise ConnectionError(f"the server has closed the connection: {message.type.name}")


def _pixels(header: dict[str, Any], payload: bytes) -> NDArray[np.uint8]:
    """Return labels of shape (h, w), or the noisy and the clean image, (2, h, w, 3)."""
    pixels = np.frombuffer(payload, dtype=np.uint8)
    height, width = header["height"], header["width"]
    if header["type"] in ("labels", "marks"):
        return pixels.reshape(height, width)
    return pixels.reshape(2, height, width, 3)
