"""Pages of documentation as programs: every fenced block is run, written or compared.

- ``python``: runs, all blocks of a page in one namespace.
- ``sh``: runs in a real shell that knows the command ``closed-loop``. A block of nothing but such
  commands, without pipes and the like, runs in this process, which saves a second for each.
- ``yaml``, ``xml``, ``csv``: becomes the file whose name, in backquotes, is the last one that the
  paragraph before mentions.
- ``text``: what the block before printed; a line ``...`` stands for any lines.
- ``<language> part of <file>``: a piece of a file of the repository, as it stands there.
- ``<language> no-run: <reason>``: an example that cannot run here.

A page runs in a folder of its own that has links to the repository's ``urdf`` and ``config``.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from closed_loop_dynamics.cli.command_line import main

ROOT = Path(__file__).resolve().parents[2]
FILES = ("yaml", "xml", "csv")
NO_RUN = "no-run: "
PART_OF = "part of "

_BLOCK = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<code>.*?)^```$", re.DOTALL | re.MULTILINE)
_TIMEOUT = 300


@dataclass(frozen=True)
class Block:
    """One fenced block: language, what follows it in the first line, code, and where it is."""

    language: str
    mark: str
    code: str
    place: str
    before: str


def blocks(page: Path) -> list[Block]:
    """All fenced blocks of a page."""
    text = page.read_text(encoding="utf-8")
    result = []
    for found in _BLOCK.finditer(text):
        language, _, mark = found["info"].strip().partition(" ")
        line = text.count("\n", 0, found.start()) + 1
        before = text[: found.start()].rstrip().rpartition("\n\n")[2]
        result.append(Block(language, mark, found["code"], f"{page.name}:{line}", before))
    assert text.count("\n```") + text.startswith("```") == 2 * len(result), page
    return result


class Session:
    """One page being worked through, in ``folder``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.printed: str | None = None
        self._namespace: dict[str, Any] = {"__name__": "__main__"}
        for shared in ("urdf", "config"):
            (folder / shared).symlink_to(ROOT / shared)
        tools = folder / ".bin"
        tools.mkdir()
        command = tools / "closed-loop"
        command.write_text(
            f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m closed_loop_dynamics "$@"\n',
            encoding="utf-8",
        )
        command.chmod(0o755)
        self._environment = {
            **os.environ,
            "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "COLUMNS": "100",
            "NO_COLOR": "1",
        }

    def do(self, block: Block) -> None:
        """Run, write or compare one block; AssertionError names its place."""
        printed, self.printed = self.printed, None
        if block.mark.startswith(NO_RUN):
            assert block.mark.removeprefix(NO_RUN).strip(), f"{block.place}: no reason is given"
        elif block.mark.startswith(PART_OF):
            whole = (ROOT / block.mark.removeprefix(PART_OF)).read_text(encoding="utf-8")
            assert block.code in whole, f"{block.place}: not a piece of that file"
        elif block.mark:
            raise AssertionError(f"{block.place}: unknown mark '{block.mark}'")
        elif block.language == "python":
            self.printed = self._run_python(block)
        elif block.language == "sh":
            self.printed = self._run_shell(block)
        elif block.language in FILES:
            self._write(block)
        elif block.language == "text":
            assert printed is not None, f"{block.place}: nothing was printed before"
            assert_same_text(printed, block.code, block.place)
        else:
            raise AssertionError(f"{block.place}: nothing checks a block of '{block.language}'")

    def _run_python(self, block: Block) -> str:
        with self._inside() as out:
            exec(compile(block.code, block.place, "exec"), self._namespace)
        return out.getvalue()

    def _run_shell(self, block: Block) -> str:
        commands = plain_commands(block.code)
        if commands is not None:
            with self._inside() as out:
                for words in commands:
                    assert main(words) == 0, f"{block.place}: closed-loop {' '.join(words)}"
            return out.getvalue()
        run = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", block.code],
            cwd=self.folder,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_TIMEOUT,
        )
        assert run.returncode == 0, f"{block.place}: {run.stderr}"
        return run.stdout

    @contextlib.contextmanager
    def _inside(self) -> Iterator[io.StringIO]:
        """In the page's folder, with what is printed."""
        here, out = Path.cwd(), io.StringIO()
        os.chdir(self.folder)
        try:
            with contextlib.redirect_stdout(out):
                yield out
        finally:
            os.chdir(here)

    def _write(self, block: Block) -> None:
        names = re.findall(rf"`([\w./-]+\.(?:{block.language}|urdf))`", block.before)
        assert names, f"{block.place}: the paragraph before names no file"
        (self.folder / names[-1]).write_text(block.code, encoding="utf-8")


def plain_commands(code: str) -> list[list[str]] | None:
    """The words of each ``closed-loop`` command, None when the code needs a shell."""
    if re.search(r"[|<>;&$`\\]", re.sub(r"#.*", "", code)):
        return None
    lines = [shlex.split(line, comments=True) for line in code.splitlines()]
    lines = [words for words in lines if words]
    plain = all(words[0] == "closed-loop" for words in lines)
    return [words[1:] for words in lines] if plain else None


def assert_same_text(printed: str, expected: str, place: str) -> None:
    """Equal line by line; ``...`` in ``expected`` stands for any lines."""
    lines = [line.rstrip() for line in expected.strip("\n").splitlines()]
    pattern = "".join(
        r"(?:.*\n)*?" if line.strip() == "..." else re.escape(line) + r"\n" for line in lines
    )
    actual = "".join(f"{line.rstrip()}\n" for line in printed.strip("\n").splitlines())
    if not re.fullmatch(pattern, actual):
        assert actual.splitlines() == lines, place  # pytest shows the difference
