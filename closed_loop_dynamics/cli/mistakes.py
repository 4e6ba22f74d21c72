"""Errors of the command line itself."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

from ..errors import ClosedLoopError, did_you_mean

EXTRAS = {
    "distributed": "dask",
    "matplotlib": "plot",
    "rosbags": "bags",
    "toppra": "retime",
    "viser": "viewer",
}


class UsageError(ClosedLoopError):
    """The command line cannot be understood: exit status 2."""


class FileProblem(ClosedLoopError):
    """A data file that cannot be used; the text names the file, row and column."""


def need(module: str, purpose: str) -> ModuleType:
    """Import an optional library, or say how to install it."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        root = module.partition(".")[0]
        if error.name is None or error.name.partition(".")[0] != root:
            raise
        raise FileProblem(
            f"{purpose} needs the Python package {root}: pip install {root}, or in the folder of "
            f"this package pip install '.[{EXTRAS[root]}]'"
        ) from None


def no_file(path: Path) -> UsageError:
    """The error for a path that is no file, with the nearest name in its folder."""
    if path.is_dir():
        return UsageError(f"'{path}' is a folder; name the file in it")
    folder = path.parent
    if not folder.is_dir():
        return UsageError(f"there is no file '{path}' (nor the folder '{folder}')")
    names = [entry.name for entry in folder.iterdir() if entry.suffix == path.suffix]
    hint = did_you_mean(path.name, names) if names else f"'{folder}' has no {path.suffix} files"
    return UsageError(f"there is no file '{path}'; {hint}")
