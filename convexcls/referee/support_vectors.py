"""SVC and NuSVC: libsvm's support vector machines.

libsvm keeps the multipliers: dual_coef_ = y_i alpha_i over the rows support_, and the intercept. For the linear kernel
the program is the soft margin in coef; for other kernels it is stated by its Wolfe dual in alpha, and the classifier
f(x) = sum_i alpha_i y_i k(x_i, x) + intercept is what its multipliers say: slack_i = max(0, 1 - y_i f(x_i)).

NuSVC (Schoelkopf et al. 2000) as libsvm states it, c_i the weights:

    maximise  -1/2 alpha'Q alpha   subject to  y'alpha = 0,  1'alpha = nu sum_i c_i,  0 <= alpha_i <= c_i

Its answer is kept divided by the multiplier rho of the second equation, so that margins are in units of one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from convexcls.arrays import Array
from convexcls.models import KernelSVM, SoftMarginSVM
from convexcls.problem import ROUNDING_ROOM, Constraint, Label, Problem
from convexcls.referee.claim import Claim, completed
from convexcls.referee.pairs import Pair, machines
from convexcls.referee.reading import Fit
from convexcls.rows import ConstantRows

#: A multiplier may pass its bound by this fraction from rounding alone.
ROUNDING = 1e-9


def svc(fit: Fit) -> list[Claim]:
    """The program of an SVC; of several classes one for each pair."""
    return [_svc(fit, pair) for pair in machines(fit)]


def nu_svc(fit: Fit) -> list[Claim]:
    """The program of a NuSVC; of several classes one for each pair."""
    return [_nu(fit, pair) for pair in machines(fit)]


def _svc(fit: Fit, pair: Pair) -> Claim:
    C = float(fit.options["C"])
    bound = C * pair.weights
    linear = fit.options["kernel"] == "linear"
    claim = _linear(pair, C) if linear else _kernel(fit, pair, C)
    remarks = multiplier_remarks(pair, bound, "C" if np.all(pair.weights == 1) else "C c_i, their bound")
    findings = (*fit.stopped(), *pair.findings)
    allowed = _allowed(fit, bound)
    return replace(claim, remarks=remarks, findings=findings, subject=pair.subject, usual=0.0, allowed=allowed)


def _linear(pair: Pair, C: float) -> Claim:
    """The soft margin in coef, with alpha as the multipliers of the margins."""
    assert pair.coef is not None
    problem = SoftMarginSVM(pair.X, pair.y, C=C, sample_weight=pair.weights)
    point = completed(problem, {"coef": pair.coef, "intercept": np.array([pair.intercept])})
    multipliers = {"margin": pair.alpha, "slack_sign": C * pair.weights - pair.alpha}
    named = f"SVC solves the soft-margin support vector machine with C = {C:g}; the intercept is not penalised"
    return Claim(problem, named, point, multipliers, "of dual_coef_")


def _kernel(fit: Fit, pair: Pair, C: float) -> Claim:
    """The Wolfe dual, with the classifier as its multipliers."""
    problem = KernelSVM(pair.X, pair.y, C=C, sample_weight=pair.weights, **kernel_options(fit))
    named = (
        f"SVC solves the soft-margin support vector machine with C = {C:g} in the feature space of the kernel "
        f"{_kernel_words(problem)}, stated by its Wolfe dual"
    )
    return Claim(problem, named, pair.alpha, _classifier(problem, pair, 1.0), "of the decision function", by_dual=True)


def _nu(fit: Fit, pair: Pair) -> Claim:
    nu = float(fit.options["nu"])
    base = KernelSVM(pair.X, pair.y, C=1.0, sample_weight=pair.weights, **kernel_options(fit))
    problem = nu_problem(base, nu)
    total = float(np.abs(pair.alpha).sum())
    if total == 0:
        raise ValueError("this NuSVC has no multipliers: every entry of dual_coef_ is 0")
    rho = nu * float(pair.weights.sum()) / total
    scaled = replace(pair, alpha=rho * pair.alpha, intercept=rho * pair.intercept)
    multipliers = {**_classifier(problem, scaled, rho), "total": np.array([-rho])}
    named = (
        f"NuSVC solves the nu-support vector machine with nu = {nu:g} for the kernel {_kernel_words(base)}, stated by "
        f"its dual; in units of margin one it is a soft margin with C = {1 / rho:.6g}"
    )
    remarks = multiplier_remarks(scaled, pair.weights, "their bound")
    return Claim(
        problem,
        named,
        scaled.alpha,
        multipliers,
        "of the decision function",
        pair.subject,
        by_dual=True,
        usual=0.0,
        allowed=_allowed(fit, pair.weights),
        remarks=remarks,
        findings=(*fit.stopped(), *pair.findings),
    )


def _allowed(fit: Fit, bound: Array) -> float:
    """The gap that libsvm's stopping rule leaves: optimality of every multiplier to tol costs at most tol times its
    bound; twice that, for what rounding and shrinking add."""
    return 2.0 * fit.tolerance * float(bound.sum())


def nu_problem(base: KernelSVM, nu: float) -> Problem:
    """The dual of the nu-support vector machine from the blocks of the soft margin with C = 1."""
    weights = next(c.rhs for c in base.constraints if c.name == "slack")
    ones = {"margin": ConstantRows(base.data.n).T}
    # the optimum is 0 where nu is too large for a margin: a fraction of what single samples cost counts as one
    unit = ROUNDING_ROOM * nu * float(weights @ base.quadratic["margin"].diagonal())
    total = Constraint(
        "total", ones, r"\rho", "scalar", {"margin": Label("", "")}, nu * float(weights.sum()), relation="=="
    )
    return Problem(
        "nu support vector machine",
        base.variables,
        quadratic=base.quadratic,
        constraints=[*base.constraints, total],
        sense="max",
        unit=unit,
        quadratic_symbol="Q",
        attributes={"data": base.data},
    )


def kernel_options(fit: Fit) -> dict[str, Any]:
    """The kernel with its parameters, gamma as the number that the fit worked out."""
    kernel = fit.options["kernel"]
    out: dict[str, Any] = {"kernel": kernel}
    if kernel in ("poly", "rbf", "sigmoid"):
        out["gamma"] = float(fit.value("_gamma"))
    if kernel in ("poly", "sigmoid"):
        out["coef0"] = float(fit.options["coef0"])
    if kernel == "poly":
        out["degree"] = fit.options["degree"]
    return out


def _kernel_words(problem: KernelSVM) -> str:
    return f"{problem.kernel.name}, k(x, z) = {problem.kernel.formula}"


def _classifier(problem: Problem, pair: Pair, height: float) -> dict[str, Array]:
    """The decision function as multipliers: the intercept, the slacks below the margin ``height``, the room above."""
    margins = problem.quadratic["margin"] @ pair.alpha + pair.signs * pair.intercept
    short = height - margins
    return {
        "intercept": np.array([pair.intercept]),
        "slack": np.maximum(short, 0.0),
        "margin_sign": np.maximum(-short, 0.0),
    }


def multiplier_remarks(pair: Pair, bound: Array, called: str) -> tuple[str, ...]:
    """What is wrong with the multipliers: above their bound, below 0, or not balanced between the classes."""
    alpha, size = pair.alpha, float(np.abs(pair.alpha).max(initial=0.0))
    count = int(np.count_nonzero(alpha))
    out = []
    if above := int(np.sum(alpha > bound * (1 + ROUNDING))):
        out.append(f"{above} of {count} multipliers exceed {called}{_samples(alpha - bound)}")
    if below := int(np.sum(alpha < -ROUNDING * size)):
        out.append(f"{below} of {count} multipliers are negative{_samples(-alpha)}")
    left = float(pair.signs @ alpha)
    if abs(left) > 1e-6 * float(np.abs(alpha).sum()):
        out.append(f"the multipliers of the two classes differ in sum by {left:.2g}, they must balance")
    return tuple(out)


def _samples(excess: Array) -> str:
    """The samples with the largest excess."""
    worst = np.argsort(-excess, kind="stable")[:3]
    shown = ", ".join(str(i) for i in worst if excess[i] > 0)
    return f" (sample{'s' if ',' in shown else ''} {shown})"
