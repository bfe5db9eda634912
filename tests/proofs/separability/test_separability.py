"""Separability: verdicts against brute force, proofs that hold exactly, and proofs that must be refused."""

from __future__ import annotations

import random
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from importlib import import_module
from itertools import combinations
from types import MappingProxyType, SimpleNamespace

import exact
import numpy as np
import pytest
from exact import feasible, integer_sets
from hypothesis import given, settings
from hypothesis import strategies as st

import convexcls as cc
from convexcls.proofs.claims import farkas
from convexcls.proofs.claims.separation import check, complaints
from convexcls.proofs.separability import SeparatingMargin, separate, strictly
from convexcls.proofs.separability.alternative import Guess
from convexcls.rows import as_rows
from convexcls.rows.signs import as_doubles, exact_signs, product_signs

NAMES = {"strict": "strictly separable", "weak": "weakly separable", "overlap": "overlapping"}


# ---- brute force: all (d + 2)-subsets, each by Fourier-Motzkin elimination in integers ------------------------------


def brute_force(X, y, intercept: bool = True) -> str:
    """By Kirchberger's theorem the classes are strictly separable iff all subsets of d + 2 samples are."""
    Z = [tuple(s * v for v in (*row, *([1] if intercept else []))) for row, s in zip(X, y, strict=True)]
    size = min(len(Z), len(Z[0]) + 1)
    if all(feasible(list(chosen), []) for chosen in combinations(Z, size)):
        return "strictly separable"
    return "weakly separable" if any(feasible([z], Z) for z in Z) else "overlapping"


def assert_irreducible(found, X, y) -> None:
    """The hulls of the named samples meet, and without any one of them the others are strictly separable."""
    samples = found.hull.samples
    assert len(samples) <= len(X[0]) + 1 + found.intercept
    rows = [tuple(y[i] * v for v in (*X[i], *([1] if found.intercept else []))) for i in samples]
    assert not feasible(rows, [])
    for left_out in range(len(rows)):
        rest = rows[:left_out] + rows[left_out + 1 :]
        assert not rest or feasible(rest, [])


@pytest.mark.parametrize("chunk", range(5))
def test_five_hundred_integer_sets_have_the_verdict_of_brute_force(chunk):
    seen = set()
    for X, y, intercept in integer_sets(chunk, 100):
        found = cc.separability(X, y, intercept=intercept)
        assert found.verdict == brute_force(X, y, intercept), (X, y, intercept)
        assert found.complaints() == []
        if found.hull is not None:
            assert_irreducible(found, X, y)
        seen.add(found.verdict)
    assert seen == set(NAMES.values())


def test_without_any_guess_the_verdicts_are_the_same(monkeypatch):
    """The linear program in doubles only saves time: with no guess, or a wrong one, the verdict is the true one."""
    wrong = iter(range(10**9))

    def useless(rows):
        k = next(wrong)
        support = np.array([k % rows.shape[0]]) if k % 3 else np.arange(min(rows.shape))
        return Guess(np.cos(np.arange(rows.shape[1]) + k) if k % 2 else None, support)

    monkeypatch.setattr(import_module("convexcls.proofs.separability.alternative"), "guess", useless)
    for X, y, intercept in integer_sets(77, 120, d_max=3):
        found = cc.separability(X, y, intercept=intercept)
        assert found.verdict == NAMES[exact.separability(X, y, intercept)], (X, y, intercept)
        assert found.verify()


# ---- known examples -------------------------------------------------------------------------------------------------


def test_xor_overlaps():
    found = cc.separability([[0, 0], [1, 1], [0, 1], [1, 0]], ["even", "even", "odd", "odd"])
    assert found.verdict == "overlapping"
    assert found.hull.point == (Fraction(1, 2), Fraction(1, 2))
    assert found.hull.weights == {
        "even": {0: Fraction(1, 2), 1: Fraction(1, 2)},
        "odd": {2: Fraction(1, 2), 3: Fraction(1, 2)},
    }
    assert found.direction is None
    assert found.verify()


def test_the_completely_separated_example():
    X = [[1, -1, 2], [1, -1, -2], [1, -2, -2], [1, 2, 2]]
    for intercept in (False, True):
        found = cc.separability(X, [0, 1, 1, 1], intercept=intercept)
        assert found.verdict == "strictly separable"
        scores = np.array(X) @ found.direction.coef_ + found.direction.intercept_
        assert np.array_equal(scores > 0, [False, True, True, True])
        assert found.margin == pytest.approx(np.abs(scores).min() / np.linalg.norm(found.direction.coef_), rel=1e-12)


def test_the_overlapping_example():
    found = cc.separability([[-1], [0], [1], [2]], [0, 1, 0, 1])
    assert found.verdict == "overlapping"
    assert len(found.hull.samples) == 3
    assert set(found.weights) <= set(range(4))


def test_the_quasi_complete_example():
    found = cc.separability([[1], [2], [3], [3], [4]], list("aaabb"))
    assert found.verdict == "weakly separable"
    assert found.rows_on_it.tolist() == [2, 3]
    ratio = -found.direction.intercept / found.direction.coef[0]
    assert (ratio, found.margin) == (3, 0.0)
    assert "samples 2, 3" in found.explain()
    assert found.verify()


def test_the_margin_is_that_of_the_direction():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 4))
    y = X @ [1.0, -2.0, 0.5, 0.1] > 0.2
    found = cc.separability(X, y)
    signed = np.where(y, 1, -1) * (X @ found.direction.coef_ + found.direction.intercept_)
    assert found.margin == pytest.approx(signed.min() / np.linalg.norm(found.direction.coef_), rel=1e-9)


def test_a_direction_of_maximal_support():
    """Two dummies, one of which marks samples of one class only: the other rows stay where they are."""
    X = np.array([[0, 0, 1], [0, 0, 2], [0, 0, 3], [0, 0, 4], [1, 0, 0], [1, 0, 5], [0, 1, 2], [0, 1, 0]])
    y = np.array([0, 1, 0, 1, 1, 1, 0, 0])
    found = cc.separability(X, y)
    assert found.verdict == "weakly separable"
    assert found.rows_on_it.tolist() == [0, 1, 2, 3]  # both dummies move their samples
    assert found.direction.coef[0] > 0 > found.direction.coef[1]
    assert found.verify()


# ---- numbers of any size ---------------------------------------------------------------------------------------------


def hard_sets():
    rng = np.random.default_rng(8)
    for k in range(140):
        n, d = int(rng.integers(2, 9)), int(rng.integers(1, 4))
        X = rng.integers(-3, 4, size=(n, d)).astype(float)
        y, w = rng.choice([-1, 1], n), rng.normal(size=d)
        if k % 7 == 0:
            X = X * 10.0 ** rng.integers(-150, 151, size=d)
        elif k % 7 == 1:
            X = X * (1e150 if k % 2 else 1e-150)
        elif k % 7 == 2:
            X = X + 1e-16 * rng.integers(-3, 4, size=X.shape)
        elif k % 7 == 3:
            X = X + 1e15
        elif k % 7 == 4:  # a column that nearly repeats another
            X[:, -1] = X[:, 0] * (1 + 1e-15 * rng.integers(-2, 3, n))
        elif k % 7 == 5:
            X = X * 10.0 ** rng.integers(-300, 300, size=X.shape)
        else:  # classes 1e-15 apart
            X = rng.normal(size=(n, d))
            y = np.where(X @ w > 0, 1, -1)
            X = X - ((X @ w) / (w @ w))[:, None] * w * (1 - 1e-15)
        if len(set(y)) == 1:
            y[0] = -y[0]
        yield X, y, bool(rng.random() < 0.7)


def test_data_of_any_scale_and_gap():
    for X, y, intercept in hard_sets():
        found = cc.separability(X, y, intercept=intercept)
        assert found.verdict == NAMES[exact.separability(X.tolist(), y.tolist(), intercept)], (X, y, intercept)
        assert found.complaints() == []


def test_one_bit_between_the_classes():
    below, above = np.nextafter(1.0, 0), np.nextafter(1.0, 2)
    for upper, verdict in ((above, "strictly separable"), (1.0, "weakly separable"), (below, "overlapping")):
        found = cc.separability([[0.0], [1.0], [upper], [2.0]], [0, 0, 1, 1])
        assert found.verdict == verdict
        assert found.verify()


def test_the_data_are_taken_as_given():
    """0.1 + 0.2 = 0.3 in decimals, but not in the doubles nearest to them."""
    rows = [["0.1", "0.2"], ["0.3", "0"], ["0", "0.3"], ["1", "1"]]
    decimals = [[Decimal(v) for v in row] for row in rows]
    doubles = [[float(v) for v in row] for row in rows]
    y = [0, 1, 1, 1]
    assert cc.separability(decimals, y).verdict == "weakly separable"
    assert cc.separability(decimals, y).verify()
    assert cc.separability(doubles, y).verdict == NAMES[exact.separability(doubles, [-1, 1, 1, 1])]
    assert cc.separability(doubles, y).verdict != "weakly separable"
    thirds = np.array([[Fraction(1, 3)], [Fraction(1, 3)], [Fraction(2, 3)]], dtype=object)
    assert cc.separability(thirds, [0, 1, 1]).verdict == "weakly separable"


@pytest.mark.parametrize("shape", [(4, 9), (1, 3), (30, 1)])
def test_shapes(shape):
    rng = np.random.default_rng(1)
    X = rng.integers(-9, 9, size=shape)
    y = np.arange(shape[0]) % 2 if shape[0] > 1 else None
    if y is None:
        with pytest.raises(cc.DataError, match="one label only"):
            cc.separability(X, [1])
        return
    found = cc.separability(X, y)
    assert found.verify()
    if shape[1] >= shape[0]:
        assert found.verdict == "strictly separable"


def test_a_hundred_thousand_rows():
    """Borderline rows only are worked out in rationals: also where nine of ten rows lie on the hyperplane."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100_000, 5))
    noisy = X @ np.arange(1.0, 6.0) + rng.normal(size=len(X)) > 0
    dummy = rng.random(len(X)) < 0.1
    constant = np.full(len(X), 0.1)
    found = cc.separability(np.column_stack([X, dummy, constant]), noisy | dummy)
    assert found.verdict == "weakly separable"
    assert found.rows_on_it.size == np.sum(~dummy)
    assert found.verify()


def test_sparse_and_framed_data():
    from scipy import sparse

    X = np.array([[0.0, 1.0], [2.0, 0.0], [0.0, 3.0], [1.0, 1.0]])
    y = [0, 1, 0, 1]
    dense, thin = cc.separability(X, y), cc.separability(sparse.csr_array(X), y)
    assert (dense.verdict, dense.margin) == (thin.verdict, thin.margin)
    assert thin.verify()


# ---- several classes -------------------------------------------------------------------------------------------------


def multinomial(X, classes, intercept) -> str:
    """Albert and Anderson's verdict by elimination."""
    count = max(classes) + 1
    Z = []
    for row, c in zip(X, classes, strict=True):
        full = (*row, 1) if intercept else tuple(row)
        for k in range(count):
            if k != c:
                z = [0] * (len(full) * count)
                z[len(full) * c : len(full) * (c + 1)] = full
                z[len(full) * k : len(full) * (k + 1)] = [-v for v in full]
                Z.append(tuple(z[: len(full) * (count - 1)]))  # the last class as reference
    if feasible(Z, []):
        return "strictly separable"
    return "weakly separable" if any(feasible([z], Z) for z in Z) else "overlapping"


def test_three_classes_against_elimination():
    rng = random.Random(5)
    seen = set()
    for k in range(60):
        n = rng.randint(3, 5)
        X = [[rng.randint(-2, 2)] for _ in range(n)]
        classes = [0, 1, 2] + [rng.randrange(3) for _ in range(n - 3)]
        if k % 3 == 0:
            classes = [(v[0] > 0) + (v[0] >= 0) for v in X]
        intercept = k % 2 == 0
        if len(set(classes)) < 3:
            continue
        found = cc.separability(X, classes, intercept=intercept)
        assert found.verdict == multinomial(X, classes, intercept), (X, classes, intercept)
        assert found.verify()
        for (a, b), pair in found.pairs.items():
            chosen = [i for i, c in enumerate(classes) if c in (a, b)]
            signs = [1 if classes[i] == b else -1 for i in chosen]
            assert pair.verdict == brute_force([X[i] for i in chosen], signs, intercept)
            assert set(pair.samples.tolist()) == set(chosen)
        seen.add(found.verdict)
    assert seen == set(NAMES.values())


def test_iris_like_classes_are_told_pair_by_pair():
    rng = np.random.default_rng(2)
    X = np.vstack([rng.normal(size=(20, 2)) + shift for shift in ([8, 8], [0, 0], [0.5, 0])])
    found = cc.separability(X, np.repeat(["a", "b", "c"], 20))
    verdicts = {pair: verdict.verdict for pair, verdict in found.pairs.items()}
    assert verdicts == {("a", "b"): "strictly separable", ("a", "c"): "strictly separable", ("b", "c"): "overlapping"}
    assert found.verdict == "weakly separable"
    assert all(i >= 20 for i in found.rows_on_it)
    assert "'b' and 'c': overlapping" in found.explain()


# ---- bad input -------------------------------------------------------------------------------------------------------


def test_bad_input_is_named():
    with pytest.raises(cc.DataError, match="one label only"):
        cc.separability([[1.0], [2.0]], [1, 1])
    with pytest.raises(cc.DataError, match="row 1"):
        cc.separability([[1.0], [np.nan]], [0, 1])
    with pytest.raises(ValueError, match="intercept is 'no'"):
        cc.separability([[1.0], [2.0]], [0, 1], intercept="no")
    with pytest.raises(cc.DataError, match="2 rows but y has 3"):
        cc.separability([[1.0], [2.0]], [0, 1, 1])


def test_nothing_of_the_callers_is_changed():
    X, y = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]]), np.array([0, 1, 1])
    before = X.copy(), y.copy()
    cc.separability(X, y)
    assert np.array_equal(X, before[0])
    assert np.array_equal(y, before[1])


# ---- words -----------------------------------------------------------------------------------------------------------


def test_words():
    strict = cc.separability([[0, 0], [2, 2]], ["no", "yes"])
    assert repr(strict).startswith("<Separability of 'no' and 'yes': strictly separable, margin ")
    assert "STRICTLY SEPARABLE" in strict.explain()
    meeting = cc.separability([[-1], [0], [1], [2]], [0, 1, 0, 1])
    assert "hulls meet on samples" in repr(meeting)
    assert "point of both convex hulls" in meeting.explain()
    through_origin = cc.separability([[1], [-1]], [0, 0 + 1], intercept=False)
    assert through_origin.verdict == "strictly separable"
    assert "strictly separable" in strict._repr_html_()


# ---- wrong proofs ----------------------------------------------------------------------------------------------------

STRICT = ([[0, 0], [1, 0], [3, 3], [4, 2]], [0, 0, 1, 1])
WEAK = ([[1, 0], [2, 1], [3, 0], [3, 0], [4, 2], [0, 5]], [0, 0, 0, 1, 1, 0])
OVERLAP = ([[0, 0], [1, 1], [0, 1], [1, 0], [2, 5]], [0, 0, 1, 1, 1])


def mutations(found):
    """The same with something wrong in the proof on rows."""
    proof = found.proof
    for kind in {"strict", "weak", "overlapping"} - {proof.kind}:
        yield "kind", replace(proof, kind=kind)
    if proof.direction is not None:
        v = proof.direction
        yield "no direction", replace(proof, direction=None)
        yield "reversed", replace(proof, direction=tuple(-x for x in v))
        yield "zero", replace(proof, direction=tuple(0 * x for x in v))
        yield "short", replace(proof, direction=v[:-1])
        for j in range(len(v)):
            for change in (Fraction(100), Fraction(-100)):
                wrong = (*v[:j], v[j] + change, *v[j + 1 :])
                if min(exact.dot(row, wrong) for row in found.rows.rational()) < 0:
                    yield f"entry {j} by {change}", replace(proof, direction=wrong)
    else:
        yield "a direction", replace(proof, direction=(Fraction(1),) * found.rows.shape[1])
    if proof.still.size:
        yield "one fewer still", replace(proof, still=proof.still[1:])
    if proof.still.size < found.rows.shape[0]:
        moving = np.setdiff1d(np.arange(found.rows.shape[0]), proof.still)
        yield "one more still", replace(proof, still=np.union1d(proof.still, moving[:1]))
    for name in ("weights", "circuit"):
        weights = dict(getattr(proof, name))
        for i in weights:
            for value in (weights[i] * (1 + Fraction(1, 10**30)), -weights[i], Fraction(0)):
                yield f"{name} {i} = {value}", replace(proof, **{name: MappingProxyType({**weights, i: value})})
            rest = {k: v for k, v in weights.items() if k != i}
            yield f"{name} without {i}", replace(proof, **{name: MappingProxyType(rest)})
        if weights:
            yield f"{name} out of range", replace(proof, **{name: MappingProxyType({**weights, 999: Fraction(1)})})
            yield f"no {name}", replace(proof, **{name: MappingProxyType({})})
    if proof.circuit:
        other = next(i for i in range(found.rows.shape[0]) if i not in proof.circuit)
        longer = MappingProxyType({**proof.circuit, other: Fraction(1)})
        yield "a longer circuit", replace(proof, circuit=longer)


@pytest.mark.parametrize("data", [STRICT, WEAK, OVERLAP], ids=["strict", "weak", "overlapping"])
def test_every_wrong_proof_is_refused(data):
    found = cc.separability(*data)
    assert found.verify()
    count = 0
    for name, proof in mutations(found):
        assert complaints(found.rows, proof), name
        assert not replace(found, proof=proof).verify(), name
        count += 1
    assert count >= 10


def wrongly_told(found):
    for verdict in set(NAMES.values()) - {found.verdict}:
        yield replace(found, verdict=verdict)
    yield replace(found, margin=found.margin + 0.01)
    yield replace(found, rows_on_it=np.array([99]))
    if found.direction is not None:
        plane = found.direction
        yield replace(found, direction=replace(plane, intercept=plane.intercept + 1))
        yield replace(found, direction=replace(plane, coef=tuple(2 * v for v in plane.coef)))
        yield replace(found, direction=None)
    if found.hull is not None:
        hull = found.hull
        first, second = found.labels
        yield replace(found, hull=None)
        yield replace(found, hull=replace(hull, point=tuple(v + 1 for v in hull.point)))
        yield replace(found, hull=replace(hull, weights={first: hull.weights[second], second: hull.weights[first]}))
        yield replace(found, hull=replace(hull, weights={first: hull.weights[first], second: {}}))
        twice = {label: {i: 2 * w for i, w in weights.items()} for label, weights in hull.weights.items()}
        yield replace(found, hull=replace(hull, weights=twice))
        shifted = {label: {i + 50: w for i, w in weights.items()} for label, weights in hull.weights.items()}
        yield replace(found, hull=replace(hull, weights=shifted))
        yield replace(found, weights=MappingProxyType({i: w + 1 for i, w in found.weights.items()}))


@pytest.mark.parametrize("data", [STRICT, WEAK, OVERLAP], ids=["strict", "weak", "overlapping"])
def test_what_is_told_wrongly_is_refused(data):
    found = cc.separability(*data)
    wrong = [told for told in wrongly_told(found) if not (told.margin == found.margin == 0.0 and told == found)]
    if found.verdict == "overlapping":  # has no margin to be wrong about
        wrong = [told for told in wrong if told.margin == found.margin]
    assert len(wrong) >= 5
    for told in wrong:
        assert not told.verify()


# ---- the core on rows ------------------------------------------------------------------------------------------------


def test_rows_of_zeros():
    zero = as_rows(np.zeros((3, 2)))
    found = separate(zero)
    assert (found.kind, dict(found.weights), len(found.circuit)) == ("overlapping", {}, 1)
    assert complaints(zero, found) == []
    mixed = as_rows(np.array([[0.0, 0.0], [1.0, 2.0]]))
    found = separate(mixed)
    assert (found.kind, found.still.tolist()) == ("weak", [0])
    assert complaints(mixed, found) == []


def test_strictly_is_the_first_question_only():
    direction, circuit = strictly(as_rows(np.array([[1.0, 0.0], [0.0, 1.0]])))
    assert direction is not None
    assert not circuit
    direction, circuit = strictly(as_rows(np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]])))
    assert direction is None
    assert set(circuit) == {0, 1}


def test_tips_are_tried_and_never_believed():
    rows = as_rows(np.array([[1.0, 0.0], [-1.0, 1.0], [0.0, -1.0], [0.0, 1.0]]))
    for tip in (
        Guess(np.array([1.0, 1.0]), np.array([0, 3])),
        Guess(np.array([np.inf, 1.0]), np.empty(0, dtype=np.intp)),
        Guess(None, np.array([0, 1, 2])),
    ):
        found = separate(rows, tip)
        assert found.kind == "overlapping"
        assert complaints(rows, found) == []


# ---- signs by expansions ---------------------------------------------------------------------------------------------

doubles = st.floats(-(2.0**80), 2.0**80, allow_subnormal=False).filter(lambda v: v == 0 or abs(v) > 2.0**-80)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(doubles, doubles), min_size=1, max_size=7))
def test_signs_of_products_are_those_of_rationals(pairs):
    a, x = (np.array(column) for column in zip(*pairs, strict=True))
    # the row as it is, and with its rounded value taken away: nothing but rounding is left
    value = sum((Fraction(p) * Fraction(q) for p, q in pairs), Fraction(0))
    rest = value - Fraction(float(value))
    row = np.append(a, -float(value))
    signs = product_signs(np.vstack([row, -row, np.append(a, 0.0)]), np.append(x, 1.0))
    assert signs is not None
    expected = [(rest > 0) - (rest < 0), (rest < 0) - (rest > 0), (value > 0) - (value < 0)]
    assert signs.tolist() == expected


def test_expansions_refuse_what_they_cannot_do():
    assert product_signs(np.array([[1e200]]), np.array([1.0])) is None
    assert as_doubles([Fraction(1, 3), Fraction(1)]).tolist() == [1.0, 3.0]
    assert as_doubles([Fraction(2**60 + 1)]) is None
    assert as_rows(np.ones((2, 2))).scaled(0.1).exact_doubles(slice(None)) is None
    assert as_rows(np.ones((2, 2))).scaled(-1.0).exact_doubles(slice(None)) is not None


def test_signs_of_scaled_rows_do_not_trust_rounded_products():
    """0.1 times 3 rounds: the sign comes from the rationals."""
    rows = as_rows(np.array([[3.0, -1.0]])).scaled(1.0, np.array([0.1, 0.30000000000000004]))
    truth = 3 * Fraction(0.1) - Fraction(0.30000000000000004)
    assert exact_signs(rows, [Fraction(1), Fraction(1)]).tolist() == [(truth > 0) - (truth < 0)]


# ---- four models, one verdict ----------------------------------------------------------------------------------------


def assert_all_agree(X, y, intercept: bool, decided: bool = False) -> str:
    """Whatever a model says for certain is what separability says. Returns the verdict."""
    unsure = () if decided else ("undecided",)
    verdict = cc.separability(X, y, intercept=intercept).verdict
    strict, overlap = verdict == "strictly separable", verdict == "overlapping"
    hard = cc.HardMarginSVM(X, y, intercept=intercept).solve()
    assert hard.status in (("optimal" if strict else "infeasible"), *unsure), (X, y, intercept)
    for model in (cc.LogisticMLE, cc.SoftmaxMLE):
        likelihood = model(X, y, intercept=intercept).solve()
        assert likelihood.status in (("optimal" if overlap else "unattained"), *unsure), (X, y, intercept)
    criterion = cc.PerceptronCriterion(X, y, intercept=intercept).solve()
    assert criterion.status in ("optimal", *(("infeasible",) if overlap else ()), *unsure), (X, y, intercept)
    if criterion.status == "optimal" and not overlap:
        assert criterion.objective <= 1e-8 * len(y), (X, y, intercept)
    return verdict


@pytest.mark.parametrize("chunk", range(3))
def test_all_four_models_agree_on_integer_sets(chunk):
    seen = []
    for X, y, intercept in integer_sets(500 + chunk, 50):
        verdict = assert_all_agree(X, y, intercept, decided=True)
        assert verdict == brute_force(X, y, intercept)
        seen.append(verdict)
    assert set(seen) == set(NAMES.values())


def test_all_four_models_agree_where_doubles_end():
    for k, (X, y, intercept) in enumerate(hard_sets()):
        if k % 5 == 0 and k % 7 != 5:  # squares of 1e+-300 are beyond doubles, and so beyond the solvers
            assert_all_agree(X, y, intercept)


def test_a_value_of_0_of_the_perceptron_criterion_means_separable():
    for X, y, intercept in integer_sets(700, 60):
        criterion = cc.PerceptronCriterion(X, y, intercept=intercept).solve()
        if criterion.status == "optimal":
            zero = criterion.objective <= 1e-8 * len(y)
            assert zero == (brute_force(X, y, intercept) != "overlapping"), (X, y, intercept)


def test_samples_without_weight_have_no_say():
    X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
    weights = [1.0, 1.0, 0.0, 1.0]
    assert cc.LogisticMLE(X, y).solve().status == "optimal"
    solution = cc.LogisticMLE(X, y, sample_weight=weights).solve()
    assert solution.status == "unattained"
    assert set(solution.certificate.direction.rows) == {0, 1, 3}
    assert cc.SoftmaxMLE(X, y, sample_weight=weights).solve().status == "unattained"
    assert cc.PerceptronCriterion(X, y, sample_weight=weights).solve().objective == pytest.approx(0.0, abs=1e-9)


def test_an_optimum_that_hangs_on_the_last_digit_does_not_stand():
    """One bit of overlap: doubles accept a hard margin of 1e16 times the data; rationals do not."""
    X = np.array([[0.0], [1.0], [np.nextafter(1.0, 0)], [2.0]])
    y = [0, 0, 1, 1]
    for solver in ("auto", "clarabel", "osqp"):
        assert cc.HardMarginSVM(X, y).solve(solver).status == "infeasible"
    X[2] = np.nextafter(1.0, 2)
    assert cc.HardMarginSVM(X, y).solve().status != "infeasible"
    assert cc.LogisticMLE(X, y).solve().status == "unattained"


def test_the_perceptron_is_infeasible_iff_all_margins_add_up_to_zero_exactly():
    """Sums of doubles that cancel exactly, and sums that rounding only makes 0."""
    a, b = 0.1, 0.7
    X = np.array([[a, a], [b, b], [a, b], [b, a]])
    assert cc.PerceptronCriterion(X, [0, 0, 1, 1]).solve().status == "infeasible"
    nearly = np.array([[1e17], [1.0], [1e17], [2.0]])  # adds up to 0 in doubles, to 1 in truth
    solution = cc.PerceptronCriterion(nearly, [0, 0, 1, 1]).solve()
    assert solution.status != "infeasible"


class OneSided(cc.Problem):
    """1/2 ‖v‖^2 subject to a_i'v >= 1, that says itself how separability bears on it."""

    def __init__(self, rows):
        given = as_rows(np.array(rows))
        sides = cc.Constraint("sides", {"v": -given}, r"\alpha", rhs=-1.0)
        v = cc.Variable("v", given.shape[1], "v")
        super().__init__("one-sided rows", [v], quadratic={"v": 1.0}, constraints=[sides])

    def separating(self):
        return SeparatingMargin(self, -self.constraints[0].entries["v"], "sides")


def test_a_problem_of_ones_own_says_how_separability_bears_on_it():
    """One bit decides: the circuit in rationals is a Farkas vector of the block that the problem names."""
    meeting = OneSided([[1.0, 1.0], [-1.0, np.nextafter(-1.0, 0)], [0.0, -1.0]])
    certificate = meeting.solve("clarabel").certificate
    assert certificate.status == "infeasible"
    assert set(certificate.farkas.exactly) == {"sides"}
    assert farkas.check(meeting, certificate.farkas.exactly) == ""
    assert OneSided([[1.0, 1.0], [1.0, -1.0]]).solve().status == "optimal"


def test_a_wrong_claim_is_refused_with_a_reason():
    rows = as_rows(np.array([[1.0], [-2.0]]))
    proof = separate(rows)
    assert check(rows, proof) == ""
    assert "does not cancel" in check(rows, replace(proof, circuit=MappingProxyType({0: Fraction(1), 1: Fraction(1)})))
    assert "not above 0" in check(rows, replace(proof, circuit=MappingProxyType({0: Fraction(2), 1: Fraction(-1)})))
    assert "no verdict" in check(rows, replace(proof, kind="both"))


def dependent(separated=0):
    """One-hot columns beside an intercept, labels of which those of the first ``separated`` levels are all alike, and
    the log-odds of the other levels, which are their optimum."""
    rng = np.random.default_rng(7)
    level, labels = np.arange(600) % 4, rng.integers(0, 2, 600)
    labels[level < separated] = 1
    shares = [labels[level == k].mean() for k in range(separated, 4)]
    return cc.LogisticMLE(np.eye(4)[level], labels), [np.log(p / (1 - p)) for p in shares]


def is_clear(problem, x):
    """Whether an optimum stands without a verdict in rationals."""
    view = problem.separating()
    view.__dict__["separation"] = SimpleNamespace(kind="not asked")
    return view.agrees(np.array(x), None, 1e-8)


def test_an_optimum_on_dependent_columns_is_clear_only_at_a_stationary_point():
    """Multipliers near the slopes make up for a little, not for any gradient."""
    problem, (first, *odds) = dependent()
    assert is_clear(problem, [first, *odds, 0.0])
    assert is_clear(problem, [first + 1, *(v + 1 for v in odds), -1.0])  # the same margins
    assert is_clear(problem, [first + 1e-4, *odds, 0.0])
    assert not is_clear(problem, [first + 1, *odds, 0.0])
    assert not is_clear(problem, [first, *odds, 1.0])


@pytest.mark.parametrize("far", [3.0, 10.0, 20.0, 36.0, 50.0, 800.0])
def test_no_point_of_separated_classes_on_dependent_columns_is_clear(far):
    """However small the gradient is, so is the curvature; at 800 the slopes are at the end of their range."""
    problem, odds = dependent(separated=1)
    assert not is_clear(problem, [far, *odds, 0.0])
