"""The Lagrange dual of any problem in the one form, derived mechanically, with the map back.

Every constraint and every loss term contributes multipliers z with z'(Kx - k) in the Lagrangian:

    constraint  Gx <= h         z = lam >= 0      K = G           k = h
    equality    Ax  = b         z = nu  free      K = A           k = b
    term        u = Mx + t      z = lam free      K = sign M      k = -sign t     and cost psi(lam)
    norm bound  ‖Ex + e‖<=f'x+g z = (u, mu)       K = (-E, -f')   k = (e, g)      and ‖u‖ <= mu

Minimising over x, with N = -K' and block by block of x:

    P = diag(p) > 0     x = (Nz - q) / p, substituted: the dual gains 1/2 ‖(Nz - q)/sqrt(p)‖^2
    P = 0               the equality Nz = q, with x as its multiplier
    P a matrix          x stays as a variable: Nz - Px = q, and the dual gains 1/2 x'Px; its copy counts among z

Where an equality contains a multiplier that occurs nowhere else, that multiplier is substituted out:
C - alpha - mu = 0 with mu >= 0 becomes alpha <= C, with the slack as its multiplier.

>>> import convexcls as cc
>>> dual = cc.duality.dualize(cc.SoftMarginSVM([[0], [1], [2]], [0, 1, 0], C=1.0))
>>> [constraint.name for constraint in dual.constraints]
['intercept', 'slack', 'margin_sign']
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from convexcls.arrays import Array
from convexcls.losses import HalfSquare
from convexcls.problem import (
    BY_SAMPLE,
    Constraint,
    Kind,
    Label,
    NormBound,
    Problem,
    ProblemError,
    Term,
    Variable,
)
from convexcls.rows import DiagonalRows, Rows, as_rows

Values = Mapping[str, Array]

#: A sum this small relative to what was added up is zero: a few times what rounding leaves.
ROUNDED_SUM = 1e-15


@dataclass(frozen=True, eq=False)
class _Multiplier:
    """A block z of multipliers, as it enters the Lagrangian."""

    name: str
    size: int
    symbol: str
    kind: Kind
    K: Mapping[str, Rows]
    k: Array
    cone: Literal["free", "nonnegative", "norm"]
    labels: Mapping[str, Label]
    term: Term | None = None
    weights: Array | None = None
    k_label: str = ""
    radius: str = ""  # for the vector of a norm bound: the name of its mu

    @property
    def shares(self) -> Array:
        """The weight of each row of a term."""
        assert self.term is not None
        assert self.weights is not None
        return np.repeat(self.weights, self.term.loss.width)

    @property
    def variable(self) -> Variable:
        return Variable(self.name, self.size, self.symbol, self.kind)


@dataclass(frozen=True)
class Step:
    """What became of one variable of the primal: ``how`` is substituted, equality, kept (as a copy),
    identified with ``multiplier``, or eliminated together with it (``copied`` where it is kept as a copy, too)."""

    variable: str
    how: Literal["substituted", "equality", "kept", "identified", "eliminated"]
    multiplier: str = ""
    copied: bool = False


class Dual(Problem):
    """The dual of ``primal``: a problem like any other, that remembers where it comes from.

    >>> import convexcls as cc
    >>> problem = cc.HardMarginSVM([[0, 0], [2, 0]], [0, 1])
    >>> dual = problem.dual()
    >>> dual.sense, dual.primal is problem
    ('max', True)
    >>> str(dual.solve(level="exact").certificate.optimum), str(problem.solve(level="exact").certificate.optimum)
    ('1/2', '1/2')
    """

    shown = ("primal", "steps", "recover")

    primal: Problem
    steps: tuple[Step, ...]
    _back: Callable[[Values, Values], tuple[Array, dict[str, Array]]]

    def recover(self, x: Array, multipliers: Values) -> tuple[Array, dict[str, Array]]:
        """A point of the primal and its multipliers, from a point of the dual and its multipliers.

        >>> import convexcls as cc
        >>> dual = cc.HardMarginSVM([[0], [2]], [0, 1]).dual()
        >>> s = dual.solve()
        >>> x, multipliers = dual.recover(s.x, s.multipliers)
        >>> x.round(6).tolist(), multipliers["margin"].round(6).tolist()
        ([1.0, -1.0], [0.5, 0.5])
        """
        point, back = self._back(self.split(np.asarray(x, dtype=float)), multipliers)
        return self.primal.in_gauge(point), back


def dualize(problem: Problem) -> Dual:
    r"""The dual of a problem.

    >>> import convexcls as cc
    >>> x = cc.Variable("x", 1, "x")
    >>> above = cc.Constraint("above", {"x": [[-1.0]]}, r"\lambda", "scalar", rhs=-3.0)  # x >= 3
    >>> dual = cc.duality.dualize(cc.Problem("square", [x], quadratic={"x": [1.0]}, constraints=[above]))
    >>> round(dual.solve().objective, 6), dual.solve().values["above"].round(6).tolist()
    (4.5, [3.0])
    """
    return _Derivation(problem).dual()


def _times(labels: Mapping[str, Label], numbers: Any) -> dict[str, Label]:
    """Labels of coefficients multiplied by numbers; numbers that differ by row leave no label."""
    values = np.atleast_1d(np.asarray(numbers, dtype=float))
    if not np.all(values == values[0]):
        return {}
    return {name: label.times(float(values[0])) for name, label in labels.items()}


def _negative(label: str) -> str:
    """A label such as t_i or -t_i with the opposite sign."""
    return label[1:] if label.startswith("-") else f"-{label}" if label else ""


def _collect(problem: Problem) -> list[_Multiplier]:
    out: list[_Multiplier] = []
    for t in problem.terms:
        counts, whole = t.counted, t.counted.size == t.size
        sign = float(t.loss.dual_sign)
        K = {v: (r if whole else r[counts]).scaled(sign) for v, r in t.entries.items()}
        out.append(
            _Multiplier(
                t.name,
                counts.size,
                t.symbol,
                t.kind,
                K,
                -sign * t.offset[counts],
                "free",
                _times(t.labels, sign),
                term=t,
                weights=t.weights[t.weights > 0],
                k_label=_negative(t.offset_label) if t.offset_label and sign < 0 else t.offset_label,
            )
        )
    for c in problem.constraints:
        cone: Literal["free", "nonnegative"] = "free" if c.relation == "==" else "nonnegative"
        out.append(_Multiplier(c.name, c.size, c.symbol, c.kind, c.entries, c.rhs, cone, c.labels, k_label=c.rhs_label))
    for b in problem.norm_bounds:
        E, radius = {v: -r for v, r in b.entries.items()}, f"{b.name}_radius"
        out.append(
            _Multiplier(b.name, b.size, b.symbol, b.kind, E, b.offset, "norm", _times(b.labels, -1.0), radius=radius)
        )
        f = {v: -r for v, r in b.bound_entries.items()}
        out.append(_Multiplier(radius, 1, b.radius_symbol, "scalar", f, np.array([b.bound]), "free", {}))
    return out


@dataclass
class _Derivation:
    """The dual as it is being built up, in minimised form."""

    problem: Problem
    quadratic: dict[str, Rows] = field(default_factory=dict)
    linear: dict[str, Array] = field(default_factory=dict)
    terms: list[Term] = field(default_factory=list)
    constraints: list[Constraint] = field(default_factory=list)
    norm_bounds: list[NormBound] = field(default_factory=list)
    constant: float = 0.0
    steps: list[Step] = field(default_factory=list)
    linear_labels: dict[str, Label] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.multipliers = {z.name: z for z in _collect(self.problem)}
        self.q = {v.name: self.problem.q[self.problem.layout[v.name]] for v in self.problem.variables}
        self.constant = -self.problem.constant
        self.eliminated: dict[str, _Elimination] = {}
        self.copies: dict[str, Variable] = {}

    def dual(self) -> Dual:
        for v in self.problem.variables:
            self._minimise_over(v)
        for z in self.multipliers.values():
            if z.name not in self.eliminated:
                self._keep(z)
        kept = [z.variable for z in self.multipliers.values() if z.name not in self.eliminated]
        return Dual(
            f"dual of {self.problem.name}",
            [*self.copies.values(), *kept],
            quadratic=self.quadratic,
            linear={v: q for v, q in self.linear.items() if np.any(q)},
            terms=self.terms,
            constraints=self.constraints,
            norm_bounds=self.norm_bounds,
            constant=self.constant,
            sense="max" if self.problem.sense == "min" else "min",
            unit=self.problem.unit,
            linear_labels=self.linear_labels,
            quadratic_symbol=self.problem.quadratic_symbol,
            attributes={"primal": self.problem, "steps": tuple(self.steps), "_back": self._back},
        )

    def _cost_label(self, variable: str) -> str:
        """How the linear cost of a variable is written where it differs by entry."""
        if self.problem.variable(variable).kind not in BY_SAMPLE:
            return ""
        label = self.problem.linear_labels.get(variable, Label("c_i"))
        return label.factor if label.scale > 0 else f"-{label.factor}"

    # ---- minimising the Lagrangian over one block of x ------------------------------------------

    def _N(self, variable: str, without: str = "") -> dict[str, Rows]:
        """The rows N of the stationarity condition of a variable, by multiplier; -P where x stays as a copy."""
        N = {z.name: -z.K[variable].T for z in self.multipliers.values() if variable in z.K and z.name != without}
        if variable not in self.copies:
            return N
        return {self.copies[variable].name: -self.problem.P[variable], **N}

    def _labels(self, variable: str) -> dict[str, Label]:
        """How the rows N = -K' are written."""
        labels = {z.name: z.labels[variable].turned(-1.0) for z in self.multipliers.values() if variable in z.labels}
        if variable in self.copies:
            labels[self.copies[variable].name] = Label("", self.problem.quadratic_symbol, -1.0)
        return labels

    def _minimise_over(self, v: Variable) -> None:
        P, q, N = self.problem.P.get(v.name), self.q[v.name], self._N(v.name)
        p = self.problem.diagonals.get(v.name)
        if p is not None and np.all(p > 0):
            self.steps.append(Step(v.name, "substituted"))
            self._add_half_square(v.name, N, -q, 1.0 / p, self._block(v))
            return
        if P is not None and np.any(P.column_max()):
            if len(N) == 1 and not np.any(q) and next(iter(N.values())).equals(P):
                (z,) = N  # Px = Pz: the multiplier itself will do for x
                self._add_quadratic(z, P)
                self.steps.append(Step(v.name, "identified", z))
                return
            copy = Variable(f"{v.name}_copy", v.size, rf"\tilde{{{v.symbol}}}", v.kind)
            self.copies[v.name], self.quadratic[copy.name] = copy, P
            N = self._N(v.name)  # from here on as for P = 0, with one more block
        chosen = self._eliminable(v.name)
        if chosen is not None:
            self.steps.append(Step(v.name, "eliminated", chosen.name, v.name in self.copies))
            self._eliminate(v, chosen, self._block(v))
        elif N:
            self.steps.append(Step(v.name, "kept" if v.name in self.copies else "equality"))
            label = self._cost_label(v.name)
            self.constraints.append(Constraint(v.name, N, rhs=q, relation="==", rhs_label=label, **self._block(v)))
        elif np.any(q):
            raise ProblemError(f"the problem is unbounded: {v.name!r} has a cost but meets no constraint")

    def _block(self, v: Variable) -> dict[str, Any]:
        """How the block that takes a variable's place is written."""
        return {"symbol": v.symbol, "kind": v.kind, "labels": self._labels(v.name)}

    def _add_half_square(
        self, name: str, N: Mapping[str, Rows], offset: Array, weights: Array, block: Mapping[str, Any]
    ) -> None:
        """1/2 sum weights (Nz + offset)^2; on a multiplier's own entries it is part of P."""
        if not N:
            self.constant += float(0.5 * weights @ offset**2)
        elif len(N) == 1 and (diagonal := next(iter(N.values())).diagonal()) is not None:
            (z,) = N
            self._add_quadratic(z, DiagonalRows(weights * diagonal**2))
            self.linear[z] = self.linear.get(z, 0.0) + weights * diagonal * offset
            self.constant += float(0.5 * weights @ offset**2)
        else:
            label = self._cost_label(name) if np.any(offset) else ""
            self.terms.append(
                Term(name, N, loss=HalfSquare(), offset=offset, weights=weights, offset_label=label, **block)
            )

    def _add_quadratic(self, z: str, P: Rows) -> None:
        """Add to the quadratic part of a multiplier: diagonals as they are, a matrix makes it one."""
        known = self.quadratic.get(z)
        if known is None:
            self.quadratic[z] = P
            return
        p, other = P.diagonal(), known.diagonal()
        if p is None or other is None:
            self.quadratic[z] = as_rows(P.to_dense() + known.to_dense())
        else:
            self.quadratic[z] = DiagonalRows(other + p)

    # ---- multipliers that occur in one stationarity condition only --------------------------------

    def _eliminable(self, variable: str) -> _Multiplier | None:
        """The multiplier to substitute out of this variable's equality, if one qualifies: it occurs
        there only, one to one. Losses first, then norms, then bounds at zero, then other bounds."""
        others = [z for z in self.multipliers.values() if variable in z.K]
        ranked = []
        for z in others:
            if len(z.K) != 1 or z.K[variable].diagonal() is None or len(self._N(variable)) == 1:
                continue
            if not np.all(z.K[variable].column_max() > 0) or (z.cone == "free" and z.term is None):
                continue
            if variable in self.copies and (z.cone != "nonnegative" or np.any(z.k)):
                continue  # only a bound at zero leaves the copy, and so the way back, as it is
            rank = 0 if z.term else 1 if z.cone == "norm" else 3 if np.any(z.k) else 2
            ranked.append((rank, z))
        return min(ranked, key=lambda pair: pair[0])[1] if ranked else None

    def _eliminate(self, v: Variable, z: _Multiplier, block: dict[str, Any]) -> None:
        """D z + N'z' = q gives z = (q - N'z') / D, which takes z's place everywhere."""
        D = (-z.K[v.name]).diagonal()
        assert D is not None
        q, N = self.q[v.name], self._N(v.name, without=z.name)
        self.eliminated[z.name] = _Elimination(z, v.name, D, q, N)
        block["labels"] = {name: label for name, label in block["labels"].items() if name != z.name}
        if np.any(z.k):  # the cost k'z
            self.constant += float(z.k @ (q / D))
            for other, n in N.items():
                self.linear[other] = self.linear.get(other, 0.0) - n.T @ (z.k / D)
        if z.term is not None and z.weights is not None:
            c, psi = z.shares, z.term.loss.conjugate
            entries = {other: n.scaled(-1.0 / (D * c)) for other, n in N.items()}
            block["labels"] = _times(block["labels"], -1.0 / (D * c))
            label = self._cost_label(v.name) if np.all(D * c == -1.0) else ""
            self.terms.append(
                Term(v.name, entries, loss=psi, offset=q / (D * c), weights=z.weights, offset_label=label, **block)
            )
        elif z.cone == "nonnegative":
            sign = np.sign(D)
            entries = {other: n.scaled(sign) if np.any(sign < 0) else n for other, n in N.items()}
            block["labels"] = _times(block["labels"], sign)
            label = self._cost_label(v.name)
            label = label if np.all(sign > 0) else _negative(label)
            self.constraints.append(Constraint(v.name, entries, rhs=sign * q, rhs_label=label, **block))
        else:
            entries = {other: n.scaled(-1.0 / D) for other, n in N.items()}
            block["labels"] = _times(block["labels"], -1.0 / D)
            mu = {z.radius: DiagonalRows.identity(1)}
            self.norm_bounds.append(
                NormBound(v.name, entries, offset=q / D, bound_entries=mu, radius_symbol=r"\rho", **block)
            )

    # ---- multipliers that stay --------------------------------------------------------------------

    def _keep(self, z: _Multiplier) -> None:
        if np.any(z.k):
            if z.name not in self.linear and z.k_label:
                self.linear_labels[z.name] = Label(z.k_label.lstrip("-"), "", -1.0 if z.k_label[0] == "-" else 1.0)
            self.linear[z.name] = self.linear.get(z.name, 0.0) + z.k
        identity = DiagonalRows.identity(z.size)
        if z.term is not None and z.weights is not None:
            psi = z.term.loss.conjugate
            if isinstance(psi, HalfSquare):
                self._add_quadratic(z.name, DiagonalRows(1.0 / z.shares))
            else:
                inner = {z.name: DiagonalRows(1.0 / z.shares)}
                self.terms.append(Term(f"{z.name}_value", inner, "m", z.kind, loss=psi, weights=z.weights))
        elif z.cone == "nonnegative":
            sign = {z.name: DiagonalRows.identity(z.size, -1.0)}
            self.constraints.append(Constraint(f"{z.name}_sign", sign, "s", z.kind))
        elif z.cone == "norm":
            mu = {z.radius: DiagonalRows.identity(1)}
            self.norm_bounds.append(
                NormBound(f"{z.name}_cone", {z.name: identity}, "v", z.kind, bound_entries=mu, radius_symbol=r"\rho")
            )

    # ---- the way back -------------------------------------------------------------------------------

    def _back(self, z: Values, y: Values) -> tuple[Array, dict[str, Array]]:
        values = dict(z)
        for name, gone in self.eliminated.items():
            values[name] = gone.value(values)
        x = np.zeros(self.problem.size)
        for step in self.steps:
            x[self.problem.layout[step.variable]] = self._primal_value(step, values, y)
        multipliers: dict[str, Array] = {}
        for c in self.problem.constraints:
            multipliers[c.name] = values[c.name]
        for b in self.problem.norm_bounds:
            multipliers[b.name] = np.concatenate([values[b.name], values[f"{b.name}_radius"]])
        return x, multipliers

    def _primal_value(self, step: Step, z: Values, y: Values) -> Array:
        if step.how == "substituted":
            p = np.asarray(self.problem.quadratic[step.variable])
            total = -self.q[step.variable]
            for name, N in self._N(step.variable).items():
                total = total + N @ z[name]
            return np.asarray(total / p)
        if step.how == "identified":
            return np.asarray(z[step.multiplier])
        if step.how == "eliminated":
            return self.eliminated[step.multiplier].primal_value(z[step.multiplier], y)
        return np.asarray(y[step.variable])


@dataclass(frozen=True, eq=False)
class _Elimination:
    """The multiplier z = (q - N'z') / D that was substituted out of the equality of a variable."""

    z: _Multiplier
    variable: str
    D: Array
    q: Array
    N: Mapping[str, Rows]

    def value(self, values: Values) -> Array:
        total, size = self.q, np.abs(self.q)
        for name, rows in self.N.items():
            total = total - rows @ values[name]
            size = size + abs(rows) @ np.abs(values[name])
        if self.z.cone == "nonnegative":  # rounding is no wrong sign
            total = np.where(np.abs(total) <= ROUNDED_SUM * size, 0.0, total)
        return np.asarray(total / self.D)

    def primal_value(self, z: Array, y: Values) -> Array:
        """x from K x = k + (what z's own condition says): K = -D."""
        if self.z.term is not None and self.z.weights is not None:
            return -(self.z.k + self.z.term.loss.conjugate.slope(z / self.z.shares)) / self.D
        if self.z.cone == "nonnegative":
            return np.sign(self.D) * y[self.variable] - self.z.k / self.D
        return (y[self.variable][:-1] - self.z.k) / self.D
