"""Fisher's discriminant directions from a solved problem, with the proof that no direction separates better."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from convexcls.arrays import Array
from convexcls.problem import NoAnswer
from convexcls.rows import CentredRows


@dataclass(frozen=True, eq=False)
class Discriminants:
    """Directions v_1, v_2, ... (rows) in falling order of their Rayleigh quotients v'S_B v / v'S_W v (``ratios``),
    scaled to v'S_W v = 1: the solutions of S_B v = ratio S_W v (ESL 4.3.3).

    The proof that no direction has a larger quotient is a matrix inequality, ratio_1 S_W - S_B >= 0: its smallest
    eigenvalue, in the metric of S_W and relative to ratio_1, is ``inequality`` (0 at best, never above what rounding
    leaves). ``residual`` is the largest relative entry of S_B v - ratio S_W v. All other eigenvalues are 0, because S_B
    has no larger rank, so that the first r directions together are the best r.
    """

    directions: Array
    ratios: Array
    residual: float
    inequality: float

    def __str__(self) -> str:
        verdict = "proved" if self.holds() else "NOT proved"
        return (
            f"That no direction separates the classes better is {verdict}: ratio_1 S_W - S_B >= 0 holds to "
            f"{max(-self.inequality, 0.0):.0e},\nS_B v = ratio S_W v to {self.residual:.0e} (relative)."
        )

    def holds(self, tol: float = 1e-8) -> bool:
        """Whether the directions are proved best, to a relative tolerance."""
        return self.residual <= tol and self.inequality >= -tol


def discriminants(centred: CentredRows, counts: Array, basis: Array) -> Discriminants:
    """The eigenvectors of S_B v = ratio S_W v, which lie in the span of ``basis`` (rows): S_W^-1 times differences of
    means. S_W and S_B are only ever applied."""
    means = centred.means - counts @ centred.means / counts.sum()
    spread = centred @ basis.T
    between = (means @ basis.T).T @ (counts[:, None] * (means @ basis.T))
    factor = np.asarray(np.linalg.qr(spread, mode="r"), dtype=np.float64).T  # factor factor' = basis S_W basis'
    reach = np.sqrt(centred.shape[0]) * (abs(centred) @ np.abs(basis).T).max(axis=0)
    if np.any(np.abs(np.diag(factor)) <= 1e-12 * reach):  # what nothing but rounding leaves of sums that cancel
        raise NoAnswer("a direction has no scatter within classes: its Rayleigh quotient has no bound")
    whitened = np.linalg.solve(factor, np.linalg.solve(factor, between).T)
    ratios, vectors = np.linalg.eigh((whitened + whitened.T) / 2)
    ratios, vectors = ratios[::-1], vectors[:, ::-1]
    directions = np.linalg.solve(factor.T, vectors).T @ basis
    leading = np.abs(directions).argmax(axis=1)
    directions *= np.sign(directions[np.arange(len(directions)), leading])[:, None]
    return Discriminants(directions, ratios, *_proof(centred, counts, means, directions, ratios))


def _proof(centred: CentredRows, counts: Array, means: Array, directions: Array, ratios: Array) -> tuple[float, float]:
    """The eigenvectors' residual, and the smallest eigenvalue of S_W - S_B / ratio_1 in the metric of S_W."""
    pulled = (means.T @ (counts[:, None] * (means @ directions.T))).T  # S_B v
    pushed = (centred.T @ (centred @ directions.T)).T * ratios[:, None]  # ratio S_W v
    size = np.abs(means).T @ (counts[:, None] * np.abs(means @ directions.T))
    size = size + (abs(centred).T @ np.abs(centred @ directions.T)) * ratios
    residual = float((np.abs(pulled - pushed) / np.where(size.T > 0, size.T, 1.0)).max(initial=0.0))
    # with R'R = S_W, the quotients over all directions are the squared singular values of sqrt(counts) means R^-1
    scale = centred.column_max()
    scale = np.where(scale > 0, scale, 1.0)
    triangle = np.asarray(np.linalg.qr(centred.to_dense() / scale, mode="r"), dtype=np.float64)
    spread = np.linalg.lstsq(triangle.T, (np.sqrt(counts)[:, None] * means / scale).T, rcond=None)[0]
    quotients = np.linalg.svd(spread, compute_uv=False)
    return residual, float(1.0 - quotients[0] ** 2 / ratios[0])
