"""Figures drawn from records that a test makes up."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

from support import synthetic
from support.cases import COPY
from weft.figures import Dataset, Figure, draw, style
from weft.table import build_table

style.apply()


def copy(source: int, destination: int, size: int, rate: float, **changes: object) -> dict[str, object]:
    """A measured copy at so many bytes a second, interval ±1 %."""
    axes = COPY | {"source": source, "destination": destination, "size_bytes": size}
    record = synthetic.measurement(axes, 1.0, device_states=False)
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
