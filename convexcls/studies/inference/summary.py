"""The statistical output of a fit, as values."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from convexcls.in_notebooks import InNotebooks
from convexcls.wording import plain_values

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Coefficient:
    """One estimate: ``statistic`` is estimate over standard error, ``p_value`` that of both sides, ``low`` to ``high``
    the confidence interval. ``equation`` is the label whose log-odds it belongs to, where there are several.

    >>> import convexcls as cc
    >>> summary = cc.LeastSquares([[0], [1], [2]], [0, 1, 1], coding="real").solve().summary()
    >>> intercept = summary["intercept"]
    >>> round(intercept.estimate, 6), bool(intercept.low < 0 < intercept.high)
    (0.166667, True)
    """

    name: str
    estimate: float
    standard_error: float
    statistic: float
    p_value: float
    low: float
    high: float
    equation: Any = None


@dataclass(frozen=True)
class Test:
    """A test of the whole model against the null model: ``degrees`` is one number (chi-squared) or two (F).

    >>> import convexcls as cc
    >>> summary = cc.LeastSquares([[0], [1], [2]], [0, 1, 1], coding="real").solve().summary()
    >>> summary.test.degrees, round(summary.test.statistic, 6)
    ((1.0, 1.0), 3.0)
    """

    __test__ = False  # no test of pytest's

    name: str
    statistic: float
    degrees: tuple[float, ...]
    p_value: float


@dataclass(frozen=True, eq=False)
class Summary(InNotebooks):
    """Estimates with their errors, the fit as a whole, and what it stands on.

    ``covariance`` is in the order of ``coefficients``. ``deviance`` is minus twice the log-likelihood; of least squares
    the residual sum of squares. ``r_squared`` is McFadden's where the model is a likelihood of labels. ``scale`` is the
    variance of the errors (1 for labels). Print it, or read its fields; ``summary["name"]`` is one coefficient.

    ``n`` counts samples, ``df_model`` and ``df_residual`` degrees of freedom. ``test`` is that of the whole model,
    ``null_log_likelihood`` that of the null model: an intercept alone, or nothing where there is none. ``notes`` are
    remarks on the fit.

    >>> import convexcls as cc
    >>> summary = cc.LogisticMLE([[0], [0], [0], [1], [1], [1]], [0, 0, 1, 0, 1, 1]).solve().summary()
    >>> summary.n, summary.df_model, summary.statistic
    (6.0, 1.0, 'z')
    >>> round(summary["x1"].standard_error ** 2, 6)  # 1/2 + 1/1 + 1/1 + 1/2, as of any table of counts
    3.0
    """

    title: str
    model: str
    solver: str
    tolerance: float
    statistic: Literal["z", "t"]
    coefficients: tuple[Coefficient, ...]
    covariance: Array = field(repr=False)
    n: float
    df_model: float
    df_residual: float
    log_likelihood: float
    null_log_likelihood: float
    deviance: float
    r_squared: float
    adjusted_r_squared: float | None
    test: Test
    aic: float
    bic: float
    scale: float
    confidence: float
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.covariance.setflags(write=False)

    def __getitem__(self, name: Any) -> Coefficient:
        """The coefficient of that name; with several equations of that (label, name)."""
        for c in self.coefficients:
            if name in (c.name, (c.equation, c.name)) and (c.equation is None or isinstance(name, tuple)):
                return c
        names = [c.name if c.equation is None else (c.equation, c.name) for c in self.coefficients]
        raise KeyError(f"there is no coefficient {name!r}; there are {', '.join(map(repr, names))}")

    @property
    def standard_errors(self) -> Array:
        """The standard errors, in the order of the coefficients."""
        return np.array([c.standard_error for c in self.coefficients])

    @property
    def estimates(self) -> Array:
        """The estimates."""
        return np.array([c.estimate for c in self.coefficients])

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values; what is not a finite number is None."""
        return plain_values({"schema": "convexcls-summary/1", **asdict(self)})

    def __str__(self) -> str:
        from convexcls.studies.inference.writing import to_text

        return to_text(self)
