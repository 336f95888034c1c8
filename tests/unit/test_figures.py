"""Figures say what the table says: their words, cells and numbers, not their pixels."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from support import synthetic
from weft.figures import REGISTRY, Dataset, Figure, draw, matrix, pooling, style
from weft.figures import quantities as q
from weft.figures.axes import class_key, label, rank
from weft.figures.crossovers import crossovers, of_the_best, winners
from weft.figures.measures import BANDWIDTH
from weft.table import build_table

style.apply()
MIB = 2**20


def copy(source: int, destination: int, size: int, rate: float, **changes: object) -> dict[str, object]:
    """A measured copy at so many bytes a second, interval ±1 %."""
    record = synthetic.measurement(
        {
            "benchmark": "p2p.copy",
            "source": source,
            "destination": destination,
            "size_bytes": size,
            "engine": "copy_engine",
            "operation": "write",
            "peer_access": True,
            "direction": "unidirectional",
        },
        1.0,
        device_states=False,
    )
    time = size / rate
    record["time_s"] |= {"median": time, "ci_low": 0.99 * time, "ci_high": 1.01 * time}
    return record | {"bandwidth_bytes_per_s": rate} | changes


def table(
    folder: Path, *runs: list[dict[str, object]], topology: bool = True, experiment: str = "p2p_copy"
) -> Dataset:
    """A table of some runs, each a list of measurements."""
    paths = []
    if topology:
        synthetic.write_file(
            folder / "topology.jsonl", [synthetic.environment("topology", 0), *synthetic.topology()]
        )
        paths.append(folder / "topology.jsonl")
    for repeat, records in enumerate(runs):
        paths.append(folder / f"{experiment}{repeat}.jsonl")
        synthetic.write_file(paths[-1], [synthetic.environment(experiment, repeat), *records])
    build_table(paths, folder / "table.parquet", folder / "problems.json")
    return Dataset(folder / "table.parquet")


def figures(dataset: Dataset, subject: str) -> dict[str, Figure]:
    return {figure.key: figure for figure in draw(dataset, subject)}


def texts(figure: Figure) -> list[str]:
    return [
        element.text or "" for element in ET.fromstring(figure.svg).iter() if element.tag.endswith("}text")
    ]


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


def test_matrix_prints_value_and_class_of_each_pair(tmp_path: Path) -> None:
    runs = [copy(s, d, 64 * MIB, (10 + 3 * s + d) * 1e9) for s in range(3) for d in range(3) if s != d]
    figure = figures(table(tmp_path, runs), "copy")["p2p_copy_matrix_64mib"]
    assert {"11.0", "12.0", "13.0", "15.0", "16.0", "17.0"} <= set(texts(figure))
    assert texts(figure).count("NV2") == sum(
        synthetic.link_class(s, d) == "NV2" for s in range(3) for d in range(3) if s != d
    )
    assert "17.0" in figure.caption and "2→1" in figure.caption
    assert figure.measurements == 6
    row = figure.data.set_index(["source", "destination"]).loc[(2, 1)]
    assert row["bandwidth_bytes_per_s"] == pytest.approx(17e9)


def test_matrix_shows_the_efficiency_against_the_limit(tmp_path: Path) -> None:
    runs = [copy(s, d, 64 * MIB, 20e9) for s in range(3) for d in range(3) if s != d]
    figure = figures(table(tmp_path, runs), "copy")["p2p_copy_efficiency"]
    assert {"40", "80"} <= set(texts(figure))  # 20 GB/s of NV2 = 50 and of NV1 = 25


def test_curve_is_the_median_over_runs_and_keeps_both_levels(tmp_path: Path) -> None:
    sizes = [MIB, 2 * MIB, 4 * MIB, 8 * MIB]
    dataset = table(tmp_path, *[[copy(0, 1, size, rate) for size in sizes] for rate in (9e9, 10e9, 14e9)])
    figure = figures(dataset, "copy")["p2p_copy_bandwidth"]
    last = figure.data.iloc[-1]
    assert last["value"] == pytest.approx(10e9)
    assert (last["min"], last["max"]) == (pytest.approx(9e9), pytest.approx(14e9))
    assert (last["low"], last["high"]) == (pytest.approx(10e9 / 1.01), pytest.approx(10e9 / 0.99))
    assert "3\u00a0runs" in figure.shaped
    assert "10.0\u00a0GB/s" in figure.caption


def test_limit_is_a_line_with_its_number(tmp_path: Path) -> None:
    figure = figures(table(tmp_path, [copy(0, 1, size, 40e9) for size in (MIB, 2 * MIB, 4 * MIB)]), "copy")[
        "p2p_copy_bandwidth"
    ]
    assert "limit 50.0 GB/s" in texts(figure)


def test_local_copies_are_left_out_and_said_so(tmp_path: Path) -> None:
    sizes = (MIB, 2 * MIB, 4 * MIB)
    runs = [copy(0, 1, size, 10e9) for size in sizes] + [copy(0, 0, size, 300e9) for size in sizes]
    figure = figures(table(tmp_path, runs), "copy")["p2p_copy_bandwidth"]
    assert figure.data["max"].max() < 20e9
    assert any("within one device" in text for text in figure.left_out)


def test_one_benchmark_without_topology_is_enough(tmp_path: Path) -> None:
    dataset = table(tmp_path, [copy(0, 1, size, 10e9) for size in (MIB, 2 * MIB, 4 * MIB)], topology=False)
    assert set(figures(dataset, "copy")) == {"p2p_copy_bandwidth", "p2p_copy_time"}
    assert not figures(dataset, "topology")
    assert not figures(dataset, "efficiency")


def test_nothing_measured_draws_nothing(tmp_path: Path) -> None:
    failed = synthetic.hole(
        {
            k: v
            for k, v in copy(0, 1, MIB, 1e9).items()
            if k
            in (
                "benchmark",
                "source",
                "destination",
                "engine",
                "operation",
                "peer_access",
                "direction",
                "size_bytes",
            )
        },
        "failed",
    )
    dataset = table(tmp_path, [failed], topology=False)
    assert [f for s, _ in REGISTRY for f in draw(dataset, s)] == []


def collective(
    ranks: int, size: int, rate: float, alignment: int, library: str = "nccl", in_place: bool = False
) -> dict[str, object]:
    record = synthetic.measurement(
        {
            "benchmark": "collective.all_gather",
            "size_bytes": size,
            "library": library,
            "ranks": ranks,
            "in_place": in_place,
        },
        1.0,
        device_states=False,
    )
    return record | {"bus_bandwidth_bytes_per_s": rate, "block_alignment_bytes": alignment}


def test_participants_tell_unaligned_blocks_apart(tmp_path: Path) -> None:
    runs = [collective(ranks, MIB, 40e9, 16) for ranks in (2, 3, 4, 5)]
    runs += [collective(ranks, MIB - 4, 10e9 if ranks in (3, 5) else 38e9, 4) for ranks in (2, 3, 4, 5)]
    figure = figures(table(tmp_path, runs, topology=False, experiment="collective_nccl"), "collective")[
        "collective_participants"
    ]
    unaligned = figure.data[figure.data["blocks"] == "unaligned"].set_index("ranks")["value"]
    assert unaligned[3] == unaligned[5] == pytest.approx(10e9)
    assert unaligned[2] == pytest.approx(38e9)
    assert "all-gather on 3" in figure.caption and "25\u00a0%" in figure.caption
    assert "unaligned blocks" in texts(figure)


def test_libraries_are_compared_where_both_measured(tmp_path: Path) -> None:
    runs = [
        collective(2, size, 1e9, 16, library)
        for size in (MIB, 2 * MIB, 4 * MIB)
        for library in ("mpi", "nccl")
    ]
    for record in runs:
        if record["library"] == "nccl":
            record["time_s"] = record["time_s"] | {"median": record["time_s"]["median"] / 4}
    figure = figures(table(tmp_path, runs, topology=False, experiment="collective"), "collective")[
        "collective_libraries"
    ]
    assert figure.data["ratio"].tolist() == pytest.approx([0.25] * 3)
    assert "0.25" in figure.caption


def points(line: str, values: list[float], spread: float = 0.01) -> pd.DataFrame:
    sizes = [2**i for i in range(len(values))]
    return pd.DataFrame(
        {
            "panel": "",
            "line": line,
            "size_bytes": sizes,
            "value": values,
            "low": [v * (1 - spread) for v in values],
            "high": [v * (1 + spread) for v in values],
        }
    )


def test_crossover_lies_between_sizes_at_which_the_intervals_are_apart() -> None:
    both = pd.concat([points("a", [1, 2, 4.0, 8, 16]), points("b", [3, 3, 4.01, 5, 6])])
    found = crossovers(both, more_is_better=False)
    assert len(found) == 1
    row = found.iloc[0]
    assert (row["faster_below"], row["faster_above"]) == ("a", "b")
    assert (row["last_size_below_bytes"], row["first_size_above_bytes"]) == (2, 8)
    assert 2 < row["size_bytes"] < 8
    swapped = crossovers(both, more_is_better=True).iloc[0]
    assert (swapped["faster_below"], swapped["faster_above"]) == ("b", "a")


def test_overlapping_intervals_are_undecided() -> None:
    both = pd.concat([points("a", [1, 2], 0.5), points("b", [1.1, 9], 0.5)])
    assert winners(both, more_is_better=False)["faster"].tolist() == ["undecided", "a"]


def test_only_lasting_changes_of_the_fastest_are_marked() -> None:
    three = pd.concat(
        [
            points("a", [1, 1, 1, 1, 1, 1]),
            points("b", [2, 2, 0.5, 0.5, 0.5, 0.5]),
            points("c", [9, 9, 9, 9, 9, 0.1]),
        ]
    )
    found = crossovers(three, more_is_better=False)
    marked = of_the_best(three, found, more_is_better=False)
    assert marked[["faster_below", "faster_above"]].to_numpy().tolist() == [["a", "b"]]
    assert len(found) == 3


def test_thinning_keeps_the_ends_of_every_group() -> None:
    values = np.random.default_rng(1).permutation(1000).astype(float)
    runs = pd.DataFrame({"panel": "", "line": np.repeat(["a", "b"], 500), "size_bytes": 4, "v": values})
    kept = pooling.thin(runs, ["panel", "line", "size_bytes"], "v")
    assert len(kept) == 2 * pooling.MARKS_PER_POINT
    for line, group in runs.groupby("line"):
        mine = kept[kept["line"] == line]["v"]
        assert (mine.min(), mine.max()) == (group["v"].min(), group["v"].max())


def test_near_devices_stand_together() -> None:
    classes = {
        (a, b): "PIX" if {a, b} in ({0, 2}, {1, 3}) else "SYS" for a in range(4) for b in range(4) if a != b
    }
    assert matrix.near_first(4, classes) == ([0, 2, 1, 3], [2])


def test_link_classes_are_sorted_from_near_to_far() -> None:
    assert sorted(["SYS", "NV1", "PHB", "NV18", "PIX", "X", "NODE", "PXB"], key=class_key) == [
        "X",
        "NV18",
        "NV1",
        "PIX",
        "PXB",
        "PHB",
        "NODE",
        "SYS",
    ]


def test_labels_say_axes_in_words_and_order() -> None:
    frame = pd.DataFrame(
        {"peer_access": [0.0, 1.0, 0.0], "direction": ["bidirectional", "unidirectional", "unidirectional"]}
    )
    assert label(frame, ["direction", "peer_access"]).tolist() == [
        "bidirectional, peer access off",
        "unidirectional, peer access on",
        "unidirectional, peer access off",
    ]
    assert label(frame, ["direction", "peer_access"]).cat.categories[0] == "unidirectional, peer access on"
    assert rank("placement", "device") < rank("placement", "pinned")


@pytest.mark.parametrize(
    ("value", "low", "high", "text"),
    [
        (18.4823e9, 18.45e9, 18.51e9, "18.48\u00a0GB/s"),
        (18.4823e9, 17e9, 20e9, "18\u00a0GB/s"),
        (3.94e11, None, None, "394\u00a0GB/s"),
        (5.1234e8, 5.12e8, 5.127e8, "512.3\u00a0MB/s"),
    ],
)
def test_no_more_digits_than_the_interval_supports(value: float, low: float, high: float, text: str) -> None:
    assert BANDWIDTH.text(value, low, high) == text


def test_quantities_in_words() -> None:
    assert (
        q.size(65536) == "64\u00a0KiB" and q.size(40_000_000) == "38.1\u00a0MiB" and q.size(1) == "1\u00a0B"
    )
    assert q.time(2.5e-6) == "2.50\u00a0µs"
    assert q.percent(0.924) == "92\u00a0%" and q.percent(0.004) == "0.4\u00a0%"
    assert q.interval(18.45e9, 18.51e9, 18.48e9, q.RATE_UNITS) == "[18.45, 18.51]"
    assert q.number(float("nan")) == "–"


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
