"""What separability says of four models, so that they always agree: with each other, and with ``cc.separability``.

==============  ========================================================================================================
hard margin     feasible iff the classes are strictly separable; otherwise a circuit is a Farkas vector
logistic,       without a penalty attained iff the classes overlap; otherwise a direction along which no margin shrinks
softmax         and some grow proves that there is no minimum
perceptron      infeasible iff all margins add up to 0; its optimum is 0 iff the classes are separable, or weakly so
==============  ========================================================================================================

An optimum that doubles show clearly stands as it is. One that hangs on their last digits has to agree with the verdict
in rationals.
"""

from __future__ import annotations

from convexcls.problem import Problem
from convexcls.proofs.certificate.separated_likelihood import Likelihood
from convexcls.proofs.certificate.separated_margins import HardMargin, Perceptron
from convexcls.proofs.certificate.separating import Separating
from convexcls.proofs.separability.spanning import dimension
from convexcls.rows import Rows

#: With more unknowns, or more entries, rationals would take too long: then doubles have the last word.
LARGEST_DIMENSION = 150
LARGEST_ENTRIES = 100_000_000
KINDS: dict[str, type[Separating]] = {
    "hard-margin": HardMargin,
    "logistic": Likelihood,
    "softmax": Likelihood,
    "perceptron": Perceptron,
}


def separation_of(problem: Problem) -> Separating | None:
    """How separability bears on a problem; None where it does not, or where it would take too long."""
    view: Separating | None = problem.__dict__.get("_separating")
    if view is None:
        hook = getattr(problem, "separation_rows", None)
        rows: Rows | None = hook() if hook is not None and problem.kind in KINDS else None
        if rows is None or dimension(rows) > LARGEST_DIMENSION or rows.entries > LARGEST_ENTRIES:
            return None
        view = KINDS[problem.kind](problem, rows)
        problem.__dict__["_separating"] = view  # what is found once is kept, as a cached property would
    return view
