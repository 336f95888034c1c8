"""The page in a real browser: quiet, whole, legible on paper, on a telephone and in the dark."""

from __future__ import annotations

import base64
import itertools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from browser.chromium import Tab, chromium, find
from support import cluster, synthetic
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
    """One page with every subject of a node and every kind of hole, one of a cluster with a sick node, one of
    a published machine of eight devices.
    """
    full, nodes, published = (tmp_path_factory.mktemp(name) for name in ("full", "nodes", "published"))
    paths = synthetic.write_synthetic(full / "records", 6000, device_states=False)
    (full / "records/cut.jsonl").write_text("{\n")
    return {
        "full": build(full, [*paths, full / "records/cut.jsonl"]),
        "nodes": build(nodes, cluster.write_cluster(nodes / "records", slow={"node3": 2.0})),
        "dgx1_p100": build(
            published, sorted((root / "results/published/dgx1_p100/records").glob("*.jsonl*"))
        ),
    }


@pytest.fixture(params=["full", "nodes", "dgx1_p100"])
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


FIGURES = """[...document.querySelectorAll('figure')].map(figure => {
  const svg = figure.querySelector('svg'), box = svg.getBoundingClientRect();
  const texts = [...svg.querySelectorAll('text')].map(e => [e.textContent.trim(), e.getBoundingClientRect()])
    .filter(([words, r]) => words && r.width).map(([words, r]) => [words, r.left, r.top, r.right, r.bottom]);
  const marks = [...svg.querySelectorAll('path, text, use')].filter(e => e.getBoundingClientRect().width > 0);
  return {id: figure.id, box: [box.left, box.top, box.right, box.bottom], texts, marks: marks.length};
})"""


def test_every_figure_can_be_seen(page: Path, tab: Tab) -> None:
    figures = tab.run(FIGURES)
    assert len(figures) > 10
    for figure in figures:
        left, top, right, bottom = figure["box"]
        assert right - left > 200 and bottom - top > 50 and figure["marks"] > 5, figure["id"]


def test_no_text_of_a_figure_is_cut_off(page: Path, tab: Tab) -> None:
    cut = [
        f"{figure['id']}: {words}"
        for figure in tab.run(FIGURES)
        for words, *box in figure["texts"]
        if any(inner < outer - 2 for inner, outer in zip(box[:2], figure["box"][:2], strict=True))
        or any(inner > outer + 2 for inner, outer in zip(box[2:], figure["box"][2:], strict=True))
    ]
    assert cut == []


def test_texts_of_a_figure_do_not_overlap(page: Path, tab: Tab) -> None:
    overlapping = [
        f"{figure['id']}: {first[0]} | {second[0]}"
        for figure in tab.run(FIGURES)
        for first, second in itertools.combinations(figure["texts"], 2)
        if min(first[3], second[3]) - max(first[1], second[1]) > 3
        and min(first[4], second[4]) - max(first[2], second[2]) > 5
    ]
    assert overlapping == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_themes_and_widths(page: Path, tab: Tab, scheme: str, width: str, root: Path) -> None:
    tab.prefer(scheme)
    tab.size(*WIDTHS[width])
    tab.open(page)
    channel = int(re.findall(r"\d+", tab.run(BACKGROUND))[0])
    assert channel > 200 if scheme == "light" else channel < 60
    tab.run("document.querySelectorAll('details').forEach(d => d.open = true)")
    wide = tab.run("document.documentElement.scrollWidth")
    assert wide <= WIDTHS[width][0], "the page scrolls sideways"
    tab.run("document.querySelectorAll('details').forEach(d => d.open = false)")
    name = next((name for name in ("full", "nodes") if name in str(page)), "dgx1_p100")
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
    seen = (
        f"{closed}.filter(e => e.checkVisibility({{contentVisibilityAuto: true}}) && "
        f"e.getBoundingClientRect().height > 0).length"
    )
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
