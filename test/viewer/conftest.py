"""The crank leg and a viser server, for the tests of the viewer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import closed_loop_dynamics as cld
from closed_loop_dynamics.viewer.snapshot import Camera
from tools.robots import crank_leg


@pytest.fixture(scope="session")
def leg() -> cld.Robot:
    return cld.load(*crank_leg.generate())


@pytest.fixture(scope="session")
def camera(leg: cld.Robot) -> Camera:
    return Camera(leg)


@pytest.fixture
def server() -> Iterator[Any]:
    """A real viser server on a free port of this machine."""
    pytest.importorskip("viser", reason="the extra `viewer` is not installed")
    from closed_loop_dynamics.viewer.server import serve

    with serve("127.0.0.1", 0, "test") as found:
        yield found
