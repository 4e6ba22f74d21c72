"""Which format, and the files of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ..errors import InvalidInput, did_you_mean
from ..mechanism import Mechanism
from .looks import Looks
from .mjcf import mjcf
from .sdf import sdf
from .submechanism_file import urdf_and_yaml
from .urdf_plus import urdf_plus


@dataclass(frozen=True, eq=False)
class Written:
    """A robot in another format.

    Attributes:
        texts: file -> what is in it; the robot description first.
        notes: what the format cannot say, or says in other words; a sentence each.
    """

    texts: dict[Path, str]
    notes: tuple[str, ...]

    @property
    def files(self) -> tuple[Path, ...]:
        """What ``load`` takes, in this order."""
        return tuple(self.texts)


@dataclass(frozen=True)
class Format:
    """One that can be written.

    Attributes:
        suffixes: of its files; the first format that has a suffix is taken for it.
        what: in a few words.
        texts: gives suffix -> text, the robot description first, and notes.
    """

    suffixes: tuple[str, ...]
    what: str
    texts: Callable[[Mechanism, Looks], tuple[dict[str, str], list[str]]]


#: By name, as ``--to`` takes them.
FORMATS: dict[str, Format] = {
    "urdf": Format((".urdf",), "URDF and submechanism file: says all there is", urdf_and_yaml),
    "urdf+": Format((), "URDF with <loop> and <coupling>", urdf_plus),
    "mjcf": Format((".xml", ".mjcf"), "MuJoCo's, loops as equalities", mjcf),
    "sdf": Format((".sdf",), "Gazebo's and Drake's, loops as joints", sdf),
}


def write_robot(mech: Mechanism, path: str | Path, to: str | None = None) -> Written:
    """Write a robot at ``path``; see :func:`compose`."""
    written = compose(mech, path, to)
    for file, text in written.texts.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return written


def compose(mech: Mechanism, path: str | Path, to: str | None = None) -> Written:
    """What to write at ``path``, and beside it; ``to`` names a format, else the suffix does.

    Raises:
        InvalidInput: there is no such format.
        NotWritable: the format has no words for something that the dynamics need.
    """
    target = Path(path).expanduser()
    looks = Looks(mech.tree.source, target.parent)
    texts, notes = _format(target, to).texts(mech, looks)
    first, *others = texts
    files = {target if target.suffix else target.with_suffix(first): texts[first]}
    files |= {target.with_suffix(suffix): texts[suffix] for suffix in others}
    return Written(files, (*notes, *looks.notes, *_left_before(mech)))


def _left_before(mech: Mechanism) -> list[str]:
    """What was not read in the first place."""
    remarks = [*mech.tree.remarks, *(r for entry in mech.entries for r in entry.remarks)]
    return [f"of the file that was read: {r.message}" for r in remarks if r.severity == "warning"]


def _format(path: Path, to: str | None) -> Format:
    if to is not None:
        if to not in FORMATS:
            raise InvalidInput(f"no format '{to}' to write; {did_you_mean(to, FORMATS)}")
        return FORMATS[to]
    for each in FORMATS.values():
        if path.suffix.lower() in each.suffixes:
            return each
    known = ", ".join(f"{s} ({name})" for name, f in FORMATS.items() for s in f.suffixes)
    raise InvalidInput(
        f"'{path.name}': the suffix stands for no format; known are {known}. Or name the format: "
        "--to, to="
    )
