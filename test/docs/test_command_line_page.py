"""docs/command_line.md is what the parsers say, and its first walk works."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from closed_loop_dynamics.cli.command_line import main
from closed_loop_dynamics.cli.commands import COMMANDS
from tools import command_line_page as reference

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "command_line.md").read_text(encoding="utf-8")


def test_the_page_is_up_to_date() -> None:
    assert reference.page() == PAGE, "run `python -m tools.command_line_page`"


def test_every_command_has_a_section() -> None:
    sections = re.findall(r"^## (\S+)$", PAGE, re.MULTILINE)
    assert sections == [command.name for command in COMMANDS]


def test_the_first_walk_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    urdf = (ROOT / "urdf" / "crank_leg.urdf").read_text(encoding="utf-8")
    (tmp_path / "robot.urdf").write_text(urdf, encoding="utf-8")
    walk = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)[0]
    commands = [shlex.split(line, comments=True)[1:] for line in walk.splitlines()]
    assert [words[0] for words in commands][:3] == ["check", "info", "state"]
    for words in commands:
        words += ["--yes"] if words[0] == "new" else []
        assert main(words) == 0, capsys.readouterr().err
    written = {path.name for path in tmp_path.iterdir()}
    assert written >= {"fall.csv", "fall.png", "actuators.csv", "robot_submechanisms.yaml"}


EXAMPLES = [
    line
    for block in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)[1:]
    for line in block.splitlines()
    if line.startswith("closed-loop ")
]


@pytest.mark.parametrize("line", EXAMPLES)
def test_every_example_is_understood_by_its_parser(line: str) -> None:
    from closed_loop_dynamics.cli.command_line import make_parser

    for part in line.partition("#")[0].split("|"):
        words = shlex.split(part.partition(">")[0])
        if words[:1] == ["closed-loop"]:
            _, unknown = make_parser(words[1:]).parse_known_args(words[1:])
            assert not unknown
