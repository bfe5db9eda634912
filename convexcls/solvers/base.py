"""The contract of a solver.

A solver is an untrusted worker: it takes a problem in the one form and returns a point with multipliers. What it says
about its own success is kept as a hint and never believed. A new solver is one file in the folder of its family, with a
subclass of ``Solver``, and one line in the registry (``solvers/__init__.py``).
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields
from functools import cache, cached_property, partial
from typing import Any, ClassVar, Self

import numpy as np

from convexcls.arrays import Array
from convexcls.problem import Constraint, Problem
from convexcls.wording import did_you_mean


class SolverRefused(ValueError):
    """The solver does not take this problem; the message says why and which solvers do.

    >>> import convexcls as cc
    >>> problem = cc.LogisticMLE([[0], [1], [2]], [0, 1, 0])
    >>> try:
    ...     problem.solve("highs")
    ... except cc.SolverRefused as error:
    ...     print(str(error).split(":")[0])
    ...
    solver 'highs' does not take the logistic regression
    """


#: A point and, where they are known, the multipliers there.
Standing = tuple[Array, Mapping[str, Array] | None]


@dataclass(frozen=True)
class Iteration:
    """One line of a trace. ``detail`` holds what a particular solver can show besides; ``point`` and ``multipliers``
    are where it stands, worked out when they are looked at; a trace keeps them with ``keep="points"`` only.
    ``seconds`` have passed since the solver began.

    >>> from convexcls.solvers import Iteration
    >>> print(Iteration(3, 0.5, 1e-4))
        3  objective 0.5  residual 1.0e-04
    """

    iteration: int
    objective: float
    residual: float
    step: float = 1.0
    detail: Mapping[str, Any] = field(default_factory=dict, compare=False)
    standing: Callable[[], Standing] | None = field(default=None, compare=False, repr=False)
    seconds: float = field(default=math.nan, compare=False, repr=False)

    @cached_property
    def _stands(self) -> tuple[Array | None, Mapping[str, Array] | None]:
        return (None, None) if self.standing is None else self.standing()

    @property
    def point(self) -> Array | None:
        """Where the solver stands; None where it does not tell."""
        return self._stands[0]

    @property
    def multipliers(self) -> Mapping[str, Array] | None:
        """The multipliers there; None where it does not tell."""
        return self._stands[1]

    def __str__(self) -> str:
        return f"{self.iteration:5d}  objective {self.objective:.10g}  residual {self.residual:.1e}"


def printing(who: str, callback: Callback | None = None) -> Callback:
    """A callback that prints every line as one of ``who``'s before the other hears of it.

    >>> from convexcls.solvers import Iteration, printing
    >>> printing("mine")(Iteration(3, 0.5, 1e-4))
    [mine]     3  objective 0.5  residual 1.0e-04
    """

    def told(line: Iteration) -> None:
        print(f"[{who}] {line}")
        if callback is not None:
            callback(line)

    return told


class WhenLookedAt(Mapping[str, Any]):
    """Details of an iteration that are worked out when somebody looks at them, and once."""

    def __init__(self, work: Callable[[], dict[str, Any]]) -> None:
        self._work = work

    @cached_property
    def _found(self) -> dict[str, Any]:
        return self._work()

    def __getitem__(self, key: str) -> Any:
        return self._found[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (self._found,)


Callback = Callable[[Iteration], None]


@dataclass(frozen=True, eq=False)
class Answer:
    """What a solver returns: a point, multipliers by constraint, and hints.

    ``x`` is the point, all variables joined, None where there is none; ``multipliers`` are by the name of the
    constraint, at least 0 for inequalities. A ``farkas`` vector by constraint is offered as a proof that there is no
    feasible point, a ``direction`` that the objective falls for ever; ``message`` is the solver's own word. None of it
    is believed.

    >>> from convexcls.solvers import Answer
    >>> Answer([1.0, 0.0], {"margin": [0.5, 0.5]}, "solved").message
    'solved'
    """

    x: Array | None
    multipliers: Mapping[str, Array] = field(default_factory=dict)
    message: str = ""
    iterations: int = 0
    trace: tuple[Iteration, ...] = ()
    farkas: Mapping[str, Array] | None = None
    direction: Array | None = None
    #: What a learning rule has to tell besides, such as the perceptron's updates.
    report: Any = None


@dataclass(frozen=True, eq=False)
class Start:
    """Where a solver may begin: a point and, where they are known, multipliers by constraint.

    >>> import numpy as np
    >>> from convexcls.solvers import Start
    >>> Start(np.zeros(2)).multipliers
    {}
    """

    x: Array
    multipliers: Mapping[str, Array] = field(default_factory=dict)


@dataclass(frozen=True)
class Solver(ABC):
    """A solver with its options as typed fields. ``promise`` is the relative accuracy it reaches on problems
    of ordinary scale; ``accepts`` says in words what it takes.

    One of your own derives from it, with a ``name``, with ``refuses`` and with ``solve``. It gets the problem in better
    units, unless it is to be run ``as_stated``; what it returns is mapped back and judged on the problem as stated.

    >>> import convexcls as cc
    >>> from convexcls.solvers import Answer, Solver
    >>> class Guess(Solver):
    ...     name = "guess"
    ...
    ...     def refuses(self, problem):
    ...         return "" if problem.size == 2 else "it has two numbers to guess"
    ...
    ...     def solve(self, problem, tol, callback=None):
    ...         return Answer([1.0, -1.0], {"margin": [0.5, 0.5]})
    ...
    >>> cc.HardMarginSVM([[0], [2]], [0, 1]).solve(Guess()).status
    'optimal'
    >>> [row.status for row in cc.compare(cc.HardMarginSVM([[0], [2]], [0, 1]), ["working-set", Guess]).rows]
    ['optimal', 'optimal']
    >>> cc.HardMarginSVM([[0, 0], [2, 1]], [0, 1]).solve(Guess)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    convexcls.solvers.base.SolverRefused: solver 'guess' does not take the hard-margin SVM: it has two numbers to ...
    """

    name: ClassVar[str]
    accepts: ClassVar[str] = "what it does not refuse"
    promise: ClassVar[float] = 1e-8
    package: ClassVar[str] = ""
    #: Whether the solver can begin at a given point: then it overrides ``solve_from``.
    warm: ClassVar[bool] = False
    #: Whether ``auto`` lets it begin at the best answer so far, which did not suffice.
    finishes: ClassVar[bool] = False
    #: Whether the solver needs a matrix P written out; one that works with its rows does not.
    whole_matrix: ClassVar[bool] = True
    #: Whether it goes through the rows by passes, so that it takes those that are read by block.
    by_passes: ClassVar[bool] = False
    #: Whether the solver is a formula that gives all the digits that doubles have: where it finds nothing that can be
    #: proved, ``auto`` asks no other.
    final: ClassVar[bool] = False
    #: Whether the solver is a rule whose steps matter, to be run in the units of the caller's data.
    as_stated: ClassVar[bool] = False
    #: Whether the solver has an option ``time_limit`` and stops by itself when the time is up.
    keeps_time: ClassVar[bool] = False
    #: Whether the solver is a learning rule, shown for what it does: its answer need not be proved, so it takes part
    #: in comparisons only where it is named.
    rule: ClassVar[bool] = False

    def __post_init__(self) -> None:
        for f in fields(self):
            value = getattr(self, f.name)
            if isinstance(f.default, bool) or not isinstance(f.default, (int, float)) or f.default == 0:
                continue  # an option that may be 0, such as a seed, is checked by its solver
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not value > 0:
                raise ValueError(f"option {f.name} of solver {self.name!r} is {value!r}: it must be a number above 0")

    @classmethod
    def with_options(cls, **options: Any) -> Self:
        """The solver with these options; an unknown one is an error that names the right ones."""
        if not options:
            return cls._as_it_is()
        known = {f.name: f for f in fields(cls)}
        for option in options:
            if option not in known:
                names = ", ".join(map(_with_default, known.values())) or "none"
                meant = did_you_mean(option, known)
                raise TypeError(f"solver {cls.name!r} has no option {option!r}; its options are: {names}{meant}")
        return cls(**options)

    @classmethod
    @cache
    def _as_it_is(cls) -> Self:
        """The solver without options: frozen, so that one serves all."""
        return cls()

    @classmethod
    def is_foreign(cls) -> bool:
        """Whether the work is done by somebody else's code."""
        return bool(cls.package) or not str(cls.__module__).startswith("convexcls.solvers.")

    @property
    def has_its_own_options(self) -> bool:
        """Whether nobody has set any of its options."""
        return all(getattr(self, f.name) == default_of(f) for f in fields(self))

    @abstractmethod
    def refuses(self, problem: Problem) -> str:
        """Why this solver does not take the problem; empty if it does."""

    def solve(self, problem: Problem, tol: float, callback: Callback | None = None) -> Answer:
        """Work on the problem, aiming at the relative accuracy ``tol``; a warm solver begins at 0 unless it says
        otherwise."""
        return self.solve_from(Start(np.zeros(problem.size)), problem, tol, callback)

    def solve_from(self, start: Start, problem: Problem, tol: float, callback: Callback | None = None) -> Answer:
        """The same, beginning at ``start``."""
        raise TypeError(f"solver {self.name!r} does not take a start")


@dataclass
class Tracer:
    """Collects a trace and passes each line on to the caller's callback.

    >>> from convexcls.solvers import Tracer
    >>> tracer = Tracer()
    >>> tracer.record(objective=2.0, residual=0.5)
    >>> tracer.record(objective=1.0, residual=0.1)
    >>> [line.iteration for line in tracer.lines]
    [0, 1]
    """

    callback: Callback | None = None
    lines: list[Iteration] = field(default_factory=list)
    begun: float = field(default_factory=time.perf_counter)

    def record(
        self,
        objective: float,
        residual: float,
        step: float = 1.0,
        detail: Mapping[str, Any] | None = None,
        point: Array | None = None,
        standing: Callable[[], Standing] | None = None,
    ) -> None:
        """Add the next line, with the point where the solver stands, or with what works it out: most of them are never
        looked at. Neither copies anything: give arrays that will not be written to."""
        facts = (len(self.lines), float(objective), float(residual), float(step), {} if detail is None else detail)
        seconds = time.perf_counter() - self.begun
        self.lines.append(Iteration(*facts, None, seconds))
        if self.callback is not None:
            if point is not None:
                standing = partial(_at, point)
            self.callback(self.lines[-1] if standing is None else Iteration(*facts, standing, seconds))


def _at(point: Array) -> Standing:
    return point, None


def default_of(option: Field[Any]) -> Any:
    """What an option is where nobody sets it."""
    return option.default_factory() if option.default_factory is not MISSING else option.default


def refuse_unless_smooth(problem: Problem) -> str:
    """The reason why a method for smooth unconstrained problems cannot take this one."""
    if problem.is_constrained:
        names = ", ".join(block.name for block in (*problem.constraints, *problem.norm_bounds))
        return f"it works without constraints, and the problem has {names}"
    for term in problem.terms:
        if term.loss.domain != (-np.inf, np.inf):
            return f"the {term.loss.name} of {term.name!r} is finite only on {term.loss.domain}"
    return ""


def refuse_unless_quadratic(problem: Problem, cones: bool = False) -> str:
    """The reason why a solver of quadratic programs cannot take the problem."""
    for t in problem.terms:
        if not t.is_half_square:
            return f"it solves quadratic programs, and {t.name!r} has the {t.loss.name} loss"
    if problem.norm_bounds and not cones:
        return f"it solves quadratic programs, and {problem.norm_bounds[0].name!r} bounds a norm"
    return ""


def stacked(problem: Problem, constraints: Sequence[Constraint]) -> tuple[Array, Array]:
    """The rows of some constraints over all of x as one dense matrix, and their right-hand sides."""
    rows = np.vstack([np.zeros((0, problem.size)), *(problem.rows(c).to_dense() for c in constraints)])
    return rows, np.concatenate([np.zeros(0), *(c.rhs for c in constraints)])


def split_by_block(constraints: Sequence[Constraint], values: Array) -> dict[str, Array]:
    """Multipliers of stacked constraints by the names of these."""
    ends = np.cumsum([c.size for c in constraints])
    return {c.name: values[end - c.size : end] for c, end in zip(constraints, ends, strict=True)}


def check_choice(solver: str, option: str, value: Any, choices: tuple[str, ...]) -> None:
    """That the option is one of the choices."""
    if value not in choices:
        raise ValueError(f"option {option} of solver {solver!r} is {value!r}: choose one of {', '.join(choices)}")


def check_whole(solver: str, option: str, value: Any) -> None:
    """That the option is a whole number from 0 on."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"option {option} of solver {solver!r} is {value!r}: it must be a whole number from 0 on")


def check_rate(solver: str, option: str, value: Any) -> None:
    """That the option is a finite number above 0, or None for the default."""
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < np.inf:
        raise ValueError(f"option {option} of solver {solver!r} is {value!r}: it must be a finite number above 0")


def _with_default(option: Field[Any]) -> str:
    """An option as its solver takes it, with its default; without, where each solver has one of its own."""
    if option.default is not MISSING:
        return f"{option.name}={option.default!r}"
    return option.name if option.default_factory is MISSING else f"{option.name}={option.default_factory()!r}"
