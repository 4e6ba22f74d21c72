"""``closed-loop view`` as people call it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from closed_loop_dynamics.cli.command_line import main

pytest.importorskip("viser", reason="the extra `viewer` is not installed")


def test_port_in_use_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        assert main(["view", "crank_leg", "--port", str(port)]) == 1
        error = capsys.readouterr().err
        assert f"port {port} is taken" in error and "--port" in error
        assert "warning" not in error
        assert main(["view", "crank_leg", "--host", "0.0.0.0", "--port", str(port)]) == 1
        assert "no password" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--port", "70000"], "no port number"),
        (["--host", "no.such.host.invalid"], "no such address"),
        (["--live", "--trajectory", "t.csv"], "--live"),
        (["--topic", "x"], "--topic is for"),
        (["--trajectory", "none.csv"], "there is no file"),
        (["--export", "x.png"], "name it .html"),
    ],
)
def test_mistakes_are_told(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["view", "crank_leg", *words]) == 2
    assert message in capsys.readouterr().err


def test_export_writes_one_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, page = tmp_path / "t.csv", tmp_path / "sub" / "leg.html"
    file.write_text("time,hip,knee,ankle\n0,0,0.2,0\n1,0,0.9,0\n")
    words = ["view", "crank_leg", "--trajectory", str(file), "--export", str(page)]
    assert main(words) == 0
    assert page.stat().st_size > 100_000 and "1.0 s" in capsys.readouterr().out


def hear_ctrl_c() -> None:
    """In the child: tests that are started in the background inherit that SIGINT is ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_it_opens_here_only_and_ends_with_ctrl_c() -> None:
    command = [sys.executable, "-m", "closed_loop_dynamics", "view", "crank_leg", "--port", "0"]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=dict(os.environ),
        preexec_fn=hear_ctrl_c,
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert "http://localhost:" in line and "Ctrl-C" in line
        port = line.split("localhost:")[1].split()[0]
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(f"http://127.0.0.1:{port}", timeout=30) as answer:
            assert answer.status == 200 and b"<html" in answer.read(2000)
        process.send_signal(signal.SIGINT)
        out, error = process.communicate(timeout=120)
    finally:
        process.kill()
    assert process.returncode == 0, error
    assert "Traceback" not in error and "Traceback" not in out
    assert "password" not in error
