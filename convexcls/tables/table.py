"""A table of columns, and the samples that it gives the models: a matrix, labels, weights, and the coding."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from convexcls.arrays import Array, Indices
from convexcls.data import Named
from convexcls.rational.numbers import exactly
from convexcls.tables.coding import MAX_LEVELS, Coding, ColumnCoding, Missing, labels_of, number_text
from convexcls.tables.columns import Column, array_column, arrow_column, is_infinite, is_number
from convexcls.tables.delimited import NAMELESS
from convexcls.tables.errors import TableError, TableWarning
from convexcls.tables.formula import Formula, read_formula
from convexcls.wording import count, did_you_mean, listed, shorten

#: From so many rows on, a column of whole numbers one after the other is taken for a numbering.
FEWEST_NUMBERED = 8
ROW_NAMES = (NAMELESS, "row.names", "row_names", "rowname", "index", "unnamed: 0")
IDS = ("id", "no", "nr", "number", "row", "case", "key", "obs", "observation")


@dataclass(frozen=True, eq=False)
class Samples:
    """What a table gives a model: ``X`` with the names of its columns and its coding, labels, weights (None where all
    are one), the ``rows`` of the table that these are (None: all), and what there is to warn of.

    >>> import convexcls as cc
    >>> samples = cc.Table({"dose": [1, 2, 3], "sex": ["f", "m", "f"], "sick": [0, 1, 0]}).samples("sick")
    >>> samples.X.features, samples.y.tolist(), samples.weights
    (('dose', 'sex=m'), [0, 1, 0], None)
    """

    X: Named
    y: Any
    weights: NDArray[Any] | None
    coding: Coding
    rows: Indices | None = None
    notes: tuple[str, ...] = ()

    def declare(self, model: Callable[..., Any], **parameters: Any) -> Any:
        """The model on these samples, with their weights.

        >>> import convexcls as cc
        >>> table = cc.Table({"dose": [1, 2, 3, 4], "sex": ["f", "m", "f", "f"], "sick": [0, 1, 0, 1]})
        >>> s = table.samples("sick").declare(cc.LogisticMLE, l2=1.0).solve()
        >>> s.data.features, s.predict({"dose": [9], "sex": ["f"]}).tolist()
        (('dose', 'sex=m'), [1])
        """
        if self.weights is not None:
            parameters = {"sample_weight": self.weights, **parameters}
        if not self.coding.intercept:
            parameters = {"intercept": False, **parameters}
        return model(self.X, self.y, **parameters)


class Table:
    """A table with named columns of numbers, text, categories or truth values, with gaps: a DataFrame of pandas or
    polars, a table of pyarrow, or a mapping of names to columns. ``Table.read`` reads a file.

    >>> import convexcls as cc
    >>> table = cc.Table({"age": [52, 63, 46], "famhist": ["Present", "Absent", "Present"], "chd": [1, 1, 0]})
    >>> table
    <Table of 3 rows: age (numbers), famhist (2 levels), chd (numbers)>
    >>> table.samples("chd").X.features
    ('age', 'famhist=Absent')
    """

    columns: dict[str, Column]
    #: The file that it was read from.
    source: str
    notes: tuple[str, ...]

    def __init__(self, data: Any) -> None:
        self._fill(_columns_of(data), "", (), None)

    @classmethod
    def of_columns(
        cls,
        columns: Sequence[Column],
        source: str = "",
        notes: tuple[str, ...] = (),
        lines: Callable[[], Indices] | None = None,
    ) -> Self:
        """The table of columns that have been read; ``lines`` tells the line of the file on which each row starts."""
        table = cls.__new__(cls)
        table._fill(columns, source, notes, lines)
        return table

    @classmethod
    def of(cls, data: Any) -> Table:
        """A table as it is, anything else as a table."""
        return data if isinstance(data, Table) else cls(data)

    @classmethod
    def read(cls, source: Any, **how: Any) -> Table:
        """The table of a file: see ``convexcls.read_table``."""
        from convexcls.tables.files import read_table

        return read_table(source, **how)

    def _fill(
        self, columns: Sequence[Column], source: str, notes: tuple[str, ...], lines: Callable[[], Indices] | None
    ) -> None:
        if not columns:
            raise TableError(f"{source or 'the table'} has no columns")
        self.columns, self.source, self.notes, self._lines = {c.name: c for c in columns}, source, notes, lines
        if len({len(c) for c in columns}) > 1:
            sizes = listed((f"{c.name} {len(c)}" for c in columns), 6)
            raise TableError(f"the columns of a table must have the same length: {sizes}")
        if len(self) == 0:
            raise TableError(f"{source + ': ' if source else ''}the table is empty")

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.columns)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def __getitem__(self, name: str) -> Column:
        return self.column(name)

    def column(self, name: str, option: str = "") -> Column:
        """A column by its name; ``option`` is what asked for it."""
        if name not in self.columns:
            asked = f"{option}: " if option else ""
            where = f"{self.source} has" if self.source else "there is"
            raise TableError(
                f"{asked}{where} no column {name!r}{did_you_mean(name, self.names)}; it has "
                f"{listed(map(shorten, self.names), 20, ' and {} more')}"
            )
        return self.columns[name]

    def take(self, rows: Indices) -> Table:
        """Some of the rows."""
        lines = self._lines
        taken = None if lines is None else lambda: lines()[rows]
        return Table.of_columns([c.take(rows) for c in self.columns.values()], self.source, self.notes, taken)

    def __repr__(self) -> str:
        def told(c: Column) -> str:
            gaps = f", {int(c.missing.sum())} missing" if c.missing.any() else ""
            kind = {"number": "numbers", "levels": count(len(c.levels), "level"), "date": "dates"}.get(c.kind, "other")
            return f"{shorten(c.name, 30)} ({kind}{gaps})"

        return f"<Table of {count(len(self), 'row')}: {listed(map(told, self.columns.values()), 12)}>"

    # ---- places ---------------------------------------------------------------------------------------------------

    def place(self, row: int, name: str) -> str:
        """Where a cell stands, in words."""
        where = f"row {row}"
        if self._lines is not None:
            lines = self._lines()
            where = f"line {lines[row]} (row {row})" if row < len(lines) else where
        return f"{self.source + ', ' if self.source else ''}{where}, column {shorten(repr(name))}"

    def cell(self, row: int, name: str) -> str:
        """What stands there, in words."""
        column = self.column(name)
        if column.missing[row]:
            return "empty or missing"
        if column.kind == "number":
            return number_text(float(column.values[row]))
        return shorten(repr(column.levels[column.values[row]])) if column.levels else repr(column.example)

    def first_text(self, column: Column) -> int:
        """The first row of a column of levels that is not a number."""
        odd = [not is_number(str(level)) for level in column.levels]
        rows = np.append(odd, False)[column.values] if odd else np.zeros(len(column), bool)
        return int(np.argmax(rows))

    # ---- samples --------------------------------------------------------------------------------------------------

    def samples(
        self,
        target: str | None = None,
        *,
        features: Sequence[str] | None = None,
        drop: Sequence[str] = (),
        missing: Missing = "fail",
        reference: Mapping[str, str] | None = None,
        positive: Any = None,
        weights: str | None = None,
        class_weight: Literal["balanced"] | None = None,
        formula: str | None = None,
        real_target: bool = False,
    ) -> Samples:
        """The samples for a model. Columns of numbers are taken as they are; text, categories and truth values become
        an indicator of each level but a ``reference``, which is the level of most rows unless it is named; dates are
        refused.

        ``target`` is the column of the labels (the left side of a ``formula``), ``positive`` the label that counts as
        +1 (of more than two against all others), ``features`` or ``drop`` the columns that are taken or left out,
        ``weights`` a column of weights, and ``class_weight="balanced"`` makes all classes weigh the same. Rows with
        ``missing`` cells are an error ("fail"), left out ("drop"), or marked by an indicator of their own
        ("indicator"). ``real_target`` takes the target as numbers, not as classes.
        """
        parsed = None if formula is None else read_formula(formula, self.names)
        target = self._target(target, parsed)
        coding, notes = self._fixed(target, features, drop, missing, reference, weights, parsed)
        coding = replace(coding, positive=None if positive is None else _word(positive), class_weight=class_weight)
        if coding.positive is not None and real_target:
            raise TableError("a real target has no positive label")
        found = coded_samples(self, coding, real_target)
        told = (*self.notes, *notes, *found.notes)
        for note in told:
            warnings.warn(note, TableWarning, stacklevel=2)
        return replace(found, notes=told)

    def _target(self, target: str | None, formula: Formula | None) -> str:
        own = None if formula is None else formula.target
        if target is not None and own not in (None, target):
            raise TableError(f"the formula has the target {own!r}, and the target is said to be {target!r}: say one")
        target = target if own is None else own
        if target is None:
            raise TableError("name the column with the labels", target=self.names[-1])
        self.column(target, "target")
        return target

    def _fixed(
        self,
        target: str,
        features: Sequence[str] | None,
        drop: Sequence[str],
        missing: Missing,
        reference: Mapping[str, str] | None,
        weights: str | None,
        formula: Formula | None,
    ) -> tuple[Coding, list[str]]:
        """The coding that these columns make, with what is worth a warning."""
        if missing not in ("fail", "drop", "indicator"):
            raise TableError(f"missing is {missing!r}: choose fail, drop or indicator", missing="drop")
        others = [target] if weights is None else [target, weights]
        if weights is not None:
            self.column(weights, "weights")
        if target == weights:
            raise TableError(f"column {target!r} cannot be the target and the weights")
        for name in (*(features or ()), *drop, *(reference or {})):
            self.column(name, "features" if name in (features or ()) else "drop" if name in drop else "reference")
        if formula is not None:
            if features is not None:
                raise TableError("a formula names the features itself: leave them out beside it")
            features = list(dict.fromkeys(name for term in formula.terms for name in term))
        for column, role in zip(others, ("the target", "the weights"), strict=False):
            if features is not None and column in features:
                raise TableError(f"column {column!r} cannot be a feature and {role}")
        notes: list[str] = []
        chosen = [n for n in (features or self.names) if n not in drop and n not in others]
        if features is None:
            chosen = [n for n in chosen if not self._is_row_names(n, notes)]
        if not chosen:
            raise TableError(f"no column is left for the features; there are {listed(self.names, 20)}")
        base = self._base(target, chosen, weights, missing)
        coded = tuple(base._column_coding(base.column(n), missing, (reference or {}).get(n)) for n in chosen)
        notes += [note for n in chosen if features is None and (note := self._id_like(n))]
        usual = tuple(chosen) == self.names[:-1] and target == self.names[-1]
        terms, intercept = (None, True) if formula is None else (formula.terms, formula.intercept)
        return Coding(coded, target, weights, missing=missing, terms=terms, intercept=intercept, usual=usual), notes

    def _base(self, target: str, chosen: Sequence[str], weights: str | None, missing: Missing) -> Table:
        """The rows that count: levels that only others have are none."""
        if missing != "drop":
            return self
        return self.take(np.flatnonzero(self._whole([*chosen, target, *([weights] if weights else [])])))

    def _whole(self, names: Sequence[str]) -> Any:
        return ~np.any([self.column(name).missing for name in names], axis=0)

    def _column_coding(self, column: Column, missing: Missing, reference: str | None) -> ColumnCoding:
        """How one column is coded, fixed by its rows."""
        name, gaps = column.name, missing == "indicator" and bool(column.missing.any())
        if column.kind == "date":
            raise TableError(
                f"column {name!r} holds dates (such as {column.example}): turn them into numbers, such as days since a "
                "start, or leave the column out",
                drop=name,
            )
        if column.kind == "other":
            raise TableError(
                f"column {name!r} holds neither numbers nor levels ({column.example}): leave it out", drop=name
            )
        if column.kind == "number":
            if reference is not None:
                raise TableError(f"column {name!r} holds numbers: it has no reference level")
            whole = column.values[~column.missing]
            if whole.size and np.isinf(whole).any():
                row = int(np.argmax(np.isinf(column.values)))
                raise TableError(f"{self.place(row, name)} is infinite: put a finite number there or drop the row")
            if not gaps:
                return ColumnCoding(name)
            middle = np.sort(whole)[(whole.size - 1) // 2] if whole.size else 0.0
            return ColumnCoding(name, None, True, number_text(float(middle)))
        self._refuse_text(column)
        counts = column.counts
        texts = [str(level) for level in column.levels]
        present = [k for k in range(len(texts)) if counts[k]]
        if not present:
            return ColumnCoding(name, None, gaps, "0" if gaps else "")
        first = max(present, key=lambda k: counts[k])
        if reference is not None:
            if reference not in texts:
                shown = listed((shorten(repr(text), 30) for text in texts), 8)
                raise TableError(
                    f"column {name!r} has no level {reference!r}{did_you_mean(reference, texts)}; it has {shown}"
                )
            first = texts.index(reference)
        order = [first, *(k for k in present if k != first)]
        return ColumnCoding(name, tuple(texts[k] for k in order), gaps)

    def _refuse_text(self, column: Column) -> None:
        """Refuse a column of numbers with a word among them, and one with a text of its own in almost every row."""
        numbers = [is_number(str(level)) for level in column.levels]
        counts = column.counts
        if sum(numbers) and 2 * counts[np.array(numbers)].sum() >= counts.sum() and not all(numbers):
            row = self.first_text(column)
            text = str(column.levels[column.values[row]])
            odd = "which is infinite or too large, not" if is_infinite(text) else "not"
            raise TableError(
                f"{self.place(row, column.name)} is {self.cell(row, column.name)}, {odd} a finite number, as most of "
                "the column are: mend the cell (the decimal mark?), or leave the column out",
                drop=column.name,
            )
        many = len(column.levels) > MAX_LEVELS or (len(self) >= 20 and 2 * len(column.levels) > len(self))
        if many:
            raise TableError(
                f"column {column.name!r} has {len(column.levels)} different texts in {len(self)} rows, too many for "
                "indicators: leave it out",
                drop=column.name,
            )

    # ---- what may not be meant --------------------------------------------------------------------------------------

    def _is_row_names(self, name: str, notes: list[str]) -> bool:
        """Whether the first column holds the names of rows, by its name and because no two are alike."""
        column = self.columns[name]
        if name != self.names[0] or name.lower() not in ROW_NAMES or not _unlike(column):
            return False
        notes.append(f"the first column ({name!r}) is left out: it names the rows")
        return True

    def _id_like(self, name: str) -> str:
        """A warning of a column that looks like a numbering of the rows."""
        column = self.columns[name]
        if column.kind != "number" or len(self) < FEWEST_NUMBERED or column.missing.any() or not _unlike(column):
            return ""
        values = column.values
        whole = bool(np.all(values == np.round(values)))
        numbered = whole and values.max() - values.min() == len(values) - 1
        if not numbered and not (whole and name.lower().strip("_") in IDS):
            return ""
        return f"column {name!r} looks like a number given to each row: leave it out if it is (--drop {name})"


def _unlike(column: Column) -> bool:
    """Whether no two cells are alike."""
    return len(np.unique(column.values)) == len(column) and not column.missing.any()


def _word(value: Any) -> str:
    return number_text(float(value)) if isinstance(value, (int, float)) and not isinstance(value, bool) else str(value)


def coded_samples(table: Table, coding: Coding, real_target: bool = False) -> Samples:
    """The samples of a table by a coding that is fixed: what a fit and a verifier take."""
    if coding.target is None:
        raise TableError("the coding names no target")
    used = [*(c.name for c in coding.columns), coding.target, *([coding.weights] if coding.weights else [])]
    rows, notes = None, []
    if coding.missing == "drop":
        whole = table._whole(used)
        if not whole.any():
            raise TableError("every row has a missing cell: nothing is left; leave out the columns that miss most")
        if not whole.all():
            rows = np.flatnonzero(whole)
            notes.append(f"{count(len(table) - rows.size, 'row')} of {len(table)} with missing cells left out")
            table = table.take(rows)
    target = table.column(coding.target, "target")
    if target.missing.any():
        row = int(np.argmax(target.missing))
        raise TableError(
            f"{table.place(row, target.name)} is empty: every sample needs a target; drop such rows", missing="drop"
        )
    if target.kind in ("date", "other"):
        raise TableError(f"the target {target.name!r} holds {target.kind}s: it must be text or numbers")
    X = coding.code(table, fitting=True)
    y = labels_of(target, coding.positive)
    if real_target and target.given is not None:
        y = np.array([exactly(cell) for cell in target.given], dtype=object)
    weights = None
    if coding.weights is not None:
        column = table.column(coding.weights, "weights")
        if column.kind != "number":
            row = table.first_text(column)
            raise TableError(f"{table.place(row, column.name)} is {table.cell(row, column.name)}, not a weight")
        coding.refuse_missing(table, [coding.weights])
        weights = column.values
        if column.given is not None:
            weights = np.array([exactly(cell) for cell in column.given], dtype=object)
    if coding.class_weight == "balanced" and not real_target:
        weights = balanced(y, weights)
    return Samples(X, y, weights, coding, rows, tuple(notes))


def balanced(y: Any, weights: NDArray[Any] | None) -> Array:
    """Weights multiplied so that every class has the same sum: by n / (K n_k), as in scikit-learn."""
    _, numbers = np.unique(np.asarray(y).astype(str), return_inverse=True)
    own = np.ones(numbers.size) if weights is None else np.asarray(weights, dtype=float)
    totals = np.bincount(numbers, own)
    return np.asarray(own * (own.sum() / (totals.size * totals))[numbers])


def _columns_of(data: Any) -> list[Column]:
    """The columns of a frame, a table of pyarrow, or a mapping."""
    if hasattr(data, "column_names") and hasattr(data, "column"):  # pyarrow
        return [arrow_column(str(name), data.column(k)) for k, name in enumerate(data.column_names)]
    if hasattr(data, "columns") and hasattr(data, "to_numpy"):
        names = [str(name) for name in data.columns]
        if repeated := sorted({n for n in names if names.count(n) > 1}):
            raise TableError(f"the column name {repeated[0]!r} occurs more than once; rename one")
        series = (data.iloc[:, j] if hasattr(data, "iloc") else data[:, j] for j in range(len(names)))
        return [array_column(name, values) for name, values in zip(names, series, strict=True)]
    if isinstance(data, Mapping):
        return [array_column(str(name), values) for name, values in data.items()]
    raise TableError(
        f"a table is a DataFrame, a table of pyarrow or a mapping of names to columns, not {type(data).__name__}"
    )
