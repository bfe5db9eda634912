"""Files for Coq: data, theorem and proof, behind the library that the proof is closed with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib.resources import files
from math import gcd
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from convexcls.models import HardMarginSVM, LeastAbsolute, LeastSquares, Model, PerceptronCriterion, SoftMarginSVM
from convexcls.problem import NoAnswer, Problem
from convexcls.proofs.coq.integers import denominator, integer_program, whole

if TYPE_CHECKING:
    from convexcls.proofs.certificate import Certificate
    from convexcls.proofs.separability import Separability

#: Losses that fall with the margin for ever: that is all that the theorem on unattained likelihoods needs.
FALLING = ("logistic", "exponential")
LINE_WIDTH = 110
REQUIRED = "Require Import ZArith QArith List library.\nImport ListNotations.\nOpen Scope Q_scope.\n"


def library_text() -> str:
    """The library, as Coq reads it."""
    return files("convexcls.proofs.coq").joinpath("library.v").read_text(encoding="utf-8")


@dataclass(frozen=True)
class Stated:
    """A program of Coq: the lines that define it, its ``scale``, and by constraint the numbers by which its rows are
    multiplied, equalities and inequalities in the order in which it has them."""

    lines: list[str]
    scale: Fraction
    equal: Mapping[str, Sequence[Fraction]]
    below: Mapping[str, Sequence[Fraction]]

    def multipliers(self, given: Mapping[str, Mapping[int, Fraction]], scale: Fraction) -> list[list[Fraction]]:
        """Those of the equalities and of the inequalities, one a row."""
        return [
            [scale * given.get(name, {}).get(i, Fraction(0)) / f for name, fs in kind.items() for i, f in enumerate(fs)]
            for kind in (self.equal, self.below)
        ]


def certificate_coq(certificate: Certificate, library: bool = True) -> str:
    """The file that proves what a certificate says; ``NoAnswer`` where there is none."""
    if certificate.status == "optimal":
        body = _optimal(certificate)
    elif certificate.status == "infeasible":
        body = _infeasible(certificate)
    elif certificate.status == "unattained":
        body = _unattained(certificate)
    else:
        raise NoAnswer("nothing is proved that Coq could check: the certificate is undecided")
    return _file(body, certificate.problem.name, library)


def _file(body: list[str], name: str, library: bool) -> str:
    head = [library_text()] if library else [REQUIRED]
    rule = _comment(f"(* ---- this problem: {name} ".ljust(117, "-"))
    return "\n".join([*head, rule, "", *body, ""])


# ---- claims ------------------------------------------------------------------------------------------------------


def _optimal(certificate: Certificate) -> list[str]:
    proof, problem = certificate.exact, certificate.problem
    if proof is None or proof.optimum is None:
        raise NoAnswer(
            "there is no rational optimum to prove in Coq: it takes a certificate of a linear or quadratic program at "
            "the level 'exact'"
        )
    stated, values = _stated(problem), {**proof.slacks(), **proof.point}
    point = [value for v in problem.variables for value in values[v.name]]
    nu, lam = stated.multipliers(proof.multipliers, stated.scale)
    k = denominator([*point, *nu, *lam])
    numbers = [_list(whole(part, k)) for part in (point, nu, lam)]
    words = "(* The least value, of all rational points x. *)" if problem.sense == "min" else _NEGATED
    return [
        *stated.lines,
        "",
        words,
        f"Theorem optimum : minimum problem {_rational(proof.optimum)}.",
        *_proved(f"minimum_checked problem {k}", numbers, "optimum"),
    ]


_NEGATED = "(* The problem is a maximum: this is minus its objective. *)"


def _infeasible(certificate: Certificate) -> list[str]:
    from convexcls.proofs.portable.writing import farkas_of

    problem, found = certificate.problem, farkas_of(certificate)
    stated = _stated(problem)
    nu, lam = stated.multipliers(found, Fraction(1))
    k = denominator([*nu, *lam])
    factors = _reduced(whole([*nu, *lam], k))
    numbers = [_list(factors[: len(nu)]), _list(factors[len(nu) :])]
    out = [
        *stated.lines,
        "",
        "(* No rational point satisfies all constraints. *)",
        "Theorem none_feasible : infeasible problem.",
        *_proved("infeasible_checked problem", numbers, "none_feasible", ""),
    ]
    if isinstance(problem, HardMarginSVM) and problem.parameters["intercept"]:
        out += ["", *_hulls(problem, dict(found["margin"]))]
    return out


def _hulls(problem: Model, used: Mapping[int, Fraction]) -> list[str]:
    """That a point of one class's convex hull is one of the other's."""
    signs = problem.data.signs
    assert signs is not None
    sides = [[used.get(i, Fraction(0)) for i in range(problem.data.n) if signs[i] == s] for s in (-1, 1)]
    shares = [[value / sum(side) for value in side] for side in sides]
    k = denominator([*shares[0], *shares[1]])
    return [
        "(* A point of one class's convex hull is a point of the other's. *)",
        "Theorem hulls : hulls_meet (of_class (-1) samples) (of_class 1 samples).",
        *_proved(f"hulls_meet_checked {k}", [_list(whole(share, k)) for share in shares], "hulls", "_ _"),
    ]


def _unattained(certificate: Certificate) -> list[str]:
    from convexcls.proofs.portable.writing import direction_of

    problem = certificate.problem
    penalised = bool(problem.quadratic or problem.constraints or any(problem.q) or len(problem.terms) != 1)
    if not isinstance(problem, Model) or penalised or problem.terms[0].loss.name not in FALLING:
        raise NoAnswer(
            f"that the {problem.name} has no minimum is proved in Coq only for sums of logistic or exponential losses "
            "of two classes"
        )
    direction = [value for v in problem.variables for value in direction_of(certificate)[v.name]]
    kept = problem.terms[0].counted.tolist()
    assert problem.data.signs is not None
    lines, d = _samples(problem, [int(s) for s in problem.data.signs.tolist()], kept)
    rows = f"(margins {d} {_intercept(problem)} samples)"
    numbers = [_list(_reduced(whole(direction, denominator(direction))))]
    return [
        *lines,
        "",
        "(* Whatever falling losses of the margins are added up, every point has one that is better. *)",
        f"Theorem no_minimum : never_attained {rows}.",
        *_proved("never_attained_checked", numbers, "no_minimum", rows),
    ]


def separability_coq(found: Separability, library: bool = True) -> str:
    """The file that proves which of the three kinds of separability two or more classes are of."""
    rows = found.rows.rational()
    d = denominator(value for row in rows for value in row)
    proof, n = found.proof, len(rows)
    lines = [f"(* The margins of all samples, times {d}. *)", "Definition rows : list vector := ["]
    lines += [*_joined([_list(whole(row, d)) for row in rows]), "]%Z."]
    direction = [] if proof.direction is None else list(proof.direction)
    way = _list(_reduced(whole(direction, denominator(direction)))) if direction else ""
    if proof.kind == "strict":
        claim, theorem, numbers = "separable rows", "separable_checked", [way]
    elif proof.kind == "weak":
        weights = [proof.weights.get(i, Fraction(0)) for i in range(n)]
        share = _list(_reduced(whole(weights, denominator(weights))))
        claim, theorem, numbers = "weakly_separable rows", "weakly_separable_checked", [way, share]
    else:
        weights = positive_everywhere(rows, proof.weights)
        claim, theorem = "overlapping rows", "overlapping_checked"
        numbers = [_list(_reduced(whole(weights, denominator(weights))))]
    body = [*lines, "", f"Theorem kind : {claim}.", *_proved(theorem, numbers, "kind", "rows")]
    return _file(body, f"separability of {len(found.labels)} classes", library)


def positive_everywhere(rows: list[list[Fraction]], weights: Mapping[int, Fraction]) -> list[Fraction]:
    """Weights > 0 of all rows that add up to 0, from those of some rows that all others depend on: a row less its own
    combination of these is 0 too, and so is that sum with the weights as often as it takes to be positive."""
    from convexcls.rational.elimination import solve, transposed

    used = sorted(weights)
    columns = transposed([rows[i] for i in used])
    total = [Fraction(0)] * len(used)
    for i, row in enumerate(rows):
        if i not in weights:
            share = solve(columns, row)
            if share is None:
                raise NoAnswer("a row does not depend on those that have weights: the proof of overlap is not complete")
            total = [a - b for a, b in zip(total, share, strict=True)]
    often = max((-t / weights[i] for t, i in zip(total, used, strict=True)), default=Fraction(0)) // 1 + 1
    often = max(often, 1)
    out = [Fraction(1)] * len(rows)
    for t, i in zip(total, used, strict=True):
        out[i] = t + often * weights[i]
    return out


# ---- problems as programs of the library -------------------------------------------------------------------------


def _stated(problem: Problem) -> Stated:
    for kind, state in _MODELS.items():
        if type(problem) is kind and isinstance(problem, Model):
            return state(problem)
    return _any_program(problem)


def _hard_margin(problem: Model) -> Stated:
    lines, d, n, b = _of_classes(problem)
    lines.append(f"Definition problem : program := hard_margin {d} {n} {b} samples.")
    return Stated(lines, Fraction(2), {}, {"margin": [Fraction(d)] * problem.data.n})


def _soft_margin(problem: Model) -> Stated:
    lines, d, n, b = _of_classes(problem)
    C, rows = Fraction(problem.parameters["C"]), problem.data.n
    costs, e = _numbers("costs", [C * Fraction(w) for w in problem.data.given_weights.tolist()], lines)
    name = "soft_margin" if problem.parameters["loss"] == "hinge" else "squared_hinge"
    lines.append(f"Definition problem : program := {name} {d} {n} {b} {e} {costs} samples.")
    below = {"margin": [Fraction(d)] * rows}
    if name == "soft_margin":
        below["slack_sign"] = [Fraction(1)] * rows
    return Stated(lines, Fraction(2 * e), {}, below)


def _least_squares(problem: Model) -> Stated:
    targets = [Fraction(t) for t in problem.data.coded_as_given(problem.parameters["coding"]).tolist()]
    lines, d = _samples(problem, targets)
    l2, weights = Fraction(problem.parameters["l2"]), [Fraction(w) for w in problem.data.given_weights.tolist()]
    shares, e = _numbers("weights", weights, lines, l2)
    arguments = f"{d} {problem.data.d} {_intercept(problem)} {e} {shares} {int(l2 * e)}"
    lines.append(f"Definition problem : program := least_squares {arguments} samples.")
    return Stated(lines, Fraction(2 * e * d * d), {}, {})


def _least_absolute(problem: Model) -> Stated:
    targets = [Fraction(t) for t in problem.data.coded_as_given(problem.parameters["coding"]).tolist()]
    lines, d = _samples(problem, targets)
    weights, e = _numbers("weights", [Fraction(w) for w in problem.data.given_weights.tolist()], lines)
    arguments = f"{d} {problem.data.d} {_intercept(problem)} {e} {weights}"
    lines.append(f"Definition problem : program := least_absolute {arguments} samples.")
    sides = {name: [Fraction(d)] * problem.data.n for name in ("residual_above", "residual_below")}
    return Stated(lines, Fraction(e), {}, sides)


def _perceptron(problem: Model) -> Stated:
    if problem.parameters["normalization"] is None:
        return _any_program(problem)
    lines, d, n, b = _of_classes(problem)
    weights, e = _numbers("weights", [Fraction(w) for w in problem.data.given_weights.tolist()], lines)
    lines.append(f"Definition problem : program := perceptron {d} {n} {b} {e} {weights} samples.")
    rows = problem.data.n
    below = {"margin": [Fraction(d)] * rows, "slack_sign": [Fraction(1)] * rows}
    return Stated(lines, Fraction(e), {"normalization": [Fraction(d * e)]}, below)


_MODELS = {
    HardMarginSVM: _hard_margin,
    SoftMarginSVM: _soft_margin,
    LeastSquares: _least_squares,
    LeastAbsolute: _least_absolute,
    PerceptronCriterion: _perceptron,
}


def _any_program(problem: Problem) -> Stated:
    p = integer_program(problem)
    layout = ", ".join(f"{v.name} ({v.size})" for v in problem.variables)
    squares = [f"({w}, {_list(m)}, {t})" for w, m, t in p.squares]
    sides = [[f"({_list(a)}, {b})" for a, b in zip(rows.left, rows.right, strict=True)] for rows in (p.equal, p.below)]
    lines = [
        _comment(f"(* The unknowns are, in this order: {layout}."),
        f"Definition problem : program := Program {p.scale} [",
        *_joined(squares),
        f"]%Z {_list(p.linear)}%Z ({p.constant})%Z [",
        *_joined(sides[0]),
        "]%Z [",
        *_joined(sides[1]),
        "]%Z.",
    ]
    factors = []
    for names, rows in zip(p.blocks, (p.equal, p.below), strict=True):
        left, start = {}, 0
        for name in names:
            stop = start + problem.multiplier_sizes[name]
            left[name] = [Fraction(f) for f in rows.factors[start:stop]]
            start = stop
        factors.append(left)
    return Stated(lines, Fraction(p.scale), *factors)


def _of_classes(problem: Model) -> tuple[list[str], int, int, str]:
    assert problem.data.signs is not None
    lines, d = _samples(problem, [int(s) for s in problem.data.signs.tolist()])
    return lines, d, problem.data.d, _intercept(problem)


def _samples(problem: Model, targets: Sequence[Any], kept: Sequence[int] | None = None) -> tuple[list[str], int]:
    """The samples over a common denominator, which takes in targets that are not classes."""
    rows, kept = problem.data.exact_rows(), range(problem.data.n) if kept is None else kept
    real = [t for t in targets if isinstance(t, Fraction)]
    d = denominator([value for row in rows for value in row] + real)
    ends = [int(t * d) if isinstance(t, Fraction) else t for t in targets]
    words = f"(* {len(kept)} samples, their features ({', '.join(problem.data.features)}) times {d}"
    told = _comment(words + (", and their targets times that." if real else ", and their classes, -1 and 1."))
    shown = [f"({_list(whole(rows[i], d))}, {ends[i]})" for i in kept]
    return [told, "Definition samples : list sample := [", *_joined(shown), "]%Z."], d


def _comment(text: str) -> str:
    """A comment: what people call their features must not end it, or open another."""
    inner = text.removeprefix("(*")
    safe = inner.replace("(*", "( *").replace("*)", "* )").replace('"', "'")
    return f"(*{safe} *)"


def _numbers(name: str, values: list[Fraction], lines: list[str], *others: Fraction) -> tuple[str, int]:
    """Numbers of samples as a definition of their own; its name and the common denominator."""
    e = denominator([*values, *others])
    lines.append(f"Definition {name} : vector := {_list(whole(values, e))}%Z. (* times {e} *)")
    return name, e


# ---- text ----------------------------------------------------------------------------------------------------------


def _proved(theorem: str, numbers: Sequence[str], name: str, last: str = "_") -> list[str]:
    """The proof: the numbers, and that the check of the library computes to true."""
    given = "\n    ".join(f"{part}%Z" for part in numbers)
    return [
        "Proof.",
        f"  apply ({theorem}\n    {given}{' ' * bool(last)}{last}).",
        "  vm_cast_no_check (eq_refl true).",
        "Qed.",
        f"Print Assumptions {name}.",
    ]


def _rational(value: Fraction) -> str:
    return f"(({value.numerator}) # {value.denominator})"


def _reduced(values: list[int]) -> list[int]:
    shared = gcd(*values) or 1
    return [value // shared for value in values]


def _list(values: Sequence[int]) -> str:
    text = f"[{'; '.join(map(str, values))}]"
    return "\n    ".join(wrap(text, LINE_WIDTH, break_long_words=False, break_on_hyphens=False))


def _joined(parts: Sequence[str]) -> list[str]:
    return [f"  {part}{';' if i + 1 < len(parts) else ''}" for i, part in enumerate(parts)]


def _intercept(problem: Model) -> str:
    return "true" if problem.parameters["intercept"] else "false"
