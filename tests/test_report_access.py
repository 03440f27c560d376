"""The report for everybody: colours that can be read, every control by keyboard, narrow screens, paper."""

from __future__ import annotations

import base64
import re
import time
from pathlib import Path
from typing import Any

import pytest
from browser import Browser
from judged_pool import honest, write_pool
from report_pool import ordinary
from scripted_server import ScriptedServer

from bestofn.catalogue import load_pool
from bestofn.judge.judging import judge
from bestofn.judge.showing import Showing
from bestofn.llm.cache import IN_MEMORY, Cache
from bestofn.llm.client import Client
from bestofn.llm.prices import Price
from bestofn.report.html import report
from bestofn.scoring import score_pool

pytestmark = pytest.mark.browser
ENOUGH = 4.5
"""Contrast of text against what is behind it, at least (WCAG 2, AA)."""
CONTRASTS = """
// [ratio, what] of every text that is shown, the worst first.
const channel = v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
const read = text => {
  const n = text.match(/[\\d.]+/g).map(Number);
  return [n[0], n[1], n[2], n.length > 3 ? n[3] : 1];
};
const over = (top, below) => [0, 1, 2].map(i => top[i] * top[3] + below[i] * (1 - top[3]));
const behind = element => {
  const layers = [];
  for (let e = element; e; e = e.parentElement) {
    const colour = read(getComputedStyle(e).backgroundColor);
    if (colour[3] > 0) layers.push(colour);
    if (colour[3] === 1) break;
  }
  return layers.reduceRight((below, top) => over(top, below), [255, 255, 255]);
};
const found = [], seen = new Set();
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
for (let node = walker.nextNode(); node; node = walker.nextNode()) {
  const element = node.parentElement;
  if (!node.data.trim() || element.closest('script, noscript, desc, title')) continue;
  if (!element.getClientRects().length) continue;
  if (!element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
  const style = getComputedStyle(element), drawn = element.ownerSVGElement ? style.fill : style.color;
  const what = element.localName + '.' + (element.getAttribute('class') || '') + ' < ' + element.parentElement.localName
    + '.' + (element.parentElement.getAttribute('class') || '') + ' ' + drawn;
  if (drawn === 'none' || seen.has(what)) continue;
  seen.add(what);
  const paper = behind(element), ink = over(read(drawn), paper);
  const [a, b] = [light(ink), light(paper)].sort((x, y) => y - x);
  found.push([(a + 0.05) / (b + 0.05), what + ': ' + node.data.trim().slice(0, 30)]);
}
return found.sort((x, y) => x[0] - y[0]);
"""
OPEN_ALL = """
const sheet = document.styleSheets[0];
sheet.insertRule('.task { content-visibility: visible !important }', sheet.cssRules.length);
for (const details of document.querySelectorAll('details')) details.open = true;
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report with all that a report can hold: judged columns, ties, unknown outcomes, wrong picks, long texts."""
    folder = tmp_path_factory.mktemp("page")
    root = ordinary(folder / "mine")
    write_pool(root, {"t1": "TCA", "t2": "BSD", "t3": "CC"}, {"t1.a1": 1.0, "t1.a2": 0.0})
    record = (root / "t3.jsonl").read_text().replace('"reward": 1.0', '"reward": null', 1)
    (root / "t3.jsonl").write_text(record)
    pool = load_pool(root)
    table = score_pool(pool, jobs=1).table
    server = ScriptedServer(lambda body, n: honest(body, n))
    try:
        from bestofn.criteria import load

        client = Client("j", cache=Cache(IN_MEMORY), base_url=server.url, price=Price(1.0, 5.0))
        judged = load_pool(write_pool(folder / "judged", {"t1": "TCA", "t2": "BSD", "t3": "CC"}))
        table = judge(judged, [load("terminal")], client, Showing()).onto(table)
        client.close()
    finally:
        server.stop()
    made = folder / "report.html"
    made.write_text(report(pool, table=table, null=5).html(), encoding="utf-8")
    return made


def settle(driver: Any, script: str = OPEN_ALL) -> None:
    """Run a script, and let what it starts come to an end."""
    driver.execute_script(script)
    time.sleep(0.6)


def printing(driver: Any, width: int = 718) -> None:
    """As on paper: A4 less its margins."""
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    narrow(driver, width)


def narrow(driver: Any, width: int) -> None:
    """A window of this width; real ones have a least width."""
    driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    )


@pytest.mark.parametrize("scheme", ["light", "dark", "print"])
def test_every_text_stands_out_against_what_is_behind_it(page: Path, browser: Browser, scheme: str) -> None:
    """Contrast of at least 4.5 to 1 for all text, plots included, with everything opened, searched and marked."""
    with browser(dark=scheme == "dark") as driver:
        driver.get(page.as_uri())
        settle(driver)
        driver.find_element("id", "find-all").send_keys("look around")
        time.sleep(0.5)
        settle(driver, "for (const i of document.querySelectorAll('.tools input')) { i.value = 'look'; "
                       "i.dispatchEvent(new Event('input')); }")  # fmt: skip
        if scheme == "print":
            printing(driver)
        found = driver.execute_script(CONTRASTS)
        assert len(found) > (60 if scheme != "print" else 50)
        assert [what for ratio, what in found if ratio < ENOUGH] == []
        classes = " ".join(what for _, what in found)
        assert all(name in classes for name in ("soft", "tag", "mark", "note", "fill-ink", "ci-text", "picked", "read"))


def test_every_control_is_reached_and_used_by_keyboard(page: Path, browser: Browser) -> None:
    """Tab comes to every link, filter, search, fold, button and region that scrolls, and shows where it is."""
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys

    with browser() as driver:
        driver.get(page.as_uri())
        settle(driver, "document.querySelector('.task').open = true; "
                       "document.querySelector('.task .trajectory').open = true;")  # fmt: skip
        wanted = driver.execute_script(
            "const all = `a[href], summary, button, input[type=search], [tabindex='0']`;"
            "window.wanted = [...document.querySelectorAll(all)].filter(e => e.checkVisibility());"
            "return window.wanted.length"
        )
        assert wanted > 30
        for _ in range(wanted + 40):
            ActionChains(driver).send_keys(Keys.TAB).perform()
            driver.execute_script(
                "const e = document.activeElement; e.reached = true; const { outlineStyle, outlineWidth } ="
                "getComputedStyle(e); const lit = outlineStyle !== 'none' && parseFloat(outlineWidth) >= 1;"
                "if (e !== document.body && !lit) e.dark = true"
            )
        left = "window.wanted.filter(e => !e.reached).map(e => e.localName + ' ' + e.textContent.slice(0, 40))"
        assert driver.execute_script(f"return {left}") == []
        unseen = "[...document.querySelectorAll('*')].filter(e => e.dark).map(e => e.localName + '.' + e.className)"
        assert driver.execute_script(f"return {unseen}") == [], "focus is shown everywhere"
        radio = "document.querySelector('input[name=flag]:checked').value"
        driver.execute_script("document.querySelector('input[name=flag]').focus()")
        flags = []
        for _ in range(4):
            ActionChains(driver).send_keys(Keys.ARROW_RIGHT).perform()
            flags.append(driver.execute_script(f"return {radio}"))
        assert flags == ["swing", "wrong", "tie", "missing"]
        ActionChains(driver).send_keys(Keys.TAB).perform()
        assert driver.execute_script("return document.activeElement.id") == "find-task"


@pytest.mark.parametrize("width", [400, 320])
def test_nothing_is_wider_than_a_narrow_screen(page: Path, browser: Browser, width: int) -> None:
    """With everything opened the page scrolls one way only; wide tables scroll within themselves."""
    with browser() as driver:
        narrow(driver, width)
        driver.get(page.as_uri())
        settle(driver)
        sizes = driver.execute_script("return [document.documentElement.scrollWidth, window.innerWidth]")
        assert sizes == [width, width]
        cut = (
            "[...document.querySelectorAll('body *')].filter(e => !e.closest('.scroll, svg, pre')"
            f" && e.checkVisibility() && e.getBoundingClientRect().right > {width} + 1 && !e.matches('.skip'))"
            ".map(e => e.localName + '.' + e.className)"
        )
        assert driver.execute_script(f"return {cut}") == []


def test_paper_shows_what_matters_and_says_what_it_leaves_out(page: Path, browser: Browser) -> None:
    """Tables, plots and picks are on the page within its width; controls are not; folded parts are said to be."""
    with browser(dark=True) as driver:
        driver.get(page.as_uri())
        printing(driver)
        assert driver.execute_script("return getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        shown = "[...document.querySelectorAll(arguments[0])].filter(e => e.checkVisibility()).length"
        for what, n in (
            (".evaluation tbody tr", 10), ("figure .plot", 5), ("#code-table tbody tr", 1), (".task .pick", 7),
            (".task .why", 7), (".figures dd", 4), ("footer dd", 3), (".on-paper", 1),
        ):  # fmt: skip
            assert driver.execute_script(f"return {shown}", what) >= n, what
        for what in ("nav", ".filters", ".skip", "button", ".tools"):
            assert driver.execute_script(f"return {shown}", what) == 0, what
        assert "folded is left out" in driver.find_element("css selector", ".on-paper").text
        settle(driver)
        wide = (
            "[...document.querySelectorAll('table, figure, .plot, .task, pre')].filter(e => e.checkVisibility() && "
            "e.getBoundingClientRect().right > window.innerWidth + 1).map(e => e.localName + '.' + "
            "(e.getAttribute('class') || '') + ' ' + Math.round(e.getBoundingClientRect().right))"
        )
        assert driver.execute_script(f"return {wide}") == []
        assert driver.execute_script(f"return {shown}", ".trajectory .piece pre") > 20, "what is open is printed"
        paper = base64.b64decode(driver.execute_cdp_cmd("Page.printToPDF", {})["data"])
        assert len(re.findall(rb"/Type\s*/Page\b", paper)) > 5


def test_the_note_for_paper_is_not_on_the_screen(page: Path, browser: Browser) -> None:
    """It would tell the reader of a page what the page does not do."""
    with browser() as driver:
        driver.get(page.as_uri())
        assert not driver.find_element("css selector", ".on-paper").is_displayed()
