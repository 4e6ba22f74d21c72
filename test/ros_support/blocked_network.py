"""A network that blocks whoever sends certain packets, for as long as a file exists."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

#: Stands between a process and its C library: what waits here waits in ``publish``.
SOURCE = """\
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void wait_while_blocked(const void *packet, size_t size) {
  const char *file = getenv("BLOCKED_FILE"), *mark = getenv("BLOCKED_MARK");
  if (file && mark && memmem(packet, size, mark, strlen(mark)))
    while (access(file, F_OK) == 0) usleep(1000);
}

ssize_t sendmsg(int s, const struct msghdr *m, int flags) {
  static ssize_t (*real)(int, const struct msghdr *, int);
  if (!real) real = dlsym(RTLD_NEXT, "sendmsg");
  for (size_t k = 0; k < m->msg_iovlen; ++k)
    wait_while_blocked(m->msg_iov[k].iov_base, m->msg_iov[k].iov_len);
  return real(s, m, flags);
}

ssize_t sendto(int s, const void *at, size_t n, int flags, const struct sockaddr *to, socklen_t k) {
  static ssize_t (*real)(int, const void *, size_t, int, const struct sockaddr *, socklen_t);
  if (!real) real = dlsym(RTLD_NEXT, "sendto");
  wait_while_blocked(at, n);
  return real(s, at, n, flags, to, k);
}
"""


def unavailable() -> str:
    """Why it cannot be made; empty: it can."""
    if not Path("/proc/self").exists():
        return "Linux only"
    return "" if shutil.which("gcc") else "gcc is not installed"


class BlockedNetwork:
    """Made in ``folder``; processes with this environment pass through it.

    Args:
        mark: in the packets that are blocked.
    """

    def __init__(self, folder: Path, mark: str) -> None:
        source, library = folder / "blocked.c", folder / "blocked.so"
        source.write_text(SOURCE)
        command = ["gcc", "-shared", "-fPIC", "-o", str(library), str(source), "-ldl"]
        subprocess.run(command, check=True)
        self._file = folder / "blocked"
        self.environment = {
            "LD_PRELOAD": str(library),
            "BLOCKED_FILE": str(self._file),
            "BLOCKED_MARK": mark,
        }

    def block(self) -> None:
        """From now on."""
        self._file.touch()

    def free(self) -> None:
        """Everything goes on."""
        self._file.unlink(missing_ok=True)
