"""What is said about work that takes time. No test waits: patience ends when a test says so."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from closed_loop_dynamics.cli import progress
from closed_loop_dynamics.cli.progress import Compilations, loading
from closed_loop_dynamics.engine.progress import compiling

SENTENCE = "compiling leg for the first time; later runs take it from the cache"
CLEAR = "\r\x1b[K"


class HandTimer:
    """In place of a timer: ends when :meth:`fire` is called, unless it was cancelled before."""

    made: list[HandTimer]

    def __init__(self, interval: float, function: Callable[[], None]) -> None:
        self.interval, self.function = interval, function
        self.daemon = self.running = False
        self.made.append(self)

    def start(self) -> None:
        self.running = True

    def cancel(self) -> None:
        self.running = False

    def fire(self) -> None:
        assert self.running
        self.function()


@pytest.fixture
def timers(monkeypatch: pytest.MonkeyPatch) -> list[HandTimer]:
    """The timers that were made, to be fired by hand."""
    HandTimer.made = []
    monkeypatch.setattr(progress.threading, "Timer", HandTimer)
    return HandTimer.made


def test_one_line_per_robot_where_there_is_no_terminal(capsys, timers) -> None:
    with Compilations("leg"):
        with compiling("state"), compiling("inverse_dynamics"):
            assert len(timers) == 1
            timers[0].fire()
        with compiling("mass_matrix", batch=True):  # long after loading
            pass
    assert capsys.readouterr() == ("", f"{SENTENCE}\n")


def test_a_terminal_shows_what_is_compiled_at_present(capsys, timers, monkeypatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with Compilations("leg"):
        with compiling("state"):
            timers[0].fire()
            with compiling("inverse_dynamics"):
                pass
        with compiling("mass_matrix", batch=True):
            pass
    state, inverse = f"{SENTENCE} (state)", f"{SENTENCE} (inverse_dynamics)"
    mass = f"{SENTENCE} (mass_matrix, for many samples at once)"
    shown = ["", state, inverse, state, "", mass, "", ""]
    assert capsys.readouterr().err.split(CLEAR) == shown


def test_patience_is_for_all_compilations_together(capsys, timers, monkeypatch) -> None:
    clock = SimpleNamespace(monotonic=iter((0.0, 1.5, 70.0, 73.0)).__next__)
    monkeypatch.setattr(progress, "time", clock)
    with Compilations("leg"):
        with compiling("state"):
            pass
        assert not timers[0].running
        with compiling("inverse_dynamics"):
            assert timers[1].interval == pytest.approx(progress.COMPILING - 1.5)
            timers[1].fire()
    assert capsys.readouterr().err == f"{SENTENCE}\n"


def test_what_is_quick_is_not_told(capsys, timers) -> None:
    with Compilations("leg"), compiling("state"):
        pass
    assert [timer.running for timer in timers] == [False]
    assert capsys.readouterr().err == ""


def test_after_the_block_nothing_is_told(capsys, timers) -> None:
    with Compilations("leg"):
        pass
    with compiling("state"):
        pass
    assert timers == [] and capsys.readouterr().err == ""


def test_without_a_cache_nothing_is_promised(capsys, timers, monkeypatch) -> None:
    monkeypatch.setattr(progress.cache, "folder", lambda: None)
    with Compilations("leg"), compiling("state"):
        timers[0].fire()
    assert capsys.readouterr().err == "compiling leg for the first time\n"


def test_loading_is_told_on_a_terminal_only(capsys, monkeypatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with loading("leg"):
        pass
    assert capsys.readouterr().err == f"loading leg ...{CLEAR}"
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False)
    with loading("leg"):
        pass
    assert capsys.readouterr().err == ""


def test_a_robot_that_is_not_in_the_cache_is_announced_once(
    run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLOSED_LOOP_DYNAMICS_CACHE", str(tmp_path))
    monkeypatch.setattr(progress, "COMPILING", 0.0)
    told = f"{SENTENCE}\n".replace("leg", "four_bar")
    assert run("check", "four_bar").err == told
    # Loaded from the cache; the integrator is not there yet.
    assert run("simulate", "four_bar", "--duration", "0.01", "-o", tmp_path / "x.csv").err == told
    assert run("check", "four_bar").err == ""
