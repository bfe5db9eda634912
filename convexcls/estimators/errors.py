"""What is raised where there is no answer, and warned of where it is not proved. No scikit-learn is needed here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from convexcls.problem import NoAnswer

if TYPE_CHECKING:
    from convexcls.certificate import Certificate
    from convexcls.inference import Existence
    from convexcls.separability import Separability


class NotSeparableError(NoAnswer):
    """No hyperplane separates the classes. ``certificate`` is the proof that the program has no solution; where the
    hyperplane is one of the features, ``separability`` is the proof in rationals, with the samples whose hulls meet."""

    def __init__(
        self, message: str, certificate: Certificate | None = None, separability: Separability | None = None
    ) -> None:
        super().__init__(message)
        self.certificate, self.separability = certificate, separability


class NoMaximumError(NoAnswer):
    """The likelihood has no maximum. ``certificate`` is the proof; ``existence`` says which coefficients run to
    infinity and which penalty to try (None for Gaussian classes, whose covariance is singular)."""

    def __init__(
        self, message: str, certificate: Certificate | None = None, existence: Existence | None = None
    ) -> None:
        super().__init__(message)
        self.certificate, self.existence = certificate, existence


class NoMaximumWarning(UserWarning):
    """The likelihood has no maximum, and a penalty was added as was asked for (``on_unattained="warn"``)."""


class UncertifiedWarning(UserWarning):
    """The answer is not proved; the message names the condition that fell short."""
