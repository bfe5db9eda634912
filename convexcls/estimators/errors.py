"""What is raised where there is no answer, and warned of where it is not proved. No scikit-learn is needed here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from convexcls.problem import NoAnswer

if TYPE_CHECKING:
    from convexcls.proofs.certificate import Certificate
    from convexcls.proofs.separability import Separability
    from convexcls.studies.inference import Existence


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
