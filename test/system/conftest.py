"""Fixtures of the system tests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def graph(tmp_path: Path) -> Iterator[Any]:
    """A graph of one's own, wired as the launch files do it."""
    with _graph(tmp_path, "UDPv4") as found:
        yield found


@pytest.fixture
def default_graph(tmp_path: Path) -> Iterator[Any]:
    """The same with the transports that Fast DDS chooses by itself, shared memory among them."""
    with _graph(tmp_path, "DEFAULT") as found:
        yield found


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """One graph for all bad inputs to one kind of node: none of them may harm the next test."""
    with _graph(tmp_path_factory.mktemp("shared"), "UDPv4") as found:
        yield found


@contextmanager
def _graph(folder: Path, transport: str) -> Iterator[Any]:
    """A graph with its own domain, on this machine only.

    Without shared memory unless a test is about it: what a killed node leaves locked there would
    hold up whoever comes next into its domain.
    """
    from ros_support.graph import Graph

    from closed_loop_dynamics.ros.launch_checks import RANGE, transport_environment

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(RANGE, "LOCALHOST")
        for name, value in transport_environment(transport).items():
            patch.setenv(name, value)
        found = Graph(folder)
        yield found
        found.close()
