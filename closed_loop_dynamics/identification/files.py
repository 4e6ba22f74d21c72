"""Identified parameters as a file, and back as the vector that ``parameters=`` takes.

CSV has rows ``parameter, model, identified``; JSON the same under ``parameters`` (name to value),
and the whole report.
"""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np

from ..arrays import Array
from ..errors import InvalidInput, did_you_mean
from ..robot import Robot
from .identify import Identification

COLUMNS = ("parameter", "model", "identified")


def csv_text(found: Identification) -> str:
    """All parameters, one per row; numbers are written so that reading gives the same bits."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    values = zip(
        found.parameter_names,
        found.model_parameters.tolist(),
        found.parameters.tolist(),
        strict=True,
    )
    writer.writerows((name, repr(model), repr(value)) for name, model, value in values)
    return out.getvalue()


def json_text(found: Identification) -> str:
    """All parameters by name, base parameters, prediction errors, warnings."""
    names = found.parameter_names
    document = {
        "parameters": dict(zip(names, found.parameters.tolist(), strict=True)),
        "model": dict(zip(names, found.model_parameters.tolist(), strict=True)),
        "base": [
            {**vars(b), "terms": {names[k]: float(row[k]) for k in np.flatnonzero(row)}}
            for b, row in zip(found.base, found.combinations, strict=True)
        ],
        "base_count": found.base_count,
        "condition": found.condition if np.isfinite(found.condition) else None,
        "forces": [
            {"name": name, "rms": rms, "before": before, "after": after, "noise": noise}
            for name, rms, before, after, noise in zip(
                found.names,
                *(a.tolist() for a in (found.sizes, found.before, found.after, found.noise)),
                strict=True,
            )
        ],
        "warnings": list(found.warnings),
    }
    return json.dumps(document, indent=1) + "\n"


def read_parameters(robot: Robot, path: str | Path) -> Array:
    """(parameters,) from a file of ``closed-loop identify``, for ``parameters=``.

    Raises:
        InvalidInput: the file is none, or of another robot.
    """
    path = Path(path).expanduser()
    try:
        text = path.read_text(encoding="utf-8")
        given = _json(text) if text.lstrip().startswith("{") else _csv(text)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InvalidInput(
            f"{path}: no file of identified parameters ({error}); `closed-loop identify` writes one"
        ) from None
    names = robot.parameter_names
    for name in given:
        if name not in names:
            raise InvalidInput(f"{path}: no parameter '{name}'; {did_you_mean(name, names)}")
    for name in names:
        if name not in given:
            raise InvalidInput(f"{path}: the parameter '{name}' is missing; is it another robot's?")
    values = np.array([given[name] for name in names])
    if not np.all(np.isfinite(values)):
        wrong = names[int(np.flatnonzero(~np.isfinite(values))[0])]
        raise InvalidInput(f"{path}: the parameter '{wrong}' is not finite")
    return values


def _json(text: str) -> dict[str, float]:
    return {str(k): float(v) for k, v in json.loads(text)["parameters"].items()}


def _csv(text: str) -> dict[str, float]:
    rows = csv.DictReader(io.StringIO(text))
    return {row[COLUMNS[0]]: float(row[COLUMNS[2]]) for row in rows}
