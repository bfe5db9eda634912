"""Every ordinary file as a table: the same columns whatever the format, the packing, the separator, the encoding."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys

import numpy as np
import pytest
from made_tables import as_csv, heart

import convexcls as cc
from convexcls.tables.columns import arrow_column, text_column

COLUMNS = heart(40)
TEXT = as_csv(COLUMNS)


def frame():
    return pytest.importorskip("pandas").DataFrame(COLUMNS)


def arrow():
    pytest.importorskip("pyarrow")
    import pyarrow as pa

    return pa.table(COLUMNS)


def zstd(data: bytes) -> bytes:
    pa = pytest.importorskip("pyarrow")
    return pa.compress(data, "zstd", asbytes=True)


def same(table: cc.Table, names: tuple[str, ...] = tuple(COLUMNS)) -> None:
    assert table.names == names
    for name, given in zip(names, COLUMNS.values(), strict=True):
        column = table[name]
        if column.kind == "number":
            assert column.values.tolist() == given
        else:
            assert [column.levels[k] for k in column.values] == given


# ---- text ----------------------------------------------------------------------------------------------------

WRITTEN = {
    "a.csv": TEXT.encode(),
    "a.tsv": as_csv(COLUMNS, "\t").encode(),
    "bar.csv": as_csv(COLUMNS, "|").encode(),
    "blanks.txt": as_csv(COLUMNS, " ").encode(),
    "semicolons.csv": as_csv(COLUMNS, ";", ",").encode(),
    "marked.csv": ("\ufeff" + TEXT).encode(),
    "wide.csv": TEXT.encode("utf-16"),
    "crlf.csv": TEXT.replace("\n", "\r\n").encode(),
    "quotes.csv": TEXT.replace("Present", "'Present'").replace("Absent", "'Absent'").encode(),
    "a.csv.gz": gzip.compress(TEXT.encode()),
    "a.csv.bz2": bz2.compress(TEXT.encode()),
    "a.csv.xz": lzma.compress(TEXT.encode()),
    "named_otherwise.csv": gzip.compress(TEXT.encode()),
}


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("name", WRITTEN)
def test_text_is_read_however_it_is_written(name, exact, tmp_path):
    (tmp_path / name).write_bytes(WRITTEN[name])
    same(cc.read_table(tmp_path / name, exact=exact))


def test_zstandard(tmp_path):
    (tmp_path / "a.csv.zst").write_bytes(zstd(TEXT.encode()))
    same(cc.read_table(tmp_path / "a.csv.zst"))


def test_without_pyarrow_the_csv_module_reads(tmp_path, monkeypatch):
    (tmp_path / "a.csv").write_text(TEXT)
    monkeypatch.setattr("convexcls.tables.delimited.find_spec", lambda name: None)
    same(cc.read_table(tmp_path / "a.csv"))


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-8"])
def test_letters_of_another_encoding(encoding, tmp_path):
    text = "größe;art;y\n1,5;ä;0\n2,5;ö;1\n0,5;ä;1\n"
    (tmp_path / "a.csv").write_bytes(text.encode(encoding))
    table = cc.read_table(tmp_path / "a.csv")
    assert table["größe"].values.tolist() == [1.5, 2.5, 0.5]
    assert table["art"].levels == ("ä", "ö")
    assert bool(table.notes) == (encoding != "utf-8")
    assert cc.read_table(tmp_path / "a.csv", encoding=encoding).notes == ()


def test_a_wrong_encoding_is_told(tmp_path):
    (tmp_path / "a.csv").write_bytes("x,y\né,1\n".encode("latin-1"))
    for wrong in ("utf-8", "no-such-code"):
        with pytest.raises(cc.TableError, match="latin-1"):
            cc.read_table(tmp_path / "a.csv", encoding=wrong)


def test_what_is_given_goes_before_what_is_found_out(tmp_path):
    (tmp_path / "a.csv").write_text("a;b;y\n1,5;2;0\n2,5;3;1\n")
    assert cc.read_table(tmp_path / "a.csv", sep=";", decimal=",")["a"].values.tolist() == [1.5, 2.5]
    assert cc.read_table(tmp_path / "a.csv", sep=";", decimal=".")["a"].kind == "levels"
    with pytest.raises(cc.TableError, match="two different"):
        cc.read_table(tmp_path / "a.csv", sep=",", decimal=",")


def test_a_file_without_a_header(tmp_path):
    (tmp_path / "a.csv").write_text("1,2,0\n3,4,1\n")
    with pytest.raises(cc.TableError, match="header=False"):
        cc.read_table(tmp_path / "a.csv")
    table = cc.read_table(tmp_path / "a.csv", header=False)
    assert table.names == ("x1", "x2", "x3")
    assert len(table) == 2


def test_a_header_that_looks_like_data_is_told(tmp_path):
    (tmp_path / "a.csv").write_text("5.1,3.5,setosa\n4.9,3.0,setosa\n6.2,2.9,virginica\n")
    assert "looks like data" in cc.read_table(tmp_path / "a.csv").notes[0]
    (tmp_path / "b.csv").write_text(TEXT)
    assert cc.read_table(tmp_path / "b.csv").notes == ()


@pytest.mark.parametrize("first", ['"",', "", '"row.names",'])
def test_row_names_as_r_and_pandas_write_them(first, tmp_path):
    lines = TEXT.splitlines()
    rows = "\n".join(f'"{k}",{line}' for k, line in enumerate(lines[1:], 1))
    (tmp_path / "r.csv").write_text(f"{first}{lines[0]}\n{rows}\n")
    with pytest.warns(cc.TableWarning, match="it names the rows"):
        samples = cc.read_table(tmp_path / "r.csv").samples("chd")
    assert [f.partition("=")[0] for f in samples.X.features] == ["tobacco", "famhist", "age"]


@pytest.mark.parametrize(
    "cells", ["1 2 3", "1.5 -2e3 .5", "a b a", "1 NA 2", "a  b", "? 1 2", " 1 2 ", "+1 2. 3", "01 2 3", "true false x"]
)
def test_both_readers_say_the_same_of_a_column(cells):
    pa = pytest.importorskip("pyarrow")
    given = cells.split(" ")
    from pyarrow import csv

    data = ("x,y\n" + "".join(f"{cell},1\n" for cell in given)).encode()
    options = csv.ConvertOptions(null_values=["", "NA", "?"], strings_can_be_null=True, true_values=[], false_values=[])
    quick = arrow_column("x", csv.read_csv(pa.BufferReader(data), convert_options=options).column(0), ".")
    slow = text_column("x", given)
    assert (quick.kind, quick.levels) == (slow.kind, slow.levels)
    assert np.array_equal(quick.values, slow.values, equal_nan=quick.kind == "number")


# ---- other formats --------------------------------------------------------------------------------------------


def test_parquet_feather_and_arrow(tmp_path):
    frame().to_parquet(tmp_path / "a.parquet")
    frame().to_feather(tmp_path / "a.feather")
    import pyarrow as pa

    with pa.ipc.new_stream(tmp_path / "a.arrow", arrow().schema) as stream:
        stream.write_table(arrow())
    for name in ("a.parquet", "a.feather", "a.arrow"):
        same(cc.read_table(tmp_path / name))


def test_numpy_files(tmp_path):
    X, y = np.column_stack([COLUMNS["tobacco"], COLUMNS["age"]]), np.array(COLUMNS["chd"])
    np.save(tmp_path / "a.npy", np.column_stack([X, y]))
    np.savez(tmp_path / "a.npz", y=y, X=X)
    np.savez(tmp_path / "columns.npz", tobacco=X[:, 0], chd=y)
    assert cc.read_table(tmp_path / "a.npy").names == ("x1", "x2", "x3")
    table = cc.read_table(tmp_path / "a.npz")
    assert table.names == ("x1", "x2", "y")
    assert np.array_equal(table.samples("y").X.matrix, X)
    assert cc.read_table(tmp_path / "columns.npz").names == ("tobacco", "chd")


def test_a_numpy_file_with_objects_is_not_unpickled(tmp_path):
    np.save(tmp_path / "a.npy", np.array([object()], dtype=object), allow_pickle=True)
    with pytest.raises(cc.TableError, match="not a readable NumPy file"):
        cc.read_table(tmp_path / "a.npy")


def test_a_workbook(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(list(COLUMNS))
    for row in zip(*COLUMNS.values(), strict=True):
        book.active.append(list(row))
    book.save(tmp_path / "a.xlsx")
    same(cc.read_table(tmp_path / "a.xlsx"))


def test_a_column_of_numbers_in_one_file_and_of_text_in_another(tmp_path):
    for k, cell in enumerate(["1.5", "1.0.66"]):
        (tmp_path / f"part-{k}.csv").write_text(f"a,y\n{cell},0\n2.5,1\n")
    with pytest.raises(cc.TableError, match=r"column 'a' .*numbers in one file, '1\.0\.66' in another"):
        cc.read_table(f"{tmp_path}/part-*.csv").samples("y")


def test_a_folder_and_a_pattern_are_one_table(tmp_path):
    lines = TEXT.splitlines(keepends=True)
    (tmp_path / "part1.csv").write_text("".join(lines[:21]))
    (tmp_path / "part2.csv.gz").write_bytes(gzip.compress("".join([lines[0], *lines[21:]]).encode()))
    (tmp_path / "notes.md").write_text("no data")
    same(cc.read_table(tmp_path))
    same(cc.read_table(str(tmp_path / "part*")))
    (tmp_path / "part3.csv").write_text("other,columns\n1,2\n")
    with pytest.raises(cc.TableError, match=r"part3\.csv has the columns"):
        cc.read_table(tmp_path)


def test_standard_input(monkeypatch):
    for data in (TEXT.encode(), gzip.compress(TEXT.encode())):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        same(cc.read_table("-"))


def test_frames_and_mappings_are_tables():
    same(cc.Table(COLUMNS))
    same(cc.Table(frame()))
    same(cc.Table(arrow()))
    polars = pytest.importorskip("polars")
    same(cc.Table(polars.DataFrame(COLUMNS)))
    same(cc.Table(frame().astype({"famhist": "category"})))


BROKEN = {
    "a.csv.gz": b"\x1f\x8bnot really",
    "a.csv.xz": b"\xfd7zXZ\x00no",
    "a.parquet": b"PAR1 but not really",
    "a.feather": b"ARROW1 no",
    "a.npy": b"\x93NUMPYno",
    "a.npz": b"PK\x03\x04no",
    "a.xlsx": b"PK\x03\x04no",
    "a.csv": b"\x89PNG\r\n\x1a\n\x00\x00",
    "zip.csv": b"PK\x03\x04rest",
    "empty.csv": b"",
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_refused_by_its_name(name, tmp_path):
    (tmp_path / name).write_bytes(BROKEN[name])
    with pytest.raises(cc.TableError, match=name.replace(".", r"\.")):
        cc.read_table(tmp_path / name)


def test_a_mistyped_name_is_called_that(tmp_path):
    (tmp_path / "heart.csv").write_text(TEXT)
    with pytest.raises(cc.TableError, match=r"no file .*did you mean 'heart\.csv'"):
        cc.read_table(tmp_path / "hart.csv")
    with pytest.raises(cc.TableError, match="no file fits"):
        cc.read_table(str(tmp_path / "x*.csv"))
