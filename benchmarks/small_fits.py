"""Small fits: every model beside its counterpart in scikit-learn, at a few hundred samples.

    python -m benchmarks.small_fits [model ...]

At this size the numbers take no time: what counts is the way to them. Ours is declare + solve + certify; the
counterpart is fitted at its default settings and at our tolerance, 1e-8, where it has one. The three are run in turn
and the least processor time of each counts, so that other work on the machine falls on all alike. A ratio above 1 says
that ours is faster. The data are well-conditioned samples of 200 rows, and iris, wine and breast_cancer, standardised;
hard margins and the perceptron get classes that can be separated. The perceptron program has no counterpart: the rule
stands beside it for the size of the numbers, and its ratio is not counted.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn import datasets
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, Perceptron, QuantileRegressor, RidgeClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import convexcls as cc

Samples = tuple[np.ndarray, np.ndarray]
SIZES = ((200, 2), (200, 10), (200, 30))
#: A fit is repeated for so many seconds, but at least so many times.
SECONDS, FEWEST = 0.5, 7
NO_COUNTERPART = "perceptron program"


@dataclass(frozen=True)
class Fit:
    """A model, its counterpart with the settings that state the same problem, and those that make it as accurate."""

    name: str
    ours: Callable[[np.ndarray, np.ndarray], cc.Problem]
    theirs: Callable[..., Any]
    same: dict[str, Any] = field(default_factory=dict)
    tight: dict[str, Any] = field(default_factory=dict)
    #: What data it takes: two classes that overlap, two that can be separated, or several.
    data: str = "overlapping"
    solver: str = "auto"


FITS = (
    Fit("hard margin", cc.HardMarginSVM, SVC, {"kernel": "linear", "C": 1e10}, {"tol": 1e-8}, "separable"),
    Fit("soft margin", cc.SoftMarginSVM, SVC, {"kernel": "linear"}, {"tol": 1e-8}),
    Fit("kernel", lambda X, y: cc.KernelSVM(X, y, C=1.0, gamma=0.1), SVC, {"gamma": 0.1}, {"tol": 1e-8}),
    Fit("logistic", lambda X, y: cc.LogisticMLE(X, y, l2=1.0), LogisticRegression, {}, {"tol": 1e-8}),
    Fit("softmax", lambda X, y: cc.SoftmaxMLE(X, y, l2=1.0), LogisticRegression, {}, {"tol": 1e-8}, "several"),
    Fit("least squares", lambda X, y: cc.LeastSquares(X, y, l2=1.0), RidgeClassifier),
    Fit("least absolute", cc.LeastAbsolute, QuantileRegressor, {"alpha": 0.0}),
    Fit("perceptron", cc.PerceptronCriterion, Perceptron, {}, {"tol": None}, "separable", "perceptron"),
    Fit(NO_COUNTERPART, cc.PerceptronCriterion, Perceptron),
    Fit("fisher", cc.FisherLDA, LinearDiscriminantAnalysis),
    Fit("fisher, several", cc.FisherLDA, LinearDiscriminantAnalysis, data="several"),
    Fit("gaussian", cc.GaussianMLE, LinearDiscriminantAnalysis, data="several"),
    Fit(
        "gaussian, quadratic",
        lambda X, y: cc.GaussianMLE(X, y, covariance="by-class"),
        QuadraticDiscriminantAnalysis,
        data="several",
    ),
)


def made(n: int, d: int, data: str) -> Samples:
    """Standard normal samples, labelled by noisy scores; pushed apart where they are to be separable."""
    rng = np.random.default_rng(n + d)
    X = rng.normal(size=(n, d))
    direction = rng.normal(size=d) / np.sqrt(d)
    score = X @ direction
    if data == "several":
        return X, np.digitize(score + 0.5 * rng.normal(size=n), (-0.4, 0.4))
    if data == "separable":
        return X + 0.3 * np.sign(score)[:, None] * direction / np.linalg.norm(direction), (score > 0).astype(int)
    return X, (score + 0.5 * rng.normal(size=n) > 0).astype(int)


def real(name: str, data: str) -> Samples:
    """One of scikit-learn's data sets, standardised. Of several classes, two are the last against the one before it;
    separable ones are the first against all others."""
    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    if data == "separable" and y.max() > 1:
        y = (y > 0).astype(int)
    elif data == "overlapping" and y.max() > 1:
        X, y = X[y > 0], y[y > 0]
    if data == "separable" and name == "breast_cancer":  # as a line in all features labels it
        scaled = StandardScaler().fit_transform(X)
        score = scaled @ np.linspace(-1.0, 1.0, X.shape[1])
        return scaled[np.abs(score) > 0.3], (score[np.abs(score) > 0.3] > 0).astype(int)
    return StandardScaler().fit_transform(X), y


def cases(fit: Fit) -> Iterator[tuple[str, Samples]]:
    """The data that a model is fitted to, by name."""
    for n, d in SIZES:
        yield f"{n} x {d}", made(n, d, fit.data)
    for name in ("iris", "wine", "breast_cancer"):
        X, y = real(name, fit.data)
        if fit.data != "several" or y.max() > 1:
            yield name, (X, y)


def least_times(works: list[Callable[[], Any]]) -> list[float]:
    """The least processor time of each, in milliseconds, run in turn."""
    best, until, rounds = [np.inf] * len(works), time.perf_counter() + SECONDS * len(works), 0
    while rounds < FEWEST or time.perf_counter() < until:
        rounds += 1
        for i, work in enumerate(works):
            start = time.process_time()
            work()
            best[i] = min(best[i], 1e3 * (time.process_time() - start))
    return best


def compare(fit: Fit, name: str, X: np.ndarray, y: np.ndarray) -> float:
    """Print one line; the ratio to the counterpart at its default settings."""
    solution = fit.ours(X, y).solve(fit.solver)
    works = [lambda: fit.ours(X, y).solve(fit.solver), lambda: fit.theirs(**fit.same).fit(X, y)]
    if fit.tight:
        works.append(lambda: fit.theirs(**fit.same, **fit.tight).fit(X, y))
    own, default, *tight = least_times(works)
    line = f"{fit.name:20} {name:14} {solution.status:10} {solution.solver:14} {own:8.2f} {default:8.2f}"
    line += f" {tight[0]:8.2f}" if tight else " " * 9
    line += f" {default / own:8.2f}" + (f" {tight[0] / own:8.2f}" if tight else "")
    print(line, flush=True)
    return default / own


def main() -> None:
    """Compare all models, or those that are named."""
    parser = argparse.ArgumentParser(description="Small fits beside scikit-learn's.")
    names = [fit.name for fit in FITS]
    parser.add_argument("models", nargs="*", help=f"some of: {'; '.join(names)}")
    asked = parser.parse_args().models
    if unknown := set(asked) - set(names):
        parser.error(f"there is no model {', '.join(sorted(unknown))}; there are: {'; '.join(names)}")
    warnings.simplefilter("ignore")  # scikit-learn tells that it stopped early, or that columns are collinear
    print("milliseconds: ours, scikit-learn's at default settings and at our tolerance; theirs / ours for both")
    ratios = {
        (fit.name, name): compare(fit, name, *samples)
        for fit in FITS
        if not asked or fit.name in asked
        for name, samples in cases(fit)
    }
    counted = [ratio for (fit, _), ratio in ratios.items() if fit != NO_COUNTERPART]
    faster = sum(ratio >= 1.0 for ratio in counted)
    print(f"{faster} of {len(counted)} fits are not slower than scikit-learn's at default settings")


if __name__ == "__main__":
    main()
