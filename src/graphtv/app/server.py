"""The web server: the page, its WebSocket, uploads and downloads.

====  =================================  ========================================================
GET   /, /static/NAME                    the page; its files are read when the server starts
GET   /live                              the WebSocket; ``?session=TOKEN`` resumes a session
POST  /session/TOKEN/image               upload of a PNG, JPEG, TIFF, WebP or BMP image
POST  /session/TOKEN/scribbles           upload of scribbles, a PNG
GET   /session/TOKEN/NAME                image.png, before.png, after.png, labels.png, scribbles.png
GET   /session/TOKEN/denoised            the denoised image in the format of the upload
====  =================================  ========================================================

Names in requests are keys of dictionaries. They are never used as file names.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from importlib import resources
from typing import TypeVar

from aiohttp import WSCloseCode, WSMsgType, web

from graphtv.app import answers, downloads
from graphtv.app.decoding import FORMATS, NOT_AN_IMAGE, BadImageError, decode, decode_scribbles
from graphtv.app.limits import LARGEST_BRUSH, LONGEST_MESSAGE, LONGEST_NAME, MOST_CLASSES, Limits
from graphtv.app.origin_guard import add_headers, guard, is_loopback
from graphtv.app.photo import Photo
from graphtv.app.pool import Pool
from graphtv.app.race import CONTESTANTS
from graphtv.app.requests import PRECONDITIONERS, parse
from graphtv.app.samples import SAMPLES
from graphtv.app.session import Session
from graphtv.app.sessions import Sessions, TooManySessionsError

TYPES = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}
T = TypeVar("T")

EXPIRY_SECONDS = 5.0
MOST_DECODED_AT_ONCE = 2
UPLOAD_SECONDS = 60.0


class Server:
    """The state of the server and its request handlers.

    Parameters
    ----------
    host : str
        Host name or address to listen on.
    limits : Limits
        Limits for requests.
    """

    def __init__(self, host: str = "127.0.0.1", limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self._is_local = is_loopback(host)
        self._files = _static_files()
        self._decoding = asyncio.Semaphore(MOST_DECODED_AT_ONCE)
        self._sockets: dict[str, web.WebSocketResponse] = {}

    def application(self) -> web.Application:
        """Return the aiohttp application."""
        application = web.Application(
            middlewares=[guard(self._is_local)], client_max_size=self.limits.upload_bytes
        )
        application.on_response_prepare.append(add_headers)
        application.cleanup_ctx.append(self._live)
        application.on_shutdown.append(self._say_goodbye)
        application.add_routes(
            [
                web.get("/", self._page),
                web.get("/static/{name}", self._static),
                web.get("/live", self._socket),
                web.post("/session/{token}/image", self._upload),
                web.post("/session/{token}/scribbles", self._upload_scribbles),
                web.get("/session/{token}/{name}", self._download),
            ]
        )
        return application

    # Beginning and end ---------------------------------------------------------------------------

    async def _live(self, _: web.Application) -> AsyncIterator[None]:
        self.pool = Pool()
        self.long_pool = Pool(1)
        self.sessions = Sessions(self.pool, self.long_pool, self.limits)
        reaper = asyncio.create_task(self._reap())
        yield
        reaper.cancel()
        self.sessions.close_all()
        await asyncio.to_thread(self.pool.close)
        await asyncio.to_thread(self.long_pool.close)

    async def _say_goodbye(self, _: web.Application) -> None:
        for socket in list(self._sockets.values()):
            await socket.close(code=WSCloseCode.GOING_AWAY, message=b"The server has stopped.")

    async def _reap(self) -> None:
        """Close unused sessions periodically."""
        while True:
            await asyncio.sleep(min(EXPIRY_SECONDS, self.limits.linger_seconds))
            for session in self.sessions.expire():
                socket = self._sockets.get(session.token)
                if socket is not None:
                    with contextlib.suppress(ConnectionError):
                        await socket.send_json({"type": "expired"})
                        await socket.close()

    # The page ------------------------------------------------------------------------------------

    async def _page(self, _: web.Request) -> web.Response:
        return self._file("index.html")

    async def _static(self, request: web.Request) -> web.Response:
        return self._file(request.match_info["name"])

    def _file(self, name: str) -> web.Response:
        if name not in self._files:
            raise web.HTTPNotFound
        content, kind = self._files[name]
        return web.Response(body=content, content_type=kind, charset="utf-8")

    # The WebSocket -------------------------------------------------------------------------------

    async def _socket(self, request: web.Request) -> web.StreamResponse:
        socket = web.WebSocketResponse(heartbeat=30.0, max_msg_size=LONGEST_MESSAGE, compress=False)
        await socket.prepare(request)
        earlier = self.sessions.find(request.query.get("session", ""))
        is_back = earlier is not None and not earlier.is_connected
        try:
            session = earlier if earlier is not None and is_back else self.sessions.open()
        except TooManySessionsError:
            most = self.limits.sessions
            await socket.send_json({"type": "full", "message": f"All {most} sessions are in use."})
            await socket.close(code=WSCloseCode.TRY_AGAIN_LATER)
            return socket
        session.is_connected, session.turn = True, 0
        self._sockets[session.token] = socket
        await socket.send_json(self._hello(session, is_back))
        if is_back:
            session.greet_returning_page()
        sender = asyncio.create_task(_send_all(session, socket))
        try:
            await self._listen(session, socket)
        finally:
            sender.cancel()
            session.is_connected = False
            self._sockets.pop(session.token, None)
        return socket

    def _hello(self, session: Session, is_back: bool) -> dict[str, object]:
        return {
            "type": "hello",
            "session": session.token,
            "back": is_back,
            "samples": list(SAMPLES),
            "preconditioners": PRECONDITIONERS,
            "colours": downloads.colours(),
            "contestants": CONTESTANTS,
            "types": list(FORMATS),
            "limits": {
                "classes": MOST_CLASSES,
                "brush": LARGEST_BRUSH,
                "name": LONGEST_NAME,
                "bytes": self.limits.upload_bytes,
                "preview": self.limits.preview_pixels,
            },
        }

    async def _listen(self, session: Session, socket: web.WebSocketResponse) -> None:
        async for message in socket:
            if message.type is not WSMsgType.TEXT:
                session.outbox.send("error", message="Only text messages are supported.")
                continue
            session.turn += 1
            try:
                request = parse(message.data)
                await asyncio.to_thread(session.handle, request)
            except ValueError as error:
                session.outbox.send("error", message=str(error))

    # Uploads and downloads -----------------------------------------------------------------------

    async def _upload(self, request: web.Request) -> web.Response:
        session = self._session(request)
        kind = request.content_type
        if kind not in FORMATS:
            raise web.HTTPUnsupportedMediaType(text=NOT_AN_IMAGE)

        def use(data: bytes) -> Photo:
            photo = decode(data, kind, self.limits)
            if not self.sessions.has_room_for(2 * photo.picture.pixels.nbytes, session):
                raise BadImageError(
                    "The open tabs hold too many large images. Close some tabs, and try again."
                )
            session.load(photo, "your image")
            return photo

        height, width = (await self._received(request, session, use)).size
        return web.json_response({"width": width, "height": height})

    async def _upload_scribbles(self, request: web.Request) -> web.Response:
        session = self._session(request)
        if request.content_type != "image/png":
            raise web.HTTPUnsupportedMediaType(text="Scribbles must be a PNG image.")
        photo = session.photo
        if photo is None:
            raise web.HTTPConflict(text="There is no image yet.")
        size = photo.size

        def use(data: bytes) -> int:
            sheet = decode_scribbles(data, size, self.limits)
            session.scribble(sheet)
            return len(sheet.names)

        n_classes = await self._received(request, session, use)
        return web.json_response({"classes": n_classes})

    async def _received(
        self, request: web.Request, session: Session, use: Callable[[bytes], T]
    ) -> T:
        """Receive an upload, call `use` with it in a thread, and return its result."""
        if session.is_uploading:  # limits the memory that one session can use
            raise web.HTTPConflict(text="Another upload is in progress.")
        session.is_uploading = True
        try:
            data = await self._body(request)
            async with self._decoding:
                return await asyncio.to_thread(use, data)
        except BadImageError as error:
            raise web.HTTPUnprocessableEntity(text=str(error)) from None
        finally:
            session.is_uploading = False

    async def _body(self, request: web.Request) -> bytes:
        """Return the uploaded bytes; raise if the upload is too large or too slow."""
        size = self.limits.upload_bytes
        try:
            async with asyncio.timeout(UPLOAD_SECONDS):
                return await request.read()
        except web.HTTPRequestEntityTooLarge:
            text = f"This file is too large. The limit is {size / 2**20:g} MB."
            raise web.HTTPRequestEntityTooLarge(
                max_size=size, actual_size=size, text=text
            ) from None
        except TimeoutError:
            raise web.HTTPRequestTimeout(text="The image did not arrive in time.") from None

    async def _download(self, request: web.Request) -> web.Response:
        session = self._session(request)
        maker = answers.MAKERS.get(request.match_info["name"])
        if maker is None:
            raise web.HTTPNotFound
        file = await asyncio.to_thread(maker, session)
        if file is None:
            raise web.HTTPConflict(text="There is nothing to download yet.")
        # The page chooses the file name, since it knows the name of the opened image.
        headers = {"Content-Disposition": "attachment"}
        return web.Response(body=file.content, content_type=file.kind, headers=headers)

    def _session(self, request: web.Request) -> Session:
        session = self.sessions.find(request.match_info["token"])
        if session is None:
            raise web.HTTPNotFound(text="This session has ended. Reload the page.")
        return session


async def _send_all(session: Session, socket: web.WebSocketResponse) -> None:
    """Send the items of the outbox until cancelled."""
    with contextlib.suppress(ConnectionError):
        while True:
            messages, frames = await session.outbox.take()
            for message in messages:
                await socket.send_str(message)
            for frame in frames:
                await socket.send_bytes(frame.encode())


def _static_files() -> dict[str, tuple[bytes, str]]:
    """Return the content and the content type of each file of the page."""
    folder = resources.files("graphtv.app") / "static"
    return {
        file.name: (file.read_bytes(), kind)
        for file in folder.iterdir()
        for suffix, kind in TYPES.items()
        if file.name.endswith(suffix)
    }
