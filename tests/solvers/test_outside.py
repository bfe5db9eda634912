"""Solvers and models from outside: objects, classes, functions, addresses, and a package that brings one of each."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from datasets import SEPARABLE, overlapping

import convexcls as cc
from convexcls.problem.values import gradient
from convexcls.solvers import Answer, Solver, SolverRefused

RIDGE = cc.LogisticMLE(*overlapping(40, 2, seed=3), l2=1.0)
HARD = cc.HardMarginSVM(*SEPARABLE)


class Descent(Solver):
    """Steps of one length, written as a stranger would: no dataclass."""

    name = "descent"

    def __init__(self, step=0.05, steps=3000):
        self.step, self.steps = step, steps

    def refuses(self, problem):
        return "it has no place for constraints" if problem.is_constrained else ""

    def solve(self, problem, tol, callback=None):
        x = np.zeros(problem.size)
        for _ in range(self.steps):
            x = x - self.step * gradient(problem, x)
        return Answer(x, message="all steps taken")


# ---- objects and classes -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("given", [Descent, Descent(), Descent(step=0.02)])
def test_a_solver_of_ones_own_is_solved_with_and_judged(given):
    s = RIDGE.solve(given)
    assert (s.solver, s.status, s.message) == ("descent", "optimal", "all steps taken")
    assert RIDGE.solve(Descent(steps=2)).status == "undecided"


def test_it_is_compared_beside_others():
    table = cc.compare(RIDGE, ["auto", Descent(), "newton"])
    assert [row.solver for row in table.rows] == ["newton", "descent", "newton"]
    assert {row.status for row in table.rows} == {"optimal"}


def test_what_it_refuses_is_said_with_its_reason():
    with pytest.raises(SolverRefused, match="'descent' does not take the hard-margin SVM: it has no place for"):
        HARD.solve(Descent)


def test_its_own_exception_is_the_developers_to_see():
    class Broken(Descent):
        def solve(self, problem, tol, callback=None):
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        RIDGE.solve(Broken)


class Nameless(Descent):
    name = ""


class Unfinished(Solver):
    name = "unfinished"

    def refuses(self, problem):
        return ""


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (3, "is no solver, but a int: give a name, a class derived from"),
        (dict, "is no solver, but the class dict"),
        (Nameless, "has no name"),
        (Unfinished, "has no solve"),
        (Solver, "has no"),
    ],
)
def test_what_is_no_solver_is_told_how_to_become_one(given, words):
    with pytest.raises(TypeError, match=words):
        RIDGE.solve(given)


def test_options_go_to_an_object_over_its_own():
    from convexcls.solvers.smooth.gradient import GradientSolver

    assert RIDGE.solve(GradientSolver(max_iter=7)).iterations == RIDGE.solve("gradient", max_iter=7).iterations
    assert (
        RIDGE.solve(GradientSolver(max_iter=7), max_iter=9).iterations > RIDGE.solve("gradient", max_iter=7).iterations
    )
    with pytest.raises(TypeError, match="has no option 'steps'"):
        RIDGE.solve(Descent(), steps=2)


# ---- functions ---------------------------------------------------------------------------------------------------


def active_set(P, q, A, b, G, h, *, rounds=30):
    """Equations of guessed active rows until nothing is wrong: enough for a few points."""
    active = np.ones(len(h), dtype=bool)
    for _ in range(rounds):
        rows = np.vstack([A, G[active]])
        zero = np.zeros((len(rows), len(rows)))
        system = np.block([[P, rows.T], [rows, zero]])
        found = np.linalg.lstsq(system, np.concatenate([-q, b, h[active]]), rcond=None)[0]
        x, multipliers = found[: len(q)], np.zeros(len(h))
        multipliers[active] = found[len(q) + len(b) :]
        wrong = (multipliers < -1e-12) | (~active & (G @ x > h + 1e-12))
        if not wrong.any():
            return x, (found[len(q) : len(q) + len(b)], multipliers)
        active[np.argmax(wrong)] ^= True
    return None, "gave up"


def test_a_function_of_matrices_becomes_a_solver():
    solver = cc.solver(active_set)
    problem = cc.HardMarginSVM([[0.0, 0.0], [3.0, 4.0]], [0, 1])
    s = problem.solve(solver)
    assert (s.solver, s.status) == ("active_set", "optimal")
    assert s.multipliers["margin"] == pytest.approx([0.08, 0.08])
    assert problem.solve(solver, rounds=5).status == "optimal"
    given_up = problem.solve(solver, rounds=0)
    assert (given_up.status, given_up.message) == ("undecided", "gave up")
    with pytest.raises(TypeError, match=r"has no option 'round'.*did you mean 'rounds'"):
        problem.solve(solver, round=1)
    with pytest.raises(SolverRefused, match="quadratic programs"):
        RIDGE.solve(solver)


def test_equations_come_apart_from_inequalities():
    """Fisher's direction has one equation and terms: the way back drops what stands for these."""
    problem = cc.FisherLDA([[0.0, 0.0], [2.0, 1.0], [3.0, 0.0], [5.0, 2.0]], [0, 0, 1, 1])
    s = problem.solve(cc.solver(active_set))
    assert s.status == "optimal"
    assert s.coef == pytest.approx(problem.solve().coef)


def test_a_function_of_sparse_matrices_and_one_of_linear_programs():
    from scipy import sparse
    from scipy.optimize import linprog

    seen = []

    @cc.solver(accepts="lp", name="simplex", sparse=True)
    def simplex(q, A, b, G, h):
        seen.append(sparse.issparse(G))
        found = linprog(q, A_ub=G, b_ub=h, A_eq=A, b_eq=b, bounds=(None, None))
        return found.x, np.concatenate([-found.eqlin.marginals, -found.ineqlin.marginals])

    s = cc.LeastAbsolute([[0.0], [1.0], [2.0]], [0, 0, 1]).solve(simplex)
    assert (s.solver, s.status, seen) == ("simplex", "optimal", [True])
    with pytest.raises(SolverRefused, match="linear programs"):
        HARD.solve(simplex)


def test_a_function_may_return_anything_and_only_what_is_proved_counts():
    for returned in (None, (None, None), (np.zeros(99), None), ("x", "y"), (np.zeros(2), [1.0]), np.nan):
        try:
            assert HARD.solve(cc.solver(lambda *_, r=returned: r, name="odd")).status in ("undecided", "infeasible")
        except ValueError:  # text is no vector: its developer sees that
            assert returned == ("x", "y")


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"function": active_set, "accepts": "sdp"}, ValueError, "accepts is 'sdp'"),
        ({"function": 3}, TypeError, "cannot be called"),
        ({"function": lambda *_: None}, ValueError, "needs one"),
    ],
)
def test_what_cannot_become_a_solver_says_why(arguments, error, words):
    with pytest.raises(error, match=words):
        cc.solver(**arguments)


# ---- names -------------------------------------------------------------------------------------------------------


def test_the_module_is_to_import_from_and_the_old_call_still_lists():
    import convexcls.solvers as cs

    assert cs is cc.solvers
    assert cs.Solver is Solver
    with pytest.warns(DeprecationWarning, match="list_solvers"):
        assert cc.solvers() == cc.list_solvers()


def test_an_address_is_a_name():
    s = RIDGE.solve("convexcls.solvers.smooth.newton:NewtonSolver")
    assert (s.solver, s.status) == ("newton", "optimal")
    for address, words in {
        "nosuch.module:X": "cannot be imported",
        "convexcls:NoSuch": "there is no 'NoSuch' in the module 'convexcls'",
    }.items():
        with pytest.raises(ValueError, match=words):
            RIDGE.solve(address)
    with pytest.raises(TypeError, match="is no solver"):
        RIDGE.solve("convexcls:compare")


# ---- a package of somebody else's --------------------------------------------------------------------------------

SOLVER = '''
from dataclasses import dataclass
from typing import ClassVar
import numpy as np
from convexcls.problem.values import gradient
from convexcls.solvers import Answer, Solver, Tracer

@dataclass(frozen=True)
class Steps(Solver):
    """Steps of one length."""
    name: ClassVar[str] = "steps"
    accepts: ClassVar[str] = "ridge likelihoods"
    promise: ClassVar[float] = 1e-6
    step: float = 0.05
    steps: int = 3000

    def refuses(self, problem):
        return "" if getattr(problem, "kind", "") == "logistic" else "it is no likelihood"

    def solve(self, problem, tol, callback=None):
        x, tracer = np.zeros(problem.size), Tracer(callback)
        for _ in range(self.steps):
            x = x - self.step * gradient(problem, x)
        return Answer(x, {}, "done", self.steps)
'''
MODEL = '''
from convexcls.data import check_data
from convexcls.losses import PiecewiseLinear
from convexcls.models.base import Model
from convexcls.models.risk import risk_blocks

class TiltedClassifier(Model):
    """Tilted absolute loss."""
    kind = "tilted"

    def __init__(self, X, y, *, tau: float = 0.5, intercept: bool = True) -> None:
        data = check_data(X, y)
        blocks = risk_blocks(PiecewiseLinear(((-tau, 0.0), (1.0 - tau, 0.0))), data, intercept, data.weights,
                             target=data.target, name="residual")
        super().__init__(data=data, parameters={"tau": tau, "intercept": intercept}, name="tilted", unit=1.0, **blocks)
'''
ENTRY_POINTS = """
[convexcls.solvers]
steps = brought_along.solver:Steps
gone = brought_along.nosuch:Gone

[convexcls.models]
tilted = brought_along.model:TiltedClassifier
"""
DATA = "a,b,label\n0,1,0\n1,0.5,1\n2,0,0\n3,2,1\n0.5,0.2,0\n2.5,1,1\n"


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """A folder as pip leaves it: a package with its metadata."""
    folder = tmp_path_factory.mktemp("site")
    package, metadata = folder / "brought_along", folder / "brought_along-1.0.dist-info"
    for path in (package, metadata):
        path.mkdir()
    (package / "__init__.py").write_text("")
    (package / "solver.py").write_text(SOLVER)
    (package / "model.py").write_text(MODEL)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: brought-along\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(ENTRY_POINTS)
    (folder / "data.csv").write_text(DATA)
    (folder / "mine.py").write_text(SOLVER.replace('"steps"', '"mine"'))
    return folder


def run(site: Path, *command: str, path: bool = True) -> subprocess.CompletedProcess:
    import os

    root = str(Path(cc.__file__).resolve().parents[1])
    paths = [root, str(site)] if path else [root]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    return subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, cwd=site, check=False, env=environment
    )


IN_PYTHON = """
import json, warnings
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    import convexcls as cc
    X, y = [[0.0, 1.0], [1.0, 0.5], [2.0, 0.0], [3.0, 2.0], [0.5, 0.2], [2.5, 1.0]], [0, 1, 0, 1, 0, 1]
    ridge = cc.LogisticMLE(X, y, l2=1.0)
    names = [row.solver for row in cc.compare(ridge).rows]
    tilted = cc.TiltedClassifier(X, y, tau=0.3)
    status = [ridge.solve("steps").status, ridge.solve("steps", steps=1).status, tilted.solve().status]
print(json.dumps({"names": names, "status": status, "told": [str(w.message) for w in told]}))
"""


def test_a_package_brings_a_solver_and_a_model(site):
    done = run(site, "-c", IN_PYTHON)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert "steps" in found["names"]
    assert found["status"] == ["optimal", "undecided", "optimal"]
    (told,) = found["told"]
    assert told.startswith("left out: the solver 'gone' of the package 'brought-along' cannot be loaded")


def test_the_command_line_knows_what_packages_bring(site):
    listed = run(site, "-m", "convexcls", "solvers")
    assert "ridge likelihoods" in listed.stdout
    solved = run(site, "-m", "convexcls", "solve", "data.csv", "--model", "tilted", "--param", "tau=0.3", "--json")
    assert solved.returncode == 0, solved.stderr
    assert json.loads(solved.stdout)["status"] == "optimal"


def test_the_command_line_takes_what_stands_in_the_folder(site):
    """Nothing is installed: the module beside the data is named by its address."""
    console = "import sys; sys.path = [p for p in sys.path if p]; from convexcls.cli import main; main()"
    given = ("-c", console, "solve", "data.csv", "--param", "l2=1", "--model", "logistic", "--solver", "mine:Steps")
    solved = run(site, *given, "--option", "step=0.02", "--tol", "1e-6", path=False)
    assert solved.returncode == 0, solved.stderr
    assert "mine" in solved.stdout
    other = run(site, "-c", console, "solve", "data.csv", "--model", "brought_along.model:TiltedClassifier", path=False)
    assert other.returncode == 0, other.stderr
    missing = run(site, "-c", console, "solve", "data.csv", "--model", "logistic", "--solver", "mine:Stops", path=False)
    assert missing.returncode == 2
    assert "there is no 'Stops' in the module 'mine'" in missing.stderr


def test_multipliers_that_are_no_numbers_are_named():
    told = cc.solver(lambda P, q, A, b, G, h: (np.zeros(len(q)), {"margin": 0.0}), accepts="qp", name="told")
    with pytest.raises(ValueError, match=r"solver 'told' returned multipliers that are no numbers \(dict\)"):
        cc.SoftMarginSVM([[0], [1], [2], [3]], [0, 1, 0, 1]).solve(told)
