"""How the documentation site is built: ``make docs``. Nothing on it is loaded from the network."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE.parent)]

import matplotlib

import convexcls

matplotlib.use("Agg")

project = "convexcls"
author = "the convexcls authors"
version = release = convexcls.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
    "mathml",  # this and all below are in docs/_ext
    "executed",
    "known_problems",
    "problem_gallery",
    "command_line",
    "plain_docstrings",
    "offline",
    "public_names",
    "repository_links",
]
exclude_patterns = ["_build", "_ext", "examples/*.ipynb", "examples/*.py", "examples/*.json"]
highlight_language = "none"  # indented formulas are no code
nitpicky = True
# A type in a signature that is no public name of ours (numpy's, a private one) is written without a link.
nitpick_ignore_regex = [("py:(class|obj|data)", r"(?!convexcls\.[A-Z]\w*$).*")]

# ---- pages -----------------------------------------------------------------------------------------------

myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
html_math_renderer = "mathml"

html_theme = "furo"
pygments_style = "tango"
pygments_dark_style = "github-dark"
html_title = f"convexcls {release}"
html_static_path = ["_static", "../convexcls/report/mathematics.woff2"]  # the font of the reports
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_show_copyright = False
html_show_sphinx = False
html_last_updated_fmt = None

# ---- reference -------------------------------------------------------------------------------------------

autosummary_generate = True
autosummary_ignore_module_all = False
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
autodoc_type_aliases = {name: name for name in ("Array", "Level", "Status", "Callback", "Number", "Verdict", "Kind")}
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88
python_display_short_literal_types = True

# ---- examples --------------------------------------------------------------------------------------------

sphinx_gallery_conf = {
    "examples_dirs": [str(HERE.parent / "examples")],
    "gallery_dirs": ["examples"],
    "filename_pattern": r"\.py$",
    "within_subsection_order": "example_order.place",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "write_computation_times": False,  # that page would load its tables from elsewhere
    "show_signature": False,
    "capture_repr": (),
    "min_reported_time": 0,
    "remove_config_comments": True,
    "matplotlib_animations": False,
    "plot_gallery": True,
}
