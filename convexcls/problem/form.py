"""The one form.

    minimise   1/2 x'Px + q'x + sum_k phi_k(M_k x) + constant
    subject to Ax = b,  Gx <= h,  ‖Ex + e‖ <= f'x + g

x is made of named variables; every constraint is a named block with its multiplier's symbol.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

import numpy as np

from convexcls.arrays import Array, Indices, negative_eigenvalue
from convexcls.caching import cached_property
from convexcls.in_notebooks import InNotebooks
from convexcls.pickling import frozen, without_cache
from convexcls.problem.as_classifier import AsClassifier, Values
from convexcls.problem.blocks import (
    Block,
    Constraint,
    Label,
    NormBound,
    ProblemError,
    Term,
    Variable,
    as_given,
    frozen_vector,
)
from convexcls.problem.epigraph import Epigraph, find_epigraphs
from convexcls.problem.values import gradient, hessian, joined_point, lagrangian
from convexcls.rational.numbers import GivenNumber, exactly, remembered_number
from convexcls.rows import DiagonalRows, JoinedRows, Rows, as_rows

if TYPE_CHECKING:
    from convexcls.fits import Appraisal
    from convexcls.problem.duality import Dual
    from convexcls.solution import Solution
    from convexcls.studies.conflict import Conflict


#: Where an optimum may be 0, as in a perfect fit, this fraction of the objective at x = 0 counts as one: small enough
#: not to flatter an answer, large enough that what rounding leaves stays below a tolerance of 1e-8.
UNIT_SHARE = 1e-4
#: What a point has along a direction of the gauge, relative to what was added up, that may come of rounding.
ALONG_BY_ROUNDING = 1e-13

#: The parts of the form, by the names under which ``Problem`` takes and keeps them.
PARTS = (
    *("name", "variables", "quadratic", "linear", "linear_labels", "quadratic_symbol", "terms", "constraints"),
    *("norm_bounds", "constant", "sense", "unit", "gauge"),
)

T = TypeVar("T")


class Problem(AsClassifier, InNotebooks):
    r"""A convex program of named blocks. Frozen: nothing of it can be changed after it is built.

    ``quadratic`` gives P by variable: a vector (its diagonal) or a positive semidefinite matrix.
    ``unit`` is the size of an objective that counts as one, for problems whose optimum may be 0; with
    ``unit=0`` everything is measured against the optimum itself.
    ``gauge`` gives directions, as rows by variable, along which nothing of the problem changes; solutions are stated
    orthogonal to them.
    ``sense`` says how the problem is written and reported; inside, everything is minimised. The labels and
    symbols only say how costs and matrices are written. ``attributes`` is what a kind of problem remembers besides,
    such as its data.

    ``variables`` are the unknowns; ``linear`` gives q by variable. ``terms`` are the losses, ``constraints`` and
    ``norm_bounds`` what holds, ``constant`` is added to the objective.

    >>> import convexcls as cc
    >>> x = cc.Variable("x", 2, "x")
    >>> inside = cc.Constraint("budget", {"x": [[1.0, 1.0]]}, r"\lambda", "scalar", rhs=1.0)
    >>> near = cc.Term("distance", {"x": [[1.0, 0.0], [0.0, 1.0]]}, "r", "vector", offset=[-2.0, -1.0])
    >>> problem = cc.Problem("projection", [x], terms=[near], constraints=[inside])
    >>> problem
    <projection: minimise over x[2] subject to budget[1]>
    >>> s = problem.solve(level="exact")
    >>> [str(value) for value in s.certificate.exact_point["x"]], str(s.certificate.optimum)
    (['1', '0'], '1')
    """

    #: The name under which the command line and files know a model; empty for a user's own problem.
    kind: ClassVar[str] = ""
    #: What the Tab key shows: what users call. The rest is for solvers and proofs.
    shown: ClassVar[tuple[str, ...]] = (
        *("name", "sense", "variables", "quadratic", "linear", "terms", "constraints", "norm_bounds", "constant"),
        *("size", "layout", "split", "objective", "gradient", "hessian", "lagrangian", "multiplier_sizes"),
        *("explain", "latex", "dual", "to_cvxpy", "from_cvxpy", "from_qp", "check", "solve", "why_infeasible"),
    )

    name: str
    variables: tuple[Variable, ...]
    quadratic: Mapping[str, Array | Rows]
    linear: Mapping[str, Array]
    linear_labels: Mapping[str, Label]
    quadratic_symbol: str
    terms: tuple[Term, ...]
    constraints: tuple[Constraint, ...]
    norm_bounds: tuple[NormBound, ...]
    constant: float
    #: The diagonals of the quadratic part and the linear costs that doubles round, as they were given.
    costs_given: Mapping[tuple[str, str], tuple[Fraction, ...]]
    sense: Literal["min", "max"]
    unit: float
    gauge: Mapping[str, Rows]

    def __init__(
        self,
        name: str,
        variables: Sequence[Variable],
        *,
        quadratic: Mapping[str, Any] | None = None,
        linear: Mapping[str, Any] | None = None,
        terms: Sequence[Term] = (),
        constraints: Sequence[Constraint] = (),
        norm_bounds: Sequence[NormBound] = (),
        constant: float = 0.0,
        sense: Literal["min", "max"] = "min",
        unit: float = 1.0,
        linear_labels: Mapping[str, Label] | None = None,
        quadratic_symbol: str = "P",
        gauge: Mapping[str, Any] | None = None,
        attributes: Mapping[str, Any] | None = None,
    ) -> None:
        sizes = {v.name: v.size for v in variables}
        state = {
            "name": name,
            "variables": tuple(variables),
            "quadratic": frozen({v: _quadratic(v, p, sizes) for v, p in (quadratic or {}).items()}),
            "linear": frozen({v: _linear(v, q, sizes) for v, q in (linear or {}).items()}),
            "linear_labels": frozen(linear_labels or {}),
            "quadratic_symbol": quadratic_symbol,
            "terms": tuple(terms),
            "constraints": tuple(constraints),
            "norm_bounds": tuple(norm_bounds),
            "constant": _remembered(constant),
            "costs_given": frozen(_given_costs(quadratic or {}, linear or {}, sizes)),
            "sense": sense,
            "unit": float(unit),
            "gauge": frozen_gauge(gauge or {}, sizes),
            **(attributes or {}),
        }
        self.__dict__.update(state)
        self._check()

    def restated(self, **changes: Any) -> Problem:
        """The same problem with some parts of its form changed, without what a model remembers besides."""
        costs = {kind: {**getattr(self, kind)} for kind in ("quadratic", "linear")}
        for (kind, variable), given in self.costs_given.items():
            alike = all(value is given[0] for value in given)
            costs[kind][variable] = given[0] if alike else np.array(given, dtype=object)
        return Problem(**{part: getattr(self, part) for part in PARTS} | costs | changes)

    def _check(self) -> None:
        names = [v.name for v in self.variables]
        names += [block.name for block in self.blocks]
        if repeated := {name for name in names if names.count(name) > 1}:
            raise ProblemError(f"block name(s) used twice: {', '.join(sorted(repeated))}")
        sizes = {v.name: v.size for v in self.variables}
        for block in self.blocks:
            entries = [*block.entries.items()]
            if isinstance(block, NormBound):
                entries += block.bound_entries.items()
            for variable, rows in entries:
                if variable not in sizes:
                    raise ProblemError(f"block {block.name!r} speaks of an unknown variable {variable!r}")
                if rows.shape[1] != sizes[variable]:
                    raise ProblemError(
                        f"block {block.name!r} has {rows.shape[1]} columns for {variable!r}, "
                        f"which has {sizes[variable]} entries"
                    )
        if self.sense not in ("min", "max"):
            raise ProblemError(f"sense is {self.sense!r}, it must be 'min' or 'max'")

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a problem is frozen: build a new one instead of setting {name!r}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a problem is frozen: {name!r} cannot be deleted")

    def __getstate__(self) -> dict[str, Any]:
        return without_cache(self)

    def __dir__(self) -> list[str]:
        found: set[str] = set()
        for cls in type(self).__mro__:  # of a class of the user's, and of Python itself, everything
            found.update(vars(cls).get("shown", ()) if cls.__module__.startswith("convexcls.") else vars(cls))
        return sorted(found)

    # ---- layout -------------------------------------------------------------------------------

    @cached_property
    def layout(self) -> Mapping[str, slice]:
        """Where each variable stands in x."""
        out, start = {}, 0
        for v in self.variables:
            out[v.name] = slice(start, start + v.size)
            start += v.size
        return frozen(out)

    @cached_property
    def size(self) -> int:
        """The number of unknowns."""
        return sum(v.size for v in self.variables)

    def variable(self, name: str) -> Variable:
        """The variable of that name."""
        for v in self.variables:
            if v.name == name:
                return v
        raise ProblemError(f"there is no variable {name!r}; there are {', '.join(v.name for v in self.variables)}")

    def split(self, x: Array) -> dict[str, Array]:
        """x by variable.

        >>> import convexcls as cc
        >>> import numpy as np
        >>> problem = cc.HardMarginSVM([[1, 2], [3, 4]], [0, 1])
        >>> {name: part.tolist() for name, part in problem.split(np.array([5.0, 6.0, 7.0])).items()}
        {'coef': [5.0, 6.0], 'intercept': [7.0]}
        """
        return {name: x[where] for name, where in self.layout.items()}

    def joined(self, entries: Mapping[str, Rows], height: int) -> JoinedRows:
        """A block's entries as rows over all of x."""
        return JoinedRows(height, self.size, [(self.layout[v], rows) for v, rows in entries.items()])

    def places(self, names: Sequence[str]) -> Indices:
        """Where the entries of some variables stand in x."""
        return np.concatenate([np.arange(self.size)[self.layout[v]] for v in names])

    def narrow_rows(self, entries: Mapping[str, Rows], names: Sequence[str]) -> JoinedRows | None:
        """The part of a block's entries that speaks of some variables, as rows over these alone; None where there is
        no such part."""
        parts, start = [], 0
        for v in names:
            stop = start + self.variable(v).size
            if v in entries:
                parts.append((slice(start, stop), entries[v]))
            start = stop
        return JoinedRows(parts[0][1].shape[0], start, parts) if parts else None

    def rows(self, block: Block) -> JoinedRows:
        """The rows of a block over all of x."""
        known, rows = self._rows_by_name.get(block.name, (None, None))
        if rows is None or known is not block:
            rows = self.joined(block.entries, block.size)
            self._rows_by_name[block.name] = (block, rows)
        return rows

    def remembered(self, make: Callable[[Problem], T]) -> T:
        """``make(problem)``, worked out once: for what a layer above sees in a problem more than once."""
        if make not in self._memory:
            self._memory[make] = make(self)
        return self._memory[make]

    @cached_property
    def _memory(self) -> dict[Callable[[Problem], Any], Any]:
        return {}

    @cached_property
    def _rows_by_name(self) -> dict[str, tuple[Block, JoinedRows]]:
        return {}

    def bound_rows(self, block: NormBound) -> JoinedRows:
        """The single row of a norm bound's right-hand side."""
        return self.joined(block.bound_entries, 1)

    @cached_property
    def epigraphs(self) -> tuple[Epigraph, ...]:
        """The variables that are slacks, with their costs and the constraints that they are above.

        >>> import convexcls as cc
        >>> (slack,) = cc.SoftMarginSVM([[0], [1], [2]], ["a", "b", "a"], C=2.0).epigraphs
        >>> slack.variable, slack.cost.tolist(), [piece.name for piece in slack.pieces]
        ('slack', [2.0, 2.0, 2.0], ['margin', 'slack_sign'])
        """
        return find_epigraphs(self)

    @property
    def blocks(self) -> tuple[Term | Constraint | NormBound, ...]:
        """All blocks of rows."""
        return (*self.terms, *self.constraints, *self.norm_bounds)

    @cached_property
    def multiplier_sizes(self) -> Mapping[str, int]:
        """How many multipliers each constraint and each norm bound has."""
        return {c.name: c.size for c in self.constraints} | {b.name: b.size + 1 for b in self.norm_bounds}

    def fits(self, values: Mapping[str, Sequence[Any]]) -> bool:
        """Whether there is one number for every unknown, by variable."""
        return {name: len(v) for name, v in values.items()} == {v.name: v.size for v in self.variables}

    # ---- values -------------------------------------------------------------------------------

    @cached_property
    def q(self) -> Array:
        """The linear cost over all of x."""
        out = np.zeros(self.size)
        for v, q in self.linear.items():
            out[self.layout[v]] = q
        out.setflags(write=False)
        return out

    def rational_costs(self, kind: Literal["quadratic", "linear"], variable: str) -> list[Fraction]:
        """A diagonal of the quadratic part, or a linear cost, as it was given."""
        if (given := self.costs_given.get((kind, variable))) is not None:
            return list(given)
        nothing = np.zeros(self.variable(variable).size)
        costs = self.diagonals if kind == "quadratic" else self.linear
        return [Fraction(value) for value in costs.get(variable, nothing).tolist()]

    @property
    def rational_q(self) -> list[Fraction]:
        """The linear cost over all of x, as it was given."""
        return [value for v in self.variables for value in self.rational_costs("linear", v.name)]

    @cached_property
    def rounds_costs(self) -> bool:
        """Whether some cost or some weight was given as a number that doubles round."""
        weighed = any(t.given_rationals("weights") is not None for t in self.terms)
        return weighed or bool(self.costs_given) or isinstance(self.constant, GivenNumber)

    @cached_property
    def P(self) -> Mapping[str, Rows]:
        """The quadratic part by variable, diagonals and matrices alike."""
        return {v: p if isinstance(p, Rows) else DiagonalRows(p) for v, p in self.quadratic.items()}

    @cached_property
    def matrices(self) -> Mapping[str, Rows]:
        """The quadratic part by variable, where it is given by a matrix."""
        return {v: p for v, p in self.P.items() if p.diagonal() is None}

    @cached_property
    def diagonals(self) -> Mapping[str, Array]:
        """The quadratic part by variable, where it is a diagonal."""
        return {v: p for v, rows in self.P.items() if (p := rows.diagonal()) is not None}

    def apply_quadratic(self, x: Array) -> Array:
        """P x."""
        out = np.zeros(self.size)
        for v, p in self.P.items():
            out[self.layout[v]] = p @ x[self.layout[v]]
        return out

    def minimised(self, x: Array) -> float:
        """The minimised objective at x, whatever ``sense`` says."""
        total = self.constant
        if self.quadratic:
            total += 0.5 * float(x @ self.apply_quadratic(x))
        if self.linear:
            total += float(self.q @ x)
        for term in self.terms:
            total += term.value(self.rows(term) @ x + term.offset)
        return total

    def objective(self, x: Any) -> float:
        """The objective at x, in the sense in which the problem is written; x is an array of all unknowns, or has
        them by name.

        >>> import convexcls as cc
        >>> problem = cc.LeastSquares([[1], [2]], [3, 5], coding="real", intercept=False)
        >>> problem.objective([2.0]), problem.gradient([2.0]), problem.hessian([2.0])  # half of (3 - w)^2 + (5 - 2 w)^2
        (1.0, array([-3.]), array([[5.]]))
        >>> cc.HardMarginSVM([[0], [2]], [0, 1]).dual().objective({"margin": [0.5, 0.5]})  # a maximum
        0.5
        """
        return self.reported(self.minimised(joined_point(self, x)))

    def gradient(self, x: Any) -> Array:
        """The gradient of ``objective`` at x."""
        return self._written * gradient(self, joined_point(self, x)) + 0.0

    def hessian(self, x: Any) -> Array:
        """The Hessian of ``objective`` at x, one row and one column an unknown."""
        return self._written * hessian(self, joined_point(self, x)) + 0.0

    def lagrangian(self, x: Any, multipliers: Mapping[str, Any]) -> float:
        """The Lagrangian at x and all multipliers: objective + nu'(Ax - b) + lambda'(Gx - h); of a maximum these are
        subtracted. At a solution it is the optimum.

        >>> import convexcls as cc
        >>> problem = cc.HardMarginSVM([[0], [2]], [0, 1])  # 1/2 w^2 + alpha_1 (1 + b) + alpha_2 (1 - 2 w - b)
        >>> problem.lagrangian({"coef": [3.0], "intercept": [0.0]}, {"margin": [1.0, 1.0]})
        0.5
        """
        return self.reported(lagrangian(self, joined_point(self, x), multipliers))

    @property
    def _written(self) -> float:
        return -1.0 if self.sense == "max" else 1.0

    @cached_property
    def null_directions(self) -> Array:
        """The directions of the gauge over all of x, one a row."""
        parts = [self.joined({v: rows}, rows.shape[0]).to_dense() for v, rows in self.gauge.items()]
        return np.vstack([np.zeros((0, self.size)), *parts])

    def fill_null_directions(self, matrix: Array, scale: Array, where: Any = slice(None)) -> Array:
        """A Hessian in the units ``scale`` (row and column j divided by scale_j), with curvature one along the
        directions of the gauge, where it has none: then a system with it has one solution, with no part in them.
        ``where`` are the unknowns that it speaks of, all entries of some variables."""
        if not self.gauge:
            return matrix
        unit = self.null_directions[:, where] * scale
        squares = (unit * unit).sum(axis=1)
        if not squares.all():
            unit, squares = unit[squares > 0], squares[squares > 0]
        unit = unit / np.sqrt(squares)[:, None]
        return matrix + unit.T @ unit

    def in_gauge(self, x: Array) -> Array:
        """The point without what it has along the directions of the gauge, where these share no unknown; as it is where
        that may be rounding: to take it off would round again."""
        if not self.gauge or x.shape != (self.size,) or not np.all(np.isfinite(x)):
            return x
        out = x.copy()
        for v, directions in self.gauge.items():
            where = self.layout[v]
            along, sizes = directions @ x[where], abs(directions) @ np.abs(x[where])
            if np.any(np.abs(along) > ALONG_BY_ROUNDING * sizes):
                out[where] -= directions.T @ (along / (directions @ (directions.T @ np.ones(along.size))))
        return out

    def reported(self, value: float) -> float:
        """A minimised value in the sense in which the problem is written."""
        return (-value if self.sense == "max" else value) + 0.0  # no negative zero

    @cached_property
    def is_quadratic_program(self) -> bool:
        """Linear constraints and an objective that is at most quadratic."""
        return all(t.is_half_square for t in self.terms) and not self.norm_bounds

    @cached_property
    def is_linear_program(self) -> bool:
        """A quadratic program without quadratic part."""
        return self.is_quadratic_program and not self.terms and not self.quadratic

    @cached_property
    def is_constrained(self) -> bool:
        """Whether there is any constraint at all."""
        return bool(self.constraints or self.norm_bounds)

    def support_from(self, values: Values, multipliers: Values) -> Indices:
        """The samples that hold the answer in place."""
        from convexcls.problem.geometry import support_rows

        return support_rows(self, np.concatenate([values[v.name] for v in self.variables]), multipliers)

    # ---- what other modules carry out, loaded when it is asked for --------------------------------

    def dual(self) -> Dual:
        """The Lagrange dual, derived mechanically, with the map back.

        >>> import convexcls as cc
        >>> X, y = [[0, 0], [2, 0]], [0, 1]
        >>> dual = cc.HardMarginSVM(X, y).dual()
        >>> dual
        <dual of hard-margin SVM: maximise over margin[2] subject to intercept[1], margin_sign[2]>
        >>> round(dual.solve().objective, 6)  # the optimum of the primal
        0.5
        >>> dual.dual() == cc.HardMarginSVM(X, y)
        True
        """
        from convexcls.problem.duality import dualize

        return dualize(self)

    def latex(self) -> str:
        r"""The problem as LaTeX.

        >>> import convexcls as cc
        >>> print(cc.HardMarginSVM([[0], [2]], [0, 1]).latex())
        \begin{aligned}
        \min_{\beta, \beta_0}\quad & \tfrac12 \|\beta\|^2 \\
        \text{subject to}\quad & y_i (x_i^{\top} \beta + \beta_0) \ge 1,\quad i = 1, \dots, n
        \end{aligned}
        """
        from convexcls.problem.latex import latex

        return latex(self)

    def explain(self, form: Literal["text", "latex", "document", "markdown"] = "text") -> str:
        r"""The problem in words: variables, constraints and multipliers, Lagrangian, KKT conditions; of a dual, how it
        is derived. As plain text, as LaTeX (a piece, or a whole ``document``), or as Markdown.

        >>> import convexcls as cc
        >>> text = cc.HardMarginSVM([[0], [2]], [0, 1]).explain()
        >>> print(*[line for line in text.splitlines() if "stationarity" in line], sep="\n")
          stationarity in coef        β - Σᵢ αᵢ yᵢ xᵢ = 0
          stationarity in intercept   Σᵢ αᵢ yᵢ = 0
        >>> written = cc.HardMarginSVM([[0], [2]], [0, 1]).dual().explain("markdown")
        >>> print(*[line.strip() for line in written.splitlines() if "coef: " in line], sep="\n")
        - coef: $\beta - \sum_i \alpha_i y_i x_i = 0$
        - coef: the cost is strictly convex in $\beta$, so it is solved for and put back into L
        """
        from convexcls.problem.explain import explain

        if form == "text":
            return explain(self)
        from convexcls.describe.problem import written

        return written(self, form)

    @staticmethod
    def from_cvxpy(problem: Any) -> Problem:
        """A ``cvxpy.Problem`` in the one form: linear and quadratic parts, logistic losses, absolute values, positive
        parts, maxima, norms. What does not fit is refused by its name.

        Variables keep their names; a constraint has its label as name, or ``c0``, ``c1``, ... in their order, with
        multipliers of the sign of cvxpy's ``dual_value``. Of a norm bound the last one is that value.

        >>> import convexcls as cc
        >>> import cvxpy as cp
        >>> x = cp.Variable(2, name="x")
        >>> theirs = cp.Problem(cp.Minimize(cp.sum_squares(x - [2.0, 1.0])), [x[0] + x[1] <= 1])
        >>> s = cc.Problem.from_cvxpy(theirs).solve()
        >>> s.status, s.values["x"].round(6).tolist(), s.multipliers["c0"].round(6).tolist()
        ('optimal', [1.0, 0.0], [2.0])
        """
        from convexcls.problem.from_cvxpy import from_cvxpy

        return from_cvxpy(problem)

    @staticmethod
    def from_qp(
        P: Any,
        q: Any,
        G: Any = None,
        h: Any = None,
        A: Any = None,
        b: Any = None,
        lb: Any = None,
        ub: Any = None,
    ) -> Problem:
        """The quadratic program minimise 1/2 x'Px + q'x subject to Gx <= h, Ax = b, lb <= x <= ub, by its matrices, as
        qpsolvers takes them. The blocks are ``inequalities``, ``equalities``, ``lower`` and ``upper``.

        >>> import convexcls as cc
        >>> s = cc.Problem.from_qp([[2.0, 0.0], [0.0, 2.0]], [-4.0, -2.0], G=[[1.0, 1.0]], h=[1.0], lb=[0, 0]).solve()
        >>> s.status, s.values["x"].round(6).tolist(), s.multipliers["inequalities"].round(6).tolist()
        ('optimal', [1.0, 0.0], [2.0])
        """
        from convexcls.problem.from_matrices import from_qp

        return from_qp(P, q, G, h, A, b, lb, ub)

    def to_cvxpy(self) -> Any:
        """The problem as a ``cvxpy.Problem``, its constraints in the order of the blocks.

        >>> import convexcls as cc
        >>> problem = cc.LeastSquares([[0], [1], [2]], [0, 2, 1], coding="real", l2=1.0)
        >>> theirs = problem.to_cvxpy()
        >>> bool(abs(theirs.solve() - problem.solve().objective) < 1e-6)
        True
        """
        from convexcls.problem.cvxpy_form import to_cvxpy

        return to_cvxpy(self)

    def solve(
        self,
        solver: Any = "auto",
        tol: float = 1e-8,
        callback: Callable[[Any], None] | None = None,
        start: Any = None,
        level: Literal["float", "rigorous", "exact"] = "float",
        keep: Literal["points"] | None = None,
        verbose: bool = False,
        time_limit: float | None = None,
        **options: Any,
    ) -> Solution:
        """Solve with the named solver, or one of your own, from ``start`` where it can, and prove the answer on the
        original data, at the given ``level``: residuals, bounds that hold despite rounding, or exact arithmetic.

        ``tol`` is the relative tolerance of the proof, ``callback`` is called with every line of the solver's trace,
        which has the points on the way with ``keep="points"``, and ``verbose`` prints them. After ``time_limit``
        seconds the solver is stopped where it stands. The options are the solver's own: see ``convexcls.solve``.

        >>> import convexcls as cc
        >>> problem = cc.SoftMarginSVM([[0], [2], [4]], [0, 1, 1], C=10.0)
        >>> problem.solve("clarabel").status, problem.solve("dual:osqp").status
        ('optimal', 'optimal')
        >>> str(problem.solve(level="exact").certificate.optimum)
        '1/2'
        >>> [line.point.round(6).tolist() for line in problem.solve("clarabel", keep="points").trace]
        [[1.0, -1.0, 0.0, 0.0, 0.0]]
        """
        from convexcls.solve import solve

        more: Any = {"keep": keep, "verbose": verbose, "time_limit": time_limit, **options}
        return solve(self, solver, tol, callback, start, level, **more)

    def check(self, *, level: Literal["float", "rigorous", "exact"] = "float", **values: Any) -> Appraisal:
        """Judge a point that somebody worked out: the KKT conditions in a table, bounds on the optimum, and how far the
        point is from it, at the given ``level``.

        ``values`` are the unknowns and the multipliers by name: numbers, Fractions, or text such as "1/3". Slacks that
        are missing are as low as the others allow; multipliers that are missing are worked out from the point, and
        ``source`` says so. At the level "exact" the conditions of a quadratic program are checked in rationals.

        >>> import convexcls as cc
        >>> problem = cc.HardMarginSVM([[0, 0], [3, 4]], [0, 1])
        >>> right = problem.check(coef=["6/25", "8/25"], intercept=-1, margin=["2/25", "2/25"], level="exact")
        >>> right.verdict, right.certificate.status
        ('optimal, exactly', 'optimal')
        >>> wrong = problem.check(coef=[0.3, 0.4], intercept=-1)  # feasible, and not the shortest
        >>> wrong.certificate.status, wrong.source, round(wrong.objective - wrong.lower, 6)
        ('undecided', 'worked out from the point', 0.045)
        """
        from convexcls.fits.by_hand import check_by_hand

        return check_by_hand(self, values, level)

    def why_infeasible(self) -> Conflict:
        """Constraints that contradict each other, as few as possible, by their names: with the proof in rationals, and
        for each of them a point that satisfies the others. ``NoAnswer`` where the linear constraints do not.

        >>> import convexcls as cc
        >>> hours = cc.Variable("hours", 1, "h", "scalar")
        >>> blocks = [
        ...     cc.Constraint("at least", {"hours": [[-1.0]]}, rhs=-9.0),
        ...     cc.Constraint("at most", {"hours": [[1.0]]}, rhs=8.0),
        ... ]
        >>> print(cc.Problem("week", [hours], constraints=blocks).why_infeasible().explain())
        These 2 constraints contradict each other, and no fewer of them do:
          1 times at least   -hours <= -9
          1 times at most    hours <= 8
        Added up they say 0 <= -1, which is false.
        Without at least the others hold at hours = 8.
        Without at most the others hold at hours = 9.
        """
        from convexcls.studies.conflict import why_infeasible

        return why_infeasible(self)

    def _repr_latex_(self) -> str:
        return f"$${self.latex()}$$"

    # ---- identity -------------------------------------------------------------------------------

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Problem) and (
            self.variables == other.variables
            and self.quadratic.keys() == other.quadratic.keys()
            and self.diagonals.keys() == other.diagonals.keys()
            and all(p.equals(other.P[v]) for v, p in self.P.items())
            and np.array_equal(self.q, other.q)
            and self.terms == other.terms
            and {c.name: c for c in self.constraints} == {c.name: c for c in other.constraints}
            and self.norm_bounds == other.norm_bounds
            and self.costs_given == other.costs_given
            and (self.constant, self.sense) == (other.constant, other.sense)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shape = ", ".join(f"{v.name}[{v.size}]" for v in self.variables)
        rows = ", ".join(f"{c.name}[{c.size}]" for c in (*self.constraints, *self.norm_bounds))
        return f"<{self.name}: {self.sense}imise over {shape}" + (f" subject to {rows}>" if rows else ">")


def _remembered(constant: Any) -> float:
    return constant if type(constant) is float else remembered_number(exactly(constant))


def _given_costs(
    quadratic: Mapping[str, Any], linear: Mapping[str, Any], sizes: Mapping[str, int]
) -> dict[tuple[str, str], tuple[Fraction, ...]]:
    """What was given of the costs in rationals, by kind and variable."""
    out = {}
    for kind, costs in (("quadratic", quadratic), ("linear", linear)):
        for v, values in costs.items():
            plain = isinstance(values, Rows) or np.ndim(values) > 1
            if not plain and (given := as_given(values, sizes[v], f"the {kind} part of {v!r}")) is not None:
                out[kind, v] = given
    return out


def _quadratic(variable: str, p: Any, sizes: Mapping[str, int]) -> Array | Rows:
    if variable not in sizes:
        raise ProblemError(f"the quadratic part speaks of an unknown variable {variable!r}")
    size = sizes[variable]
    if isinstance(p, Rows) and (values := p.diagonal()) is not None:
        p = values
    if isinstance(p, Rows) or np.ndim(p) == 2:
        matrix = as_rows(p)
        if not np.all(np.isfinite(matrix.column_max())):
            raise ProblemError(f"the quadratic part of {variable!r} holds a number that is not finite")
        if matrix.shape != (size, size):
            raise ProblemError(f"the quadratic part of {variable!r} is {matrix.shape}, not {size} x {size}")
        if matrix.semidefinite:  # known to be, so that it need not be multiplied out
            return matrix
        dense = matrix.to_dense()
        if not np.allclose(dense, dense.T, rtol=1e-12, atol=0):
            raise ProblemError(f"the quadratic part of {variable!r} is not symmetric")
        if (found := negative_eigenvalue(dense)) is not None:
            raise ProblemError(f"the quadratic part of {variable!r} is not convex: eigenvalue {found[0]:.3g}")
        return matrix
    diagonal = frozen_vector(p, size, f"the quadratic part of {variable!r}")
    if np.any(diagonal < 0):
        raise ProblemError(f"the quadratic part of {variable!r} is not convex: {diagonal.min():.3g} on the diagonal")
    return diagonal


def frozen_gauge(gauge: Mapping[str, Any], sizes: Mapping[str, int]) -> Mapping[str, Rows]:
    """The directions by variable; each must have as many columns as the variable has entries."""
    rows = {v: as_rows(r) for v, r in gauge.items()}
    for v, r in rows.items():
        if v not in sizes or r.shape[1] != sizes[v]:
            raise ProblemError(f"the gauge of {v!r} is {r.shape}: it does not fit the variable")
    return frozen(rows)


def _linear(variable: str, q: Any, sizes: Mapping[str, int]) -> Array:
    if variable not in sizes:
        raise ProblemError(f"the linear part speaks of an unknown variable {variable!r}")
    return frozen_vector(q, sizes[variable], f"the linear part of {variable!r}")
