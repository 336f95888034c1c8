"""All figures of a full table: well formed, themed, named, captioned, alike each time."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest

from support import synthetic
from weft.figures import REGISTRY, Dataset, Figure, draw, style
from weft.table import build_table

style.apply()


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    folder = tmp_path_factory.mktemp("everything")
    paths = synthetic.write_synthetic(folder / "records", 6000, device_states=False)
    build_table(paths, folder / "table.parquet", folder / "problems.json")
    return Dataset(folder / "table.parquet")


@pytest.fixture(scope="module")
def drawn(everything: Dataset) -> list[Figure]:
    return [
        figure for subject in dict.fromkeys(s for s, _ in REGISTRY) for figure in draw(everything, subject)
    ]


def test_every_subject_is_drawn_from_a_full_table(drawn: list[Figure]) -> None:
    assert {figure.subject for figure in drawn} >= {
        "topology",
        "copy",
        "latency",
        "host",
        "route",
        "fanout",
        "message",
        "collective",
        "efficiency",
    }


def test_keys_are_unique_and_name_files(drawn: list[Figure]) -> None:
    keys = [figure.key for figure in drawn]
    assert len(keys) == len(set(keys))
    assert all(re.fullmatch(r"[a-z0-9_.]+", key) for key in keys)


def test_svg_is_well_formed_themed_and_named(drawn: list[Figure]) -> None:
    for figure in drawn:
        root = ET.fromstring(figure.svg)
        assert root.get("role") == "img"
        assert figure.caption in (root.get("aria-label") or "")
        assert not re.search(r"#0[0-9][0-9a-f]{4}\b", figure.svg), f"{figure.key}: a sentinel colour was left"
        assert "var(--ink)" in figure.svg
        assert "DejaVu" not in figure.svg


def test_ids_do_not_collide_between_figures(drawn: list[Figure]) -> None:
    ids = [i for figure in drawn for i in re.findall(r'\bid="([^"]+)"', figure.svg)]
    assert len(ids) == len(set(ids))
    for figure in drawn:
        used = set(re.findall(r"url\(#([^)]+)\)", figure.svg)) | set(
            re.findall(r'href="#([^"]+)"', figure.svg)
        )
        assert used <= set(re.findall(r'\bid="([^"]+)"', figure.svg)), figure.key


def test_class_names_mean_the_same_in_every_figure(drawn: list[Figure]) -> None:
    rules: dict[str, str] = {}
    for figure in drawn:
        for name, body in re.findall(r"\.(w[0-9a-f]{6})\{([^}]*)\}", figure.svg):
            assert rules.setdefault(name, body) == body


def test_captions_are_sentences_with_numbers(drawn: list[Figure]) -> None:
    for figure in drawn:
        assert figure.caption.endswith("."), figure.key
        assert re.search(r"\d", figure.caption), figure.key
        assert "nan" not in figure.caption.lower().replace("nanosecond", ""), figure.caption


def test_drawing_twice_gives_the_same_bytes(everything: Dataset, drawn: list[Figure]) -> None:
    again = {figure.key: figure.svg for figure in draw(everything, "copy")}
    assert again == {figure.key: figure.svg for figure in drawn if figure.subject == "copy"}


@pytest.mark.parametrize("dark", [False, True])
def test_colours_stand_out_in_both_themes(dark: bool) -> None:
    colours = style.palette(dark)
    ground = colours["surface"]
    assert style.contrast(colours["ink"], ground) >= 7
    assert style.contrast(colours["muted"], ground) >= 4.5
    assert style.contrast(colours["limit"], ground) >= 4.5
    for i in range(len(style.DATA)):
        assert style.contrast(colours[f"data-{i}"], ground) >= 3, i
    assert style.contrast(colours["data-0"], ground) >= 4.5  # links
    for i in range(style.RAMP_STEPS):
        assert style.contrast(colours[f"ramp-ink-{i}"], colours[f"ramp-{i}"]) >= 4.5, i


def test_an_image_alone_brings_its_colours(drawn: list[Figure]) -> None:
    for figure in drawn:
        alone = style.standalone(figure.svg)
        ET.fromstring(alone)
        names = set(re.findall(r"var\(--([a-z0-9-]+)\)", alone))
        assert names <= set(re.findall(r"--([a-z0-9-]+):#", alone)), figure.key
