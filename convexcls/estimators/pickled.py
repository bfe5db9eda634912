"""What a fitted estimator is pickled as: what predicts, and the proof in words, without the data that it was fitted on.

A pickle travels, so by default it carries none of the training data but, of a kernel, its support points:
``solution_`` becomes a ``SavedModel`` and ``certificate_`` the ``KeptCertificate`` below. With ``keep_data=True`` both
are pickled whole.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from convexcls.proofs.certificate import Certificate, Level, Number, Status
from convexcls.saved import kept_model
from convexcls.solution import Solution

REMEDY = "fit with keep_data=True before pickling, or fit again"


@dataclass(frozen=True, eq=False)
class KeptCertificate:
    """What a certificate said, where the data that it speaks of were left behind: it can be read, not checked again.

    >>> import convexcls as cc
    >>> import pickle
    >>> model = cc.estimators.HardMarginSVC().fit([[0], [4]], ["a", "b"])
    >>> other = pickle.loads(pickle.dumps(model))
    >>> other.certificate_.holds(), other.certificate_.explain() == model.certificate_.explain()
    (True, True)
    >>> other.certificate_.kkt  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    AttributeError: a pickled estimator is without 'kkt' of its certificate, which needs the training data: fit with ...
    """

    status: Status
    level: Level
    tol: float
    lower: Number
    upper: Number
    objective: float
    proved: bool
    words: str
    measures: Mapping[str, Any]

    @classmethod
    def of(cls, certificate: Certificate) -> KeptCertificate:
        """What is kept of a certificate."""
        known = certificate
        told = (known.holds(), known.explain(), known.summary())
        return cls(known.status, known.level, known.tol, known.lower, known.upper, known.objective, *told)

    def holds(self) -> bool:
        """Whether the verdict was proved, to the tolerance ``tol``."""
        return self.proved

    def explain(self) -> str:
        """The verdict in words."""
        return self.words

    def summary(self) -> dict[str, Any]:
        """The verdict and its measures as plain values."""
        return dict(self.measures)

    def __repr__(self) -> str:
        return f"<KeptCertificate: {self.status}, level {self.level}, tolerance {self.tol:g}, without the data>"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise left_behind(f"{name!r} of its certificate")


def left_behind(what: str) -> AttributeError:
    """The error where something is asked for that was not pickled."""
    return AttributeError(f"a pickled estimator is without {what}, which needs the training data: {REMEDY}")


def without_data(state: Mapping[str, Any]) -> dict[str, Any]:
    """The state of a fitted estimator without its training data."""
    parts = {"solution_": _each(state["solution_"], kept_model)}
    return {**state, **parts, "certificate_": _each(state["certificate_"], KeptCertificate.of)}


def _each(found: Any, made: Callable[[Any], Any]) -> Any:
    """One thing made of another, or of each in a tuple; what was made of them before stays."""
    if isinstance(found, tuple):
        return tuple(_each(one, made) for one in found)
    return made(found) if isinstance(found, (Solution, Certificate)) else found
