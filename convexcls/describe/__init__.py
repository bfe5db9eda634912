"""Every result described once: facts, tables and prose of a problem, a solution, a certificate, a comparison, as plain
data. Small renderers make of them what the command line, the report, notebooks and JSON show.

It may import everything up to the studies; the faces import it.

>>> from convexcls.describe import Column, Table, to_json, to_text
>>> table = Table("losses", "Losses", (Column("name"), Column("value", "number")), (("hinge", 0.5), ("logistic", 2.0)))
>>> print(to_text(table))
name      value
--------  -----
hinge       0.5
logistic      2
"""

from convexcls.describe.html import to_html
from convexcls.describe.parts import (
    Chapter,
    Cluster,
    Column,
    Fact,
    Facts,
    Mark,
    Part,
    Prose,
    Table,
    strict_json,
    to_json,
    to_text,
)

__all__ = ["Chapter", "Cluster", "Column", "Fact", "Facts", "Mark", "Part", "Prose", "Table"]
__all__ += ["strict_json", "to_html", "to_json", "to_text"]
