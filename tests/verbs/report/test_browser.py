"""Pages in a real browser: Debian's Chromium without a window, driven by selenium."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import pytest

from tests.coldstart.command import score_in
from tests.evidence.test_command import files
from tests.verbs.report.analyses import HOSTILE, SHOWN, analysis, batch, page_in, write

pytestmark = pytest.mark.browser

CHROMIUM: Final = shutil.which("chromium")
DRIVER: Final = shutil.which("chromedriver")

if CHROMIUM is None or DRIVER is None or find_spec("selenium") is None:
    pytest.skip(
        "pages are not looked at: there is no chromium with chromedriver, or no selenium", allow_module_level=True
    )

FOCUSABLE: Final = "a[href], button, input, summary, [tabindex='0']"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from selenium.webdriver import Chrome, ChromeOptions
    from selenium.webdriver.chrome.service import Service

    options = ChromeOptions()
    options.binary_location = CHROMIUM or ""
    for switch in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(switch)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    # Its sockets lie in the temporary folder, whose path may be too long for them.
    service = Service(DRIVER, env={**os.environ, "TMPDIR": "/tmp"})
    driver = Chrome(options=options, service=service)
    driver.execute_cdp_cmd("Network.enable", {})
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Addresses of a page of 120 mistakes, of a small one, and of one whose every text is hostile."""
    found = {}
    for name, value in (("plain", analysis()), ("small", analysis(9)), ("hostile", analysis(9, HOSTILE))):
        folder = tmp_path_factory.mktemp(name)
        page_in(folder, value)
        found[name] = (folder / "page.html").as_uri()
    for name, value in (("batch", batch()), ("hostile batch", batch(HOSTILE))):
        folder = tmp_path_factory.mktemp("batch")
        write(folder, value)
        assert score_in(folder, ["report", "analysis.json", "-o", "index.html"]).status == 0
        found[name] = (folder / "index.html").as_uri()
    found["difference"] = difference_in(tmp_path_factory.mktemp("difference"))
    return found


def difference_in(folder: Path) -> str:
    """The address of the page of predictions and of the same without evidence."""
    gold, predictions = files("scifact")
    without = [json.dumps(json.loads(line) | {"evidence": {}}) for line in predictions.read_text().splitlines()]
    (folder / "without.jsonl").write_text("\n".join(without))
    words = ["report", "scifact", "--compare", "--gold", str(gold), str(predictions), "without.jsonl"]
    assert score_in(folder, [*words, "--bootstrap", "99", "-o", "page.html"]).status == 0
    return (folder / "page.html").as_uri()


@pytest.fixture
def page(browser: Any, pages: dict[str, str]) -> Any:
    opened(browser, pages["plain"])
    return browser


def opened(browser: Any, address: str, width: int = 1400, scheme: str = "light") -> None:
    """Load an address anew, in a window of so many pixels."""
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media(scheme=scheme))
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.get("about:blank")
    browser.get_log("browser")
    browser.get_log("performance")
    browser.get(address)


def media(kind: str = "", scheme: str = "light") -> dict[str, object]:
    return {"media": kind, "features": [{"name": "prefers-color-scheme", "value": scheme}]}


def find(browser: Any, selector: str) -> Any:
    return browser.find_element("css selector", selector)


def texts(browser: Any, selector: str) -> list[str]:
    """The texts of all that a selector finds, also where it is not on the screen."""
    found: list[str] = browser.execute_script(
        "return [...document.querySelectorAll(arguments[0])].map((each) => each.textContent)", selector
    )
    return found


def column(browser: Any, table: str, key: str) -> list[str]:
    """The cells of a column that are shown, by its key."""
    keys: list[str] = browser.execute_script(
        "return [...document.querySelectorAll(arguments[0])].map((each) => each.dataset.key)", f"#{table} th"
    )
    return texts(browser, f"#{table} tbody tr td:nth-child({keys.index(key) + 1})")


def click(browser: Any, element: Any) -> None:
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)
    element.click()


def heading(browser: Any, table: str, key: str) -> Any:
    return find(browser, f"#{table} th[data-key={key}] button")


@pytest.mark.parametrize("name", ["plain", "hostile", "batch", "hostile batch", "difference"])
def test_a_page_loads_without_complaints_and_without_requests(name: str, browser: Any, pages: dict[str, str]) -> None:
    opened(browser, pages[name])
    assert browser.get_log("browser") == []
    sent = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    urls = {each["params"]["request"]["url"] for each in sent if each["method"] == "Network.requestWillBeSent"}
    assert urls <= {pages[name]}


def test_hostile_text_is_shown_and_does_nothing(browser: Any, pages: dict[str, str]) -> None:
    opened(browser, pages["hostile"])
    assert browser.execute_script("return window.taken") is None
    assert browser.execute_script("return document.images.length") == 0
    assert find(browser, "h1").text == SHOWN
    assert column(browser, "mistakes", "value") == [SHOWN] * 9
    click(browser, find(browser, "#units a"))
    assert browser.execute_script("return window.taken") is None
    assert len(column(browser, "mistakes", "value")) == 1
    click(browser, opener(browser, "mistakes"))
    assert SHOWN.replace("\\\\", "\\") in told(browser, "mistakes").text
    assert browser.execute_script("return [window.taken, document.images.length]") == [None, 0]


def test_a_heading_sorts_both_ways_and_the_address_keeps_it(page: Any, pages: dict[str, str]) -> None:
    gains = sorted(row["gain"] for row in analysis()["mistakes"] if row["gain"] is not None)
    click(page, heading(page, "mistakes", "gain"))
    assert column(page, "mistakes", "gain") == [f"{gain:+.4f}" for gain in gains[:25]]
    assert find(page, "#mistakes th[data-key=gain]").get_attribute("aria-sort") == "ascending"
    click(page, heading(page, "mistakes", "gain"))
    downwards = column(page, "mistakes", "gain")
    assert downwards == [f"{gain:+.4f}" for gain in reversed(gains)][:25]
    address = page.current_url
    assert address != pages["plain"]
    opened(page, address)
    assert column(page, "mistakes", "gain") == downwards
    click(page, heading(page, "mistakes", "gain"))
    assert column(page, "mistakes", "gain")[3] == ""


def test_a_bar_of_the_budget_opens_its_mistakes_and_a_mistake_its_effects(page: Any) -> None:
    click(page, find(page, "#budget tbody tr:nth-child(3) a"))
    assert set(column(page, "mistakes", "category")) == {"MISSED"}
    assert page.execute_script("return document.activeElement.textContent").endswith("Category MISSED")
    details = find(page, "#mistakes details")
    click(page, details.find_element("css selector", "summary"))
    assert details.get_attribute("open") is not None
    assert "-0.0156" in details.text
    click(page, find(page, "#mistakes .tools button:not([aria-label])"))
    assert len(column(page, "mistakes", "category")) == 25
    assert set(column(page, "mistakes", "category")) == {"MISSED", "INCORRECT"}


def opener(browser: Any, table: str, row: int = 1) -> Any:
    return find(browser, f"#{table} tbody tr:nth-child({row}) button.opener")


def told(browser: Any, table: str) -> Any:
    """What has opened in a table, once it is there."""
    from selenium.webdriver.support.ui import WebDriverWait

    return WebDriverWait(browser, 10).until(lambda driver: find(driver, f"#{table} tr.opened .steps"))


def test_a_place_opens_what_explain_tells_and_the_address_keeps_it(page: Any) -> None:
    click(page, opener(page, "mistakes"))
    box = told(page, "mistakes")
    assert box.text.splitlines() == ["Read (rule lines)", "Bo stands there", "Label: wrong, Bo"]
    assert len(box.find_elements("css selector", "ul ul li")) == 1
    assert opener(page, "mistakes").get_attribute("aria-expanded") == "true"
    address = page.current_url
    opened(page, address)
    assert told(page, "mistakes").text.startswith("Read (rule lines)")
    click(page, opener(page, "mistakes"))
    assert page.find_elements("css selector", "#mistakes tr.opened") == []
    assert page.execute_script("return document.activeElement.className") == "opener"
    assert page.current_url != address


def test_a_query_opens_its_lines_and_a_line_its_text(page: Any) -> None:
    from selenium.webdriver import Keys

    query = find(page, "#units tbody tr:nth-child(1) button.opener")
    query.send_keys(Keys.ENTER)
    box = told(page, "units")
    assert box.find_element("css selector", "svg").is_displayed()
    number = sum(row["query"] == query.text and row["kind"] == "line" for row in analysis()["mistakes"])
    assert f"Lines ({number})" in box.text
    line = box.find_elements("css selector", "details")[-1]
    assert "Label" not in line.text
    click(page, line.find_element("css selector", "summary"))
    assert line.text.splitlines()[0].startswith("wrong (INCORRECT): Bo, Bo line ")
    assert line.text.splitlines()[-1] == "Label: wrong, Bo"
    assert column(page, "units", "unit")[0] == query.text


def test_rows_are_copied_with_exact_numbers_and_no_formulas(browser: Any, tmp_path: Path) -> None:
    value = analysis(3)
    value["mistakes"][0] |= {"value": "=1+1", "gain": 1 / 3}
    page_in(tmp_path, value)
    opened(browser, (tmp_path / "page.html").as_uri())
    clipboard = "{value: {writeText: (text) => (window.copied = text, Promise.resolve())}}"
    browser.execute_script(f"Object.defineProperty(navigator, 'clipboard', {clipboard})")
    click(browser, find(browser, "#mistakes .tools button[aria-label^=Copy]"))
    rows = [line.split("\t") for line in browser.execute_script("return window.copied").splitlines()]
    assert [len(row) for row in rows] == [10] * 4
    assert (rows[0][0], rows[0][7]) == ("Gain", "Value")
    assert (rows[1][0], rows[1][7]) == (repr(1 / 3), "'=1+1")


def test_without_scripts_tables_are_plain_and_whole(browser: Any, pages: dict[str, str]) -> None:
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        opened(browser, pages["plain"])
        assert len(browser.find_elements("css selector", "#mistakes tbody tr")) == 120
        assert browser.find_elements("css selector", "button, input") == []
        find(browser, "#budget a").click()
        assert browser.current_url.endswith("#mistakes")
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_the_keyboard_reaches_every_control(page: Any) -> None:
    from selenium.webdriver import ActionChains, Keys

    page.execute_script(
        "window.all = [...document.querySelectorAll(arguments[0])].filter((e) => e.checkVisibility() && !e.disabled)",
        FOCUSABLE,
    )
    count = page.execute_script("return all.length")
    assert count > 80
    page.execute_script("window.seen = new Set(); document.addEventListener('focusin', (e) => seen.add(e.target))")
    ActionChains(page, duration=0).send_keys(Keys.TAB * (count + 2)).perform()
    assert page.execute_script("return all.filter((e) => !seen.has(e)).map((e) => e.outerHTML)") == []
    head = heading(page, "mistakes", "gain")
    head.send_keys(Keys.ENTER)
    assert find(page, "#mistakes th[data-key=gain]").get_attribute("aria-sort") == "ascending"


def test_a_cell_of_the_heat_map_leads_to_the_run_at_that_query(browser: Any, tmp_path: Path) -> None:
    value = batch()
    value["queries"] = [row | {"unit": "LDCBo3"} for row in value["queries"][:1]]
    write(tmp_path, value)
    assert score_in(tmp_path, ["report", "analysis.json", "-o", "index.html"]).status == 0
    folder = tmp_path / "strict" / "alpha"
    folder.mkdir(parents=True)
    page_in(folder, analysis())
    (folder / "page.html").rename(folder / "out.html")
    opened(browser, (tmp_path / "index.html").as_uri())
    click(browser, find(browser, "#units td.shade0 a"))
    assert browser.current_url.startswith((folder / "out.html").as_uri())
    assert column(browser, "units", "ldc") == ["LDCBo3"]
    assert browser.execute_script("return document.getElementById('units').getBoundingClientRect().top") < 900


def test_the_cost_list_comes_first_and_does_not_scroll_sideways(page: Any) -> None:
    sections = page.execute_script("return [...document.querySelectorAll('main > section')].map((each) => each.id)")
    assert sections[:2] == ["scores", "costs"]
    wide, room = page.execute_script(
        "const box = document.querySelector('#mistakes .box'); return [box.scrollWidth, box.clientWidth]"
    )
    assert wide <= room


@pytest.mark.parametrize("name", ["plain", "batch", "difference"])
def test_texts_of_charts_are_large_enough_on_a_telephone(name: str, browser: Any, pages: dict[str, str]) -> None:
    opened(browser, pages[name], width=400)
    sizes = browser.execute_script(
        "return [...document.querySelectorAll('figure .chart text')].map((text) =>"
        " parseFloat(getComputedStyle(text).fontSize) * text.ownerSVGElement.clientWidth / 420)"
    )
    assert sizes
    assert min(sizes) >= 11


def test_printed_tables_are_not_cut_and_have_no_arrows(page: Any) -> None:
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", media("print"))
    page.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": 720, "height": 1000, "deviceScaleFactor": 1, "mobile": False}
    )
    right = page.execute_script(
        "return Math.max(...[...document.querySelectorAll('table')].map((each) => each.getBoundingClientRect().right))"
    )
    arrow = page.execute_script(
        "return getComputedStyle(document.querySelector('#mistakes th button'), '::after').content"
    )
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", media())
    assert right <= 720
    assert arrow == "none"


@pytest.mark.parametrize("name", ["small", "batch", "difference"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(scheme: str, name: str, browser: Any, pages: dict[str, str]) -> None:
    found = find_spec("axe_core_python")
    if found is None or found.origin is None:
        pytest.skip("accessibility is not checked: there is no axe-core-python")
    opened(browser, pages[name], scheme=scheme)
    if name == "small":
        click(browser, opener(browser, "units"))
        told(browser, "units")
    axe = Path(found.origin).parent / "axe.min.js"
    browser.execute_script(axe.read_text("utf-8"))
    result = browser.execute_async_script("const done = arguments[0]; axe.run().then((r) => done(r.violations))")
    assert [
        (each["id"], each["nodes"][0]["html"]) for each in result if each["impact"] in ("serious", "critical")
    ] == []
