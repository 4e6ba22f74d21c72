"""Files that are made to choke a reader, in every format: a ClosedLoopError, and soon."""

from __future__ import annotations

from pathlib import Path

import pytest
from support import mjcf, sdf, urdf_constraint, urdf_plus

from closed_loop_dynamics.errors import ClosedLoopError
from closed_loop_dynamics.model.description import read_description

ROBOTS = {
    "urdf+": urdf_plus.ROBOTS["open"],
    "constraint": next(iter(urdf_constraint.ROBOTS.values())),
    "mjcf": mjcf.FOUR_BAR,
    "sdf": sdf.FOUR_BAR,
}
LAUGHS = '<!DOCTYPE r [<!ENTITY a "haha">' + "".join(
    f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefghi", "bcdefghij", strict=True)
)


def wounded(text: str, inside: str) -> str:
    """With something more in front of the end of the document."""
    before, end = text.rstrip().rsplit("</", 1)
    return f"{before}{inside}</{end}"


BOMBS = {
    "entities": lambda text: f"{LAUGHS}]>" + wounded(text, "<x>&j;</x>"),
    "a file from outside": lambda text: '<!DOCTYPE r SYSTEM "file:///etc/hostname">' + text,
    "depth": lambda text: wounded(text, "<a>" * 20000 + "</a>" * 20000),
    "unclosed depth": lambda text: wounded(text, "<a>" * 200_000),
    "comments that never end": lambda text: wounded(text, "<!--" * 200_000),
    "prefixes without number": lambda text: wounded(
        text, "".join(f"<p{k}:x/>" for k in range(50_000)) + "<"
    ),
}


@pytest.mark.parametrize("bomb", BOMBS)
@pytest.mark.parametrize("name", ROBOTS)
def test_bombs_are_refused(name: str, bomb: str) -> None:
    text = BOMBS[bomb](ROBOTS[name])
    with pytest.raises(ClosedLoopError) as caught:
        read_description(text)
    assert len(str(caught.value)) < 20_000


@pytest.mark.parametrize(
    "number",
    [pytest.param("9" * 100_000, id="long"), "1e999", "-1e400", "1e-999", "nan"],
)
@pytest.mark.parametrize("name", ROBOTS)
def test_huge_numbers_are_a_robot_or_an_error(name: str, number: str) -> None:
    """The first 0.5 or 0.3 of the file, which is a length in all of them."""
    text = ROBOTS[name]
    length = next(word for word in ("0.5", "0.3", "0.2") if word in text)
    try:
        read_description(text.replace(length, number, 1))
    except ClosedLoopError as error:
        assert len(str(error)) < 20_000


def test_bombs_of_xacro_are_refused(tmp_path: Path) -> None:
    pytest.importorskip("xacro")
    head = '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">'
    file = tmp_path / "bomb.urdf.xacro"
    for text in (
        f"{LAUGHS}]>{head}<link name='&j;'/></robot>",
        f"{head}{'<a>' * 20000}{'</a>' * 20000}</robot>",
    ):
        file.write_text(text, encoding="utf-8")
        with pytest.raises(ClosedLoopError):
            read_description(file)


#: What strict parsers refuse and the programs that these files are for do not.
FORGIVEN = {
    "dashes in a comment": ("<robot", "<!-- a -- b ---- c -->\n<robot"),
    "a late declaration": ("<robot", "<!-- licence -->\n<?xml version='1.0'?>\n<robot"),
    "a prefix from nowhere": ("<link", "<drake:note drake:of='x'/><link"),
}


@pytest.mark.parametrize("name", FORGIVEN)
def test_what_only_strict_parsers_refuse_is_read(name: str) -> None:
    text = ROBOTS["urdf+"]
    found = read_description(text.replace(*FORGIVEN[name], 1))
    assert found.tree.joint_names == read_description(text).tree.joint_names


def test_lines_stay_where_they_are() -> None:
    text = "<!-- a -- \n b -->\n<robot name='r'>\n<link name='a'/>\n<link nam='b'/></robot>"
    with pytest.raises(ClosedLoopError, match="line 5"):
        read_description(text)
