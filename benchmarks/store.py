"""The data of a case on disk, so that every contender's process reads the same numbers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse


def save(data: dict[str, Any], folder: Path) -> None:
    """Write each array to a file of its own; plain numbers and words go to one JSON file."""
    folder.mkdir(parents=True)
    plain = {}
    for name, value in data.items():
        if sparse.issparse(value):
            sparse.save_npz(folder / f"{name}.npz", value, compressed=False)
        elif isinstance(value, np.ndarray):
            np.save(folder / f"{name}.npy", value)
        else:
            plain[name] = value
    (folder / "plain.json").write_text(json.dumps(plain))


def load(folder: Path) -> dict[str, Any]:
    """Read them back into memory."""
    data: dict[str, Any] = json.loads((folder / "plain.json").read_text())
    data |= {file.stem: np.load(file) for file in folder.glob("*.npy")}
    return data | {file.stem: sparse.load_npz(file) for file in folder.glob("*.npz")}
