"""Files that commands write: checked before the work, whole or not at all, never the input."""

from __future__ import annotations

import os
import stat
import warnings
from pathlib import Path

import numpy as np
import pytest

from closed_loop_dynamics import shipped
from closed_loop_dynamics.cli.arguments import InputFile
from closed_loop_dynamics.cli.command_line import make_parser
from closed_loop_dynamics.cli.commands import COMMANDS
from closed_loop_dynamics.cli.output import put

ROOT = Path(__file__).resolve().parents[2]
HOLD = ("simulate", "crank_leg", "--hold", "--duration", "0.01")


@pytest.fixture
def no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loading a robot fails the test: the mistake must be found before."""

    def load(*_: object, **__: object) -> None:
        raise AssertionError("a robot was loaded before the output was checked")

    monkeypatch.setattr("closed_loop_dynamics.cli.robot_argument.load", load)


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((*HOLD, "-o", "x.xyz"), "name it .csv or .json"),
        ((*HOLD, "-o", "x.db3"), "bags are written as .mcap"),
        ((*HOLD, "-o", "x.mcap", "--format", "csv"), "--format csv is not for bags"),
        ((*HOLD, "-o", "a_file/x.csv"), "is no folder"),
        (("map", "crank_leg", "-i", "a_file", "-o", "a_file"), "is the input"),
        (("map", "crank_leg", "-i", "m.csv", "--message", "states"), "are for bags"),
        (("map", "crank_leg", "-i", "m.csv", "-o", "m.mcap", "--output-topic", "a b"), "no topic"),
        (("graph", "crank_leg", "-o", "a_file/x.svg"), "is no folder"),
        (("plot", "m.csv", "-o", "a_file/x.png"), "is no folder"),
        (("view", "crank_leg", "--export", "x.pdf"), "name it .html"),
        (("view", "crank_leg", "--export", "a_file/x.html"), "is no folder"),
        (("new", "crank_leg", "--yes", "-o", "a_file/x.yaml"), "is no folder"),
        (("demo", "--offline", "--output", "x.doc"), "is no picture"),
        (("check", "crank_leg", "--search-path", "nowhere"), "there is no folder 'nowhere'"),
    ],
)
def test_a_wrong_output_is_found_before_the_work(run, in_tmp: Path, words, message) -> None:
    (in_tmp / "a_file").write_text("mine", encoding="utf-8")
    outcome = run(*words)
    assert outcome.status == 2 and message in outcome.err
    assert [p.name for p in in_tmp.iterdir()] == ["a_file"]
    assert (in_tmp / "a_file").read_text(encoding="utf-8") == "mine"


@pytest.fixture
def in_tmp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_states_do_not_overwrite_their_input(run, squat) -> None:
    path, _ = squat
    before = path.read_bytes()
    outcome = run("state", "crank_leg", "-i", path, "-o", path)
    assert outcome.status == 2 and "is the input" in outcome.err
    assert path.read_bytes() == before


#: Commands that would overwrite what they read; m.csv is a motion, bag a folder with a recording.
OVERWRITING = [
    "new plain.urdf --yes --force -o plain.urdf",
    "new plain.urdf --yes --force -o linked.urdf",
    "assemble plain.urdf loops.yaml -o plain.urdf",
    "state plain.urdf loops.yaml --format csv -o plain.urdf",
    "state plain.urdf loops.yaml --format csv -o loops.yaml",
    "inverse-dynamics plain.urdf loops.yaml --format csv -o ./loops.yaml",
    "forward-dynamics plain.urdf loops.yaml -i m.csv -o m.csv",
    "map plain.urdf loops.yaml -i m.csv --format csv -o loops.yaml",
    "map plain.urdf loops.yaml -i bag -o bag/bag.mcap",
    "map plain.urdf loops.yaml -i bag --format json -o bag/metadata.yaml",
    "map plain.urdf loops.yaml -i bag -o bag/new.csv",
    "simulate plain.urdf loops.yaml --follow bag -o bag/bag.mcap",
    "simulate plain.urdf loops.yaml --efforts bag -o bag/bag.mcap",
    "simulate plain.urdf loops.yaml --format csv -o plain.urdf",
    "graph drawn.svg loops.yaml -o drawn.svg",
    "workspace drawn.svg loops.yaml -s knee -o drawn.svg",
    "plot drawn.svg -o drawn.svg",
    "plot m.png",
    "view page.html loops.yaml --export page.html",
    "view plain.urdf loops.yaml --trajectory page.html --export page.html",
]


@pytest.mark.parametrize("words", OVERWRITING)
def test_no_command_overwrites_what_it_reads(run, in_tmp: Path, words: str) -> None:
    urdf, loops = ROOT / "urdf" / "crank_leg.urdf", ROOT / "config" / "crank_leg.yaml"
    (in_tmp / "loops.yaml").write_bytes(loops.read_bytes())
    for name in ("plain.urdf", "drawn.svg", "page.html"):
        (in_tmp / name).write_bytes(urdf.read_bytes())
    (in_tmp / "linked.urdf").symlink_to("plain.urdf")
    for name in ("m.csv", "m.png"):
        (in_tmp / name).write_text("time,hip,knee,ankle\n0,0,0.4,0\n1,0,0.5,0\n")
    (in_tmp / "bag").mkdir()
    for name in ("bag.mcap", "metadata.yaml"):
        (in_tmp / "bag" / name).write_text("recorded")
    before = contents(in_tmp)
    outcome = run(*words.split())
    assert outcome.status == 2 and "is the input" in outcome.err
    assert contents(in_tmp) == before


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_files_of_a_shipped_robot_are_not_overwritten(
    run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder, file in (("urdf", "urdf/crank_leg.urdf"), ("config", "config/crank_leg.yaml")):
        (tmp_path / folder).mkdir()
        (tmp_path / file).write_bytes((ROOT / file).read_bytes())
    monkeypatch.setattr(shipped, "share_folders", lambda: [tmp_path])
    before = contents(tmp_path)
    for file in before:
        outcome = run("state", "crank_leg", "--format", "csv", "-o", file)
        assert outcome.status == 2 and "is the input 'crank_leg'" in outcome.err
    assert contents(tmp_path) == before


@pytest.mark.parametrize("command", [command.name for command in COMMANDS])
def test_every_argument_that_is_read_says_so(command: str) -> None:
    """What is declared otherwise is no file that is read: only then can nothing be overwritten."""
    own = make_parser([command])._actions[-1].choices[command]
    files = {"FILE", "URDF", "YAML", "ROBOT"}
    written = ("output", "export", "fix")
    for action in own._actions:
        if action.metavar in files and action.dest not in written:
            assert issubclass(action.type, InputFile), action.dest


@pytest.mark.parametrize("name", ["x.csv", "x.mcap"])
def test_a_file_keeps_its_permissions(run, squat, tmp_path: Path, name: str) -> None:
    path, link = tmp_path / name, tmp_path / f"link_{name}"
    path.write_text("secret")
    path.chmod(0o600)
    link.symlink_to(path)
    outcome = run("map", "crank_leg", "-i", squat[0], "-o", link)
    assert outcome.status == 0, outcome.err
    assert path.read_bytes() != b"secret" and stat.S_IMODE(path.stat().st_mode) == 0o600
    assert link.is_symlink()


def test_a_file_is_whole_or_as_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "folder" / "x.csv"
    put(path, "first")
    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(OSError(28, "disk full")))
        with pytest.raises(OSError, match="disk full") as caught:
            put(path, "second")
    assert caught.value.filename == str(path)
    assert path.read_text(encoding="utf-8") == "first"
    assert [p.name for p in path.parent.iterdir()] == ["x.csv"]


def test_links_and_devices_stay_what_they_are(tmp_path: Path) -> None:
    real, link = tmp_path / "real.csv", tmp_path / "link.csv"
    link.symlink_to(real)
    put(link, "text")
    assert link.is_symlink() and real.read_text(encoding="utf-8") == "text"
    put(os.devnull, "text")
    assert Path(os.devnull).is_char_device()


def test_a_topic_gets_its_slash(run, squat, tmp_path: Path) -> None:
    from closed_loop_dynamics.cli.bags import read_bag

    out = tmp_path / "x.mcap"
    words = ["--output-topic", "arm/command", "-o", out]
    assert run("map", "crank_leg", "-i", squat[0], *words).status == 0
    assert read_bag(str(out)).topic == "/arm/command"


def test_options_that_repeat_add_up(run) -> None:
    once = run("state", "crank_leg", "--y", "knee=0.3", "hip=0.1", "--format", "csv")
    twice = run("state", "crank_leg", "--y", "knee=0.3", "--y", "hip=0.1", "--format", "csv")
    assert once.status == twice.status == 0 and once.out == twice.out


@pytest.mark.parametrize(
    ("words", "stdin", "message"),
    [
        (["state", "crank_leg", "--y", "knee=1e9"], "", "--y knee: 1e9 is beyond 1e+08"),
        (["state", "crank_leg", "-i", "-"], "hip,knee,ankle\n0,1e9,0\n", "column knee: 1e+09 is"),
        (["state", "crank_leg", "-i", "-"], "hip,knee,ankle\n0,,0\n", "(or an empty field)"),
        (["simulate", "crank_leg", "--step", "1", "--duration", "0.1"], "", "longer than"),
        (["simulate", "crank_leg", "--step", "0.1", "--rate", "50"], "", "a row needs a step"),
        (
            ["simulate", "crank_leg", "--efforts", "-"],
            "time,hip.effort,knee_cylinder.effort,ankle_crank.effort\n1,0,0,0\n0,0,0,0\n",
            "times must increase",
        ),
        (
            ["map", "crank_leg", "-i", "-", "--rate", "1e12"],
            "time,hip,knee,ankle\n0,0,0.5,0\n1,0,0.6,0\n",
            "rows are too many",
        ),
    ],
)
def test_numbers_beyond_reason_are_named(run, words, stdin: str, message: str) -> None:
    outcome = run(*words, stdin=stdin)
    assert outcome.status in (1, 2) and message in outcome.err


def test_many_curves_leave_room_for_the_plot(run, tmp_path: Path) -> None:
    names = [f"left_wrist_right_rod_number_{k}" for k in range(61)]
    text = ",".join(["time", *names]) + "\n"
    text += "".join(",".join(["%g"] * 62) % (k, *range(61)) + "\n" for k in range(3))
    out = tmp_path / "many.png"
    with warnings.catch_warnings():
        warnings.filterwarnings("error", ".*layout.*")  # that does not fit
        outcome = run("plot", "-", "-o", out, stdin=text)
    assert outcome.status == 0, outcome.err
    from matplotlib.image import imread

    picture = imread(out)[..., :3]
    first = picture[: picture.shape[0] // 2, : picture.shape[1] // 3]
    assert len(np.unique(first.reshape(-1, 3), axis=0)) > 20  # curves, in many colours


def test_warnings_of_libraries_are_one_line(run, monkeypatch: pytest.MonkeyPatch) -> None:
    from closed_loop_dynamics.cli.commands import check

    monkeypatch.setattr(check, "run", lambda _: warnings.warn("slow", stacklevel=1) or 0)
    outcome = run("check", "crank_leg")
    assert outcome.status == 0 and outcome.err == "warning: slow\n"
