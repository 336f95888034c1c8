"""The page in a real browser: quiet, whole, legible on paper, on a telephone and in the dark."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from browser.chromium import Tab, chromium, find
from support import synthetic
from weft.report import build_report
from weft.table import build_table

pytestmark = pytest.mark.skipif(
    find() is None, reason="no chromium on this machine (Debian: apt-get install chromium)"
)

WIDTHS = {"desk": (1280, 900), "phone": (360, 740)}
BACKGROUND = "getComputedStyle(document.documentElement).backgroundColor"


@pytest.fixture(scope="module")
def tab() -> Iterator[Tab]:
    with chromium(find() or "") as opened:
        yield opened


def build(folder: Path, paths: list[Path]) -> Path:
    build_table(paths, folder / "table.parquet", folder / "problems.json")
    build_report(
        folder / "table.parquet",
        folder / "problems.json",
        folder / "report.html",
        folder / "figures",
        None,
        None,
    )
    return folder / "report.html"


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory, root: Path) -> dict[str, Path]:
    """One page with every subject and every kind of hole, one of a published machine of eight devices."""
    full, published = tmp_path_factory.mktemp("full"), tmp_path_factory.mktemp("published")
    paths = synthetic.write_synthetic(full / "records", 6000, device_states=False)
    (full / "records/cut.jsonl").write_text("{\n")
    return {
        "full": build(full, [*paths, full / "records/cut.jsonl"]),
        "dgx1_p100": build(
            published, sorted((root / "results/published/dgx1_p100/records").glob("*.jsonl*"))
        ),
    }


@pytest.fixture(params=["full", "dgx1_p100"])
def page(request: pytest.FixtureRequest, pages: dict[str, Path], tab: Tab) -> Path:
    tab.size(*WIDTHS["desk"])
    tab.prefer("light")
    tab.open(pages[request.param])
    tab.run("localStorage.clear()")
    return pages[request.param]


def test_nothing_is_asked_for_and_nothing_complained_of(page: Path, tab: Tab) -> None:
    tab.open(page)
    tab.run("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert tab.requests() == [page.as_uri()]
    assert tab.complaints() == []


def test_complaints_and_requests_would_be_noticed(tab: Tab, tmp_path: Path) -> None:
    (tmp_path / "bad.html").write_text(
        "<!doctype html><img src='absent.png'><script>console.error('no'); undefinedFunction()</script>"
    )
    tab.open(tmp_path / "bad.html")
    assert len(tab.requests()) == 2
    assert len(tab.complaints()) >= 2


def test_every_figure_can_be_seen(page: Path, tab: Tab) -> None:
    boxes = tab.run("""[...document.querySelectorAll('figure')].map(f => { const s = f.querySelector('svg').getBoundingClientRect();
        const marks = [...f.querySelectorAll('svg path, svg text, svg use')].filter(e => e.getBoundingClientRect().width > 0).length;
        return [f.id, s.width, s.height, marks]; })""")
    assert len(boxes) > 10
    for name, width, height, marks in boxes:
        assert width > 200 and height > 50 and marks > 5, name


def test_no_text_of_a_figure_is_cut_off(page: Path, tab: Tab) -> None:
    cut = tab.run("""[...document.querySelectorAll('figure svg')].flatMap(s => { const b = s.getBoundingClientRect();
        return [...s.querySelectorAll('text')].filter(t => { const r = t.getBoundingClientRect();
            return r.left < b.left - 2 || r.right > b.right + 2 || r.top < b.top - 2 || r.bottom > b.bottom + 2; })
            .map(t => s.closest('figure').id + ': ' + t.textContent); })""")
    assert cut == []


def test_labels_of_an_axis_do_not_overlap(page: Path, tab: Tab) -> None:
    overlaps = tab.run("""[...document.querySelectorAll('figure svg')].flatMap(s => { const t = [...s.querySelectorAll('text')]
        .map(e => [e.textContent, e.getBoundingClientRect()]).filter(([w, r]) => w.trim() && r.width);
        const found = []; for (let i = 0; i < t.length; i++) for (let j = i + 1; j < t.length; j++) { const a = t[i][1], b = t[j][1];
        const w = Math.min(a.right, b.right) - Math.max(a.left, b.left), h = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        if (w > 3 && h > 5) found.push(s.closest('figure').id + ': ' + t[i][0] + ' | ' + t[j][0]); } return found; })""")
    assert overlaps == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_themes_and_widths(page: Path, tab: Tab, scheme: str, width: str, root: Path) -> None:
    tab.prefer(scheme)
    tab.size(*WIDTHS[width])
    tab.open(page)
    channel = int(re.findall(r"\d+", tab.run(BACKGROUND))[0])
    assert channel > 200 if scheme == "light" else channel < 60
    tab.run("document.querySelectorAll('details').forEach(d => d.open = true)")
    wide, inside = tab.run("[document.documentElement.scrollWidth, innerWidth]")
    assert wide <= inside, "the page scrolls sideways"
    tab.run("document.querySelectorAll('details').forEach(d => d.open = false)")
    name = "full" if "full" in str(page) else "dgx1_p100"
    tab.picture(root / f"build/screenshots/{name}-{width}-{scheme}.png", 6000)
    tab.prefer("light")


def test_figures_follow_the_theme(page: Path, tab: Tab) -> None:
    ink = "getComputedStyle(document.querySelector('figure svg text')).fill"
    light = tab.run(ink)
    tab.prefer("dark")
    assert tab.run(ink) != light
    tab.prefer("light")


def test_toggle_is_reached_by_keyboard_and_lasts(page: Path, tab: Tab) -> None:
    tab.open(page)
    before = tab.run(BACKGROUND)
    reached = []
    for _ in range(4):
        tab.press("Tab", 9)
        reached.append(tab.run("document.activeElement.id || document.activeElement.className"))
        if reached[-1] == "theme":
            break
    assert reached[0] == "skip", "the first stop is the link that skips to the summary"
    assert reached[-1] == "theme"
    assert tab.run("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    tab.run("document.activeElement.click()")
    after = tab.run(BACKGROUND)
    assert after != before
    assert tab.run("document.getElementById('theme').textContent") == "Light page"
    tab.open(page)
    assert tab.run(BACKGROUND) == after
    tab.run("localStorage.clear()")


def test_it_reads_without_javascript(page: Path, tab: Tab) -> None:
    tab.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        tab.navigate(page.as_uri() + "?plain")
        assert tab.count("#theme[hidden]") == 1, "a button that would do nothing is not shown"
        assert tab.count("figure svg") > 10
        assert tab.count("footer") == 1
    finally:
        tab.call("Emulation.setScriptExecutionDisabled", value=False)


def test_print_shows_what_was_folded(page: Path, tab: Tab) -> None:
    closed = "[...document.querySelectorAll('details:not([open]) tbody tr, details:not([open]) dl')]"
    seen = f"{closed}.filter(e => e.checkVisibility({{contentVisibilityAuto: true}}) && e.getBoundingClientRect().height > 0).length"
    every = tab.run(f"{closed}.length")
    assert every > 0 and tab.run(seen) == 0
    tab.prefer("dark", media="print")
    assert tab.run(seen) == every
    assert int(re.findall(r"\d+", tab.run(BACKGROUND))[0]) > 200, "paper is light"
    tab.prefer("light")


def test_it_prints(page: Path, tab: Tab) -> None:
    pdf = base64.b64decode(tab.call("Page.printToPDF", printBackground=True)["data"])
    assert pdf.startswith(b"%PDF")
    assert len(re.findall(rb"/Type /Page\b", pdf)) > 3
