"""Small problems: what declaring, solving and certifying cost where the numbers themselves take no time."""

from __future__ import annotations

from benchmarks import accuracy
from benchmarks.bars import Bar
from benchmarks.hard_margin import libsvm, separable
from benchmarks.logistic import correlated
from benchmarks.logistic_peers import GLUM, sklearn_contenders
from benchmarks.ours import ours
from benchmarks.quadratic_peers import cvxpy_contenders, raw_contenders
from benchmarks.race import Case, Contender

SIZES = {"n": 200, "d": 5}
BAR = (Bar("milliseconds", 2.0, words="declare + solve + certify <= 2 ms"),)

CASES = (
    Case(
        "small hard margin",
        separable,
        SIZES,
        SIZES,
        1e-8,
        "relative KKT",
        accuracy.hard_margin,
        (
            *ours("HardMarginSVM", "working-set"),
            *raw_contenders("quadprog", "daqp", "piqp"),
            Contender("libsvm", libsvm, (1e-3, 1e-5, 1e-7, 1e-9)),
            *cvxpy_contenders("CLARABEL"),
        ),
        BAR,
        cap=20.0,
        warm=SIZES,
    ),
    Case(
        "small logistic",
        correlated,
        SIZES,
        SIZES,
        1e-8,
        "largest gradient / n",
        accuracy.logistic,
        (*ours("LogisticMLE", "newton"), *sklearn_contenders("lbfgs", "newton-cholesky"), GLUM),
        BAR,
        cap=20.0,
        warm=SIZES,
    ),
)
