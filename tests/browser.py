"""A headless Chromium for the tests of pages: fresh profile, no network, found on the machine or not at all."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

Browser = Callable[..., AbstractContextManager[Any]]
"""Starts a browser."""
ARGUMENTS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--host-resolver-rules=MAP * ~NOTFOUND",
)


def binaries() -> tuple[str, str] | None:
    """Chromium and its driver; None where one of them is not installed."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    return (browser, driver) if browser and driver else None


@contextmanager
def chromium(profile: Path, *, width: int = 1280, height: int = 900, dark: bool = False) -> Iterator[Any]:
    """A browser of that window size and colour scheme; `profile` is an empty directory."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    found = binaries()
    assert found is not None, "the caller skips where there is no browser"
    options = webdriver.ChromeOptions()
    options.binary_location = found[0]
    for argument in (*ARGUMENTS, f"--user-data-dir={profile}", f"--window-size={width},{height}"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(found[1]))
    try:
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": scheme})
        yield driver
    finally:
        driver.quit()
