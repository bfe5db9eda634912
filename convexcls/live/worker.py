"""Answers worked out in child processes, so that one that takes long can be cut off and the page stays alive."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import signal
import warnings
from collections.abc import Mapping
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

#: So many seconds a picture may take, and so many a proof in rationals.
PATIENCE, PATIENCE_FOR_PROOFS = 6.0, 60.0
#: A child takes a while to load the package.
PATIENCE_AT_START = 120.0
MAX_CHILDREN = 4
CUT = "this took longer than {:g} seconds and was cut off; take fewer points, or another solver"
GONE = "the process that worked on this ended; it was started again"
#: An answer that cannot be worked out for a reason of the caller's.
REFUSED, BROKEN = "refused", "broken"


class Unanswered(Exception):
    """A question without an answer; the message is for the page."""


def reply(kind: str, question: Mapping[str, Any]) -> dict[str, Any]:
    """The answer to a question of a page: about a state, about what to load, or at the beginning."""
    if kind == "state":
        from convexcls.live import answer

        return answer(question)
    if kind == "load":
        return _loaded(question)
    return _warmed() if kind == "warm" else _menu()


def _menu() -> dict[str, Any]:
    from convexcls.live.offers import menu

    return menu()


def _warmed() -> dict[str, Any]:
    """Load and compile what any model needs, so that no first drag waits for it."""
    from convexcls.live import answer
    from convexcls.live.loading import first_state
    from convexcls.live.offers import OFFERS

    for model in OFFERS:
        answer(first_state(model))
    rule = first_state("perceptron")  # its loop is compiled
    rule["panels"][0] |= {"solver": "perceptron", "path": True}
    answer(rule)
    return {}


def _loaded(question: Mapping[str, Any]) -> dict[str, Any]:
    from convexcls.live.loading import Unsuitable, from_gallery, from_table
    from convexcls.live.offers import OFFERS

    if isinstance(name := question.get("gallery"), str):
        return {"state": from_gallery(name)}
    text, model = question.get("table"), question.get("model")
    features, target = question.get("features"), question.get("target")
    named = features is None or (isinstance(features, list) and all(isinstance(name, str) for name in features))
    if not isinstance(text, str) or model not in OFFERS or not named or not isinstance(target, str | None):
        raise Unsuitable("what is to be loaded must be a problem of the gallery, or a table with its columns")
    return from_table(text, model, features, target)


def replied(kind: str, question: Mapping[str, Any]) -> tuple[str, str]:
    """The answer as JSON, or what is wrong."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return "", json.dumps(reply(kind, question), allow_nan=False, separators=(",", ":"))
    except ValueError as error:
        return REFUSED, str(error)
    except Exception as error:
        return BROKEN, f"an error of ours ({type(error).__name__}): please report it with the address of this page"


def work(pipe: Connection) -> None:
    """What a child does: one question after another, until nobody asks any more. Ctrl-C is for its parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        while True:
            kind, question = pipe.recv()
            pipe.send(replied(kind, question))
    except (EOFError, OSError):
        return


class Child:
    """One process; it is ended and started anew where a question takes too long."""

    def __init__(self) -> None:
        self.over = False  # whether nobody will ask any more
        self._context = multiprocessing.get_context("spawn")
        self._start()

    def _start(self) -> None:
        self.pipe, other = self._context.Pipe()
        self.process = self._context.Process(target=work, args=(other,), daemon=True)
        self.process.start()
        other.close()

    def end(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.join(5.0)
        self.pipe.close()

    def ask(self, kind: str, question: Mapping[str, Any], seconds: float) -> str:
        """The answer as JSON; to be called from a thread."""
        try:
            self.pipe.send((kind, question))
            if not self.pipe.poll(seconds):
                self._anew()
                raise Unanswered(CUT.format(seconds))
            wrong, text = self.pipe.recv()
        except (EOFError, OSError):
            self._anew()
            raise Unanswered(GONE) from None
        if wrong:
            raise Unanswered(text)
        return str(text)

    def _anew(self) -> None:
        self.end()
        if not self.over:
            self._start()


class Pool:
    """A few children for all pages; who comes first is served first."""

    def __init__(self, children: int | None = None, patience: float = PATIENCE) -> None:
        count = children or max(1, min(MAX_CHILDREN, os.cpu_count() or 1))
        self.patience = patience
        self.children = [Child() for _ in range(count)]
        self.idle: asyncio.Queue[Child] = asyncio.Queue()
        for child in self.children:
            self.idle.put_nowait(child)
        self.menu = ""

    async def begin(self) -> None:
        """Wait for what pages begin with; then the children load what else they will need, one after another, so that
        there is always one that answers."""
        self.menu = await self._ask("menu", {}, PATIENCE_AT_START)
        self.warming = asyncio.create_task(self._warm())

    async def _warm(self) -> None:
        with suppress(Unanswered):  # the server ended meanwhile, or a page's first question loads what is missing
            for _ in self.children:
                await self._ask("warm", {}, PATIENCE_AT_START)

    async def ask(self, kind: str, question: Mapping[str, Any]) -> str:
        """The answer as JSON."""
        exact = kind == "state" and question.get("level") == "exact"
        return await self._ask(kind, question, PATIENCE_FOR_PROOFS if exact else self.patience)

    async def _ask(self, kind: str, question: Mapping[str, Any], seconds: float) -> str:
        child = await self.idle.get()
        try:
            return await asyncio.to_thread(child.ask, kind, question, seconds)
        finally:
            self.idle.put_nowait(child)

    def end(self) -> None:
        """End all children."""
        for child in self.children:
            child.over = True
            child.end()
