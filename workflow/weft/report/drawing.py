"""Draws the figures and tables of all subjects, on two processes where there is enough to draw."""

from __future__ import annotations

import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from weft.figures import REGISTRY, Dataset, Figure, draw, style
from weft.report.tables import SUBJECTS, SubjectTable, subject_table

PARALLEL_ROWS = 20_000  # below this a second process costs more than it saves


@dataclass
class Drawn:
    """Figures of one subject with their CSV text, and its table."""

    subject: str
    figures: list[tuple[Figure, str]] = field(default_factory=list)
    table: SubjectTable | None = None


def draw_all(dataset: Dataset) -> list[Drawn]:
    """Every subject in the order of the page; the dataset's own process draws alone where the table is small."""
    subjects = list(dict.fromkeys(subject for subject, _ in REGISTRY))
    rows = int(dataset.counts["rows"].sum())
    if rows < PARALLEL_ROWS or len(os.sched_getaffinity(0)) < 2:
        drawn = [_draw(dataset.path, dataset.sampling, subject, dataset) for subject in subjects]
    else:
        with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
            drawn = list(pool.map(_draw, *zip(*[(dataset.path, dataset.sampling, s) for s in subjects], strict=True)))
    order = {subject: place for place, subject in enumerate(SUBJECTS)}
    return sorted(drawn, key=lambda d: order[d.subject])


def _draw(path: Path, sampling: dict[str, Any], subject: str, dataset: Dataset | None = None) -> Drawn:
    style.apply()
    dataset = dataset or Dataset(path, sampling)
    figures = [(figure, figure.data.to_csv(index=False, float_format="%.7g", lineterminator="\n")) for figure in draw(dataset, subject)]
    table = subject_table(dataset, subject)
    return Drawn(subject, [(_bare(figure), csv) for figure, csv in figures], table)


def _bare(figure: Figure) -> Figure:
    """The figure without its data, which travels as CSV."""
    return Figure(**{**figure.__dict__, "data": figure.data.iloc[:0]})
