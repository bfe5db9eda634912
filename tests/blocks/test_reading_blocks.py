"""``read_blocks``: the same samples from every format, errors that name file and row, files that change."""

from __future__ import annotations

import os

import numpy as np
import pytest
import scipy.sparse as sp

import convexcls as cc
from convexcls.blocks import columnar

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")

N = 60


@pytest.fixture(scope="module")
def samples():
    rng = np.random.default_rng(5)
    X = rng.integers(-9, 10, size=(N, 3)) / 4.0
    return X, np.where(X @ [1.0, -1.0, 0.5] + 0.25 > 0, "yes", "no")


@pytest.fixture
def folder(samples, tmp_path, monkeypatch):
    """The samples in every format, in two files of 30 rows, a block of 20 rows at the most."""
    from pyarrow import feather, parquet

    X, y = samples
    monkeypatch.setattr(columnar, "CSV_BYTES", 300)
    for k in range(2):
        part = slice(30 * k, 30 * k + 30)
        frame = pd.DataFrame(X[part], columns=["a", "b", "c"]).assign(label=y[part], weight=1.0 + k)
        frame.to_csv(tmp_path / f"part-{k}.csv", index=False)
        table = pa.Table.from_pandas(frame, preserve_index=False)
        parquet.write_table(table, tmp_path / f"part-{k}.parquet", row_group_size=20)
        feather.write_feather(table, str(tmp_path / f"part-{k}.feather"), chunksize=20, compression="uncompressed")
        np.save(tmp_path / f"part-{k}.npy", X[part])
        lines = [f"{label} " + " ".join(f"{j + 1}:{v!r}" for j, v in enumerate(row) if v) for label, row in
                 zip((y[part] == "yes").astype(int).tolist(), X[part].tolist(), strict=True)]  # fmt: skip
        (tmp_path / f"part-{k}.svm").write_text("\n".join(lines) + "\n")
    np.save(tmp_path / "labels.npy", y)
    return tmp_path


@pytest.mark.parametrize("ending", ["csv", "parquet", "feather"])
def test_tables(folder, samples, ending):
    X, y = samples
    read = cc.read_blocks(f"{folder}/part-*.{ending}", target="label", weights="weight")
    assert len(read.rows.pieces) >= 4
    np.testing.assert_array_equal(read.rows.to_dense(), X)
    assert read.y.tolist() == y.tolist()
    assert read.weights.tolist() == [1.0] * 30 + [2.0] * 30
    assert read.X.features == ("a", "b", "c")
    some = cc.read_blocks(f"{folder}/part-*.{ending}", target="label", features=["c", "a"])
    np.testing.assert_array_equal(some.rows.to_dense(), X[:, [2, 0]])


def test_arrays(folder, samples):
    X = samples[0]
    read = cc.read_blocks([folder / "part-0.npy", folder / "part-1.npy"], target=f"{folder}/labels.npy", rows=20)
    assert [p.stop - p.start for p in read.rows.pieces] == [20, 10, 20, 10]
    np.testing.assert_array_equal(read.rows.to_dense(), X)
    mapped = np.load(folder / "part-1.npy", mmap_mode="r")
    np.testing.assert_array_equal(cc.read_blocks(mapped, rows=7).rows.to_dense(), X[30:])
    by_column = np.asfortranarray(X)
    np.save(folder / "f.npy", by_column)
    np.testing.assert_array_equal(cc.read_blocks(folder / "f.npy", rows=7).rows.to_dense(), X)
    np.testing.assert_array_equal(cc.read_blocks(folder / "f.npy", target="x2").y, X[:, 1])
    np.testing.assert_array_equal(cc.read_blocks(X.astype(np.float32), rows=7).rows.to_dense(), X)


def test_svmlight(folder, samples):
    pytest.importorskip("sklearn")
    X, y = samples
    read = cc.read_blocks(f"{folder}/part-*.svm")
    assert sp.issparse(read.rows[:1].to_matrix())
    np.testing.assert_array_equal(read.rows.to_dense(), X)
    np.testing.assert_array_equal(read.y, (y == "yes").astype(float))


def test_dask_collections(folder, samples):
    array = pytest.importorskip("dask.array")
    frames = pytest.importorskip("dask.dataframe")
    X, y = samples
    read = cc.read_blocks(array.from_array(X, chunks=(20, 2)), target=y)
    np.testing.assert_array_equal(read.rows.to_dense(), X)
    frame = frames.from_pandas(pd.DataFrame(X, columns=["a", "b", "c"]).assign(label=y == "yes"), npartitions=3)
    read = cc.read_blocks(frame, target="label")
    np.testing.assert_array_equal(read.rows.to_dense(), X)
    assert read.y.tolist() == (y == "yes").tolist()


def test_blocks_are_the_same_problem(folder, samples):
    X, y = samples
    read = cc.read_blocks(f"{folder}/part-*.parquet", target="label", weights="weight")
    assert read.declare(cc.LogisticMLE) == cc.LogisticMLE(X, y, sample_weight=read.weights)


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("ending", ["csv", "parquet", "npy"])
def test_an_entry_that_cannot_be_used_is_named_by_file_and_row(folder, samples, ending, value):
    X = samples[0][30:].copy()
    X[24, 1] = value
    if ending == "npy":
        np.save(folder / "part-1.npy", X)
    else:
        frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(label="no", weight=1.0)
        (frame.to_csv if ending == "csv" else frame.to_parquet)(folder / f"part-1.{ending}", index=False)
    column = "x2" if ending == "npy" else "b"
    names = {} if ending == "npy" else {"target": "label", "weights": "weight"}
    with pytest.raises(cc.DataError, match=rf"part-1\.{ending}, block \d+: row 54, column '{column}' is"):
        cc.read_blocks(f"{folder}/part-*.{ending}", **names)


def test_a_label_that_is_missing(folder, samples):
    frame = pd.DataFrame(samples[0][30:], columns=["a", "b", "c"]).assign(label=["no"] * 29 + [None], weight=1.0)
    frame.to_parquet(folder / "part-1.parquet", index=False)
    with pytest.raises(cc.DataError, match=r"part-1.parquet, block 0: row 59: its label is missing"):
        cc.read_blocks(f"{folder}/part-*.parquet", target="label", weights="weight")


def test_what_is_wrong_with_the_columns(folder, samples):
    frame = pd.DataFrame(samples[0][30:], columns=["a", "b", "c"]).assign(label="no")
    frame.to_csv(folder / "part-1.csv", index=False)
    with pytest.raises(cc.DataError, match=r"part-1.csv has the columns a, b, c, label, and .*part-0.csv has"):
        cc.read_blocks(f"{folder}/part-*.csv", target="label")
    with pytest.raises(cc.DataError, match=r"no column 'lable' \(did you mean 'label'\?\)"):
        cc.read_blocks(f"{folder}/part-0.csv", target="lable")
    with pytest.raises(cc.DataError, match=r"column 'label' is not of numbers .*features="):
        cc.read_blocks(f"{folder}/part-0.parquet", target="a")
    with pytest.raises(cc.DataError, match="there is no file"):
        cc.read_blocks(f"{folder}/nothing.csv")
    with pytest.raises(ValueError, match="hold is 'much'"):
        cc.read_blocks(samples[0], hold="much")


def test_a_file_that_vanishes_or_changes(folder, samples):
    """A file that was only touched is read on; one with other values is not."""
    path = folder / "part-1.npy"
    read = cc.read_blocks(f"{folder}/part-*.npy", hold=0)
    whole = read.rows.to_dense()
    os.utime(path, (1.0, 1.0))
    np.testing.assert_array_equal(read.rows @ np.ones(3), whole @ np.ones(3))
    np.testing.assert_array_equal(read.rows[[35, 2]].to_dense(), whole[[35, 2]])
    other = samples[0][30:].copy()
    other[3, 2] += 1.0
    np.save(path, other)
    for ask in (lambda: read.rows.gram(np.ones(N)), lambda: read.rows[[40]]):
        with pytest.raises(cc.BlocksChanged, match=r"part-1.npy, block 0: the data were changed"):
            ask()
    path.unlink()
    with pytest.raises(cc.BlocksChanged, match=r"part-1.npy, block 0: the file is gone"):
        _ = read.rows @ np.zeros(3)


def test_parquet_that_changes(folder, samples):
    read = cc.read_blocks(f"{folder}/part-*.parquet", target="label", weights="weight", hold=0)
    frame = pd.DataFrame(samples[0][:30], columns=["a", "b", "c"]).assign(label="no", weight=1.0)
    frame.to_parquet(folder / "part-1.parquet", row_group_size=20)
    with pytest.raises(cc.BlocksChanged, match=r"part-1.parquet, block 0: the data were changed"):
        _ = read.rows @ np.ones(3)


def test_conversion(folder, samples):
    X, y = samples
    read = cc.read_blocks(f"{folder}/part-*.csv", target="label", weights="weight")
    done = cc.convert_blocks(read, folder / "fast")
    assert done.files[-1].name == "weights.npy"
    assert done.before > 0
    assert done.after > 0
    fast = cc.read_blocks(f"{folder}/fast/X-*.npy", target=f"{folder}/fast/labels.npy")
    np.testing.assert_array_equal(fast.rows.to_dense(), X)
    assert fast.y.tolist() == y.tolist()
    assert fast.digests == read.digests
    with pytest.raises(cc.DataError, match="is there already"):
        cc.convert_blocks(read, folder / "fast")


def test_what_needs_an_array_says_so(samples):
    read = cc.read_blocks(samples[0], target=samples[1])
    for use in (
        lambda: cc.KernelSVM(*read),
        lambda: cc.Quadratic()(read.X),
        lambda: np.asarray(read.X),
        lambda: cc.LogisticClassifier().fit(*read),
    ):
        with pytest.raises(cc.DataError, match="read by block"):
            use()


@pytest.mark.parametrize("given", [{"target": 5}, {"target": [0, 1], "weights": 2}])
def test_a_number_is_no_target(given):
    with pytest.raises(
        cc.DataError, match=r"is [25]: give the name of a column, a file of one number a row, or an array"
    ):
        cc.read_blocks(np.array([[1.0], [2.0]]), **given)
