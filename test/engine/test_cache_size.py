"""The cache forgets what was not used for longest, and touches nothing that is not its own."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from closed_loop_dynamics.engine import cache

DAYS = 86400.0


def keep(folder: Path, number: int, age: float, size: int = 1000) -> Path:
    """A file of the cache that was used ``age`` days ago."""
    path = folder / cache.key_of(number)
    path.write_bytes(b"x" * size)
    used = time.time() - age * DAYS
    os.utime(path, (used, used))
    return path


def test_the_oldest_go_until_there_is_room_again(tmp_path: Path) -> None:
    paths = [keep(tmp_path, k, age=k) for k in range(10)]
    assert cache.tidy(tmp_path, largest=10_000) == 0
    assert cache.tidy(tmp_path, largest=8_000) == 5  # 70 % of 8000 bytes stay at the most
    assert [path.exists() for path in paths] == [True] * 5 + [False] * 5


def test_other_files_are_neither_counted_nor_removed(tmp_path: Path) -> None:
    others = [tmp_path / name for name in ("thesis.tex", "0123abcd", "f" * 63 + "g", "x.tmp")]
    for path in others:
        path.write_bytes(b"x" * 5000)
        os.utime(path, (0, 0))
    target = tmp_path / "elsewhere"
    target.write_bytes(b"x" * 5000)
    link = tmp_path / cache.key_of("link")
    link.symlink_to(target)
    (tmp_path / cache.key_of("folder")).mkdir()
    mine = keep(tmp_path, 0, age=100)
    left = tmp_path / (cache.key_of(1)[:16] + "abc_1.tmp")  # of a process that was killed
    left.write_bytes(b"x")
    assert cache.tidy(tmp_path, largest=2000) == 0
    assert cache.tidy(tmp_path, largest=1) == 2
    assert not mine.exists() and not left.exists()
    assert all(path.exists() for path in (*others, target, link))


def test_a_file_that_is_used_stays(cache_folder: Path) -> None:
    keys = [cache.key_of(k) for k in range(3)]
    for key in keys:
        cache.store(key, {}, b"code" * 100)
        used = time.time() - 10 * DAYS
        os.utime(cache_folder / key, (used, used))
    assert cache.load(keys[1]) == ({}, b"code" * 100)
    assert cache.tidy(cache_folder, largest=1000) == 2
    assert [(cache_folder / key).exists() for key in keys] == [False, True, False]
    assert cache.load(keys[0]) is None


def test_storing_tidies_once(cache_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tidied: list[Path] = []
    monkeypatch.setattr(cache, "tidy", tidied.append)
    cache._tidy_once.cache_clear()
    for k in range(3):
        assert cache.store(cache.key_of(k), {}, b"")
    assert tidied == [cache_folder]


def test_a_folder_that_is_gone_is_no_error(tmp_path: Path) -> None:
    assert cache.tidy(tmp_path / "gone") == 0
