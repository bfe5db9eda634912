"""Samples and labels, checked once at the door.

Everything behind this package may rely on: finite doubles, matching lengths, exactly two labels (or
finite real targets), and that nothing of the caller's was changed. Doubles are used in place; other
number types are converted once. What cannot be used is a ``DataError`` that names the entry.
"""

from convexcls.data.coded import Coded, same_vector
from convexcls.data.decimals import as_decimals
from convexcls.data.matrix import Expanded, Named, check_matrix, compressed, feature_names
from convexcls.data.numbers import DataError, Given, GivenCells, GivenEntries, finite_doubles, given_table
from convexcls.data.samples import Data, Labels, as_vector, check_data, check_weights, class_numbers

__all__ = [
    "Coded",
    "Data",
    "DataError",
    "Expanded",
    "Given",
    "GivenCells",
    "GivenEntries",
    "Labels",
    "Named",
    "as_decimals",
    "as_vector",
    "check_data",
    "check_matrix",
    "check_weights",
    "class_numbers",
    "compressed",
    "feature_names",
    "finite_doubles",
    "given_table",
    "same_vector",
]
