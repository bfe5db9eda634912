"""One run of one solver: the problem in the form and units that suit it, its answer mapped back and judged."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, cast

import numpy as np

from convexcls.arrays import Array
from convexcls.caching import cached_property
from convexcls.data import StandIn, copied
from convexcls.problem import Problem, Term
from convexcls.problem.centring import Centred, centre
from convexcls.problem.duality import Dual
from convexcls.problem.scaling import Scaled, equilibrate, unscaled
from convexcls.proofs.certificate import Certificate
from convexcls.proofs.kkt.at_once import MeasuredLater, is_small
from convexcls.proofs.kkt.settling import settled, shortest
from convexcls.proofs.verdict import certify, interrupted
from convexcls.solution import INTERRUPTED, Solution
from convexcls.solvers import Answer, Callback, Iteration, Solver, SolverLike, Standing, Start, made
from convexcls.solvers.time_limit import TimeUp, within

#: How the arithmetic of a solver ends where it cannot go on.
FAILURES = (np.linalg.LinAlgError, ArithmeticError)
#: What a trace keeps besides its numbers: where the solver stood.
Keep = Literal["points"]
#: Before a solver's name: give it the dual of the problem.
DUAL = "dual:"


def read_by_block(problem: Problem, foreign: bool) -> str:
    """Why a solver that makes no passes does not take the rows of the problem; empty where it does. For a ``foreign``
    one rows that are read by block are gathered, where they are few enough."""
    every = [(rows.T if rows.is_transposed else rows).by_block for b in problem.blocks for rows in b.entries.values()]
    found = [rows for rows in every if rows is not None]
    if found and not foreign:
        return "it does not go through its samples by passes, and these are read by block"
    return next((rows.beyond_memory for rows in found if rows.beyond_memory), "")


def beyond_memory(problem: Problem) -> str:
    """Why a matrix P of the problem may not be written out; empty where each may."""
    return next((why for p in problem.matrices.values() if (why := p.beyond_memory)), "")


def by_its_root(problem: Problem) -> Problem:
    """The same problem with 1/2 x'R'Rx stated as 1/2 ‖Rx‖^2, where the root R of its quadratic form is known: then the
    dual of a linear kernel has one unknown a feature."""
    roots = {v: p.root for v, p in problem.P.items() if p.root is not None}
    if problem.terms or len(problem.quadratic) != 1 or not roots:
        return problem
    return problem.restated(quadratic={}, terms=[Term("kernel_root", roots)])


class Forms:
    """A problem and its dual, each as stated and, its features centred, in better units, worked out when a solver asks
    for it."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem

    @cached_property
    def centred(self) -> Centred | None:
        return self.problem.remembered(centre)

    @property
    def primal(self) -> Problem:
        """The problem, its features centred where they are far from zero."""
        return self.problem if self.centred is None else self.centred.problem

    @cached_property
    def dual(self) -> Problem:
        return by_its_root(self.primal).dual()

    @cached_property
    def scaled(self) -> Scaled:
        return equilibrate(self.primal)

    @cached_property
    def scaled_dual(self) -> Scaled:
        return equilibrate(self.dual)

    def job(self, solver: SolverLike, **options: Any) -> Job:
        """The solver, or the one of that name, with its form of the problem."""
        through_dual = isinstance(solver, str) and solver.startswith(DUAL)
        worker = made(solver.removeprefix(DUAL) if isinstance(solver, str) else solver, **options)
        name = (DUAL if through_dual else "") + worker.name
        if worker.as_stated:
            form = self.problem.dual() if through_dual else self.problem
            return Job(self.problem, None, form, unscaled(form), worker, name)
        form, scaled = (self.dual, self.scaled_dual) if through_dual else (self.primal, self.scaled)
        return Job(self.problem, self.centred, form, scaled, worker, name)


class Watcher:
    """Passes each line of a trace on, in the units of the problem, and remembers the last one that had a point; with
    ``keeps`` all lines, their points worked out."""

    def __init__(self, job: Job, callback: Callback | None, keeps: bool = False) -> None:
        self.job, self.callback = job, callback
        self.last: Iteration | None = None
        self.count = 0
        self.kept: list[Iteration] | None = [] if keeps else None

    def __call__(self, line: Iteration) -> None:
        self.count = line.iteration
        if line.standing is not None:
            self.last = line
        if self.callback is not None or self.kept is not None:
            line = self.job.in_original_units(line)
        if self.kept is not None:
            self.kept.append(_standing_still(line))
        if self.callback is not None:
            self.callback(line)

    def trace(self, answer: Answer) -> tuple[Iteration, ...]:
        """The lines of an answer, in the units of the problem; those that are kept have their points, and the last one
        stands at the answer where the solver told no other."""
        if self.kept is None:
            return tuple(map(self.job.in_original_units, answer.trace))
        lines = self.kept or [_standing_still(self.job.in_original_units(line)) for line in answer.trace]
        if lines and lines[-1].standing is None and answer.x is not None:
            at_end = replace(answer.trace[-1], standing=partial(_stand, (np.array(answer.x), answer.multipliers)))
            lines[-1] = _standing_still(self.job.in_original_units(at_end))
        return tuple(lines)

    def stopped(self, message: str) -> Answer:
        """Where the solver stood last, if it told, as its answer."""
        if self.last is None:
            return Answer(None, {}, message, self.count)
        return Answer(self.last.point, self.last.multipliers or {}, message, self.count)


def _stand(where: Standing) -> Standing:
    return where


def _standing_still(line: Iteration) -> Iteration:
    """The line with its point worked out, whatever the solver does afterwards."""
    if line.standing is None or line.point is None:
        return line
    return replace(line, standing=partial(_stand, (np.array(line.point), line.multipliers)))


@dataclass(frozen=True, eq=False)
class Job:
    """A problem, the form of it that a solver gets (itself, or centred, or the dual of either, in better units), and
    the solver."""

    problem: Problem
    centred: Centred | None
    form: Problem
    scaled: Scaled
    worker: Solver
    name: str

    @property
    def takes_start(self) -> bool:
        """Whether the solver can begin at a point of the problem."""
        return self.worker.warm and not self._through_dual

    @property
    def _through_dual(self) -> bool:
        primal = self.problem if self.centred is None else self.centred.problem
        return self.form is not primal

    def refuses(self) -> str:
        """Why the solver does not take the problem; empty if it does."""
        too_large = beyond_memory(self.form) if self.worker.whole_matrix else ""
        if not self.worker.by_passes and not too_large:
            too_large = read_by_block(self.form, bool(self.worker.package))
        return too_large or self.worker.refuses(self.scaled.problem)

    def run(
        self,
        tol: float,
        callback: Callback | None,
        start: Solution | Mapping[str, Any] | None = None,
        chosen: str = "",
        keep: Keep | None = None,
        seconds: float | None = None,
    ) -> Solution:
        """The solver's answer, judged on the problem as stated; ``chosen`` is why this solver was taken; the trace has
        points where these are to be kept. Ctrl-C while it works leaves its last point, undecided, and so does the end
        of the ``seconds`` that it has."""
        begun = time.perf_counter()
        watcher, stopped = Watcher(self, callback, keep == "points"), False
        why = ""
        begin = None if start is None or (isinstance(start, Solution) and start.x is None) else self._start(start)
        try:
            answer = self._answer(begin, tol, watcher, seconds)
        except KeyboardInterrupt:
            if watcher.last is None:  # nothing to show yet
                raise
            answer, stopped = watcher.stopped(INTERRUPTED), True
        except TimeUp:
            answer = watcher.stopped(f"stopped after {seconds:g} seconds")
        taken, trace = time.perf_counter() - begun, watcher.trace(answer)
        if late := seconds is not None and taken >= seconds:
            where = "this is the point that it had reached" if answer.x is not None else "it had told no point"
            why, stopped = f"the solver was cut off after {seconds:g} seconds; {where}", True
        answer = self._restored(answer, tol)
        certificate = self._judged(answer, tol, stopped, why)
        x, multipliers = certificate.x, certificate.multipliers
        return Solution(
            self.problem,
            self.name,
            certificate,
            None if x is None else np.array(x),
            {name: copied(z) for name, z in (multipliers or {}).items()},
            answer.message,
            answer.iterations,
            taken,
            trace,
            answer.report,
            chosen,
            cut_off=late and certificate.status == "undecided",
        )

    def _answer(self, begin: Start | None, tol: float, watcher: Watcher, seconds: float | None) -> Answer:
        """What the solver says. Where its arithmetic fails, as numbers at the ends of the range make it, that is an
        answer too: the last point that it showed, if any, with what happened."""

        def work(worker: Solver, tell: Callback) -> Answer:
            if begin is None:
                return worker.solve(self.scaled.problem, tol, tell)
            return worker.solve_from(begin, self.scaled.problem, tol, tell)

        try:
            return work(self.worker, watcher) if seconds is None else within(seconds, self.worker, work, watcher)
        except Exception as error:
            foreign = bool(self.worker.package) and self.worker.has_its_own_options
            if not foreign and not isinstance(error, FAILURES):
                raise
            return watcher.stopped(f"{self.worker.name} failed ({type(error).__name__}: {error})")

    def _judged(self, answer: Answer, tol: float, stopped: bool, why: str) -> Certificate:
        """The verdict on an answer in the units of the problem; none on where the solver was ``stopped``, unless the
        end of its time (``why``) found it at the end of its work."""
        x, multipliers, rule = answer.x, answer.multipliers, self.worker.rule
        if stopped:
            there = interrupted(self.problem, x, multipliers, tol, answer.iterations, why)
            if not why or there.kkt is None or not there.kkt.holds(tol):
                return there
        proofs: dict[str, Any] = {"farkas": answer.farkas, "direction": answer.direction}
        if rule or answer.farkas is not None or answer.direction is not None:  # a learning rule for what it does
            return certify(self.problem, x, multipliers, tol, **proofs, stand_in=not rule)
        first = certify(self.problem, x, multipliers, tol) if self.problem.remembered(is_small) else None
        if first is not None and (first.status != "optimal" or isinstance(first.kkt, MeasuredLater)):
            return first  # bounds by norms say that no columns depend on each other
        return self._shortest(answer, tol) or first or certify(self.problem, x, multipliers, tol)

    def _shortest(self, answer: Answer, tol: float) -> Certificate | None:
        """The verdict on the shortest coefficients with the same scores, where columns depend on each other and these
        are proved."""
        if answer.x is None or (found := shortest(self.problem, answer.x)) is None:
            return None
        point, note = found
        certificate = certify(self.problem, point, answer.multipliers, tol)
        if certificate.status != "optimal" or certificate.x is None or not np.array_equal(certificate.x, point):
            return None
        return replace(certificate, notes=(*certificate.notes, note))

    def _start(self, start: Solution | Mapping[str, Any]) -> Start:
        """The start in the units of the solver; what does not fit the problem is left out, or an error where the
        caller wrote it."""
        if self._through_dual:
            raise TypeError(f"{self.name!r} works on the dual: it does not take a start")
        x = np.zeros(self.form.size)
        given: Mapping[str, Any] = start.values if isinstance(start, Solution) else start
        for name, values in given.items():
            place, array = x[self.form.layout.get(name, slice(0, 0))], _as_doubles(values)
            if array is not None and place.size == array.size > 0 and np.all(np.isfinite(array)):
                place[:] = array.ravel()
            elif not isinstance(start, Solution):
                sizes = ", ".join(f"{v.name} ({v.size})" for v in self.form.variables)
                raise ValueError(f"start gives {name!r} = {values!r}: give finite values for {sizes}")
        multipliers: Mapping[str, Array] = {}
        if isinstance(start, Solution):
            sizes_by_name = {c.name: c.size for c in self.form.constraints}
            multipliers = {k: z for k, z in start.multipliers.items() if z.size == sizes_by_name.get(k)}
        if self.centred is not None:
            x, multipliers = self.centred.centre(x, multipliers)
        return Start(self.scaled.scale_point(x), self.scaled.scale_multipliers(multipliers))

    def in_original_units(self, line: Iteration) -> Iteration:
        """A line of the trace in the units of the form that the solver got."""
        if self.scaled.changes_nothing and line.standing is None and self.form.sense == "min":
            return line
        objective = self.form.reported(self.scaled.restore_objective(line.objective))
        standing = None if line.standing is None else partial(self._standing, line)
        return Iteration(line.iteration, objective, line.residual, line.step, line.detail, standing, line.seconds)

    def _standing(self, line: Iteration) -> Standing:
        assert line.point is not None
        multipliers = None if line.multipliers is None else self.scaled.restore_multipliers(line.multipliers)
        point = self.scaled.restore_point(line.point)
        if self.centred is None or self._through_dual:
            return point, multipliers
        return self.centred.restore(point, multipliers or {})[0], multipliers

    def _restored(self, answer: Answer, tol: float) -> Answer:
        """The answer in the units of the problem; one to the dual, mapped back."""
        x, direction = self._point(answer.x), self._point(answer.direction)
        multipliers: Mapping[str, Array] = self._multipliers(answer.multipliers or {})
        farkas = None if answer.farkas is None else self._multipliers(answer.farkas)
        if self._through_dual:
            assert isinstance(self.form, Dual)
            farkas = direction = None
            # a point of the dual is none of the primal: without its multipliers there is nothing to map back
            if x is not None and _complete(self.form, multipliers):
                x, multipliers = self.form.recover(x, multipliers)
            else:
                x, multipliers = None, {}
        elif x is not None and not self.worker.rule:
            x = self.form.in_gauge(x)
        if self.centred is not None:
            if x is not None:
                x, multipliers = self.centred.restore(x, multipliers)
            direction = None if direction is None else self.centred.restore(direction, {})[0]
        if x is not None and not self.worker.rule:
            x = settled(self.problem, x, tol)
        told = answer.message, answer.iterations, answer.trace
        return Answer(x, dict(multipliers), *told, farkas, direction, answer.report)

    def _point(self, values: Any) -> Array | None:
        """A point in the units of the form. None where there is none, or where it does not fit: a solver is not even
        trusted to count."""
        array = None if values is None else _as_doubles(values)
        return None if array is None or array.shape != (self.form.size,) else self.scaled.restore_point(array)

    def _multipliers(self, values: Mapping[str, Any]) -> dict[str, Array]:
        """Multipliers in the units of the form, without those that do not fit."""
        sizes = {c.name: c.size for c in self.form.constraints} | {b.name: b.size + 1 for b in self.form.norm_bounds}
        arrays = {name: _as_doubles(z) for name, z in values.items() if name in sizes}
        return self.scaled.restore_multipliers(
            {name: z for name, z in arrays.items() if z is not None and z.shape == (sizes[name],)}
        )


def _as_doubles(values: Any) -> Array | None:
    if isinstance(values, StandIn):
        return cast("Array", values.astype(float))
    try:
        return np.array(values, dtype=float)
    except (TypeError, ValueError):
        return None


def _complete(problem: Problem, multipliers: Mapping[str, Array]) -> bool:
    """Whether every constraint has its multipliers."""
    return all(block.name in multipliers for block in (*problem.constraints, *problem.norm_bounds))
