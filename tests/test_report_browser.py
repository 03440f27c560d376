"""The report in a real browser: nothing of a recording runs, nothing breaks the layout, and the views are there."""

from __future__ import annotations

import io
import time
from pathlib import Path
from typing import Any

import pytest
from browser import Browser
from report_pool import ATTACKS, hostile, ordinary

from bestofn.catalogue import load_pool
from bestofn.report.html import LIMIT, report

pytestmark = pytest.mark.browser
OPEN_ALL = """
// What is out of view is laid out as well, so that all of it is measured.
const sheet = document.styleSheets[0];
sheet.insertRule('.task { content-visibility: visible !important }', sheet.cssRules.length);
for (const details of document.querySelectorAll('details')) details.open = true;
"""
UNFOLD = "for (const b of document.querySelectorAll('.piece button')) if (b.ariaExpanded === 'false') b.click();"


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The report of the ordinary pool and that of the hostile one."""
    folder = tmp_path_factory.mktemp("pages")
    found = []
    for make in (ordinary, hostile):
        page = folder / f"{make.__name__}.html"
        page.write_text(report(load_pool(make(folder / make.__name__)), null=5).html(), encoding="utf-8")
        found.append(page)
    return found[0], found[1]


def settle(driver: Any, script: str = OPEN_ALL) -> None:
    """Run a script, and let what it starts come to an end."""
    driver.execute_script(script)
    time.sleep(0.6)


def errors(driver: Any) -> list[str]:
    return [entry["message"] for entry in driver.get_log("browser")]


@pytest.mark.parametrize("width", [1280, 500])
def test_nothing_of_a_hostile_recording_runs_or_breaks_the_layout(
    pages: tuple[Path, Path], browser: Browser, width: int
) -> None:
    """With everything opened and unfolded: no script ran, no element was made, no page is wider than its window."""
    with browser(width=width) as driver:
        driver.get(pages[1].as_uri())
        title = driver.title
        settle(driver)
        settle(driver, UNFOLD)
        assert driver.execute_script("return typeof window.pwned") == "undefined"
        assert driver.title == title
        assert driver.current_url == pages[1].as_uri()
        made = "script:not([type='application/json']), style, link, img, iframe, object, embed, base, animate, #broken"
        assert driver.execute_script(f"return [...document.querySelectorAll(`{made}`)].map(e => e.localName)") == [
            "style",
            "script",
        ]
        handlers = (
            "[...document.querySelectorAll('*')].flatMap(e => e.getAttributeNames()).filter(n => /^on|^style$/.test(n))"
        )
        assert driver.execute_script(f"return {handlers}") == []
        links = (
            "[...document.querySelectorAll('[href]')].map(e => e.getAttribute('href')).filter(h => !h.startsWith('#'))"
        )
        assert driver.execute_script(f"return {links}") == []
        text = driver.execute_script(
            "return [...document.body.children].filter(e => e.localName !== 'script').map(e => e.textContent).join('')"
        )
        assert not set("\u202e\u2066\u200b\ufeff\u061c\x1b\x9b") & set(text)
        assert "\u27e8U+202E\u27e9" in text
        assert "<script>window.pwned=1" in text, "what attacks is shown as text"
        sizes = driver.execute_script("return [document.documentElement.scrollWidth, window.innerWidth]")
        assert sizes[0] <= sizes[1]
        tall = "[...document.querySelectorAll('.task > summary')].map(e => e.getBoundingClientRect().height)"
        assert max(driver.execute_script(f"return {tall}")) < 900
        assert [message for message in errors(driver) if "favicon" not in message] == []


def test_the_policy_stops_what_would_slip_through(pages: tuple[Path, Path], browser: Browser, tmp_path: Path) -> None:
    """Attacks written into the page unescaped do not run either: the policy is a wall of its own."""
    page = tmp_path / "breached.html"
    raw = "".join(attack for attack in ATTACKS[:5])
    whole = pages[0].read_text(encoding="utf-8")
    page.write_text(
        whole.replace('<p class="lede">', f'{raw}<p class="lede" style="position:fixed" onclick="pwned=1">')
    )
    with browser() as driver:
        driver.get(page.as_uri())
        settle(driver, "document.querySelector('.lede').click()")
        assert driver.execute_script("return document.querySelectorAll('img').length") > 0, "the breach is there"
        assert driver.execute_script("return typeof window.pwned") == "undefined"
        assert driver.execute_script("return getComputedStyle(document.querySelector('.lede')).position") == "static"
        assert any("Content Security Policy" in message for message in errors(driver))


def test_the_main_views_are_drawn_in_light_and_dark(pages: tuple[Path, Path], browser: Browser) -> None:
    """Screenshots of the top, the plots and an open task hold ink on their scheme's paper, without an error."""
    from PIL import Image

    for dark in (False, True):
        with browser(dark=dark) as driver:
            driver.get(pages[0].as_uri())
            settle(driver, "document.documentElement.style.scrollBehavior = 'auto'")
            for view in (
                "header",
                "#evaluation",
                "#gap",
                "#null",
                "#within",
                "#codes",
                "#code-table",
                "#tasks",
                ".task",
            ):
                driver.execute_script(
                    "const e = document.querySelector(arguments[0]); if (e.localName === 'details') e.open = true;"
                    "e.scrollIntoView()",
                    view,
                )
                time.sleep(0.2)
                image = Image.open(io.BytesIO(driver.get_screenshot_as_png())).convert("L")
                histogram = image.histogram()
                paper = max(range(256), key=histogram.__getitem__)
                assert (paper < 60) if dark else (paper > 230), (view, paper)
                ink = sum(histogram[150:]) if dark else sum(histogram[:110])
                assert ink > 0.002 * image.width * image.height, view
            assert errors(driver) == []


def test_filters_and_search_narrow_the_tasks(pages: tuple[Path, Path], browser: Browser) -> None:
    """Swing tasks, a name, and words of a trajectory: each leaves the tasks that fit, and says how many."""
    visible = "return [...document.querySelectorAll('.task:not([hidden]) h3')].map(e => e.textContent)"
    with browser() as driver:
        driver.get(pages[0].as_uri())
        assert len(driver.execute_script(visible)) == 4
        settle(driver, "document.querySelector('input[value=tie]').click()")
        assert driver.execute_script(visible) == []
        assert driver.find_element("id", "none").is_displayed()
        settle(driver, "document.querySelector('input[value=swing]').click()")
        assert len(driver.execute_script(visible)) == 4
        driver.find_element("id", "find-task").send_keys("task2")
        time.sleep(0.5)
        assert driver.execute_script(visible) == ["task2"]
        assert driver.find_element("id", "shown").text == "1 of 4 tasks"
        settle(driver, "document.getElementById('find-task').value = ''")
        driver.find_element("id", "find-all").send_keys("ValueError: no such row")
        time.sleep(0.5)
        assert driver.find_element("id", "shown").text == "4 of 4 tasks, 4 trajectories"


def test_a_trajectory_is_folded_searchable_and_used_with_the_keyboard(
    pages: tuple[Path, Path], browser: Browser
) -> None:
    """Enter opens a task and a trajectory; a long text is folded until asked; a search marks what it finds."""
    from selenium.webdriver.common.keys import Keys

    with browser() as driver:
        driver.get(pages[0].as_uri())
        task = driver.find_element("css selector", ".task > summary")
        task.send_keys(Keys.ENTER)
        runs = driver.find_elements("css selector", ".task[open] .trajectory > summary")
        long = next(run for run in runs if "task0.b" in run.find_element("xpath", "../..").text)
        long.send_keys(Keys.ENTER)
        time.sleep(0.3)
        box = long.find_element("xpath", "..")
        button = box.find_element("css selector", ".piece button")
        assert button.get_attribute("aria-expanded") == "false"
        pre = button.find_element("xpath", "../pre")
        assert len(pre.text) < 2000
        button.send_keys(Keys.ENTER)
        assert button.get_attribute("aria-expanded") == "true"
        assert len(pre.text) >= 3000
        box.find_element("css selector", "input").send_keys("valueerror")
        time.sleep(0.5)
        assert {mark.text for mark in box.find_elements("css selector", "mark")} == {"ValueError"}
        assert "texts hold it" in box.find_element("css selector", "output").text


def test_without_javascript_all_but_the_trajectories_is_there(pages: tuple[Path, Path], browser: Browser) -> None:
    """Tables, plots and tasks are in the page itself, and filters that would do nothing are not shown."""
    with browser() as driver:
        driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
        driver.get(pages[0].as_uri())
        assert driver.find_element("css selector", ".evaluation").is_displayed()
        assert driver.find_element("css selector", "#gap svg").is_displayed()
        assert driver.find_element("css selector", "noscript").text.startswith("Filters, search")
        assert not driver.find_element("id", "filters").is_displayed()


def test_every_control_and_plot_has_a_name(pages: tuple[Path, Path], browser: Browser) -> None:
    """What a screen reader meets (inputs, buttons, plots, regions that scroll) says what it is; ids are unique."""
    with browser() as driver:
        driver.get(pages[0].as_uri())
        settle(driver)
        nodes = driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
        roles = {"button", "radio", "searchbox", "textbox", "img", "image", "link", "region", "table"}
        nameless = [
            node["role"]["value"]
            for node in nodes
            if not node.get("ignored") and node.get("role", {}).get("value") in roles - {"table"}
            and not node.get("name", {}).get("value")
        ]  # fmt: skip
        assert nameless == []
        ids = driver.execute_script("return [...document.querySelectorAll('[id]')].map(e => e.id)")
        assert len(ids) == len(set(ids))


@pytest.mark.shared
def test_a_large_pool_stays_small_and_opens(shared: Path, browser: Browser, tmp_path: Path) -> None:
    """445 trajectories come to less than 25 MB, and the browser has the page with all 89 tasks without an error."""
    page = tmp_path / "forge.html"
    page.write_text(report(load_pool(shared / "pools/tb2/forgecode"), null=0).html(), encoding="utf-8")
    assert page.stat().st_size < LIMIT
    with browser() as driver:
        driver.get(page.as_uri())
        assert len(driver.find_elements("css selector", ".task")) == 89
        assert errors(driver) == []
