"""The Newton solver in its three ways: the Hessian of every point, of a share of the samples, or none."""

import pickle
import warnings
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit

import convexcls as cc
from convexcls.losses import BY_NAME, Logistic
from convexcls.problem.scaling import equilibrate
from convexcls.proofs.verdict import certify
from convexcls.solvers import solver_class
from convexcls.solvers.base import Tracer
from convexcls.solvers.smooth import terms
from convexcls.solvers.smooth.descent import Progress, may_run_away
from convexcls.solvers.smooth.objective import Iterate, SmoothObjective
from convexcls.solvers.smooth.quasi_newton import factors_by_class
from convexcls.solvers.smooth.terms import GeneralTerm, ScoredTerm, SweptTerm, smooth_term

WAYS = ("exact", "subsampled", "free")


def drawn(n=400, d=4, seed=1):
    """Overlapping classes with correlated features."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) @ (np.eye(d) + 0.3)
    return X, (rng.random(n) < expit(X @ np.linspace(1, -1, d) + 0.3)).astype(int)


def several(n=300, d=3, K=4, seed=2):
    """K classes that overlap."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.argmax(X @ rng.normal(size=(d, K)) + rng.gumbel(size=(n, K)), axis=1)


PROBLEMS = {
    "logistic": lambda: cc.LogisticMLE(*drawn()),
    "logistic-ridge": lambda: cc.LogisticMLE(*drawn(), l2=0.7, intercept=False),
    "logistic-weighted": lambda: cc.LogisticMLE(*drawn(), sample_weight=np.arange(400) % 3),
    "exponential": lambda: cc.EmpiricalRisk(*drawn(), loss="exponential", l2=0.1),
    "squared": lambda: cc.EmpiricalRisk(*drawn(), loss="squared", l2=0.1),
    "softmax": lambda: cc.SoftmaxMLE(*several()),
    "softmax-ridge": lambda: cc.SoftmaxMLE(*several(), l2=0.5),
    "softmax-weighted": lambda: cc.SoftmaxMLE(*several(), l2=0.5, sample_weight=np.arange(300) % 3),
    "logistic-sparse": lambda: cc.LogisticMLE(sparse.csr_array(drawn()[0]), drawn()[1], l2=0.1),
    "softmax-sparse": lambda: cc.SoftmaxMLE(sparse.csc_array(several()[0]), several()[1], l2=0.1),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", PROBLEMS)
def test_every_way_leads_to_the_same_answer(name, way):
    problem = PROBLEMS[name]()
    exact, other = problem.solve("newton", hessian="exact"), problem.solve("newton", hessian=way)
    cc.testing.assert_optimal(other)
    np.testing.assert_allclose(other.coef, exact.coef, rtol=1e-8, atol=1e-9)
    assert other.objective == pytest.approx(exact.objective, rel=1e-12)


@pytest.mark.parametrize("way", WAYS)
def test_large_data_agree_with_scikit_learn(way):
    linear_model = pytest.importorskip("sklearn.linear_model")
    X, y = drawn(30_000, 30)
    mine = cc.LogisticMLE(X, y, l2=1.0).solve("newton", hessian=way)
    assert mine.status == "optimal"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = linear_model.LogisticRegression(C=1.0, solver="newton-cholesky", tol=1e-12).fit(X, y)
    np.testing.assert_allclose(mine.coef, theirs.coef_[0], rtol=1e-8, atol=1e-9)


def test_large_data_take_a_share_of_the_samples_and_few_passes():
    X, y = drawn(40_000, 40)
    solution = cc.LogisticMLE(X, y).solve("newton")
    assert solution.status == "optimal"
    assert solution.iterations <= 15
    assert solution.trace[-1].residual <= 1e-10
    assert solution.trace[0].residual < 0.1, "it begins near the minimum over the share"
    assert all(b.objective <= a.objective * (1 + 1e-12) for a, b in pairwise(solution.trace))


def test_wide_sparse_data_make_no_square_matrix(monkeypatch):
    rng = np.random.default_rng(3)
    X = sparse.random(600, 3000, density=0.01, format="csr", random_state=4)
    y = (rng.random(600) < 0.5).astype(int)
    problem = equilibrate(cc.LogisticMLE(X, y, l2=1.0)).problem
    monkeypatch.setattr(Iterate, "hessian", lambda *_: pytest.fail("a Hessian was formed"))
    answer = solver_class("newton")().solve(problem, 1e-8)
    assert answer.trace[-1].residual < 1e-10
    assert certify(problem, answer.x, {}, 1e-8).status == "optimal"


@pytest.mark.parametrize("way", WAYS)
def test_labels_swapped_and_rows_permuted(way):
    X, y = drawn()
    coef = cc.LogisticMLE(X, y, l2=0.1).solve("newton", hessian=way).coef
    np.testing.assert_allclose(cc.LogisticMLE(X, 1 - y, l2=0.1).solve("newton", hessian=way).coef, -coef, rtol=1e-9)
    order = np.random.default_rng(5).permutation(len(y))
    np.testing.assert_allclose(
        cc.LogisticMLE(X[order], y[order], l2=0.1).solve("newton", hessian=way).coef, coef, rtol=1e-9
    )


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("scale", [2.0**-40, 2.0**40, 1e-150, 1e150])
def test_units_of_the_data_do_not_matter(way, scale):
    X, y = drawn()
    one, other = (cc.LogisticMLE(X * s, y).solve("newton", hessian=way) for s in (1.0, scale))
    assert other.status == "optimal"
    np.testing.assert_allclose(other.coef * scale, one.coef, rtol=1e-9)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("weights", [np.full(400, 3.0), np.arange(400) % 2])
def test_weights_are_repetitions(way, weights):
    X, y = drawn()
    weighted = cc.LogisticMLE(X, y, l2=0.3, sample_weight=weights).solve("newton", hessian=way)
    repeated = np.repeat(np.arange(400), weights.astype(int))
    plain = cc.LogisticMLE(X[repeated], y[repeated], l2=0.3).solve("newton")
    np.testing.assert_allclose(weighted.coef, plain.coef, rtol=1e-8)


DEGENERATE = {
    "one feature": lambda X: X[:, :1],
    "a repeated column": lambda X: np.column_stack([X, X[:, 0]]),
    "a constant column": lambda X: np.column_stack([X, np.full(len(X), 5.0)]),
    "an empty column": lambda X: np.column_stack([X, np.zeros(len(X))]),
    "far from zero": lambda X: X + 1e3,
    "every sample twice": lambda X: np.repeat(X[::2], 2, axis=0),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate_data(name, way):
    X, y = drawn()
    problem = cc.LogisticMLE(DEGENERATE[name](X), y)
    assert problem.solve("newton", hessian=way).status == "optimal"


@pytest.mark.parametrize("way", WAYS)
def test_very_far_from_zero_is_no_falsehood(way):
    X, y = drawn()
    near, far = cc.LogisticMLE(X, y).solve(), cc.LogisticMLE(X + 1e6, y).solve("newton", hessian=way)
    assert far.status in ("optimal", "undecided")
    assert far.problem.objective(far.x) == pytest.approx(near.objective, rel=1e-6)


@pytest.mark.parametrize("way", WAYS)
def test_fewer_samples_than_features(way):
    X, y = drawn(20, 50)
    assert cc.LogisticMLE(X, y, l2=1.0).solve("newton", hessian=way).status == "optimal"


# ---- separated classes ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
def test_separated_classes_are_told_by_a_direction_after_a_few_steps(way):
    X, y = drawn()
    y = (X @ [1.0, -2.0, 0.5, 1.0] > 0.2).astype(int)
    for problem in (cc.LogisticMLE(X, y), cc.EmpiricalRisk(X, y, loss="exponential"), cc.SoftmaxMLE(X, y)):
        solution = problem.solve("newton", hessian=way)
        assert solution.status == "unattained"
        assert solution.iterations <= 40
        assert "separated" in solution.message


def test_many_separated_samples_are_told_as_soon():
    X, _ = drawn(30_000, 20)
    y = (X @ np.linspace(-1, 1, 20) > 0.1).astype(int)
    problem = equilibrate(cc.LogisticMLE(X, y)).problem
    answer = solver_class("newton")().solve(problem, 1e-8)
    assert answer.direction is not None
    assert np.all(problem.rows(problem.terms[0]) @ answer.direction > 0)


def test_a_penalty_keeps_separated_classes_finite():
    X, y = drawn()
    y = (X[:, 0] > 0).astype(int)
    for way in WAYS:
        assert cc.LogisticMLE(X, y, l2=1e-3).solve("newton", hessian=way).status == "optimal"


def test_classes_that_touch_are_left_to_the_check():
    X = np.array([[0.0], [1.0], [1.0], [2.0]])
    solution = cc.LogisticMLE(X, [0, 0, 1, 1]).solve("newton")
    assert solution.status == "unattained"


# ---- starts, traces, options ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
def test_a_start_saves_steps(way):
    X, y = drawn()
    cold = cc.LogisticMLE(X, y, l2=1.0).solve("newton", hessian=way)
    warm = cc.LogisticMLE(X, y, l2=1.01).solve("newton", hessian=way, start=cold)
    assert warm.status == "optimal"
    assert warm.iterations < cold.iterations
    again = cc.LogisticMLE(X, y, l2=1.0).solve("newton", hessian=way, start=cold)
    assert again.iterations <= 2


def test_few_rows_are_read_as_many_are(monkeypatch):
    X, y = drawn()
    weights = np.linspace(0.0, 2.0, len(y))
    problems = [
        cc.LogisticMLE(X, y),
        cc.LogisticMLE(X, y, sample_weight=weights, l2=0.1),
        cc.EmpiricalRisk(X, y, loss="squared", l2=0.1),
    ]
    at = np.random.default_rng(0).normal(size=X.shape[1] + 1)
    few = [Iterate.at(p, at) for p in problems]
    monkeypatch.setattr(terms, "MAX_ROWS_AT_ONCE", 0)
    for p, one in zip(problems, few, strict=True):
        other = Iterate.at(p, at)
        assert one.objective == pytest.approx(other.objective, rel=1e-14)
        np.testing.assert_allclose(one.gradient, other.gradient, rtol=1e-11)
        np.testing.assert_allclose(one.hessian(), other.hessian(), rtol=1e-13)
        assert one.relative_gradient() == pytest.approx(other.relative_gradient(), rel=1e-11)


def test_details_are_worked_out_when_they_are_looked_at():
    X, y = drawn()
    detail = cc.LogisticMLE(X, y).solve("newton").trace[0].detail
    assert "_found" not in vars(detail)
    assert list(detail) == ["likelihood"]
    kept = pickle.loads(pickle.dumps(detail))
    assert type(kept) is dict
    np.testing.assert_array_equal(kept["likelihood"]["weights"], detail["likelihood"]["weights"])


def test_the_trace_shows_the_adjusted_response_where_asked():
    X, y = drawn()
    for way in WAYS:
        shown = cc.LogisticMLE(X, y).solve("newton", hessian=way).trace[0].detail["likelihood"]
        assert shown["weights"].shape == (400,)
    assert not cc.LogisticMLE(X, y).solve("newton", adjusted_response=False).trace[0].detail


def test_options_are_checked():
    problem = cc.LogisticMLE(*drawn())
    with pytest.raises(ValueError, match="must be auto, exact, subsampled or free"):
        problem.solve("newton", hessian="approximate")
    with pytest.raises(ValueError, match="max_iter"):
        problem.solve("newton", max_iter=0)
    assert problem.solve("newton", max_iter=2).status == "undecided"


def test_constraints_are_refused_in_words():
    with pytest.raises(cc.SolverRefused, match="it works without constraints"):
        cc.SoftMarginSVM(*drawn()).solve("newton")


# ---- the parts ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PROBLEMS)
def test_terms_in_their_fast_form_read_what_the_verbs_read(name):
    problem = equilibrate(PROBLEMS[name]()).problem
    (term,) = problem.terms
    fast = smooth_term(problem, term)
    assert isinstance(fast, ScoredTerm if name.startswith("softmax") else SweptTerm)
    plain = GeneralTerm(term, problem.rows(term), problem.rows(term).column_max())
    x = np.random.default_rng(6).normal(size=problem.size)
    mine, theirs = fast.read(x), plain.read(x)
    assert mine.value == pytest.approx(theirs.value, rel=1e-13)
    assert mine.size == pytest.approx(theirs.size, rel=1e-13)
    np.testing.assert_allclose(mine.gradient, theirs.gradient, rtol=1e-11, atol=1e-12 * theirs.size)
    exact = plain.hessian(theirs)
    np.testing.assert_allclose(fast.hessian(mine), exact, rtol=1e-10, atol=1e-12 * np.abs(exact).max())
    rough = fast.hessian(mine, single_precision=True)
    np.testing.assert_allclose(rough, exact, atol=1e-5 * np.abs(exact).max())
    np.testing.assert_allclose(fast.diagonal(mine), np.diag(exact), rtol=1e-9)
    margins = (problem.rows(term) @ x)[np.repeat(term.weights > 0, term.loss.width)]
    assert fast.smallest_margin(mine) == pytest.approx(margins.min(), rel=1e-9)


def test_a_share_of_all_samples_is_the_whole():
    problem = equilibrate(PROBLEMS["logistic-weighted"]()).problem
    function, x = SmoothObjective(problem), np.ones(problem.size)
    assert function.share(400).at(x).objective == pytest.approx(function.at(x).objective, rel=1e-13)
    np.testing.assert_allclose(function.share(400).at(x).gradient, function.at(x).gradient, rtol=1e-10, atol=1e-10)
    assert function.value_at_zero() == pytest.approx(function.at(0 * x).objective, rel=1e-14)


@pytest.mark.parametrize("loss", [loss for loss in BY_NAME.values() if loss.smooth], ids=lambda loss: loss.name)
@pytest.mark.parametrize("size", [3, 700, 5000])
def test_losses_weighed_together_are_the_losses_one_by_one(loss, size):
    u = np.random.default_rng(7).normal(size=size) * 20
    weights = np.arange(size) % 3 + 0.0
    for w in (2.0, weights):
        value, slopes = loss.weighed(u, w)
        assert value == pytest.approx(float(np.sum(w * loss.value(u))), rel=1e-14)
        np.testing.assert_allclose(slopes, loss.slope(u), rtol=1e-15)


def test_a_loss_without_weight_does_not_count_even_where_it_is_infinite():
    value, _ = BY_NAME["exponential"].weighed(np.array([-1e4, 0.0]), np.array([0.0, 1.0]))
    assert value == 1.0


def test_the_logistic_loss_keeps_its_digits_where_it_is_small():
    u = np.full(1000, 40.0)
    value, _ = Logistic().weighed(u, 1.0)
    assert value == pytest.approx(1000 * np.exp(-40.0), rel=1e-13)


@pytest.mark.parametrize("model", [cc.LogisticMLE, cc.SoftmaxMLE])
@pytest.mark.parametrize("d", [2, 7])
def test_the_last_step_takes_the_hessian_of_the_iterate_before_and_leaves_no_digits(model, d):
    rng = np.random.default_rng(d)
    X = rng.normal(size=(150, d))
    y = np.digitize(X[:, 0] + rng.normal(size=150), (0.0,) if model is cc.LogisticMLE else (-0.5, 0.5))
    solution = model(X, y, l2=1.0).solve("newton")
    exact = model(X, y, l2=1.0).solve(level="exact", digits=12)
    assert solution.status == "optimal"
    assert solution.trace[-1].residual <= 1e-11
    np.testing.assert_allclose(solution.coef, exact.coef, rtol=1e-9, atol=1e-10)


def test_margins_that_grow_for_ever_are_found_though_other_columns_converge_first():
    rng = np.random.default_rng(3)
    X = np.column_stack([rng.normal(size=400), np.zeros(400)])
    y = (X[:, 0] + rng.normal(size=400) > 0).astype(int)
    X[np.flatnonzero(y)[:3], 1] = 1.0  # a rare category that one class alone has
    solution = cc.LogisticMLE(X, y).solve("newton")
    assert solution.status == "unattained"
    assert len(solution.trace) < 15


def test_steps_that_are_too_short_go_farther():
    """Far from the solution a Newton step of a likelihood leaves much of the slope."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(200, 5))
    y = X @ rng.normal(size=5) + 0.3 * rng.normal(size=200) > 0
    s = cc.LogisticMLE(X, y, l2=0.1).solve("newton", keep="points")
    assert s.status == "optimal"
    assert 1.1 < max(line.step for line in s.trace) < 5.0
    objectives = [line.objective for line in s.trace]
    assert all(later <= before * (1 + 1e-12) for before, later in pairwise(objectives))
    lengths = [line.step for line in s.trace if line.residual < 1e-6]
    assert lengths == [1.0] * len(lengths)  # near it they are Newton's own


def test_a_quadratic_needs_one_step_of_length_one():
    problem = cc.EmpiricalRisk([[0.0], [1.0], [3.0]], [0, 1, 1], loss="squared", l2=1.0)
    assert all(line.step == 1.0 for line in problem.solve("newton").trace)


def test_what_classes_share_is_left_to_the_penalty():
    """A step that all classes make alike moves no score against another: there the Hessian is the penalty's."""
    X, y = several()
    iterate = SmoothObjective(cc.SoftmaxMLE(X, y, l2=0.5)).at(np.zeros(16))
    v = np.zeros(16)
    v[:12] = np.tile([1.0, -2.0, 3.0], 4)
    np.testing.assert_allclose(iterate.hessian() @ v, 0.5 * v, atol=1e-12)
    np.testing.assert_allclose(factors_by_class(iterate).solve(0.5 * v), v, atol=1e-12)


@pytest.mark.parametrize("name", PROBLEMS)
def test_pull_sizes_are_sums_of_absolute_values(name):
    problem = PROBLEMS[name]()
    iterate = SmoothObjective(problem).at(np.linspace(-0.3, 0.4, problem.size))
    (term,), (own,), (reading,) = problem.terms, iterate.function.terms, iterate.readings
    rows = problem.rows(term).to_dense()
    slopes = term.row_weights * term.loss.slope(rows @ iterate.x + term.offset)
    np.testing.assert_allclose(own.pull_sizes(reading), np.abs(rows).T @ np.abs(slopes), rtol=1e-12)
    assert iterate.penalised_gradient() <= iterate.penalised_gradient(closely=True)


def test_an_intercept_beside_penalties_runs_away_only_for_one_class():
    X, y = drawn()
    assert not may_run_away(cc.LogisticMLE(X, y, l2=1.0))
    assert may_run_away(cc.LogisticMLE(X, y))
    assert may_run_away(cc.LogisticMLE(X, y, l2=1.0, sample_weight=y))


def test_a_gradual_descent_is_no_stall():
    """A residual that falls by a tenth at each step is halved every seven steps, though never at once."""
    problem = PROBLEMS["logistic-ridge"]()
    iterate, progress = SmoothObjective(problem).at(np.zeros(4)), Progress(problem, Tracer(), lambda _: {})
    for k in range(40):
        shrunk = replace(iterate, gradient=iterate.gradient * 0.9**k)
        progress.residual(shrunk, 1.0)
        assert progress.stalled <= 7
    for k in range(10):
        progress.residual(shrunk, 1.0)
        assert progress.stalled >= k


def test_sparse_classes_make_no_gram_matrix_of_pairs(monkeypatch):
    rng = np.random.default_rng(6)
    X = sparse.random(900, 60, density=0.1, format="csr", random_state=7)
    y = np.argmax(X @ rng.normal(size=(60, 6)) * 3 + rng.gumbel(size=(900, 6)), axis=1)
    problem = cc.SoftmaxMLE(X, y, l2=0.1)
    monkeypatch.setattr(ScoredTerm, "hessian", lambda *_: pytest.fail("pairs of classes"))
    cc.testing.assert_optimal(problem.solve("newton"))
