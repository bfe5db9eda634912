"""The classifiers, one file each. A class here is a problem: declare it, read it, solve it.

Every module of this package is loaded, so that a new classifier is one new file: the ``kind`` of its class is its
name in files and on the command line.
"""

from importlib import import_module
from pkgutil import iter_modules

from convexcls.models.base import _KINDS, KindError, Model
from convexcls.models.fisher import FisherLDA
from convexcls.models.gaussian import GaussianMLE
from convexcls.models.hard_margin import HardMarginSVM
from convexcls.models.kernel_svm import KernelSVM
from convexcls.models.least_absolute import LeastAbsolute
from convexcls.models.least_squares import LeastSquares
from convexcls.models.logistic import LogisticMLE
from convexcls.models.max_margin import MaxMargin
from convexcls.models.perceptron import PerceptronCriterion
from convexcls.models.risk import EmpiricalRisk
from convexcls.models.soft_margin import SoftMarginSVM
from convexcls.models.softmax import SoftmaxMLE

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


def by_kind() -> dict[str, type[Model]]:
    """The classifiers by the names that files and the command line use: every class that has written down a ``kind``
    of its own (see ``Model``)."""
    return dict(sorted(_KINDS.items()))
