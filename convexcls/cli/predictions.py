"""The commands ``fit``, ``predict`` and ``evaluate``: from a table to a model file, and from there to predictions."""

from __future__ import annotations

import csv
import io
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from convexcls.cli import arguments
from convexcls.cli.screen import Working, emit, put, say, screen
from convexcls.cli.sources import (
    Request,
    SourceError,
    check_output,
    input_files,
    opened_files,
    read_problem,
    read_svmlight,
    refuse_output,
    told_as_flags,
)
from convexcls.cli.typed import typed
from convexcls.files import write_file
from convexcls.tables import Coding, Table, TableError
from convexcls.tables.coding import ColumnCoding, labels_of
from convexcls.tables.files import table_of
from convexcls.wording import clean, count, shorten

if TYPE_CHECKING:
    from convexcls.proofs.certificate import Level
    from convexcls.saved import SavedModel
    from convexcls.studies.evaluation import Evaluation

NOT_PROVED = 1
GAPS = "Rows with missing cells that the model does not take: an error, or skipped."
gaps_option = click.option(
    "--missing", type=click.Choice(["fail", "skip"]), default="fail", show_default=True, help=GAPS
)


@click.command()
@arguments.source_arguments
@arguments.file_option("-o", "--output", required=True, help="The model file to write.")
@arguments.solver_option
@arguments.tolerance
@arguments.proof_level
@arguments.file_option("--certificate", help="Write the certificate to this file, for 'convexcls verify'.")
def fit(
    request: Request,
    output: Path,
    solver: str,
    tol: float,
    level: Level,
    digits: int,
    certificate: Path | None,
) -> int:
    """Solve the problem and write the classifier to a model file, for 'convexcls predict'.

    The file holds the coefficients (of a kernel its support points), the coding of the table, the labels and the digest
    of the certificate; none of the training data otherwise. Where it is proved that there is no solution nothing is
    written.

    {SOURCE}

    Exit codes: 0 the answer is proved and written, 1 it is not proved or there is none, 2 bad input.

    \b
    Examples:
      convexcls fit train.csv --model logistic --target chd -o model.json
      convexcls fit train.csv --model soft-margin --param C=10 --param class_weight=balanced -o model.json
      convexcls fit train.csv --model logistic --formula "chd ~ sbp + tobacco * famhist" -o model.json
    """
    from convexcls.describe.solution import certified
    from convexcls.problem import NoAnswer
    from convexcls.saved import saved
    from convexcls.studies.evaluation import judged

    check_output(output, "--output", request)
    if certificate is not None:
        check_output(certificate, "--certificate", request)
    exact = level == "exact" or certificate is not None
    problem = read_problem(replace(request, exact=exact))
    found = arguments.solved(problem, solver, tol, {}, level, digits).unless_interrupted()
    try:
        found.values  # noqa: B018  # there may be none
    except NoAnswer as refusal:
        say(f"No model: {typed(str(refusal))}")
        return NOT_PROVED
    if certificate is not None:
        write_file(certificate, found.certificate.to_json() + "\n")
        say(f"certificate written to {clean(str(certificate))}")
    try:
        model = saved(found)
    except NoAnswer as refusal:
        if certified(found):
            raise
        say(f"without a certificate: {typed(str(refusal))}")
        model = saved(found, certificate=False)
    model.save(output)
    if (coding := problem.data.coding) is not None and not coding.plain:
        say("the samples are coded so:\n" + "\n".join(f"  {clean(line)}" for line in coding.lines()))
    if model.labels is not None:
        scores = model.scorer.scores(problem.data.matrix)
        if warning := judged(model.labels, np.asarray(problem.data.given), scores, None).warning:
            say(f"note: on its training data the classifier {warning}; try -p class_weight=balanced")
    say(f"{found.status}; model written to {clean(str(output))}")
    return 0 if certified(found) else NOT_PROVED


@click.command()
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("data")
@arguments.file_option("-o", "--output", help="The CSV file to write (default: the screen).")
@click.option("--threshold", type=float, help="Predict the second label where its probability is above this.")
@gaps_option
@arguments.format_option
def predict(model: Path, data: str, output: Path | None, threshold: float | None, missing: str, **how: Any) -> int:
    """Predict the rows of a table by a model that 'convexcls fit' wrote.

    Writes a row for each row of DATA: the class, the score (above 0 for the second label; of several classes one
    each), the probabilities where the model has them, and the signed distance from the hyperplane where there is one.
    --threshold is a probability, for models that have no probabilities a score. A model that was fitted with --missing
    indicator takes missing cells in the columns that had some; elsewhere they are an error, or with --missing skip the
    row's prediction is left blank.

    Exit codes: 0 written, 2 bad input.

    \b
    Examples:
      convexcls predict model.json new.csv -o predictions.csv
      convexcls predict model.json new.csv --threshold 0.2
    """
    loaded = _loaded(model)
    request = Request(data, "", **arguments.table_options(how))
    if output is not None:
        refuse_output(output, "--output", (model, *input_files(request)))
    matrix, _, rows = _samples(loaded, request, None, missing)
    text = _as_csv(loaded, matrix, threshold, rows)
    if output is None:
        emit(text.rstrip("\n"))
    else:
        write_file(output, text)
        say(f"{matrix.shape[0]} predictions written to {clean(str(output))}")
    if blank := int(np.sum(~rows)):
        say(f"note: {count(blank, 'row')} with missing cells left blank")
    return 0


@click.command()
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("data")
@click.option("-t", "--target", metavar="COLUMN", help="The column with the labels (default: as in the fit).")
@arguments.json_option("The measures as JSON.")
@gaps_option
@arguments.format_option
def evaluate(model: Path, data: str, target: str | None, as_json: bool, missing: str, **how: Any) -> int:
    """Measure how well a model predicts the labels of a table.

    Prints the confusion matrix, accuracy, balanced accuracy, recall and precision by class and, for models with
    probabilities, log-loss and Brier score; of two classes the area under the ROC curve.

    Exit codes: 0 measured, 2 bad input.

    \b
    Examples:
      convexcls evaluate model.json test.csv
      convexcls evaluate model.json test.csv --target chd --json
    """
    from convexcls.studies.evaluation import judged

    loaded = _loaded(model)
    if loaded.labels is None:
        raise click.UsageError("the model has real targets: there are no labels to count")
    request = Request(data, "", **arguments.table_options(how))
    matrix, labels, rows = _samples(loaded, request, target, missing, labelled=True)
    if skipped := int(np.sum(~rows)):
        say(f"note: {count(skipped, 'row')} with missing cells left out")
    scores = loaded.scorer.scores(matrix)
    probabilities = loaded.probabilities(scores) if loaded.has_probabilities else None
    found = judged(loaded.labels, labels, scores, probabilities)
    put("convexcls-evaluation/1", evaluation_parts(found), as_json)
    if found.warning:
        say(f"note: the classifier {found.warning}")
    return 0


def _loaded(path: Path) -> SavedModel:
    from convexcls.saved import ModelFileError, load_model

    try:
        return load_model(path)
    except ModelFileError as error:
        raise SourceError(str(error)) from None
    except OSError as error:
        raise SourceError(f"{path}: {error.strerror}") from None


def _samples(
    model: SavedModel, request: Request, target: str | None, missing: str, labelled: bool = False
) -> tuple[Any, Any, Any]:
    """The matrix of a table's rows as the model takes them, where asked for their labels, and which rows they are:
    all, unless those with missing cells are to be skipped."""
    with Working(f"reading {Path(request.source).name}"), told_as_flags():
        files = opened_files(request)
        if files[0].form == "svmlight":
            contents = read_svmlight(files[0])
            rows = np.ones(contents.X.shape[0], dtype=bool)
            return model.matrix(_widened(contents.X, len(model.features))), contents.y, rows
        table = table_of(files, request.dialect)
        rows = model.whole(table)
        if not rows.any() or (missing == "fail" and not rows.all()):
            _refuse(model, table, bool(rows.any()))
        table = table if rows.all() else table.take(np.flatnonzero(rows))
        matrix = model.matrix(table)
        if not labelled:
            return matrix, None, rows
        name = target or (None if model.coding is None else model.coding.target) or table.names[-1]
        column = table.column(name, "target")
        if column.missing.any():
            row = int(np.argmax(column.missing))
            raise SourceError(f"{table.place(row, name)} is empty: every row needs a label to be evaluated")
        labels = np.asarray(labels_of(column, None))
        positive = None if model.coding is None else model.coding.positive
        if positive is not None and f"not {positive}" in (model.labels or ()):
            labels = np.array([positive if str(label) == positive else f"not {positive}" for label in labels.tolist()])
        return matrix, labels, rows


def _refuse(model: SavedModel, table: Table, some: bool) -> None:
    """Refuse a table with missing cells, with what can be done about them."""
    try:
        (model.coding or Coding(tuple(map(ColumnCoding, model.features)))).code(table)
    except TableError as error:
        if not some:
            raise
        raise TableError(f"{error.plain}, or leave their predictions out", missing="skip") from None


def _widened(X: Any, width: int) -> Any:
    """Sparse samples with the columns that none of them has."""
    if X.shape[1] < width:
        X = X.copy()
        X.resize((X.shape[0], width))
    return X


def _as_csv(model: SavedModel, matrix: Any, threshold: float | None, rows: Any) -> str:
    """A line for each row, with a header; a blank one for each that is not among the ``rows``."""
    from convexcls.problem import NoAnswer

    scores = model.scorer.scores(matrix)
    columns: dict[str, Any] = {}
    if model.labels is None:
        columns["fitted"] = scores
    else:
        names = [str(label) for label in model.labels]
        probabilities = model.probabilities(scores) if model.has_probabilities else None
        columns["class"] = model.chosen(scores)
        if threshold is not None:
            columns["class"] = _above(model, scores, probabilities, threshold)
        if scores.ndim == 1:
            columns["score"] = scores
        else:
            columns |= {f"score {name}": scores[:, k] for k, name in enumerate(names)}
        if probabilities is not None:
            columns |= {f"probability {name}": probabilities[:, k] for k, name in enumerate(names)}
        with suppress(NoAnswer):
            columns["signed distance"] = scores / model.norm
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    lines = zip(*(np.asarray(values).tolist() for values in columns.values()), strict=True)
    blank = ("",) * len(columns)
    writer.writerows(next(lines) if there else blank for there in rows.tolist())
    return text.getvalue()


def _above(model: SavedModel, scores: Any, probabilities: Any, threshold: float) -> Any:
    """The second label where its probability, or where there is none its score, is above the threshold."""
    if model.labels is None or len(model.labels) != 2 or (scores.ndim > 1 and probabilities is None):
        raise click.UsageError("--threshold is for models of two classes")
    if probabilities is not None and not 0 <= threshold <= 1:
        raise click.UsageError(f"--threshold {threshold}: this model has probabilities, give one between 0 and 1")
    chosen = (scores if probabilities is None else probabilities[:, 1]) > threshold
    return np.array(model.labels)[chosen.astype(np.intp)]


def evaluation_parts(found: Evaluation) -> list[Any]:
    """An evaluation described, for people and for programs."""
    from convexcls.describe import Fact, Facts
    from convexcls.describe import Table as Shown
    from convexcls.describe.parts import Column

    values = found.to_dict()
    named = {"accuracy": "accuracy", "balanced accuracy": "balanced_accuracy", "log-loss": "log_loss"}
    named |= {"Brier score": "brier", "AUC": "auc"}
    told = [Fact(name, f"{values[key]:.6g}") for name, key in named.items() if values[key] is not None]
    labels = [shorten(str(label), 30) for label in found.labels]
    rows = tuple((label, *map(int, row)) for label, row in zip(labels, found.confusion, strict=True))
    columns = (Column("truth"), *(Column(f"as {label}", "count") for label in labels))
    by_label = tuple(
        (label, int(row.sum()), float(r), float(p))
        for label, row, r, p in zip(labels, found.confusion, found.recall, found.precision, strict=True)
    )
    classes = (Column("class"), Column("samples", "count"), Column("recall", "number"), Column("precision", "number"))
    return [
        Facts((Fact("samples", str(found.n), values), *told)),
        Shown("confusion_table", "Confusion matrix", columns, rows, values={}),
        Shown("classes_table", "By class", classes, by_label, values={}),
    ]


@click.command()
@click.argument("name", required=False)
@arguments.json_option("The list as JSON.")
def models(name: str | None, as_json: bool) -> int:
    """List the models with their parameters.

    With a NAME, what that model is.

    \b
    Examples:
      convexcls models
      convexcls models soft-margin
    """
    import inspect

    from convexcls import losses
    from convexcls.cli.settings import describe, model_parameters, takes
    from convexcls.describe import Column
    from convexcls.describe import Table as Shown
    from convexcls.describe.terminal import write
    from convexcls.models import by_kind
    from convexcls.wording import did_you_mean, plain_values

    words = {
        ("empirical-risk", "loss"): ", ".join(losses.BY_NAME),
        ("kernel", "kernel"): "linear, poly or rbf",
    }
    kinds = by_kind()
    if name is not None and name not in kinds:
        raise click.UsageError(f"there is no model {name!r}{did_you_mean(name, kinds)}; there are {', '.join(kinds)}")
    if name is not None and not as_json:
        write(screen(), inspect.cleandoc(kinds[name].__doc__ or "").partition("\n>>>")[0].rstrip() + "\n")
    rows, values = [], []
    for kind, cls in kinds.items():
        if name in (None, kind):
            weights, known = takes(cls, "sample_weight"), model_parameters(cls)
            defaults = {p.name: plain_values(p.default) for p in known.values()}
            values.append({"name": kind, "class": cls.__name__, "parameters": defaults, "weights": weights})
            set_by = [(f"{p.name}={p.default}", words.get((kind, p.name)) or describe(p.hint)) for p in known.values()]
            set_by += [("class_weight=balanced", "makes all classes weigh the same")] if weights else []
            named = [(kind, cls.__name__), *[("", "")] * (len(set_by) - 1)]
            rows += [(*own, *more) for own, more in zip(named, set_by or [("-", "")], strict=True)]
    columns = (Column("model"), Column("in Python"), Column("-p NAME=VALUE"), Column("value", "words"))
    put("convexcls-models/1", [Shown("models", "Models", columns, tuple(rows), values={"models": values})], as_json)
    return 0
