"""The page over HTTP on this machine: files, and a socket that answers. Needs the extra ``live``.

Everything lies under a token in the address, so that no other page of the browser can find it; the names of host and
origin are checked, so that none can be led here; the page may load nothing from elsewhere.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import socket
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from convexcls.live.worker import Pool, Unanswered

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript", "woff2": "font/woff2"}
FILES = {
    "": ("convexcls.live", "page.html"),
    "page.css": ("convexcls.live", "page.css"),
    "page.js": ("convexcls.live", "page.js"),
    "live.css": ("convexcls.live", "live.css"),
    "live.js": ("convexcls.live", "live.js"),
    "mathematics.woff2": ("convexcls.report", "mathematics.woff2"),
}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
SECURITY = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
#: A table to load is the longest message; a state of 500 points has some 20 kB.
MAX_MESSAGE_BYTES, MAX_STATE_BYTES = 1_500_000, 100_000
MAX_PAGES = 64
#: A page that sends more messages a second is no page of ours.
MAX_MESSAGES_PER_SECOND = 300
POLICY_VIOLATION, TRY_AGAIN_LATER = 1008, 1013


@dataclass(frozen=True)
class Place:
    """Where the server is: the name it was given, its port, and the token."""

    host: str
    port: int
    token: str

    @property
    def url(self) -> str:
        """The address of the page."""
        shown = "127.0.0.1" if self.host in ("0.0.0.0", "::") else self.host
        return f"http://{f'[{shown}]' if ':' in shown else shown}:{self.port}/{self.token}/"

    def knows(self, headers: Headers) -> bool:
        """Whether a request was meant for this server, and where it says so came from its own page. Bound to all
        addresses of the machine it cannot know its own names: then origin and host must agree."""
        host, origin = headers.get("host", ""), headers.get("origin")
        everywhere = self.host in ("0.0.0.0", "::")
        names = {f"{name}:{self.port}" for name in (*LOOPBACK, self.host, f"[{self.host}]")}
        return (everywhere or host in names) and origin in (None, f"http://{host}")


class Guard:
    """Refuses what comes by another name or from another page, and puts the policy on everything that goes out."""

    def __init__(self, app: ASGIApp, place: Callable[[], Place]) -> None:
        self.app, self.place = app, place

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            return await self.app(scope, receive, send)
        headers = Headers(scope=scope)
        foreign = not self.place().knows(headers)
        if scope["type"] == "websocket":
            if foreign or headers.get("origin") is None:  # a browser always says it
                return await send({"type": "websocket.close", "code": POLICY_VIOLATION})
            return await self.app(scope, receive, send)

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                known = [(name.encode(), value.encode()) for name, value in SECURITY.items()]
                message["headers"] = [*message.get("headers", []), *known]
            await send(message)

        if foreign:
            return await PlainTextResponse("not for this server", 421)(scope, receive, guarded)
        return await self.app(scope, receive, guarded)


def application(place: Callable[[], Place], state: Mapping[str, Any], pool: Pool) -> ASGIApp:
    """The application, beginning with a state; ``place`` is known when the first request comes."""
    pages: set[WebSocket] = set()

    def known(token: str) -> bool:
        return secrets.compare_digest(token.encode(), place().token.encode())

    def file(request: Request) -> Response:
        name = request.path_params.get("name", "")
        if not known(request.path_params["token"]) or name not in FILES:
            return PlainTextResponse("there is nothing here", 404)
        package, path = FILES[name]
        data = files(package).joinpath(path).read_bytes()
        return Response(data, media_type=TYPES[path.rpartition(".")[2]])

    async def talk(page: WebSocket) -> None:
        if not known(page.path_params["token"]) or len(pages) >= MAX_PAGES:
            await page.close(TRY_AGAIN_LATER if len(pages) >= MAX_PAGES else POLICY_VIOLATION)
            return
        await page.accept()
        pages.add(page)
        try:
            await page.send_text(f'{{"menu":{pool.menu},"state":{json.dumps(state)}}}')
            await Talk(page, pool).go()
        except WebSocketDisconnect:
            pass
        finally:
            pages.discard(page)

    @asynccontextmanager
    async def life(_: Starlette) -> AsyncIterator[None]:
        await pool.begin()
        yield
        pool.end()

    routes = [
        Route("/{token}/", file),
        Route("/{token}/{name}", file),
        WebSocketRoute("/{token}/socket", talk),
    ]
    return Guard(Starlette(routes=routes, lifespan=life), place)


class Talk:
    """The questions of one page, one at a time. While one is worked on only the newest of each kind waits: the drags
    before it are dropped, which the page is told."""

    def __init__(self, page: WebSocket, pool: Pool) -> None:
        self.page, self.pool = page, pool
        self.waiting: dict[str, tuple[int, dict[str, Any]]] = {}
        self.come = asyncio.Event()
        self.counted: list[float] = []

    async def go(self) -> None:
        """Until the page is gone."""
        answering = asyncio.create_task(self._answer())
        try:
            while True:
                await self._hear(await self.page.receive_text())
        finally:
            answering.cancel()

    async def _hear(self, text: str) -> None:
        now = time.monotonic()
        self.counted = [when for when in self.counted if when > now - 1.0] + [now]
        if len(self.counted) > MAX_MESSAGES_PER_SECOND:
            await self._refuse("too many messages")
        try:
            message = json.loads(text)
            number = message["number"]
            kind, question = next((k, message[k]) for k in ("state", "load") if k in message)
        except (ValueError, TypeError, KeyError, StopIteration, RecursionError):
            await self._refuse("no message of a page")
        if type(number) is not int or not isinstance(question, dict) or not 0 <= number < 2**53:
            await self._refuse("no message of a page")
        if kind == "state" and len(text) > MAX_STATE_BYTES:
            await self.page.send_text(json.dumps({"number": number, "error": "the state is too long"}))
            return
        dropped = self.waiting.pop(kind, None)
        self.waiting[kind] = (number, question)
        self.come.set()
        if dropped is not None:
            await self.page.send_text(json.dumps({"number": dropped[0], "dropped": True}))

    async def _refuse(self, reason: str) -> None:
        await self.page.close(POLICY_VIOLATION, reason)
        raise WebSocketDisconnect(POLICY_VIOLATION, reason)

    async def _answer(self) -> None:
        while True:
            await self.come.wait()
            self.come.clear()
            while self.waiting:
                kind = next(iter(self.waiting))
                number, question = self.waiting.pop(kind)
                name = "answer" if kind == "state" else "loaded"
                try:
                    text = f'{{"number":{number},"{name}":{await self.pool.ask(kind, question)}}}'
                except Unanswered as error:
                    text = json.dumps({"number": number, "error": str(error)})
                await self.page.send_text(text)


def serve(
    state: Mapping[str, Any], host: str, port: int, ready: Callable[[str], None], token: str | None = None
) -> None:
    """Serve the page until Ctrl-C; ``ready`` hears the address once it answers. Port 0 takes one that is free; without
    a token there is a new one."""
    import uvicorn

    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    with listening:
        listening.bind((host, port))
        place = Place(host, int(listening.getsockname()[1]), token or secrets.token_urlsafe(18))
        pool = Pool()
        app = application(lambda: place, state, pool)
        settings: dict[str, Any] = {"log_level": "error", "access_log": False, "server_header": False}
        config = uvicorn.Config(app, ws="websockets-sansio", ws_max_size=MAX_MESSAGE_BYTES, lifespan="on", **settings)
        server = _telling(config, lambda: ready(place.url))
        try:
            server.run(sockets=[listening])
        finally:
            pool.end()


def _telling(config: Any, ready: Callable[[], None]) -> Any:
    """A server that says when it answers."""
    import uvicorn

    class Telling(uvicorn.Server):
        async def startup(self, sockets: Any = None) -> None:
            await super().startup(sockets=sockets)
            if self.started:
                ready()

    return Telling(config)
