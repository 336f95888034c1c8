"""A report against the table of another run: what both have is compared, and nothing else."""

from pathlib import Path

import pandas as pd
import pytest

from support import synthetic
from support.cases import COPY
from weft.cli import main
from weft.figures import Dataset, Figure, draw, style
from weft.figures.against import LARGE_BYTES, compared
from weft.figures.ratios import DIFFERENT, SAME, UNDECIDED, ways
from weft.report import build_report
from weft.table import build_table

style.apply()
REDUCE = {
    "benchmark": "collective.all_reduce", "library": "mpi", "ranks": 2, "in_place": False, "size_bytes": 8,
}  # fmt: skip


def copies(slower: dict[int, float], **more: object) -> list[dict]:
    """A copy of each size; `slower` names factors by size."""
    return [
        synthetic.measurement(COPY | more | {"size_bytes": size}, slower.get(size, 1))
        for size in (4096, LARGE_BYTES, 4 * LARGE_BYTES)
    ]


@pytest.fixture
def run(tmp_path: Path):
    """`run("name", records)` is the table of a run that measured the records in six repeats."""

    def measured(name: str, records: list[dict], **environment: object) -> Path:
        folder = tmp_path / name
        folder.mkdir()
        for repeat in range(6):
            first = synthetic.environment("p2p_copy", repeat) | environment
            synthetic.write_file(folder / f"{repeat}.jsonl", [first, *records])
        build_table(sorted(folder.glob("*.jsonl")), folder / "table.parquet", folder / "problems.json")
        assert (folder / "problems.json").read_text() == "[]"
        return folder / "table.parquet"

    return measured


def against(here: Path, there: Path) -> Dataset:
    return Dataset(here, baseline=Dataset(there))


def figure(dataset: Dataset) -> Figure:
    (drawn,) = draw(dataset, "against")
    return drawn


def test_what_takes_longer_is_named_with_its_ratio(run) -> None:
    dataset = against(run("here", copies({LARGE_BYTES: 1.2, 4096: 1.02})), run("there", copies({})))
    found = compared(dataset).set_index("size_bytes")
    assert found["ratio"].tolist() == pytest.approx([1.02, 1.2, 1], rel=0.005)
    assert found["verdict"].tolist() == [SAME, DIFFERENT, SAME]
    caption = figure(dataset).caption
    assert "Of 3\u00a0configurations that both have, 2 take the same time" in caption
    assert "of the 2 from 16\u00a0MiB on, 1." in caption
    assert "the furthest from 1 is 1.20 (p2p copy, 16\u00a0MiB)" in caption


def test_only_what_both_have_is_compared(run) -> None:
    reads = copies({}, operation="read")
    dataset = against(
        run("here", copies({}) + reads), run("there", [*copies({}), synthetic.measurement(REDUCE, 1)])
    )
    assert set(compared(dataset)["operation"]) == {"write"}
    assert len(compared(dataset)) == 3
    assert compared(against(run("a", reads), run("b", copies({})))).empty


def test_an_axis_that_older_records_lack_tells_nothing_apart(run) -> None:
    newer = copies({}, streams=1, batching="stream")
    assert len(compared(against(run("here", newer), run("there", copies({}))))) == 3
    several = newer + copies({}, streams=4, batching="stream")
    assert compared(against(run("now", several), run("then", copies({})))).empty, "which of them it was"


def test_few_runs_decide_nothing(run, tmp_path: Path) -> None:
    there = run("there", copies({}))
    synthetic.write_file(tmp_path / "one.jsonl", [synthetic.environment("p2p_copy", 0), *copies({4096: 2.0})])
    build_table([tmp_path / "one.jsonl"], tmp_path / "t.parquet", tmp_path / "p.json")
    assert compared(against(tmp_path / "t.parquet", there))["verdict"].tolist() == [UNDECIDED, SAME, SAME]


def test_the_report_says_with_what_it_was_compared(run, tmp_path: Path) -> None:
    there = run("there", copies({}), started_at="2026-01-02T03:04:05Z")
    here = run("here", copies({4096: 1.5}))
    page = tmp_path / "report.html"
    words = ["--table", here, "--problems", here.parent / "problems.json", "--output", page]
    words += ["--figures", tmp_path / "figures", "--against", there]
    assert main(["report", *map(str, words)]) == 0
    text = page.read_text()
    assert "Against another run" in text and "2026-01-02, commit 000000000000" in text
    assert "The 1 that are furthest" not in text and "The one that is not alike." in text
    build_report(here, here.parent / "problems.json", page, tmp_path / "figures", None, None)
    assert "Against another run" not in page.read_text()


def test_a_table_that_is_none_is_one_sentence(run, tmp_path: Path, capsys) -> None:
    here = run("here", copies({}))
    words = ["--table", here, "--problems", here.parent / "problems.json", "--output", tmp_path / "r.html"]
    words += ["--figures", tmp_path / "figures", "--against", tmp_path / "absent.parquet"]
    assert main(["report", *map(str, words)]) == 2
    assert capsys.readouterr().err.startswith(f"weft: {tmp_path / 'absent.parquet'} cannot be read")
    assert not (tmp_path / "r.html").exists()


def test_a_way_names_the_size_and_not_the_number_of_elements() -> None:
    frame = pd.DataFrame(
        {
            "benchmark": "collective.all_gather",
            "size_bytes": [1024, 1024, 4096],
            "count": [128.0, 128.0, 512.0],
            "graph": [0.0, 1.0, 0.0],
        }
    )
    assert [words.rpartition(", ")[0] for words in ways(frame)] == [
        "collective all-gather, CUDA graph off",
        "collective all-gather, CUDA graph on",
        "collective all-gather, CUDA graph off",
    ]
