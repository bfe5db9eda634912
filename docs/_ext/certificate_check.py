"""A certificate judged in the reader's browser: the stand-alone verifier, unchanged, in a Python that runs there.

That Python is the core of Pyodide, 14 MB, from the npm package. It is put into the site where it is there when the site
is built: in the folder that CONVEXCLS_PYODIDE names, in docs/_build/pyodide, or by ``npm pack``, whose archive is taken
only if its digest is the one below. Where it is not there, the page says so, and how to check a certificate without
it.
"""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

HERE = Path(__file__).resolve().parent
VERIFIER = HERE.parents[1] / "verifier" / "verify_certificate.py"
KEPT = HERE.parent / "_build" / "pyodide"
VERSION = "314.0.7"
SHA512 = (
    "d18bd7c4485f11da4b7dbfd790cd8114078c44eab488c517d9bcf31fda4eb6dc"
    "8c716930abe1db139bb2b860fcd8b37bcb6abe48dbe2ffa579244b0e943d91d4"
)
CORE = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
#: So many seconds npm may take.
PATIENCE = 120
MISSING = (
    "The check in the browser is left out of this copy of the site: Pyodide, which it runs on, was not there when the "
    "site was built. The same verifier runs anywhere: python verifier/verify_certificate.py proof.json data.csv"
)
logger = logging.getLogger(__name__)


def core() -> Path | None:
    """The folder of Pyodide's core; None where there is none."""
    for folder in (Path(os.environ.get("CONVEXCLS_PYODIDE", KEPT)), KEPT):
        if all((folder / name).is_file() for name in CORE):
            return folder
    return KEPT if _packed() else None


def _packed() -> bool:
    """Whether npm gave the package that is meant; then its core is kept."""
    npm = shutil.which("npm")
    if npm is None:
        return False
    with tempfile.TemporaryDirectory() as place:
        try:
            subprocess.run(
                [npm, "pack", f"pyodide@{VERSION}"], cwd=place, capture_output=True, timeout=PATIENCE, check=True
            )
        except (subprocess.SubprocessError, OSError):
            return False
        archive = (Path(place) / f"pyodide-{VERSION}.tgz").read_bytes()
    if hashlib.sha512(archive).hexdigest() != SHA512:
        logger.info("the package pyodide is not the one that is meant: the check in the browser is left out")
        return False
    KEPT.mkdir(parents=True, exist_ok=True)
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        for name in CORE:
            member = files.extractfile(f"package/{name}")
            assert member is not None
            (KEPT / name).write_bytes(member.read())
    return True


def put(folder: Path, target: Path) -> None:
    """Put what the page loads into the static files of a site."""
    place = target / "pyodide"
    place.mkdir(parents=True, exist_ok=True)
    for name in CORE:
        shutil.copyfile(folder / name, place / name)
    shutil.copyfile(VERIFIER, target / VERIFIER.name)


def page() -> str:
    """The form with its script, as HTML."""
    return (HERE / "certificate_check.html").read_text(encoding="utf-8")


class Check(SphinxDirective):
    """Puts the form on a page, or the reason why it is not there."""

    def run(self) -> list[nodes.Node]:
        if core() is None:
            return [nodes.paragraph("", MISSING)]
        return [nodes.raw("", page(), format="html")]


def _finish(app: Sphinx, error: Exception | None) -> None:
    folder = core() if error is None and app.builder.format == "html" else None
    if folder is not None:
        put(folder, Path(app.outdir) / "_static")


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("certificate-check", Check)
    app.connect("build-finished", _finish)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
