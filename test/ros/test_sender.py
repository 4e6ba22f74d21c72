"""The sender: in order, the newest count, and nobody waits for it."""

from __future__ import annotations

import threading

from closed_loop_dynamics.ros.sender import Sender

DEADLINE = 60.0  # [s]; only a hanging thread meets it


class Post:
    """A way out that can be blocked, as a middleware that waits for a dead peer."""

    def __init__(self, places: int = 1) -> None:
        self.said: list[int] = []
        self.taken = threading.Semaphore(0)
        self.free = threading.Event()
        self.sender = Sender(self.send, places)
        self.sender.start()

    def send(self, letter: int) -> None:
        self.taken.release()
        assert self.free.wait(DEADLINE)
        self.said.append(letter)


def test_what_there_is_time_for_is_sent_in_order() -> None:
    post = Post()
    post.free.set()
    for k in range(100):
        post.sender.post(k)
        assert post.taken.acquire(timeout=DEADLINE)
    post.sender.stop()
    assert post.said == list(range(100))
    assert post.sender.skipped == 0


def test_who_posts_does_not_wait_for_a_blocked_way_out_and_the_newest_wins() -> None:
    post = Post()
    post.sender.post(-1)
    assert post.taken.acquire(timeout=DEADLINE)  # under way, and blocked
    for k in range(1000):
        post.sender.post(k)  # would never return, if it waited
    post.free.set()
    post.sender.stop()
    assert post.said == [-1, 999]
    assert post.sender.skipped == 999


def test_where_there_is_place_nothing_is_lost() -> None:
    post = Post(places=1000)
    for k in range(1000):
        post.sender.post(k)
    post.free.set()
    post.sender.stop()
    assert post.said == list(range(1000)) and post.sender.skipped == 0


def test_it_wakes_for_every_letter_whoever_posts_at_the_same_time() -> None:
    post = Post(places=10_000)
    post.free.set()

    def work() -> None:
        for k in range(500):
            post.sender.post(k)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    post.sender.stop()
    assert sorted(post.said) == sorted(4 * list(range(500)))
