r"""Problems written as formulas.

Everything is put together from the blocks: symbols of variables and multipliers, and the labels that say how a
coefficient of row i is written. The same pieces give the primal, the Lagrangian, the KKT conditions and the
dual, because a transposed block is the same label read the other way round.

>>> import convexcls as cc
>>> print(cc.latex.latex(cc.HardMarginSVM([[0], [2]], [0, 1]).dual()))
\begin{aligned}
\max_{\alpha}\quad & \sum_i \alpha_i - \tfrac12 \|\sum_i \alpha_i y_i x_i\|^2 \\
\text{subject to}\quad & \sum_i \alpha_i y_i = 0 \\
\quad & \alpha_i \ge 0,\quad i = 1, \dots, n
\end{aligned}
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from convexcls.losses.writing import number
from convexcls.problem import Constraint, Kind, Label, NormBound, Problem, Term, Variable
from convexcls.rows import Rows

Block = Constraint | Term | NormBound


@dataclass(frozen=True)
class Formula:
    """A formula as LaTeX, among words."""

    latex: str


#: Words with formulas among them.
Line: TypeAlias = "tuple[str | Formula, ...]"


@dataclass(frozen=True)
class Piece:
    """One summand: a number times a factor (such as y_i) times a body."""

    number: float
    factor: str
    body: str

    def times(self, number: float) -> Piece:
        return Piece(self.number * number, self.factor, self.body)


def latex(problem: Problem) -> str:
    """The problem as a LaTeX ``aligned`` environment."""
    unknowns = ", ".join(v.symbol for v in problem.variables)
    word = r"\min" if problem.sense == "min" else r"\max"
    lines = [rf"{word}_{{{unknowns}}}\quad & {objective(problem)}"]
    rules = [constraint(problem, c) + _for_all(c.kind) for c in problem.constraints]
    rules += [norm_bound(problem, b) for b in problem.norm_bounds]
    for k, rule in enumerate(rules):
        lines.append((r"\text{subject to}" if k == 0 else "") + rf"\quad & {rule}")
    return r"\begin{aligned}" + "\n" + " \\\\\n".join(lines) + "\n" + r"\end{aligned}"


def _for_all(kind: Kind) -> str:
    return {"samples": r",\quad i = 1, \dots, n", "margins": r",\quad i = 1, \dots, n,\ k \ne y_i"}.get(kind, "")


#: The index of an entry of a block that has one for each sample, and the sum over all.
INDEX = {"samples": "i", "margins": "{ik}"}
SUM = {"samples": r"\sum_i", "margins": r"\sum_{i, k}"}


# ---- sums of products -----------------------------------------------------------------------------------


def indexed(symbol: str, kind: Kind) -> str:
    """A block's symbol with the index of its entries: alpha_i, or beta for a plain vector."""
    if kind not in INDEX:
        return symbol
    return f"{{{symbol}}}_{INDEX[kind]}" if "^" in symbol or "_" in symbol else f"{symbol}_{INDEX[kind]}"


def product(outer: Kind, inner: Kind, symbol: str, label: Label, diagonal: bool, turned: bool = False) -> Piece:
    """(coefficients) times (unknown) as one entry of a block of kind ``outer``, the unknown of kind ``inner``.

    A block of samples has one row a sample; ``turned`` the other way round, it is a sum over samples.
    """
    unknown = indexed(symbol, inner)
    if diagonal:
        return Piece(label.scale, label.factor, " ".join(filter(None, [label.vector, unknown])))
    if inner in SUM and outer not in SUM:
        inside = " ".join(filter(None, [unknown, label.factor, label.vector]))
        return Piece(label.scale, "", rf"{SUM[inner]} {inside}")
    if label.product and not turned:
        return Piece(label.scale, label.factor, label.product.replace("%", symbol))
    if inner in SUM:
        return Piece(label.scale, "", rf"\sum_k {label.vector or 'a'}_{{ik}} {symbol}_k")
    if inner == "vector" and outer != "vector":
        return Piece(label.scale, label.factor, rf"{transposed(label.vector or 'a')} {unknown}")
    if inner == "vector":
        return Piece(label.scale, label.factor, f"{label.vector or 'A'} {unknown}")
    spread = " " in label.vector and not label.vector.startswith("(")
    front = (f"({label.vector})" if spread and outer != "vector" else label.vector,) if label.vector else ()
    return Piece(label.scale, label.factor, " ".join([*front, unknown] if outer != "vector" else [unknown, *front]))


def transposed(vector: str) -> str:
    """A vector's symbol as a row, in brackets where it is more than a letter."""
    return (
        rf"{vector}^{{\top}}" if re.fullmatch(r"\(.*\)|\\?\w+(_\w)?|\\tilde\{.*\}", vector) else rf"({vector})^{{\top}}"
    )


def pieces(problem: Problem, block: Block, entries: Mapping[str, Rows] | None = None) -> list[Piece]:
    """The summands of one entry of a block's left-hand side."""
    out = []
    for name, rows in (block.entries if entries is None else entries).items():
        v = problem.variable(name)
        label = block.labels.get(name) or default_label(rows)
        if label.product.isspace():
            continue  # written with the product of another variable
        out.append(product(block.kind, v.kind, v.symbol, label, rows.diagonal() is not None))
    return out


def default_label(rows: Rows) -> Label:
    """How unlabelled coefficients are written: numbers where they are all alike, letters otherwise."""
    if (values := rows.diagonal()) is not None:
        if values.size and np.all(values == values[0]):
            return Label("", "", float(values[0]))
        return Label("", "d_i")
    left, core, right = (rows.T if rows.is_transposed else rows).factors()
    if not core.is_ones:
        return Label("", "a" if rows.is_transposed else "a_i")
    if left is not None and np.any(left != left[0]):
        return Label("a_i", "")
    return Label("", "", float((1.0 if left is None else left[0]) * (1.0 if right is None else right[0])))


def total(parts: Iterable[Piece]) -> str:
    """The summands as one expression; those with the same factor share a bracket."""
    groups: list[list[Piece]] = []
    for piece in parts:
        last = groups[-1][0] if groups else None
        if last is not None and piece.factor and (piece.factor, piece.number) == (last.factor, last.number):
            groups[-1].append(piece)
        else:
            groups.append([piece])
    out = ""
    for group in groups:
        body = " + ".join(p.body for p in group)
        if len(group) > 1:
            body = f"({body})"
        body = f"{group[0].factor} {body}".strip()
        out += _signed(group[0].number, body, first=not out)
    return out or "0"


def _signed(value: float, body: str, first: bool) -> str:
    sign = "-" if value < 0 else "" if first else "+"
    size = "" if abs(value) == 1 else number(abs(value)) + r"\,"
    return (f"{sign}{size}{body}" if first else f" {sign} {size}{body}") if value else ""


# ---- objective ------------------------------------------------------------------------------------------


def objective(problem: Problem, minimised: bool = False, split: bool = False) -> str:
    """The objective in the sense in which the problem is written (or ``minimised``), what is added before what
    is subtracted; ``split`` writes the losses as functions of their arguments u."""
    parts = [*_quadratic(problem), *_linear(problem), *(_term(problem, t, split) for t in problem.terms)]
    if problem.constant:
        parts.append(Piece(problem.constant, "", ""))
    flip = -1.0 if problem.sense == "max" and not minimised else 1.0
    ordered = sorted((p.times(flip) for p in parts), key=lambda p: p.number < 0)
    out = ""
    for p in ordered:
        if p.body:
            out += _signed(p.number, p.body, first=not out)
        else:
            sign = "-" if p.number < 0 else "" if not out else "+"
            out += (f" {sign} " if out else sign) + number(abs(p.number))
    return out or "0"


def _quadratic(problem: Problem) -> list[Piece]:
    out = []
    for name in problem.quadratic:
        v, p = problem.variable(name), problem.diagonals.get(name)
        if p is None:
            out.append(Piece(1.0, "", rf"\tfrac12 {transposed(v.symbol)} {problem.quadratic_symbol} {v.symbol}"))
        elif np.all(p == p[:1]):
            out.append(_halved(float(p[0]), _square(v)))
        else:
            inside = rf"p_i {indexed(v.symbol, v.kind)}^2" if v.kind in SUM else rf"p_j {v.symbol}_j^2"
            out.append(Piece(1.0, "", rf"\tfrac12 {SUM.get(v.kind, chr(92) + 'sum_j')} {inside}"))
    return out


def _square(v: Variable) -> str:
    if v.kind in SUM:
        return rf"{SUM[v.kind]} {indexed(v.symbol, v.kind)}^2"
    return f"{v.symbol}^2" if v.kind == "scalar" else rf"\|{v.symbol}\|^2"


def _halved(value: float, body: str) -> Piece:
    """value/2 times body, with the half written as a fraction."""
    return Piece(1.0, "", rf"\tfrac12 {body}") if value == 1 else Piece(value / 2.0, "", body)


def _linear(problem: Problem) -> list[Piece]:
    out = []
    for name, q in problem.linear.items():
        v = problem.variable(name)
        uniform = bool(np.all(q == q[:1]))
        if name in problem.linear_labels and problem.linear_labels[name].product:
            label = problem.linear_labels[name]
            out.append(Piece(label.scale, "", label.product.replace("%", v.symbol)))
        elif v.kind == "scalar":
            out.append(Piece(float(q[0]), "", v.symbol))
        elif v.kind in SUM:
            label = problem.linear_labels.get(name, Label("c_i"))
            front = "" if uniform else f"{label.factor} "
            size = float(q[0]) if uniform else label.scale
            out.append(Piece(size, "", rf"{SUM[v.kind]} {front}{indexed(v.symbol, v.kind)}"))
        elif uniform:
            out.append(Piece(float(q[0]), "", rf"\sum_j {indexed(v.symbol, 'samples').replace('_i', '_j')}"))
        else:
            out.append(Piece(1.0, "", rf"c^{{\top}} {v.symbol}"))
    return [p for p in out if p.number]


def inside(problem: Problem, term: Term) -> str:
    """The argument of a term's loss."""
    out = total(pieces(problem, term))
    offset = term.offset
    if not np.any(offset):
        return out
    if np.all(offset == offset[0]):
        return out + f" {'-' if offset[0] < 0 else '+'} {number(abs(float(offset[0])))}"
    return out + (f" - {term.offset_label}" if term.offset_label else " + o" + ("_i" * (term.kind in SUM)))


def _term(problem: Problem, term: Term, split: bool) -> Piece:
    argument = indexed("u", term.kind) if split else inside(problem, term)
    weight = float(term.weights[0])
    uniform = bool(np.all(term.weights == weight))
    if term.is_half_square and term.kind == "vector" and uniform:
        return _halved(weight, rf"\|{argument}\|^2")
    if term.is_half_square and uniform:
        squared = f"{argument}^2" if split else f"({argument})^2"
        return _halved(weight, rf"\sum_i {squared}" if term.kind == "samples" else squared)
    body = term.loss.latex(argument)
    front = "" if uniform else "c_i "
    closed = body.startswith((r"\log\left", r"\max", "|", "e^"))  # reads as one factor of the sum
    if body.startswith("-") and " - " not in body:
        body, weight = body[1:], -weight
    elif (" + " in body or " - " in body) and not (uniform and closed):
        body = rf"\left[{body}\right]"
    return Piece(weight if uniform else np.sign(weight), "", (r"\sum_i " if term.kind in SUM else "") + front + body)


# ---- constraints ----------------------------------------------------------------------------------------


def sides(problem: Problem, c: Constraint) -> tuple[str, str, str, bool]:
    """Left-hand side, relation, right-hand side, and whether the row was turned round to read better."""
    parts = pieces(problem, c)
    turned = parts[0].number < 0
    if turned:
        parts = [p.times(-1.0) for p in parts]
    relation = {"==": "=", "<=": r"\ge" if turned else r"\le"}[c.relation]
    return total(parts), relation, _right_hand_side(c, turned), turned


def _right_hand_side(c: Constraint, turned: bool) -> str:
    rhs = -c.rhs if turned else c.rhs
    if rhs.size and np.all(rhs == rhs[0]):
        return ("-" if rhs[0] < 0 else "") + number(abs(float(rhs[0])))
    if c.rhs_label:
        negative = c.rhs_label.startswith("-") != turned
        return ("-" if negative else "") + c.rhs_label.lstrip("-")
    return ("-" if turned else "") + ("h_i" if c.kind in SUM else "h")


def constraint(problem: Problem, c: Constraint) -> str:
    """The constraint as a formula."""
    left, relation, right, _ = sides(problem, c)
    return f"{left} {relation} {right}"


def norm_bound(problem: Problem, b: NormBound) -> str:
    """The norm bound as a formula."""
    parts = pieces(problem, b)
    if not np.any(b.offset) and parts[0].number < 0:  # a norm does not mind the sign
        parts = [p.times(-1.0) for p in parts]
    left = total(parts) + (" + e" if np.any(b.offset) else "")
    right = total(pieces(problem, b, b.bound_entries)) if b.bound_entries else ""
    constant = number(b.bound) if b.bound or not right else ""
    return rf"\|{left}\| \le " + " + ".join(filter(None, [right, constant]))


# ---- plain text -----------------------------------------------------------------------------------------

SYMBOLS = re.findall(
    r"\S+",
    r"\alpha \beta \lambda \mu \nu \xi \eta \tau \theta \rho \psi \phi \Lambda \Omega \Pi \sum \nabla \partial \infty "
    r"\otimes \cdot \dots \le \ge \ne \| \{ \} \tfrac12",
)
WORDS = dict(zip(SYMBOLS, "αβλμνξητθρψφΛΩΠΣ∇∂∞⊗·…≤≥≠‖{}½", strict=True))
WORDS |= {word: word[1:] for word in (r"\log", r"\max", r"\min", r"\det")}
WORDS |= {r"\left": "", r"\right": "", r"\quad": "  ", r"\,": " ", r"\ ": " "}
SUBSCRIPTS = dict(zip("0123456789ijk", "₀₁₂₃₄₅₆₇₈₉ᵢⱼₖ", strict=True))
SUPERSCRIPTS = dict(zip("0123456789+-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", strict=True))


def plain(formula: str) -> str:
    """One of our formulas as plain text: y_i (x_i^T beta) becomes yᵢ (xᵢᵀ β)."""
    text = formula
    text = re.sub(r"\\text\{([^{}]*)\}|\\mathbf\{([^{}]*)\}", lambda m: m.group(1) or m.group(2), text)
    text = re.sub(r"\\tilde\{([^{}]*)\}", "\\1\u0303", text)
    text = re.sub(r"\\tfrac\{([^{}]*(?:\{[^{}]*\})?[^{}]*)\}\{([^{}]*)\}", r"\1/\2", text)
    text = re.sub(
        r"\\begin\{pmatrix\} (.*?) \\end\{pmatrix\}",
        lambda m: f"[{m[1]}]".replace(r" \\", ";").replace(" &", ","),
        text,
    )
    text = text.replace(r"^{\top}", "ᵀ").replace("^*", "*")
    for word in sorted(WORDS, key=len, reverse=True):
        text = re.sub(re.escape(word) + (r"(?![a-zA-Z])" if word[-1].isalpha() else ""), WORDS[word], text)
    text = re.sub(r"\{([^{},]*)\}_", r"\1_", text)
    text = re.sub(
        r"_\{([0-9ijk]+)\}|_([0-9ijk])",
        lambda m: "".join(SUBSCRIPTS[k] for k in m.group(1) or m.group(2)),
        text,
    )
    text = re.sub(r"_\{([^{}]*)\}", r"[\1]", text)  # what has no small letters: Σ[k ≠ yᵢ]
    text = re.sub(r"\^([+-])", lambda m: SUPERSCRIPTS[m.group(1)], text)
    text = re.sub(r"\^\{?(-?\d+)\}?", lambda m: "".join(SUPERSCRIPTS[k] for k in m.group(1)), text)
    text = re.sub(r"e\^\{([^{}]*)\}", r"exp(\1)", text)
    text = re.sub(r"\^\{\((\d+)\)\}", r"⁽\1⁾", text)
    return re.sub(r" +", " ", text).replace("∂ ", "∂").strip()


def plain_lines(latex: str) -> list[str]:
    """A formula in letters, an aligned one in its lines."""
    inside = latex.replace(r"\begin{aligned}", "").replace(r"\end{aligned}", "")
    return [plain(line.replace("&", " ").strip()) for line in inside.split(r"\\")]


def in_letters(line: Line) -> str:
    """A line as plain text."""
    return "".join(plain(one.latex) if isinstance(one, Formula) else one for one in line)
