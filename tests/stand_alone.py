"""The stand-alone verifier, loaded as a module; certificates, their mutations, and which of them are true."""

from __future__ import annotations

import importlib.util
import json
import random
from dataclasses import replace
from fractions import Fraction
from fractions import Fraction as F
from pathlib import Path

import exact as oracle
import numpy as np
from datasets import SEPARABLE

import convexcls as cc
from convexcls.proofs.exact.prove import prove

SCRIPT = Path(__file__).parents[1] / "verifier" / "verify_certificate.py"

_spec = importlib.util.spec_from_file_location("verify_certificate", SCRIPT)

alone = importlib.util.module_from_spec(_spec)

_spec.loader.exec_module(alone)

KINDS = tuple(alone.MODELS)


def stand_alone(text, X, y, weights=None):
    """The verdict of the stand-alone verifier: accepted, and its bounds or its reason."""
    try:
        return True, *alone.verify(text, X, y, weights)
    except alone.Refused as error:
        return False, *error.args


def plain(problem):
    """The data of a model as lists of rationals, labels and weights."""
    data = problem.data
    return data.exact_rows(), data.given.tolist(), data.weights.tolist() if data.weighted else None


def texts(problem, levels=("float", "exact")):
    """Certificates of a problem at several levels."""
    solution = problem.solve()
    for level in levels:
        if level == "float":
            yield solution.certificate.to_json()
        elif solution.status == "optimal":
            proof = prove(problem, solution.x, solution.multipliers)
            yield replace(solution.certificate, level="exact", exact=proof).to_json()


_OPTIMA: dict[str, Fraction | None] = {}


def optimum_of(inner, X, signs) -> Fraction | None:
    """The optimum of the model that a certificate names, by the oracle of the tests; None where it is infeasible."""
    known = json.dumps([inner["model"], inner["parameters"], [[str(v) for v in row] for row in X], signs])
    if known not in _OPTIMA:
        _OPTIMA[known] = worked_out(inner["model"], inner["parameters"], X, signs)
    return _OPTIMA[known]


def worked_out(model, p, X, signs) -> Fraction | None:
    """The same, without remembering what was worked out before."""
    intercept = p["intercept"]
    if model == "hard-margin":
        found = oracle.hard_margin(X, signs, intercept)
        return None if found is None else found[0]
    if model == "soft-margin":
        return oracle.soft_margin(X, signs, alone.numbers([p["C"]])[0], p["loss"], intercept)[0]
    if model == "perceptron":
        return oracle.perceptron(X, signs, intercept) if p["normalization"] else Fraction(0)
    target = [Fraction(s + 1, 2) for s in signs] if p["coding"] == "01" else signs
    if model == "least-absolute":
        return oracle.least_absolute(X, target, intercept)
    return oracle.least_squares(X, target, alone.numbers([p["l2"]])[0], intercept)[0]


def is_true(inner, X, signs) -> bool:
    """Whether what a certificate claims is true to twice its tolerance."""
    optimum = optimum_of(inner, X, signs)
    if inner["verdict"] == "infeasible" or optimum is None:
        return inner["verdict"] == "infeasible" and optimum is None
    claim = [alone.numbers([text])[0] for text in inner["claim"].values()]
    if inner["level"] == "exact":
        return {optimum} == set(claim)
    unit = {"least-absolute": len(X), "perceptron": len(X), "least-squares": Fraction(len(X), 20_000)}.get(
        inner["model"], 0
    )
    room = 2 * alone.numbers([inner["tolerance"]])[0] * max(optimum, unit)
    sound = inner["level"] == "float" or claim[0] <= optimum <= claim[1]
    return sound and all(abs(value - optimum) <= room for value in claim)


def mutations(inner):
    """Every number changed a little, a lot, and in sign; every row moved; every word replaced."""
    for path in paths(inner):
        value = at(inner, path)
        if path[0] in ("claim", "point", "multipliers", "farkas") and isinstance(value, str):
            exact = alone.numbers([value])[0]
            for other in (exact + 1, exact * 2, -exact, exact + Fraction(1, 1000), exact * Fraction(1001, 1000), 0):
                yield changed(inner, path, str(other))
            if path[0] in ("multipliers", "farkas"):
                yield moved(inner, path)
    for name, others in {
        "C": ["2.0", "0.5", "1e300"],
        "l2": ["1.0", "0.0"],
        "coding": ["01", "pm1"],
        "loss": ["hinge", "squared_hinge"],
        "intercept": [True, False],
    }.items():
        if name in inner["parameters"]:
            for other in others:
                yield changed(inner, ("parameters", name), other)
    data = inner["data"]
    for path, others in {
        ("verdict",): ["infeasible", "unattained", "optimal"],
        ("level",): ["float", "rigorous", "exact"],
        ("model",): KINDS,
        ("tolerance",): ["1/10000", "1e-300", "1", "0"],
        ("data", "weighted"): [True],
        ("data", "sha256"): ["0" * 64, data["sha256"][::-1]],
        ("data", "samples"): ["5", "7"],
        ("data", "features"): ["1", "3"],
        ("data", "labels"): [data["labels"][::-1], ["0"], None],
    }.items():
        for other in others:
            yield changed(inner, path, other)
    for name in list(inner):
        yield {key: value for key, value in inner.items() if key != name}
    yield {**inner, "more": "1"}


def paths(tree, head=()):
    children = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in children:
        yield (*head, key)
        yield from paths(value, (*head, key))


def at(tree, path):
    for key in path:
        tree = tree[key]
    return tree


def changed(inner, path, value):
    out = json.loads(json.dumps(inner))
    at(out, path[:-1])[path[-1]] = value
    return out


def moved(inner, path):
    """A multiplier given to another row."""
    out = json.loads(json.dumps(inner))
    rows = at(out, path[:-1])
    rows[str((int(path[-1]) + 1) % 6)] = rows.pop(path[-1])
    return out


def mutated_problems(n: int = 6):
    """A problem of every kind, on the first n of six samples."""
    X, y = SEPARABLE[0][:n], SEPARABLE[1][:n]
    other = np.array([1, 0, 1, 0, 1, 0])[:n]
    yield cc.HardMarginSVM(X, y)
    yield cc.HardMarginSVM(X, other)
    yield cc.SoftMarginSVM(X, other, C=1.0)
    yield cc.SoftMarginSVM(X, other, C=1.0, loss="squared_hinge", intercept=False)
    yield cc.LeastSquares(X, y, l2=0.5)
    yield cc.LeastAbsolute(X, other)
    yield cc.PerceptronCriterion(X, other)


def guess(seed):
    """Small samples with weights (one of them may be 0), a point and multipliers that have nothing to do with them."""
    rng = random.Random(seed)
    n, d, intercept = rng.randint(3, 5), rng.randint(1, 2), bool(rng.randrange(4))
    X = [[F(rng.randint(-3, 3)) for _ in range(d)] for _ in range(n)]
    signs = [-1, 1, *(rng.choice((-1, 1)) for _ in range(n - 2))]
    weights = [F(rng.choice((0.5, 1, 2))) for _ in range(n - 1)] + [F(rng.choice((0, 1)))]
    v = [F(rng.randint(-6, 6), rng.randint(1, 4)) for _ in range(d + intercept)]
    given = [F(rng.randint(-2, 8), rng.randint(1, 6)) for _ in range(n)]
    rows = [[s * value for value in [*row, *[F(1)] * intercept]] for s, row in zip(signs, X, strict=True)]
    return X, signs, weights, v, given, rows, intercept, F(rng.randint(-6, 3), rng.randint(1, 4))


def weighty(weights, *lists):
    """What belongs to samples that weigh something: the oracle takes no others."""
    return [[value for value, w in zip(values, weights, strict=True) if w] for values in lists]
