"""The frame of the command line: help, versions, exit status, pipes, mistakes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import closed_loop_dynamics as cld
from closed_loop_dynamics.cli.command_line import main
from closed_loop_dynamics.cli.commands import COMMANDS

ROOT = Path(__file__).resolve().parents[2]
NAMES = [command.name for command in COMMANDS]


def test_help_lists_every_command(run) -> None:
    outcome = run("--help")
    assert outcome.status == 0
    for command in COMMANDS:
        assert command.name in outcome.out


@pytest.mark.parametrize("name", NAMES)
def test_every_command_explains_itself_with_examples(run, name: str) -> None:
    outcome = run(name, "--help")
    assert outcome.status == 0
    assert outcome.out.startswith(f"usage: closed-loop {name}")
    assert "examples:" in outcome.out and f"  closed-loop {name}" in outcome.out


def test_version(run) -> None:
    assert run("--version").out == f"closed-loop {cld.__version__}\n"


def test_no_command_is_a_usage_error(run) -> None:
    outcome = run()
    assert outcome.status == 2 and "COMMAND" in outcome.err


def test_unknown_command_names_the_nearest(run) -> None:
    outcome = run("chek", "crank_leg")
    assert outcome.status == 2
    assert "no command 'chek'; did you mean 'check'?" in outcome.err


def test_unknown_option_names_the_nearest(run) -> None:
    outcome = run("check", "crank_leg", "--strit")
    assert outcome.status == 2
    assert "no option '--strit'; did you mean '--strict'?" in outcome.err


def test_unknown_robot_names_the_nearest(run) -> None:
    outcome = run("check", "crankleg")
    assert outcome.status == 2
    assert "'crankleg'; did you mean 'crank_leg'?" in outcome.err


def test_missing_file_names_the_nearest(run) -> None:
    outcome = run("check", ROOT / "urdf" / "crank_legs.urdf")
    assert outcome.status == 2
    assert "did you mean 'crank_leg.urdf'?" in outcome.err


def test_a_yaml_in_place_of_the_urdf_is_recognised(run) -> None:
    outcome = run("check", ROOT / "config" / "crank_leg.yaml")
    assert outcome.status == 2 and "give the URDF before it" in outcome.err


def test_a_floating_base_is_refused_with_the_remedy_that_there_is(run, squat, tmp_path) -> None:
    lone = tmp_path / "flying.urdf"
    lone.write_text(
        '<robot name="r"><link name="world"/><joint name="flight" type="floating"><parent '
        'link="world"/><child link="base"/></joint><link name="base"/></robot>'
    )
    free = "crank_leg", "--floating-base"
    asked = ("path", "--link", "foot"), ("workspace", "-s", "knee"), ("map", "-i", squat[0])
    for command, *rest in asked:
        outcome = run(command, *free, *rest)
        assert outcome.status == 2 and outcome.err.strip().endswith("--no-floating-base holds it")
    outcome = run("path", lone, "--link", "base")
    assert outcome.status == 2 and "fixed base" in outcome.err and "holds it" not in outcome.err


def test_debug_shows_the_traceback() -> None:
    with pytest.raises(cld.ClosedLoopError):
        main(["check", "crankleg", "--debug"])


@pytest.mark.parametrize("name", ["crank_leg", "rh5_leg", "four_bar"])
def test_shipped_robots_have_short_names(run, name: str) -> None:
    assert run("check", name, "--quiet").status == 0


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def test_help_imports_neither_commands_nor_libraries() -> None:
    code = (
        "import sys\n"
        "from closed_loop_dynamics.cli.command_line import main\n"
        "main(['--help'])\n"
        "heavy = [m for m in sys.modules if m.startswith(('matplotlib', 'rosbags', 'casadi',\n"
        "    'numpy', 'scipy', 'yaml', 'closed_loop_dynamics.cli.commands.'))]\n"
        "sys.exit(f'imported {heavy}' if heavy else 0)\n"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def test_a_terminal_without_unicode_is_no_error() -> None:
    command = [sys.executable, "-m", "closed_loop_dynamics", "info", "crank_leg", "--only", "tree"]
    env = {**environment(), "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and "knee_cylinder" in done.stdout, done.stderr


def test_the_end_of_answers_is_an_interruption(run, tmp_path: Path, monkeypatch) -> None:
    from closed_loop_dynamics.cli.commands import new

    monkeypatch.setattr(new, "_somebody_is_there", lambda: True)
    outcome = run("new", "crank_leg", "-o", tmp_path / "x.yaml", stdin="")
    assert outcome.status == 130 and outcome.err == "interrupted\n"
    assert not (tmp_path / "x.yaml").exists()


def test_a_reader_that_stops_early_is_no_error(tmp_path: Path) -> None:
    many = tmp_path / "many.csv"
    many.write_text("hip,knee,ankle\n" + "0,0.5,0\n" * 1500, encoding="utf-8")
    command = [sys.executable, "-m", "closed_loop_dynamics", "state", "crank_leg", "-i", str(many)]
    with subprocess.Popen(
        command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        first = process.stdout.readline()
        process.stdout.close()
        errors = process.stderr.read()
        assert process.wait(timeout=120) == 0
    assert first.startswith("hip,knee,")
    assert errors == ""


@pytest.mark.parametrize(
    ("words", "stream", "message"),
    [
        ("graph crank_leg", "stdout", "closed-loop graph: standard output: it is closed\n"),
        ("state crank_leg", "stdout", "closed-loop state: standard output: it is closed\n"),
        ("info crank_leg", "stdout", "closed-loop info: standard output: it is closed\n"),
        ("map crank_leg -i -", "stdin", "closed-loop map: standard input: it is closed\n"),
        ("new crank_leg -o -", "stdin", "closed-loop new: there is nobody to ask"),
    ],
)
def test_closed_streams_are_told_in_one_line(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    words: str,
    stream: str,
    message: str,
) -> None:
    """``closed-loop graph crank_leg >&-``: Python has None for such a stream."""
    monkeypatch.setattr(sys, stream, None)
    assert main(words.split()) in (1, 2)
    assert message in capsys.readouterr().err  # perhaps after a line about compiling


def test_a_closed_standard_error_harms_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    assert main(["state", "crank_leg", "--y", "knee=3", "--format", "csv"]) == 0  # warns
    assert main(["state", "no_such_robot"]) == 2
    assert capsys.readouterr().out.startswith("hip,knee")
