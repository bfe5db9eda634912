"""Which solvers ``auto`` tries, in which order, and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from convexcls.problem import BY_SAMPLE, Problem
from convexcls.solvers import solver_class

#: Up to so many unknowns a working set is tried.
MAX_WORKING_SET_UNKNOWNS = 1000
#: Linear programs with fewer entries go to the simplex method, which ends at a vertex.
MAX_SIMPLEX_ENTRIES = 20_000
#: The same where there are slacks, which an interior point leaves out, and fewer unknowns besides than rows: otherwise
#: there are many solutions, and a vertex is one that can be told.
MAX_SIMPLEX_ENTRIES_WITH_SLACKS = 1_500
#: Up to so many rows and entries the compiled active-set method is the quickest; fewer where more unknowns than there
#: are features may stand between their bounds: those of a kernel machine, and squared slacks.
MAX_SMALL_ROWS, MAX_SMALL_ENTRIES, MAX_SMALL_KERNEL_ROWS, MAX_SMALL_SQUARED_ROWS = 1000, 60_000, 500, 200
#: Rows with more entries, sparse or wide, are solved in passes over these, and not by solvers of other people.
MIN_ENTRIES_FOR_PASSES = 5_000
#: Sparse: so small a share of the entries, and more unknowns besides slacks than dense systems are made of at ease.
SPARSE_SHARE, MIN_SPARSE_UNKNOWNS = 0.1, 200
#: Wide: more unknowns besides slacks than rows, or than dense systems are made of at all.
MIN_WIDE_UNKNOWNS = 2_500


@dataclass(frozen=True)
class Choice:
    """A solver and the reason to try it."""

    solver: str
    why: str


def choices(problem: Problem, started: bool = False) -> Iterator[Choice]:
    """The solvers in the order in which ``auto`` tries them, until an answer is proved; those that do not take the
    problem are passed over. A formula first, then what works on the structure, then what takes any problem. Where a
    solver can be ``started`` near the solution, that is quicker than what always begins anew."""
    yield from _formulas(problem)
    if not started:
        yield from _small(problem)
    yield from (passes := _passes(problem))
    yield from _structured(problem)
    yield from _general(foreign=not passes)


def _formulas(problem: Problem) -> list[Choice]:
    unknowns = f"{problem.size} unknowns"
    quadratic = "the objective is quadratic without constraints"
    out = []
    if problem.is_quadratic_program:
        out.append(Choice("closed-form", f"{quadratic}: one linear system of {unknowns}"))
    if any(t.loss.name == "log-det" for t in problem.terms):
        out.append(Choice("moments", "the estimates are the moments of the classes: a formula"))
    if problem.terms or not problem.is_constrained:
        out += [
            Choice("newton", f"smooth losses without constraints, {unknowns}: Newton's method converges quadratically"),
            Choice("newton-kkt", "smooth losses with constraints: Newton's method on the KKT system"),
        ]
    return out


def _small(problem: Problem) -> list[Choice]:
    """The compiled active-set method, where samples are few and it takes the problem."""
    rows = _rows(problem)
    if problem.terms or problem.norm_bounds or not problem.quadratic or not 0 < rows <= MAX_SMALL_ROWS:
        return []
    largest = MAX_SMALL_KERNEL_ROWS if problem.matrices else MAX_SMALL_ENTRIES // max(_kept(problem), 1)
    if any(v.kind in BY_SAMPLE and v.name in problem.diagonals for v in problem.variables):
        largest = MAX_SMALL_SQUARED_ROWS
    if rows > largest:
        return []
    from convexcls.solvers.dual.active_set import ActiveSetSolver

    if not ActiveSetSolver.is_worth_compiling():
        return []
    return [Choice("active-set", f"{rows} samples: one unknown of the dual at a time, compiled")]


def _passes(problem: Problem) -> list[Choice]:
    """Coordinate descent, where rows are many entries and sparse or wide, and it takes the problem."""
    rows, kept = _rows(problem), _kept(problem)
    entries = sum(problem.rows(c).entries for c in problem.constraints) - _slack_entries(problem)
    wide = kept > rows or kept > MIN_WIDE_UNKNOWNS
    thin = kept > MIN_SPARSE_UNKNOWNS and entries <= SPARSE_SHARE * rows * kept
    if entries <= MIN_ENTRIES_FOR_PASSES or not (wide or thin):
        return []
    if solver_class("coordinate-descent")().refuses(problem):
        return []
    return [Choice("coordinate-descent", f"{kept} unknowns and {rows} rows with {entries} entries: passes over these")]


def _rows(problem: Problem) -> int:
    return max((c.size for c in problem.constraints), default=0)


def _kept(problem: Problem) -> int:
    """The number of unknowns besides slacks."""
    return sum(v.size for v in problem.variables if v.kind not in BY_SAMPLE)


def _slack_entries(problem: Problem) -> int:
    slacks = {v.name for v in problem.variables if v.kind in BY_SAMPLE}
    return sum(rows.entries for c in problem.constraints for v, rows in c.entries.items() if v in slacks)


def _structured(problem: Problem) -> list[Choice]:
    out = []
    if problem.matrices:
        out.append(Choice("smo", "a kernel matrix, bounds and at most one equation: two multipliers at a time"))
    if any(p.root is not None for p in problem.matrices.values()):
        out.append(Choice("dual:interior-point", "a linear kernel: its dual has one unknown a feature"))
    rows, kept = _rows(problem), _kept(problem)
    slacks = any(v.kind in BY_SAMPLE for v in problem.variables)
    if problem.size <= MAX_WORKING_SET_UNKNOWNS and not slacks:
        out.append(Choice("working-set", f"{problem.size} unknowns and {rows} rows: few of the rows can be active"))
    why = f"a slack for each of the {rows} rows: without them {kept} unknowns are left"
    inner = Choice("interior-point", why if slacks else f"a program of {problem.size} unknowns with structured rows")
    if not problem.is_linear_program:
        return [*out, inner]
    simplex = Choice("highs", "a linear program: the simplex method ends at a vertex")
    largest = MAX_SIMPLEX_ENTRIES_WITH_SLACKS if slacks and kept < rows else MAX_SIMPLEX_ENTRIES
    small = sum(problem.rows(c).entries for c in problem.constraints) <= largest
    return [*out, *((simplex, inner) if small else (inner, simplex))]


def _general(foreign: bool) -> list[Choice]:
    own = [Choice("rational", "a small quadratic program that doubles do not decide: pivots in rationals")]
    if not foreign:
        return own
    return [
        *own,
        Choice("clarabel", "a conic program: an interior point takes any of them"),
        Choice("dual:clarabel", "its dual may be better conditioned than the problem"),
        Choice("cvxpy:CLARABEL", "the last resort: cvxpy states every loss as cones"),
    ]
