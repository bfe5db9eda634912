"""Data in the likeness of what people bring: categories, large scales, text, pictures, genes, dependent columns,
clusters.

Each maker returns ``X, y`` with class numbers in y (0 and 1, or 0 to K - 1) and draws from its seed: the same
call gives the same numbers. Shapes, shares of categories, scales and dependencies are those of the public data set that
it is like; the entries are drawn.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import expit

Made = tuple[Any, np.ndarray]

#: Columns of each feature of the adult census when it is coded as in a9a: quantiles of the continuous ones, categories.
ADULT = {
    "age": 5,
    "work": 8,
    "weight": 5,
    "education": 16,
    "years": 5,
    "marital": 7,
    "occupation": 14,
    "relation": 6,
    "race": 5,
    "sex": 2,
    "gain": 2,
    "loss": 2,
    "hours": 5,
    "country": 41,
}
#: The shares of the first category where one dominates; the others fall off geometrically.
DOMINANT = {"work": 0.74, "race": 0.85, "sex": 0.67, "gain": 0.92, "loss": 0.95, "country": 0.91}
#: The shares of rows whose entry is missing: they have no one in the feature's columns.
MISSING = {"work": 0.056, "occupation": 0.057, "country": 0.018}


def adult(n: int = 32_561, *, dense: bool = False, repeated: float = 0.0, seed: int = 0) -> Made:
    """A census, one-hot in 123 columns (the dummy trap, a feature that is a function of another, rare categories of
    one class only): n rows of at most 14 ones; a quarter is positive. A share of the rows, ``repeated``, are those of
    another one with a label of their own."""
    rng = np.random.default_rng(seed)
    codes = {name: _categories(rng, n, width, DOMINANT.get(name, 0.0)) for name, width in ADULT.items()}
    codes["years"] = np.minimum(codes["education"] // 3, 4)
    codes["relation"] = np.where(codes["marital"] == 0, codes["sex"], 2 + codes["relation"] % 4)
    for name, share in MISSING.items():
        codes[name] = np.where(rng.random(n) < share, -1, codes[name])
    like = np.where(rng.random(n) < repeated, rng.integers(0, n, n), np.arange(n))
    codes = {name: code[like] for name, code in codes.items()}
    effects = {name: rng.standard_normal(width) for name, width in ADULT.items()}
    score = sum(np.where(codes[name] >= 0, effects[name][codes[name]], 0.0) for name in ADULT) / 1.1
    y = rng.random(n) < expit(score - np.quantile(score, 0.83))
    for name, rare in (("education", 15), ("work", 7), ("country", 40), ("country", 38)):
        y &= codes[name] != rare
    X = _one_hot(list(codes.values()), list(ADULT.values()))
    return (X.toarray() if dense else X), y.astype(int)


def _categories(rng: np.random.Generator, n: int, width: int, dominant: float) -> np.ndarray:
    """Codes 0 to width - 1: even quantiles up to five columns, else shares that fall off to a few rows."""
    if dominant:
        rest = np.geomspace(1.0, 0.003, width - 1)
        shares = np.concatenate([[dominant], (1.0 - dominant) * rest / rest.sum()])
    else:
        shares = np.ones(width) if width <= 5 else np.geomspace(1.0, 0.005, width)
    return rng.choice(width, size=n, p=shares / shares.sum())


def _one_hot(codes: list[np.ndarray], widths: list[int]) -> sparse.csr_matrix:
    """Ones in the columns of the codes, nothing where a code is negative."""
    starts = np.concatenate([[0], np.cumsum(widths)])
    table = np.column_stack([np.where(c >= 0, c + start, -1) for c, start in zip(codes, starts[:-1], strict=True)])
    present = table >= 0
    ends = np.concatenate([[0], np.cumsum(present.sum(axis=1))])
    return sparse.csr_matrix((np.ones(ends[-1]), table[present], ends), shape=(len(table), starts[-1]))


def covtype(n: int = 500_000, *, classes: int = 7, standardised: bool = False, seed: int = 0) -> Made:
    """Forest cover: ten whole numbers of large scales (elevations, angles, distances, three shades that are nearly a
    function of two angles), four areas and forty soils one-hot, some soils in a handful of rows; seven classes from
    49% to 0.5%, or the largest against the rest with ``classes=2``. Dense, n x 54."""
    rng = np.random.default_rng(seed)
    area = rng.choice(4, size=n, p=[0.449, 0.051, 0.436, 0.064])
    elevation = np.array([3000.0, 3150.0, 2950.0, 2250.0])[area] + 210.0 * rng.standard_normal(n)
    soil = np.clip((elevation - 1850.0) / 47.0 + 4.0 * rng.standard_normal(n), 0, 39).astype(int)
    soil = np.where(np.isin(soil, (3, 14, 37)) & (rng.random(n) < 0.999), 22, soil)
    aspect, slope = rng.uniform(0, 360, n), np.minimum(14.0 * rng.gamma(3.5, 1 / 3.5, n), 66.0)
    water, road, fire = (np.minimum(rng.gamma(2.0, s / 2.0, n), 5.0 * s) for s in (270.0, 2350.0, 1980.0))
    numbers = [elevation, aspect, slope, water, 0.15 * water + 45.0 * rng.standard_normal(n), road]
    numbers += [*_shades(aspect, slope), fire]
    X = np.zeros((n, 54))
    X[:, :10] = np.round(np.column_stack(numbers))
    X[np.arange(n), 10 + area] = 1.0
    X[np.arange(n), 14 + soil] = 1.0
    return (_standardised(X) if standardised else X), _cover(rng, X, classes)


def _shades(aspect: np.ndarray, slope: np.ndarray) -> list[np.ndarray]:
    """How light a hillside is at nine, noon and three o'clock, 0 to 254."""
    tilt, towards = np.radians(slope), np.radians(aspect)
    sun = ((45.0, 120.0), (60.0, 180.0), (42.0, 240.0))
    light = [
        np.sin(np.radians(h)) * np.cos(tilt) + np.cos(np.radians(h)) * np.sin(tilt) * np.cos(np.radians(a) - towards)
        for h, a in sun
    ]
    return [np.clip(254.0 * part, 0.0, 254.0) for part in light]


def _cover(rng: np.random.Generator, X: np.ndarray, classes: int) -> np.ndarray:
    """Classes drawn by softmax of the standardised columns, with the shares of the forest's seven covers."""
    n, d = X.shape
    truth = rng.standard_normal((7, d)) * np.where(np.arange(d) < 10, 0.6, 0.25)
    truth[:, 0] = [1.2, 0.2, -2.0, -3.0, -0.6, -2.0, 2.4]
    scores = _standardised(X) @ truth.T + [2.0, 2.6, -0.6, -5.0, -1.4, -1.6, -2.0]
    y = np.argmax(scores + rng.gumbel(size=(n, 7)), axis=1)
    return y if classes == 7 else (y == 1).astype(int)


def _standardised(X: np.ndarray) -> np.ndarray:
    """Columns of mean 0 and standard deviation 1; constant ones become zero."""
    scale = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(scale > 0.0, scale, 1.0)


def text(n: int = 20_000, d: int = 5_000, *, words: int = 97, noise: float = 0.04, seed: int = 0) -> Made:
    """News in the likeness of rcv1: word counts by Zipf's law, twenty topics that prefer some words, tf-idf in rows of
    length one, some 80 nonzeros a row; two classes of ten topics each, of which a few rows are on the wrong side."""
    rng = np.random.default_rng(seed)
    zipf = 1.0 / (np.arange(d) + 20.0)
    topic = rng.integers(0, 20, n)
    length = np.maximum(8, rng.poisson(words * rng.gamma(4.0, 0.25, n)))
    rows = np.repeat(np.arange(n), length)
    columns = np.empty(rows.size, dtype=int)
    for t in range(20):
        taste = zipf * np.exp(1.2 * rng.standard_normal(d))
        cumulated = np.cumsum(taste) / taste.sum()
        of_topic = np.flatnonzero(topic[rows] == t)
        columns[of_topic] = np.minimum(np.searchsorted(cumulated, rng.random(of_topic.size)), d - 1)
    counts = sparse.csr_matrix((np.ones(rows.size), (rows, columns)), shape=(n, d))
    counts.sum_duplicates()
    frequency = np.bincount(counts.indices, minlength=d)
    counts.data = (1.0 + np.log(counts.data)) * (np.log((1.0 + n) / (1.0 + frequency)) + 1.0)[counts.indices]
    lengths = np.sqrt(np.asarray(counts.multiply(counts).sum(axis=1)).ravel())
    X = sparse.csr_matrix(sparse.diags(1.0 / lengths) @ counts)
    return X, ((topic < 10) ^ (rng.random(n) < noise)).astype(int)


#: The strokes of the ten digits: corners (across, down) in a square of side one.
STROKES: tuple[tuple[tuple[float, float], ...], ...] = (
    ((0.5, 0.0), (0.1, 0.3), (0.1, 0.7), (0.5, 1.0), (0.9, 0.7), (0.9, 0.3), (0.5, 0.0)),
    ((0.4, 0.15), (0.55, 0.0), (0.52, 0.35), (0.5, 0.7), (0.5, 1.0), (0.5, 0.8), (0.5, 0.5)),
    ((0.1, 0.2), (0.5, 0.0), (0.9, 0.25), (0.6, 0.55), (0.1, 1.0), (0.5, 1.0), (0.95, 1.0)),
    ((0.1, 0.1), (0.6, 0.0), (0.85, 0.25), (0.4, 0.48), (0.9, 0.7), (0.6, 1.0), (0.1, 0.9)),
    ((0.6, 0.0), (0.3, 0.3), (0.05, 0.65), (0.5, 0.65), (0.95, 0.65), (0.7, 0.3), (0.7, 1.0)),
    ((0.9, 0.0), (0.2, 0.0), (0.15, 0.45), (0.6, 0.4), (0.9, 0.65), (0.6, 1.0), (0.1, 0.95)),
    ((0.7, 0.0), (0.3, 0.3), (0.1, 0.7), (0.5, 1.0), (0.85, 0.75), (0.5, 0.5), (0.15, 0.7)),
    ((0.05, 0.0), (0.5, 0.0), (0.95, 0.0), (0.75, 0.35), (0.55, 0.65), (0.45, 0.85), (0.4, 1.0)),
    ((0.5, 0.48), (0.15, 0.25), (0.5, 0.0), (0.85, 0.25), (0.1, 0.75), (0.5, 1.0), (0.5, 0.48)),
    ((0.85, 0.3), (0.5, 0.5), (0.15, 0.25), (0.5, 0.0), (0.85, 0.2), (0.8, 0.6), (0.65, 1.0)),
)


def pictures(n: int = 20_000, *, classes: int = 10, seed: int = 0) -> Made:
    """Handwritten digits in the likeness of MNIST: strokes of a pen with shaky corners, turned, moved and scaled, 28 x
    28 pixels of 0 to 255 divided by 255, of which four in five are zero and the border always; ten classes, or with
    ``classes=2`` odd digits against even. Dense, n x 784."""
    rng = np.random.default_rng(seed)
    digit = rng.integers(0, 10, n)
    corners = np.array(STROKES)[digit] - 0.5 + 0.09 * rng.standard_normal((n, 7, 2))
    angle, size = 0.25 * rng.standard_normal(n), rng.uniform(13.0, 20.0, (n, 1, 1))
    turn = np.stack([np.cos(angle), -np.sin(angle), np.sin(angle), np.cos(angle)], axis=1).reshape(n, 2, 2)
    squeeze = np.column_stack([rng.uniform(0.6, 0.95, n), np.ones(n)])[:, None, :]
    corners = (corners * squeeze * size) @ turn + 13.5 + np.clip(0.8 * rng.standard_normal((n, 1, 2)), -2, 2)
    pen = rng.uniform(0.9, 1.7, n)
    X = np.empty((n, 784))
    for start in range(0, n, 1000):
        part = slice(start, start + 1000)
        ink = np.clip(1.3 - (_distances(corners[part]) / pen[part, None]) ** 2 * 0.65, 0.0, 1.0)
        X[part] = np.round(255.0 * ink) / 255.0
    X.reshape(n, 28, 28)[:, [0, -1]] = X.reshape(n, 28, 28)[:, :, [0, -1]] = 0.0
    return X, (digit if classes == 10 else digit % 2)


def _distances(corners: np.ndarray) -> np.ndarray:
    """The distance of each of the 784 pixels from the line through the corners of each picture."""
    down, across = np.divmod(np.arange(784), 28)
    pixels = np.column_stack([across, down]).astype(np.float32)
    nearest = np.full((len(corners), 784), np.inf, dtype=np.float32)
    for a, b in zip(corners.swapaxes(0, 1)[:-1], corners.swapaxes(0, 1)[1:], strict=True):
        a, along = a.astype(np.float32), (b - a).astype(np.float32)
        unit = along / np.maximum(1e-6, (along * along).sum(axis=1, keepdims=True))
        share = np.clip(unit @ pixels.T - (unit * a).sum(axis=1, keepdims=True), 0.0, 1.0)
        x = a[:, :1] + share * along[:, :1] - pixels[:, 0]
        y = a[:, 1:] + share * along[:, 1:] - pixels[:, 1]
        np.minimum(nearest, x * x + y * y, out=nearest)
    return np.sqrt(nearest)


def genes(n: int = 72, d: int = 7_129, *, standardised: bool = True, seed: int = 0) -> Made:
    """Gene expression in the likeness of the leukaemia study: whole numbers of heavy tails, -10000 to 60000, driven by
    a dozen factors; two classes of two thirds and one third. ``standardised``: every gene of mean 0 and deviation 1."""
    rng = np.random.default_rng(seed)
    y = (np.arange(n) % 3 == 2).astype(int)
    factors = np.column_stack([rng.standard_normal((n, 11)), 2.0 * y - 1.0])
    loads = rng.standard_normal((12, d)) * 0.35
    loads[11] *= (rng.random(d) < 0.1) * 2.0
    level = np.exp(rng.normal(5.5, 1.6, d))
    X = np.round(level * np.exp(factors @ loads + 0.35 * rng.standard_normal((n, d))) - 0.6 * level)
    X = np.clip(X + np.round(60.0 * rng.standard_normal((n, d))), -28_400, 71_400)
    return (_standardised(X) if standardised else X), y


def conditioned(n: int = 20_000, d: int = 50, *, condition: float = 1e8, seed: int = 0) -> Made:
    """Normal samples, whose covariance has standard deviations from 1 down to 1/condition in turned directions; the
    classes depend on all of them alike."""
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((n, d))
    turned, _ = np.linalg.qr(rng.standard_normal((d, d)))
    y = rng.random(n) < expit(Z @ rng.standard_normal(d) * 2.0 / np.sqrt(d))
    return (Z * np.geomspace(1.0, 1.0 / condition, d)) @ turned, y.astype(int)


def collinear(n: int = 20_000, d: int = 50, *, seed: int = 0) -> Made:
    """Normal samples in multiples of 1/1024; the last fifth of the columns are exact sums, differences, copies and
    halves of the others, and one is constant."""
    rng = np.random.default_rng(seed)
    free = d - d // 5
    X = np.empty((n, d))
    X[:, :free] = np.round(1024.0 * rng.standard_normal((n, free))) / 1024.0
    for k, j in enumerate(range(free, d)):
        a, b = X[:, k % free], X[:, (3 * k + 1) % free]
        X[:, j] = (a + b, a - b, a, 0.5 * a, a + b - X[:, (5 * k + 2) % free])[k % 5]
    X[:, d - 1] = 1.0
    y = rng.random(n) < expit(X[:, :free] @ rng.standard_normal(free) * 2.0 / np.sqrt(free))
    return X, y.astype(int)


def clusters(n: int = 20_000, d: int = 20, *, classes: int = 32, seed: int = 0) -> Made:
    """Measurements in the likeness of sensors or species: normal classes with means of their own, columns of different
    scales that are correlated with each other."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    mixed = np.eye(d) + rng.standard_normal((d, d)) * 0.5 / np.sqrt(d)
    X = (rng.standard_normal((n, d)) + rng.standard_normal((classes, d))[y]) @ mixed
    return X * np.exp(rng.standard_normal(d)), y


def bundled(name: str, classes: tuple[int, int] | None = None) -> Made:
    """What scikit-learn bundles, as it is: iris, wine, breast_cancer, digits; two of the classes, if named."""
    from sklearn import datasets

    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    if classes is None:
        return X, y
    kept = np.isin(y, classes)
    return X[kept], (y[kept] == classes[1]).astype(int)
