"""A solver made of a plain function.

What the function ``accepts`` says what it is called with:

    qp       f(P, q, A, b, G, h)    minimise 1/2 x'Px + q'x  subject to  Ax = b,  Gx <= h
    lp       f(q, A, b, G, h)       the same without P
    smooth   f(value, gradient, x)  minimise value(x), beginning at x

It returns a point x, or x with multipliers, or these with a word of its own: see ``solver``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields, make_dataclass
from typing import Any, ClassVar, Literal, overload

import numpy as np

from convexcls.arrays import Array
from convexcls.problem import Problem
from convexcls.problem.values import gradient
from convexcls.solvers.base import Answer, Callback, Solver, refuse_unless_quadratic, refuse_unless_smooth

Accepts = Literal["qp", "lp", "smooth"]
WORDS = {
    "qp": "linear and quadratic programs",
    "lp": "linear programs",
    "smooth": "smooth losses without constraints",
}
#: Larger matrices are handed over only where the function takes sparse ones.
MAX_DENSE_ENTRIES = 50_000_000


@dataclass(frozen=True)
class FunctionSolver(Solver):
    """What ``solver`` makes."""

    accepts: ClassVar[str] = ""
    promise: ClassVar[float] = 1e-6
    function: ClassVar[Callable[..., Any]]
    takes: ClassVar[Accepts]
    sparse: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Its options are the function's own affair."""

    def refuses(self, problem: Problem) -> str:
        if self.takes == "smooth":
            return refuse_unless_smooth(problem)
        import convexcls.solvers.foreign.quadratic_program  # noqa: F401  (before the clock runs)

        reason = refuse_unless_quadratic(problem)
        if not reason and self.takes == "lp" and not problem.is_linear_program:
            reason = "it solves linear programs, and the objective or a constraint is not linear"
        if not reason and not self.sparse and (entries := _entries(problem)) > MAX_DENSE_ENTRIES:
            reason = f"its matrices would have {entries:.0e} entries: let the function take sparse ones, by sparse=True"
        return reason

    def solve(self, problem: Problem, tol: float, callback: Callback | None = None) -> Answer:
        options = {f.name: getattr(self, f.name) for f in fields(self)}
        if self.takes == "smooth":
            call = (problem.minimised, lambda x: gradient(problem, x), np.zeros(problem.size))
            return _answer(type(self).function(*call, **options), lambda _: {})
        from convexcls.solvers.foreign.quadratic_program import quadratic_program

        qp = quadratic_program(problem)
        P, A, G = (m if self.sparse else m.toarray() for m in (qp.P, qp.A, qp.G))
        matrices = (P, qp.q, A, qp.b, G, qp.h)
        found = type(self).function(*(matrices if self.takes == "qp" else matrices[1:]), **options)

        def multipliers(given: Any) -> dict[str, Array]:
            joined = np.concatenate([np.ravel(part) for part in given]) if isinstance(given, (tuple, list)) else given
            try:
                both = np.asarray(joined, dtype=float).ravel()
            except (TypeError, ValueError):
                raise ValueError(
                    f"solver {self.name!r} returned multipliers that are no numbers ({type(given).__name__}): it must "
                    "return x, or (x, multipliers) with those of A's rows and then of G's in one array"
                ) from None
            m = qp.b.size
            return qp.multipliers(both[:m], both[m:]) if both.size == m + qp.h.size else {}

        answer = _answer(found, multipliers)
        return answer if answer.x is None else Answer(qp.point(answer.x), answer.multipliers, answer.message)


def _entries(problem: Problem) -> int:
    extra = sum(t.size for t in problem.terms)
    width = problem.size + extra
    return width * (width + extra + sum(c.size for c in problem.constraints))


def _answer(found: Any, multipliers: Callable[[Any], dict[str, Array]]) -> Answer:
    """What a function returned: x, (x, multipliers) or (x, multipliers, message)."""
    x: Any = found
    given: Any = None
    message: Any = ""
    if isinstance(found, tuple) and len(found) in (2, 3):
        x, given, message = (*found, "")[:3]
    if isinstance(given, str):
        given, message = None, given
    point = None if x is None else np.array(x, dtype=float).ravel()
    return Answer(point, {} if given is None or point is None else multipliers(given), str(message or "returned"))


@overload
def solver(
    function: Callable[..., Any], *, accepts: Accepts = ..., name: str = ..., sparse: bool = ..., as_stated: bool = ...
) -> type[FunctionSolver]: ...
@overload
def solver(
    function: None = None, *, accepts: Accepts = ..., name: str = ..., sparse: bool = ..., as_stated: bool = ...
) -> Callable[[Callable[..., Any]], type[FunctionSolver]]: ...
def solver(
    function: Callable[..., Any] | None = None,
    *,
    accepts: Accepts = "qp",
    name: str = "",
    sparse: bool = False,
    as_stated: bool = False,
) -> Any:
    """Make a solver of a plain function, to be given wherever a solver can be named; also as a decorator.

    What it ``accepts`` says what it is called with: a quadratic program ("qp") as ``f(P, q, A, b, G, h)``, to minimise
    1/2 x'Px + q'x subject to Ax = b and Gx <= h; a linear program ("lp") without P; or, of a problem that is "smooth"
    without constraints, ``f(value, gradient, x)`` to begin at x. The matrices are NumPy arrays, or with ``sparse`` of
    SciPy's. It returns the point x, or (x, multipliers), those of A's rows and then of G's, the latter at least 0; or
    (x, multipliers, message), with None for what there is not. Its keyword-only arguments are options of the solver.
    The problem comes in better units, with features near one, unless it is wanted ``as_stated``.

    >>> import convexcls as cc
    >>> import numpy as np
    >>> def steepest(value, gradient, x, *, step=0.1, steps=2000):
    ...     for _ in range(steps):
    ...         x = x - step * gradient(x)
    ...     return x
    ...
    >>> s = cc.LogisticMLE([[0], [1], [2]], [0, 1, 0], l2=1.0).solve(cc.solver(steepest, accepts="smooth"))
    >>> s.solver, s.status
    ('steepest', 'optimal')
    >>> cc.HardMarginSVM([[0], [2]], [0, 1]).solve(cc.solver(lambda P, q, A, b, G, h: 0 * q, name="lazy")).status
    'undecided'
    """
    if accepts not in WORDS:
        raise ValueError(f"accepts is {accepts!r}: choose one of {', '.join(map(repr, WORDS))}")
    if function is None:
        return lambda f: solver(f, accepts=accepts, name=name, sparse=sparse, as_stated=as_stated)
    if not callable(function):
        raise TypeError(f"solver() makes a solver of a function, and {function!r} cannot be called")
    named = name or getattr(function, "__name__", "")
    if not named.strip() or named == "<lambda>":
        raise ValueError('a function without a name of its own needs one: solver(f, name="...")')
    about = {
        "name": named,
        "accepts": WORDS[accepts],
        "takes": accepts,
        "sparse": sparse,
        "as_stated": as_stated,
        "function": staticmethod(function),
        "__doc__": inspect.getdoc(function) or f"The function {named}.",
        "__module__": getattr(function, "__module__", None) or "__main__",
    }
    title = "".join(filter(str.isalnum, named.title())) + "Solver"
    return make_dataclass(title, _options(function), bases=(FunctionSolver,), namespace=about, frozen=True)


def _options(function: Callable[..., Any]) -> list[Any]:
    """Its keyword-only arguments with their defaults, as fields."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # a function of C need not tell
        return []
    out = []
    for p in parameters:
        if p.kind is p.KEYWORD_ONLY:
            if p.default is p.empty:
                raise ValueError(f"the option {p.name!r} of the function needs a default")
            out.append((p.name, type(p.default) if p.default is not None else Any, p.default))
    return out
