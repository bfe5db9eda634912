"""Which samples are shown where there are too many to see."""

from __future__ import annotations

import numpy as np

from convexcls.arrays import Indices

#: So many samples are shown besides those that matter.
MOST_SHOWN = 2000
#: Of each class at least so many, that a rare one is seen.
FEWEST_OF_A_CLASS = 50


def thinned(classes: Indices, *always: Indices, most: int = MOST_SHOWN) -> Indices:
    """The rows to show, in order: those in each of ``always`` (``most`` of them, where it has more), and of the others
    as many of each class as its share of ``most`` allows; the same ones every time."""
    n = classes.size
    if n <= most:
        return np.arange(n)
    rng = np.random.default_rng(0)
    chosen, others = np.zeros(n, dtype=bool), np.ones(n, dtype=bool)
    for rows in always:
        others[rows] = False
        chosen[rows if rows.size <= most else rng.choice(rows, most, replace=False)] = True
    for k in np.unique(classes):
        rest = np.flatnonzero((classes == k) & others)
        room = max(FEWEST_OF_A_CLASS, round(most * float(np.mean(classes == k))))
        chosen[rest if rest.size <= room else rng.choice(rest, room, replace=False)] = True
    return np.flatnonzero(chosen)


def evenly(rows: Indices, most: int) -> Indices:
    """At most so many of the rows, evenly spread."""
    if rows.size <= most:
        return rows
    return rows[np.linspace(0, rows.size - 1, most).astype(np.intp)]
