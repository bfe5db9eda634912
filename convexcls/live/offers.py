"""What the page offers: models with the parameters that slide, the solvers that take each, problems of the gallery."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from convexcls import gallery
from convexcls.job import Forms
from convexcls.models import Model, by_kind
from convexcls.solvers import REGISTRY

#: A tiny problem of two classes, of which solvers are asked whether they take a model.
SMALL = ([[0.0, 0.0], [1.0, 2.0], [3.0, 0.0], [4.0, 1.0]], [0, 0, 1, 1])


@dataclass(frozen=True)
class Slider:
    """A parameter that slides from ``low`` to ``high``, on a logarithmic scale. ``left`` and ``right`` are what its
    ends stand for where that is another value, such as 0 or no bound at all; ``whole`` takes whole numbers, evenly."""

    name: str
    symbol: str
    default: float | None
    low: float
    high: float
    left: float | None = None
    unbounded: bool = False
    whole: bool = False


@dataclass(frozen=True)
class Offer:
    """A model that can be chosen: its ``kind``, what is fixed of its parameters, what slides, and what is one of a few
    words. It takes up to ``classes`` classes."""

    title: str
    kind: str
    fixed: Mapping[str, Any] = field(default_factory=dict)
    sliders: tuple[Slider, ...] = ()
    choices: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    classes: int = 2

    @property
    def defaults(self) -> dict[str, Any]:
        """The parameters to begin with."""
        return {s.name: s.default for s in self.sliders} | {name: words[0] for name, words in self.choices.items()}

    def declare(self, X: Any, y: Any, parameters: Mapping[str, Any]) -> Model:
        """The model on samples; parameters that are not given are as at the beginning."""
        build: Any = by_kind()[self.kind]
        return build(X, y, **self.fixed, **{**self.defaults, **parameters})


INTERCEPT = {"intercept": (True, False)}
C = Slider("C", "C", 1.0, 0.01, 1000.0)
C_OR_HARD = Slider("C", "C", 1.0, 0.01, 1000.0, unbounded=True)
L2 = Slider("l2", "l2", 0.0, 0.001, 100.0, left=0.0)
GAMMA = Slider("gamma", "γ", 0.5, 0.01, 10.0)
DEGREE = Slider("degree", "degree", 2, 1, 6, whole=True)
COEF0 = Slider("coef0", "coef0", 1.0, 0.01, 10.0, left=0.0)

OFFERS: dict[str, Offer] = {
    "hard-margin": Offer("Hard margin", "hard-margin", choices=INTERCEPT),
    "max-margin": Offer("Maximum margin", "max-margin", choices=INTERCEPT),
    "soft-margin": Offer("Soft margin, hinge", "soft-margin", {"loss": "hinge"}, (C,), INTERCEPT),
    "squared-hinge": Offer("Soft margin, squared hinge", "soft-margin", {"loss": "squared_hinge"}, (C,), INTERCEPT),
    "rbf": Offer("RBF kernel", "kernel", {"kernel": "rbf"}, (C_OR_HARD, GAMMA), INTERCEPT),
    "poly": Offer(
        "Polynomial kernel", "kernel", {"kernel": "poly", "gamma": 1.0}, (C_OR_HARD, DEGREE, COEF0), INTERCEPT
    ),
    "logistic": Offer("Logistic regression", "logistic", sliders=(L2,), choices=INTERCEPT),
    "softmax": Offer("Softmax regression", "softmax", sliders=(L2,), choices=INTERCEPT, classes=3),
    "least-squares": Offer(
        "Least squares", "least-squares", sliders=(L2,), choices={**INTERCEPT, "coding": ("pm1", "01")}
    ),
    "least-absolute": Offer(
        "Least absolute deviations", "least-absolute", choices={**INTERCEPT, "coding": ("pm1", "01")}
    ),
    "perceptron": Offer("Perceptron criterion", "perceptron", choices=INTERCEPT),
    "fisher": Offer("Fisher's discriminant", "fisher"),
    "gaussian": Offer("Gaussian classes", "gaussian", choices={"covariance": ("shared", "by-class")}, classes=3),
}


@cache
def solvers_of(model: str) -> tuple[str, ...]:
    """``auto`` and our own and built-in solvers that take the model; those of cvxpy take a second to load."""
    forms = Forms(OFFERS[model].declare(*SMALL, {}))
    return ("auto", *(name for name in REGISTRY if not forms.job(name).refuses()))


@cache
def in_the_plane() -> tuple[str, ...]:
    """The problems of the gallery that the page can show."""
    from convexcls.live.loading import Unsuitable, state_of

    out = []
    for name in gallery.entries():
        try:
            state_of(gallery.load(name))
        except Unsuitable:
            continue
        out.append(name)
    return tuple(out)


def menu() -> dict[str, Any]:
    """All that can be chosen, for the page."""
    models = {
        name: {
            "title": offer.title,
            "sliders": [vars(slider) for slider in offer.sliders],
            "choices": {key: list(words) for key, words in offer.choices.items()},
            "classes": offer.classes,
            "solvers": list(solvers_of(name)),
        }
        for name, offer in OFFERS.items()
    }
    return {"models": models, "gallery": list(in_the_plane())}
