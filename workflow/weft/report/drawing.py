"""Draws the figures and tables of all subjects, one subject's frames in memory at a time."""

from __future__ import annotations

from dataclasses import dataclass, replace

from weft.figures import REGISTRY, Dataset, Figure, draw, style
from weft.report.key_numbers import KeyNumber, key_numbers
from weft.report.tables import SUBJECTS, SubjectTable, subject_table


@dataclass
class Drawn:
    """What the page says of one subject: figures, each with its CSV text; key numbers; the table, if there
    is one.
    """

    subject: str
    figures: list[tuple[Figure, str]]
    keys: list[KeyNumber]
    table: SubjectTable | None


def draw_all(dataset: Dataset) -> list[Drawn]:
    """Every subject in the order of the page."""
    style.apply()
    known = {subject for subject, _ in REGISTRY}
    assert known <= set(SUBJECTS), f"figures of a subject without a section: {known - set(SUBJECTS)}"
    drawn = []
    for subject in SUBJECTS:
        figures = [
            (replace(figure, data=figure.data.iloc[:0]), _csv(figure)) for figure in draw(dataset, subject)
        ]
        drawn.append(Drawn(subject, figures, key_numbers(dataset, subject), subject_table(dataset, subject)))
        dataset.forget()
    return drawn


def _csv(figure: Figure) -> str:
    return figure.data.to_csv(index=False, float_format="%.7g", lineterminator="\n")
