"""Whether classes can be separated, with proofs that hold exactly on the data as given: of samples (``separability``),
of rows (``separate``) and of problems whose verdict hangs on it (``HardMargin``, ``Likelihood``, ``Perceptron``). What
it finds is checked by ``claims/separation.py``. It may import ``kkt/``, ``claims/`` and what these may.
"""

from convexcls.proofs.claims.separation import Separation
from convexcls.proofs.separability.alternative import Guess
from convexcls.proofs.separability.classes import separability, separation_rows
from convexcls.proofs.separability.core import Behaviour, Cone, separate, strictly
from convexcls.proofs.separability.problems import HardMargin, Likelihood, Perceptron, Separating, separation_of
from convexcls.proofs.separability.result import Hull, Plane, Separability

__all__ = [
    "Behaviour",
    "Cone",
    "Guess",
    "HardMargin",
    "Hull",
    "Likelihood",
    "Perceptron",
    "Plane",
    "Separability",
    "Separating",
    "Separation",
    "separability",
    "separate",
    "separation_of",
    "separation_rows",
    "strictly",
]
