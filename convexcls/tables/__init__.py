"""Tables as they come: files and frames with text, categories and gaps, coded into what the models take.

Data flow one way: a file becomes columns, columns become a ``Table``, a table becomes samples by a ``Coding``, which is
fixed once and then codes new rows. It may import ``data`` and what lies below.
"""

from convexcls.tables.coding import Coding, CodingError
from convexcls.tables.errors import TableError, TableWarning
from convexcls.tables.files import read_table
from convexcls.tables.table import Samples, Table, coded_samples

__all__ = ["Coding", "CodingError", "Samples", "Table", "TableError", "TableWarning", "coded_samples", "read_table"]
