"""A figure, and the registry in which every function that draws figures enters itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import pandas as pd

from weft.figures.dataset import Dataset


@dataclass(frozen=True)
class Figure:
    """One drawn figure and all that the page says about it.

    key: names its files and prefixes its ids; subject: the section it stands in; caption: one sentence
    saying what is
    seen, with numbers; shaped: the values that shaped it; measurements: rows of the table that it shows;
    left_out: what
    was not drawn, each with why; data: the numbers drawn, as its CSV; svg: see style.svg; wide: may
    exceed the text.
    """

    key: str
    subject: str
    title: str
    caption: str
    shaped: tuple[str, ...]
    measurements: int
    data: pd.DataFrame
    svg: str
    left_out: tuple[str, ...] = ()
    wide: bool = False


Draw = Callable[[Dataset], Iterable[Figure]]
REGISTRY: list[tuple[str, Draw]] = []


def draws(subject: str) -> Callable[[Draw], Draw]:
    """Enter a function that yields the figures of a subject, none where there is nothing to draw."""

    def enter(function: Draw) -> Draw:
        REGISTRY.append((subject, function))
        return function

    return enter


def draw(dataset: Dataset, subject: str) -> Iterator[Figure]:
    """The figures of one subject, in the order of the registry."""
    for name, function in REGISTRY:
        if name == subject:
            yield from function(dataset)
