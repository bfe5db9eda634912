"""Data matrices as rows, known only by what solvers do with them.

Every own solver and every check is written in five verbs and three questions (``base.py``), so dense, sparse and
composed rows, and whatever comes later, run through the same code and the data are never copied. ``in_memory``,
``plain`` and ``kernel`` hold entries; ``scaled``, ``joined``, ``class_margins``, ``blocked`` and ``rounded`` are made
of other rows; ``fused`` reads these once where they are one matrix; ``signs``, ``doubled`` and ``scores`` know of
rounding. Imports ``data`` and ``arrays``.
"""

from convexcls.rows.base import Factors, Rows, Travelling, Visit, as_rows
from convexcls.rows.blocked import CentredRows
from convexcls.rows.by_block import RowsByBlock
from convexcls.rows.class_margins import ClassMarginRows, block_gram
from convexcls.rows.in_memory import DenseRows, SparseRows
from convexcls.rows.joined import JoinedRows, StackedRows, one_entry_each
from convexcls.rows.plain import ConstantRows, DiagonalRows, PickedRows
from convexcls.rows.row_store import MatrixTooLarge
from convexcls.rows.scaled import ColumnRows, ScaledRows, TransposedRows

__all__ = [
    "CentredRows",
    "ClassMarginRows",
    "ColumnRows",
    "ConstantRows",
    "DenseRows",
    "DiagonalRows",
    "Factors",
    "JoinedRows",
    "MatrixTooLarge",
    "PickedRows",
    "Rows",
    "RowsByBlock",
    "ScaledRows",
    "SparseRows",
    "StackedRows",
    "TransposedRows",
    "Travelling",
    "Visit",
    "as_rows",
    "block_gram",
    "one_entry_each",
]
