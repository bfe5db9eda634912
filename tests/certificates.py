"""Certificates written by hand, to be altered: small problems of every kind with their rational solutions."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import convexcls as cc
from convexcls.proofs.portable.digest import label_texts
from convexcls.proofs.portable.text_digest import text_digest

F = Fraction
Inner = dict[str, Any]


def certificate(problem: Any, optimum: Any, point: Any, multipliers: Any, level: str = "exact") -> Inner:
    """The certificate of an optimum, as a file has it."""
    names = ("lower", "upper", "optimum") if level == "exact" else ("lower", "upper")
    return {
        **_head(problem, level),
        "verdict": "optimal",
        "claim": dict.fromkeys(names, str(optimum)),
        "point": {name: [str(value) for value in values] for name, values in point.items()},
        "multipliers": {n: {str(i): str(v) for i, v in rows.items()} for n, rows in multipliers.items()},
    }


def contradiction(problem: Any, farkas: Any) -> Inner:
    """The certificate of a contradiction."""
    blocks = {name: {str(i): str(v) for i, v in rows.items()} for name, rows in farkas.items()}
    return {**_head(problem, "float"), "verdict": "infeasible", "claim": {}, "farkas": blocks}


def _head(problem: Any, level: str) -> Inner:
    data = problem.data
    plain = {k: v if v is None or isinstance(v, (str, bool)) else repr(float(v)) for k, v in problem.parameters.items()}
    return {
        "schema": "convexcls-certificate/2",
        "level": level,
        "model": problem.kind,
        "parameters": plain,
        "tolerance": "1/10000",
        "notes": [],
        "data": {
            "sha256": text_digest(data),
            "samples": str(data.n),
            "features": str(data.d),
            "labels": None if data.labels is None else list(label_texts(data.labels)),
            "weighted": data.weighted,
        },
    }


def _bases() -> dict[str, tuple[Any, Inner]]:
    hard = cc.HardMarginSVM([[0, 0], [2, 0], [3, 1]], [0, 1, 1])
    through = cc.HardMarginSVM([[-1], [2]], [0, 1], intercept=False)
    # C w = 3/4, 3/2, 3/4, 3/8, 3/4: three multipliers at their caps, two between
    soft = cc.SoftMarginSVM([[-1], [1], [-3], [4], [0.5]], [0, 1, 1, 0, 0], C=0.75, sample_weight=[1, 2, 1, 0.5, 1])
    free = cc.SoftMarginSVM([[-1, 0], [1, 0], [-3, 1], [4, 1], [0.5, 2]], [0, 1, 0, 1, 0], C=2.0)
    pair = cc.SoftMarginSVM([[-1], [1]], [0, 1], C=1.0, intercept=False)
    squared = cc.SoftMarginSVM(
        [[-1], [1], [-3], [4], [0]], [0, 1, 1, 1, 0], C=0.5, loss="squared_hinge", sample_weight=[1, 2, 1, 1, 0]
    )
    ridge = cc.LeastSquares([[0], [1], [3]], [0, 1, 1], l2=0.5, sample_weight=[1, 2, 1])
    real = cc.LeastSquares([[0], [1], [3]], [0, 1.5, 1], coding="real")
    absolute = cc.LeastAbsolute([[0], [1], [3], [4]], [0, 1, 0, 1], sample_weight=[1, 2, 1, 1])
    criterion = cc.PerceptronCriterion([[0], [1], [3], [4]], [0, 1, 0, 1], sample_weight=[1, 2, 1, 1])
    loose = cc.PerceptronCriterion([[0], [1], [2], [1]], [0, 1, 0, 1], normalization=None)
    meet = cc.HardMarginSVM([[0], [1], [2], [5]], ["a", "b", "a", "a"])
    apart = cc.HardMarginSVM([[0], [1], [3]], ["a", "b", "b"])
    even = cc.PerceptronCriterion([[0], [1], [2], [1]], [0, 1, 0, 1])
    above = {0: F(1), 1: F(1, 6), 2: F(1), 3: F(1, 3)}
    below = {0: F(0), 1: F(11, 6), 2: F(0), 3: F(2, 3)}
    return {
        "hard": (
            hard,
            certificate(hard, F(1, 2), {"coef": [1, 0], "intercept": [-1]}, {"margin": {0: F(1, 2), 1: F(1, 2)}}),
        ),
        "through": (through, certificate(through, F(1, 2), {"coef": [1]}, {"margin": {0: 1}})),
        "soft": (
            soft,
            certificate(
                soft,
                F(701, 196),
                {"coef": [F(-2, 7)], "intercept": [F(1, 7)]},
                {"margin": {0: F(3, 4), 1: F(3, 2), 2: F(121, 392), 3: F(121, 392), 4: F(3, 4)}},
            ),
        ),
        "free": (
            free,
            certificate(
                free,
                F(25, 32),
                {"coef": [1, F(-3, 4)], "intercept": [0]},
                {"margin": {0: F(13, 32), 1: F(25, 32), 4: F(3, 8)}},
            ),
        ),
        "pair": (pair, certificate(pair, F(1, 2), {"coef": [1]}, {"margin": {0: F(1, 2), 1: F(1, 2)}})),
        "squared": (
            squared,
            certificate(
                squared,
                F(206, 141),
                {"coef": [F(14, 141)], "intercept": [F(79, 141)]},
                {"margin": {0: F(206, 141), 1: F(32, 47), 2: F(104, 141), 3: F(2, 47)}},
            ),
        ),
        "ridge": (ridge, certificate(ridge, F(19, 21), {"coef": [F(10, 21)], "intercept": [F(-2, 21)]}, {})),
        "real": (real, certificate(real, F(7, 16), {"coef": [F(1, 4)], "intercept": [F(1, 2)]}, {})),
        "absolute": (
            absolute,
            certificate(
                absolute, 4, {"coef": [0], "intercept": [1]}, {"residual_above": above, "residual_below": below}
            ),
        ),
        "criterion": (
            criterion,
            certificate(
                criterion, 5, {"coef": [F(5, 3)], "intercept": [0]}, {"margin": {2: 1}, "normalization": {0: -1}}
            ),
        ),
        "loose": (loose, certificate(loose, 0, {"coef": [0], "intercept": [0]}, {"margin": {}})),
        "meet": (meet, contradiction(meet, {"margin": {0: 1, 1: 2, 2: 1}})),
        "apart": (apart, contradiction(apart, {"margin": {0: 2, 1: 3, 2: -1}})),
        "even": (even, contradiction(even, {"normalization": {0: -1}})),
    }


BASES = _bases()
#: The one of them that is false: its multipliers cancel, but one of them is negative.
FALSE = ("apart",)


def altered(base: str, changes: dict[tuple[Any, ...], Any]) -> Inner:
    """A certificate with some of its places changed; an ellipsis takes one away."""
    inner: Inner = json.loads(json.dumps(BASES[base][1]))
    for path, value in changes.items():
        place = inner
        for key in path[:-1]:
            place = place[key]
        if value is ...:
            del place[path[-1]]
        else:
            place[path[-1]] = value
    return inner


def at_level(base: str, level: str) -> dict[tuple[Any, ...], Any]:
    """The changes that make a certificate of the level exact one of another level."""
    optimum = BASES[base][1]["claim"]["optimum"]
    return {("level",): level, ("claim",): {"lower": optimum, "upper": optimum}}
