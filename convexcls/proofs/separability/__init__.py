"""Whether classes can be separated, with proofs that hold exactly on the data as given: of samples (``separability``),
of rows (``separate``) and of problems whose verdict hangs on it (``problems.py``, ``likelihood.py``).
What it finds is checked by ``claims/separation.py``. It may import ``kkt/``, ``claims/`` and what these may.
"""

from convexcls.proofs.claims.separation import Separation
from convexcls.proofs.separability.classes import separability, separation_rows
from convexcls.proofs.separability.core import separate, strictly
from convexcls.proofs.separability.likelihood import SeparatingLikelihood
from convexcls.proofs.separability.problems import Separating, SeparatingMargin, SeparatingPerceptron, separation_of
from convexcls.proofs.separability.result import Separability

__all__ = [
    "Separability",
    "Separating",
    "SeparatingLikelihood",
    "SeparatingMargin",
    "SeparatingPerceptron",
    "Separation",
    "separability",
    "separate",
    "separation_of",
    "separation_rows",
    "strictly",
]
