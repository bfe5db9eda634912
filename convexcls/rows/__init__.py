"""Data matrices as rows, known only by what solvers do with them.

Every own solver and every check is written in four verbs, so dense, sparse and composed rows
(and whatever comes later) run through the same code and the data are never copied:

=====================  ===================================================
``R @ v``              one value a row: the margins
``R.T @ u``            one value a column: the gradient
``R.gram(weights)``    ``R' diag(weights) R``: the Hessian
``R[index]``           some of the rows: a working set
=====================  ===================================================

Checks need one more, ``abs(R)``: the same verbs on the absolute values, to know how large the sum
was whose cancellation is being judged.
"""

from convexcls.rows.base import Array, Factors, Rows, as_rows
from convexcls.rows.centred import CentredRows
from convexcls.rows.class_margins import ClassMarginRows, block_gram
from convexcls.rows.columns import ColumnRows, chosen_columns
from convexcls.rows.composed import JoinedRows, ScaledRows, TransposedRows, one_entry_each
from convexcls.rows.dense import DenseRows
from convexcls.rows.plain import ConstantRows, DiagonalRows, PickedRows
from convexcls.rows.row_store import MatrixTooLarge
from convexcls.rows.sparse import SparseRows
from convexcls.rows.stacked import StackedRows

__all__ = [
    "Array",
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
    "ScaledRows",
    "SparseRows",
    "StackedRows",
    "TransposedRows",
    "as_rows",
    "block_gram",
    "chosen_columns",
    "one_entry_each",
]
