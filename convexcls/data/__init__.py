"""Samples and labels, checked once at the door.

Everything behind this package may rely on: finite doubles, matching lengths, exactly two labels (or
finite real targets), and that nothing of the caller's was changed. Doubles are used in place; other
number types are converted once. What cannot be used is a ``DataError`` that names the entry.
"""

from convexcls.data.decimals import as_decimals
from convexcls.data.matrix import Expanded, Named, check_matrix, compressed, feature_names
from convexcls.data.numbers import DataError, Given, GivenCells, GivenEntries, finite_doubles, given_table
from convexcls.data.samples import Data, Labels, as_vector, check_data, check_weights, class_numbers
from convexcls.data.vectors import (
    Coded,
    Counting,
    Recalled,
    Sparse,
    StandIn,
    copied,
    is_coded,
    joined_vectors,
    nonzero_places,
    same_vector,
)

__all__ = [
    "Coded",
    "Counting",
    "Data",
    "DataError",
    "Expanded",
    "Given",
    "GivenCells",
    "GivenEntries",
    "Labels",
    "Named",
    "Recalled",
    "Sparse",
    "StandIn",
    "as_decimals",
    "as_vector",
    "check_data",
    "check_matrix",
    "check_weights",
    "class_numbers",
    "compressed",
    "copied",
    "feature_names",
    "finite_doubles",
    "given_table",
    "is_coded",
    "joined_vectors",
    "nonzero_places",
    "same_vector",
]
