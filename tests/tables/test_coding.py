"""A table as a matrix: levels against a reference, gaps, weights, formulas; the coding as a thing that stays."""

from __future__ import annotations

import datetime
import json
import warnings

import numpy as np
import pytest
from made_tables import as_csv, coded_by_hand, heart
from scipy import sparse

import convexcls as cc
from convexcls.data import Labels
from convexcls.tables import Coding, CodingError, coded_samples

HEART = heart()
GAPS = {"a": [1.0, None, 3.0, 4.0, 6.0], "b": ["x", "y", None, "y", "y"], "y": [0, 1, 1, 0, 1]}


def quiet(table: cc.Table, *args, **how):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cc.TableWarning)
        return table.samples(*args, **how)


def test_levels_become_indicators_against_the_most_frequent():
    samples = cc.Table(HEART).samples("chd")
    assert np.array_equal(samples.X.matrix, coded_by_hand(HEART))
    assert samples.y.tolist() == HEART["chd"]


def test_the_same_as_scikit_learns_encoder():
    from sklearn.preprocessing import OneHotEncoder

    rng = np.random.default_rng(3)
    text = {"u": rng.choice(["a", "b", "c"], 50).tolist(), "v": rng.choice(["p", "q"], 50).tolist()}
    samples = cc.Table({**text, "y": rng.integers(0, 2, 50)}).samples("y", reference={"u": "b", "v": "q"})
    encoder = OneHotEncoder(categories=[["b", "a", "c"], ["q", "p"]], drop="first", sparse_output=False)
    assert np.array_equal(samples.X.matrix, encoder.fit_transform(np.array([text["u"], text["v"]]).T))
    assert samples.X.features == ("u=a", "u=c", "v=p")


def test_truth_values_and_categories_are_levels():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"t": [True, False, False], "c": pandas.Categorical([3, 5, 5]), "y": ["n", "y", "n"]})
    samples = cc.Table(frame).samples("y")
    assert samples.X.features == ("t=True", "c=3")
    assert samples.coding.code({"t": ["True"], "c": [5]}).matrix.tolist() == [[1.0, 0.0]]


def test_gaps_are_counted_dropped_or_marked():
    with pytest.raises(cc.TableError, match=r"row 1, column 'a'.*2 rows of 5 .*a 1, b 1.*missing='drop'"):
        cc.Table(GAPS).samples("y")
    dropped = quiet(cc.Table(GAPS), "y", missing="drop")
    assert dropped.rows.tolist() == [0, 3, 4]
    assert dropped.X.matrix.tolist() == [[1.0, 1.0], [4.0, 0.0], [6.0, 0.0]]
    assert "2 rows of 5" in dropped.notes[0]
    marked = cc.Table(GAPS).samples("y", missing="indicator")
    assert marked.X.features == ("a", "a missing", "b=x", "b missing")
    assert marked.X.matrix[1].tolist() == [3.0, 1.0, 0.0, 0.0]
    assert marked.X.matrix[2].tolist() == [3.0, 0.0, 0.0, 1.0]


def test_a_missing_target_is_refused_or_left_out():
    table = cc.Table({"x": [1, 2, 3, 4], "y": ["a", None, "b", "a"]})
    with pytest.raises(cc.TableError, match=r"row 1, column 'y' .*needs a target"):
        table.samples("y")
    assert quiet(table, "y", missing="drop").y.tolist() == ["a", "b", "a"]


REFUSED = {
    "dates": ({"d": [datetime.date(2020, 1, 1), datetime.date(2021, 1, 1)], "y": [0, 1]}, {}, "'d' holds dates"),
    "dates as text": ({"d": ["1/2/2020", "3/4/2021"], "y": [0, 1]}, {}, "'d' holds dates"),
    "a word among numbers": ({"x": ["1", "2", "many"], "y": [0, 1, 0]}, {}, "row 2, column 'x' is 'many'"),
    "lists": ({"x": [[1], [2]], "y": [0, 1]}, {}, "neither numbers nor levels"),
    "texts": ({"x": [f"n{k}" for k in range(30)], "y": [0, 1] * 15}, {}, "30 different texts"),
    "no such column": ({"abc": [1, 2], "y": [0, 1]}, {"drop": ["abd"]}, "did you mean 'abc'"),
    "no such level": ({"x": ["a", "b"], "y": [0, 1]}, {"reference": {"x": "c"}}, "no level 'c'"),
    "a reference of numbers": ({"x": [1, 2], "y": [0, 1]}, {"reference": {"x": "1"}}, "no reference level"),
    "no such label": ({"x": [1, 2], "y": [0, 1]}, {"positive": "2"}, "no label '2'"),
    "nothing left": ({"x": [1, 2], "y": [0, 1]}, {"drop": ["x"]}, "no column is left"),
    "infinity": ({"x": [1, np.inf], "y": [0, 1]}, {}, "row 1, column 'x' is infinite"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_coded_is_refused_by_name(case):
    columns, how, words = REFUSED[case]
    with pytest.raises(cc.TableError, match=words):
        cc.Table(columns).samples("y", **how)


def test_a_number_for_each_row_is_told():
    table = cc.Table({"patient": list(range(7, 27)), "x": [1.5, 2.5] * 10, "y": [0, 1] * 10})
    with pytest.warns(cc.TableWarning, match="'patient' looks like a number given to each row"):
        table.samples("y")
    assert table.samples("y", drop=["patient"]).notes == ()


# ---- labels and weights -----------------------------------------------------------------------------------------


def test_the_positive_label_counts_as_plus_one():
    table = cc.Table({"x": [1, 2, 3, 4], "y": ["sick", "sick", "well", "well"]})
    turned = table.samples("y", positive="sick").declare(cc.HardMarginSVM).solve()
    usual = table.samples("y").declare(cc.HardMarginSVM).solve()
    assert turned.data.labels == ("well", "sick")
    assert turned.coef == pytest.approx(-usual.coef)
    assert turned.predict({"x": [0]}).tolist() == usual.predict({"x": [0]}).tolist() == ["sick"]


def test_one_label_against_the_others():
    table = cc.Table({"x": [1, 2, 3, 4], "y": ["a", "b", "c", "c"]})
    assert np.asarray(table.samples("y", positive="b").y).tolist() == ["not b", "b", "not b", "not b"]


def test_an_order_of_labels_survives_leaving_out_rows():
    table = cc.Table({"x": [1, 3, 2, 4, 2.5], "y": ["sick", "sick", "well", "well", "sick"]})
    problem = table.samples("y", positive="sick").declare(cc.LogisticMLE, l2=1.0)
    assert problem.on(np.arange(4)).data.labels == ("well", "sick")


def test_weights_and_balanced_classes_as_scikit_learn_has_them():
    from sklearn.utils.class_weight import compute_sample_weight

    columns = {"x": [1, 2, 3, 4, 5], "w": [1, 2, 1, 1, 3], "y": ["a", "a", "a", "a", "b"]}
    table = cc.Table(columns)
    assert table.samples("y", weights="w").weights.tolist() == [1, 2, 1, 1, 3]
    balanced = table.samples("y", drop=["w"], class_weight="balanced")
    assert balanced.weights == pytest.approx(compute_sample_weight("balanced", columns["y"]))


# ---- formulas ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "right",
    [
        "tobacco + famhist",
        "tobacco * famhist",
        "famhist:tobacco",
        "age + famhist:tobacco",
        "0 + famhist + age",
        "famhist - 1",
    ],
)
def test_formulas_make_the_columns_that_formulaic_makes(right):
    formulaic = pytest.importorskip("formulaic")
    frame = pytest.importorskip("pandas").DataFrame(HEART)
    samples = cc.Table(frame).samples(formula=f"chd ~ {right}", reference={"famhist": "Absent"})
    theirs = np.asarray(formulaic.model_matrix(right, frame), dtype=float)
    ours = samples.X.matrix
    if samples.coding.intercept:
        ours = np.column_stack([np.ones(len(ours)), ours])
    assert sorted(map(tuple, ours.T.tolist())) == sorted(map(tuple, theirs.T.tolist()))


def test_a_formula_names_columns_and_nothing_else():
    pytest.importorskip("formulaic")
    table = cc.Table(HEART)
    assert table.samples(formula="chd ~ .").X.features == table.samples("chd").X.features
    for formula, words in (
        ("chd ~ log(age)", "computed"),
        ("chd ~ {__import__('os').getcwd()}", "computed"),
        ("chd ~ agee", "did you mean 'age'"),
        ("cdh ~ age", "did you mean 'chd'"),
        ("chd ~ 1", "no terms"),
        ("chd ~ age +", "cannot be read"),
    ):
        with pytest.raises(cc.TableError, match=words):
            table.samples(formula=formula)


# ---- the coding stays ---------------------------------------------------------------------------------------------

CODINGS = {
    "plain": ({"x": [1, 2], "y": [0, 1]}, {}),
    "levels": (HEART, {}),
    "gaps": (GAPS, {"missing": "indicator"}),
    "dropped": (GAPS, {"missing": "drop"}),
    "positive and balanced": (HEART, {"positive": 0, "class_weight": "balanced"}),
    "weights": (HEART, {"weights": "age"}),
}


@pytest.mark.parametrize("case", CODINGS)
def test_a_coding_goes_to_plain_values_and_back(case):
    columns, how = CODINGS[case]
    samples = quiet(cc.Table(columns), list(columns)[-1], **how)
    again = Coding.from_dict(samples.coding.to_dict())
    assert str(again) == str(samples.coding)
    found = coded_samples(cc.Table(columns), again)
    assert np.array_equal(found.X.matrix, samples.X.matrix)
    assert np.asarray(found.y).tolist() == np.asarray(samples.y).tolist()


def test_new_rows_are_coded_as_the_old_ones_were():
    coding = cc.Table(HEART).samples("chd").coding
    new = {"age": [30, 40], "famhist": ["Absent", "Present"], "tobacco": [0.5, 1.0], "unused": ["?", "!"]}
    assert coding.code(new).matrix[:, 2].tolist() == [30.0, 40.0]
    with pytest.raises(cc.TableError, match="row 1, column 'famhist' is 'Unknown', a level that"):
        coding.code({**new, "famhist": ["Absent", "Unknown"]})
    with pytest.raises(cc.TableError, match="no column 'age'"):
        coding.code({"famhist": ["Absent"], "tobacco": [1.0]})
    with pytest.raises(cc.TableError, match="row 0, column 'age' is empty or missing"):
        coding.code({**new, "age": [None, 40]})


def test_exact_cells_go_through_the_coding(tmp_path):
    (tmp_path / "a.csv").write_text("x,g,y\n0.1,a,0\n0.3,b,1\n0.7,a,1\n0.2,a,0\n")
    table = cc.read_table(tmp_path / "a.csv", exact=True)
    given = table.samples("y").X.given
    assert [str(entry) for entry in given.row(1)] == ["3/10", "1"]
    pytest.importorskip("formulaic")
    product = table.samples(formula="y ~ x * g").X
    assert [str(entry) for entry in product.given.row(1)] == ["3/10", "1", "3/10"]


HOSTILE = {
    "no object": [],
    "a field missing": {"target": "y"},
    "a level twice": ("columns", {"a": ["levels", "x", "x"]}),
    "a word that is no kind": ("columns", {"a": ["eval", "1"]}),
    "a fill that is no number": ("columns", {"a": ["number", "missing", "__import__"]}),
    "no columns": ("columns", {}),
    "a term of no column": ("terms", [["nope"]]),
    "a long name": ("target", "x" * 3000),
    "a class weight": ("class_weight", {"a": 1}),
    "a policy": ("missing", "guess"),
    "an intercept": ("intercept", "yes"),
    "too many levels": ("columns", {"a": ["levels", *map(str, range(50_001))]}),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_coding_that_is_none_is_refused(case):
    good = cc.Table(HEART).samples("chd").coding.to_dict()
    change = HOSTILE[case]
    with pytest.raises(CodingError):
        Coding.from_dict({**good, change[0]: change[1]} if isinstance(change, tuple) else change)


# ---- from file to proof ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "how", [{}, {"positive": 0}, {"class_weight": "balanced"}, {"reference": {"famhist": "Present"}}]
)
@pytest.mark.parametrize("exact", [False, True])
def test_a_certificate_of_a_table_verifies_against_its_raw_file(how, exact, tmp_path):
    path = tmp_path / "heart.csv"
    path.write_text(as_csv(HEART))
    s = cc.read_table(path, exact=exact).samples("chd", **how).declare(cc.LogisticMLE).solve()
    text = s.certificate.to_json()
    assert "coded so" in s.certificate.explain()
    assert cc.verify(text, path)
    assert bool(cc.verify(text, cc.Table(HEART))) != exact  # 0.1 as it is written is not the double 0.1
    changed = {**HEART, "famhist": HEART["famhist"][::-1]}
    assert not cc.verify(text, cc.Table(changed))
    other = text.replace('"levels"', '"levels and missing"')
    assert other != text
    assert not cc.verify(other, path)


@pytest.mark.parametrize("positive", [None, 0, 1])
def test_the_same_certificate_verifies_against_the_coded_samples(positive):
    """Whichever label counts as +1; but for the other labels."""
    X, y = [[0.0, 1.0], [1.0, 0.5], [2.0, 3.0], [3.0, -1.0], [1.5, 2.0], [0.5, 0.0]], [0, 1, 0, 1, 1, 0]
    table = cc.Table({"a": [row[0] for row in X], "b": [row[1] for row in X], "y": y})
    proof = table.samples("y", positive=positive).declare(cc.LogisticMLE, l2=1.0).solve().certificate.to_json()
    assert positive is None or cc.verify(proof, table)
    assert cc.verify(proof, X, y)
    assert not cc.verify(proof, X, [1 - label for label in y])


def test_a_certificate_that_names_the_positive_label_takes_other_labels_for_others():
    table = cc.Table({"a": [0.0, 1.0, 2.0, 3.0, 1.5], "sex": ["f", "m", "f", "f", "m"], "y": [0, 1, 0, 1, 1]})
    X = [[0.0, 0.0], [1.0, 1.0], [2.0, 0.0], [3.0, 0.0], [1.5, 1.0]]
    turned = Labels(np.array([1, 0, 1, 0, 0]), (1, 0))  # the same, with 0 as the second label
    for positive in (None, 0):
        samples = table.samples("y", positive=positive)
        proof = samples.declare(cc.LogisticMLE, l2=1.0).solve().certificate.to_json()
        assert cc.verify(proof, X, [0, 1, 0, 1, 1])
        assert bool(cc.verify(proof, X, turned)) is (positive == 0)  # without a name the order is that of the labels
        for others in ([0, 1, 0, 1, 2], [0, 1, 0, 1, 5], ["a", "b", "a", "b", "b"]):
            assert "other labels" in cc.verify(proof, X, others).reasons[0]
        with pytest.raises(cc.DataError, match="y is missing"):
            cc.verify(cc.LogisticMLE(X, [0, 1, 0, 1, 1], l2=1.0).solve().certificate, X)
    squares = json.loads(samples.declare(cc.LeastSquares, coding="pm1").solve().certificate.to_json())
    assert squares["parameters"]["coding"] == "pm1"
    squares["parameters"]["coding"] = "real"  # then there are no labels at all
    assert "other labels" in cc.verify(json.dumps(squares), X, [0, 1, 0, 1, 1]).reasons[0]


# ---- many levels ----------------------------------------------------------------------------------------------


def towns(n=6000, count=1500, seed=3):
    rng = np.random.default_rng(seed)
    town = rng.permutation(np.arange(n) % count)
    return {
        "price": rng.normal(size=n).round(2).tolist(),
        "town": [f"town {k}" for k in town],
        "sold": np.where(rng.random(n) < 0.5, "yes", "no").tolist(),
    }


def test_a_column_of_many_levels_is_a_sparse_matrix_with_the_same_entries(monkeypatch):
    from convexcls.tables import coding

    table = cc.Table(towns())
    samples = table.samples("sold")
    assert sparse.issparse(samples.X.matrix)
    assert samples.X.matrix.nnz < 2.1 * 6000
    monkeypatch.setattr(coding, "MAX_DENSE_ENTRIES", 10**9)
    dense = samples.coding.code(table)
    assert isinstance(dense.matrix, np.ndarray)
    assert np.array_equal(samples.X.matrix.toarray(), dense.matrix)
    assert samples.X.features == dense.features


def test_many_levels_are_solved_saved_and_predicted(tmp_path):
    table = cc.Table(towns())
    s = table.samples("sold").declare(cc.LogisticMLE, l2=1.0).solve()
    assert s.status == "optimal"
    s.save(tmp_path / "model.json")
    model = cc.load_model(tmp_path / "model.json")
    assert np.array_equal(model.predict(table), s.predict(table))
    one = {"price": [0.5], "town": ["town 7"]}
    j = s.data.features.index("town=town 7")
    assert s.decision_function(one)[0] == pytest.approx(0.5 * s.coef[0] + s.coef[j] + s.intercept)


@pytest.mark.parametrize("missing", ["fail", "indicator"])
def test_sparse_entries_are_as_given_too(missing, tmp_path, monkeypatch):
    from convexcls.tables import coding

    columns = towns(400, 120)
    columns["price"] = [f"{k}.1" for k in range(400)]
    if missing == "indicator":
        columns["price"][3] = columns["town"][5] = ""
    lines = [",".join(columns), *(",".join(row) for row in zip(*columns.values(), strict=True))]
    path = tmp_path / "towns.csv"
    path.write_text("\n".join(lines) + "\n")
    table = cc.read_table(path, exact=True)
    dense = table.samples("sold", missing=missing).X
    monkeypatch.setattr(coding, "MAX_DENSE_ENTRIES", 1000)
    thin = table.samples("sold", missing=missing).X
    assert sparse.issparse(thin.matrix)
    assert np.array_equal(thin.matrix.toarray(), dense.matrix)
    for i in (0, 3, 5, 399):
        assert thin.given.row(i) == dense.given.row(i)
