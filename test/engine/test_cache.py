"""The cache gives back what was stored, or nothing; it never breaks a load."""

from __future__ import annotations

import os
import random
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from engine_support.programs import explicit_program

from closed_loop_dynamics import fingerprint
from closed_loop_dynamics.engine import cache, native

KEY = cache.key_of("some", "thing")
METADATA = {"checks": 3, "solvers": [[[1, 2, 3], 4]]}
CODE = b"\x00\n binary \xff" * 50


def no_permission(*arguments: Any, **options: Any) -> Any:
    raise PermissionError("read-only")


def test_what_was_stored_comes_back() -> None:
    assert cache.load(KEY) is None
    assert cache.store(KEY, METADATA, CODE)
    assert cache.load(KEY) == (METADATA, CODE)
    assert cache.load(cache.key_of("another")) is None


def test_storing_again_replaces() -> None:
    cache.store(KEY, METADATA, CODE)
    cache.store(KEY, {}, b"new")
    assert cache.load(KEY) == ({}, b"new")


@pytest.mark.parametrize("left", [0, 5, 10, 20, 42, 60, -1])
def test_a_truncated_file_counts_as_absent(cache_folder: Path, left: int) -> None:
    cache.store(KEY, METADATA, CODE)
    path = cache_folder / KEY
    path.write_bytes(path.read_bytes()[:left])
    assert cache.load(KEY) is None


def test_any_flipped_bit_counts_as_absent(cache_folder: Path) -> None:
    cache.store(KEY, METADATA, CODE)
    path = cache_folder / KEY
    good = path.read_bytes()
    for position in [*range(60), len(good) // 2, len(good) - 1]:
        bad = bytearray(good)
        bad[position] ^= 0x10
        path.write_bytes(bad)
        assert cache.load(KEY) is None, position
    path.write_bytes(good)
    assert cache.load(KEY) is not None


@pytest.mark.parametrize(
    "content",
    [b"", b"garbage", random.Random(1).randbytes(5000), b"CLDCACHE0\n" + bytes(99)],
    ids=["empty", "short", "long", "other version"],
)
def test_garbage_counts_as_absent(cache_folder: Path, content: bytes) -> None:
    cache_folder.mkdir()
    (cache_folder / KEY).write_bytes(content)
    assert cache.load(KEY) is None
    assert cache.store(KEY, METADATA, CODE)
    assert cache.load(KEY) == (METADATA, CODE)


def test_a_file_under_another_key_counts_as_absent(cache_folder: Path) -> None:
    other = cache.key_of("another")
    cache.store(KEY, METADATA, CODE)
    shutil.copy2(cache_folder / KEY, cache_folder / other)
    assert cache.load(other) is None


def test_a_folder_in_place_of_the_file_counts_as_absent(cache_folder: Path) -> None:
    (cache_folder / KEY).mkdir(parents=True)
    assert cache.load(KEY) is None
    assert not cache.store(KEY, METADATA, CODE)
    assert [p.name for p in cache_folder.iterdir()] == [KEY], "no temporary file may stay behind"


def test_a_read_only_folder_costs_only_time(
    cache_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache_folder.mkdir()
    if os.getuid() == 0:  # root may write anywhere
        monkeypatch.setattr(tempfile, "mkstemp", no_permission)
    cache_folder.chmod(0o500)
    try:
        assert not cache.store(KEY, METADATA, CODE)
        program = explicit_program("native", [2], lambda v: 2 * v)
        np.testing.assert_array_equal(program([1, 2]), [2, 4])
    finally:
        cache_folder.chmod(0o700)
    assert list(cache_folder.iterdir()) == []


def test_a_folder_that_is_a_file_costs_only_time(cache_folder: Path) -> None:
    cache_folder.write_text("in the way")
    assert cache.load(KEY) is None
    assert not cache.store(KEY, METADATA, CODE)
    program = explicit_program("native", [2], lambda v: 2 * v)
    np.testing.assert_array_equal(program([1, 2]), [2, 4])


def test_an_empty_variable_switches_the_cache_off(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(cache.ENVIRONMENT_VARIABLE, "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache.folder() is None
    assert not cache.store(KEY, METADATA, CODE)
    assert cache.load(KEY) is None
    assert not (tmp_path / "xdg").exists()


def test_the_default_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(cache.ENVIRONMENT_VARIABLE)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache.folder() == tmp_path / "closed_loop_dynamics"
    monkeypatch.setenv("XDG_CACHE_HOME", "not/absolute")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert cache.folder() == tmp_path / "home/.cache/closed_loop_dynamics"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache.folder() == tmp_path / "home/.cache/closed_loop_dynamics"


def test_without_a_home_there_is_no_folder_named_tilde(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (cache.ENVIRONMENT_VARIABLE, "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    found = cache.folder()  # from the password database, when it knows this user
    assert found is None or found.is_absolute()
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)  # it does not
    assert cache.folder() is None
    assert not cache.store(KEY, METADATA, CODE)


def test_a_file_of_another_user_is_ignored(
    cache_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache.store(KEY, METADATA, CODE)
    if os.getuid() == 0:
        os.chown(cache_folder / KEY, 4321, -1)
    else:
        mine = os.getuid()
        monkeypatch.setattr(os, "getuid", lambda: mine + 1)
    assert cache.load(KEY) is None


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_may_write_is_ignored(cache_folder: Path, mode: int) -> None:
    cache.store(KEY, METADATA, CODE)
    (cache_folder / KEY).chmod(mode)
    assert cache.load(KEY) is None
    (cache_folder / KEY).chmod(0o644)
    assert cache.load(KEY) is not None


def test_stored_files_are_private(cache_folder: Path) -> None:
    cache.store(KEY, METADATA, CODE)
    assert stat.S_IMODE((cache_folder / KEY).stat().st_mode) == 0o600


def test_a_program_is_traced_only_when_nothing_is_cached() -> None:
    traced = []

    def make(key: str) -> np.ndarray:
        program = explicit_program(
            "native", [2], lambda v: 3 * v, key=key, on_build=lambda: traced.append(key)
        )
        return program(np.array([1.0, 2.0]))

    for key in ("a", "a", "b", "a", "b"):
        np.testing.assert_array_equal(make(key), [3.0, 6.0])
    assert traced == ["a", "b"]


@pytest.mark.parametrize("damage", ["truncate", "flip", "garbage"])
def test_a_program_survives_damaged_files(cache_folder: Path, damage: str) -> None:
    def result() -> np.ndarray:
        return explicit_program("native", [3], lambda v: v * v)(np.array([1.0, 2.0, 3.0]))

    first = result()
    files = list(cache_folder.iterdir())
    assert files
    for path in files:
        data = path.read_bytes()
        middle = len(data) // 2
        path.write_bytes(
            {
                "truncate": data[:middle],
                "flip": data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :],
                "garbage": random.Random(2).randbytes(len(data)),
            }[damage]
        )
    np.testing.assert_array_equal(result(), first)
    assert all(cache.load(path.name) is not None for path in files), "and repairs them"


def test_another_cpu_means_another_key(monkeypatch: pytest.MonkeyPatch) -> None:
    traced: list[int] = []

    def make() -> None:
        explicit_program("native", [1], lambda v: v, on_build=lambda: traced.append(1))

    make()
    here = native.key_of("program")
    monkeypatch.setattr(native, "target_description", lambda: "another CPU")
    assert native.key_of("program") != here
    make()
    assert len(traced) == 2


def test_the_key_follows_the_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "package"
    for place in ("engine/cache.py", "closure/legs/planar.py", "dynamics/aba.py", "robot.py"):
        (package / place).parent.mkdir(parents=True, exist_ok=True)
        (package / place).write_text("x = 1\n")
    monkeypatch.setattr(fingerprint, "__file__", str(package / "fingerprint.py"))
    digest = fingerprint.source_digest.__wrapped__
    seen = {digest()}
    assert digest() in seen
    for place in ("engine/cache.py", "closure/legs/planar.py", "dynamics/aba.py", "robot.py"):
        (package / place).write_text("x = 2\n")
        seen.add(digest())
    (package / "dynamics/aba.py").rename(package / "dynamics/rnea.py")
    seen.add(digest())
    assert len(seen) == 6


def test_keys_tell_parts_apart() -> None:
    keys = [
        cache.key_of("ab", "c"),
        cache.key_of("a", "bc"),
        cache.key_of("abc"),
        cache.key_of("a", ("b", "c")),
        cache.key_of("1"),
        cache.key_of(1),
    ]
    assert len(set(keys)) == len(keys)


COMPILE = """
import sys
sys.path.insert(0, {test!r})
from engine_support.programs import ARM, arm_solution
import numpy as np
sys.stdin.readline()  # start together
p = np.array([[1.1, 0.2], [1.2, 0.1], [1.0, 0.3]])
program = ARM.program("native", ARM.seeds([1.1, 0.2], arm_solution([1.1, 0.2])))
assert np.allclose(program(p[0]), arm_solution(p[0]), atol=1e-12)
assert np.allclose(program(p), arm_solution(p), atol=1e-12)
print("fine")
"""


def test_two_processes_may_compile_at_once(cache_folder: Path) -> None:
    script = COMPILE.format(test=str(Path(__file__).resolve().parents[1]))
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", script],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in processes:
        out, err = process.communicate(timeout=300)
        assert out.strip() == "fine", err
    files = list(cache_folder.iterdir())
    assert len(files) == 4  # solvers and program, for one sample and for lanes
    assert all(cache.load(path.name) is not None for path in files)
