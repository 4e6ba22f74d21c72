"""Packets of work on a robot: done here, or by the workers of a Dask cluster.

Every packet gets a thread of its own, here as there. Threads begin with what the tables say, so a
packet's numbers depend neither on the packets before it nor on where it is worked on.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

from ..robot import Robot
from .mistakes import UsageError, need

Work = Callable[[Robot, Any], Any]


def work_through(
    work: Work, robot: Robot, packets: Sequence[Any], tell: Callable[[int], None], scheduler: str
) -> list[Any]:
    """``work(robot, packet)`` of every packet, in order; ``tell`` hears how many are done.

    ``scheduler`` is the address of one whose workers have this package, or empty: this process does
    it all. A worker that dies costs time: others do again what it had.
    """
    if not scheduler:
        found = []
        for packet in packets:
            found.append(_alone(work, robot, packet))
            tell(len(found))
        return found
    distributed = need("distributed", "a cluster")
    try:
        client = distributed.Client(scheduler, timeout=10.0, set_as_default=False)
    except (OSError, ValueError) as error:
        raise UsageError(f"--scheduler {scheduler}: {error or 'nobody answers'}") from None
    with client:
        # The description as a task, not as data: whoever loses it makes it again.
        there = client.submit(bytes, pickle.dumps(robot), pure=False)
        tasks = [client.submit(_there, work, there, packet, pure=False) for packet in packets]
        for done, _ in enumerate(distributed.as_completed(tasks, loop=client.loop), 1):
            tell(done)
        return list(client.gather(tasks))


def _alone(work: Work, robot: Robot, packet: Any) -> Any:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work, robot, packet).result()


def _there(work: Work, pickled: bytes, packet: Any) -> Any:
    return _alone(work, _loaded(pickled), packet)


_loaded = cache(pickle.loads)  # once by each worker
