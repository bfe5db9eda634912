"""Check a convexcls certificate from nothing but the file and the data, in exact arithmetic.

    python verify_certificate.py certificate.json data.csv [--target NAME] [--weight NAME] [--features A,B,C]

Exit code 0: accepted, 1: refused, 2: not readable. Nothing is solved and nothing is believed: the point of the file is
made exactly feasible and its multipliers exactly dual feasible, which gives an upper and a lower bound on the optimum
that hold whatever the numbers are. Wrong numbers give wide bounds, which are refused. README.md has the formulas.
"""

import argparse
import csv
import hashlib
import json
import math
import re
import struct
import sys
from fractions import Fraction

MAX_FILE_CHARACTERS, MAX_DENOMINATOR_BITS = 64_000_000, 20_000  # of a file; of its numbers together
BEYOND_DOUBLES = 2**1024 - 2**970  # which is rounded to infinity
RATIONAL = re.compile(r"(-?[0-9]{1,4000})(?:/([1-9][0-9]{0,3999}))?")
DECIMAL = re.compile(r"[+-]?(?:[0-9]{1,400}(?:\.[0-9]{0,400})?|\.[0-9]{1,400})(?:[eE][+-]?[0-9]{1,3})?")
ZERO, EITHER, CODING = Fraction(0), (True, False), ("pm1", "01", "real")
#: The parameters of each model (``str``: a number) and the blocks that its multipliers belong to.
MODELS = {
    "hard-margin": ({"intercept": EITHER}, ["margin"]),
    "soft-margin": ({"C": str, "loss": ("hinge", "squared_hinge"), "intercept": EITHER}, ["margin"]),
    "least-squares": ({"l2": str, "coding": CODING, "intercept": EITHER}, []),
    "least-absolute": ({"coding": CODING, "intercept": EITHER}, ["residual_above", "residual_below"]),
    "perceptron": ({"normalization": ("mean-margin", None), "intercept": EITHER}, ["margin", "normalization"]),
}


class Refused(Exception): ...  # why, and the exit code: 1 where a claim is not proved, 2 where a file is not readable


def demand(holds, words, code=2):
    if not holds:
        raise Refused(words, code)


def check_shape(value, shape, where):
    """A dictionary asks for its keys and no others, a list for entries of its type, a tuple for one of its values."""
    if type(shape) is dict:
        demand(type(value) is dict and set(value) == set(shape), f"{where} must have the fields {', '.join(shape)}")
        for name, inner in shape.items():
            check_shape(value[name], inner, name)
    elif type(shape) is list:
        demand(type(value) is list and all(type(v) is shape[0] for v in value), f"{where} must be a list of text")
    else:
        kinds = [(type(c), c) for c in shape] if type(shape) is tuple else [(shape, value)]
        demand((type(value), value) in kinds, f"{where} must be {shape}")


def numbers(texts):
    """``p`` or ``p/q`` as it is; text with a point or an exponent is the double nearest to it."""
    values, below = [], 1
    for text in texts:
        found = RATIONAL.fullmatch(text := text if type(text) is str else "")
        demand(found or (DECIMAL.fullmatch(text) and math.isfinite(float(text))), "a number is not written as one")
        values.append(Fraction(int(found[1]), int(found[2] or 1)) if found else Fraction(float(text)))
        below = math.lcm(below, values[-1].denominator)
        demand(below.bit_length() <= MAX_DENOMINATOR_BITS, "the numbers have no common denominator of a bearable size")
    return values


def by_row(blocks, names, samples):
    """Multipliers by block and row as lists with one number a row."""
    out = {name: [ZERO] * (1 if name == "normalization" else samples) for name in names}
    for name, block in blocks.items():
        demand(name in out and type(block) is dict, f"multipliers must be given by row, of {', '.join(out) or 'none'}")
        demand(set(block) <= set(map(str, range(len(out[name])))), f"{name} has no such row")
        for row, value in zip(block, numbers(block.values()), strict=True):
            out[name][int(row)] = value
    return out


def read_certificate(text, samples):
    """The certificate. What JSON takes for a number, or a field given twice, becomes ``...``, a type not asked for."""
    demand(len(text) <= MAX_FILE_CHARACTERS, "the certificate is too long")
    hooks = dict.fromkeys(["parse_int", "parse_float", "parse_constant"], lambda _: ...)
    try:
        found = json.loads(text, object_pairs_hook=lambda p: dict(p) if len(dict(p)) == len(p) else ..., **hooks)
    except (ValueError, RecursionError):
        raise Refused("the certificate is not JSON", 2) from None
    demand(type(found) is dict, "a certificate is a JSON object in which no field occurs twice")
    model, level, optimal = found.get("model"), found.get("level"), found.get("verdict") == "optimal"
    known, blocks = MODELS.get(model if type(model) is str else "", ({}, []))
    claim = dict.fromkeys(["lower", "upper", *(["optimum"] if level == "exact" else [])] if optimal else [], str)
    parameters = found["parameters"] if type(found.get("parameters")) is dict else {}
    point = {"coef": [str], **({"intercept": [str]} if parameters.get("intercept") is True else {})}
    labels = type(None) if parameters.get("coding") == "real" else [str]
    data = found["data"] if type(found.get("data")) is dict else {}
    shape = {"sha256": str, "samples": str, "features": str, "labels": labels, "weighted": EITHER}
    check_shape(found, {
        "schema": ("convexcls-certificate/2",), "level": ("float", "rigorous", "exact"),
        "verdict": ("optimal", "infeasible"), "model": tuple(MODELS), "parameters": known, "tolerance": str,
        "data": {**shape, **({"digest": ("convexcls-data/2",)} if "digest" in data else {})},
        "claim": claim, "notes": [str], **dict.fromkeys({"coding"} & set(found), dict), **({"point": point, "multipliers": dict} if optimal else {"farkas": dict}),
    }, "the certificate")  # fmt: skip
    coded = found.get("coding", {}).get("columns", {})
    plain = type(coded) is dict and all(column == ["number"] for column in coded.values())
    demand(plain, "the columns of the table are coded: this verifier takes numbers as they are, convexcls verify all")
    demand(found["data"]["samples"] == str(samples), "the certificate speaks of another number of samples", 1)
    for name in {"C", "l2"} & set(known):
        (parameters[name],) = numbers([parameters[name]])
        demand(0 <= parameters[name] < 2**1023 and (parameters[name] or name == "l2"), f"{name} is out of range")
    found["tolerance"], *values = numbers([found["tolerance"], *(found["claim"][name] for name in claim)])
    found["claim"], sizes = dict(zip(claim, values, strict=True)), {"coef": found["data"]["features"], "intercept": "1"}
    demand(not optimal or all(str(len(found["point"][v])) == sizes[v] for v in point), "the point has a wrong size")
    demand(0 < found["tolerance"] <= Fraction(1, 10_000), "the tolerance must lie between 0 and 1/10000")
    found["multipliers"] = by_row(found["multipliers" if optimal else "farkas"], blocks, samples)
    found["point"] = numbers([text for v in point for text in found["point"][v]]) if optimal else []
    return found


def exactly(cell, rounded=False):
    """A cell's value: decimal text as it is written, or as the double nearest to it."""
    readable = type(cell) is not str or (DECIMAL.fullmatch(cell.strip()) and math.isfinite(float(cell)))
    demand(readable, f"{str(cell)[:40]!a} is not a finite number")
    return Fraction(float(cell) if rounded else cell)


def canonical(value):
    """An entry as ``float.hex`` writes it, else in lowest terms; a label in lowest terms, else as JSON writes text."""
    if type(value) is Fraction:
        double = abs(value) < 2**1023 and value.numerator / value.denominator == value
        return float(value).hex() if double else str(value)
    return str(Fraction(text)) if DECIMAL.fullmatch(text := str(value).strip()) else json.dumps(text)


def digest(rows, targets, weights, real):
    """SHA-256 of a header, all labels in order and the SHA-256 of each 1024 samples: of whole numbers (how many entries
    are not 0, in which columns where others are, places of labels), doubles, and text of what is none."""
    weighted, names = any(w != 1 for w in weights), [] if real else sorted({*map(canonical, targets)})
    head = f"convexcls-data/2 {len(rows)} {len(rows[0])} {'weighted' if weighted else 'plain'} {len(names)}"
    seen = hashlib.sha256("\n".join([head, *names, ""]).encode())
    for some in (slice(first, first + 1024) for first in range(0, len(rows), 1024)):
        filled = [[(j, v) for j, v in enumerate(row) if v] for row in rows[some]]
        whole = [*map(len, filled), *(j for row in filled if len(row) < len(rows[0]) for j, _ in row)]
        whole += [] if real else [names.index(canonical(target)) for target in targets[some]]
        values = [*(v for row in filled for _, v in row), *(targets[some] * real), *(weights[some] * weighted)]
        exact = [*map(Fraction, values)]
        near = [v.numerator / v.denominator if abs(v) < BEYOND_DOUBLES else math.nan for v in exact]
        doubles = [double if v == double else math.nan for v, double in zip(exact, near, strict=True)]
        text = "".join(f"{v}\n" for v, double in zip(exact, near, strict=True) if v != double)
        block = struct.pack(f"<{len(whole)}I{len(doubles)}d", *whole, *doubles) + text.encode()
        seen.update(hashlib.sha256(block).digest())
    return seen.hexdigest()


def text_digest(rows, targets, weights, _=False):
    """Of older files: SHA-256 of a header and, by sample, target, weight (if any is not 1), entries that are not 0."""
    weighted = any(weight != 1 for weight in weights)
    lines = [f"convexcls-data/1 {len(rows)} {len(rows[0])} {'weighted' if weighted else 'plain'}"]
    for row, target, weight in zip(rows, targets, weights, strict=True):
        entries = [f"{j}:{canonical(value)}" for j, value in enumerate(row) if value]
        lines.append(" ".join([canonical(target), *([canonical(Fraction(weight))] if weighted else []), *entries]))
    return hashlib.sha256("\n".join([*lines, ""]).encode()).hexdigest()


def same_data(data, rows, labels, weights):
    """Samples, targets (classes: -1, 1) and weights: the cells as they are written or as doubles, whichever have the
    digest; in older files weights alone are doubles."""
    known, names = data["labels"], [*map(canonical, labels)] if data["labels"] is not None else []
    tables = ([[exactly(c, rounded) for c in row] for row in rows] for rounded in (False, False, True))
    fits = ([exactly(t, rounded) for t in labels] if known is None else labels for rounded in (False, False, True))
    shares = ([exactly(w, rounded) for w in weights] for rounded in (False, True, True))
    ways = zip(tables, fits, shares, strict=True)
    made = digest if "digest" in data else text_digest
    found = next((way for way in ways if made(*way, known is None) == data["sha256"]), None)
    demand(found, "the data are not those that the certificate speaks of: their digests differ", 1)
    told = (data["features"], data["weighted"]) == (str(len(rows[0])), any(w != 1 for w in found[2]))
    named = known is None or len(known) == len({*known, *names}) == 2 == len(set(known))
    demand(told and named, "the certificate describes the data wrongly", 1)
    return found[0], found[1] if known is None else [Fraction(2 * (name == known[1]) - 1) for name in names], found[2]


def dot(u, v):
    return sum((a * b for a, b in zip(u, v, strict=True) if a and b), ZERO)


def pull(rows, weights):
    return [dot(column, weights) for column in zip(*rows, strict=True)]


def solve(rows, weights, ridge, target):
    """A solution s of (sum_i weights_i r_i r_i' + diag(ridge)) s = target; for the targets met here there is one."""
    matrix = [pull(rows, [w * v for w, v in zip(weights, column, strict=True)]) for column in zip(*rows, strict=True)]
    work = [[v + ridge[j] * (j == k) for k, v in enumerate(row)] + [target[j]] for j, row in enumerate(matrix)]
    pivots = []
    for column in range(len(work)):
        top = len(pivots)
        if (found := next((i for i in range(top, len(work)) if work[i][column]), None)) is not None:
            work[found], work[top] = work[top], [value / work[found][column] for value in work[found]]
            for i in set(range(len(work))) - {top}:
                work[i] = [a - work[i][column] * b for a, b in zip(work[i], work[top], strict=True)]
            pivots.append(column)
    return [work[pivots.index(k)][-1] if k in pivots else ZERO for k in range(len(work))]


def balanced(alpha, signs, room):
    """alpha >= 0 with sum_i signs_i alpha_i = 0, near one that may grow by room: changed where it may move either way,
    where the lighter class may grow, or in the heavier class, which can be scaled down whatever the numbers are."""
    excess = dot(alpha, signs)
    each = [(a, r, s * excess > 0) for a, r, s in zip(alpha, room, signs, strict=True)]
    gives = zip(*((min(a, r), r * (not heavy), a * heavy) for a, r, heavy in each), strict=True)
    steps = [(give, excess / sum(give)) for give in gives if sum(give) >= abs(excess) > 0]
    return [[a - s * g * t for a, s, g in zip(alpha, signs, give, strict=True)] for give, t in steps] or [alpha]


# Bounds: lower, upper, the objective at the point as it is, and whether nothing had to be repaired.
def margin_bounds(rows, signs, d, point, alpha, caps, kind, tolerance):
    """1/2 ‖coef‖^2 subject to m_i = r_i'v >= 1 (no caps), or plus sum_i caps_i max(0, 1 - m_i), or with its square."""
    m, size, squared = [dot(r, point) for r in rows], dot(point[:d], point[:d]) / 2, "squared_hinge" in kind.values()
    kept = [max(ZERO, a if squared and c else min(a, c)) for a, c in zip(alpha, caps or alpha, strict=True)]
    room = [c - a for a, c in zip(kept, caps, strict=True)] if caps and not squared else kept
    fits, sides = (balanced(kept, signs, room), signs) if len(point) > d else ([kept], [ZERO] * len(m))
    sums = [(sum(fit, ZERO), dot(w := pull(rows, fit)[:d], w)) for fit in fits]
    if caps is None:  # the best multiples of the point, its intercept in the middle, and of the multipliers
        ends = [min(v for v, side in zip(m, sides, strict=True) if side == s) for s in set(sides)]
        upper = size / (sum(ends) / len(ends)) ** 2 if min(m) > 0 else None
        lower = sums[0][0] ** 2 / (2 * sums[0][1]) if sums[0][1] else ZERO  # all fits are multiples of each other
        value = max(size, size / min(m), key=lambda v: abs(v - upper)) if upper else size  # the point may fall short
        return lower, upper, value, fits == [alpha] and min(m) == 1 and sums[0][0] == sums[0][1]
    stretch = 1 / min((v for v in m if v > 1 - tolerance), default=Fraction(1))  # lest rounding costs slack
    value, other = (t * t * size + dot(caps, [max(1 - t * v, ZERO) ** (1 + squared) for v in m]) for t in (1, stretch))
    squares = [sum((a * a / (2 * c) for a, c in zip(fit, caps, strict=True) if a and squared), ZERO) for fit in fits]
    lower = max(total - (bend + more) / 2 for (total, bend), more in zip(sums, squares, strict=True))
    return lower, min(value, other), min(value, other), fits == [alpha] and value <= other


def square_bounds(rows, weights, targets, d, point, l2):
    """1/2 sum_i weights_i (r_i'v - t_i)^2 + l2/2 ‖coef‖^2: less what one exact Newton step gains it is the optimum."""
    ridge = [l2 if j < d else ZERO for j in range(len(point))]
    off = [dot(r, point) - t for r, t in zip(rows, targets, strict=True)]
    force = [w * v for w, v in zip(weights, off, strict=True)]
    value = (dot(force, off) + l2 * dot(point[:d], point[:d])) / 2
    slope = [g + p * v for g, p, v in zip(pull(rows, force), ridge, point, strict=True)]
    return value - dot(slope, solve(rows, weights, ridge, slope)) / 2, value, value, not any(slope)


def kink_bounds(rows, weights, targets, point, low, z, nu, total):
    """sum_i max(low_i u_i, weights_i u_i), u_i = r_i'v - t_i, with total = -sum_i weights_i r_i'v where that is not 0.
    It is at least -sum_i z_i t_i - nu total for all low <= z <= weights with sum_i (z_i - nu weights_i) r_i = 0: such
    are z = 0, nu = 0 where low = -weights, and z = weights/2, nu = 1/2 where low = t = 0, in the middle of the box."""
    u, kept = [dot(r, point) - t for r, t in zip(rows, targets, strict=True)], [*map(max, low, map(min, z, weights))]
    room = [min(a - b, w - a) for a, b, w in zip(kept, low, weights, strict=True)]  # which may not be enough to move
    gives = [[*room, ZERO], [*room, 1 / sum(weights)], [*weights, ZERO]] if total else [[*room, ZERO], [*weights, ZERO]]
    every, ridge = [*rows, [-v for v in pull(rows, weights)]], [ZERO] * len(point)  # the last row is that of nu
    steps = [(give, solve(every, give, ridge, excess := pull(every, [*kept, nu]))) for give in gives]
    fits = [[a - g * dot(r, s) for a, g, r in zip([*kept, nu], give, every, strict=True)] for give, s in steps]
    lower = [ZERO]  # which the objective is never below
    for *fit, slope in (fit for fit in fits if not any(pull(every, fit))):
        out = [(max(a - w, b - a, ZERO), (w - b) / 2) for a, w, b in zip(fit, weights, low, strict=True)]
        part = max(v / (v + half) if v else ZERO for v, half in out)  # so much of the middle brings all into the box
        lower += [(part - 1) * (dot(fit, targets) + slope * total) - part * total / 2]
    value = sum((max(b * v, w * v) for b, w, v in zip(low, weights, u, strict=True)), ZERO)
    reach = -dot(weights, [dot(r, point) for r in rows]) if total else total
    upper = value if reach == total else value * total / reach if reach > 0 else None
    return max(lower), upper, value, kept == z and not any(excess) and reach == total


def bounds(found, table, targets, weights):
    """What counts as one where the optimum may be 0, then the bounds of the model."""
    model, parameters, point, given, d = *map(found.get, ("model", "parameters", "point", "multipliers")), len(table[0])
    rows = [[*row, *[Fraction(1)] * parameters["intercept"]] for row in table]
    signed = [[s * v for v in row] for s, row in zip(targets, rows, strict=True)]
    if found["verdict"] == "infeasible":  # multiplied by z and added up, the left sides cancel, the right ones do not
        z = {"hard-margin": given.get("margin"), "perceptron": weights}.get(model, [])
        proved = any(z) and min(z) >= 0 and not any(pull(signed, z)) and parameters.get("normalization", "") is not None
        return demand(proved, "the multipliers contradict nothing: the proof of infeasibility fails", 1)
    if model in ("hard-margin", "soft-margin"):
        caps = [parameters["C"] * w for w in weights] if "C" in parameters else None
        return ZERO, *margin_bounds(signed, targets, d, point, given["margin"], caps, parameters, found["tolerance"])
    if model == "perceptron":
        total = sum(weights) if parameters["normalization"] else ZERO
        turned, nothing = [[-v for v in row] for row in signed], [ZERO] * len(rows)
        z, (nu,) = given["margin"], given["normalization"] if total else [ZERO]
        return sum(weights), *kink_bounds(turned, weights, nothing, point, nothing, z, nu, total)
    t = [(v + 1) / 2 for v in targets] if parameters["coding"] == "01" else targets
    if model == "least-squares":
        return dot(weights, [v * v for v in t]) / 20_000, *square_bounds(rows, weights, t, d, point, parameters["l2"])
    above, below, low = given["residual_above"], given["residual_below"], [-w for w in weights]
    demand(found["level"] != "exact" or [*map(Fraction.__add__, above, below)] == weights, "above + below != weight", 1)
    each = zip(above, below, weights, strict=True)  # above + below = weight up to rounding, which is all of a light one
    ways = zip(*((a - b, 2 * a - w, w - 2 * b) for a, b, w in each), strict=True)
    found = [kink_bounds(rows, weights, t, point, low, [*z], ZERO, ZERO) for z in dict.fromkeys(ways)]
    return dot(weights, map(abs, t)), *max(found, key=lambda ends: ends[0])


def verify(text, rows, labels, weights=None):
    """What is proved, in words, with the lower and the upper bound; ``Refused`` where it is not."""
    found = read_certificate(text, len(rows))
    known = [exactly(w) for w in weights or [1] * len(rows)]
    ragged = {*map(len, rows)} != {len(rows[0])} or not len(rows) == len(labels) == len(known)
    demand(not ragged and min(known) >= 0 < max(known), "a ragged table, a negative weight, or all weights 0")
    own = same_data(found["data"], rows, labels, known)
    unit, lower, upper, value, untouched = bounds(found, *own) or [None] * 5
    if found["verdict"] == "infeasible":
        return "infeasible: multiplied and added up as stated, the constraints contradict each other", None, None
    demand(upper is not None and upper < 2**1023, "the point is not feasible, and no multiple of it is", 1)
    room, level, (low, high, *more) = found["tolerance"] * max(upper, unit), found["level"], found["claim"].values()
    if level == "exact":
        exact = untouched and {lower} == {lower, upper, low, high, *more}
        demand(exact, "point and multipliers do not prove the claimed optimum exactly", 1)
        return f"optimal, and the optimum is exactly {upper}", lower, upper
    words = f"the optimum lies between {float(max(lower, ZERO)):.17g} and {float(upper):.17g}"
    demand(upper - lower <= room and abs(value - upper) <= room, f"{words}: that is all that is proved", 1)
    near = max(abs(low - lower), abs(high - upper)) <= room and (level == "float" or low <= lower <= upper <= high)
    demand(near, f"{words}: the claim is another", 1)
    return f"optimal to the relative tolerance {float(found['tolerance'])}, and {words}", lower, upper


def read_table(data, target, weight, features):
    """Rows, labels and weights of a CSV file, all as text."""
    with open(data, newline="", encoding="utf-8-sig") as file:
        records = [[cell.strip() for cell in record] for record in csv.reader(file, strict=True)]
    names, *body = [record for record in records if any(record)] or [[]]
    target = names[-1] if names and target is None else target
    chosen = features.split(",") if features else [name for name in names if name not in (target, weight)]
    square = {len(set(names))} == {*map(len, body)} == {len(names)}
    demand(square and chosen and {*chosen, target, weight or target} <= set(names), "a ragged table, or no such column")
    columns = dict(zip(names, zip(*body, strict=True), strict=True))
    return [*zip(*map(columns.get, chosen), strict=True)], columns[target], columns[weight] if weight else None


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("certificate", "data", "--target", "--weight", "--features"):
        parser.add_argument(name)
    given = vars(parser.parse_args(arguments))
    try:
        with open(given.pop("certificate"), encoding="utf-8") as file:
            words, code = verify(file.read(MAX_FILE_CHARACTERS + 1), *read_table(**given))[0], 0
    except (Refused, OSError, UnicodeDecodeError, csv.Error) as error:
        words, code = error.args if isinstance(error, Refused) else (error, 2)
    print(["ACCEPTED:", "REFUSED:", "NOT READABLE:"][code], words)
    return code


if __name__ == "__main__":
    sys.exit(main())
