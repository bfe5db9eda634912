"""Whether classes can be separated, with proofs that hold exactly on the data as given.

=======================  =====================================================================================
``separability(X, y)``   strictly separable, weakly separable or overlapping, told of samples
``separate(rows)``       the same of homogeneous rows, for models: direction, weights, circuit
``complaints(rows, .)``  what is wrong with such a proof, by other code than that which found it
=======================  =====================================================================================
"""

from convexcls.proofs.separability.check import complaints
from convexcls.proofs.separability.core import Separation, separate, strictly
from convexcls.proofs.separability.guess import Guess
from convexcls.proofs.separability.margins import separation_rows
from convexcls.proofs.separability.result import Hull, Plane, Separability
from convexcls.proofs.separability.told import separability

__all__ = [
    "Guess",
    "Hull",
    "Plane",
    "Separability",
    "Separation",
    "complaints",
    "separability",
    "separate",
    "separation_rows",
    "strictly",
]
