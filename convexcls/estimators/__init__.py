"""The classifiers as estimators of scikit-learn: fit, predict, and keep the proof.

Everything here but the errors needs scikit-learn (``pip install 'convexcls[sklearn]'``), so an estimator is loaded when
it is asked for. One family a file:

    base.py               what all share: fit, predict, one program for each class on request; coef_ in its shapes
    training.py           X, y and weights as scikit-learn takes them; ``verbose`` and callbacks
    support_vectors.py    hard margin, soft margin, kernels
    likelihoods.py        logistic and softmax regression
    linear.py             least squares, least absolute deviations, the perceptron
    discriminants.py      Fisher's directions, Gaussian classes
    pickled.py            what is left of a fit in a pickle

Settings that they share, the last three where they make sense:

    solver, tol, level     those of ``convexcls.solve``: the solver's name, the tolerance and the level of the proof
    max_iter               the most steps of the solver; None leaves it the limit of its own
    warm_start             begin at the solution of the last fit, where the solver can
    verbose                1 prints a line an iteration
    keep_data              whether a pickle holds the training data, with problem and solution; it predicts without
    fit_intercept          whether there is an intercept
    class_weight           weights of the classes, or "balanced", as in scikit-learn
    multi_class            "ovr" solves one program for each class against the rest, where a program takes two classes,
                           "ovo" one for each two classes, which vote

After a fit ``problem_``, ``solution_`` and ``certificate_`` are the program, its solution and the proof, tuples where
there are several programs; the rest is named and shaped as in scikit-learn.

>>> import convexcls as cc
>>> model = cc.estimators.SoftMarginSVC(C=10.0).fit([[0], [1], [3], [4]], ["a", "a", "b", "b"])
>>> model.predict([[1.9], [2.1]]).tolist(), model.certificate_.status
(['a', 'b'], 'optimal')
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from convexcls.problem import NoAnswer

if TYPE_CHECKING:
    from convexcls.proofs.certificate import Certificate
    from convexcls.proofs.separability import Separability
    from convexcls.studies.inference import Existence

#: The estimators by module.
_BY_MODULE = {
    "support_vectors": ("HardMarginSVC", "SoftMarginSVC", "KernelSVC"),
    "likelihoods": ("LogisticClassifier", "SoftmaxClassifier"),
    "linear": ("LeastSquaresClassifier", "LeastAbsoluteClassifier", "PerceptronClassifier"),
    "discriminants": ("FisherClassifier", "GaussianClassifier"),
}
ESTIMATORS = {name: module for module, names in _BY_MODULE.items() for name in names}

__all__ = ["NoMaximumError", "NoMaximumWarning", "NotSeparableError", "UncertifiedWarning", *ESTIMATORS]


def __getattr__(name: str) -> Any:
    if name not in ESTIMATORS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        module = import_module(f"{__name__}.{ESTIMATORS[name]}")
    except ImportError as error:
        if not (error.name or "").startswith("sklearn"):
            raise
        raise ImportError(
            f"{name} is an estimator of scikit-learn, which is not installed or older than 1.9.1: pip install "
            "'convexcls[sklearn]'"
        ) from error
    return getattr(module, name)


def __dir__() -> list[str]:
    return sorted(__all__)


# ---- where there is no answer, and where it is not proved; no scikit-learn is needed here ---------------


class NotSeparableError(NoAnswer):
    """No hyperplane separates the classes. ``certificate`` is the proof that the program has no solution; where the
    hyperplane is one of the features, ``separability`` is the proof in rationals, with the samples whose hulls meet.

    >>> import convexcls as cc
    >>> try:
    ...     cc.HardMarginSVC().fit([[0], [1], [2]], ["a", "b", "a"])
    ... except cc.NotSeparableError as error:
    ...     print(error.certificate.status, error.separability.hull.samples)
    ...
    infeasible [0, 1, 2]
    """

    def __init__(
        self, message: str, certificate: Certificate | None = None, separability: Separability | None = None
    ) -> None:
        super().__init__(message)
        self.certificate, self.separability = certificate, separability


class NoMaximumError(NoAnswer):
    """The likelihood has no maximum. ``certificate`` is the proof; ``existence`` says which coefficients run to
    infinity and which penalty to try (None for Gaussian classes, whose covariance is singular).

    >>> import convexcls as cc
    >>> try:
    ...     cc.LogisticClassifier(C=float("inf")).fit([[0], [1]], [0, 1])
    ... except cc.NoMaximumError as error:
    ...     print(error.certificate.status, error.existence.infinite)
    ...
    unattained {'x1': '+inf', 'intercept': '-inf'}
    """

    def __init__(
        self, message: str, certificate: Certificate | None = None, existence: Existence | None = None
    ) -> None:
        super().__init__(message)
        self.certificate, self.existence = certificate, existence


class NoMaximumWarning(UserWarning):
    """The likelihood has no maximum, and a penalty was added as was asked for (``on_unattained="warn"``).

    >>> import convexcls as cc
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     model = cc.LogisticClassifier(C=float("inf"), on_unattained="warn").fit([[0], [1]], [0, 1])
    ...
    >>> [warning.category.__name__ for warning in caught], bool(model.coef_[0, 0] > 0)
    (['NoMaximumWarning'], True)
    """


class UncertifiedWarning(UserWarning):
    """The answer is not proved; the message names the condition that fell short.

    >>> import convexcls as cc
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     model = cc.LogisticClassifier(solver="gradient", max_iter=1).fit([[0], [1], [9]], [0, 1, 0])
    ...
    >>> [warning.category.__name__ for warning in caught], model.certificate_.status
    (['UncertifiedWarning'], 'undecided')
    """
