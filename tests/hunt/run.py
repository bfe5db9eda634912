"""One case through the package: declared, solved, proved at higher levels, written, verified; and judged each time."""

from __future__ import annotations

import os
import signal
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

import convexcls as cc
from tests.hunt.draw import Case, draw
from tests.hunt.judge import Judge
from verifier import verify_certificate

#: Solvers besides auto; each is also tried on the dual, where it takes that.
OTHERS = (
    "closed-form",
    "moments",
    "newton",
    "newton-kkt",
    "gradient",
    "smo",
    "highs",
    "working-set",
    "active-set",
    "coordinate-descent",
    "clarabel",
    "osqp",
    "interior-point",
    "cvxpy:CLARABEL",
    "cvxpy:SCS",
    "dual:clarabel",
    "dual:osqp",
    "dual:highs",
    "dual:newton-kkt",
    "dual:interior-point",
    "dual:closed-form",
)
LEVELS = ("float", "rigorous", "exact")
#: Errors that tell a user what is wrong with the data or the request, and what to do.
CLEAR = (cc.DataError, cc.ProblemError, cc.NoAnswer, cc.SolverRefused, cc.MatrixTooLarge)
#: What the hunt is for; a fault is one of its own.
BAD = ("wrong", "crash", "hang", "refused", "warning", "output", "fault")
STAND_ALONE = tuple(verify_certificate.MODELS)


class Hang(BaseException):
    """Something took too long. Not an ``Exception``: nothing inside shall catch it."""


@dataclass
class Record:
    """What came of one claim, or of one step on the way to it."""

    kind: str  # right, undecided, unjudged, error; or one of BAD
    case: Case
    solver: str
    level: str
    words: str = ""

    @property
    def bad(self) -> bool:
        return self.kind in BAD

    def line(self) -> str:
        stated = " ".join(f"{k}={v}" for k, v in self.case.parameters.items())
        where = f"{self.case.family} {self.case.model} {stated}{' weighted' if self.case.weights else ''}"
        return f"{self.kind.upper():8} {self.case.name:14} {where} [{self.solver} {self.level}] {self.words}"


@dataclass
class Runner:
    """Runs one case by the solvers and levels asked for."""

    case: Case
    limit: float = 20.0
    records: list[Record] = field(default_factory=list)
    solver: str = "auto"
    level: str = "float"

    def run(self, solvers: str, levels: Sequence[str]) -> list[Record]:
        """By auto alone, by auto and ``some`` other solver at one higher level, or by ``all`` at all levels."""
        model = getattr(cc, self.case.model)
        problem = self.step("declare", partial(model, self.case.X, self.case.y, **self.case.arguments))
        if problem is None:
            return self.records
        judge = Judge(self.case, problem)
        g = np.random.default_rng([self.case.seed, self.case.index, 1])
        others = [] if solvers == "auto" else OTHERS if solvers == "all" else g.permutation(OTHERS).tolist()
        for self.solver in ["auto", *others]:
            self.level = "float"
            solution = self.step("solve", partial(self.solve, problem))
            if solution is not None:
                self.at_levels(solution, judge, levels if solvers == "all" else _some(g, levels))
                if solvers == "some" and self.solver != "auto":
                    break
        return self.records

    def at_levels(self, solution: Any, judge: Judge, levels: Sequence[str]) -> None:
        for self.level in levels:
            raised = self.step("raise the level", partial(solution.at_level, self.level))
            if raised is not None:
                self.claims(raised, judge)

    def solve(self, problem: Any) -> Any:
        """The solution; None where the solver does not take the problem."""
        try:
            return problem.solve(self.solver)
        except cc.SolverRefused:
            if self.solver == "auto":
                raise
            return None

    def claims(self, solution: Any, judge: Judge) -> None:
        """Judge a solution, have it told, written and verified."""
        try:
            with limit(2 * self.limit):
                verdict = judge.verdict(solution)
            self.add(verdict.outcome, verdict.why)
        except Hang:
            self.add("unjudged", "the oracle took too long")
        except Exception as error:  # a fault of the hunt, which must not end it
            self.add("fault", f"{type(error).__name__}: {error} ({traceback.extract_tb(error.__traceback__)[-1]})")
        certificate = solution.certificate
        self.step("explain", certificate.explain)
        self.step("summary", certificate.summary)
        if certificate.status == "undecided":
            return
        text = self.step("to_json", certificate.to_json)
        if text is None:
            return
        checked = self.step("verify", partial(cc.verify, text, self.case.X, self.case.y, self.case.weights))
        if checked is not None and not checked.accepted:
            self.add("refused", "cc.verify: " + "; ".join(checked.reasons))
        if certificate.problem.kind in STAND_ALONE and certificate.status in ("optimal", "infeasible"):
            self.step("the stand-alone verifier", partial(self.stand_alone, text))

    def stand_alone(self, text: str) -> None:
        case = self.case
        labels = case.y if case.parameters.get("coding") == "real" else [str(label) for label in case.y]
        try:
            verify_certificate.verify(text, case.table, labels, case.weights)
        except verify_certificate.Refused as error:
            self.add("refused", f"stand-alone verifier: {error.args[0]}")

    def step(self, what: str, action: Callable[[], Any]) -> Any:
        """The result of an action; None where it raises, which is recorded, as is every warning."""
        with warnings.catch_warnings(record=True) as caught, tempfile.TemporaryFile() as written:
            warnings.simplefilter("always")
            try:
                with limit(self.limit), redirected(written):
                    return action()
            except CLEAR as error:
                self.add("error", f"{what}: {error}")
            except Hang:
                self.add("hang", f"{what} took more than {self.limit:g} s")
            except Exception as error:
                frames = traceback.extract_tb(error.__traceback__)
                place = next((f for f in reversed(frames) if "convexcls" in f.filename), frames[-1])
                where = _place(place.filename, place.lineno)
                self.add("crash", f"{what}: {type(error).__name__}: {str(error)[:120]} ({where})")
            finally:
                told = {f"{w.category.__name__}: {w.message} ({_place(w.filename, w.lineno)})" for w in caught}
                for words in sorted(told):
                    self.add("warning", f"{what}: {words}")
                written.seek(0)
                if text := written.read().decode(errors="replace").strip():
                    self.add("output", f"{what}: {text[:200]}")
        return None

    def add(self, kind: str, words: str = "") -> None:
        self.records.append(Record(kind, self.case, self.solver, self.level, " ".join(words.split())))


@contextmanager
def redirected(file: Any) -> Iterator[None]:
    """Whatever is written to the two streams, by libraries in C too, goes to a file."""
    kept = {number: os.dup(number) for number in (1, 2)}
    try:
        for number in kept:
            os.dup2(file.fileno(), number)
        yield
    finally:
        for number, copy in kept.items():
            os.dup2(copy, number)
            os.close(copy)


def _place(filename: str, line: int | None) -> str:
    return f"{filename.rsplit('convexcls/', 1)[-1]}:{line}"


def _some(g: Any, levels: Sequence[str]) -> list[str]:
    """The level float, and one of the higher ones."""
    higher = [level for level in levels if level != "float"]
    return [*(["float"] if "float" in levels else []), *([str(g.choice(higher))] if higher else [])]


@contextmanager
def limit(seconds: float) -> Iterator[None]:
    """``Hang`` after so many seconds of work: what other processes take does not count."""

    def ring(*_: Any) -> None:
        raise Hang

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


def hunt(seed: int, index: int, solvers: str, levels: Sequence[str], limit: float = 20.0) -> list[Record]:
    """The records of one case."""
    return Runner(draw(seed, index), limit).run(solvers, levels)
