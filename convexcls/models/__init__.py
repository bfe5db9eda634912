"""The classifiers, one file each. A class here is a problem: declare it, read it, solve it.

Every module of this package is loaded, so that a new classifier is one new file: the ``kind`` of its class is its
name in files and on the command line. Installed packages bring more by the group ``convexcls.models`` of their entry
points, each line ``kind = "package.module:Class"``.
"""

import warnings
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from convexcls.models.base import _KINDS, KindError, Model
from convexcls.models.empirical_risk import EmpiricalRisk
from convexcls.models.fisher import FisherLDA
from convexcls.models.gaussian import GaussianMLE
from convexcls.models.hard_margin import HardMarginSVM
from convexcls.models.kernel_svm import KernelSVM
from convexcls.models.least_absolute import LeastAbsolute
from convexcls.models.least_squares import LeastSquares
from convexcls.models.logistic import LogisticMLE
from convexcls.models.max_margin import MaxMargin
from convexcls.models.perceptron import PerceptronCriterion
from convexcls.models.soft_margin import SoftMarginSVM
from convexcls.models.softmax import SoftmaxMLE
from convexcls.outside import at_address, brought, is_address, loaded, owner
from convexcls.wording import did_you_mean

__all__ = [
    "EmpiricalRisk",
    "FisherLDA",
    "GaussianMLE",
    "HardMarginSVM",
    "KernelSVM",
    "KindError",
    "LeastAbsolute",
    "LeastSquares",
    "LogisticMLE",
    "MaxMargin",
    "Model",
    "PerceptronCriterion",
    "SoftMarginSVM",
    "SoftmaxMLE",
]


for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")


GROUP = "convexcls.models"


def by_kind() -> dict[str, type[Model]]:
    """The classifiers by the names that files and the command line use: every class that has written down a ``kind``
    of its own (see ``Model``), those of installed packages among them."""
    _load_from_packages()
    return of_this_process()


def of_this_process() -> dict[str, type[Model]]:
    """Those that have been loaded, without a look at what packages bring."""
    return dict(sorted(_KINDS.items()))


@cache
def _load_from_packages() -> None:
    for point in brought(GROUP).values():
        try:
            _model_class(loaded(point, "model"), f"the model {point.name!r}{owner(point)}")
        except (ValueError, TypeError) as error:  # somebody else's package does not stop ours
            warnings.warn(f"left out: {error}", stacklevel=4)


def model_class(name: str) -> type[Model]:
    """The classifier of that kind, or at ``package.module:Class``; ``KindError`` where there is none."""
    if is_address(name):
        return _model_class(at_address(name), repr(name))
    kinds = by_kind()
    if name not in kinds:
        raise KindError(f"there is no model {name!r}{did_you_mean(name, kinds)}; the models are {', '.join(kinds)}")
    return kinds[name]


def _model_class(found: Any, what: str) -> type[Model]:
    if not (isinstance(found, type) and issubclass(found, Model)):
        raise TypeError(f"{what} is no model: it has to be a class derived from convexcls.models.Model")
    return found
