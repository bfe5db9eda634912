"""``{problem-gallery}``: every problem of the gallery with its picture and its known answer."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive
from known_problems import by_kind, described
from sphinx.application import Sphinx

from convexcls import plots
from convexcls.gallery import GalleryEntry
from convexcls.models import by_kind as models
from convexcls.problem import NoAnswer

#: Where pictures are drawn, below the sources: what a build makes.
FOLDER = "_build/pictures"
#: The kinds of pictures that are tried, in this order.
TRIED = ("boundary", "hulls", "slice", "multipliers")
DPI = 110


class ProblemGallery(Directive):
    """A section a model: title, picture, known answer, derivation."""

    def run(self) -> list[nodes.Node]:
        folder = Path(self.state.document.settings.env.srcdir)
        return [self._section(kind, entries, folder) for kind, entries in sorted(by_kind().items())]

    def _section(self, kind: str, entries: list[GalleryEntry], folder: Path) -> nodes.section:
        title = f"{models()[kind].__name__}: {len(entries)} problem{'s' * (len(entries) != 1)}"
        section = nodes.section("", nodes.title("", title), ids=[f"problems-{kind}"], names=[f"problems {kind}"])
        items = [described(entry) for entry in entries]
        for entry, item in zip(entries, items, strict=True):
            if (file := drawn(entry, folder)) is not None:
                item[-1].insert(0, nodes.image(uri=f"/{file}", alt=f"a picture of {entry.name}", width="420px"))
        section += nodes.definition_list("", *items, classes=["known-problems"])
        self.state.document.note_implicit_target(section)
        return section


def drawn(entry: GalleryEntry, folder: Path) -> str | None:
    """The file of the picture, drawn where there is none yet; None where the problem has no picture."""
    file = folder / FOLDER / f"{entry.name}.png"
    if file.exists():
        return f"{FOLDER}/{entry.name}.png"
    solution = entry.problem.solve()
    for kind in TRIED:
        try:
            display = plots.KINDS[kind].of(solution)
        except NoAnswer:
            continue
        file.parent.mkdir(parents=True, exist_ok=True)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Glyph")
            plots.Picture.of(display).figure().savefig(file, dpi=DPI)
        return f"{FOLDER}/{entry.name}.png"
    return None


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("problem-gallery", ProblemGallery)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
