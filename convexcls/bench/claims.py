"""What a solver claims of a problem, read off its answer."""

from __future__ import annotations

from typing import Literal

from convexcls.solvers import Answer

#: What a solver claims; "" where it claims nothing.
Claim = Literal["optimal", "infeasible", "unattained", ""]

#: Words by which a solver says that its own answer is not to be relied on.
HEDGES = (
    *("inaccurate", "almost", "insufficient", "reduced", "limit", "maximum", "max_iter", "maxiter", "maxtime"),
    *("not converge", "did not", "stopped", "timeout", "gave up", "fail", "numerical", "unknown", "undecided"),
    *("error", "non convex"),
)
UNATTAINED = ("dual infeasible", "dualinfeasible", "dual_infeasible", "unbounded", "unattained")
INFEASIBLE = ("infeasible", "inconsistent", "no feasible", "contradict", "exclude each other")


def claimed(answer: Answer) -> Claim:
    """What the answer says: that a point is optimal, which it does by giving one without a word that it fell short; or
    that there is none, by a proof that it offers or in words.

    >>> from convexcls.bench.claims import claimed
    >>> from convexcls.solvers import Answer
    >>> claimed(Answer([1.0])), claimed(Answer([1.0], message="solved inaccurate"))
    ('optimal', '')
    >>> claimed(Answer(None, message="PrimalInfeasible")), claimed(Answer(None, message="dual infeasible"))
    ('infeasible', 'unattained')
    """
    words = answer.message.lower()
    hedged = any(word in words for word in HEDGES)
    if answer.farkas is not None:
        return "infeasible"
    if answer.direction is not None:
        return "unattained"
    if answer.x is None:
        if "inaccurate" in words or "almost" in words:
            return ""
        if any(word in words for word in UNATTAINED):
            return "unattained"
        return "infeasible" if any(word in words for word in INFEASIBLE) else ""
    return "" if hedged else "optimal"
