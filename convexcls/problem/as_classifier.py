"""A problem as a classifier: how its solution is read.

A problem stated by hand has coefficients where it has a variable of that name, and support points; the rest is known to
models alone. One whose unknowns are not coef and intercept has its own way to read them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from convexcls.arrays import Array
from convexcls.data import Data
from convexcls.pickling import frozen
from convexcls.problem.blocks import NoAnswer
from convexcls.rows import Rows

#: A point by variable, or multipliers by constraint.
Values = Mapping[str, Array]


class AsClassifier:
    """What a problem says of itself and of its solutions, with what holds where nobody has said more."""

    name: str
    #: The samples that the problem was declared on.
    data: Data | None = None
    #: What a model was declared with.
    parameters: Mapping[str, Any] = frozen({})
    #: What is worth knowing of it besides.
    notes: tuple[str, ...] = ()
    #: The kernel in whose feature space a machine is stated; None for all others.
    kernel: Any = None
    #: Why there may be no minimum, in a sentence; empty where separated classes are the only reason.
    unattained_words: str = ""

    def remedy(self, status: str) -> str:
        """What to do where it is proved that there is no solution, in a sentence; empty where nothing is known."""
        return self.unattained_words if status == "unattained" else ""

    def candidate_directions(self) -> list[Array]:
        """Directions along which the objective may fall for ever, where a model knows where to look."""
        return []

    def is_constant_along(self, direction: Array) -> bool:
        """Whether a model knows, without rounding, that its samples do not vary along a direction."""
        return False

    def separation_rows(self) -> Rows | None:
        """The rows on whose separability the verdict depends; None where it does not."""
        view = self.separating()
        return None if view is None else view.rows

    def separating(self) -> Any:
        """How the separability of these rows bears on the verdict (``proofs.separability.Separating``)."""
        return None

    @property
    def threshold(self) -> float:
        """The score above which the second label is predicted."""
        return 0.0

    def coef_from(self, values: Values, multipliers: Values) -> Array:
        """The coefficients, one a feature; for several classes one row a class."""
        if "coef" not in values:
            raise NoAnswer(f"the {self.name} has no variable 'coef'; see .values, or .primal() for a dual")
        return values["coef"]

    def intercept_from(self, values: Values, multipliers: Values) -> float | Array:
        """The intercept, 0 where the model has none; for several classes one a class."""
        return float(values["intercept"][0]) if "intercept" in values else 0.0

    def dual_coef_from(self, values: Values, multipliers: Values) -> Array:
        """The coefficients of a kernel classifier, one a sample."""
        raise NoAnswer(f"the {self.name} is not stated in coefficients of the samples; see .multipliers")

    def norm_from(self, values: Values, multipliers: Values) -> float:
        """The norm of the normal vector of the hyperplane."""
        return float(np.linalg.norm(self.coef_from(values, multipliers)))

    def quadratic_from(self, values: Values) -> tuple[Array, Array, float] | None:
        """A, g and k of a score x'Ax + g'x + k; None where the score is linear in the features."""
        return None

    def estimates_from(self, values: Values, multipliers: Values) -> Any:
        """What a model of the classes estimates."""
        raise NoAnswer(f"the {self.name} is no model of the classes: it estimates no means or covariances")

    def scores_from(self, values: Values, multipliers: Values, X: Any) -> Array:
        """f(x) for each row of X, above 0 for the second label; for several classes one column a class."""
        raise NoAnswer(f"the {self.name} was not declared on data: it has no scores")

    def probabilities(self, scores: Array) -> Array | None:
        """The probability of each label from the scores; None where the model has none."""
        return None
