"""The cases of everyday data: which model on which data, with which parameters, beside which peers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

import numpy as np

from benchmarks import accuracy, everyday_data, objectives
from benchmarks import everyday_peers as peers
from benchmarks.bars import OURS, Bar
from benchmarks.race import Answer, Case, Contender, Data

LIMIT = 75.0
#: A peer that takes so many times as long as we do is stopped.
PATIENCE = 4.0
TARGET = 1e-8
NO_SLOWER = (Bar("ratio", 1.0, or_own_accuracy=True),)


def made(*, family: str, options: Mapping[str, Any], stated: Mapping[str, Any], **sizes: int) -> Data:
    """The data of a family with labels in both codings, and the parameters of the model."""
    X, classes = getattr(everyday_data, family)(**sizes, **options)
    labels = classes.astype(float)
    y = np.where(classes > 0, 1.0, -1.0) if classes.max() == 1 else labels
    two = {"y": y, "labels": labels} if "several" not in stated else {"y": labels, "labels": labels}
    return {"X": X, **two, "l2": 0.0, "C": 1.0, "intercept": True, **stated}


def certified(data: Data, tol: float, *, model: str, parameters: Mapping[str, Any]) -> Answer:
    """Declare the problem, solve it (solver "auto") and certify the answer: all three are in the time."""
    import convexcls as cc

    solution = getattr(cc, model)(data["X"], data["y"], **parameters).solve(tol=tol)
    note = f"{solution.status} by {solution.solver}"
    if solution.status == "undecided":
        return Answer(None, note=f"{note}: {solution.certificate.reason}"[:160])
    if solution.status != "optimal":
        return Answer(None, note=note, none_exists=True)
    if model == "MaxMargin":
        return Answer(solution.coef, solution.intercept, note=note)  # its objective is the distance
    if model == "KernelSVM":
        return Answer(None, solution.intercept, data["y"] * solution.dual_coef, note=note)
    coef = solution.estimates if model == "GaussianMLE" else solution.coef
    bound = -np.inf if model in ("FisherLDA", "GaussianMLE") else solution.objective - abs(solution.gap)
    return Answer(coef, solution.intercept, note=note, bound=bound)


#: Models by what they are called here: class, objective, peers.
MODELS: dict[str, tuple[str, objectives.Objective, tuple[Contender, ...]]] = {
    "soft margin": ("SoftMarginSVM", objectives.hinge, peers.HINGE),
    "squared hinge": ("SoftMarginSVM", objectives.squared_hinge, peers.SQUARED_HINGE),
    "maximum margin": ("MaxMargin", objectives.hard_margin, peers.SVC),
    "hard margin": ("HardMarginSVM", objectives.hard_margin, peers.SVC),
    "l1 logistic": ("EmpiricalRisk", objectives.l1_logistic, peers.L1_LOGISTIC),
    "logistic": ("LogisticMLE", objectives.logistic, peers.LOGISTIC),
    "softmax": ("SoftmaxMLE", objectives.softmax, peers.SOFTMAX),
    "least squares": ("LeastSquares", objectives.squares, peers.SQUARES),
    "least absolute": ("LeastAbsolute", objectives.absolute, peers.ABSOLUTE),
    "perceptron": ("PerceptronCriterion", objectives.perceptron, peers.PERCEPTRON),
    "Fisher": ("FisherLDA", objectives.fisher, peers.FISHER),
    "Gaussian": ("GaussianMLE", objectives.gaussian, peers.GAUSSIAN),
}
#: Models whose optimum may be 0, where the samples are fitted, and what is added to it for each of them.
MAY_BE_ZERO, FLOOR = ("least squares", "least absolute", "perceptron"), 1e-6
#: Models of several classes: their labels stay class numbers.
SEVERAL = ("softmax", "Fisher", "Gaussian")
#: What a model is told besides the data, by what is said of the case.
TOLD = ("l2", "l1", "C", "intercept")


def case(
    data: str,
    model: str,
    sizes: dict[str, int],
    quick: dict[str, int] | None = None,
    *,
    family: str = "",
    options: Mapping[str, Any] | None = None,
    more: tuple[Contender, ...] = (),
    instead: tuple[Contender, ...] = (),
    bars: tuple[Bar, ...] = NO_SLOWER,
    **stated: Any,
) -> Case:
    """One line of the table: a model on data, with its parameters in ``stated``."""
    name, objective, known = MODELS[model]
    parameters = {key: value for key, value in stated.items() if key in TOLD}
    if model == "squared hinge":
        parameters["loss"] = "squared_hinge"
    if model in ("hard margin", "maximum margin"):
        stated["C"] = 1e10
    if model in SEVERAL:
        stated["several"] = True
    said = "".join(
        f", {key} = {value:g}" for key, value in stated.items() if key in ("l2", "l1", "C") and value != 1e10
    )
    said += ", no intercept" if stated.get("intercept") is False else ""
    ours = Contender(OURS, partial(certified, model=name, parameters=parameters), (TARGET,), ours=True)
    return Case(
        f"{data}: {model}{said}",
        partial(made, family=family or data.replace(",", " ").split()[0], options=options or {}, stated=stated),
        sizes,
        quick,
        TARGET,
        "objective above the best bound",
        partial(objectives.gap, objective=objective, floor=FLOOR if model in MAY_BE_ZERO else 0.0),
        (ours, *(instead or known), *more),
        bars,
        cap=LIMIT,
        warm={key: min(value, WARM[key]) for key, value in sizes.items()},
        patience=PATIENCE,
    )


def kernel(data: str, n: int, C: float, gamma: float, *, target: float, **options: Any) -> Case:
    """The RBF kernel at an accuracy of the worst pair."""
    stated = {"C": C, "gamma": gamma}
    parameters = {"kernel": "rbf", **stated}
    ours = Contender(
        OURS, partial(certified, model="KernelSVM", parameters=parameters), (target, 0.1 * target), ours=True
    )
    theirs = peers.both("SVC", peers.svc, *(t for t in (1e-3, 1e-4, 1e-6, 1e-7) if 0.05 * target < t <= target))
    return Case(
        f"{data}: RBF, C = {C:g}, KKT {target:g}",
        partial(made, family=data.split()[0], options=options, stated=stated),
        {"n": n},
        {"n": 600},
        target,
        "worst pair's violation",
        accuracy.kernel,
        (ours, *theirs),
        (Bar("ratio", 3.0 if target < 1e-5 else 1.0, or_own_accuracy=True),),
        cap=LIMIT,
        warm={"n": 200},
        patience=PATIENCE,
    )


#: Sizes of the fit that goes before, so that imports and compilation are not timed.
WARM = {"n": 400, "d": 600, "classes": 5}
ADULT, COVER, TEXT, PICTURES = {"n": 32_561}, {"n": 500_000}, {"n": 20_000, "d": 5_000}, {"n": 20_000}
WIDE_TEXT, PART = {"n": 20_000, "d": 50_000}, {"n": 5_000, "d": 5_000}
SOME, FEW_WORDS = {"n": 2_000}, {"n": 1_000, "d": 500}
STANDARDISED = {"classes": 2, "standardised": True}
LIBLINEAR = (Bar("ratio", 1.0, ("LinearSVC (defaults)",), at_own_accuracy=True), *NO_SLOWER)


def _tables() -> Iterable[Case]:
    """Categories and large scales."""
    for model in ("soft margin", "squared hinge"):
        yield case("adult", model, ADULT, SOME, C=1.0)
    yield case("adult dense", "soft margin", ADULT, None, options={"dense": True}, C=1.0)
    often = {"dense": True, "repeated": 0.3}
    yield case("adult dense, repeated", "soft margin", ADULT, SOME, options=often, C=1.0)
    yield case("adult", "logistic", ADULT, SOME)
    yield case("adult dense", "logistic", ADULT, None, options={"dense": True})
    yield case("adult", "logistic", {"n": 1_605}, None)
    yield case("adult", "logistic", ADULT, None, l2=1.0)
    yield case("adult", "l1 logistic", {"n": 8_000}, {"n": 300}, l1=1.0)
    for model in ("least squares", "least absolute"):
        yield case("adult", model, ADULT, {"n": 600})
    yield case("adult", "perceptron", ADULT, {"n": 600}, bars=(Bar("ratio", 1.0),))  # the rule solves another problem
    yield case("adult dense", "Gaussian", ADULT, SOME, options={"dense": True})
    yield case("adult dense", "Fisher", ADULT, None, options={"dense": True})
    for name, options in (("covtype raw", {"classes": 2}), ("covtype standardised", STANDARDISED)):
        yield case(name, "logistic", COVER, SOME, options=options)
        yield case(name, "soft margin", COVER, SOME, options=options, C=1.0)
    yield case("covtype raw", "least squares", COVER, SOME, options={"classes": 2})
    yield case("covtype raw", "least squares", {"n": 100_000}, None, options={"classes": 2}, l2=1.0)
    yield case("covtype raw", "Fisher", COVER, SOME, options={"classes": 2})
    yield case("covtype raw, 7 classes", "Fisher", COVER, None)
    yield case("covtype raw, 7 classes", "Gaussian", COVER, None)
    seven = {"standardised": True}
    yield case("covtype standardised, 7 classes", "softmax", {"n": 50_000}, SOME, options=seven, l2=1.0)
    yield case("covtype raw", "least absolute", {"n": 50_000}, {"n": 600}, options={"classes": 2})


def _wide() -> Iterable[Case]:
    """Text, pictures and genes."""
    for sizes, quick in ((TEXT, FEW_WORDS), (WIDE_TEXT, None)):
        yield case("text", "soft margin", sizes, quick, C=1.0, bars=LIBLINEAR)
        yield case("text", "squared hinge", sizes, quick, C=1.0, bars=LIBLINEAR)
        yield case("text", "logistic", sizes, quick, l2=1.0, instead=peers.WIDE_LOGISTIC)
    yield case("text", "soft margin", TEXT, None, C=1.0, intercept=False, bars=LIBLINEAR)
    yield case("text", "squared hinge", TEXT, None, C=1.0, intercept=False, bars=LIBLINEAR)
    yield case("text", "least squares", WIDE_TEXT, FEW_WORDS, l2=1.0, instead=peers.SQUARES[1:])
    yield case("text", "least squares", TEXT, None)
    yield case("text", "hard margin", PART, {"n": 300, "d": 500})
    yield case("text", "hard margin", {"n": 5_000, "d": 50_000}, None)
    odd = {"classes": 2}
    yield case("pictures", "logistic", PICTURES, {"n": 500}, options=odd, l2=1.0)
    yield case("pictures", "logistic", PICTURES, None, options=odd)
    yield case("pictures", "soft margin", PICTURES, {"n": 300}, options=odd, C=1.0)
    yield case("pictures, 10 classes", "softmax", PICTURES, None, l2=1.0)
    yield case("pictures, 10 classes", "Gaussian", PICTURES, None)
    genes, few = {"n": 72, "d": 7_129}, {"n": 72, "d": 700}
    for model in ("soft margin", "hard margin", "least squares"):
        svc = peers.SVC if model == "soft margin" else ()
        yield case("genes", model, genes, few, more=svc, **({"C": 1.0} if model == "soft margin" else {}))
    yield case("genes", "maximum margin", {"n": 72, "d": 2_000}, few)
    yield case("genes", "least squares", genes, None, l2=1.0, instead=peers.SQUARES[1:])
    yield case("genes raw", "soft margin", genes, None, options={"standardised": False}, more=peers.SVC, C=1.0)
    yield case("genes raw", "hard margin", genes, None, options={"standardised": False})


def _others() -> Iterable[Case]:
    """Dependent columns, clusters, kernels, and what scikit-learn bundles."""
    square = {"n": 20_000, "d": 50}
    few = {"n": 500, "d": 10}
    yield case("conditioned 1e8", "logistic", square, few)
    for model in ("logistic", "least squares"):
        yield case("collinear", model, square, few)
    yield case("conditioned 1e4", "least squares", square, None, family="conditioned", options={"condition": 1e4})
    yield case("collinear", "soft margin", square, few, C=1.0)
    for n, d, classes in ((20_000, 20, 32), (10_000, 300, 5), (10_000, 1_000, 5)):
        for model in ("Fisher", "Gaussian"):
            sizes = {"n": n, "d": d, "classes": classes}
            yield case("clusters", model, sizes, {"n": 500, "d": 5, "classes": 4} if d == 20 else None)
    for n in (2_000, 10_000):
        yield kernel("adult dense", n, 1.0, 1 / 123, target=1e-3, dense=True)
    yield kernel("adult dense", 2_000, 1.0, 1 / 123, target=1e-6, dense=True)
    yield kernel("adult dense", 2_000, 100.0, 1 / 123, target=1e-3, dense=True)
    yield kernel("covtype standardised", 10_000, 1.0, 1 / 54, target=1e-3, **STANDARDISED)
    for name, model, stated in (
        ("digits", "softmax", {"l2": 1.0}),
        ("wine", "Gaussian", {}),
        ("iris", "Fisher", {}),
        ("breast_cancer", "logistic", {"l2": 1.0}),
        ("breast_cancer", "soft margin", {"C": 1.0}),
        ("breast_cancer", "least squares", {}),
    ):
        yield case(name, model, {}, {}, family="bundled", options={"name": name}, **stated)


CASES = (*_tables(), *_wide(), *_others())
