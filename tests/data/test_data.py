"""The door: whatever comes in either works, unmodified, or is refused with its place and what to do."""

from __future__ import annotations

import datetime
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy import sparse

import convexcls as cc
from convexcls.data import DataError, check_data, check_matrix

LARGE = 2**53 + 1
TABLE = np.array([[0.0, 1.5], [2.0, 0.0], [0.0, 0.0], [-3.0, 4.0]])
SIGNS = [-1, 1, 1, -1]


def refused(*words: str) -> pytest.RaisesExc:
    """A DataError whose message contains all the words."""
    return pytest.raises(DataError, match="(?s)" + "".join(f"(?=.*{w})" for w in words))


# ---- arrays that are doubles are used in place -----------------------------------------------------------


def _read_only(a):
    a = a.copy()
    a.flags.writeable = False
    return a


IN_PLACE = {
    "C order": np.ascontiguousarray,
    "Fortran order": np.asfortranarray,
    "read-only": _read_only,
    "every other row": lambda a: np.repeat(a, 2, axis=0)[::2],
    "every other column": lambda a: np.repeat(a, 2, axis=1)[:, ::2],
    "reversed": lambda a: a[::-1, ::-1].copy()[::-1, ::-1],
    "matrix": lambda a: np.asarray(a).view(np.matrix),
    "masked, nothing hidden": lambda a: np.ma.array(a, mask=np.zeros(a.shape, dtype=bool)),
    "DataFrame": lambda a: pd.DataFrame(a),
}


@pytest.mark.parametrize("make", IN_PLACE.values(), ids=IN_PLACE)
def test_doubles_are_used_in_place(make):
    X = make(TABLE.copy())
    memory = X.to_numpy() if isinstance(X, pd.DataFrame) else np.asarray(X)
    before = memory.tobytes()
    data = check_data(X, SIGNS)
    assert type(data.matrix) is np.ndarray
    assert np.shares_memory(data.matrix, memory)
    assert np.array_equal(data.matrix, TABLE)
    assert memory.tobytes() == before


def test_a_memory_map_is_used_in_place(tmp_path):
    np.save(tmp_path / "X.npy", TABLE)
    X = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert np.shares_memory(check_matrix(X), X)


@pytest.mark.parametrize(
    "kind", ["f2", "f4", "g", ">f8", "i1", "u1", "i4", "i8", "u8", "?"], ids=lambda k: str(np.dtype(k))
)
def test_other_number_types_are_converted_once(kind):
    X = np.array([[0, 1], [1, 1], [1, 0]]).astype(kind)
    before = X.tobytes()
    matrix = check_matrix(X)
    assert matrix.dtype == np.float64
    assert matrix.dtype.isnative
    assert np.array_equal(matrix, [[0, 1], [1, 1], [1, 0]])
    assert X.tobytes() == before


@pytest.mark.parametrize(
    "entry",
    [Fraction(1, 3), Decimal("0.1"), 7, True, np.float32(0.5), np.int8(3), 2**53, -(2**53), Fraction(-(10**300), 7)],
    ids=repr,
)
def test_objects_that_are_numbers_work(entry):
    X = np.array([[entry, 1], [Fraction(1, 2), 2]], dtype=object)
    matrix = check_matrix(X)
    assert matrix[0, 0] == float(entry)
    assert X[0, 0] is entry
    assert np.array_equal(check_matrix(X.tolist()), matrix)


@given(arrays(np.float64, array_shapes(min_dims=2, max_dims=2, max_side=6), elements=st.floats(allow_nan=True)))
def test_every_array_of_doubles_is_used_in_place_or_refused_at_its_first_bad_entry(X):
    bad = np.argwhere(~np.isfinite(X))
    if bad.size:
        row, column = bad[0]
        with refused(f"X row {row}, column {column} is (missing|infinite)"):
            check_matrix(X)
    else:
        assert np.shares_memory(check_matrix(X), X)


def test_huge_finite_entries_do_not_overflow_the_check():
    X = np.full((4, 2), 1e308)
    assert np.shares_memory(check_matrix(X), X)
    X[2, 1] = np.inf
    X[3, 0] = -np.inf
    with refused("X row 2, column 1 is infinite", "finite number"):
        check_matrix(X)


# ---- what is refused, with its place ------------------------------------------------------------------------


class Unknown:
    def __repr__(self) -> str:
        return "Unknown()"


REFUSED = [
    ([[1.0, np.nan], [0, 0]], "X row 0, column 1 is missing", "fill in or drop"),
    ([[1.0, 2.0], [-np.inf, 0]], "X row 1, column 0 is infinite", "finite"),
    (np.array([[0, 1], [2, np.inf]], dtype="f4"), "X row 1, column 1 is infinite", "finite"),
    (np.array([[0, 1], [2, np.nan]], dtype="g"), "X row 1, column 1 is missing", "fill in"),
    (np.array([[1, 2 + 1j]]), "X row 0, column 0 is", "real and imaginary parts"),
    ([[1.0, 2], [3, 1j]], "X row 0, column 0", "real and imaginary parts"),
    (np.array([[1, 1j]], dtype=object), "X row 0, column 1 is 1j", "real and imaginary parts"),
    (np.array([["1", "2"]]), "X row 0, column 0 is '1'", "convert text to numbers"),
    ([["1", "2"]], "X row 0, column 0 is '1'", "convert text to numbers"),
    ([[1, 2], [3, "4"]], "X row 1, column 1 is '4'", "convert text to numbers"),
    ([[1, b"2"]], "X row 0, column 1 is b'2'", "convert text to numbers"),
    ([[1, None]], "X row 0, column 1 is missing \\(None\\)", "fill in"),
    ([[1, LARGE]], f"X row 0, column 1 is {LARGE}", "2\\^53", "rescale"),
    ([[0.5, LARGE]], f"X row 0, column 1 is {LARGE}", "2\\^53", "rescale"),
    ([[0.5, 1.0], [-LARGE, 0.5]], f"X row 1, column 0 is -{LARGE}", "2\\^53", "rescale"),
    (np.array([[0, 1], [2, -LARGE]]), f"X row 1, column 1 is -{LARGE}", "2\\^53"),
    (np.array([[0, 2**64 - 1]], dtype=np.uint64), f"X row 0, column 1 is {2**64 - 1}", "2\\^53"),
    (np.array([[0, -(2**63)]]), f"X row 0, column 1 is -{2**63}", "2\\^53"),
    (np.array([[10**400, 1.0]], dtype=object), "X row 0, column 0 is 1000", "2\\^53"),
    (np.array([[1.0, Fraction(10**400)]], dtype=object), "X row 0, column 1", "range of doubles"),
    (np.array([[1.0, Decimal("1e400")]], dtype=object), "X row 0, column 1", "range of doubles"),
    (np.array([[1.0, Decimal("NaN")]], dtype=object), "X row 0, column 1", "missing"),
    (np.array([[1.0, Decimal("sNaN")]], dtype=object), "X row 0, column 1", "missing"),
    (np.array([[1.0, Decimal("-Infinity")]], dtype=object), "X row 0, column 1 is infinite", "finite"),
    (np.array([[1.0, pd.NA]], dtype=object), "X row 0, column 1 is missing \\(<NA>\\)", "fill in"),
    (np.array([[1.0, pd.NaT]], dtype=object), "X row 0, column 1 is missing \\(NaT\\)", "fill in"),
    (np.array([[1.0, np.ma.masked]], dtype=object), "X row 0, column 1", "missing"),
    (np.array([[1.0, Unknown()]], dtype=object), "X row 0, column 1 is Unknown", "not a number"),
    (np.array([["2020-01-01"]], dtype="M8[D]"), "X row 0, column 0", "turn times into numbers"),
    (np.array([[3]], dtype="m8[D]"), "X row 0, column 0", "turn times into numbers"),
    (np.array([[1, datetime.date(2020, 1, 1)]], dtype=object), "X row 0, column 1", "turn times into numbers"),
    (np.array([[1, np.timedelta64(3, "D")]], dtype=object), "X row 0, column 1", "turn times into numbers"),
    (np.ma.array([[1.0, 2.0]], mask=[[False, True]]), "X row 0, column 1 is missing \\(masked\\)", "fill in"),
    ([[1, 2], [3]], "row 1 has 1 entries, row 0 has 2 entries"),
    ([[1, 2], 3], "row 1 has no length, row 0 has 2 entries"),
    ([[[1, 2], [3]]], "X is not a rectangular table"),
    (np.ones(3), "X has 1 dimension", "X\\[:, None\\]"),
    (np.ones((2, 2, 2)), "X has 3 dimensions", "one row per sample"),
    (np.float64(1.0), "X is 1.0, not a table"),
    (None, "X is None, not a table"),
    ("text", "X is 'text', not a table"),
    ({"a": [1, 2]}, "X is {'a'.*, not a table"),
    ([], "X is empty"),
    (np.ones((3, 0)), "X has no columns", "at least one feature"),
    (pd.DataFrame(index=range(3)), "X has no columns", "at least one feature"),
    (pd.Series([1.0, 2.0]), "X has 1 dimension", "X\\[:, None\\]"),
    (np.zeros((2, 2), dtype=[("a", "f8")]), "X row 0, column 0", "not a number"),
]


@pytest.mark.parametrize(("X", "words"), [(case[0], case[1:]) for case in REFUSED], ids=range(len(REFUSED)))
def test_what_cannot_be_used_is_refused_with_its_place(X, words):
    with refused(*words):
        check_matrix(X)


@pytest.mark.skipif(np.finfo(np.longdouble).max == np.finfo(float).max, reason="long double is double here")
def test_a_long_double_beyond_doubles_is_refused_and_not_called_infinite():
    X = np.array([[1.0, 2.0], [3.0, np.longdouble("1e400")]], dtype=np.longdouble)
    with refused("X row 1, column 1", "range of doubles"):
        check_matrix(X)


def test_a_wrong_number_of_columns_is_named():
    with refused("X has 2 columns", "declared with 3"):
        check_matrix(TABLE, columns=3)


def test_no_rows_is_refused_for_training_only():
    assert check_matrix(np.ones((0, 2))).shape == (0, 2)
    with refused("X has no rows"):
        check_data(np.ones((0, 2)), [])


# ---- tables with named columns ------------------------------------------------------------------------------


@pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
def test_a_table_of_mixed_number_types(library):
    X = library.DataFrame({"size": [1, 2, 3], "price": [0.5, 1.5, 2.5], "new": [True, False, True]})
    data = check_data(X, ["a", "b", "a"])
    assert np.array_equal(data.matrix, [[1, 0.5, 1], [2, 1.5, 0], [3, 2.5, 1]])
    assert data.features == ("size", "price", "new")
    assert check_data(TABLE, SIGNS).features == ("x1", "x2")


def test_a_table_of_arrow():
    table = pa.table({"size": [1, 2], "price": [0.5, 1.5]})
    assert np.array_equal(check_matrix(table), [[1, 0.5], [2, 1.5]])


@pytest.mark.parametrize(
    "dtype", ["Int64", "UInt8", "Float64", "Float32", "int64[pyarrow]", "double[pyarrow]", "float32"]
)
def test_pandas_types_of_numbers(dtype):
    X = pd.DataFrame({"a": pd.Series([1, 2, 3], dtype=dtype), "b": [0.5, 1.0, 1.5]})
    assert np.array_equal(check_matrix(X), [[1, 0.5], [2, 1.0], [3, 1.5]])
    with refused("X column 'a', row 1 is missing", "fill in or drop"):
        check_matrix(X.assign(a=pd.Series([1, None, 3], dtype=dtype)))


def test_pandas_booleans_and_decimals():
    X = pd.DataFrame({"a": pd.Series([True, False], dtype="boolean"), "b": [Decimal("0.1"), Fraction(1, 3)]})
    assert np.array_equal(check_matrix(X), [[1, 0.1], [0, 1 / 3]])
    with refused("X column 'a', row 1 is missing", "fill in"):
        check_matrix(X.assign(a=pd.Series([True, None], dtype="boolean")))


FRAMES = [
    ({"a": [1.0, np.nan]}, "X column 'a', row 1 is missing", "fill in or drop"),
    ({"b": [1.0, 2.0], "a": [np.inf, 1.0]}, "X column 'a', row 0 is infinite", "finite"),
    ({"b": [0.5, 0.5], "a": [1, LARGE]}, f"X column 'a', row 1 is {LARGE}", "2\\^53"),
    ({"a": ["1", "2"]}, "X column 'a', row 0 is '1'", "convert text to numbers"),
    ({"a": [1.0, None], "b": ["x", "y"]}, "X column 'a', row 1 is missing", "fill in"),
    ({"when": [datetime.datetime(2020, 1, 1)] * 2}, "X column 'when', row 0", "turn times into numbers"),
    ({"a": [datetime.timedelta(1)] * 2}, "X column 'a', row 0", "turn times into numbers"),
]


@pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
@pytest.mark.parametrize(("columns", "words"), [(case[0], case[1:]) for case in FRAMES], ids=range(len(FRAMES)))
def test_a_bad_entry_of_a_table_is_named_by_its_column(library, columns, words):
    with refused(*words):
        check_matrix(library.DataFrame(columns))


def test_categorical_columns_are_refused_even_where_the_categories_are_numbers():
    with refused("X column 'a' is categorical", "encode"):
        check_matrix(pd.DataFrame({"a": pd.Categorical([3, 1])}))
    with refused("X column 'a' is categorical", "encode"):
        check_matrix(pl.DataFrame({"a": ["x", "y"]}, schema={"a": pl.Categorical}))
    with refused("X column 'a' is categorical", "encode"):
        check_matrix(pl.DataFrame({"a": ["x", "y"]}, schema={"a": pl.Enum(["x", "y"])}))


def test_time_zones_and_complex_columns_are_refused():
    with refused("X column 'a', row 0", "turn times into numbers"):
        check_matrix(pd.DataFrame({"a": pd.to_datetime(["2020-01-01"]).tz_localize("UTC")}))
    with refused("X column 'a', row 0", "real and imaginary parts"):
        check_matrix(pd.DataFrame({"a": [1j, 2]}))


def test_columns_that_share_a_name_are_kept_apart():
    X = pd.DataFrame([[1, 2.5], [3, 4.5]], columns=["a", "a"])
    data = check_data(X, [0, 1])
    assert np.array_equal(data.matrix, [[1, 2.5], [3, 4.5]])
    assert data.features == ("a", "a")


def test_rows_are_counted_whatever_the_index():
    X = pd.DataFrame({"a": [1.0, np.nan]}, index=["first", "second"])
    with refused("X column 'a', row 1"):
        check_matrix(X)
    y = pd.Series(["u", "v"], index=["second", "first"])
    assert np.array_equal(check_data(X.fillna(0.0), y).signs, [-1, 1])


def test_sparse_columns_of_pandas_stay_sparse():
    columns = [pd.arrays.SparseArray(column, fill_value=0.0) for column in TABLE.T]
    data = check_data(pd.DataFrame({"a": columns[0], "b": columns[1]}), SIGNS)
    assert data.sparse
    assert data.features == ("a", "b")
    assert np.array_equal(data.matrix.toarray(), TABLE)
    bad = pd.arrays.SparseArray([0.0, 0.0, np.nan, 0.0], fill_value=0.0)
    with refused("X row 2, column 'b' is missing"):
        check_matrix(pd.DataFrame({"a": columns[0], "b": bad}))
    with refused("sparse columns", "something else than zeros"):
        check_matrix(pd.DataFrame({"a": pd.arrays.SparseArray([1.0, 2.0, 1.0], fill_value=1.0)}))


# ---- sparse matrices ----------------------------------------------------------------------------------------

FORMATS = ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"]


def _arrays_of(X) -> list[np.ndarray]:
    return [v for v in vars(X).values() if isinstance(v, np.ndarray)]


@pytest.mark.parametrize("interface", ["array", "matrix"])
@pytest.mark.parametrize("format", FORMATS)
def test_every_sparse_format_works_and_is_left_alone(format, interface):
    X = getattr(sparse, f"{format}_{interface}")(TABLE)
    before = [a.copy() for a in _arrays_of(X)]
    matrix = check_data(X, SIGNS).matrix
    assert matrix.format == ("csc" if format == "csc" else "csr")
    assert isinstance(matrix, sparse.sparray)
    assert matrix.dtype == np.float64
    assert np.array_equal(matrix.toarray(), TABLE)
    if format in ("csr", "csc"):
        for name in ("data", "indices", "indptr"):
            assert np.shares_memory(getattr(matrix, name), getattr(X, name))
    abs(matrix).max(axis=0)  # SciPy may tidy up in place here: not the caller's arrays
    for now, then in zip(_arrays_of(X), before, strict=True):
        assert np.array_equal(now, then)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("kind", ["f4", "g", "i1", "i8", "u8", "?"])
def test_sparse_number_types(format, kind):
    ones = sparse.coo_array((TABLE != 0).astype(kind))
    matrix = check_matrix(getattr(sparse, f"{format}_array")(ones))
    assert matrix.dtype == np.float64
    assert np.array_equal(matrix.toarray(), TABLE != 0)


@pytest.mark.parametrize("kind", ["csr", "csc"])
def test_repeated_and_unsorted_entries_are_added_up_in_a_copy(kind):
    entries, indices, indptr = np.array([1.0, 2.0, 4.0, 8.0]), np.array([1, 0, 1, 0]), np.array([0, 3, 4])
    X = getattr(sparse, f"{kind}_array")((entries, indices, indptr), shape=(2, 2))
    expected = np.array([[2.0, 5.0], [8.0, 0.0]])
    matrix = check_matrix(X)
    assert np.array_equal(matrix.toarray(), expected if kind == "csr" else expected.T)
    assert matrix.has_canonical_format
    abs(matrix).max(axis=0)
    assert np.array_equal(X.data, [1.0, 2.0, 4.0, 8.0])
    assert np.array_equal(X.indices, [1, 0, 1, 0])
    assert np.array_equal(X.indptr, [0, 3, 4])


def test_read_only_sparse_arrays_and_wide_indices_work():
    X = sparse.csr_array(TABLE)
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    for a in (X.data, X.indices, X.indptr):
        a.flags.writeable = False
    matrix = check_matrix(X)
    assert np.shares_memory(matrix.data, X.data)
    assert np.array_equal(matrix.toarray(), TABLE)


@pytest.mark.parametrize("format", FORMATS)
def test_a_bad_entry_of_a_sparse_matrix_is_named(format):
    entries = sparse.coo_array(([1.0, np.nan, 3.0], ([0, 2, 3], [1, 0, 1])), shape=(4, 2))
    make = getattr(sparse, f"{format}_array")
    with refused("X row 2, column 0 is missing", "fill in or drop"):
        check_matrix(make(entries))
    entries.data[1] = -np.inf
    with refused("X row 2, column 0 is infinite"):
        check_matrix(make(entries))
    large = sparse.coo_array((np.array([1, LARGE, 3]), ([0, 2, 3], [1, 0, 1])), shape=(4, 2))
    with refused(f"X row 2, column 0 is {LARGE}", "2\\^53"):
        check_matrix(make(large))


def test_sparse_matrices_of_other_kinds_are_refused():
    with refused("complex", "real and imaginary parts"):
        check_matrix(sparse.csr_array(np.array([[1j, 0]])))
    with refused("X has 1 dimension"):
        check_matrix(sparse.coo_array(np.array([1.0, 2.0])))
    with refused("X has no columns"):
        check_matrix(sparse.csr_array((3, 0)))
    with refused("X has no rows"):
        check_data(sparse.csr_array((0, 3)), [])


def test_a_large_sparse_matrix_is_never_made_dense():
    X = sparse.csr_array(([1.0, 2.0], ([0, 999_999], [0, 999_999])), shape=(10**6, 10**6))
    y = np.zeros(10**6)
    y[0] = 1
    data = check_data(X, y)
    assert data.sparse
    assert data.matrix.nnz == 2


# ---- labels -------------------------------------------------------------------------------------------------

LABELS = [
    (["no", "yes"], ("no", "yes")),
    ([b"no", b"yes"], (b"no", b"yes")),
    ([0, 1], (0, 1)),
    ([-1.5, 2], (-1.5, 2.0)),
    ([0, 1.0], (0.0, 1.0)),
    ([False, True], (False, True)),
    ([np.int8(3), np.int8(7)], (3, 7)),
    ([np.str_("a"), np.str_("b")], ("a", "b")),
    ([2**60, 2**60 + 1], (2**60, 2**60 + 1)),
    ([0.5, 2**53 + 1], (0.5, 2**53 + 1)),
    ([Fraction(1, 3), 0.5], (Fraction(1, 3), 0.5)),
    (["a", "a\0"], ("a", "a\0")),
    (["10", "9"], ("10", "9")),
]


def _categorical(y):
    return pd.Categorical(pd.Series(y, dtype=object), categories=pd.Index(sorted(set(y)), dtype=object))


HOLDERS = {
    "list": lambda y: y,
    "tuple": tuple,
    "object array": lambda y: np.array(y, dtype=object),
    "column": lambda y: np.array(y, dtype=object)[:, None],
    "Series": lambda y: pd.Series(y, dtype=object),
    "DataFrame": lambda y: pd.DataFrame({"label": pd.Series(y, dtype=object)}),
    "Categorical": lambda y: _categorical(y),
    "Categorical Series": lambda y: pd.Series(_categorical(y)),
}


@pytest.mark.parametrize("holder", HOLDERS.values(), ids=HOLDERS)
@pytest.mark.parametrize(("pair", "expected"), LABELS, ids=[repr(case[1]) for case in LABELS])
def test_any_two_labels(pair, expected, holder):
    y = holder([pair[1], pair[0], pair[1], pair[1]])
    data = check_data(np.eye(4), y)
    assert np.array_equal(data.signs, [1, -1, 1, 1])
    assert data.labels == expected
    assert [type(label) for label in data.labels] in ([type(e) for e in expected], [type(p) for p in pair])
    assert np.array_equal(data.coded("pm1"), data.signs)
    assert np.array_equal(data.coded("01"), [1, 0, 1, 1])


@pytest.mark.parametrize(
    "y",
    [
        np.array(["b", "a", "b"]),
        np.array([b"b", b"a", b"b"]),
        np.array([True, False, True]),
        np.array([7, 3, 7], dtype=np.uint64),
        np.array([0.5, -0.5, 0.5], dtype=np.float32),
        *([np.array(["b", "a", "b"], dtype=np.dtypes.StringDType())] if hasattr(np.dtypes, "StringDType") else []),
        np.array([[3, 1, 3]]),
        np.matrix([[3], [1], [3]]),
        pd.Series(["b", "a", "b"]),
        pd.Series([1, 0, 1], dtype="Int64"),
        pd.Series([True, False, True], dtype="boolean"),
        pl.Series(["b", "a", "b"]),
        pl.Series(["b", "a", "b"], dtype=pl.Categorical),
        pl.Series([True, False, True]),
        pd.Index([9, 2, 9]),
        sparse.csr_array([[1], [0], [1]]),
        np.ma.array([3, 1, 3]),
        pl.DataFrame({"y": ["b", "a", "b"]}),
        pa.array(["b", "a", "b"]),
        pa.chunked_array([["b"], ["a", "b"]]),
    ],
    ids=lambda y: f"{type(y).__name__}-{getattr(y, 'dtype', '')}",
)
def test_labels_in_every_container(y):
    assert np.array_equal(check_data(np.eye(3), y).signs, [1, -1, 1])


BAD_LABELS = [
    ([1, 1, 1], "one label only \\(1\\)", "both classes"),
    ([0, 1, 2], "3 distinct labels \\(0, 1, 2\\)", "choose two"),
    (["a", "b", "c"], "3 distinct labels", "choose two"),
    (np.array([0.0, 1.0, 2.0]), "3 distinct labels", "choose two"),
    ([0, 1], "X has 3 rows but y has 2 entries"),
    ([0, 1, 1, 0], "X has 3 rows but y has 4 entries"),
    ([], "X has 3 rows but y has 0 entries"),
    (["a", None, "b"], "y row 1 is None", "drop the row"),
    ([0.0, 1.0, np.nan], "y row 2 is nan", "drop the row"),
    ([0.0, 1.0, np.inf], "y row 2 is inf", "drop the row"),
    (["a", np.nan, "b"], "y row 1 is nan", "drop the row"),
    (pd.Series(["a", None, "b"]), "y row 1", "drop the row"),
    (pd.Series([1, None, 0], dtype="Int64"), "y row 1", "drop the row"),
    (pd.Series([True, None, False], dtype="boolean"), "y row 1", "drop the row"),
    (pd.Categorical(["a", None, "b"]), "y row 1", "drop the row"),
    (pl.Series(["a", None, "b"]), "y row 1", "drop the row"),
    (np.array([1, pd.NA, 0], dtype=object), "y row 1 is <NA>", "drop the row"),
    (np.ma.array([1, 0, 1], mask=[0, 1, 0]), "y row 1 is missing \\(masked\\)"),
    ([1, "a", 1], "y has labels of type int and str", "use one type"),
    ([b"a", "a", "a"], "y has labels of type bytes and str", "use one type"),
    ([[1], [2, 3], [4]], "y is not a rectangular table"),
    (np.array([1j, 2, 1j]), "complex", "labels must be"),
    (np.array(["2020-01-01", "2021-01-01", "NaT"], dtype="M8[D]"), "datetime64", "labels must be"),
    (np.ones((3, 2)), "y has shape \\(3, 2\\)", "one entry for each row"),
    (np.ones((3, 1, 1)), "y has shape", "one entry for each row"),
    ("aba", "y must be a sequence", "'aba'"),
    (None, "y must be a sequence", "None"),
    (5, "y must be a sequence", "5"),
    ({"a": 1}, "y has shape \\(\\)"),
    (np.array([{"a"}, {"b"}, {"a"}], dtype=object), "labels of type set", "use one type"),
]


@pytest.mark.parametrize(("y", "words"), [(case[0], case[1:]) for case in BAD_LABELS], ids=range(len(BAD_LABELS)))
def test_bad_labels_are_refused(y, words):
    with refused(*words):
        check_data(np.eye(3), y)


def test_long_labels_are_shown_short():
    with pytest.raises(DataError) as caught:
        check_data(np.eye(8), [str(k) * 200 for k in range(8)])
    assert len(str(caught.value)) < 600
    assert "8 distinct labels" in str(caught.value)
    assert "..." in str(caught.value)


def test_labels_are_left_alone():
    y = np.array([1.0, -1.0, 1.0])
    data = check_data(np.eye(3), y)
    assert not np.shares_memory(data.signs, y)
    assert np.array_equal(y, [1.0, -1.0, 1.0])


# ---- real targets and weights -------------------------------------------------------------------------------


def test_real_targets_are_used_in_place():
    y = np.array([0.5, 1.5, 2.5])
    data = check_data(np.eye(3), y, real_target=True)
    assert np.shares_memory(data.target, y)
    assert data.signs is None
    assert data.labels is None
    assert np.array_equal(data.coded("real"), y)
    column = check_data(np.eye(3), pd.DataFrame({"y": y}), real_target=True)
    assert np.array_equal(column.target, y)
    same = check_data(np.eye(3), [7, 7, 7], real_target=True)
    assert np.array_equal(same.target, [7.0, 7.0, 7.0])


@pytest.mark.parametrize(
    ("y", "words"),
    [
        ([1.0, np.nan, 2.0], ("y row 1 is missing", "fill in")),
        ([1.0, 2.0, np.inf], ("y row 2 is infinite",)),
        (["1", "2", "3"], ("y row 0 is '1'", "convert text")),
        ([1.0, None, 2.0], ("y row 1 is missing \\(None\\)", "fill in")),
        ([1, LARGE, 2], (f"y row 1 is {LARGE}", "2\\^53")),
        (pd.Series([1, None, 2], dtype="Int64"), ("y row 1 is missing",)),
    ],
)
def test_bad_real_targets_are_refused(y, words):
    with refused(*words):
        check_data(np.eye(3), y, real_target=True)


def test_weights():
    w = np.array([0.0, 2.0, 0.5])
    data = check_data(np.eye(3), [0, 1, 1], w)
    assert np.shares_memory(data.weights, w)
    assert data.weighted
    assert np.array_equal(check_data(np.eye(3), [0, 1, 1], [True, False, True]).weights, [1.0, 0.0, 1.0])
    plain = check_data(np.eye(3), [0, 1, 1])
    assert not plain.weighted
    assert np.array_equal(plain.weights, [1.0, 1.0, 1.0])


@pytest.mark.parametrize(
    ("w", "words"),
    [
        ([1.0, -1.0, 1.0], ("sample_weight row 1 is -1.0", "zero or more")),
        ([1.0, 1.0, np.nan], ("sample_weight row 2 is missing",)),
        ([np.inf, 1.0, 1.0], ("sample_weight row 0 is infinite",)),
        ([1.0, 1.0], ("X has 3 rows but sample_weight has 2 entries",)),
        ([0.0, 0.0, 0.0], ("every sample_weight is zero", "at least one")),
        (1.0, ("sample_weight must be a sequence", "1.0")),
        (["1", "1", "1"], ("sample_weight row 0 is '1'", "convert text")),
        (np.ones((3, 2)), ("sample_weight has shape",)),
        ([1j, 1, 1], ("sample_weight row 0", "complex")),
    ],
)
def test_bad_weights_are_refused(w, words):
    with refused(*words):
        check_data(np.eye(3), [0, 1, 1], w)


def test_huge_weights_do_not_warn():
    w = np.full(3, 1e308)
    assert np.shares_memory(check_data(np.eye(3), [0, 1, 1], w).weights, w)


def test_columns_in_another_order_are_refused():
    frame = pd.DataFrame({"a": [0.0, 1.0, 2.0, 3.0], "b": [1.0, 0.0, 1.0, 1.5]})
    s = cc.LogisticMLE(frame, [0, 1, 0, 1], l2=1.0).solve()
    s.predict(frame)
    with pytest.raises(cc.DataError, match="give them in that order"):
        s.predict(frame[["b", "a"]])


@pytest.mark.parametrize("tiny", [Fraction(1, 10**400), Decimal("-1e-330"), Fraction(1, 3 * 2**1060)])
def test_what_is_below_the_range_of_doubles_is_refused(tiny):
    """To doubles the column is 0, or nearly: a fit that they call the best, coef = 0, is not the best of these."""
    with pytest.raises(cc.DataError, match=r"row 1, column 0 is .*below the range of doubles; rescale"):
        cc.LeastSquares([[0], [tiny], [2 * tiny], [5 * tiny]], [0, 0, 1, 1])
    assert cc.LeastSquares([[0], [Fraction(1, 2**1070)], [1], [2]], [0, 0, 1, 1]).data.n == 4  # as a double it is exact


@pytest.mark.parametrize("kind", [np.int8, np.int64, np.uint8])
def test_a_few_whole_numbers_are_labels_in_their_order(kind):
    y = np.array([7, 3, 3, 100, 7, 5, 100, 3], dtype=kind)
    for labels in (y, np.repeat(y, 40)):  # sorted, or counted
        data = check_data(np.ones((labels.size, 1)), labels, several=True)
        assert data.labels == (3, 5, 7, 100)
        assert [type(label) for label in data.labels] == [int] * 4
        np.testing.assert_array_equal(np.array(data.labels)[data.classes], labels)


def test_labels_far_below_zero_are_told_apart():
    y = np.array([-(2**62), -(2**62) + 1, -(2**62) + 3, -(2**62) + 1] * 5)
    data = check_data(np.ones((20, 1)), y, several=True)
    assert data.labels == (-(2**62), -(2**62) + 1, -(2**62) + 3)
    assert data.classes.tolist()[:4] == [0, 1, 2, 1]


@pytest.mark.parametrize("kind", [np.int8, np.int16, np.int64])
def test_whole_numbers_of_few_bits_are_subtracted_in_more(kind):
    y = np.repeat(np.array([-100, 0, 100], dtype=kind), 100)
    data = check_data(np.ones((300, 1)), y, several=True)
    assert data.labels == (-100, 0, 100)
    assert np.bincount(data.classes).tolist() == [100, 100, 100]


def test_the_largest_whole_numbers_are_labels():
    y = np.array([2**64 - 1, 2**64 - 2, 2**64 - 4] * 4, dtype=np.uint64)
    data = check_data(np.ones((12, 1)), y, several=True)
    assert data.labels == (2**64 - 4, 2**64 - 2, 2**64 - 1)
    assert data.classes.tolist()[:3] == [2, 1, 0]
