"""Assertions for your own tests: an answer is optimal, complementary, or the same as another.

>>> import convexcls as cc
>>> s = cc.HardMarginSVM([[0.0], [2.0]], [0, 1]).solve()
>>> cc.testing.assert_optimal(s)
>>> cc.testing.assert_complementary_slackness(s)
"""

from __future__ import annotations

import numpy as np

from convexcls.problem import BY_SAMPLE
from convexcls.solution import Solution


def assert_optimal(solution: Solution, tol: float = 1e-8) -> None:
    """Fail unless the KKT conditions and the duality gap prove the solution optimal to ``tol``.

    >>> import convexcls as cc
    >>> s = cc.SoftMarginSVM([[0], [1], [2]], [0, 1, 0]).solve()
    >>> cc.testing.assert_optimal(s)
    >>> try:
    ...     cc.testing.assert_optimal(cc.HardMarginSVM([[0], [1], [2]], [0, 1, 0]).solve())
    ... except AssertionError as error:
    ...     print(str(error).splitlines()[0])
    ...
    not proved optimal to 1e-08:
    """
    certificate = solution.certificate
    if certificate.status not in ("optimal", "undecided") or not certificate.holds(tol):
        raise AssertionError(f"not proved optimal to {tol:g}:\n{certificate.explain()}")


def assert_complementary_slackness(solution: Solution, tol: float = 1e-8) -> None:
    """Fail unless every row's product of multiplier and slack is at most ``tol`` relative to the objective, and
    every multiplier has its sign.

    >>> import convexcls as cc
    >>> s = cc.HardMarginSVM([[0], [2], [9]], [0, 1, 1]).solve()
    >>> cc.testing.assert_complementary_slackness(s)
    >>> bool(s.margins[2] > 1), bool(s.multipliers["margin"][2] < 1e-12)  # slack, so no multiplier
    (True, True)
    """
    kkt = solution.kkt
    for residual, what in (
        (kkt.complementary_slackness, "multiplier times slack"),
        (kkt.dual_feasibility, "a multiplier's wrong sign"),
    ):
        if not residual.relative <= tol:
            block, row = residual.worst
            raise AssertionError(
                f"{what} is {residual.values[block][row]:.3g} in row {row} of {block!r} "
                f"(relative {residual.relative:.1e}, allowed {tol:g})"
            )


def assert_same_answer(first: Solution, second: Solution, tol: float = 1e-6) -> None:
    """Fail unless both have the same verdict, objective and, where it is unique, coef to relative ``tol``.
    Multipliers are not compared: they need not be unique.

    >>> import convexcls as cc
    >>> problem = cc.HardMarginSVM([[0, 1], [2, 2], [1, 5]], [0, 1, 1])
    >>> cc.testing.assert_same_answer(problem.solve("clarabel"), problem.solve("dual:osqp"))
    """
    if first.status != second.status:
        raise AssertionError(f"{first.solver} says {first.status}, {second.solver} says {second.status}")
    if first.status != "optimal":
        return
    scale = max(abs(first.objective), abs(second.objective), first.problem.unit)
    if not abs(first.objective - second.objective) <= tol * scale:
        raise AssertionError(
            f"objectives differ: {first.objective!r} ({first.solver}), {second.objective!r} ({second.solver})"
        )
    shared = [v for v in first.values if v in second.values and first.problem.variable(v).kind not in BY_SAMPLE]
    if not first.uniqueness:
        return
    for name in shared:
        a, b = first.values[name], second.values[name]
        size = max(float(np.abs(a).max(initial=0.0)), float(np.abs(b).max(initial=0.0)))
        if a.shape != b.shape or not np.all(np.abs(a - b) <= tol * size):
            raise AssertionError(f"{name} differs by {np.abs(a - b).max():.3g}: {a} and {b}")
