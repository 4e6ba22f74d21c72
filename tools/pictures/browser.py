"""A real headless Chromium, driven by selenium, to see what the viewer shows."""

from __future__ import annotations

import io
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SIZE = (1000, 620)
DEADLINE = 180.0  # [s]; drawing without a graphics card on a busy machine is slow
#: WebGL without a graphics card.
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--force-device-scale-factor=1",
    "--hide-scrollbars",
)


class NoBrowser(Exception):
    """There is none on this machine; the message says what is missing."""


def start_browser() -> Any:
    """A browser.

    Raises:
        NoBrowser: selenium, Chromium or its driver is not installed.
    """
    try:
        from selenium import webdriver as selenium
    except ImportError:
        raise NoBrowser("selenium is not installed") from None
    binary = next((found for name in NAMES if (found := shutil.which(name))), None)
    driver = shutil.which("chromedriver")
    if binary is None or driver is None:
        raise NoBrowser("no Chromium with chromedriver here (Debian: chromium, chromium-driver)")
    options = selenium.ChromeOptions()
    options.binary_location = binary
    for flag in (*FLAGS, f"--window-size={SIZE[0]},{SIZE[1]}"):
        options.add_argument(flag)
    # The viewer never needs the world; what it asks for must fail.
    options.add_argument("--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1")
    # Proxies of the environment must not see requests to localhost.
    os.environ.setdefault("NO_PROXY", "127.0.0.1,localhost")
    browser = selenium.Chrome(options=options, service=selenium.ChromeService(driver))
    browser.set_page_load_timeout(DEADLINE)
    return browser


def picture(browser: Any, file: Path | None = None) -> NDArray[np.int64]:
    """(height, width, 3) what is seen now; kept as a file when it has a name."""
    from PIL import Image
    from selenium.common.exceptions import TimeoutException

    def drawn() -> Any:
        try:
            return browser.get_screenshot_as_png()
        except TimeoutException:  # the machine is too busy to draw: ask again
            return None

    data = wait_for(drawn, "a screenshot")
    if file is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB")).astype(int)


def close_notices(browser: Any) -> None:
    """The browser draws without a graphics card; viser says so."""
    for button in browser.find_elements("css selector", ".mantine-Notification-closeButton"):
        button.click()


def wait_for(condition: Callable[[], Any], what: str, seconds: float = DEADLINE) -> Any:
    """Until ``condition`` is truthy; its value."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.1)
    raise TimeoutError(f"{what} did not happen within {seconds:g} s")
