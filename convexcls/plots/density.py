"""So many samples that marks would hide each other: drawn as their density, a colour a class, deeper where there are
more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from convexcls.arrays import Array, Indices
from convexcls.plots import style
from convexcls.plots.style import Axes

#: From so many samples on; below, a part of them is drawn one by one.
FEWEST = 20_000
#: Cells across and up. Of one feature a class is a band of this half width, around its number.
ACROSS, UP, HALF_BAND = 120, 90, 0.22
#: How strong the colour of one sample is, beside that of the fullest cell.
FAINTEST = 0.25
#: A class of so many samples or fewer is drawn one by one all the same.
RARE = 500


@dataclass(frozen=True, eq=False)
class Density:
    """``counts[k, i, j]``: how many samples of class k are in the cell from ``edges[1][i]`` and ``edges[0][j]`` on."""

    edges: tuple[Array, Array]
    counts: Array

    @classmethod
    def of(cls, places: Array, classes: Indices, labels: int, frame: tuple[float, ...], line: bool) -> Density:
        """The density of all samples at their places in the frame; on a ``line`` of one feature, a band a class."""
        across = np.linspace(frame[0], frame[1], ACROSS + 1)
        up = np.linspace(frame[2], frame[3], UP + 1)
        if line:
            middles = np.arange(labels)
            up = np.sort(np.concatenate([middles - HALF_BAND, middles + HALF_BAND]))
        found = [np.histogramdd(places[classes == k], bins=(across, up))[0].T for k in range(labels)]
        return cls((across, up), np.array(found))

    def colours(self) -> Array:
        """Red, green, blue and opacity of each cell: the classes mixed by their shares, deeper by the logarithm of how
        many samples there are."""
        total = self.counts.sum(axis=0)
        colours = np.array([style.rgb(k) for k in range(len(self.counts))])
        mixed = np.einsum("kij,kc->ijc", self.counts, colours) / np.maximum(total, 1)[..., None]
        depth = np.log1p(total) / np.log1p(max(float(total.max()), 2.0))
        opacity = np.where(total > 0, FAINTEST + (1 - FAINTEST) * depth, 0.0)
        return np.concatenate([mixed, opacity[..., None]], axis=2)

    def draw(self, ax: Axes, names: dict[int, str]) -> None:
        """Draw it as one bitmap, also in a file of vectors, with the classes ``names`` in the legend."""
        look: dict[str, Any] = {"rasterized": True, "zorder": 1.5, "linewidth": 0}
        ax.pcolormesh(*self.edges, self.colours(), **look)
        for k, name in names.items():
            ax.scatter([], [], s=60, marker="s", color=style.class_style(k)["color"], label=name)
