"""Links of a page to files outside of docs/, which work on a code host, lead to the pages that include these files."""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx

EXAMPLE = re.compile(r"\]\(((?:\.\./)*)\.\./examples/(\w+)\.py\)")
#: By the path from docs/, as the page writes it.
PAGES = {
    "../CHANGELOG.md": "changelog.md",
    "../CONTRIBUTING.md": "contributing.md",
    "../benchmarks/results/results.md": "results.md",
    "../problems/README.md": "problems.md",
    "../verifier/README.md": "verifier.md",
}


def redirect(app: Sphinx, docname: str, source: list[str]) -> None:
    """Let links to files of the repository lead to the pages that include them."""
    depth = docname.count("/")
    for file, page in PAGES.items():
        source[0] = source[0].replace(f"]({'../' * depth}{file}", f"]({'../' * depth}{page}")
    source[0] = EXAMPLE.sub(r"](\1examples/\2.rst)", source[0])


def setup(app: Sphinx) -> dict[str, Any]:
    """What Sphinx calls."""
    app.connect("source-read", redirect)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
