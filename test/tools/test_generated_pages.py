"""``make pages`` has a command for everything that is generated."""

from __future__ import annotations

import importlib.util
import subprocess
from pathlib import Path

import pytest

from tools import pages


def test_every_part_is_a_command() -> None:
    for module in pages.PARTS.values():
        spec = importlib.util.find_spec(module)
        assert spec is not None and spec.origin is not None
        file = Path(spec.origin)
        main = file.with_name("__main__.py") if file.name == "__init__.py" else file
        assert "__main__" in main.read_text(encoding="utf-8")


def test_parts_run_in_order_in_the_repository_and_a_failure_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ran: list[str] = []

    def run(command: list[str], cwd: Path) -> subprocess.CompletedProcess[str]:
        assert cwd == pages.ROOT and (cwd / "tools").is_dir()
        ran.append(command[-1])
        return subprocess.CompletedProcess(command, 3 if command[-1] == failing else 0)

    monkeypatch.setattr(pages.subprocess, "run", run)
    failing = ""
    assert pages.main([]) == 0
    assert ran == list(pages.PARTS.values())
    ran.clear()
    failing = "tools.robots"
    assert pages.main(["gallery", "robots"]) == 3
    assert ran == ["tools.robots", "tools.pictures.gallery"]


def test_an_unknown_part_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        pages.main(["poster"])
    assert "there are robots, mechanisms, gallery" in capsys.readouterr().err
