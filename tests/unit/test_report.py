"""The page: whole, self-contained, well-formed, safe, and honest about what is missing."""

from __future__ import annotations

import json
import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

from support import synthetic
from weft.errors import BadInput
from weft.report import build_report
from weft.table import build_table

VOID = {"meta", "link", "br", "img", "input", "hr"}
EVIL = "<script>alert('x')</script>\"&"


class Page(HTMLParser):
    """Tags opened and closed, attributes, ids and text of a page; complains where they do not match."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: Counter[str] = Counter()
        self.attributes: list[tuple[str, str, str]] = []
        self.headings: list[int] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open, f"never closed: {self.open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open[-1] == tag, f"</{tag}> where <{self.open[-1]}> is open"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] not in ("style", "script"):
            self.words.append(data)

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", "".join(self.words))


def report(folder: Path, paths: list[Path], config: str | None = None) -> tuple[Path, str]:
    build_table(paths, folder / "table.parquet", folder / "problems.json")
    settings = folder / "config.resolved.yaml" if config else None
    if settings:
        settings.write_text(config)
    build_report(
        folder / "table.parquet",
        folder / "problems.json",
        folder / "report.html",
        folder / "figures",
        settings,
        None,
    )
    return folder / "report.html", (folder / "report.html").read_text()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("report")
    config = (
        "campaign:\n  sampling: {precision: 0.02}\nskipped:\n- {experiment: collective_nccl, "
        "sweep: all, reason: no CUDA here}\n"
    )
    return report(folder, synthetic.write_synthetic(folder / "records", 6000, device_states=False), config)


@pytest.fixture(scope="module")
def page(made: tuple[Path, str]) -> Page:
    return Page(made[1])


def test_page_is_one_small_file_that_asks_for_nothing(made: tuple[Path, str], page: Page) -> None:
    assert made[0].stat().st_size < 10e6
    for tag, name, value in page.attributes:
        if name in ("src", "href", "action", "poster", "data", "xlink:href"):
            assert value.startswith(("#", "data:")), f"<{tag} {name}={value[:80]}>"
    assert not re.search(r"@import|url\((?!#)", made[1].split("</style>")[0])
    assert not page.tags["iframe"] and not page.tags["img"]
    assert "default-src 'none'" in made[1]


def test_ids_are_unique_and_links_lead_somewhere(page: Page) -> None:
    ids = Counter(value for _, name, value in page.attributes if name == "id")
    assert [i for i, n in ids.items() if n > 1] == []
    assert {
        value[1:] for tag, name, value in page.attributes if tag == "a" and name == "href" and value[0] == "#"
    } <= set(ids)


def test_headings_come_in_order(page: Page) -> None:
    assert page.headings[0] == 1 and page.headings.count(1) == 1
    assert all(later - earlier <= 1 for earlier, later in zip(page.headings, page.headings[1:], strict=False))


def test_every_figure_comes_with_caption_csv_and_svg(made: tuple[Path, str], page: Page) -> None:
    written = {path.stem for path in (made[0].parent / "figures").glob("*.svg")}
    shown = {
        value.removeprefix("figure-")
        for tag, name, value in page.attributes
        if tag == "figure" and name == "id"
    }
    assert shown == written == {path.stem for path in (made[0].parent / "figures").glob("*.csv")}
    assert len(shown) > 15
    assert page.tags["figure"] == page.tags["figcaption"]
    downloads = {value for tag, name, value in page.attributes if tag == "a" and name == "download"}
    assert downloads == {f"{key}.{suffix}" for key in shown for suffix in ("csv", "svg")}


def test_embedded_csv_and_svg_are_the_files(made: tuple[Path, str]) -> None:
    folder = made[0].parent / "figures"
    links = dict(re.findall(r'href="(data:[^"]+)" download="([^"]+)"', made[1]))
    assert links
    for uri, name in links.items():
        text = unquote(
            uri.split(",", 1)[1]
            .replace("&#39;", "'")
            .replace("&lt;", "<")
            .replace("&gt;", ">")
            .replace("&amp;", "&")
        )
        expected = (folder / name).read_text()
        if name.endswith(".svg"):
            text, expected = text.replace("'", '"'), expected.replace("'", '"')
        assert text == expected, name


def test_tables_have_captions_and_scopes(page: Page) -> None:
    assert page.tags["caption"] == page.tags["table"] > 4
    heads = sum(1 for tag, name, _ in page.attributes if tag == "th" and name == "scope")
    assert heads == page.tags["th"]


def test_landmarks_and_language(page: Page) -> None:
    assert ("html", "lang", "en") in page.attributes
    assert all(page.tags[tag] == 1 for tag in ("main", "header", "nav", "footer", "h1"))
    assert ("a", "class", "skip") in page.attributes


def test_summary_counts_what_is_in_the_table(page: Page) -> None:
    assert re.search(r"5.9\d\d measured", page.text)
    assert "Copy, one way, NV2" in page.text
    assert "Nothing was measured" not in page.text


def test_holes_are_listed_by_reason(page: Page) -> None:
    assert "made to be unsupported" in page.text
    assert "no CUDA here" in page.text


def test_unconverged_are_counted(page: Page) -> None:
    assert "Not converged" in page.text and "time budget" in page.text


def test_provenance_names_commit_command_and_configuration(page: Page) -> None:
    assert "0" * 40 in page.text
    assert "p2p_copy" in page.text
    assert "precision: 0.02" in page.text


def test_same_input_gives_the_same_page(made: tuple[Path, str], tmp_path: Path) -> None:
    folder = made[0].parent
    build_report(
        folder / "table.parquet",
        folder / "problems.json",
        tmp_path / "again.html",
        tmp_path / "figures",
        folder / "config.resolved.yaml",
        None,
    )
    assert (tmp_path / "again.html").read_text() == made[1]


def evil_records(folder: Path) -> list[Path]:
    environment = synthetic.environment("p2p_copy", 0, command_line=[EVIL], variables={"NCCL_DEBUG": EVIL})
    environment["host"] = environment["host"] | {"hostname": EVIL, "cpu_model": EVIL}
    environment["devices"] = [{"device": 0, "name": EVIL}]
    configurations = [c for _, c in zip(range(40), synthetic.axes("p2p_copy"), strict=False)]
    records = [synthetic.measurement(c, 1.0, device_states=False) for c in configurations[1:]]
    hole = synthetic.hole(configurations[0], "failed") | {"reason": EVIL}
    synthetic.write_file(folder / "copy.jsonl", [environment, hole, *records])
    return [folder / "copy.jsonl"]


def test_text_of_records_is_never_markup(tmp_path: Path) -> None:
    _, text = report(tmp_path, evil_records(tmp_path))
    page = Page(text)
    assert "<script>alert" not in text
    assert page.tags["script"] == 1
    assert "alert('x')" in page.text


def test_problems_are_shown_with_file_and_line(tmp_path: Path) -> None:
    paths = evil_records(tmp_path)
    (tmp_path / "broken.jsonl").write_text(paths[0].read_text().splitlines()[0] + "\n{not json\n")
    _, text = report(tmp_path, [*paths, tmp_path / "broken.jsonl"])
    found = json.loads((tmp_path / "problems.json").read_text())
    assert found
    page = Page(text)
    for problem in found:
        assert re.sub(r"\s+", " ", problem["sentence"]) in page.text
    assert page.text.index(found[0]["sentence"][:40]) < page.text.index(
        "What is missing, and why", page.text.index("Summary")
    )


def test_page_is_made_of_failures_alone(tmp_path: Path) -> None:
    hole = synthetic.hole(next(iter(synthetic.axes("p2p_copy"))), "wrong")
    synthetic.write_file(tmp_path / "copy.jsonl", [synthetic.environment("p2p_copy", 0), hole])
    _, text = report(tmp_path, [tmp_path / "copy.jsonl"])
    page = Page(text)
    assert "Nothing was measured" in page.text
    assert "made to be wrong" in page.text
    assert not page.tags["figure"]


def test_page_is_made_of_problems_alone(tmp_path: Path) -> None:
    (tmp_path / "broken.jsonl").write_text("no json\n")
    _, text = report(tmp_path, [tmp_path / "broken.jsonl"])
    page = Page(text)
    assert "Nothing was measured" in page.text
    assert "broken.jsonl" in page.text


@pytest.mark.parametrize("system", ["dgx1_p100", "dgx1_v100", "summitdev", "ac922", "c4140_v100_sxm2"])
def test_published_systems_are_drawn(root: Path, tmp_path: Path, system: str) -> None:
    paths = sorted((root / "results/published" / system / "records").glob("*.jsonl*"))
    assert paths
    _, text = report(tmp_path, paths)
    page = Page(text)
    assert page.tags["figure"] > 0
    assert "not given" in page.text  # none of the sources gives intervals
    assert json.loads((tmp_path / "problems.json").read_text()) == []


def test_figures_no_longer_drawn_are_removed(tmp_path: Path) -> None:
    figures = tmp_path / "figures"
    figures.mkdir()
    for name in ("old.svg", "old.csv", "mine.txt", "alone.svg"):
        (figures / name).write_text("")
    report(tmp_path, evil_records(tmp_path))
    assert not (figures / "old.svg").exists() and not (figures / "old.csv").exists()
    assert (figures / "mine.txt").exists() and (figures / "alone.svg").exists()


def test_bad_input_is_one_sentence_and_leaves_nothing(tmp_path: Path) -> None:
    build_table(evil_records(tmp_path), tmp_path / "table.parquet", tmp_path / "problems.json")
    (tmp_path / "text").write_text("not a table")
    (tmp_path / "list").write_text("{}")
    (tmp_path / "bad.yaml").write_text("a: [")
    good = {
        "table": tmp_path / "table.parquet",
        "problems": tmp_path / "problems.json",
        "output": tmp_path / "out/report.html",
        "figures": tmp_path / "out/figures",
        "config": None,
        "title": None,
    }
    for change in (
        {"table": tmp_path / "text"},
        {"table": tmp_path / "absent"},
        {"problems": tmp_path / "list"},
        {"problems": tmp_path / "absent"},
        {"config": tmp_path / "bad.yaml"},
        {"config": tmp_path / "absent"},
        {"output": tmp_path / "text/report.html"},
        {"figures": tmp_path / "text/figures"},
    ):
        with pytest.raises(BadInput) as caught:
            build_report(**(good | change))
        assert str(next(iter(change.values()))).split("/report")[0].split("/figures")[0] in str(caught.value)
        assert not (tmp_path / "out/report.html").exists()
