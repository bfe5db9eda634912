"""A problem drawn by seed and number: a table of some family, labels, a model and its parameters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from tests.hunt.families import FAMILIES, Generator, Table
from tests.hunt.oracle import Samples, rational

#: The models by name of their class, each as often as it is named.
MODELS = (
    "HardMarginSVM",
    "HardMarginSVM",
    "MaxMargin",
    "SoftMarginSVM",
    "SoftMarginSVM",
    "SoftMarginSVM",
    "KernelSVM",
    "KernelSVM",
    "LogisticMLE",
    "LogisticMLE",
    "SoftmaxMLE",
    "LeastSquares",
    "LeastSquares",
    "LeastAbsolute",
    "PerceptronCriterion",
    "FisherLDA",
    "FisherLDA",
    "GaussianMLE",
    "EmpiricalRisk",
)
SEVERAL = ("SoftmaxMLE", "FisherLDA", "GaussianMLE")
WEIGHTED = tuple(m for m in dict.fromkeys(MODELS) if m not in ("HardMarginSVM", "MaxMargin", "FisherLDA", "KernelSVM"))


@dataclass(frozen=True)
class Case:
    """A problem as a user would state it."""

    seed: int
    index: int
    family: str
    model: str
    table: Table
    y: list[Any]
    parameters: dict[str, Any]
    weights: list[float] | None

    @property
    def name(self) -> str:
        return f"{self.seed}:{self.index}"

    @property
    def X(self) -> Any:
        """The table in the container that its family is given in."""
        if self.family == "sparse":
            return sparse.csr_array(np.array(self.table))
        return self.table

    @property
    def arguments(self) -> dict[str, Any]:
        return self.parameters if self.weights is None else {**self.parameters, "sample_weight": self.weights}

    def samples(self, rounded: bool = False) -> Samples:
        """What is asked about, in rationals: entries as they are given, or as the doubles they round to."""
        rows = [[rational(float(v) if rounded else v) for v in row] for row in self.table]
        weights = [rational(w) for w in self.weights or [1.0] * len(rows)]
        if self.parameters.get("coding") == "real":
            return Samples(rows, [], weights, [rational(float(t) if rounded else t) for t in self.y])
        labels = sorted(set(self.y))
        return Samples(rows, [labels.index(label) for label in self.y], weights)

    @property
    def rounds(self) -> bool:
        """Whether some entry, or some value of the kernel, is not a double."""
        if self.parameters.get("kernel") == "rbf":
            return True
        cells = [v for row in self.table for v in row] + (self.y if self.parameters.get("coding") == "real" else [])
        return any(rational(v) != rational(float(v)) for v in cells)

    def code(self) -> str:
        """The problem as a line of Python."""
        stated = ", ".join(f"{k}={v!r}" for k, v in self.arguments.items())
        container = f"csr_array({self.table!r})" if self.family == "sparse" else repr(self.table)
        return f"cc.{self.model}({container}, {self.y!r}{', ' if stated else ''}{stated})"


def chosen(seed: int, index: int) -> tuple[str, str, Generator]:
    """The family and the model of a number, and the generator of all the rest."""
    g = np.random.default_rng([seed, index])
    return str(g.choice(list(FAMILIES))), str(g.choice(MODELS)), g


def draw(seed: int, index: int) -> Case:
    """The problem of that seed and number."""
    family, model, g = chosen(seed, index)
    table = FAMILIES[family](g)
    parameters = PARAMETERS[model](g)
    weights = None
    if model in WEIGHTED and g.random() < (1.0 if family == "weighted" else 0.1):
        weights = _weights(g, len(table), family == "weighted")
    if parameters.get("kernel") in ("rbf", "poly"):
        parameters["gamma"] = _gamma(g, table)
    y = _targets(g, table) if parameters.get("coding") == "real" else _labels(g, table, model)
    if model == "KernelSVM" and parameters["C"] is not None and g.random() < (1.0 if family == "weighted" else 0.1):
        weights = _weights(g, len(table), family == "weighted")
    return Case(seed, index, family, model, table, y, parameters, weights)


def _weights(g: Generator, n: int, wild: bool) -> list[float]:
    """Weights of all sizes, or small whole numbers; sometimes a zero."""
    out = 10.0 ** g.uniform(-12, 5, n) if wild else g.integers(1, 4, n).astype(float)
    if g.random() < 0.2 and n > 3:
        out[g.integers(n)] = 0.0
    return [float(f"{w:.3g}") for w in out]


def _gamma(g: Generator, table: Table) -> float:
    """A width of the kernel that suits the data, or 1 where they are of usual size."""
    X = np.array([[float(v) for v in row] for row in table])
    size = float(np.abs(X - X.mean(axis=0)).max())
    suits = 1e-100 < size < 1e100
    fixed = 1e-3 < size < 1e3 and np.abs(X).max() < 1e4 and g.random() < 0.5
    return float(f"{float(g.choice([0.1, 1.0, 10.0])) / size**2:.3g}") if suits and not fixed else 1.0


def _targets(g: Generator, table: Table) -> list[Any]:
    """Real targets: near a line, or anything."""
    X = np.array([[float(v) for v in row] for row in table])
    scale = np.abs(X).max() or 1.0
    noise = g.normal(size=len(X)) * (g.random() < 0.8)
    return [float(f"{v:.4g}") for v in (X / scale) @ g.integers(-3, 4, X.shape[1]) + noise]


def _labels(g: Generator, table: Table, model: str) -> list[Any]:
    """Classes by a hyperplane, with some on the wrong side, or by chance; at least one sample each."""
    n = len(table)
    X = np.array([[float(v) for v in row] for row in table])
    with np.errstate(over="ignore", invalid="ignore"):
        X = X - X[0]
        size = np.abs(X).max(axis=0)
        X = np.nan_to_num(X / np.where(size > 0, size, 1.0))
    count = int(g.integers(2, 5)) if model in SEVERAL and n >= 4 and g.random() < 0.6 else 2
    places = X @ g.normal(size=X.shape[1])
    kind = g.random()
    if kind < 0.5:  # apart
        ranks = np.argsort(np.argsort(places, kind="stable"), kind="stable")
        classes = ranks * count // n
        if kind < 0.15:  # and the places of equal samples in one class
            classes = np.searchsorted(np.quantile(places, np.arange(1, count) / count), places)
    else:
        classes = g.integers(0, count, n)
        if kind < 0.8:
            noisy = places + g.normal(size=n) * 0.5
            classes = np.argsort(np.argsort(noisy, kind="stable"), kind="stable") * count // n
    classes = classes.astype(int)
    for k in range(count):
        if not np.any(classes == k):
            crowded = np.flatnonzero(np.bincount(classes, minlength=count)[classes] > 1)
            classes[g.choice(crowded)] = k
    return [("no", "yes")[k] if count == 2 and n % 2 else int(k) for k in classes]


def _C(g: Generator) -> float:
    return float(g.choice([1.0, 1.0, 10.0, 100.0, 0.1, 1e-3, 1e-6, 1e-12, 1e4, 1e6, 1e8]))


def _l2(g: Generator) -> float:
    return float(g.choice([0.0, 0.0, 0.0, 1.0, 0.1, 1e-3, 1e-8, 10.0, 1e4]))


def _intercept(g: Generator) -> bool:
    return bool(g.random() < 0.8)


def _kernel(g: Generator) -> dict[str, Any]:
    kernel = str(g.choice(["linear", "poly", "rbf", "rbf"]))
    out: dict[str, Any] = {"kernel": kernel, "C": None if g.random() < 0.4 else _C(g), "intercept": _intercept(g)}
    if kernel == "poly":
        out |= {"degree": int(g.integers(1, 4)), "coef0": float(g.choice([0.0, 1.0]))}
    return out


PARAMETERS: dict[str, Callable[[Generator], dict[str, Any]]] = {
    "HardMarginSVM": lambda g: {"intercept": _intercept(g)},
    "MaxMargin": lambda g: {"intercept": _intercept(g)},
    "SoftMarginSVM": lambda g: {
        "C": _C(g),
        "loss": str(g.choice(["hinge", "hinge", "squared_hinge"])),
        "intercept": _intercept(g),
    },
    "KernelSVM": _kernel,
    "LogisticMLE": lambda g: {"l2": _l2(g), "intercept": _intercept(g)},
    "SoftmaxMLE": lambda g: {"l2": _l2(g), "intercept": _intercept(g)},
    "LeastSquares": lambda g: {
        "l2": _l2(g),
        "coding": str(g.choice(["pm1", "01", "real"])),
        "intercept": _intercept(g),
    },
    "LeastAbsolute": lambda g: {"coding": str(g.choice(["pm1", "01", "real"])), "intercept": _intercept(g)},
    "PerceptronCriterion": lambda g: {
        "normalization": None if g.random() < 0.1 else "mean-margin",
        "intercept": _intercept(g),
    },
    "FisherLDA": lambda g: {},
    "GaussianMLE": lambda g: {
        "covariance": str(g.choice(["shared", "by-class"])),
        "unbiased": bool(g.random() < 0.2),
    },
    "EmpiricalRisk": lambda g: {
        "loss": "hinge",
        "l2": float(g.choice([0.0, 0.1, 1.0])),
        "l1": float(g.choice([1e-3, 0.1, 1.0, 10.0])),
        "intercept": _intercept(g),
    },
}
