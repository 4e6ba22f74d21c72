"""``docs/viewer.png``: the leg ``rh5_leg`` in the middle of a squat, seen in a headless Chromium.

``python -m tools.pictures.viewer``; takes about a minute without a graphics card.
"""

from __future__ import annotations

import threading
import time
from pathlib import Path

import numpy as np
from PIL import Image

from closed_loop_dynamics.cli.motion_file import motion_of
from closed_loop_dynamics.cli.robot_argument import find_robot
from closed_loop_dynamics.cli.tables import Table
from closed_loop_dynamics.robot import load
from closed_loop_dynamics.viewer.playback import from_file
from closed_loop_dynamics.viewer.server import serve
from closed_loop_dynamics.viewer.window import Look, Window

from .browser import NoBrowser, close_notices, picture, start_browser, wait_for

PICTURE = Path("docs/viewer.png")
SIZE = (1280, 820)  # of the window, its title bar included
DURATION, SHOWN = 0.6, 0.22  # [s]
#: Largest positions of the squat [rad]; the leg swings to the side and back meanwhile.
SQUAT = {"hip_pitch": -0.55, "knee": 1.27, "ankle_pitch": -0.6}
SWAY = 0.08


def main() -> None:
    """Draw the picture below the current folder, or say what is missing."""
    try:
        browser = start_browser()
    except NoBrowser as reason:
        print(f"{PICTURE} stays as it is: {reason}")
        return
    _, urdf, loops = find_robot("rh5_leg")
    robot = load(urdf, loops)
    t = np.linspace(0.0, DURATION, 61)
    down = 0.5 - 0.5 * np.cos(2.0 * np.pi * t / DURATION)
    columns = {name: SQUAT.get(name, 0.0) * down for name in robot.names.independent}
    columns["hip_roll"] = SWAY * np.sin(2.0 * np.pi * t / DURATION) * down
    values = np.column_stack([t, *columns.values()])
    motion = from_file(robot, motion_of(robot, Table(("time", *columns), values, "squat")))
    stop = threading.Event()
    with serve("127.0.0.1", 0, "rh5_leg") as server:
        window = Window(server, Look(server, robot, motion=motion), motion)
        assert window.player is not None
        window.player.time = SHOWN
        window.step(time.monotonic(), 0.0)
        window.player.play(False)
        loop = threading.Thread(target=window.run, args=(stop,))
        loop.start()
        try:
            browser.set_window_size(*SIZE)
            browser.get(f"http://127.0.0.1:{server.get_port()}")
            wait_for(lambda: browser.find_elements("id", "cld-status"), "the page")
            time.sleep(10.0)  # until curves and shadows are drawn as well
            close_notices(browser)
            time.sleep(3.0)
            image = picture(browser)
        finally:
            stop.set()
            loop.join()
            browser.quit()
    flat = Image.fromarray(image.astype(np.uint8)).quantize(192, dither=Image.Dither.NONE)
    flat.save(PICTURE, optimize=True)
    print(f"wrote {PICTURE}")


if __name__ == "__main__":
    main()
