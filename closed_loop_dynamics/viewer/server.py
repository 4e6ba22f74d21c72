"""The web server of the viewer: viser's, kept to this machine."""

from __future__ import annotations

import contextlib
import errno
import io
import socket
from collections.abc import Iterator
from typing import Any

from ..cli.mistakes import FileProblem, UsageError, need

LOCAL = ("localhost", "127.0.0.1", "::1")
PORT = 8080


def is_local(host: str) -> bool:
    """Only this machine can reach it."""
    return host in LOCAL or host.startswith("127.")


@contextlib.contextmanager
def serve(host: str, port: int, label: str) -> Iterator[Any]:
    """A viser server that ends with the block; port 0 takes any free one.

    Raises:
        FileProblem: viser is not installed, or the port is taken.
        UsageError: no such host.
    """
    viser = need("viser", "the viewer")
    if not hasattr(viser.ViserServer, "initial_camera"):
        raise FileProblem("the viewer needs viser 1.1 or newer; pip install --upgrade viser")
    _check_free(host, port)

    class Server(viser.ViserServer):  # type: ignore[name-defined]
        """viser offers its pages to the world through a relay when a page asks; ours do not."""

        def request_share_url(self, verbose: bool = True) -> str | None:
            return None

    with contextlib.redirect_stdout(io.StringIO()):  # its banner; our own line is shorter
        server = Server(host=host, port=port, label=label, verbose=False)
    try:
        if port and server.get_port() != port:  # somebody was faster; viser took the next one
            raise _taken(port)
        yield server
    finally:
        with contextlib.redirect_stdout(io.StringIO()):
            server.stop()


def _check_free(host: str, port: int) -> None:
    """viser would silently take another port."""
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except socket.gaierror:
        raise UsageError(f"--host {host}: no such address on this machine") from None
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise _taken(port) from None
        if error.errno == errno.EACCES:
            raise UsageError(
                f"--port {port}: ports below 1024 are for root; choose a higher one"
            ) from None
        raise UsageError(f"--host {host}: {error.strerror}") from None


def _taken(port: int) -> FileProblem:
    return FileProblem(
        f"port {port} is taken, perhaps by another viewer; end it, or choose another one with "
        "--port (0 takes any free one)"
    )
