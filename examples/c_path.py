"""
The path of a soft margin
=========================

Follow the coefficients while the price of slack C rises over five powers of ten. Each point is a solution of its own,
warm-started from the last and proved. From some C on nothing changes: no sample has slack any more, and the soft
margin is the hard margin.
"""

import numpy as np

import convexcls as cc
from convexcls.plots import PathDisplay

data = cc.load("twenty_points").data
path = cc.path(cc.SoftMarginSVM, data.matrix, data.given, C=np.geomspace(1e-4, 10, 26))
print(path)

PathDisplay.from_path(path)
