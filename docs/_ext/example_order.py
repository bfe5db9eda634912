"""The order in which the examples teach; others come last, by name."""

from __future__ import annotations

ORDER = (
    "losses",
    "loss_surfaces",
    "zero_one",
    "figure_4_14",
    "figure_4_15",
    "functional_margins",
    "figure_4_16",
    "hulls",
    "slackness",
    "soft_margin",
    "c_path",
    "kernels",
    "radial_kernel",
    "quadratic_basis",
    "scalers",
    "logistic_surface",
    "sigmoid",
    "logistic_runs_away",
    "softmax_regions",
    "discriminants",
    "gaussian_ellipses",
    "fisher_projection",
    "perceptron_trajectory",
    "perceptron_cycles",
    "perceptron_digits",
    "descent",
    "descent_paths",
    "solvers_compared",
    "leave_one_out",
)


def place(file: str) -> tuple[int, str]:
    """What the examples are sorted by."""
    name = file.rpartition("/")[2].removesuffix(".py")
    return ORDER.index(name) if name in ORDER else len(ORDER), name
