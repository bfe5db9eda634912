"""Fitted classifiers as files: what is needed to predict, and what proves the fit, but none of the training data.

A file (schema ``convexcls-model/1``) holds the kind of model and its parameters, the labels, the coding of the table,
the basis, the arrays that scores are worked out from (of a kernel its support points), and the digest of the
certificate. It may come from anywhere: every name, type, length and number in it is checked before anything is
computed, and nothing in it is executed.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from convexcls.arrays import Array, Mask
from convexcls.basis import Basis, Polynomial, Quadratic
from convexcls.basis.radial import Radial
from convexcls.data import Named, check_matrix
from convexcls.data.matrix import holds_columns
from convexcls.files import open_input, write_file
from convexcls.models import Model, by_kind
from convexcls.models.base import class_probabilities
from convexcls.models.kernels import FORMULAS, Kernel
from convexcls.models.scorers import FORMS, KernelScorer, LinearScorer, NearestScorer, QuadraticScorer, Scorer
from convexcls.problem import NoAnswer
from convexcls.proofs.portable import data_digest
from convexcls.proofs.portable.parsing import depth
from convexcls.solution import Solution
from convexcls.tables import Coding, CodingError, Table
from convexcls.wording import listed

SCHEMA = "convexcls-model/1"
MAX_FILE_BYTES = 256_000_000
MAX_DEPTH = 6
MAX_NUMBERS = 20_000_000
MAX_TEXT_CHARACTERS = 2_000
MAX_LABELS = 10_000
MAX_DEGREE = 1_000
_FIELDS = ("schema", "model", "parameters", "labels", "features", "coding", "basis", "scores", "probabilities", "proof")
_PROOF = ("verdict", "level", "tolerance", "solver", "objective", "data", "samples", "certificate")


class ModelFileError(ValueError):
    """A file that is not a saved model; the message names the field and what is wrong with it.

    >>> import convexcls as cc
    >>> cc.load_model("/dev/null")
    Traceback (most recent call last):
        ...
    convexcls.saved.ModelFileError: /dev/null: not a model file: not JSON: Expecting value: line 1 column 1 (char 0)
    """


@dataclass(frozen=True, eq=False)
class SavedModel:
    """A classifier as ``Solution.save`` keeps it: it predicts the same numbers, without the data that it was fitted on.

    ``proof`` says what was proved of the fit, with the digests of its data and of its certificate.

    >>> import convexcls as cc
    >>> import pathlib, tempfile
    >>> table = cc.Table({"dose": [1, 2, 3, 4], "sex": ["f", "m", "f", "f"], "sick": ["no", "yes", "no", "yes"]})
    >>> path = pathlib.Path(tempfile.mkdtemp(), "model.json")
    >>> _ = table.samples("sick").declare(cc.LogisticMLE, l2=1.0).solve().save(path)
    >>> model = cc.load_model(path)
    >>> model, model.predict({"dose": [9, 1], "sex": ["f", "f"]}).tolist()
    (<SavedModel: logistic on 2 features, labels 'no' and 'yes'>, ['yes', 'no'])
    """

    kind: str
    parameters: Mapping[str, Any]
    labels: tuple[Any, ...] | None
    features: tuple[str, ...]
    scorer: Scorer
    has_probabilities: bool
    coding: Coding | None = None
    basis: Basis | None = None
    proof: Mapping[str, Any] = field(default_factory=dict)

    # ---- predictions ----------------------------------------------------------------------------------------------

    def whole(self, table: Table) -> Mask:
        """Which rows of a table can be predicted: those without missing cells but where the model takes them."""
        if self.coding is not None:
            return self.coding.whole(table)
        return ~np.any([table.column(name).missing for name in self.features], axis=0)

    def matrix(self, X: Any) -> Any:
        """New samples as the scores take them: through the coding, where they are columns, and the basis."""
        if isinstance(X, Table) or (holds_columns(X) and not isinstance(X, Named)):
            if self.coding is None:
                table = Table.of(X)
                X = np.column_stack([table.column(name).values for name in self.features])
            else:
                X = self.coding.code(X)
        if self.basis is not None:
            X = self.basis(check_matrix(X))
        return check_matrix(X, columns=self._width)

    @property
    def _width(self) -> int:
        scorer = self.scorer
        if isinstance(scorer, KernelScorer):
            return int(scorer.samples.shape[1])
        arrays = {"linear": "coef", "quadratic": "eta", "nearest": "directions"}
        return int(getattr(scorer, arrays[scorer.form]).shape[-1])

    def decision_function(self, X: Any) -> Array:
        """The scores: above 0 for the second label; of several classes one column a class."""
        return self.scorer.scores(self.matrix(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """The predicted label of each row; of real targets the fitted value."""
        return self.chosen(self.decision_function(X))

    def chosen(self, scores: Array) -> NDArray[Any]:
        """The labels that scores choose."""
        if self.labels is None:
            return scores
        winners = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        return np.array(self.labels)[winners]

    def predict_proba(self, X: Any) -> Array:
        """The probability of each label, for models that have one."""
        return self.probabilities(self.decision_function(X))

    def probabilities(self, scores: Array) -> Array:
        """The probabilities that scores mean."""
        if not self.has_probabilities:
            raise NoAnswer(f"the model {self.kind!r} has no probabilities: its scores are not log-odds")
        return class_probabilities(scores)

    def signed_distance(self, X: Any) -> Array:
        """f(x) / ‖coef‖: how far each row is from the hyperplane, positive on the side of the second label."""
        return self.decision_function(X) / self.norm

    @property
    def norm(self) -> float:
        """‖coef‖, of two classes and a score that is linear."""
        coef = self.coef
        if coef.ndim != 1 or not np.any(coef):
            raise NoAnswer(f"the model {self.kind!r} has no hyperplane of two classes: there are no distances")
        return float(np.linalg.norm(coef))

    @property
    def coef(self) -> Array:
        """The coefficients, one a feature; of several classes one row a class."""
        if not isinstance(self.scorer, LinearScorer):
            raise NoAnswer(f"the scores of the model {self.kind!r} are not linear: it has no coef")
        return self.scorer.coef

    @property
    def intercept(self) -> Any:
        """What is added to coef'x."""
        if not isinstance(self.scorer, LinearScorer):
            raise NoAnswer(f"the scores of the model {self.kind!r} are not linear: it has no intercept")
        return self.scorer.shift if self.scorer.shift.ndim else float(self.scorer.shift)

    def __getattr__(self, name: str) -> Any:
        has = f"the model {self.__dict__.get('kind')!r} without its training data"
        lost = f"has no {name!r}" + (", which a solution has" if hasattr(Solution, name) else "")
        raise AttributeError(f"{has} {lost}")

    def __repr__(self) -> str:
        told = "real targets" if self.labels is None else "labels " + " and ".join(map(repr, self.labels[:4]))
        return f"<SavedModel: {self.kind} on {len(self.features)} features, {told}>"

    def save(self, path: Any) -> Path:
        """Write it to a file, and say where that is."""
        write_file(target := Path(path), self.to_json() + "\n")
        return target

    def to_json(self) -> str:
        """The model as the text of a file."""
        return json.dumps(_written(self), indent=1, allow_nan=False)


def saved(solution: Solution, certificate: bool = True) -> SavedModel:
    """A solution as what is kept of it; ``certificate=False`` does without the digest of its certificate."""
    problem = solution.problem
    if not isinstance(problem, Model) or by_kind().get(problem.kind) is not type(problem):
        raise NoAnswer(f"the {problem.name} is not a model that a file could name: save the solution of a model")
    model = kept_model(solution)
    if isinstance(model.scorer, KernelScorer) and not model.scorer.kernel.named:
        raise NoAnswer(f"the {problem.name} has a kernel of your own, which a file cannot hold")
    text = f"{solution.certificate.to_json()}\n" if certificate else None
    digest = None if text is None else hashlib.sha256(text.encode()).hexdigest()
    return replace(model, proof={**model.proof, "data": data_digest(solution.data), "certificate": digest})


def kept_model(solution: Solution) -> SavedModel:
    """A solution as what is kept of it in a pickle: of any model, with any kernel, and without digests."""
    problem, known = solution.problem, solution.certificate
    if not isinstance(problem, Model):
        raise NoAnswer(f"the {problem.name} is not a model: it has no scores to keep")
    scorer, data = problem.scorer_from(solution.values, solution.multipliers), solution.data
    proof = {
        "verdict": solution.status,
        "level": known.level,
        "tolerance": known.tol,
        "solver": solution.solver,
        "objective": solution.objective,
        "data": None,
        "samples": data.n,
        "certificate": None,
    }
    probabilities = data.labels is not None and problem.probabilities(np.zeros((1, 3))) is not None
    features = data.features if data.expanded is None else data.expanded.inputs
    parameters = dict(problem.parameters)
    coding: Any = data.coding
    return SavedModel(problem.kind, parameters, data.labels, features, scorer, probabilities, coding, data.basis, proof)


def load_model(path: Any) -> SavedModel:
    """The saved model in a file; ``ModelFileError`` where it holds none. Nothing in it is executed.

    >>> import convexcls as cc
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "model.json")
    >>> _ = cc.LeastSquares([[0], [1], [4], [5]], ["a", "a", "b", "b"]).solve().save(path)
    >>> model = cc.load_model(path)
    >>> model.predict([[2.4], [2.6]]).tolist(), model.proof["verdict"]
    (['a', 'b'], 'optimal')
    """
    with open_input(Path(path)) as file:
        raw = file.read(MAX_FILE_BYTES + 1)
    if len(raw) > MAX_FILE_BYTES:
        raise ModelFileError(f"{path}: longer than {MAX_FILE_BYTES:,} bytes")
    try:
        return read_model(raw.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise ModelFileError(f"{path}: not a model file: not UTF-8 text (byte {error.start})") from None
    except ModelFileError as error:
        raise ModelFileError(f"{path}: not a model file: {error}") from None


# ---- written --------------------------------------------------------------------------------------------------


def _written(model: SavedModel) -> dict[str, Any]:
    scorer = model.scorer
    arrays = {f.name: _value_written(getattr(scorer, f.name)) for f in fields(scorer)}  # type: ignore[arg-type]
    return {
        "schema": SCHEMA,
        "model": model.kind,
        "parameters": {name: _plain(value) for name, value in model.parameters.items()},
        "labels": None if model.labels is None else [_plain(label) for label in model.labels],
        "features": list(model.features),
        "coding": None if model.coding is None else model.coding.to_dict(),
        "basis": None if model.basis is None else _basis_written(model.basis),
        "scores": {"form": scorer.form, **arrays},
        "probabilities": model.has_probabilities,
        "proof": dict(model.proof),
    }


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _value_written(value: Any) -> Any:
    if isinstance(value, Kernel):
        return {"kind": value.kind, "gamma": value.gamma, "degree": value.degree, "coef0": value.coef0}
    if sparse.issparse(value):
        value = value.toarray()
    return value.tolist() if isinstance(value, np.ndarray) else _plain(value)


def _basis_written(basis: Basis) -> dict[str, Any]:
    if isinstance(basis, Radial):
        return {"kind": "radial", "gamma": basis.gamma, "centres": np.asarray(basis.centres).tolist()}
    if isinstance(basis, Quadratic):
        return {"kind": "quadratic"}
    if isinstance(basis, Polynomial):
        return {"kind": "polynomial", "degree": basis.degree}
    raise NoAnswer(f"{basis!r} is a basis of your own, which a file cannot hold")


# ---- read -----------------------------------------------------------------------------------------------------


def read_model(text: str) -> SavedModel:
    """The model that a text holds; ``ModelFileError`` where it holds none."""
    found = _object(_json(text), _FIELDS, "the file")
    if found["schema"] != SCHEMA:
        raise ModelFileError(f"schema must be {SCHEMA}, and is {_short(found['schema'])}")
    if not isinstance(found["model"], str) or found["model"] not in by_kind():
        raise ModelFileError(f"there is no model {_short(found['model'])}; there are {listed(by_kind(), 20)}")
    labels, parameters = found["labels"], found["parameters"]
    if labels is not None:
        _check(isinstance(labels, list) and 2 <= len(labels) <= MAX_LABELS, "labels must be null or two or more")
        _check(all(map(_is_plain, labels)) and len({*map(repr, labels)}) == len(labels), "labels must differ")
    _check(isinstance(parameters, dict) and len(parameters) <= 50, "parameters must be an object")
    _check(all(value is None or _is_plain(value) for value in parameters.values()), "a parameter is no plain value")
    features = found["features"]
    named = isinstance(features, list) and 0 < len(features) <= 10_000_000
    _check(
        named and all(isinstance(f, str) and len(f) <= MAX_TEXT_CHARACTERS for f in features), "features must be names"
    )
    _check(isinstance(found["probabilities"], bool), "probabilities must be true or false")
    proof = _object(found["proof"], _PROOF, "proof")
    _check(all(value is None or _is_plain(value) for value in proof.values()), "proof must hold plain values")
    try:
        coding = None if found["coding"] is None else Coding.from_dict(found["coding"])
    except CodingError as error:
        raise ModelFileError(str(error)) from None
    scorer = _scorer(found["scores"], labels)
    basis = None if found["basis"] is None else _basis(found["basis"])
    made = SavedModel(
        found["model"],
        parameters,
        None if labels is None else tuple(labels),
        tuple(features),
        scorer,
        found["probabilities"],
        coding,
        basis,
        proof,
    )
    if basis is None:
        precomputed = isinstance(scorer, KernelScorer) and scorer.kernel.kind == "precomputed"
        _check(precomputed or made._width == len(features), "features and scores have different sizes")
    _check(coding is None or coding.features == made.features, "coding and features say different things")
    return made


def _json(text: str) -> Any:
    if len(text) > MAX_FILE_BYTES:
        raise ModelFileError(f"longer than {MAX_FILE_BYTES:,} characters")
    _check(depth(text, MAX_DEPTH) <= MAX_DEPTH, f"nested more than {MAX_DEPTH} deep")

    def refuse(word: str) -> Any:
        raise ModelFileError(f"{word} is no finite number")

    def number(digits: str) -> float:
        value = float(digits)
        return value if math.isfinite(value) else refuse(digits[:20])

    def whole(digits: str) -> int:
        return int(digits) if len(digits) <= 20 else refuse(digits[:20])

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        _check(len(dict(pairs)) == len(pairs), "a field occurs twice in the same place")
        return dict(pairs)

    try:
        return json.loads(text, object_pairs_hook=unique, parse_float=number, parse_int=whole, parse_constant=refuse)
    except ModelFileError:
        raise
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"not JSON: {str(error)[:80]}") from None


def _check(holds: Any, words: str) -> None:
    if not holds:
        raise ModelFileError(words)


def _object(found: Any, names: tuple[str, ...], where: str) -> dict[str, Any]:
    _check(isinstance(found, dict), f"{where} must be an object with the fields {', '.join(names)}")
    odd = sorted(set(found) ^ set(names))
    _check(not odd, f"{where} has the fields {', '.join(names)}: {_short(odd[0]) if odd else ''} is unknown or missing")
    return dict(found)


def _short(value: Any) -> str:
    return ascii(value)[:40]


def _is_plain(value: Any) -> bool:
    return isinstance(value, (bool, int, float)) or (isinstance(value, str) and len(value) <= MAX_TEXT_CHARACTERS)


def _array(found: Any, dimensions: int, where: str) -> Array:
    """An array of doubles of so many dimensions."""
    try:
        array = np.array(found, dtype=object)
        size_fits = array.ndim == dimensions and array.size <= MAX_NUMBERS
        _check(size_fits, f"{where} must be an array of {dimensions} dimension(s)")
        _check(all(type(entry) in (int, float) for entry in array.ravel().tolist()), f"{where} must hold numbers")
        return array.astype(np.float64)
    except (ValueError, OverflowError):
        raise ModelFileError(f"{where} must be an array of {dimensions} dimension(s)") from None


def _scorer(found: Any, labels: Any) -> Scorer:
    _check(isinstance(found, dict) and isinstance(found.get("form"), str) and found["form"] in FORMS, "scores.form")
    names = ("form", *(f.name for f in fields(FORMS[found["form"]])))
    found = _object(found, names, "scores")
    count = 0 if labels is None else len(labels)
    form = found["form"]
    if form == "linear":
        rows = isinstance(found["coef"], list) and any(isinstance(row, list) for row in found["coef"][:1])
        several = count > 2 or (count == 2 and rows)
        coef = _array(found["coef"], 2 if several else 1, "scores.coef")
        shift = np.asarray(_array(found["shift"], 1 if isinstance(found["shift"], list) else 0, "scores.shift"))
        _check(not several or (len(coef) == count and shift.shape in ((), (count,))), "scores.coef: one row a class")
        _check(several or shift.shape == (), "scores.shift must be a number")
        _check(found["classes"] is (labels is not None), "scores.classes")
        return LinearScorer(coef, shift, found["classes"])
    if form == "quadratic":
        centre, eta = _array(found["centre"], 1, "scores.centre"), _array(found["eta"], 2, "scores.eta")
        constants, sizes = (_array(found[name], 1, f"scores.{name}") for name in ("constants", "sizes"))
        d = centre.size
        bare = found["precisions"] == []
        precisions = np.zeros((0, d, d)) if bare else _array(found["precisions"], 3, "scores.precisions")
        fits = eta.shape == (count, d) and constants.shape == sizes.shape == (count,)
        _check(fits and precisions.shape in ((0, d, d), (count, d, d)), "the arrays of scores have different sizes")
        return QuadraticScorer(centre, eta, constants, sizes, precisions)
    if form == "nearest":
        directions, means = (_array(found[name], 2, f"scores.{name}") for name in ("directions", "means"))
        origin = _array(found["origin"], 1, "scores.origin")
        fits = directions.shape[1] == origin.size and means.shape == (count, len(directions))
        _check(fits, "the arrays of scores have different sizes")
        return NearestScorer(directions, origin, means)
    return _kernel_scorer(found)


def _kernel_scorer(found: dict[str, Any]) -> KernelScorer:
    spec = _object(found["kernel"], ("kind", "gamma", "degree", "coef0"), "scores.kernel")
    _check(isinstance(spec["kind"], str) and spec["kind"] in FORMULAS, "scores.kernel.kind is not known")
    _check(all(type(spec[name]) in (int, float) for name in ("gamma", "degree", "coef0")), "scores.kernel: numbers")
    _check(spec["degree"] <= MAX_DEGREE, f"scores.kernel.degree is above {MAX_DEGREE}")
    try:
        kernel = Kernel(**spec)
    except ValueError as error:
        raise ModelFileError(f"scores.kernel: {error}") from None
    samples = _array(found["samples"], 2, "scores.samples")
    weights = _array(found["weights"], 1, "scores.weights")
    intercept = _array(found["intercept"], 0, "scores.intercept")
    _check(len(samples) == weights.size, "scores: one weight a support point")
    columns = None
    if found["columns"] is not None:
        columns = _array(found["columns"], 1, "scores.columns").astype(np.intp)
        inside = columns.size == weights.size and bool(np.all((columns >= 0) & (columns < samples.shape[1])))
        _check(inside, "scores.columns must be places of samples")
    _check((kernel.kind == "precomputed") == (columns is not None), "scores.columns are those of a precomputed kernel")
    return KernelScorer(kernel, samples, weights, float(intercept), columns)


def _basis(found: Any) -> Basis:
    _check(isinstance(found, dict), "basis must be null or an object")
    kind = found.get("kind")
    try:
        if kind == "quadratic":
            _object(found, ("kind",), "basis")
            return Quadratic()
        if kind == "polynomial":
            degree = _object(found, ("kind", "degree"), "basis")["degree"]
            _check(type(degree) is int and 1 <= degree <= 100, "basis.degree")
            return Polynomial(degree)
        _check(kind == "radial", "basis.kind is not known")
        spec = _object(found, ("kind", "gamma", "centres"), "basis")
        _check(type(spec["gamma"]) in (int, float), "basis.gamma must be a number")
        return Radial(_array(spec["centres"], 2, "basis.centres"), gamma=float(spec["gamma"]))
    except ModelFileError:
        raise
    except (ValueError, TypeError, ArithmeticError) as error:
        raise ModelFileError(f"basis: {error}") from None
