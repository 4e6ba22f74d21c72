"""The viewer in a real browser: it loads, a drag moves the loop, the exported page plays.

Pictures are kept under out/viewer/.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.browser import colored, differing, picture, start_browser
from support.drawn import drawn_at

import closed_loop_dynamics as cld
from closed_loop_dynamics.cli import html_page
from closed_loop_dynamics.viewer.snapshot import Camera
from tools.pictures.browser import close_notices, wait_for

#: Where the robot is: rows and columns between the panels; of an exported page, beside the caption
#: and above the player.
BETWEEN = (slice(None), slice(340, 660))
BESIDE = (slice(0, 340), slice(0, 400))


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    found = start_browser()
    yield found
    found.quit()


def _robot(browser: Any, part: tuple[slice, slice], name: str) -> list[np.ndarray]:
    """One picture with enough pixels in the colour of the robot, or none."""
    image = picture(browser, name)[part]
    return [image] if colored(image).sum() > 200 else []


def test_page_loads_and_a_drag_moves_the_loop(browser: Any, server: Any, leg: cld.Robot) -> None:
    from selenium.webdriver import ActionChains

    from closed_loop_dynamics.viewer.window import Look, Window

    window = Window(server, Look(server, leg))
    stop = threading.Event()
    loop = threading.Thread(target=window.run, args=(stop,))
    loop.start()
    try:
        browser.get(f"http://127.0.0.1:{server.get_port()}")
        thumbs = '[role="slider"][aria-valuemax="1.8"]'
        (thumb,) = wait_for(lambda: browser.find_elements("css selector", thumbs), "the sliders")
        status = wait_for(lambda: browser.find_elements("id", "cld-status"), "the status line")
        assert "all loops are closed" in status[0].text
        close_notices(browser)
        (before,) = wait_for(lambda: _robot(browser, BETWEEN, "robot"), "the robot")
        rod = leg.mechanism.tree.joint_index("knee_cylinder")
        start = drawn_at(window.look.scene, leg, rod)
        ActionChains(browser).click_and_hold(thumb).move_by_offset(70, 0).release().perform()
        knee = wait_for(lambda: window.snapshot.y[1] > 0.5 and window.snapshot.y[1], "the drag")
        there = drawn_at(window.look.scene, leg, rod)
        assert np.linalg.norm(there[:3, 3] - start[:3, 3]) > 0.01
        pose = leg.pose("knee_cylinder_rod", window.snapshot.y)
        np.testing.assert_allclose(there, pose, atol=1e-9)

        def changed() -> bool:
            return differing(picture(browser, "drag")[BETWEEN], before) > 1000

        wait_for(changed, "another picture")
        assert float(thumb.get_attribute("aria-valuenow")) == pytest.approx(knee, abs=0.02)
        assert not [e for e in browser.get_log("browser") if e["level"] == "SEVERE"]
    finally:
        stop.set()
        loop.join()
        browser.get("about:blank")


def test_exported_page_plays_alone(
    browser: Any, server: Any, leg: cld.Robot, camera: Camera, tmp_path: Path
) -> None:
    from closed_loop_dynamics.viewer.export import as_html
    from closed_loop_dynamics.viewer.playback import sweep
    from closed_loop_dynamics.viewer.window import Look

    look = Look(server, leg)
    page = tmp_path / "leg.html"
    page.write_text(as_html(server, look, sweep(camera, {"knee": look.ranges["knee"]}), "leg"))
    server.stop()
    browser.set_window_size(760, 560)
    browser.get(page.as_uri())
    assert browser.title == "leg"
    (first,) = wait_for(lambda: _robot(browser, BESIDE, "export_1"), "the robot")
    close_notices(browser)

    def plays() -> bool:
        return differing(picture(browser, "export_2")[BESIDE], first) > 200

    wait_for(plays, "another frame")
    mark = browser.find_element("class name", "cld-now")
    where = mark.get_attribute("x1")
    wait_for(lambda: mark.get_attribute("x1") != where, "the mark in the force curves")
    cells = browser.find_elements("class name", "cld-force")
    forces = [float(cell.get_attribute("textContent")) for cell in cells]
    assert len(forces) == leg.p and any(forces)
    asked = browser.execute_script("return performance.getEntriesByType('resource').map(e=>e.name)")
    assert not [name for name in asked if not name.startswith(("blob:", "data:", "file:"))]
    _narrow_and_dark(browser, page)
    browser.get("about:blank")


def test_long_names_stay_on_a_narrow_datasheet(browser: Any, tmp_path: Path) -> None:
    name, file = "right_leg_hip_cylinder_rod~right_leg_thigh_of_a_humanoid", tmp_path / "sheet.html"
    parts = html_page.section(name, name, f"<li>{name}</li>", html_page.table([(name,), (name,)]))
    file.write_text(html_page.page(name, [f"<h1>{name}</h1>", parts]))
    size = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        browser.get(file.as_uri())
        assert browser.execute_script("return document.documentElement.scrollWidth") <= 390
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def _narrow_and_dark(browser: Any, page: Path) -> None:
    """On a phone the forces are below the scene, nothing scrolls sideways, and night is night."""
    size = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    dark = [{"name": "prefers-color-scheme", "value": "dark"}]
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": dark})
    try:
        browser.get(page.as_uri())
        wait_for(lambda: browser.find_elements("tag name", "canvas"), "the scene")
        look = (
            "const box = document.querySelector('.cld'), c = document.querySelector('canvas');"
            "return [box.getBoundingClientRect().top - c.getBoundingClientRect().bottom,"
            " document.documentElement.scrollWidth, getComputedStyle(box).backgroundColor,"
            " window.__VISER_EMBED_CONFIG__.darkMode]"
        )
        below, width, color, night = browser.execute_script(look)
        assert below >= 0.0 and width <= 390 and night
        assert max(float(part) for part in re.findall(r"[0-9.]+", color)[:3]) < 60.0
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
