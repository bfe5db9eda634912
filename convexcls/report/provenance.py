"""Where the report comes from: the command that makes it again, the data's digest, versions."""

from __future__ import annotations

import platform
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version

from convexcls.describe import Fact, Facts, Prose, to_html
from convexcls.describe.html import headed
from convexcls.describe.markup import Html, tag
from convexcls.describe.problem import data_of_problem
from convexcls.models import Model
from convexcls.problem import Problem
from convexcls.proofs.portable.digest import data_digest
from convexcls.solution import Solution

PACKAGES = ("numpy", "scipy", "clarabel", "osqp", "highspy", "cvxpy", "matplotlib", "math-core")
#: The digest of more entries takes longer than the rest of the report.
MOST_ENTRIES = 300_000


def provenance_section(solution: Solution, command: str | None, own_version: str) -> Html:
    """How to make this page again, and with what it was made."""
    made = command or python_command(solution)
    versions = [("convexcls", own_version), ("Python", platform.python_version())]
    versions += [(name, found) for name in PACKAGES if (found := _version(name))]
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    when = Facts((Fact("made on", now), Fact("SHA-256 of the data", _digest(solution.problem))))
    using = Prose("Made with " + ", ".join(f"{name} {found}" for name, found in versions) + ".", "versions")
    return headed("provenance", "How to make this again", tag("pre", tag("code", made)), to_html(when, using))


def python_command(solution: Solution) -> str:
    """The lines of Python that declare and solve the problem again."""
    problem = solution.problem
    solve = f".solve({solution.solver!r}, tol={solution.certificate.tol:g})"
    if not isinstance(problem, Model):
        return f"# problem: {problem.name}\nsolution = problem{solve}\nsolution.report('report.html')"
    given = "".join(f", {name}={_written(value)}" for name, value in problem.declared_with().items())
    weights = ", sample_weight=weights" if problem.data.weighted else ""
    declared = f"cc.{type(problem).__name__}(X, y{given}{weights})"
    return f"import convexcls as cc\n\nsolution = {declared}{solve}\nsolution.report('report.html')"


def _written(value: object) -> str:
    return repr(value) if isinstance(value, (bool, int, float, str, type(None))) else "..."


def _digest(problem: Problem) -> str:
    data = data_of_problem(problem)
    if data is None or (data.matrix.nnz if data.sparse else data.n * data.d) > MOST_ENTRIES:
        return ""
    return data_digest(data)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
