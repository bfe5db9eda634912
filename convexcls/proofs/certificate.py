"""What a verdict is proved by.

A certificate has a **level**: how much of the proof rests on floating point.

float      the KKT conditions and the gap, measured in doubles: the measures themselves are rounded
rigorous   bounds on the optimum that hold despite all rounding
exact      rational arithmetic on the data as given: the gap is 0, not small; of a likelihood, whose optimum is no
           rational number, an enclosure to as many digits as were asked for
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from convexcls.arrays import Array
from convexcls.in_notebooks import InNotebooks
from convexcls.problem import NoAnswer, Problem
from convexcls.proofs.claims.direction import Direction
from convexcls.proofs.claims.farkas import Farkas
from convexcls.proofs.kkt.attainment import PROOF
from convexcls.proofs.kkt.residuals import KKT
from convexcls.wording import MAX_FILE_DIGITS, rational_text

Status = Literal["optimal", "infeasible", "unattained", "undecided"]
Level = Literal["float", "rigorous", "exact"]
LEVELS: tuple[Level, ...] = ("float", "rigorous", "exact")
Number = float | Fraction


@dataclass(frozen=True, eq=False)
class Certificate(InNotebooks):
    """The verdict with everything that proves it.

    ``status`` is the verdict. An optimum is proved by ``kkt`` to the tolerance ``tol``, infeasibility by the ``farkas``
    vector, that there is no minimiser by a ``direction``; ``reason`` says why nothing is. ``level`` says what the proof
    rests on: "float", "rigorous" (then ``bounds``) or "exact" (then ``exact``, or an ``enclosure``). ``x`` and
    ``multipliers`` are the point that it speaks of.

    >>> import convexcls as cc
    >>> X, y = [[0, 0], [2, 2], [0, 2], [2, 0]], ["even", "even", "odd", "odd"]
    >>> proof = cc.HardMarginSVM(X, y).solve().certificate
    >>> proof.status, proof.holds()
    ('infeasible', True)
    >>> proof.farkas.multipliers["margin"].round(6).tolist()  # times these the margins add up to 0 >= 1
    [0.25, 0.25, 0.25, 0.25]
    """

    status: Status
    problem: Problem
    tol: float
    kkt: KKT | None = None
    farkas: Farkas | None = None
    direction: Direction | None = None
    attained: float | None = None
    reason: str = ""
    notes: tuple[str, ...] = field(default=())
    #: The point and the multipliers that it speaks of.
    x: Array | None = field(default=None, repr=False)
    multipliers: Mapping[str, Array] | None = field(default=None, repr=False)
    level: Level = "float"
    #: At the level ``rigorous``: lower and upper bounds of the optimum.
    bounds: Any = field(default=None, repr=False)
    #: At the level ``exact``: the rational solution, or the enclosure of a likelihood's.
    exact: Any = field(default=None, repr=False)
    enclosure: Any = field(default=None, repr=False)

    def __repr__(self) -> str:
        return f"<Certificate of {self.problem.name}: {self.status}, level {self.level}, tolerance {self.tol:g}>"

    @property
    def verdict(self) -> Status:
        """optimal, infeasible, unattained or undecided."""
        return self.status

    def holds(self, tol: float | None = None) -> bool:
        """Whether the verdict is proved, for an optimum to the relative tolerance ``tol``.

        >>> import convexcls as cc
        >>> s = cc.LogisticMLE([[0], [1], [2]], [0, 1, 0], l2=1.0).solve("gradient", max_iter=1)
        >>> s.status, s.certificate.holds()
        ('undecided', False)
        >>> cc.LogisticMLE([[0], [1], [2]], [0, 1, 0], l2=1.0).solve().certificate.holds(1e-10)
        True
        """
        if self.status in ("infeasible", "unattained"):
            return True
        if self.exact is not None:
            return True
        if self.bounds is not None or self.enclosure is not None:
            return self.status == "optimal" and self.width <= (self.tol if tol is None else tol)
        if self.kkt is None or (self.attained is not None and self.attained < PROOF):
            return False
        return self.kkt.holds(self.tol if tol is None else tol)

    # ---- what is proved of the optimum, in the sense in which the problem is written --------------------------

    @property
    def lower(self) -> Number:
        """A lower bound of the optimum. At the level ``float`` it is as measured: rounding is not accounted for."""
        return self._interval[0]

    @property
    def upper(self) -> Number:
        """An upper bound of the optimum, likewise."""
        return self._interval[1]

    @property
    def optimum(self) -> Fraction | None:
        """The optimum itself, as a rational; None below the level ``exact`` and where it is not rational.

        >>> import convexcls as cc
        >>> proof = cc.HardMarginSVM([[0, 0], [1, 2]], [0, 1]).solve().certify("exact")
        >>> str(proof.optimum), proof.lower == proof.upper
        ('2/5', True)
        """
        if self.exact is None or self.status != "optimal":
            return None
        return -self.exact.optimum if self.problem.sense == "max" else self.exact.optimum

    @property
    def nearest_optimum(self) -> float | None:
        """The double nearest to the optimum, where that is known exactly or enclosed; None where it is not."""
        if self.status != "optimal" or (self.exact is None and self.enclosure is None):
            return None
        try:
            return float((Fraction(self.lower) + Fraction(self.upper)) / 2)
        except OverflowError:
            return None

    @property
    def objective(self) -> float:
        """The objective at the point, in the sense in which the problem is written: as measured, within what is proved
        of it. Where the optimum is proved without rounding the double nearest to that: rounding the point may cost
        more. NaN without a point."""
        if (proved := self.nearest_optimum) is not None:
            return proved
        if self.kkt is None or self.x is None:
            return math.nan
        measured, known = self.kkt.objective, self.bounds
        if self.status == "optimal" and known is not None and known.at_point is not None:
            measured = known.at_point if math.isnan(measured) else min(max(measured, known.lower), known.at_point)
        return self.problem.reported(measured)

    @property
    def width(self) -> float:
        """How far apart the bounds are, relative to the optimum or to the problem's unit."""
        low, high = self._interval
        if not (math.isfinite(low) and math.isfinite(high)):
            return math.inf
        size = max(abs(float(low)), abs(float(high)), self.problem.unit)
        return float(high - low) / size if high != low else 0.0

    @property
    def _interval(self) -> tuple[Number, Number]:
        low, high = self._minimised()
        return (-high, -low) if self.problem.sense == "max" else (low, high)

    def _minimised(self) -> tuple[Number, Number]:
        if self.status == "infeasible":
            return math.inf, math.inf
        if self.exact is not None and self.status == "optimal":
            return self.exact.optimum, self.exact.optimum
        known = self.enclosure or self.bounds
        if known is not None:
            return known.lower, known.upper
        if self.status == "unattained":
            falls = self.direction is not None and self.direction.slope < 0
            return -math.inf, -math.inf if falls else self._at_point()
        if self.kkt is None:
            return -math.inf, math.inf
        ends = sorted((self.kkt.dual_objective, self.kkt.objective))  # rounding may turn them round
        return (ends[0], ends[1]) if all(map(math.isfinite, ends)) else (-math.inf, math.inf)

    def _at_point(self) -> float:
        return self.kkt.objective if self.kkt is not None and math.isfinite(self.kkt.objective) else math.inf

    # ---- the rational solution ------------------------------------------------------------------------------------

    @property
    def exact_point(self) -> Mapping[str, list[Fraction]]:
        """The solution by variable, as rationals.

        >>> import convexcls as cc
        >>> proof = cc.HardMarginSVM([[0, 0], [1, 2]], [0, 1]).solve().certify("exact")
        >>> {name: [str(v) for v in values] for name, values in proof.exact_point.items()}
        {'coef': ['2/5', '4/5'], 'intercept': ['-1']}
        """
        return self._rational().point

    @property
    def exact_multipliers(self) -> Mapping[str, Mapping[int, Fraction]]:
        """The multipliers that are not zero by constraint and row, as rationals."""
        return self._rational().multipliers

    @property
    def coef(self) -> list[Fraction]:
        """The coefficients, as rationals."""
        point = self.exact_point
        if "coef" not in point:
            raise NoAnswer(f"the {self.problem.name} has no variable 'coef'; see .exact_point")
        return point["coef"]

    @property
    def intercept(self) -> Fraction:
        """The intercept, as a rational; 0 where the model has none."""
        return self.exact_point.get("intercept", [Fraction(0)])[0]

    def _rational(self) -> Any:
        if self.exact is None or self.status != "optimal":
            raise NoAnswer(
                f"there is no rational solution: this certificate is {self.status} at the level {self.level!r}; "
                "linear and quadratic programs have one after certify(level='exact')"
            )
        return self.exact

    # ---- telling ------------------------------------------------------------------------------------------------

    def explain(self) -> str:
        """The verdict in words.

        >>> import convexcls as cc
        >>> print(cc.LogisticMLE([[0], [1]], [0, 1]).solve().certificate.explain())
        UNATTAINED. This problem (logistic regression) has no minimiser: along this direction no loss grows, and the
        losses of every sample keep falling, so the objective only approaches its infimum (separated classes):
          coef: [2.]
          intercept: [-1.]
        A penalty (l2 > 0) makes the minimum exist.
        """
        from convexcls.proofs.words import explain_certificate

        return explain_certificate(self)

    def to_json(self) -> str:
        """The certificate as a file that others can verify: see ``convexcls.verify``.

        >>> import convexcls as cc
        >>> X, y = [[0, 0], [3, 1]], [0, 1]
        >>> text = cc.HardMarginSVM(X, y).solve(level="exact").certificate.to_json()
        >>> cc.verify(text, X, y).accepted, cc.verify(text, [[0, 0], [3, 2]], y).accepted
        (True, False)
        """
        from convexcls.proofs.portable.writing import certificate_json

        return certificate_json(self)

    def to_coq(self, library: bool = True) -> str:
        """What is proved as a theorem of the proof assistant Coq, with the data as integers, and its proof by
        computation: ``coqc proof.v`` checks it. Without ``library`` the file is to be compiled beside
        ``convexcls.proofs.coq.library_text()``, in a file library.v.

        >>> import convexcls as cc
        >>> text = cc.HardMarginSVM([[0, 0], [3, 1]], [0, 1]).solve(level="exact").certificate.to_coq()
        >>> [line for line in text.splitlines() if line.startswith("Theorem optimum")]
        ['Theorem optimum : minimum problem ((1) # 5).']
        """
        from convexcls.proofs.coq import certificate_coq

        return certificate_coq(self, library)

    def summary(self) -> dict[str, Any]:
        """The verdict and its measures as plain values; what is not finite is null.

        >>> import convexcls as cc
        >>> summary = cc.HardMarginSVM([[0], [4]], [0, 1]).solve(level="exact").certificate.summary()
        >>> summary["status"], summary["level"], summary["optimum"]
        ('optimal', 'exact', '1/8')
        """
        out: dict[str, Any] = {
            "level": self.level,
            "status": self.status,
            "lower": _number(float(self.lower)),
            "upper": _number(float(self.upper)),
            "optimum": None if self.optimum is None else rational_text(self.optimum, MAX_FILE_DIGITS),
            "model": self.problem.kind or None,
            "parameters": dict(self.problem.parameters),
            "tolerance": self.tol,
            "reason": self.reason or None,
            "notes": list(self.notes),
        }
        if self.kkt is not None and self.status in ("optimal", "undecided"):
            out["kkt"] = {
                "objective": _number(self.problem.reported(self.kkt.objective)),
                "dual_objective": _number(self.problem.reported(self.kkt.dual_objective)),
                "gap": _number(self.kkt.gap),
                "relative": {name: _number(v) for name, v in self.kkt.measures().items()},
                "absolute": {
                    "stationarity": _number(self.kkt.stationarity.max),
                    "primal feasibility": _number(self.kkt.primal_feasibility.max),
                    "dual feasibility": _number(self.kkt.dual_feasibility.max),
                    "complementary slackness": _number(self.kkt.complementary_slackness.max),
                },
            }
        if self.attained is not None and self.status != "unattained":
            out["attainment"] = _number(self.attained)
        if self.farkas is not None:
            out["farkas"] = {
                "value": self.farkas.value,
                "residual": self.farkas.residual,
                "multipliers": {name: _sparse(z) for name, z in self.farkas.multipliers.items()},
            }
        if self.direction is not None:
            blocks = self.problem.split(self.direction.x)
            out["direction"] = {
                "slope": self.direction.slope,
                "residual": self.direction.residual,
                "variables": {name: _sparse(value) for name, value in blocks.items()},
                "rows": [int(i) for i in self.direction.rows],
            }
        return out

    def _repr_latex_(self) -> str | None:
        """The bounds that enclose the optimum; None where there is none to enclose."""
        from convexcls.proofs.words import bounds_formula

        return bounds_formula(self)


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _sparse(values: Array) -> dict[str, float]:
    """The entries that are not zero, by index."""
    return {str(i): float(values[i]) for i in np.flatnonzero(values)}
