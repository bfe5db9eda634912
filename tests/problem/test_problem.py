"""Problems of a user's own, built from named blocks without any model, and their duals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import FrozenInstanceError, dataclass

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse

import convexcls as cc
from convexcls import Constraint, NormBound, Problem, ProblemError, Term, Variable
from convexcls.losses import Exponential, HalfSquare, Hinge, Logistic, Squared
from convexcls.rows import ConstantRows, DiagonalRows

RNG = np.random.default_rng(7)
WIDE, SIDE = RNG.standard_normal((2, 4)), RNG.standard_normal(2)
TALL = RNG.standard_normal((12, 3)) + np.array([0.0, 0.0, 0.5])
HEIGHT = np.arange(12.0) / 6
COST = np.array([1.0, -1.0, 0.5])
POINT = np.array([3.0, -1.0, 2.0])
ROOT = RNG.standard_normal((3, 3))
FULL = ROOT @ ROOT.T + 0.1 * np.eye(3)
FLAT = ROOT[:, :2] @ ROOT[:, :2].T
ONES = np.ones((1, 3))
WEIGHTS = np.linspace(0.0, 2.0, 12)
TURNED = np.array([1.0, -2.0, 3.0])
SHIFT = np.array([0.1, 0.2, -0.3])


def var(name: str, size: int) -> Variable:
    return Variable(name, size, name)


def identity(size: int, value: float = 1.0) -> DiagonalRows:
    return DiagonalRows.identity(size, value)


def box(low, high) -> list[Constraint]:
    """low <= x <= high for x of size 3."""
    return [
        Constraint("above", {"x": identity(3)}, rhs=high),
        Constraint("below", {"x": identity(3, -1.0)}, rhs=-np.asarray(low, dtype=float)),
    ]


def form(*, x: int = 3, **parts) -> Problem:
    return Problem("own", [var("x", x)], **parts)


# ---- a gallery: every shape of P, every kind of constraint, each with a statement by hand ----------------------


@dataclass
class Case:
    """A problem in the one form, and the same by hand: in cvxpy or as its known solution."""

    build: Callable[[], Problem]
    by_hand: Callable[[cp.Variable], tuple] | None = None
    solution: Callable[[], np.ndarray] | None = None
    x: int = 3


def _loss(z):
    return cp.sum(cp.logistic(-z))


GALLERY = {
    "least norm": Case(
        lambda: form(x=4, quadratic={"x": 1.0}, constraints=[Constraint("fit", {"x": WIDE}, rhs=SIDE, relation="==")]),
        solution=lambda: np.linalg.pinv(WIDE) @ SIDE,
    ),
    "diagonal P, half-spaces": Case(
        lambda: form(
            quadratic={"x": [1.0, 2.0, 3.0]}, linear={"x": COST}, constraints=[Constraint("c", {"x": TALL}, rhs=0.3)]
        ),
        by_hand=lambda x: (0.5 * cp.sum(cp.multiply([1, 2, 3], x**2)) + COST @ x, [TALL @ x <= 0.3]),
    ),
    "diagonal P with a zero, box": Case(
        lambda: form(
            quadratic={"x": [2.0, 0.0, 1.0]},
            linear={"x": COST},
            constraints=[*box(-1.0, 2.0), Constraint("c", {"x": ONES}, rhs=1.0)],
        ),
        by_hand=lambda x: (x[0] ** 2 + x[2] ** 2 / 2 + COST @ x, [x >= -1, x <= 2, cp.sum(x) <= 1]),
    ),
    "diagonal P with a zero, equalities": Case(
        lambda: form(
            quadratic={"x": [2.0, 0.0, 1.0]},
            linear={"x": COST},
            constraints=[Constraint("c", {"x": [[1, 1, 1], [0, 1, -1]]}, rhs=[1.0, 0.5], relation="==")],
        ),
        by_hand=lambda x: (x[0] ** 2 + x[2] ** 2 / 2 + COST @ x, [cp.sum(x) == 1, x[1] - x[2] == 0.5]),
    ),
    "matrix P, equality and half-spaces": Case(
        lambda: form(
            quadratic={"x": FULL},
            linear={"x": COST},
            constraints=[
                Constraint("sum", {"x": ONES}, rhs=1.0, relation="=="),
                Constraint("c", {"x": TALL}, rhs=1.5),
            ],
        ),
        by_hand=lambda x: (0.5 * cp.quad_form(x, FULL) + COST @ x, [cp.sum(x) == 1, TALL @ x <= 1.5]),
    ),
    "sparse P, equality": Case(
        lambda: form(
            quadratic={"x": sparse.csr_array(FULL)},
            linear={"x": COST},
            constraints=[Constraint("sum", {"x": sparse.csc_array(ONES)}, rhs=1.0, relation="==")],
        ),
        solution=lambda: np.linalg.solve(np.block([[FULL, ONES.T], [ONES, np.zeros((1, 1))]]), [*-COST, 1.0])[:3],
    ),
    "singular P, box": Case(
        lambda: form(quadratic={"x": FLAT}, linear={"x": COST}, constraints=box([-1, -1, -1], [2, 2, 2])),
        by_hand=lambda x: (0.5 * cp.sum_squares(ROOT[:, :2].T @ x) + COST @ x, [x >= -1, x <= 2]),
    ),
    "matrix P, free": Case(
        lambda: form(quadratic={"x": FULL}, linear={"x": COST}), solution=lambda: -np.linalg.solve(FULL, COST)
    ),
    "diagonal P, free, with a constant": Case(
        lambda: form(quadratic={"x": 2.0}, linear={"x": COST}, constant=4.0), solution=lambda: -COST / 2
    ),
    "linear program in a box": Case(
        lambda: form(
            linear={"x": COST}, constraints=[*box([-1, -2, -3], [2, 1, 5]), Constraint("c", {"x": ONES}, rhs=0.7)]
        ),
        solution=lambda: np.array([-1.0, 1.0, -3.0]),
    ),
    "linear program in standard form": Case(
        lambda: form(
            x=4,
            linear={"x": [1.0, 2.0, 0.5, 1.5]},
            constraints=[
                Constraint("fit", {"x": np.abs(WIDE)}, rhs=[1.0, 2.0], relation="=="),
                Constraint("sign", {"x": identity(4, -1.0)}),
            ],
        ),
        by_hand=lambda x: (np.array([1, 2, 0.5, 1.5]) @ x, [np.abs(WIDE) @ x == [1, 2], x >= 0]),
        x=4,
    ),
    "projection on a ball": Case(
        lambda: form(
            quadratic={"x": 1.0},
            linear={"x": -POINT},
            norm_bounds=[NormBound("ball", {"x": identity(3)}, bound=1.0)],
        ),
        solution=lambda: POINT / np.linalg.norm(POINT),
    ),
    "linear on a ball, maximised": Case(
        lambda: form(linear={"x": -POINT}, norm_bounds=[NormBound("ball", {"x": identity(3)}, bound=2.0)], sense="max"),
        solution=lambda: 2.0 * POINT / np.linalg.norm(POINT),
    ),
    "norm of a residual": Case(
        lambda: Problem(
            "own",
            [var("x", 3), var("t", 1)],
            linear={"t": 1.0},
            norm_bounds=[NormBound("fit", {"x": TALL}, offset=-HEIGHT, bound_entries={"t": identity(1)})],
        ),
        by_hand=lambda x: (cp.norm(TALL @ x - HEIGHT), []),
    ),
    "an ellipsoid cut by a plane": Case(
        lambda: form(
            linear={"x": -POINT},
            constraints=[Constraint("sum", {"x": ONES}, rhs=0.5, relation="==")],
            norm_bounds=[NormBound("ball", {"x": DiagonalRows(TURNED)}, offset=SHIFT, bound=2.0)],
        ),
        by_hand=lambda x: (-POINT @ x, [cp.sum(x) == 0.5, cp.norm(cp.multiply(TURNED, x) + SHIFT) <= 2]),
    ),
    "an ellipsoid and half-spaces": Case(
        lambda: form(
            linear={"x": -POINT},
            constraints=[Constraint("c", {"x": TALL}, rhs=2.0)],
            norm_bounds=[NormBound("ball", {"x": DiagonalRows(TURNED)}, offset=SHIFT, bound=2.0)],
        ),
        by_hand=lambda x: (-POINT @ x, [TALL @ x <= 2.0, cp.norm(cp.multiply(TURNED, x) + SHIFT) <= 2]),
    ),
    "logistic term, equality": Case(
        lambda: form(
            quadratic={"x": 0.5},
            terms=[Term("fit", {"x": TALL}, loss=Logistic(), offset=0.3)],
            constraints=[Constraint("sum", {"x": ONES}, rhs=1.0, relation="==")],
        ),
        by_hand=lambda x: (0.25 * cp.sum_squares(x) + _loss(TALL @ x + 0.3), [cp.sum(x) == 1]),
    ),
    "exponential term, a weight of zero": Case(
        lambda: form(
            terms=[Term("fit", {"x": np.vstack([TALL, -TALL])}, loss=Exponential(), weights=[0.0] + [1.0] * 23)]
        ),
        by_hand=lambda x: (cp.sum(cp.exp(-(np.vstack([TALL, -TALL])[1:] @ x))), []),
    ),
    "squared term": Case(
        lambda: form(terms=[Term("fit", {"x": TALL}, loss=Squared(), weights=1.0 + WEIGHTS)]),
        solution=lambda: np.linalg.lstsq(TALL * np.sqrt(1 + WEIGHTS)[:, None], np.sqrt(1 + WEIGHTS), rcond=None)[0],
    ),
    "least squares with signs": Case(
        lambda: form(
            terms=[Term("fit", {"x": TALL}, offset=-HEIGHT)],
            constraints=[Constraint("sign", {"x": identity(3, -1.0)})],
        ),
        by_hand=lambda x: (0.5 * cp.sum_squares(TALL @ x - HEIGHT), [x >= 0]),
    ),
    "a term over two variables": Case(
        lambda: Problem(
            "own",
            [var("x", 3), var("z", 1)],
            quadratic={"x": FULL},
            linear={"z": 0.1},
            terms=[Term("fit", {"x": TALL, "z": ConstantRows(12)}, loss=Logistic(), weights=WEIGHTS)],
            constraints=[Constraint("floor", {"z": identity(1, -1.0)}, rhs=3.0)],
        ),
        by_hand=lambda x: (
            0.5 * cp.quad_form(x, FULL) + 0.1 * (z := cp.Variable()) + WEIGHTS @ cp.logistic(-(TALL @ x + z)),
            [z >= -3],
        ),
    ),
    "losses of single coordinates": Case(
        lambda: form(
            linear={"x": [0.1, -0.3, 0.2]},
            terms=[Term("fit", {"x": DiagonalRows(TURNED)}, loss=Logistic(), weights=[1.0, 2.0, 3.0], offset=SHIFT)],
            constraints=[Constraint("sum", {"x": [[1.0, 2.0, -1.0]]}, rhs=0.3, relation="==")],
        ),
        by_hand=lambda x: (
            np.array([0.1, -0.3, 0.2]) @ x + np.array([1, 2, 3]) @ cp.logistic(-(cp.multiply(TURNED, x) + SHIFT)),
            [x[0] + 2 * x[1] - x[2] == 0.3],
        ),
    ),
    "largest residual": Case(
        lambda: Problem(
            "own",
            [var("x", 3), var("t", 1)],
            linear={"t": 1.0},
            constraints=[
                Constraint("above", {"x": TALL, "t": -np.ones(12)}, rhs=HEIGHT),
                Constraint("below", {"x": -TALL, "t": -np.ones(12)}, rhs=-HEIGHT),
            ],
        ),
        by_hand=lambda x: (cp.norm_inf(TALL @ x - HEIGHT), []),
    ),
    "squares of single coordinates": Case(
        lambda: form(
            terms=[Term("near", {"x": identity(3)}, offset=-POINT)], constraints=[Constraint("c", {"x": ONES}, rhs=1.0)]
        ),
        solution=lambda: POINT - 1.0,
    ),
}


@pytest.fixture(params=GALLERY.values(), ids=GALLERY, scope="module")
def case(request):
    return request.param


def test_the_problem_is_the_one_stated_by_hand(case):
    p = case.build()
    s = p.solve()
    assert s.status == "optimal"
    if case.solution is not None:
        np.testing.assert_allclose(s.values["x"], case.solution(), rtol=1e-7, atol=1e-7)
        return
    x = cp.Variable(case.x)
    goal, rules = case.by_hand(x)
    stated = cp.Problem(cp.Minimize(goal), rules)
    stated.solve(solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    assert s.objective == pytest.approx(stated.value, rel=1e-7, abs=1e-7)
    np.testing.assert_allclose(s.values["x"], x.value, rtol=1e-4, atol=1e-4)


def test_strong_duality_and_the_way_back(case):
    p = case.build()
    d = p.dual()
    assert d.primal is p
    assert {d.sense, p.sense} == {"min", "max"}
    s, t = p.solve(), d.solve()
    assert (s.status, t.status) == ("optimal", "optimal")
    assert t.objective == pytest.approx(s.objective, rel=1e-7, abs=1e-7)
    x, multipliers = d.recover(t.x, t.multipliers)
    np.testing.assert_allclose(x, s.x, rtol=1e-7, atol=1e-7)
    assert p.objective(x) == pytest.approx(s.objective, rel=1e-7, abs=1e-7)
    assert set(multipliers) == set(s.multipliers)
    back = t.primal()
    assert back.problem is p
    assert back.status == "optimal"
    assert back.objective == pytest.approx(s.objective, rel=1e-7, abs=1e-7)


def test_weak_duality_at_other_multipliers(case):
    """Every feasible point of the dual bounds the primal's optimum, not only the best one."""
    p = case.build()
    d = p.dual()
    sign = 1.0 if p.sense == "min" else -1.0
    optimum, best = sign * p.solve().objective, d.solve().x
    rng = np.random.default_rng(0)
    tilted = {  # the costs of the multipliers; of a copy of x only its own will do
        v.name: d.q[d.layout[v.name]] + 0.05 * rng.uniform(-1, 1, v.size)
        for v in d.variables
        if not v.name.endswith("_copy")
    }
    other = Problem(
        "tilted",
        d.variables,
        quadratic=d.quadratic,
        linear=tilted,
        terms=d.terms,
        constraints=d.constraints,
        norm_bounds=d.norm_bounds,
    ).solve()
    assert other.status == "optimal"
    for share in (0.1, 0.5, 1.0):
        point = (1 - share) * best + share * other.x
        assert sign * d.objective(point) <= optimum + 1e-8 * (1 + abs(optimum))


def test_the_dual_of_the_dual_has_the_same_optimum(case):
    p = case.build()
    twice = p.dual().dual()
    assert twice.sense == p.sense
    s, t = p.solve(), twice.solve()
    assert t.status == "optimal"
    assert t.objective == pytest.approx(s.objective, rel=1e-7, abs=1e-7)


def test_a_square_of_the_coordinates_beside_a_singular_diagonal():
    p = form(
        quadratic={"x": [1.0, 0.0, 2.0]},
        terms=[Term("near", {"x": identity(3)}, offset=-POINT)],
        constraints=[Constraint("c", {"x": ONES}, rhs=1.0)],
    )
    assert p.dual().solve().objective == pytest.approx(p.solve().objective)
    assert p.dual().dual().solve().objective == pytest.approx(p.solve().objective)


def test_a_norm_bound_that_does_not_bind():
    p = form(
        linear={"x": -POINT},
        constraints=box([-0.5, -0.5, -0.5], [0.1, 0.2, 0.3]),
        norm_bounds=[NormBound("ball", {"x": DiagonalRows(TURNED)}, offset=SHIFT, bound=5.0)],
    )
    assert p.solve().objective == pytest.approx(-1.4)
    assert p.dual().solve().status == "optimal"
    assert p.dual().solve().objective == pytest.approx(-1.4)


def test_what_became_of_each_variable():
    how = {name: [step.how for step in GALLERY[name].build().dual().steps] for name in GALLERY}
    assert how["least norm"] == ["substituted"]
    assert how["diagonal P with a zero, box"] == ["kept"]
    assert how["matrix P, free"] == ["kept"]
    assert how["linear program in a box"] == ["eliminated"]
    assert how["linear program in standard form"] == ["eliminated"]
    assert how["largest residual"] == ["equality", "equality"]
    dual = GALLERY["linear program in standard form"].build().dual()
    assert [v.name for v in dual.variables] == ["fit"]  # y free with A'y <= c: nothing else is left
    assert [(c.name, c.relation) for c in dual.constraints] == [("x", "<=")]


# ---- objectives by hand ----------------------------------------------------------------------------------------


def test_the_objective_is_the_sum_of_its_parts():
    rng = np.random.default_rng(1)
    p = Problem(
        "own",
        [var("x", 3), var("z", 2)],
        quadratic={"x": FULL, "z": [1.0, 0.0]},
        linear={"x": COST, "z": 2.0},
        terms=[
            Term("a", {"x": TALL, "z": np.ones((12, 2))}, loss=Logistic(), offset=HEIGHT, weights=WEIGHTS),
            Term("b", {"z": identity(2)}, weights=3.0),
        ],
        constant=-1.5,
    )
    for _ in range(5):
        x, z = rng.standard_normal(3), rng.standard_normal(2)
        by_hand = (
            0.5 * x @ FULL @ x
            + 0.5 * z[0] ** 2
            + COST @ x
            + 2 * z.sum()
            + WEIGHTS @ np.log1p(np.exp(-(TALL @ x + z.sum() + HEIGHT)))
            + 1.5 * z @ z
            - 1.5
        )
        point = np.concatenate([x, z])
        assert p.objective(point) == pytest.approx(by_hand, rel=1e-13)
        assert np.array_equal(p.split(point)["z"], z)
        np.testing.assert_allclose(p.apply_quadratic(point), [*(FULL @ x), z[0], 0.0])


def test_a_row_of_weight_zero_may_be_infinite():
    p = form(x=1, terms=[Term("a", {"x": [[1.0], [-1000.0]]}, loss=Exponential(), weights=[1.0, 0.0])])
    assert p.objective(np.array([1.0])) == pytest.approx(np.exp(-1.0))


def test_a_maximised_problem_reports_its_maximum():
    p = form(linear={"x": -POINT}, constraints=box(0.0, 1.0), sense="max")
    assert p.reported(-4.0) == 4.0
    assert str(p.reported(0.0)) == "0.0"
    assert p.solve().objective == pytest.approx(5.0)


def test_layout_and_kind_of_problem():
    p = Problem("own", [var("x", 3), var("z", 2)], linear={"z": 1.0}, constraints=[Constraint("c", {"z": identity(2)})])
    assert p.size == 5
    assert p.layout == {"x": slice(0, 3), "z": slice(3, 5)}
    assert np.array_equal(p.q, [0, 0, 0, 1, 1])
    assert np.array_equal(p.rows(p.constraints[0]).to_dense(), np.eye(5)[3:])
    assert p.is_linear_program
    assert p.is_quadratic_program
    assert p.is_constrained
    logistic = form(terms=[Term("a", {"x": TALL}, loss=Logistic())])
    assert not logistic.is_quadratic_program
    assert not logistic.is_constrained
    assert form(terms=[Term("a", {"x": TALL})]).is_quadratic_program
    assert not form(norm_bounds=[NormBound("b", {"x": identity(3)}, bound=1.0)]).is_quadratic_program
    assert "x[3], z[2]" in repr(p)
    assert "c[2]" in repr(p)


# ---- identity --------------------------------------------------------------------------------------------------


def _full(**change) -> Problem:
    parts = {
        "quadratic": {"x": FULL},
        "linear": {"x": COST},
        "terms": [Term("a", {"x": TALL}, loss=Logistic(), offset=HEIGHT, weights=WEIGHTS)],
        "constraints": [Constraint("c", {"x": ONES}, rhs=1.0), Constraint("e", {"x": ONES}, rhs=0.0, relation="==")],
        "norm_bounds": [NormBound("n", {"x": identity(3)}, bound_entries={"x": ONES}, offset=SHIFT, bound=2.0)],
        "constant": 1.0,
        "sense": "min",
    }
    return form(**{**parts, **change})


def test_equal_problems_have_equal_parts_however_they_are_stored():
    assert _full() == _full()
    assert _full(quadratic={"x": sparse.csr_array(FULL)}) == _full()
    assert (
        _full(terms=[Term("a", {"x": sparse.csc_array(TALL)}, loss=Logistic(), offset=HEIGHT, weights=WEIGHTS)])
        == _full()
    )
    assert _full(constraints=_full().constraints[::-1]) == _full()
    with pytest.raises(TypeError, match="unhashable"):
        hash(_full())


DIFFERENT = {
    "quadratic": {"quadratic": {"x": FULL + np.eye(3)}},
    "quadratic missing": {"quadratic": {}},
    "quadratic a diagonal": {"quadratic": {"x": 1.0}},
    "linear": {"linear": {"x": COST + 1e-15}},
    "term's name": {"terms": [Term("b", {"x": TALL}, loss=Logistic(), offset=HEIGHT, weights=WEIGHTS)]},
    "term's rows": {"terms": [Term("a", {"x": -TALL}, loss=Logistic(), offset=HEIGHT, weights=WEIGHTS)]},
    "term's loss": {"terms": [Term("a", {"x": TALL}, loss=HalfSquare(), offset=HEIGHT, weights=WEIGHTS)]},
    "term's offset": {"terms": [Term("a", {"x": TALL}, loss=Logistic(), weights=WEIGHTS)]},
    "term's weights": {"terms": [Term("a", {"x": TALL}, loss=Logistic(), offset=HEIGHT)]},
    "no term": {"terms": []},
    "right-hand side": {"constraints": [Constraint("c", {"x": ONES}, rhs=2.0), _full().constraints[1]]},
    "relation": {"constraints": [Constraint("c", {"x": ONES}, rhs=1.0, relation="=="), _full().constraints[1]]},
    "norm bound": {
        "norm_bounds": [NormBound("n", {"x": identity(3)}, bound_entries={"x": ONES}, offset=SHIFT, bound=3.0)]
    },
    "norm's rows": {
        "norm_bounds": [NormBound("n", {"x": identity(3)}, bound_entries={"x": 2 * ONES}, offset=SHIFT, bound=2.0)]
    },
    "constant": {"constant": 0.0},
    "sense": {"sense": "max"},
}


@pytest.mark.parametrize("change", DIFFERENT.values(), ids=DIFFERENT)
def test_problems_that_differ_are_not_equal(change):
    assert _full(**change) != _full()
    assert _full(**change) == _full(**change)


def test_a_problem_is_not_something_else():
    assert _full() != "own"


# ---- frozen ----------------------------------------------------------------------------------------------------


def test_a_problem_and_its_blocks_cannot_be_changed():
    p = _full()
    for change in (lambda: setattr(p, "name", "other"), lambda: delattr(p, "terms"), lambda: setattr(p, "q", 0)):
        with pytest.raises(AttributeError, match="frozen"):
            change()
    for block in (p.terms[0], p.constraints[0], p.norm_bounds[0], p.variables[0]):
        with pytest.raises(FrozenInstanceError):
            block.name = "other"
    for array in (p.linear["x"], p.constraints[0].rhs, p.terms[0].weights, p.terms[0].offset, p.norm_bounds[0].offset):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 5.0


def test_the_callers_arrays_stay_writable_and_unchanged():
    rows, rhs, cost, weights = TALL.copy(), np.ones(12), COST.copy(), np.ones(12)
    before = [a.tobytes() for a in (rows, rhs, cost, weights)]
    p = form(
        quadratic={"x": 1.0},
        linear={"x": cost},
        terms=[Term("a", {"x": rows}, weights=weights)],
        constraints=[Constraint("c", {"x": rows}, rhs=rhs)],
    )
    p.solve()
    p.dual().solve()
    assert all(a.flags.writeable for a in (rows, rhs, cost, weights))
    assert [a.tobytes() for a in (rows, rhs, cost, weights)] == before
    assert np.shares_memory(p.constraints[0].entries["x"].to_matrix(), rows)


@pytest.mark.parametrize("which", ["quadratic", "linear", "layout", "entries"])
def test_the_mappings_of_a_problem_cannot_be_changed(which):
    p = _full()
    mapping = p.constraints[0].entries if which == "entries" else getattr(p, which)
    with pytest.raises(TypeError):
        mapping["x"] = 1.0


def test_the_linear_cost_cannot_be_changed():
    with pytest.raises(ValueError):
        _full().q[0] = 5.0


def test_changing_the_callers_vectors_later_does_not_change_the_problem():
    rhs, cost, weights = np.ones(12), COST.copy(), np.ones(12)
    p = form(
        quadratic={"x": 1.0},
        linear={"x": cost},
        terms=[Term("a", {"x": TALL}, weights=weights)],
        constraints=[Constraint("c", {"x": TALL}, rhs=rhs)],
    )
    rhs[0] = cost[0] = weights[0] = 77.0
    assert 77.0 not in [p.constraints[0].rhs[0], p.linear["x"][0], p.terms[0].weights[0]]


# ---- errors ----------------------------------------------------------------------------------------------------

BAD = {
    "unknown variable in the linear part": (lambda: form(linear={"y": 1.0}), "linear part.*unknown variable 'y'"),
    "unknown variable in the quadratic part": (lambda: form(quadratic={"y": 1.0}), "quadratic.*unknown variable 'y'"),
    "unknown variable in a constraint": (
        lambda: form(constraints=[Constraint("c", {"y": ONES})]),
        "block 'c'.*unknown variable 'y'",
    ),
    "unknown variable in a bound": (
        lambda: form(norm_bounds=[NormBound("n", {"x": identity(3)}, bound_entries={"y": ONES})]),
        "block 'n'.*unknown variable 'y'",
    ),
    "wrong width": (
        lambda: form(constraints=[Constraint("c", {"x": np.eye(4)})]),
        "block 'c' has 4 columns for 'x', which has 3",
    ),
    "two variables of one name": (lambda: Problem("own", [var("x", 1), var("x", 2)]), "used twice: x"),
    "two constraints of one name": (
        lambda: form(constraints=[Constraint("c", {"x": ONES}), Constraint("c", {"x": ONES})]),
        "used twice: c",
    ),
    "a term named as a constraint": (
        lambda: form(terms=[Term("c", {"x": ONES})], constraints=[Constraint("c", {"x": ONES})]),
        "used twice: c",
    ),
    "a constraint named as a variable": (lambda: form(constraints=[Constraint("x", {"x": ONES})]), "used twice: x"),
    "a negative diagonal": (lambda: form(quadratic={"x": [1.0, -1.0, 0.0]}), "'x' is not convex: -1"),
    "an indefinite matrix": (lambda: form(quadratic={"x": FULL - 5 * np.eye(3)}), "'x' is not convex: eigenvalue -"),
    "an asymmetric matrix": (lambda: form(quadratic={"x": ROOT}), "'x' is not symmetric"),
    "a matrix of the wrong size": (lambda: form(quadratic={"x": np.eye(2)}), r"'x' is \(2, 2\), not 3 x 3"),
    "an unknown sense": (lambda: form(sense="maximise"), "sense is 'maximise'"),
    "entries of different heights": (
        lambda: Constraint("c", {"x": np.eye(3), "z": np.eye(2)}),
        r"block 'c'.*different heights: \[2, 3\]",
    ),
    "an unknown relation": (lambda: Constraint("c", {"x": ONES}, relation=">="), "constraint 'c': relation '>='"),
    "a negative weight": (lambda: Term("a", {"x": TALL}, weights=-WEIGHTS), "term 'a' has a negative weight"),
    "a loss with kinks": (lambda: Term("a", {"x": TALL}, loss=Hinge()), "term 'a': the hinge loss has kinks"),
    "a cost that nothing bounds": (lambda: form(linear={"x": 1.0}).dual(), "unbounded: 'x'"),
}


@pytest.mark.parametrize(("build", "message"), BAD.values(), ids=BAD)
def test_errors_name_the_block(build, message):
    with pytest.raises(ValueError, match=message):
        build()


REPORTED = {
    "NaN in the linear part": lambda: form(linear={"x": np.nan}),
    "NaN in the quadratic part": lambda: form(quadratic={"x": np.nan}),
    "NaN in rows": lambda: form(constraints=[Constraint("c", {"x": np.full((1, 3), np.nan)})]),
    "an infinite right-hand side": lambda: form(constraints=[Constraint("c", {"x": ONES}, rhs=np.inf)]),
    "NaN as weight": lambda: Term("a", {"x": TALL}, weights=np.nan),
    "wrong width beside a bound": lambda: form(
        norm_bounds=[NormBound("n", {"x": np.eye(4)}, bound_entries={"x": ONES})]
    ),
    "a bound of several rows": lambda: form(
        norm_bounds=[NormBound("n", {"x": identity(3)}, bound_entries={"x": TALL})]
    ),
    "a constraint on nothing": lambda: form(constraints=[Constraint("c", {})]),
    "a negative size": lambda: Problem("own", [var("x", -1)]),
}


@pytest.mark.parametrize("build", REPORTED.values(), ids=REPORTED)
def test_what_is_not_a_problem_is_refused(build):
    with pytest.raises(ValueError):
        build()


@pytest.mark.parametrize(
    ("build", "name"),
    [
        (lambda: form(linear={"x": np.ones(4)}), "x"),
        (lambda: form(quadratic={"x": np.ones(4)}), "x"),
        (lambda: Constraint("limit", {"x": ONES}, rhs=np.ones(4)), "limit"),
    ],
)
def test_a_vector_of_the_wrong_size_is_named(build, name):
    with pytest.raises(ValueError, match=f"'{name}'"):
        build()


def test_a_misspelt_part_is_refused():
    with pytest.raises(TypeError):
        form(quadratics={"x": 1.0})


def test_a_problem_error_is_a_value_error():
    with pytest.raises(ProblemError):
        form(linear={"y": 1.0})
    assert issubclass(ProblemError, ValueError)
    assert cc.ProblemError is ProblemError


def test_blocks_share_vectors_of_one_number_and_copy_others():
    n = 2000
    rows, given = {"x": np.ones((n, 1))}, np.linspace(0.0, 1.0, n)
    first, second = (Term(name, rows, offset=np.zeros(n), weights=2.0) for name in "ab")
    assert first.offset is second.offset
    assert first.weights is second.weights
    assert first.counted is second.counted
    assert first.counted.tolist() == list(range(n))
    mixed = np.where(np.arange(n) % 2, -0.0, 0.0)
    below, either = (Term("c", rows, offset=zeros).offset for zeros in (np.full(n, -0.0), mixed))
    assert np.signbit(below).all()
    np.testing.assert_array_equal(np.signbit(either), np.signbit(mixed))
    own = Term("d", rows, offset=given, weights=np.where(np.arange(n) == 3, 0.0, 1.0))
    given[0] = 7.0
    assert own.offset[0] == 0.0
    assert own.counted.size == n - 1
    for vector in (first.offset, own.offset, first.counted):
        with pytest.raises(ValueError, match="read-only"):
            vector[0] = 1
