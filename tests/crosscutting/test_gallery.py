"""Every gallery entry: its known answer proved in exact arithmetic, then asked of every solver."""

from __future__ import annotations

import csv
import math
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from several_classes import (
    decimal,
    prove_fisher_classes,
    prove_gaussian,  # noqa: F401  (found by name)
    prove_gaussian_direction,  # noqa: F401
    prove_softmax,  # noqa: F401
    prove_softmax_direction,  # noqa: F401
)

import convexcls as cc
from convexcls import gallery
from convexcls.gallery import GalleryError
from convexcls.solve import accepting

NAMES = gallery.entries()
ENTRIES = {name: gallery.entry(name) for name in NAMES}
SOLVERS = {name: {info.name: info for info in accepting(ENTRIES[name].problem)} for name in NAMES}
CELLS = [(name, solver) for name in NAMES for solver in SOLVERS[name]]
#: These finish at machine precision: an optimum that is a ratio must come out to nine digits.
PRECISE = (
    "closed-form",
    "moments",
    "newton",
    "newton-kkt",
    "highs",
    "clarabel",
    "working-set",
    "active-set",
    "coordinate-descent",
    "interior-point",
    "smo",
)
#: Where a solver takes an entry and stops short, which it says: no verdict, and no other than the right one.
STOPS_SHORT = {
    ("counts_bytes", "osqp"),
    ("epoch_least_squares", "gradient"),
    ("epoch_logistic", "gradient"),
    ("wide_interpolation", "osqp"),
}
#: Where the dual, whose features are not centred, is solved, and its answer mapped back loses digits in the intercept.
FAR_FROM_ZERO = ("epoch_hard_margin", "epoch_soft_margin")
with_verdict = {v: [n for n in NAMES if ENTRIES[n].known.verdict == v] for v in ("optimal", "infeasible", "unattained")}


# ---- the matrix: entries x solvers ------------------------------------------------------------------------


@cache
def solved(name: str, solver: str) -> cc.Solution:
    return ENTRIES[name].problem.solve(solver, tol=max(1e-8, SOLVERS[name][solver].promise))


def relative(found, known) -> float:
    """The error relative to the known value, absolute where that is 0."""
    return abs(found - known) / (abs(known) or 1.0)


def in_feature_units(problem: cc.Problem, coef, intercept) -> np.ndarray:
    """coef times the largest entry of each column, and the intercept: what each adds to a score."""
    return np.append(np.asarray(coef) * np.abs(problem.data.matrix).max(axis=0), intercept)


def in_gauge(solution: cc.Solution) -> dict[str, np.ndarray]:
    """The values without what the gauge leaves open."""
    null, problem = solution.problem.null_directions, solution.problem
    return problem.split(solution.x - np.linalg.pinv(null) @ (null @ solution.x))


def faults(name: str, solver: str) -> list[str]:
    """What is wrong with a solver's answer to an entry."""
    entry, solution = ENTRIES[name], solved(name, solver)
    known, promise = entry.known, SOLVERS[name][solver].promise
    if solution.status != known.verdict:
        return [f"verdict {solution.status}: {solution.certificate.reason} ({solution.message})"]
    if known.verdict != "optimal":
        return []
    out = []
    exact = known.optimum.exact and solver in PRECISE
    if (error := relative(solution.objective, float(known.optimum))) > (1e-9 if exact else promise):
        out.append(f"optimum off by {error:.1e}")
    # the optimum is flat: an objective within eps leaves the point within sqrt(eps)
    tol = 1e-6 if solver in PRECISE else math.sqrt(promise)
    if known.coef is None and "intercept" in known.unique:
        if (error := relative(solution.intercept, float(known.intercept))) > tol:
            out.append(f"intercept off by {error:.1e}")
    elif "coef" in known.unique or "intercept" in known.unique:
        wanted = in_feature_units(entry.problem, [float(v) for v in known.coef], float(known.intercept or 0))
        got = in_feature_units(entry.problem, solution.coef, solution.intercept)
        asked = np.array(["coef" in known.unique] * (wanted.size - 1) + ["intercept" in known.unique])
        error = float(np.abs(got - wanted)[asked].max()) / (float(np.abs(wanted).max()) or 1.0)
        if error > tol:
            out.append(f"coef or intercept off by {error:.1e}")
    if known.intercept_interval is not None:
        ends = [float(v) for v in known.intercept_interval]
        if max(map(relative, solution.intercept_interval, ends)) > tol:
            out.append(f"intercept interval {solution.intercept_interval}")
    if known.support is not None and tuple(solution.support) != known.support:
        out.append(f"support {list(solution.support)}")
    for what, found, wanted in (
        ("values", in_gauge(solution), known.values),
        ("multipliers", solution.multipliers, known.multipliers),
    ):
        for block, numbers in wanted.items() if what in known.unique else ():
            exactly = np.array([float(v) for v in numbers])
            error = float(np.abs(found[block] - exactly).max()) / (float(np.abs(exactly).max()) or 1.0)
            if error > tol:
                out.append(f"{what} of {block} off by {error:.1e}")
    return out


@pytest.mark.parametrize(("name", "solver"), CELLS, ids=[f"{name}-{solver}" for name, solver in CELLS])
def test_solver_finds_the_known_answer(name, solver):
    if (name, solver) in STOPS_SHORT:
        assert solved(name, solver).status in ("undecided", ENTRIES[name].known.verdict)
    else:
        assert faults(name, solver) == []


@pytest.mark.parametrize("name", with_verdict["optimal"])
def test_strong_duality(name):
    known, dual = ENTRIES[name].known, ENTRIES[name].problem.dual().solve()
    if name == "xor_max_margin":
        # the dual's optimum 0 is the tip of a cone: a solver comes near it, and relative to 0 near proves nothing;
        # the primal, mapped back, is proved by the toolkit itself
        assert dual.status == "undecided"
    else:
        assert dual.status == "optimal", dual.certificate.reason
    assert relative(dual.objective, float(known.optimum)) <= 1e-8
    primal = dual.primal()
    if name in FAR_FROM_ZERO:
        assert primal.status in ("optimal", "undecided")
        assert primal.certificate.kkt.primal_feasibility.relative < 1e-4
        return
    assert primal.status == "optimal", primal.certificate.reason
    assert relative(primal.objective, float(known.optimum)) <= 1e-8


@pytest.mark.parametrize("name", with_verdict["optimal"])
def test_uniqueness_is_told(name):
    entry = ENTRIES[name]
    whole = {"coef", "intercept"} if "intercept" in entry.problem.layout else {"coef"}
    whole = whole if entry.known.coef is not None else {"values"}
    # None: the toolkit does not decide it under a norm bound
    assert entry.problem.solve().uniqueness.unique in (whole <= set(entry.known.unique), None)


NIST = {"longley": 9, "norris": 9, "wampler1": 6, "wampler2": 6, "wampler3": 6, "wampler4": 6, "wampler5": 6}


def lre(name: str, solver: str) -> float:
    """The digits of the worst coefficient, -log10 of its relative error, at most 15."""
    known, found = ENTRIES[name].known, solved(name, solver)
    errors = [relative(c, float(k)) for c, k in zip(found.coef, known.coef, strict=True)]
    return -math.log10(max(*errors, relative(found.intercept, float(known.intercept)), 1e-15))


@pytest.mark.parametrize(("data", "digits"), NIST.items())
def test_digits_on_nist_data(data, digits):
    assert lre(f"nist_{data}", "closed-form") >= digits


# ---- the known answers, proved without the package --------------------------------------------------------


GRAM = ("gamma", "degree", "coef0")


class Exact:
    """An entry's data as fractions, read from the text of the CSV, with its known answer."""

    def __init__(self, name: str) -> None:
        self.entry = ENTRIES[name]
        self.known, problem = self.entry.known, self.entry.problem
        fields = gallery.tomllib.loads(self.entry.path.read_text(encoding="utf-8"))
        file = self.entry.path.parent / fields.get("data", f"{name}.csv")
        with file.open(encoding="utf-8", newline="") as lines:
            rows = list(csv.DictReader(lines))
        inputs = problem.data.features if problem.data.expanded is None else problem.data.expanded.inputs
        self.X = [[Fraction(row[feature]) for feature in inputs] for row in rows]
        if "basis" in fields["model"]:
            assert fields["model"]["basis"] == "quadratic"
            self.X = [[x * x, x, y * y, y, x * y] for x, y in self.X]
        self.weights = [Fraction(row[fields["weight"]]) if "weight" in fields else Fraction(1) for row in rows]
        self.parameters = problem.parameters
        labels = sorted({row[fields["target"]] for row in rows})
        if self.parameters.get("coding") == "real":
            self.y = [Fraction(row[fields["target"]]) for row in rows]
        else:
            if all(label.lstrip("-").isdigit() for label in labels):
                labels.sort(key=int)
            self.classes = [labels.index(row[fields["target"]]) for row in rows]
            self.y = [Fraction(2 * c - 1) for c in self.classes] if len(labels) == 2 else None
        self.free = "intercept" in problem.layout
        self.optimum = None if self.known.optimum is None else self.known.optimum.value
        self.coef = None if self.known.coef is None else [v.value for v in self.known.coef]
        self.intercept = Fraction(0) if self.known.intercept is None else self.known.intercept.value

    def kernel(self) -> list[list[Fraction]]:
        """k(x_i, x_j), for kernels that are rational."""
        name, p = self.parameters["kernel"], {k: Fraction(v) for k, v in self.parameters.items() if k in GRAM}
        if name == "precomputed":
            return self.X
        products = [[sum(a * b for a, b in zip(x, z, strict=True)) for z in self.X] for x in self.X]
        if name == "linear":
            return products
        assert name == "poly"
        return [[(p["gamma"] * v + p["coef0"]) ** int(p["degree"]) for v in row] for row in products]

    def scores(self, coef, intercept) -> list:
        return [sum(c * v for c, v in zip(coef, x, strict=True)) + intercept for x in self.X]

    def margins(self, intercept=None) -> list[Fraction]:
        scores = self.scores(self.coef, self.intercept if intercept is None else intercept)
        return [y * f for y, f in zip(self.y, scores, strict=True)]

    def multipliers(self, block: str) -> list[Fraction]:
        return [v.value for v in self.known.multipliers[block]]

    def combined(self, z) -> list[Fraction]:
        """sum_i z_i x_i, and sum_i z_i where there is an intercept."""
        sums = [sum(k * x[j] for k, x in zip(z, self.X, strict=True)) for j in range(len(self.X[0]))]
        return [*sums, sum(z)] if self.free else sums

    def signed(self, alpha) -> list[Fraction]:
        return self.combined([a * y for a, y in zip(alpha, self.y, strict=True)])


def prove_hard_margin(e: Exact) -> None:
    alpha, margins = e.multipliers("margin"), e.margins()
    assert min(alpha) >= 0
    assert min(margins) >= 1
    assert all(a == 0 or m == 1 for a, m in zip(alpha, margins, strict=True))
    assert e.signed(alpha) == [*e.coef, *([0] if e.free else [])]
    assert sum(c * c for c in e.coef) / 2 == e.optimum
    assert e.known.support in (None, tuple(i for i, a in enumerate(alpha) if a > 0))


def prove_soft_margin(e: Exact) -> None:
    alpha, cap = e.multipliers("margin"), [Fraction(e.parameters["C"]) * w for w in e.weights]
    power = 2 if e.parameters["loss"] == "squared_hinge" else 1
    assert e.signed(alpha) == [*e.coef, *([0] if e.free else [])]
    assert e.known.support in (None, tuple(i for i, a in enumerate(alpha) if a > 0))
    ends = e.known.intercept_interval
    for intercept in [e.intercept] if ends is None else [v.value for v in ends]:
        slack = [max(Fraction(0), 1 - m) for m in e.margins(intercept)]
        cost = sum(c * s**power for c, s in zip(cap, slack, strict=True))
        assert sum(c * c for c in e.coef) / 2 + cost == e.optimum
        for a, c, s, m in zip(alpha, cap, slack, e.margins(intercept), strict=True):
            if power == 2:
                assert a == 2 * c * s
            else:
                assert 0 <= a <= c
                assert a == 0 or m <= 1
                assert a == c or m >= 1


def prove_kernel(e: Exact) -> None:
    """The KKT conditions of the Wolfe dual, with k(x_i, x_j) in fractions."""
    alpha, K, n = [v.value for v in e.known.values["margin"]], e.kernel(), len(e.y)
    cap = [None] * n if e.parameters["C"] is None else [Fraction(e.parameters["C"]) * w for w in e.weights]
    pulls = [sum(alpha[j] * e.y[j] * K[i][j] for j in range(n)) for i in range(n)]
    assert sum(alpha) - sum(alpha[i] * e.y[i] * pulls[i] for i in range(n)) / 2 == e.optimum
    assert all(a >= 0 and (c is None or a <= c) for a, c in zip(alpha, cap, strict=True))
    assert e.known.support == tuple(i for i, a in enumerate(alpha) if a > 0)
    if e.parameters["intercept"]:
        assert sum(a * y for a, y in zip(alpha, e.y, strict=True)) == 0
    ends = e.known.intercept_interval
    for intercept in [e.intercept] if ends is None else [v.value for v in ends]:
        excess = [y * (f + intercept) - 1 for y, f in zip(e.y, pulls, strict=True)]
        assert all(a == 0 or m <= 0 for a, m in zip(alpha, excess, strict=True))
        assert all(a == c or m >= 0 for a, c, m in zip(alpha, cap, excess, strict=True))
        multipliers = {
            "intercept": [intercept],
            "slack": [max(Fraction(0), -m) for m in excess],
            "margin_sign": [max(Fraction(0), m) for m in excess],
        }
        assert all(e.multipliers(block) == multipliers[block] for block in e.known.multipliers)
    if e.coef is not None:
        assert e.signed(alpha)[: len(e.coef)] == e.coef


def prove_max_margin(e: Exact) -> None:
    alpha = e.multipliers("margin")
    assert min(e.margins()) == e.optimum
    assert sum(c * c for c in e.coef) <= 1
    pull = e.signed(alpha)
    assert min(alpha) >= 0
    assert sum(alpha) == 1
    assert pull.pop() == 0
    assert sum(v * v for v in pull) == e.optimum**2


def prove_perceptron(e: Exact) -> None:
    margins, n = e.margins(), sum(e.weights)
    assert sum(w * max(Fraction(0), -m) for w, m in zip(e.weights, margins, strict=True)) == e.optimum
    if e.parameters["normalization"] is not None:
        assert sum(w * m for w, m in zip(e.weights, margins, strict=True)) == n
    if e.optimum:  # 0 needs no proof: the criterion is never negative
        alpha, (nu,) = e.multipliers("margin"), e.multipliers("normalization")
        assert all(0 <= a <= w for a, w in zip(alpha, e.weights, strict=True))
        assert e.signed(alpha) == [nu * v for v in e.signed(e.weights)]
        assert -nu * n == e.optimum


def prove_least_absolute(e: Exact) -> None:
    residuals = [f - t for f, t in zip(e.scores(e.coef, e.intercept), e.y, strict=True)]
    assert sum(w * abs(r) for w, r in zip(e.weights, residuals, strict=True)) == e.optimum
    above, below = e.multipliers("residual_above"), e.multipliers("residual_below")
    assert min(above + below) >= 0
    assert [a + b for a, b in zip(above, below, strict=True)] == e.weights
    z = [a - b for a, b in zip(above, below, strict=True)]
    assert not any(e.combined(z))
    assert -sum(k * t for k, t in zip(z, e.y, strict=True)) == e.optimum


def prove_least_squares(e: Exact) -> None:
    targets = [(y + 1) / 2 for y in e.y] if e.parameters["coding"] == "01" else e.y
    residuals = [f - t for f, t in zip(e.scores(e.coef, e.intercept), targets, strict=True)]
    l2 = Fraction(e.parameters["l2"])
    gradient = e.combined([w * r for w, r in zip(e.weights, residuals, strict=True)])
    assert gradient == [*(-l2 * c for c in e.coef), *([0] if e.free else [])]
    squares = sum(w * r * r for w, r in zip(e.weights, residuals, strict=True)) + l2 * sum(c * c for c in e.coef)
    assert squares / 2 == e.optimum


def prove_fisher(e: Exact) -> None:
    if e.y is None:
        prove_fisher_classes(e)
        return
    classes = [[x for x, y in zip(e.X, e.y, strict=True) if y == sign] for sign in (-1, 1)]
    means = [[sum(column) / len(rows) for column in zip(*rows, strict=True)] for rows in classes]
    centred = [[a - b for a, b in zip(x, m, strict=True)] for rows, m in zip(classes, means, strict=True) for x in rows]
    projected = [sum(a * c for a, c in zip(x, e.coef, strict=True)) for x in centred]
    difference = [b - a for a, b in zip(*means, strict=True)]
    assert sum(a * c for a, c in zip(difference, e.coef, strict=True)) == 1
    assert sum(p * p for p in projected) / 2 == e.optimum
    (nu,) = e.multipliers("separation")
    scatter = [sum(p * x[j] for p, x in zip(projected, centred, strict=True)) for j in range(len(e.coef))]
    assert scatter == [-nu * v for v in difference]
    low, high = ([f for f, y in zip(e.scores(e.coef, 0), e.y, strict=True) if y == sign] for sign in (-1, 1))
    assert max(low) < -e.intercept == (max(low) + min(high)) / 2


def prove_smooth(e: Exact, value, slope, digits: int = 24) -> None:
    """A sum of value(margin) with a vanishing gradient, in decimals."""
    with localcontext() as context:
        context.prec = 60
        l2 = Decimal(e.parameters["l2"])
        coef = [decimal(c) for c in e.coef]
        margins = [decimal(m) for m in e.margins()]
        weights = [decimal(w) for w in e.weights]
        total = sum(w * value(m) for w, m in zip(weights, margins, strict=True)) + l2 / 2 * sum(c * c for c in coef)
        pulls = [w * slope(m) * int(y) for w, m, y in zip(weights, margins, e.y, strict=True)]
        rows = [[decimal(v) for v in x] + [Decimal(1)] * e.free for x in e.X]
        for j, column in enumerate(zip(*rows, strict=True)):
            penalty = l2 * coef[j] if j < len(coef) else 0
            assert abs(sum(p * v for p, v in zip(pulls, column, strict=True)) + penalty) < Decimal(10) ** -digits
        assert abs(total - decimal(e.optimum)) < Decimal(10) ** -digits


def prove_logistic(e: Exact) -> None:
    prove_smooth(e, lambda m: (1 + (-m).exp()).ln(), lambda m: -1 / (1 + m.exp()))


def prove_empirical_risk(e: Exact) -> None:
    if e.parameters["loss"] == "exponential":
        prove_smooth(e, lambda m: (-m).exp(), lambda m: -((-m).exp()))
        return
    assert e.parameters["loss"] == "squared"  # with an l1 penalty
    l1 = Fraction(e.parameters["l1"])
    gradient = e.signed([-2 * (1 - m) for m in e.margins()])
    assert sum((1 - m) ** 2 for m in e.margins()) + l1 * sum(map(abs, e.coef)) == e.optimum
    assert all(abs(g) <= l1 and (c == 0 or g == (-l1 if c > 0 else l1)) for g, c in zip(gradient, e.coef, strict=True))


@pytest.mark.parametrize("name", with_verdict["optimal"])
def test_known_optimum_is_proved(name):
    exact = Exact(name)
    globals()["prove_" + exact.entry.problem.kind.replace("-", "_")](exact)


@pytest.mark.parametrize("name", with_verdict["infeasible"])
def test_known_contradiction_is_proved(name):
    e = Exact(name)
    if e.entry.problem.kind == "perceptron":  # the margins add up to 0 for every hyperplane, never to n
        assert not any(e.signed(e.weights))
        assert e.multipliers("normalization")[0] * sum(e.weights) < 0
    else:
        assert not any(e.signed(e.multipliers("margin")))
        assert min(e.multipliers("margin")) >= 0 < sum(e.multipliers("margin"))


@pytest.mark.parametrize("name", with_verdict["unattained"])
def test_known_direction_is_proved(name):
    e = Exact(name)
    if e.entry.problem.kind in ("softmax", "gaussian"):
        globals()[f"prove_{e.entry.problem.kind}_direction"](e)
        return
    if e.entry.problem.kind == "kernel":  # hard margin: samples that are the same point pull both ways
        d = [v.value for v in e.known.direction]
        assert e.parameters["C"] is None
        assert min(d) >= 0 < sum(d)
        for point in {tuple(x) for x in e.X}:
            assert sum(w * y for w, y, x in zip(d, e.y, e.X, strict=True) if tuple(x) == point) == 0
        return
    *coef, intercept = [v.value for v in e.known.direction] + [Fraction(0)] * (not e.free)
    moved = [y * f for y, f in zip(e.y, e.scores(coef, intercept), strict=True)]
    assert min(moved) >= 0 < max(moved)
    # samples that stay cost log 2 each, and cannot cost less together: their pulls cancel
    assert not any(e.signed([Fraction(m == 0) for m in moved]))
    assert math.isclose(float(e.optimum), moved.count(0) * math.log(2), rel_tol=1e-15)


def test_twenty_points_have_the_properties_of_the_figure():
    """ESL figures 4.14 and 4.16: one error of least squares, two starts with two lines, three support points."""
    squares, widest = Exact("twenty_points_least_squares"), Exact("twenty_points")
    assert [i for i, m in enumerate(squares.margins()) if m <= 0] == [18]
    assert [i for i, m in enumerate(widest.margins()) if m == 1] == [7, 10, 18]
    lines = [perceptron(widest, start) for start in ([0, 0, 0], [1, -1, -20])]
    assert lines == [[2, 2, -27], [11, 7, -87]]


def perceptron(e: Exact, line: list[int]) -> list[int]:
    """The on-line perceptron with rate 1, until a pass makes no mistake."""
    mistakes = True
    while mistakes:
        mistakes = False
        for x, y in zip(e.X, e.y, strict=True):
            if y * (line[0] * x[0] + line[1] * x[1] + line[2]) <= 0:
                line, mistakes = [line[0] + y * x[0], line[1] + y * x[1], line[2] + y], True
    return line


def test_least_squares_is_parallel_to_fisher():
    a, b = Exact("fisher").coef, Exact("fisher_least_squares").coef
    assert a[0] * b[1] == a[1] * b[0]


# ---- the loader -------------------------------------------------------------------------------------------

TOML = """
title = "t"
derivation = "d"
target = "y"
[model]
kind = "soft-margin"
[model.parameters]
C = 1.0
[known]
verdict = "optimal"
optimum = "1/2"
"""
CSV = "x1,x2,y\n0,0,a\n1,2.5,b\n"


def write(folder: Path, toml: str = TOML, data: str | None = CSV) -> Path:
    if data is not None:
        (folder / "case.csv").write_text(data, encoding="utf-8")
    path = folder / "case.toml"
    path.write_text(toml, encoding="utf-8")
    return path


def test_load_by_name_and_by_path(tmp_path, monkeypatch):
    by_name = gallery.load("two_points")
    assert by_name == gallery.load(ENTRIES["two_points"].path) == gallery.load(str(ENTRIES["two_points"].path))
    monkeypatch.chdir(tmp_path)
    assert by_name == gallery.load("problems/two_points.toml")
    assert isinstance(by_name, cc.HardMarginSVM)
    assert by_name.data.labels == ("minus", "plus")


def test_an_entry_of_the_users_own(tmp_path):
    entry = gallery.entry(write(tmp_path))
    assert (entry.name, entry.known.optimum.value, entry.known.optimum.exact) == ("case", Fraction(1, 2), True)
    assert entry.problem.data.features == ("x1", "x2")
    assert entry.problem.data.labels == ("a", "b")
    assert entry.problem.data.matrix.tolist() == [[0, 0], [1, 2.5]]
    assert entry.known.coef is None


def test_columns_can_be_chosen(tmp_path):
    toml = TOML.replace('target = "y"', 'target = "x1"\nfeatures = ["y"]\nweight = "x2"')
    data = gallery.load(write(tmp_path, toml, "x1,x2,y\n0,2,0.5\n1,3,1e2\n")).data
    assert (data.features, data.labels) == (("y",), (0, 1))
    assert (data.matrix.tolist(), data.weights.tolist()) == ([[0.5], [100]], [2, 3])


def test_the_installed_gallery_comes_first(tmp_path, monkeypatch):
    package = tmp_path / "convexcls"
    (tmp_path / "problems").mkdir()
    monkeypatch.setattr(gallery, "__file__", str(package / "gallery.py"))
    assert gallery.directory() == tmp_path / "problems"
    (package / "problems").mkdir(parents=True)
    assert gallery.directory() == package / "problems"


@pytest.mark.parametrize(
    ("text", "value", "exact"),
    [
        ('"1/2"', Fraction(1, 2), True),
        ('"-7/3"', Fraction(-7, 3), True),
        ("3", Fraction(3), True),
        ('"-0.25"', Fraction(-1, 4), True),
        ('"0.693..."', Fraction(693, 1000), False),
    ],
)
def test_numbers_of_known_answers(tmp_path, text, value, exact):
    number = gallery.entry(write(tmp_path, TOML.replace('"1/2"', text))).known.optimum
    assert (number.value, number.exact, float(number)) == (value, exact, float(value))


@pytest.mark.parametrize(
    "text",
    [
        '"1e3000000"',
        '"1/0"',
        '"0x10"',
        '"1_000"',
        '"nan"',
        '"inf"',
        '" 1"',
        '"1/2/3"',
        '"1."',
        '".5"',
        '"+1"',
        '"٣"',
        f'"{"9" * 500}"',
        f'"1/{"9" * 500}"',
        '""',
        "0.5",
        "true",
        "[1]",
        "0x" + "f" * 5000,
        "9" * 5000,
    ],
)
def test_malformed_numbers_are_refused(tmp_path, text):
    with pytest.raises(GalleryError, match=r"case\.toml.*(known\.optimum|not TOML)"):
        gallery.entry(write(tmp_path, TOML.replace('"1/2"', text)))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('title = "t"', "", r"case\.toml: title is missing"),
        ('title = "t"', "title = 3", r"case\.toml: title is 3, it must be text"),
        ('title = "t"', 'title = "t"\nauthor = "me"', r"case\.toml: author is not a field"),
        ('title = "t"', 'title = "t', r"case\.toml: not TOML"),
        ('title = "t"', "title = " + "[" * 5000, r"case\.toml: not TOML"),
        ('target = "y"', 'target = "z"', r"case\.toml: there is no column 'z'; case\.csv has x1, x2, y"),
        ('target = "y"', 'target = "y"\nweight = "z"', "there is no column 'z'"),
        ('target = "y"', 'target = "y"\nfeatures = ["x1", "z"]', "there is no column 'z'"),
        ('target = "y"', 'target = "y"\nfeatures = [["x1"]]', "there is no column"),
        ('target = "y"', 'target = "y"\nfeatures = ["x1", "x1"]', "features must be columns"),
        ('target = "y"', 'target = "y"\nfeatures = ["x1", "y"]', "features must be columns"),
        ('target = "y"', 'target = "y"\nfeatures = []', "features must be columns"),
        ('target = "y"', 'target = "y"\ndata = "../case.csv"', r"data is '../case\.csv', it must name a \.csv file"),
        ('target = "y"', 'target = "y"\ndata = "other.csv"', r"other\.csv: cannot be read: No such file"),
        ('"soft-margin"', '"svm"', r"model\.kind is 'svm', choose one of .*soft-margin"),
        ('kind = "soft-margin"', "", r"model\.kind is missing"),
        ('kind = "soft-margin"', 'kind = "soft-margin"\nsolver = "x"', r"model\.solver is not a field"),
        ("C = 1.0", "D = 1.0", r"model\.parameters\.D is not a parameter of soft-margin; .* C, loss, intercept"),
        ("C = 1.0", "sample_weight = 1.0", r"model\.parameters\.sample_weight is not a parameter"),
        ("C = 1.0", "C = [1.0]", r"model\.parameters\.C is not a parameter"),
        ("C = 1.0", "C = -1.0", r"case\.toml: the soft-margin model refuses it: C is -1\.0"),
        ("C = 1.0", "C = nan", "the soft-margin model refuses it: C is nan"),
        ("C = 1.0", "C = 0x" + "f" * 400, "the soft-margin model refuses it"),
        ('"optimal"', '"maybe"', r"known\.verdict is 'maybe', not optimal, infeasible or unattained"),
        ('"optimal"', '"infeasible"', r"known\.optimum must be given, except for an infeasible problem"),
        ('optimum = "1/2"', "", r"known\.optimum must be given"),
        ('optimum = "1/2"', 'optimum = "1/2"\nloss = "1"', r"known\.loss is not a field"),
        ('optimum = "1/2"', 'optimum = "1/2"\ncoef = ["1"]', r"known\.coef must be a list of 2 number"),
        ('optimum = "1/2"', 'optimum = "1/2"\ncoef = ["1", "x"]', r"known\.coef\[1\] is 'x'; write a number as"),
        ('optimum = "1/2"', 'optimum = "1/2"\nsupport = [2]', r"known\.support must hold whole numbers from 0 to 1"),
        ('optimum = "1/2"', 'optimum = "1/2"\nsupport = [true]', r"known\.support must hold whole numbers"),
        ('optimum = "1/2"', 'optimum = "1/2"\nunique = ["x"]', r"known\.unique may name coef, intercept, values"),
        ('optimum = "1/2"', 'optimum = "1/2"\nunique = [["x"]]', r"known\.unique may name coef, intercept, values"),
        ('optimum = "1/2"', 'optimum = "1/2"\n[known.values]\nnu = ["1"]', r"known\.values\.nu is not a field"),
        ('optimum = "1/2"', 'optimum = "1/2"\n[known.values]\nslack = ["1"]', r"slack must be a list of 2 num"),
        ('optimum = "1/2"', 'optimum = "1/2"\n[known.multipliers]\nnu = ["1"]', r"known\.multipliers\.nu is not a fi"),
        ('optimum = "1/2"', 'optimum = "1/2"\n[known.multipliers]\nmargin = ["1"]', r"margin must be a list of 2 num"),
    ],
)
def test_malformed_entries_are_refused(tmp_path, old, new, message):
    assert old in TOML
    with pytest.raises(GalleryError, match=message):
        gallery.entry(write(tmp_path, TOML.replace(old, new)))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (None, r"case\.csv: cannot be read: No such file"),
        ("x1,x2,y\n0,0,a\n1,two,b\n", r"case\.csv: row 2, column 'x2' is 'two', not a number"),
        ("x1,x2,y\n0,0,a\n1,,b\n", "row 2, column 'x2' is '', not a number"),
        ("x1,x2,y\n0,nan,a\n1,2,b\n", "row 1, column 'x2' is 'nan', not a number"),
        ("x1,x2,y\n0,1e999,a\n1,2,b\n", "soft-margin model refuses it: .*infinite"),
        ("x1,x2,y\n0,0,a\n1,2\n", r"case\.csv: row 2 has 2 cells, the header has 3"),
        ("x1,x1,y\n0,0,a\n1,2,b\n", "a header line that names every column once"),
        ("x1,x2,y\n", "then rows"),
        ("", "then rows"),
        ('x1,x2,y\n0,0,"a\n', r"row 1 has|not CSV|one label|1 distinct"),
        ("x1,x2,y\n0,0,a\n1,2,a\n", "soft-margin model refuses it: y has"),
        ("x1,x2,y\n0,0,a\n1,2,b\n2,2,c\n", "soft-margin model refuses it: y has 3 distinct label"),
    ],
)
def test_malformed_data_is_refused(tmp_path, data, message):
    with pytest.raises(GalleryError, match=message):
        gallery.entry(write(tmp_path, data=data))


def test_weights_need_a_model_that_takes_them(tmp_path):
    toml = TOML.replace("soft-margin", "hard-margin").replace("C = 1.0", "").replace('"y"', '"y"\nweight = "x2"')
    with pytest.raises(GalleryError, match="weight is given, but hard-margin takes no weights"):
        gallery.entry(write(tmp_path, toml))


def test_files_that_are_no_entries_are_refused(tmp_path, monkeypatch):
    for wanted, message in (
        ("no_such", "no_such.toml: cannot be read"),
        ("problems/two_points.csv", "is a .toml file"),
    ):
        with pytest.raises(GalleryError, match=message):
            gallery.load(wanted)
    path = write(tmp_path)
    path.write_bytes(b"title = '\xff'")
    with pytest.raises(GalleryError, match=r"not UTF-8 text \(byte 9\)"):
        gallery.load(path)
    monkeypatch.setattr(gallery, "MAX_FILE_BYTES", 5)
    with pytest.raises(GalleryError, match="over 5 bytes"):
        gallery.load(path)
