"""Pages of runs in a browser: Debian's Chromium, headless and offline. Any request fails a test."""

from __future__ import annotations

import base64
import itertools
import json
import os
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import floodway as package
from floodway.results.feedback import pause_spans
from floodway.simulation.report import report
from floodway.simulation.run import with_report_records
from scenarios import RAILS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from floodway.simulation.analysis import Result

webdriver = pytest.importorskip(
    "selenium.webdriver", reason="selenium is not installed: requirements/dev.lock"
)

ROOT = Path(__file__).parent.parent
TREE = ROOT / "scenarios" / "concepts" / "congestion-tree.toml"
WIDTHS = (400, 900, 1400)
#: Pictures are kept in this folder, if there is one.
KEPT = os.environ.get("FLOODWAY_SCREENSHOTS")
EVIL = "<script>window.own = 1</script><img src=x onerror=own=1>"


class Browser:
    """A page in Chromium, and what it asked the network for."""

    def __init__(self, driver: Any) -> None:  # noqa: ANN401 (of a library without types)
        self.driver = driver
        driver.execute_cdp_cmd("Network.enable", {})
        driver.execute_cdp_cmd(
            "Network.emulateNetworkConditions",
            {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0},
        )

    def open(self, page: Path, *, width: int = 1200, theme: str = "light") -> float:
        """Open a page and return the seconds until it is ready."""
        self.driver.execute_cdp_cmd(
            "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": theme}]}
        )
        self.driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False},
        )
        self.driver.get_log("performance")
        started = time.monotonic()
        self.driver.get(page.as_uri())
        while self("return document.getElementById('report').hasAttribute('aria-busy')"):
            assert time.monotonic() < started + 30
            time.sleep(0.02)
        return time.monotonic() - started

    def __call__(self, script: str, *arguments: object) -> Any:  # noqa: ANN401 (what a script returns)
        return self.driver.execute_script(script, *arguments)

    def requests(self) -> list[str]:
        """Return what was asked for since the page was opened, without the page itself."""
        messages = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        sent = [each["params"] for each in messages if each["method"] == "Network.requestWillBeSent"]
        urls = [each["request"]["url"] for each in sent if each.get("type") != "Document"]
        return [url for url in urls if not url.startswith("data:")]

    def errors(self) -> list[str]:
        """Return what the console says."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def set_time(self, time_us: float, end_us: float) -> None:
        """Move the slider."""
        self(
            "const s = document.getElementById('time'); s.value = arguments[0];"
            "s.dispatchEvent(new Event('input'))",
            1000 * time_us / end_us,
        )

    def branches(self, run: int = 0) -> list[str]:
        """Return the ports of the congestion tree in the page's order."""
        script = "return [...document.querySelectorAll('.run')[arguments[0]].querySelectorAll('.branches li[data-port]')].map(e => e.dataset.port)"  # noqa: E501
        return list(self(script, run))

    def press(self, key: str) -> None:
        """Press a key."""
        script = (
            "document.body.dispatchEvent(new KeyboardEvent('keydown', {key: arguments[0], bubbles: true}))"
        )
        self(script, key)

    def picture(self) -> bytes:
        """Return the whole page as PNG."""
        size = self.driver.execute_cdp_cmd("Page.getLayoutMetrics", {})["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        shot = self.driver.execute_cdp_cmd(
            "Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip}
        )
        return base64.b64decode(shot["data"])


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    program, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if program is None or driver is None:
        pytest.skip("Chromium is not installed (Debian: chromium, chromium-driver)")
    options = webdriver.ChromeOptions()
    for argument in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--hide-scrollbars",
    ):
        options.add_argument(argument)
    options.binary_location = program
    options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
    made = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    try:
        yield Browser(made)
    finally:
        made.quit()


@pytest.fixture(scope="module")
def tree() -> Result:
    return package.run(with_report_records(package.load(TREE)))


@pytest.fixture(scope="module")
def finished() -> Result:
    """The same tree of flows that finish."""
    small = package.load(TREE, sets=[("workload.incast.burst.size", "60KB")])
    return package.run(with_report_records(small))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pages")


def written(folder: Path, name: str, page: str) -> Path:
    file = folder / f"{name}.html"
    file.write_text(page)
    return file


def test_the_slider_moves_and_nothing_is_requested(browser: Browser, tree: Result, folder: Path) -> None:
    browser.open(written(folder, "slider", report({"tree": tree}, flows=[])))
    browser.set_time(150, 300)
    assert browser("return document.querySelector('.clock').textContent").startswith("150.00 of 300")
    browser.press("Home")
    assert browser("return document.querySelector('.clock').textContent").startswith("0.00 of 300")
    browser.press("ArrowRight")
    assert browser("return document.querySelector('.clock').textContent").startswith("1.00 of 300")
    before = int(browser("return document.documentElement.dataset.drawn"))
    browser.press(" ")
    time.sleep(1.0)
    browser.press(" ")
    assert int(browser("return document.documentElement.dataset.drawn")) > before + 3
    assert browser("return Number(document.getElementById('time').value)") > 10
    assert browser.requests() == []
    assert browser.errors() == []


def test_a_congestion_tree_grows_in_the_order_of_the_records(
    browser: Browser, tree: Result, folder: Path
) -> None:
    browser.open(written(folder, "tree", report({"tree": tree}, flows=[])))
    seen: list[str] = []
    for frame in range(45):
        browser.set_time(frame + 0.5, 300)
        browser("document.querySelector('.trees .all')?.click()")
        seen += [port for port in browser.branches() if port not in seen]
    spans = pause_spans(tree).sort("from_us", "object")
    first = spans.filter(pl.col("from_us") < 45)["object"].unique(maintain_order=True)
    began = dict(spans.group_by("object").agg(pl.col("from_us").min()).iter_rows())
    recorded = [name.partition(": ")[2] for name in first]
    assert sorted(seen) == sorted(recorded)
    times = {name.partition(": ")[2]: when for name, when in began.items()}
    assert [times[port] for port in seen] == sorted(times[port] for port in recorded)
    browser.set_time(20.5, 300)
    assert browser("return document.querySelector('.root').dataset.root") == "t8>h16"


def test_parts_of_a_flow_are_those_of_why(browser: Browser, finished: Result, folder: Path) -> None:
    browser.open(written(folder, "why", report({"run": finished}, flows=["worst"])))
    script = (
        "return [...document.querySelectorAll('.parts tbody tr')].map(e => [e.dataset.cause,"
        " e.dataset.port, e.dataset.origin, e.dataset.ps])"
    )
    shown = [tuple(row) for row in browser(script)]
    why = finished.why("worst")
    parts = [(part.cause, part.port or "", part.origin or "", str(part.time_ps)) for part in why.parts]
    assert sorted(shown) == sorted(parts)
    assert sum(int(row[3]) for row in shown) == why.fct_ps
    assert browser("return document.querySelector('.parts .sum').dataset.ps") == str(why.fct_ps)
    assert (
        browser("return document.querySelector('.parts .sum').textContent")
        == f"{(why.fct_ps + 500) // 1000 / 1000:,.3f}"
    )
    hidden = browser("return [...document.querySelectorAll('.parts .more')].map(e => Number(e.dataset.ps))")
    button = browser("return document.querySelector('.chosen button.all').textContent")
    assert button == f"{len(hidden)} more, together {(sum(hidden) + 500) // 1000 / 1000:,.3f} us"
    # By port: queueing there, and pauses that began there. With the rest they are the completion time.
    due: dict[str, int] = {}
    for part in why.parts:
        key = {"queueing": part.port, "paused": part.origin}.get(part.cause) or part.cause
        due[key.partition(": ")[2] or key] = due.get(key.partition(": ")[2] or key, 0) + part.time_ps
    script = (
        "return [...document.querySelectorAll('.by-port tbody tr')].map(e => ["
        "e.querySelector('[data-goto]')?.dataset.goto ?? e.dataset.by, e.dataset.ps])"
    )
    by_port = {name: int(ps) for name, ps in browser(script)}
    assert sum(by_port.values()) == why.fct_ps
    assert "others" in by_port or by_port == due
    assert all(due[name] == ps for name, ps in by_port.items() if name != "others")
    worst = max((name for name in due if ">" in name), key=lambda name: due[name])
    sentence = browser("return document.querySelector('.sentence').textContent")
    assert f"{worst} cost {100 * due[worst] / why.fct_ps:.1f} % of the time" in sentence
    assert browser("return document.querySelector('.sentence [data-goto]').dataset.goto") == worst


def test_phases_of_a_job_select_their_time(browser: Browser, folder: Path) -> None:
    result = package.run(with_report_records(package.Scenario.from_toml(RAILS, name="rails")))
    browser.open(written(folder, "rails", report({"rails": result}, flows=[])))
    names = browser("return [...document.querySelectorAll('.phases tbody button')].map(e => e.textContent)")
    places = ["within nodes", "between nodes", "within nodes"]
    assert names == [f"all-reduce 1MB, {place}" for place in places]
    browser("document.querySelectorAll('.phases tbody button')[1].click()")
    phase = result.critical_path("job:0").phases[1]
    chip = browser("return document.querySelector('.chips button').textContent")
    assert chip == f"{phase.from_ps / 1e6:.3f} us to {phase.to_ps / 1e6:.3f} us x"
    assert browser("return document.querySelectorAll('.jobs .bar .cause').length") == len(places)


def test_after_the_end_of_a_run_nothing_is_shown_as_its_state(
    browser: Browser, tree: Result, finished: Result, folder: Path
) -> None:
    end = finished.outcome.simulated_us
    assert end < tree.outcome.simulated_us
    browser.open(written(folder, "past", report({"long": tree, "short": finished}, flows=[])), width=1400)
    pixels = "return document.querySelectorAll('canvas.network')[1].toDataURL()"
    browser.set_time(20.5, 300)
    browser("document.querySelectorAll('.run')[1].querySelector('.branches button').click()")
    during = browser(pixels)
    browser.set_time(250.5, 300)
    after = browser(pixels)
    browser.press("End")
    assert browser(pixels) == after != during
    assert browser.branches(0)
    assert browser.branches(1) == []
    second = "const run = document.querySelectorAll('.run')[1];"
    texts = browser(f"{second} return ['.trees', '.now'].map(c => run.querySelector(c).textContent)")
    assert all(f"this run ended at {end:.1f} us" in text for text in texts)
    legend = browser(f"{second} return [...run.querySelectorAll('.chosen .u-value')].map(e => e.textContent)")
    assert legend
    assert not any(letter.isdigit() for text in legend for letter in text)


def test_a_legend_keeps_the_values_of_the_slider(browser: Browser, tree: Result, folder: Path) -> None:
    browser.open(written(folder, "legend", report({"tree": tree}, flows=[])))
    browser.set_time(20.5, 300)
    browser("document.querySelector('.branches button').click()")
    values = "return [...document.querySelectorAll('.chosen .u-value')].map(e => e.textContent)"
    acts = (
        "document.querySelector('.theme').click()",
        "document.querySelector('.branches button').click()",
        """const over = document.querySelector('.chosen .u-over'), box = over.getBoundingClientRect();
        for (const kind of ['mouseenter', 'mousemove', 'mouseleave'])
          over.dispatchEvent(new MouseEvent(kind, {clientX: box.left + 9, clientY: box.top + 9}));""",
    )
    time.sleep(0.3)
    before = browser(values)
    assert before[0].startswith("20")
    assert [text.split()[-1] for text in before if " " in text] == ["KB", "%", "%"]
    for act in acts:
        browser(act)
        time.sleep(0.3)
        assert browser(values) == before


def test_names_are_text(browser: Browser, tree: Result, folder: Path) -> None:
    named = package.Scenario.from_dict(tree.run.scenario["scenario"])
    result = package.run(with_report_records(named))
    object.__setattr__(result.run, "name", EVIL)
    browser.open(written(folder, "names", report({EVIL: result, "other": tree}, flows=[])))
    assert browser("return window.own === undefined")
    assert browser("return document.querySelector('.run h2').textContent") == EVIL
    assert EVIL in browser("return document.querySelector('h1').textContent")
    assert browser("return document.querySelectorAll('main script, main img').length") == 0
    assert browser.requests() == []


def test_two_runs_are_in_step(browser: Browser, tree: Result, finished: Result, folder: Path) -> None:
    browser.open(written(folder, "two", report({"long": tree, "short": finished}, flows=[])), width=1400)
    for now in (12.5, 20.5):
        browser.set_time(now, 300)
        times = browser("return [...document.querySelectorAll('.run')].map(e => Number(e.dataset.time))")
        assert times == [pytest.approx(now), pytest.approx(now)]
        assert browser.branches(0)
        assert browser.branches(0)[0] == browser.branches(1)[0]


def test_a_port_is_chosen_from_the_list_of_pauses(browser: Browser, tree: Result, folder: Path) -> None:
    browser.open(written(folder, "port", report({"tree": tree}, flows=[])))
    browser.set_time(20.5, 300)
    browser("document.querySelector('.branches button').click()")
    assert browser("return document.querySelector('.chosen h4').textContent") == "Port a7>t8"
    assert "Paused" in browser("return document.querySelector('.chosen').textContent")
    assert browser("return document.querySelectorAll('.chosen canvas').length") == 2
    assert browser("return document.querySelector('.chosen [data-goto]').textContent") == "t8>h16"
    browser.press("Escape")
    assert "Click a link" in browser("return document.querySelector('.chosen').textContent")


def test_a_flow_without_causes_has_its_paths_and_the_command(
    browser: Browser, finished: Result, folder: Path
) -> None:
    page = report({"run": finished}, flows=[], folders={"run": Path("out/my run")})
    browser.open(written(folder, "flow", page))
    browser("document.querySelector('.flows [data-flow=\"incast:h1:0\"]').click()")
    command = browser("return document.querySelector('.command').textContent")
    assert command == "floodway report 'out/my run' --flow 'incast:h1:0' --force"
    # From a pod of a fat tree, k = 4, to another: two ports to the switches above, four to the core and four
    # back, and two below, beside those of both hosts.
    assert browser("return document.querySelector('.chosen .path').textContent").startswith("14 ports")


def test_a_flow_with_causes_has_its_path_and_its_rate(
    browser: Browser, finished: Result, folder: Path
) -> None:
    browser.open(written(folder, "rate", report({"run": finished}, flows=["incast:h1:0"])))
    names = browser(
        "return [...document.querySelectorAll('.chosen .path [data-goto]')].map(e => e.dataset.goto)"
    )
    assert (names[0].partition(">")[0], names[-1].partition(">")[2]) == ("h1", "h16")
    assert all(one.partition(">")[2] == next_.partition(">")[0] for one, next_ in itertools.pairwise(names))
    assert len(names) == 6
    assert browser("return document.querySelectorAll('.chosen .rate canvas').length") == 1


def test_charts_without_finished_flows_are_left_out(browser: Browser, tree: Result, folder: Path) -> None:
    browser.open(written(folder, "unfinished", report({"tree": tree}, flows=[])))
    assert browser("return document.querySelector('.pair').checkVisibility()") is False
    text = browser("return document.querySelector('.linked .note').textContent")
    assert "None of them finished" in text


def test_a_frame_of_a_film_is_what_is_drawn_anew(browser: Browser, tree: Result, folder: Path) -> None:
    browser.open(written(folder, "layers", report({"tree": tree}, flows=[])))
    pixels = "return document.querySelector('canvas.network').toDataURL()"
    browser.set_time(10.5, 300)
    before = browser(pixels)
    browser.set_time(20.5, 300)
    moved = browser(pixels)
    # Colours of another metric and back: all is drawn again.
    browser.press("q")
    browser.press("l")
    assert browser(pixels) == moved != before


def test_a_click_in_the_network_chooses_what_is_there(browser: Browser, tree: Result, folder: Path) -> None:
    browser.open(written(folder, "click", report({"tree": tree}, flows=[])))
    script = """
    const canvas = document.querySelector('canvas.network'), box = canvas.getBoundingClientRect();
    for (let x = 10; x < box.width; x += 6) {
      const at = {clientX: box.left + x, clientY: box.top + box.height * 0.75, bubbles: true};
      for (const kind of ['pointerdown', 'pointerup']) canvas.dispatchEvent(new PointerEvent(kind, at));
      const title = document.querySelector('.chosen h4');
      if (title) return title.textContent;
    }"""
    assert browser(script).startswith("Port ")


def test_a_span_of_time_filters_the_flows(browser: Browser, finished: Result, folder: Path) -> None:
    browser.open(written(folder, "span", report({"run": finished}, flows=[])))
    assert "12 measured flows" in browser("return document.querySelector('.selection').textContent")
    script = """
    const canvas = document.querySelector('canvas.heat'), box = canvas.getBoundingClientRect();
    const last = {clientX: box.right - 2, clientY: box.top + 5, bubbles: true};
    const first = {clientX: box.right - 30, clientY: box.top + 5, bubbles: true};
    canvas.dispatchEvent(new PointerEvent('pointerdown', first));
    canvas.dispatchEvent(new PointerEvent('pointerup', last));
    return document.querySelector('.selection').textContent"""
    text = browser(script)
    end = finished.outcome.simulated_us
    late = finished.flows.filter(pl.col("finish_receiver_us") > end * 0.9)
    assert int(text.split()[0]) <= max(len(late), 1) < 12


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_it_is_readable_at_three_widths_in_both_themes(
    browser: Browser, finished: Result, folder: Path, width: int, theme: str
) -> None:
    page = written(folder, "widths", report({"run": finished}, flows=["worst"]))
    ready = browser.open(page, width=width, theme=theme)
    assert ready < 10
    assert browser("return document.documentElement.scrollWidth") <= width
    colours = """
    const canvas = document.querySelector('canvas.network');
    const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
    const found = new Set();
    for (let i = 0; i < data.length; i += 4) if (data[i + 3] > 200) found.add(data[i] << 16 | data[i + 1] << 8 | data[i + 2]);
    return found.size"""  # noqa: E501
    assert browser(colours) > 10
    light = browser("return getComputedStyle(document.body).backgroundColor")
    assert (light == "rgb(252, 252, 253)") == (theme == "light")
    picture = browser.picture()
    assert len(picture) > 20_000
    if KEPT:
        (Path(KEPT) / f"report-{width}-{theme}.png").write_bytes(picture)
    assert browser.errors() == []


def test_the_path_of_a_flow_hides_no_pauses(browser: Browser, finished: Result, folder: Path) -> None:
    browser.open(written(folder, "halo", report({"run": finished}, flows=["worst"])))
    browser.set_time(20.5, finished.outcome.simulated_us)
    # Pixels of dashes and of numbers.
    paused = """
    const canvas = document.querySelector('canvas.network');
    const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
    let found = 0;
    for (let i = 0; i < data.length; i += 4) if (data[i] === 0x8a && data[i + 1] === 0x12 && data[i + 2] === 0x64) found++;
    return found"""  # noqa: E501
    with_path = browser(paused)
    browser.press("Escape")
    # Only arrows and marks cross them.
    assert with_path > 0.75 * browser(paused) > 100


def test_a_print_has_all_rows_and_open_details(browser: Browser, tree: Result, folder: Path) -> None:
    browser.open(written(folder, "print", report({"tree": tree}, flows=[])), width=800)
    browser.set_time(24.5, 300)
    shown = len(browser.branches())
    try:
        browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
        browser("window.dispatchEvent(new Event('beforeprint'))")
        assert len(browser.branches()) > shown
        assert browser("return [...document.querySelectorAll('.simulated')].every(e => e.open)")
        assert "Colour: load" in browser("return document.querySelector('.legend').innerText")
        # No part is printed over another, and none is cut.
        boxes = """
        const all = [...document.querySelectorAll('.left > *, .right > *')].filter(e => e.checkVisibility())
          .map(e => e.getBoundingClientRect()).sort((a, b) => a.top - b.top);
        const cut = [...document.querySelectorAll('.scroll, .wide, .trees')].some(e => e.scrollHeight > e.clientHeight + 1);
        return cut || all.some((box, i) => i && box.top < all[i - 1].bottom - 1)"""  # noqa: E501
        assert browser(boxes) is False
        pdf = browser.driver.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})
        assert base64.b64decode(pdf["data"]).startswith(b"%PDF")
    finally:
        browser("window.dispatchEvent(new Event('afterprint'))")
        browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    assert len(browser.branches()) == shown
    assert browser("return document.querySelector('.simulated').open") is False


def test_a_flow_has_its_life_at_the_slider(browser: Browser, finished: Result, folder: Path) -> None:
    end = finished.outcome.simulated_us
    browser.open(written(folder, "life", report({"run": finished}, flows=["p99"])))
    why = finished.why("p99")
    mark = "const e = document.querySelector('.lives span'); return [e.hidden, parseFloat(e.style.left), parseFloat(e.style.width)]"  # noqa: E501
    hidden, left, width = browser(mark)
    assert not hidden
    assert (left, width) == (
        pytest.approx(100 * why.start_us / end, abs=0.01),
        pytest.approx(100 * why.fct_us / end, abs=0.01),
    )
    browser.press("End")
    browser("document.querySelector('.go').click()")
    assert browser("return Number(document.querySelector('.run').dataset.time)") == pytest.approx(
        why.start_us
    )
    assert "flow at p99 of slowdown" in browser("return document.querySelector('.chip').textContent")
    note = browser("return document.querySelector('.selection').textContent")
    assert "p99 of slowdown" in note
    assert "p99 of completion time" in note
    assert "in the selection" not in note
    browser.press("Escape")
    assert browser("return document.querySelector('.lives span').hidden")


def test_networks_of_runs_are_zoomed_together(
    browser: Browser, tree: Result, finished: Result, folder: Path
) -> None:
    browser.open(written(folder, "zoom", report({"long": tree, "short": finished}, flows=[])), width=1400)
    browser.set_time(12.5, 300)
    pixels = "return [...document.querySelectorAll('canvas.network')].map(e => e.toDataURL())"
    before = browser(pixels)
    for reset in (
        "document.querySelectorAll('.stage-buttons')[1].querySelector('[title^=Show]').click()",
        "",
    ):
        browser("document.querySelector('.stage-buttons button').click()")
        assert all(one != other for one, other in zip(browser(pixels), before, strict=True))
        if reset:
            browser(reset)
        else:
            browser.press("Escape")
        assert browser(pixels) == before


def test_keys_work_after_a_choice_in_a_list(browser: Browser, finished: Result, folder: Path) -> None:
    browser.open(written(folder, "keys", report({"run": finished}, flows=["worst"])))
    browser(
        "const s = document.getElementById('metric'); s.focus(); s.value = 'queue';"
        "s.dispatchEvent(new Event('change'))"
    )
    assert browser("return document.activeElement === document.body")
    browser(
        "const s = document.getElementById('speed'); s.focus();"
        "s.dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape', bubbles: true}))"
    )
    assert "Click a link" in browser("return document.querySelector('.chosen').textContent")


def test_the_map_of_ports_has_the_roots_and_says_what_is_where(
    browser: Browser, tree: Result, folder: Path
) -> None:
    browser.open(written(folder, "map", report({"tree": tree}, flows=[])))
    move = """
    const canvas = document.querySelector('canvas.heat'), box = canvas.getBoundingClientRect();
    const at = {clientX: box.left + 76 + (box.width - 88) / 2, clientY: box.top + 5, bubbles: true};
    canvas.dispatchEvent(new PointerEvent('pointermove', at));
    return [...document.querySelectorAll('.heat-box .tip div')].map(e => e.textContent)"""
    port, value, click = browser(move)
    # Most pauses began at the port of the receiver, which was never paused.
    assert port == "t8>h16"
    when, _, what = value.partition(": ")
    assert float(when.split()[1]) == pytest.approx(150, abs=1)
    assert what.startswith("load ")
    assert "click" in click
    # Its axis of time is that of the chart above.
    left = "return document.querySelector(arguments[0]).getBoundingClientRect().left"
    assert browser(left, ".left .u-over") == pytest.approx(browser(left, ".heat-over"), abs=1)
    right = "return document.querySelector(arguments[0]).getBoundingClientRect().right"
    assert browser(right, ".left .u-over") == pytest.approx(browser(right, ".heat-over"), abs=1)


def test_slowdowns_are_visible_on_a_narrow_screen(browser: Browser, finished: Result, folder: Path) -> None:
    browser.open(written(folder, "narrow", report({"run": finished}, flows=["worst"])), width=400)
    edge = "return Math.max(...[...document.querySelectorAll('.flows td:last-child, .by-port td:last-child')].map(e => e.getBoundingClientRect().right))"  # noqa: E501
    assert 0 < browser(edge) <= 400


def test_flows_outside_the_selection_are_dimmed(browser: Browser, finished: Result, folder: Path) -> None:
    browser.open(written(folder, "dimmed", report({"run": finished}, flows=["p0"])))
    drag = """
    const canvas = document.querySelector('canvas.heat'), box = canvas.getBoundingClientRect();
    for (const [kind, from] of [['pointerdown', 18], ['pointerup', 14 - 1]])
      canvas.dispatchEvent(new PointerEvent(kind, {clientX: box.right - from - (kind === 'pointerdown' ? 6 : 0), clientY: box.top + 5, bubbles: true}));
    return document.querySelector('.flows .chip').classList.contains('outside')"""  # noqa: E501
    fastest = finished.why("p0")
    late = fastest.start_us + fastest.fct_us < finished.outcome.simulated_us * 0.95
    assert browser("return document.querySelector('.flows .chip.outside')") is None
    assert browser(drag) is late
    assert "under way from" in browser("return document.querySelector('.selection').textContent")
