"""Certificates as theorems of Coq: their text always, their proofs where coqc is installed."""

import random
import re
import resource
import shutil
import subprocess
from dataclasses import replace
from fractions import Fraction as F

import pytest

import convexcls as cc
from convexcls.gallery import entries
from convexcls.problem import NoAnswer
from convexcls.proofs.coq import library_text
from convexcls.proofs.coq.integers import sum_of_squares
from convexcls.proofs.coq.writing import positive_everywhere

needs_coq = pytest.mark.skipif(shutil.which("coqc") is None, reason="Coq is not installed: apt-get install coq")

X, Y = [[0, 1], [1, 0], [2, 2], [3, 1], [1, 2]], [0, 1, 0, 1, 1]
APART = [[0, 0], [1, 0], [3, 3], [4, 2]], [0, 0, 1, 1]
WEIGHTS = [F(1, 3), 1, 2, F(1, 7), 1]
#: The claim and the proof of a file, to be made a definition that can be expected to fail.
THEOREM = re.compile(
    r"Theorem (\w+) : (.*?)\.\nProof\.\n  apply \((.*?)\)\.\n  vm_cast_no_check \(eq_refl true\)\.\nQed\.\n"
    r"Print Assumptions \w+\.",
    re.DOTALL,
)

PROBLEMS = {
    "hard": lambda: cc.HardMarginSVM(*APART),
    "hard through 0": lambda: cc.HardMarginSVM([[1, 0], [0, 2], [-1, -3]], [1, 1, 0], intercept=False),
    "soft": lambda: cc.SoftMarginSVM(X, Y, C=F(1, 10), sample_weight=WEIGHTS),
    "soft through 0": lambda: cc.SoftMarginSVM(X, Y, C=2, intercept=False),
    "squared hinge": lambda: cc.SoftMarginSVM(X, Y, C=F(1, 3), loss="squared_hinge", sample_weight=WEIGHTS),
    "least squares": lambda: cc.LeastSquares(X, [1, F(1, 3), 2, 5, 4], coding="real", sample_weight=WEIGHTS),
    "ridge": lambda: cc.LeastSquares(X, Y, l2=F(1, 7)),
    "absolute": lambda: cc.LeastAbsolute(X, Y, sample_weight=WEIGHTS),
    "perceptron": lambda: cc.PerceptronCriterion(X, Y, sample_weight=WEIGHTS),
    "perceptron through 0": lambda: cc.PerceptronCriterion(X, Y, intercept=False),
    "lasso": lambda: cc.EmpiricalRisk(X, Y, loss="squared", l1=F(1, 10), l2=F(1, 3)),
    "kernel": lambda: cc.KernelSVM(X, Y, kernel="poly", degree=2, coef0=1.0, C=1),
}
OTHERS = {
    "infeasible": lambda: cc.HardMarginSVM([[1, 1], [-1, -1], [1, -1], [-1, 1]], [0, 0, 1, 1]),
    "no mean margin": lambda: cc.PerceptronCriterion([[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1]),
    "separated likelihood": lambda: cc.LogisticMLE(*APART),
    "quasi-separated likelihood": lambda: cc.LogisticMLE([[0], [1], [1], [2]], [0, 0, 1, 1]),
    "exponential": lambda: cc.EmpiricalRisk(*APART, loss="exponential"),
}
KINDS = {
    "separable rows": APART,
    "weakly_separable rows": ([[0], [1], [1], [2]], [0, 0, 1, 1]),
    "overlapping rows": (X, Y),
}


def certificate(name):
    return {**PROBLEMS, **OTHERS}[name]().solve(level="exact").certificate


def body(text):
    return text[text.index("(* ---- this problem") :]


def as_definition(text, fails):
    """A file as definitions, the last of which is to fail."""
    heads, last = text[: THEOREM.search(text).start()], list(THEOREM.finditer(text))[-1]
    proof = f"({last[3]} ltac:(vm_cast_no_check (eq_refl true)))"
    return f"{heads}\n{'Fail ' * fails}Definition {last[1]} : {last[2]} := {proof}."


def compiled(texts, folder, limit=None):
    """What coqc says of several files, each in a module of its own, after so many seconds of its own time at most."""
    (folder / "library.v").write_text(library_text())
    subprocess.run(["coqc", "library.v"], cwd=folder, check=True, capture_output=True)
    head = "Require Import ZArith QArith List library.\nImport ListNotations.\nOpen Scope Q_scope.\n"
    modules = [f"Module M{i}.\n{text}\nEnd M{i}." for i, text in enumerate(texts)]
    (folder / "all.v").write_text(head + "\n".join(modules))
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    run = subprocess.run(["coqc", "all.v"], cwd=folder, capture_output=True, text=True)
    assert limit is None or resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before < limit
    return run


# ---- the text --------------------------------------------------------------------------------------------------


def test_the_library_is_short_and_assumes_nothing():
    text = library_text()
    assert len(text.splitlines()) < 800
    assert not re.search(r"\b(Axiom|Admitted|admit|Parameter|Conjecture|Hypothesis|Abort)\b", text)
    assert set(re.findall(r"^Require Import (.*)\.$", text, re.MULTILINE)) == {"ZArith QArith List Bool Lia Lqa"}
    assert text.count("Proof.") == len(re.findall(r"\bQed\.", text))


def test_the_theorem_of_the_twenty_points():
    text = cc.load("twenty_points").solve(level="exact").certificate.to_coq()
    assert text.startswith(library_text())
    assert "Theorem optimum : minimum problem ((4) # 9)." in text
    assert "Definition problem : program := hard_margin 1 2 true samples." in text
    assert "  ([3; 4], -1);\n  ([4; 6], -1);" in text


def test_data_are_integers_over_a_common_denominator():
    rows = [[F(1, 2), F(1, 3)], [1, 0], [F(5, 6), 2]]
    text = body(cc.HardMarginSVM(rows, [0, 1, 1]).solve(level="exact").certificate.to_coq())
    assert "times 6, and their classes" in text
    assert "([3; 2], -1);" in text
    assert "([5; 12], 1)" in text
    assert "hard_margin 6 2 true samples" in text


def test_names_of_features_cannot_end_a_comment():
    table = cc.Table({'x*)Axiom a:False.(*"': [0, 1, 2], "y": [0, 1, 1]}).samples("y")
    text = body(cc.HardMarginSVM(table.X, table.y).solve(level="exact").certificate.to_coq())
    inside = re.sub(r"\(\*.*?\*\)", "", text, flags=re.DOTALL)
    assert "Axiom" not in inside
    assert text.count("(*") == text.count("*)")
    assert '"' not in text


@pytest.mark.parametrize(
    ("problem", "level", "words"),
    [
        (cc.LogisticMLE(X, Y), "exact", "no rational optimum"),
        (cc.HardMarginSVM(*APART), "float", "level 'exact'"),
        (cc.SoftmaxMLE([[0], [1], [2]], ["a", "b", "c"]), "exact", "of two classes"),
        (cc.MaxMargin(*APART), "exact", "no rational optimum"),
    ],
)
def test_what_cannot_be_stated_is_refused(problem, level, words):
    with pytest.raises(NoAnswer, match=words):
        problem.solve(level=level).certificate.to_coq()


def test_a_matrix_is_a_sum_of_squares():
    rng = random.Random(3)
    for _ in range(20):
        n, rank = rng.randint(1, 5), rng.randint(1, 5)
        roots = [[F(rng.randint(-3, 3), rng.randint(1, 3)) for _ in range(n)] for _ in range(rank)]
        matrix = [[sum((r[i] * r[j] for r in roots), F(0)) for j in range(n)] for i in range(n)]
        parts = sum_of_squares(matrix)
        assert all(d > 0 for d, _ in parts)
        assert [[sum((d * m[i] * m[j] for d, m in parts), F(0)) for j in range(n)] for i in range(n)] == matrix
    with pytest.raises(NoAnswer, match="semidefinite"):
        sum_of_squares([[F(0), F(1)], [F(1), F(0)]])


def test_weights_of_some_rows_become_weights_of_all():
    rows = [[F(1), F(0)], [F(-1), F(0)], [F(2), F(0)], [F(-5), F(0)]]
    weights = positive_everywhere(rows, {0: F(1), 1: F(1)})
    assert all(w > 0 for w in weights)
    assert [sum((w * r[j] for w, r in zip(weights, rows, strict=True)), F(0)) for j in range(2)] == [0, 0]


def test_the_command_writes_a_theorem(tmp_path):
    from click.testing import CliRunner

    from convexcls.cli import main

    target = tmp_path / "proof.v"
    run = CliRunner().invoke(main, ["prove", "twenty_points", "--coq", str(target)])
    assert run.exit_code == 0
    assert "coqc proof.v" in run.output
    assert "minimum problem ((4) # 9)" in target.read_text()
    run = CliRunner().invoke(main, ["separability", "xor_hard_margin", "--coq", str(target)])
    assert run.exit_code == 0
    assert "Theorem kind : overlapping rows." in target.read_text()
    run = CliRunner().invoke(main, ["prove", "logistic_table", "--coq", str(target)])
    assert run.exit_code == 1
    assert "No theorem: there is no rational optimum" in run.output


# ---- the proofs ------------------------------------------------------------------------------------------------


#: Half a minute of Coq's time.
LARGEST = "heart_scale"
#: The kinds of models that have theorems; of the others some verdicts do.
KINDS_PROVED = ("hard-margin", "soft-margin", "least-squares", "least-absolute", "perceptron", "fisher")


def gallery(names=None):
    """The theorems of the gallery by name; none of a problem without a rational proof."""
    for name in names or entries():
        problem = cc.load(name)
        try:
            yield name, problem.solve(level="exact").certificate.to_coq()
        except NoAnswer:
            assert problem.kind not in KINDS_PROVED


@needs_coq
def test_heart_scale_compiles_within_a_minute(tmp_path):
    ((_, text),) = gallery([LARGEST])
    run = compiled([body(text)], tmp_path, limit=60)
    assert run.returncode == 0, run.stderr
    assert "Closed under the global context" in run.stdout


@needs_coq
def test_every_claim_compiles_without_axioms(tmp_path):
    """Of the problems above, the three kinds of separability, and the gallery but its largest."""
    texts = [body(certificate(name).to_coq()) for name in (*PROBLEMS, *OTHERS)]
    for claim, data in KINDS.items():
        texts.append(body(cc.separability(*data).to_coq()))
        assert f"Theorem kind : {claim}." in texts[-1]
    texts += [body(text) for name, text in gallery() if name != LARGEST]
    run = compiled(texts, tmp_path)
    assert run.returncode == 0, run.stderr
    theorems = sum(text.count("Print Assumptions") for text in texts)
    assert run.stdout.count("Closed under the global context") == theorems
    assert "Axioms" not in run.stdout


def mutated(rng, found):
    """A certificate with one number of its proof changed."""
    proof, step = found.exact, F(rng.choice([-1, 1]), rng.choice([1, 7, 10**9]))
    kind = rng.choice(["optimum", "point", "multiplier", "sign"])
    if kind == "optimum":
        return replace(found, exact=replace(proof, optimum=proof.optimum + step))
    if kind == "point":
        point = {name: list(values) for name, values in proof.point.items()}
        values = point[rng.choice(sorted(point))]
        values[rng.randrange(len(values))] += step
        return replace(found, exact=replace(proof, point=point))
    blocks = {name: dict(rows) for name, rows in proof.multipliers.items()}
    rows = blocks[rng.choice([name for name in blocks if blocks[name]])]
    i = rng.choice(sorted(rows))
    rows[i] = -rows[i] if kind == "sign" else rows[i] + step
    return replace(found, exact=replace(proof, multipliers=blocks))


@needs_coq
def test_mutated_certificates_do_not_compile(tmp_path):
    rng, texts = random.Random(21), []
    names = [name for name in PROBLEMS if name not in ("least squares", "ridge")]
    for name in names:
        found = certificate(name)
        texts.append(as_definition(body(found.to_coq()), False))
        texts += [as_definition(body(mutated(rng, found).to_coq()), True) for _ in range(20)]
    assert len(texts) > 200
    run = compiled(texts, tmp_path)
    assert run.returncode == 0, run.stderr  # so all but the first of each did fail


@needs_coq
def test_proofs_of_other_data_do_not_compile(tmp_path):
    """Where every number of the data counts: one of them is changed."""
    rng, texts = random.Random(22), []
    claims = [body(certificate(name).to_coq()) for name in ("least squares", "ridge", "infeasible")]
    claims.append(body(cc.separability(*KINDS["overlapping rows"]).to_coq()))
    for text in claims:
        texts.append(as_definition(text, False))
        data = re.search(r":= \[\n.*?\n\]%Z\.", text, re.DOTALL)[0]
        for _ in range(8):
            place = rng.choice(list(re.finditer(r"\d+", data)))
            changed = data[: place.start()] + str(int(place[0]) + 10**6) + data[place.end() :]
            texts.append(as_definition(text.replace(data, changed), True))
    run = compiled(texts, tmp_path)
    assert run.returncode == 0, run.stderr


def test_no_name_gets_out_of_its_comment():
    """Neither that of a problem nor that of a variable."""
    hostile = 'mine *) Axiom all : False. (* "'
    least = cc.Constraint("least", {hostile: [[-1.0]]}, rhs=-1.0)
    problem = cc.Problem(hostile, [cc.Variable(hostile, 1, "x")], linear={hostile: [1.0]}, constraints=[least])
    text = body(problem.solve(level="exact").certificate.to_coq())
    assert text.count("mine * ) Axiom all : False. ( * '") == 2
    assert hostile not in text
