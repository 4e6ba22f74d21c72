"""``python -m tools.file_format_page`` writes what follows from ``model/hyrodyn/schema.py``:
docs/file_format.md for people and config/submechanisms.schema.json for editors.
"""

from __future__ import annotations

import json
from pathlib import Path

from closed_loop_dynamics.model.hyrodyn.schema import RECORDS
from closed_loop_dynamics.model.hyrodyn.shapes import (
    Anything,
    ByName,
    Key,
    ListOf,
    Number,
    Numbers,
    Record,
    Shape,
    Text,
    Word,
)
from closed_loop_dynamics.model.words import (
    COUPLED_TYPES,
    FREE_BASE,
    FUNCTION,
    LOOP_TYPES,
    NUMERICAL,
    SERIAL_TYPES,
)

from .json_schema import json_schema, sentence

PAGE = Path("docs/file_format.md")
SCHEMA = Path("config/submechanisms.schema.json")

_INTRO = """\
# The submechanism file

Generated from `closed_loop_dynamics/model/hyrodyn/schema.py` by
`python -m tools.file_format_page`.

A URDF is a tree, so each loop of the robot is cut open in it. The submechanism file (YAML) says
which joints move together, which of them you command, which are driven, and what each cut held
together. It is the format that Phobos writes and HyRoDyn reads, with additions. Joints in no entry
are plain serial joints. An annotated example is [config/crank_leg.yaml](../config/crank_leg.yaml);
`closed-loop new robot.urdf` writes a first file of your own.

Units are SI. Unknown keys, unknown names and numbers out of range are refused with file, key path
and remedy. `1e-3`, which YAML takes for text, counts as a number.

**In an editor.** [config/submechanisms.schema.json](../config/submechanisms.schema.json) is a JSON
Schema: editors that know YAML schemas (VS Code with the YAML extension, Neovim, Emacs, JetBrains)
complete keys and mark mistakes when the first line of the file is

```yaml no-run: a comment
# yaml-language-server: $schema=submechanisms.schema.json
```

with the path of the schema relative to the file. The schema knows shapes and words; names of joints
and links are checked against the URDF when the robot is loaded, or by
`closed-loop check robot.urdf loops.yaml`.
"""

_TYPES = """\
## Types

Case, spaces, hyphens and brackets do not matter: `2-SPU+1U` is `2spu+1u`. The type says where the
dependent joints come from. Whether a loop has a closed form is seen from its geometry, not from its
name; [the mechanisms that do](mechanisms/README.md).

| type | dependent joints follow from |
|---|---|
"""
_DEPENDENT_JOINTS_OF = {
    SERIAL_TYPES: "nothing: all joints are independent",
    COUPLED_TYPES: "`couplings`, mimic tags of the URDF, or a MultiJointLinearTransmission of "
    "`file_path` or the URDF",
    LOOP_TYPES: "`loop_constraints`; where there are none, every chain with a driven joint is "
    "taken to end on the link of the last independent joint",
    frozenset({NUMERICAL}): "`loop_constraints`",
    frozenset({FREE_BASE}): "nothing: six joints that the URDF need not have, which free its root "
    "link (`load(..., floating_base=False)` holds it)",
    frozenset({FUNCTION}): "a Python function, `load(..., closures={name: function})`",
}


def page() -> str:
    """The reference for people."""
    parts = [_INTRO, *(_section(record) for record in RECORDS)]
    parts.insert(3, _types())
    return "\n".join(parts)


def schema_text() -> str:
    """The JSON Schema as text."""
    return json.dumps(json_schema(), indent=1, ensure_ascii=False) + "\n"


def _types() -> str:
    return _TYPES + "".join(
        f"| {', '.join(f'`{word}`' for word in sorted(words))} | {meaning} |\n"
        for words, meaning in _DEPENDENT_JOINTS_OF.items()
    )


def _section(record: Record) -> str:
    rows = [_row(name, key) for name, key in record.keys.items()]
    lines = [f"## {record.title}", "", "| key | value | default | meaning |", "|---|---|---|---|"]
    lines += rows
    if record.rules:
        lines += ["", *(f"- {sentence(rule)}" for rule in record.rules)]
    return "\n".join([*lines, ""])


def _row(name: str, key: Key) -> str:
    default = "**needed**" if key.needed else key.default
    return f"| `{name}` | {_words(key.shape)} | {default} | {key.meaning} |"


def _words(shape: Shape) -> str:
    """What a value looks like, in words."""
    match shape:
        case Text(what):
            return what
        case Number(unit, allowed):
            return " ".join(["number", *([allowed] if allowed else []), f"[{unit}]"])
        case Numbers(count, unit):
            return f"{count} numbers" + (f" [{unit}]" if unit else "")
        case Word(_, words, loose):
            return "a type" if loose else ", ".join(f"`{word}`" for word in words)
        case ListOf(Record() as item):
            return f"list, see [{item.title}]({_anchor(item)})"
        case ListOf(Text(what)):
            return f"list of {what}s"
        case ListOf(item):
            return f"list of {_words(item)}"
        case ByName(value):
            return f"joint: {_words(value)}"
        case Record():
            return f"see [{shape.title}]({_anchor(shape)})"
        case Anything():
            return "anything"


def _anchor(record: Record) -> str:
    return "#" + record.title.lower().replace(" ", "-").replace(",", "")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    SCHEMA.write_text(schema_text(), encoding="utf-8")
    print(f"wrote {PAGE} and {SCHEMA}")
