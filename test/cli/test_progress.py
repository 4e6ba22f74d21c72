"""What is said about work that takes time."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from closed_loop_dynamics.cli import progress
from closed_loop_dynamics.cli.progress import loading

SENTENCE = "compiling leg for the first time; later runs take it from the cache"


@pytest.fixture
def compiling(monkeypatch: pytest.MonkeyPatch) -> None:
    """As while equations are traced; loading is long from 0.02 s on."""
    monkeypatch.setattr(progress, "COMPILING", 0.02)
    monkeypatch.setitem(sys.modules, "casadi", sys)


@pytest.mark.usefixtures("compiling")
def test_compiling_is_told_once_where_there_is_no_terminal(capsys) -> None:
    with loading("leg"):
        time.sleep(0.5)
    assert capsys.readouterr() == ("", f"{SENTENCE}\n")


@pytest.mark.usefixtures("compiling")
def test_on_a_terminal_the_sentence_goes_away(capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with loading("leg"):
        time.sleep(0.5)
    clear = "\r\x1b[K"
    assert capsys.readouterr().err == f"loading leg ...{clear}{SENTENCE}{clear}"


@pytest.mark.usefixtures("compiling")
def test_without_a_cache_nothing_is_promised(capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress.cache, "folder", lambda: None)
    with loading("leg"):
        time.sleep(0.5)
    assert capsys.readouterr().err == "compiling leg for the first time\n"


@pytest.mark.usefixtures("compiling")
def test_what_is_quick_or_cached_is_not_told(capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(progress, "COMPILING", 600.0)
        with loading("leg"):
            pass
    monkeypatch.delitem(sys.modules, "casadi")
    with loading("leg"):
        time.sleep(0.5)
    assert capsys.readouterr().err == ""


def test_a_robot_that_is_not_in_the_cache_is_announced(
    run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLOSED_LOOP_DYNAMICS_CACHE", str(tmp_path))
    monkeypatch.setattr(progress, "COMPILING", 0.0)
    pytest.importorskip("casadi")  # in a process of its own the load would bring it
    outcome = run("check", "four_bar")
    assert outcome.status == 0
    assert outcome.err == f"{SENTENCE}\n".replace("leg", "four_bar")
