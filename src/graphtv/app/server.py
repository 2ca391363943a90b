"""The web server: the page, its WebSocket, uploads and downloads.

====  =================================  ========================================================
GET   /, /static/NAME                    the page; its files are read when the server starts
GET   /live                              the WebSocket; ``?session=TOKEN`` resumes a session
POST  /session/TOKEN/image               upload of a PNG, JPEG, WebP or BMP image
GET   /session/TOKEN/NAME.png            image, labels, scribbles, denoised
====  =================================  ========================================================

Names in requests are keys of dictionaries. They are never used as file names.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from importlib import resources

from aiohttp import WSCloseCode, WSMsgType, web

from graphtv.app import downloads
from graphtv.app.limits import LARGEST_BRUSH, LONGEST_MESSAGE, LONGEST_NAME, MOST_CLASSES, Limits
from graphtv.app.origin_guard import add_headers, guard, is_loopback
from graphtv.app.photo import FORMATS, BadImageError, decode
from graphtv.app.pool import Pool
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
                web.get("/session/{token}/{name}.png", self._download),
            ]
        )
        return application

    # Beginning and end ---------------------------------------------------------------------------

    async def _live(self, _: web.Application) -> AsyncIterator[None]:
        self.pool = Pool()
        self.sessions = Sessions(self.pool, self.limits)
        reaper = asyncio.create_task(self._reap())
        yield
        reaper.cancel()
        await asyncio.to_thread(self.pool.close)

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
            "types": list(FORMATS),
            "limits": {
                "classes": MOST_CLASSES,
                "brush": LARGEST_BRUSH,
                "name": LONGEST_NAME,
                "bytes": self.limits.upload_bytes,
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
            raise web.HTTPUnsupportedMediaType(text="This is not a PNG, JPEG, WebP or BMP image.")
        if session.is_uploading:  # limits the memory that one session can use
            raise web.HTTPConflict(text="Another upload is in progress.")
        session.is_uploading = True
        try:
            data = await self._body(request)
            async with self._decoding:
                photo = await asyncio.to_thread(decode, data, kind, self.limits)
        except BadImageError as error:
            raise web.HTTPUnprocessableEntity(text=str(error)) from None
        finally:
            session.is_uploading = False
        await asyncio.to_thread(session.load, photo, "your image")
        return web.json_response({"width": photo.shape[1], "height": photo.shape[0]})

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
        name = request.match_info["name"]
        makers: dict[str, Callable[[Session], bytes | None]] = {
            "image": _image,
            "labels": _labels,
            "scribbles": _scribbles,
            "denoised": _denoised,
        }
        if name not in makers:
            raise web.HTTPNotFound
        content = await asyncio.to_thread(makers[name], session)
        if content is None:
            raise web.HTTPConflict(text="There is nothing to download yet.")
        kind = "inline" if name == "image" else "attachment"
        headers = {"Content-Disposition": f'{kind}; filename="{name}.png"'}
        return web.Response(body=content, content_type="image/png", headers=headers)

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


def _image(session: Session) -> bytes | None:
    photo = session.photo
    return None if photo is None else downloads.encode_image(photo.pixels)


def _labels(session: Session) -> bytes | None:
    photo, answer = session.photo, session.labels
    if photo is None or answer is None or answer.labels.shape != photo.shape:
        return None
    return downloads.encode_classes(answer.labels, photo.original, session.names)


def _scribbles(session: Session) -> bytes | None:
    photo, marks = session.photo, session.marks
    if photo is None or not marks.any() or marks.shape != photo.shape:
        return None
    return downloads.encode_classes(marks, photo.original, session.names)


def _denoised(session: Session) -> bytes | None:
    answer = session.denoised
    return None if answer is None else downloads.encode_image(answer.clean)


def _static_files() -> dict[str, tuple[bytes, str]]:
    """Return the content and the content type of each file of the page."""
    folder = resources.files("graphtv.app") / "static"
    return {
        file.name: (file.read_bytes(), kind)
        for file in folder.iterdir()
        for suffix, kind in TYPES.items()
        if file.name.endswith(suffix)
    }
