"""The tests on one mutant after another: collected once, run in a forked child each, stopped at the first failure."""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from tests.mutants.operators import Mutant
from tests.mutants.transplant import transplant

#: A mutant that takes this many times as long as the tests take without it, and some seconds, hangs.
PATIENCE, SECONDS = 5.0, 20.0


@dataclass
class Session:
    """A plugin of pytest that runs, instead of every test once, the tests of each mutant's file."""

    root: Path
    chosen: dict[str, list[str]]  # tests by file
    mutants: Sequence[Mutant]
    jobs: int
    tell: Callable[[Mutant, str], None]
    broken: str = ""
    seconds: dict[str, float] = field(default_factory=dict)
    reached: dict[str, dict[str, list[int]]] = field(default_factory=dict)  # lines by file by test
    kills: Counter[tuple[str, str]] = field(default_factory=Counter)
    running: dict[int, tuple[Mutant, Path]] = field(default_factory=dict)

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """The tests without a mutant, which must pass and are timed; then with each."""
        chosen = {name for names in self.chosen.values() for name in names}
        every = [item for item in session.items if any(item.nodeid.startswith(name) for name in chosen)]
        with tempfile.TemporaryDirectory() as folder:
            done = Path(folder) / "whole"
            self._fork(every, None, done, limit=3600)
            os.wait()
            told = json.loads(done.read_text()) if done.exists() else {"failed": "everything"}
            self.broken, self.seconds, self.reached = told["failed"], told.get("seconds", {}), told.get("reached", {})
            for k, mutant in enumerate([] if self.broken else self.mutants):
                items = self._items_of(every, mutant)
                limit = SECONDS + PATIENCE * sum(self.seconds[item.nodeid] for item in items)
                self._fork(items, mutant, Path(folder) / str(k), limit)
                if len(self.running) >= self.jobs:
                    self._reap()
            while self.running:
                self._reap()
        return True

    def _items_of(self, items: Sequence[pytest.Item], mutant: Mutant) -> list[pytest.Item]:
        """The tests of the mutant's file that reach its lines (what runs at import, as the fields of a class do, is
        reached by all): those that have noticed most mutants first, then the quick ones."""
        mine = [i for i in items if any(i.nodeid.startswith(name) for name in self.chosen[mutant.path])]
        if mutant.function:
            mine = [i for i in mine if set(mutant.lines) & set(self.reached[i.nodeid].get(mutant.path, ()))] or mine
        return sorted(mine, key=lambda i: (-self.kills[mutant.path, i.nodeid], self.seconds[i.nodeid]))

    def _fork(self, items: Sequence[pytest.Item], mutant: Mutant | None, done: Path, limit: float) -> None:
        pid = os.fork()
        if pid:
            if mutant is not None:
                self.running[pid] = mutant, done
            return
        code = 1
        try:
            signal.setitimer(signal.ITIMER_REAL, limit)  # ends the child where nothing else does
            os.environ["PYTEST_DEBUG_TEMPROOT"] = str(done.parent)
            for stream in (1, 2):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
            if mutant is not None:
                transplant(self.root / mutant.path, mutant.source)
            done.write_text(json.dumps(_first_failure(items) if mutant else self._measured(items)))
            code = 0
        finally:
            os._exit(code)

    def _reap(self) -> None:
        pid, status = os.wait()
        mutant, done = self.running.pop(pid)
        if os.WIFSIGNALED(status):
            return self.tell(mutant, "hangs" if os.WTERMSIG(status) == signal.SIGALRM else "crashes")
        if not done.exists():
            return self.tell(mutant, "does not import")
        failed = json.loads(done.read_text())["failed"]
        self.kills[mutant.path, failed] += bool(failed)
        return self.tell(mutant, failed)

    def _measured(self, items: Sequence[pytest.Item]) -> dict[str, Any]:
        """The same without a mutant, with the lines of the chosen files that each test reaches."""
        files = {str(self.root / name): name for name in self.chosen}
        found: dict[str, dict[str, set[int]]] = {}

        def trace(frame: FrameType, event: str, _: object) -> Any:
            name = files.get(frame.f_code.co_filename)
            if name is not None:
                lines.setdefault(name, set()).add(frame.f_lineno)
            return trace if name is not None else None

        failed, seconds = "", {}
        for item in items:
            lines = found[item.nodeid] = {}
            sys.settrace(trace)
            told = _first_failure([item])
            sys.settrace(None)
            failed, seconds = failed or told["failed"], seconds | told["seconds"]
        reached = {test: {name: sorted(at) for name, at in files.items()} for test, files in found.items()}
        return {"failed": failed, "seconds": seconds, "reached": reached}


def _first_failure(items: Sequence[pytest.Item]) -> dict[str, Any]:
    """The name of the first test that fails, and how long each has taken."""
    seconds: dict[str, float] = {}
    for item, following in zip(items, [*items[1:], None], strict=False):  # of no items, too: then nothing fails
        start = time.monotonic()
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        seconds[item.nodeid] = time.monotonic() - start
        if item.session.testsfailed:
            return {"failed": item.nodeid, "seconds": seconds}
    return {"failed": "", "seconds": seconds}


def collected(tests: Iterator[str] | Sequence[str], plugin: Session) -> int:
    """Collect the tests and run them on the mutants."""
    quiet = [
        "-q",
        "-s",
        "--no-header",
        "--no-summary",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        "--assert=plain",
        "--tb=native",
    ]
    return int(pytest.main([*tests, *quiet], plugins=[plugin]))
