"""A cvxpy problem in the one form.

Affine parts become rows. Squares, quadratic forms and logistic losses of affine parts become terms; absolute values,
positive parts, maxima and 1-norms become slack variables, each with the rows that it is above; 2-norms become norm
bounds. Whatever else there is, is refused by its name. The constraints keep their order and their multipliers: those of
cvxpy's k-th constraint are the multipliers of the block named by its label, or ``ck``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from convexcls.arrays import Array
from convexcls.losses import HalfSquare, Logistic, Loss
from convexcls.problem.blocks import Constraint, Kind, NormBound, ProblemError, Term, Variable
from convexcls.problem.form import Problem

#: Attributes of variables that have a meaning in the one form.
SIGNS = {"nonneg": -1.0, "pos": -1.0, "nonpos": 1.0, "neg": 1.0}
#: The rest that does not change what a variable is.
HARMLESS = ("bounds", "sparsity")
Rows: TypeAlias = Any


@dataclass(frozen=True)
class Affine:
    """sum of rows[v] @ v + offset."""

    rows: dict[str, Rows]
    offset: Array

    def weighted(self, matrix: Any) -> Affine:
        """matrix @ (this)."""
        return Affine({v: sparse.csr_array(matrix @ r) for v, r in self.rows.items()}, np.asarray(matrix @ self.offset))

    def plus(self, other: Affine) -> Affine:
        """The sum, one row of either added to all rows of the other where there is one only."""
        size = max(self.offset.size, other.offset.size)
        a, b = (one.weighted(np.ones((size, 1))) if one.offset.size < size else one for one in (self, other))
        rows = dict(a.rows)
        for v, r in b.rows.items():
            rows[v] = sparse.csr_array(rows[v] + r) if v in rows else r
        return Affine(rows, a.offset + b.offset)


def from_cvxpy(problem: Any) -> Problem:
    """The problem in the one form; ``ProblemError`` names what does not fit."""
    if not all(hasattr(problem, name) for name in ("objective", "constraints", "variables", "is_dcp")):
        raise TypeError(f"from_cvxpy takes a cvxpy.Problem, not a {type(problem).__name__}")
    for p in problem.parameters():
        if p.value is None:
            raise ProblemError(f"the parameter {p.name()} has no value")
    if not problem.is_dcp():
        raise ProblemError("the problem does not follow cvxpy's rules (is_dcp() is False): it may not be convex")
    variables = sorted(problem.variables(), key=lambda v: v.id)
    with _at_zero(variables):
        return _Reader(problem, variables).read()


@contextmanager
def _at_zero(variables: list[Any]) -> Iterator[None]:
    """All variables 0 for as long as their rows are read; then they have their values again."""
    kept = [v.value for v in variables]
    try:
        for v in variables:
            v.save_value(np.zeros(v.shape))
        yield
    finally:
        for v, value in zip(variables, kept, strict=True):
            v.save_value(value)


@dataclass
class _Reader:
    problem: Any
    given: list[Any]
    names: dict[int, str] = field(default_factory=dict)
    variables: list[Variable] = field(default_factory=list)
    quadratic: dict[str, Any] = field(default_factory=dict)
    linear: dict[str, Array] = field(default_factory=dict)
    constant: float = 0.0
    terms: list[Term] = field(default_factory=list)
    constraints: list[Constraint] = field(default_factory=list)
    norm_bounds: list[NormBound] = field(default_factory=list)
    taken: set[str] = field(default_factory=set)

    def read(self) -> Problem:
        """The whole problem."""
        attributes: list[tuple[str, Any]] = []
        for v in self.given:
            attributes += self._variable(v)
        labels = [self._name(getattr(c, "label", None) or f"c{k}") for k, c in enumerate(self.problem.constraints)]
        goal, sense = self.problem.objective, self.problem.objective.NAME
        self._objective(goal.args[0], np.array([1.0 if sense == "minimize" else -1.0]))
        for name, c in zip(labels, self.problem.constraints, strict=True):
            self._constraint(name, c)
        for name, expression in attributes:
            self._rows(self._name(name), self._affine(expression), "<=")
        own = {v.name: v.size for v in self.variables}
        linear = {v: q for v, q in self.linear.items() if np.any(q) and v in own}
        return Problem(
            "cvxpy problem",
            self.variables,
            quadratic=self.quadratic,
            linear=linear,
            terms=self.terms,
            constraints=self.constraints,
            norm_bounds=self.norm_bounds,
            constant=self.constant,
            sense="min" if sense == "minimize" else "max",
        )

    # ---- variables and names ----------------------------------------------------------------------------------

    def _name(self, wanted: str) -> str:
        """The name, or with a number where it is taken."""
        name, k = wanted, 2
        while name in self.taken:
            name, k = f"{wanted}_{k}", k + 1
        self.taken.add(name)
        return name

    def _variable(self, v: Any) -> list[tuple[str, Any]]:
        """A variable of theirs; returns what its attributes say, as expressions that are at most 0."""
        name = self._name(v.name())
        self.names[v.id] = name
        symbol = name if len(name) == 1 else rf"\mathrm{{{''.join(c if c.isalnum() else '.' for c in name)}}}"
        self.variables.append(Variable(name, v.size, symbol, "scalar" if v.size == 1 else "vector"))
        out: list[tuple[str, Any]] = []
        for attribute, value in v.attributes.items():
            set_to = value is not None and value is not False
            if set_to and attribute in SIGNS:
                out.append((f"{name}_{attribute}", SIGNS[attribute] * v))
            elif set_to and attribute not in HARMLESS:
                raise ProblemError(f"the variable {name!r} is {attribute}: the one form has no such variables")
        if v.attributes.get("bounds") is not None:
            low, high = (np.broadcast_to(np.asarray(bound, dtype=float), v.shape) for bound in v.attributes["bounds"])
            for which, bound, sign in (("lower", low, -1.0), ("upper", high, 1.0)):
                if np.all(np.isfinite(bound)):
                    out.append((f"{name}_{which}", sign * (v - bound)))
                elif np.any(np.isfinite(bound)):
                    raise ProblemError(
                        f"the variable {name!r} has a {which} bound in some entries only: state it as rows"
                    )
        return out

    def _slack(self, wanted: str, size: int) -> tuple[str, Affine]:
        """A new variable with one entry a row."""
        name = self._name(wanted)
        kind: Kind = "scalar" if size == 1 else "vector"
        self.variables.append(Variable(name, size, rf"\mathrm{{{name.replace('_', '.')}}}", kind))
        return name, Affine({name: sparse.eye_array(size, format="csr")}, np.zeros(size))

    # ---- affine parts -----------------------------------------------------------------------------------------

    def _affine(self, expression: Any) -> Affine:
        """Its rows, entries in cvxpy's order (column by column)."""
        slopes = {self.names[v.id]: g for v, g in expression.grad.items() if g is not None}
        rows = {v: sparse.csr_array(g if sparse.issparse(g) else np.atleast_2d(g)).T.tocsr() for v, g in slopes.items()}
        return Affine(rows, np.ravel(np.asarray(expression.value, dtype=float), order="F"))

    def _above(self, expression: Any) -> Affine:
        """An affine part that is above the expression, and as low as it where that is wanted: itself where it is
        affine; where it is not, with slack variables and their rows."""
        if expression.is_affine():
            return self._affine(expression)
        name = _kind(expression)
        if name == "addexpression":
            total = self._above(expression.args[0])
            for part in expression.args[1:]:
                total = total.plus(self._above(part))
            return total
        if (scaled := _scaled(expression)) is not None:
            matrix, inner = scaled
            if matrix.size and matrix.min() < 0:
                raise ProblemError(f"a negative multiple of {_words(inner)} is no part of the one form")
            return self._above(inner).weighted(matrix)
        make: dict[str, Callable[[Any], Affine]] = {
            "abs": self._absolute,
            "norm1": lambda e: self._absolute(e).weighted(np.ones((1, e.args[0].size))),
            "norm_inf": lambda e: self._largest(e, (1.0, -1.0)),
            "max": lambda e: self._largest(e, (1.0,)),
            "maximum": self._maximum,
            "pnorm": self._norm,
        }
        if name not in make or _axis(expression) is not None:
            raise ProblemError(f"{_words(expression)} does not fit the one form")
        return make[name](expression)

    def _inner(self, expression: Any, k: int = 0) -> Affine:
        inner = expression.args[k]
        if not inner.is_affine():
            raise ProblemError(f"{_words(expression)} of what is not affine does not fit the one form")
        return self._affine(inner)

    def _stack(self, name: str, slack: Affine, parts: list[Affine]) -> Affine:
        """slack >= each of the parts."""
        for k, part in enumerate(parts):
            self._rows(self._name(f"{name}_above_{k}"), part.plus(slack.weighted(-np.eye(slack.offset.size))), "<=")
        return slack

    def _absolute(self, e: Any) -> Affine:
        inner = self._inner(e)
        name, slack = self._slack("abs", inner.offset.size)
        return self._stack(name, slack, [inner, inner.weighted(-np.eye(inner.offset.size))])

    def _largest(self, e: Any, signs: tuple[float, ...]) -> Affine:
        inner = self._inner(e)
        name, slack = self._slack("max", 1)
        parts = [inner.weighted(sign * np.eye(inner.offset.size)) for sign in signs]
        for k, part in enumerate(parts):
            self._rows(self._name(f"{name}_above_{k}"), part.plus(slack.weighted([[-1.0]])), "<=")
        return slack

    def _maximum(self, e: Any) -> Affine:
        parts = [self._inner(e, k) for k in range(len(e.args))]
        size = max(part.offset.size for part in parts)
        name, slack = self._slack("max", size)
        wide = [part.plus(Affine({}, np.zeros(size))) for part in parts]
        return self._stack(name, slack, wide)

    def _norm(self, e: Any) -> Affine:
        if float(e.p) != 2:
            raise ProblemError(f"the {float(e.p):g}-norm does not fit the one form: it has 1, 2 and inf")
        inner = self._inner(e)
        name, slack = self._slack("norm", 1)
        self._bound(self._name(f"{name}_above"), inner, slack)
        return slack

    # ---- objective --------------------------------------------------------------------------------------------

    def _objective(self, expression: Any, weights: Array) -> None:
        """Add sum_i weights_i expression_i."""
        if expression.is_affine():
            self._cost(self._affine(expression), weights)
            return
        name = _kind(expression)
        if name == "addexpression":
            for part in expression.args:
                self._objective(part, weights if part.size == expression.size else np.array([weights.sum()]))
        elif (scaled := _scaled(expression)) is not None:
            matrix, inner = scaled
            self._objective(inner, np.asarray(weights @ matrix))
        elif weights.min() < 0:
            raise ProblemError(f"a negative multiple of {_words(expression)} is no part of the one form")
        elif name == "quad_over_lin" and expression.args[1].is_constant() and _axis(expression) is None:
            self._squares(self._inner(expression), 2 * weights[0] / float(expression.args[1].value))
        elif name == "power" and float(_number(expression.p)) == 2:
            base = expression.args[0]
            norm = _kind(base) == "pnorm" and float(base.p) == 2 and _axis(base) is None
            self._squares(self._inner(base if norm else expression), 2 * (weights[0] if norm else weights))
        elif name == "quadform":
            self._form(expression, weights[0])
        elif name == "logistic":  # theirs is log(1 + e^u), ours log(1 + e^-u)
            inner = self._inner(expression)
            self._term("logistic", inner.weighted(-np.eye(inner.offset.size)), weights, Logistic())
        else:
            self._cost(self._above(expression), weights)

    def _cost(self, part: Affine, weights: Array) -> None:
        self.constant += float(weights @ part.offset)
        for v, rows in part.rows.items():
            self.linear[v] = self.linear.get(v, 0.0) + np.asarray(weights @ rows)

    def _squares(self, inner: Affine, weights: Any) -> None:
        self._term("squares", inner, weights, HalfSquare())

    def _term(self, name: str, inner: Affine, weights: Any, loss: Loss) -> None:
        entries = {v: rows for v, rows in inner.rows.items() if rows.nnz} or inner.rows
        if not entries:
            raise ProblemError(f"a part of the objective ({name}) has no variable")
        self.terms.append(
            Term(self._name(name), entries, "u", "vector", loss=loss, offset=inner.offset, weights=weights)
        )

    def _form(self, expression: Any, weight: float) -> None:
        """weight x'Px: P of a variable, or squares of rows of a root where x is made of several."""
        matrix = expression.args[1].value
        P = np.asarray(matrix.toarray() if sparse.issparse(matrix) else matrix, dtype=float)
        inner = expression.args[0]
        if _kind(inner) == "variable":
            name = self.names[inner.id]
            self.quadratic[name] = self.quadratic.get(name, 0.0) + weight * (P + P.T)
            return
        values, vectors = np.linalg.eigh((P + P.T) / 2)
        kept = values > 1e-14 * max(values.max(initial=0.0), 0.0)
        root = np.sqrt(values[kept])[:, None] * vectors[:, kept].T
        self._squares(self._inner(expression).weighted(root), 2 * weight)

    # ---- constraints ------------------------------------------------------------------------------------------

    def _constraint(self, name: str, c: Any) -> None:
        kind = _kind(c)
        if kind in ("equality", "zero"):
            self._rows(name, self._affine(c.expr if kind == "equality" else c.args[0]), "==")
        elif kind == "soc":
            if c.args[0].size != 1:
                raise ProblemError(f"constraint {name!r} bounds several norms at once: state them one by one")
            self._bound(name, self._affine(c.args[1]), self._affine(c.args[0]))
        elif kind in ("inequality", "nonpos", "nonneg"):
            expression = c.expr if kind == "inequality" else c.args[0] if kind == "nonpos" else -c.args[0]
            if (norm := _single_norm(expression)) is not None:
                inner, rest = norm
                upper = Affine({}, np.zeros(1))
                for part in rest:
                    upper = upper.plus(self._affine(part).weighted([[-1.0]]))
                self._bound(name, self._affine(inner), upper)
            else:
                self._rows(name, self._above(expression), "<=")
        else:
            raise ProblemError(f"constraint {name!r} is of the kind {type(c).__name__}, which the one form has not")

    def _rows(self, name: str, left: Affine, relation: Any) -> None:
        """left <= 0, or == 0."""
        size = left.offset.size
        entries = {v: rows for v, rows in left.rows.items() if rows.nnz} or left.rows
        if not entries:
            entries = {self.variables[0].name: sparse.csr_array((size, self.variables[0].size))}
        kind: Kind = "scalar" if size == 1 else "vector"
        symbol = r"\nu" if relation == "==" else r"\lambda"
        rhs = -left.offset + 0.0
        self.constraints.append(Constraint(name, entries, symbol, kind, rhs=rhs, relation=relation))

    def _bound(self, name: str, inside: Affine, upper: Affine) -> None:
        """‖inside‖ <= upper."""
        if not inside.rows:
            raise ProblemError(f"{name!r} bounds the norm of a constant: state it as a row")
        bound = {v: rows for v, rows in upper.rows.items() if rows.nnz}
        self.norm_bounds.append(
            NormBound(
                name,
                inside.rows,
                "u",
                "vector",
                offset=inside.offset,
                bound_entries=bound,
                bound=float(upper.offset[0]),
            )
        )


# ---- expressions ---------------------------------------------------------------------------------------------------


def _kind(expression: Any) -> str:
    """What it is, whatever the version calls it: cvxpy has PnormApprox beside Pnorm."""
    return type(expression).__name__.lower().removesuffix("approx")


def _words(expression: Any) -> str:
    return f"cvxpy's {_kind(expression)}"


def _axis(expression: Any) -> Any:
    return getattr(expression, "axis", None)


def _number(value: Any) -> Any:
    return getattr(value, "value", value)


def _dense(expression: Any) -> Array:
    value = expression.value
    return np.asarray(value.toarray() if sparse.issparse(value) else value, dtype=float)


def _scaled(expression: Any) -> tuple[Array, Any] | None:
    """The matrix and the inner expression of what is linear in one that is not affine: negation, multiples, quotients,
    sums, promotion, reshaping; None of anything else."""
    kind, args = _kind(expression), expression.args
    if kind == "negexpression":
        return -np.eye(args[0].size), args[0]
    if kind == "sum" and _axis(expression) is None:
        return np.ones((1, args[0].size)), args[0]
    if kind == "promote":
        return np.ones((expression.size, 1)), args[0]
    if kind in ("reshape", "vec") and getattr(expression, "order", "F") == "F":
        return np.eye(args[0].size), args[0]
    if kind == "divexpression" and args[1].is_constant():
        return np.eye(args[0].size) / np.ravel(_dense(args[1]), order="F")[:, None], args[0]
    if kind == "multiply":
        constant, inner = args if args[0].is_constant() else args[::-1]
        if not constant.is_constant() or inner.size not in (1, expression.size):
            return None
        factors = np.ravel(np.broadcast_to(_dense(constant), expression.shape), order="F")
        spread = np.eye(inner.size) if inner.size == expression.size else np.ones((expression.size, 1))
        return factors[:, None] * spread, inner
    if kind == "mulexpression" and args[0].is_constant() and args[1].ndim <= 1:
        return np.atleast_2d(_dense(args[0])), args[1]
    if kind == "mulexpression" and args[1].is_constant() and args[0].ndim <= 1:
        return np.atleast_2d(_dense(args[1]).T), args[0]
    return None


def _single_norm(expression: Any) -> tuple[Any, list[Any]] | None:
    """The inside of a 2-norm and the affine rest, where the expression is their sum and nothing else."""
    parts = list(expression.args) if _kind(expression) == "addexpression" else [expression]
    curved = [part for part in parts if not part.is_affine()]
    if len(curved) != 1 or _kind(curved[0]) != "pnorm" or float(curved[0].p) != 2 or _axis(curved[0]) is not None:
        return None
    inner = curved[0].args[0]
    if not inner.is_affine():
        return None
    return inner, [part for part in parts if part.is_affine()]
