"""Figures of every pair: a matrix for each way of copying, at the sizes at which most pairs were measured."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from weft.figures import matrix, style
from weft.figures import quantities as q
from weft.figures.axes import PANEL, label, say, shaped_by, varying
from weft.figures.dataset import Dataset
from weft.figures.figure import Figure
from weft.figures.measures import BANDWIDTH, Measure, unit_of

MOST_PANELS = 8


def pair_order(dataset: Dataset, endpoints: list[int]) -> tuple[list[int], list[int]]:
    """Devices in the order of the matrices, near ones together, and where the groups begin."""
    classes = {
        (link["source"], link["destination"]): link.get("pcie_class") or link.get("link_class")
        for link in dataset.metadata.get("links", [])
    }
    count = max(endpoints) + 1
    order, starts = matrix.near_first(count, {pair: name for pair, name in classes.items() if name})
    position = {start: order[start] for start in starts}
    kept = [endpoint for endpoint in order if endpoint in set(endpoints)]
    return kept, [kept.index(d) for d in position.values() if d in kept and kept.index(d) > 0]


def matrix_sizes(frame: pd.DataFrame, pair: tuple[str, str]) -> list[int]:
    """Sizes at which most pairs were measured: the largest, and one from the middle of the sweep."""
    pairs = frame.drop_duplicates([*pair, "size_bytes"]).groupby("size_bytes").size()
    if pairs.empty or pairs.max() < 3:
        return []
    sizes = sorted(pairs[pairs >= 0.8 * pairs.max()].index)
    powers = [s for s in sizes if (int(s) & (int(s) - 1)) == 0] or sizes
    middle = min(powers, key=lambda s: abs(np.log2(s) - 17))
    return list(dict.fromkeys([powers[-1], middle]))


def pair_matrices(
    dataset: Dataset,
    frame: pd.DataFrame,
    key: str,
    subject: str,
    pair: tuple[str, str],
    measure: Measure,
    what: str,
    order: tuple[list[int], list[int]],
) -> Iterator[Figure]:
    """One figure a chosen size: a matrix for every direction, engine, operation and peer access measured."""
    frame = frame.dropna(subset=list(pair))
    for size in matrix_sizes(frame, pair):
        here = frame[frame["size_bytes"] == size]
        kinds = label(here, [a for a in PANEL if a in here])
        here = here[here.groupby(kinds, observed=True)[measure.column].transform("size") > 2]
        name = f"{key}_matrix_{q.size(size).replace(q.NO_BREAK, '')}".lower()
        title = f"{what}, {q.size(size)}: every pair"
        axes = varying(here, PANEL)
        if label(here, axes).nunique() <= MOST_PANELS:
            parts = [("", here)]
        else:  # a figure for each value of the first axis
            parts = [(str(value), part) for value, part in here.groupby(axes[0], observed=True, sort=True)]
        for value, part in parts:
            if len(part):
                yield _matrix_figure(
                    dataset,
                    part,
                    f"{name}_{value}" if value else name,
                    subject,
                    pair,
                    measure,
                    what,
                    f"{title}, {say(axes[0], value)}" if value else title,
                    order,
                )
        if len(parts) > 1:
            break


def _matrix_figure(
    dataset: Dataset,
    here: pd.DataFrame,
    name: str,
    subject: str,
    pair: tuple[str, str],
    measure: Measure,
    what: str,
    title: str,
    order: tuple[list[int], list[int]],
) -> Figure:
    split = varying(here, PANEL)
    panel_of = label(here, split)
    named = list(panel_of.cat.categories)[:MOST_PANELS]
    scale, unit = unit_of(measure, here[measure.column])
    panels = [
        matrix.panel(one, here[panel_of == one], *pair, measure.column, scale, order[0], "link_class")
        for one in named
    ]
    shown = here[panel_of.isin(named)]
    off = shown[shown[pair[0]] != shown[pair[1]]]
    best, worst = (off.loc[off[measure.column].agg(how)] for how in ("idxmax", "idxmin"))
    caption = (
        f"{what} of {q.size(here['size_bytes'].iloc[0])} over "
        f"{q.plural(off.drop_duplicates(list(pair)).shape[0], 'pair')} "
        f"reaches from {_cell(worst, measure)} ({_where(worst, pair, split)}) to {_cell(best, measure)} "
        f"({_where(best, pair, split)})."
    )
    canvas = matrix.draw(
        panels,
        order[0],
        order[1],
        f"{measure.name}, {unit}",
        (pair[0].replace("_", " "), pair[1].replace("_", " ")),
    )
    further = len(panel_of.cat.categories) - len(named)
    left_out = (
        (f"{further} further combinations have no room here; they are in the table",) if further else ()
    )
    return Figure(
        name,
        subject,
        title,
        caption,
        shaped_by(shown, dataset.sampling, [*PANEL, "placement", "ranks"]),
        int(shown["runs"].sum()),
        _numbers(shown, pair, split, measure),
        style.svg(canvas, name, f"Heat map. {caption} {matrix_text(panels, order[0], unit)}"),
        left_out,
        wide=True,
    )


def matrix_text(panels: list[matrix.Panel], labels: list[int], unit: str) -> str:
    """The first matrix read aloud, where it is small enough to listen to."""
    if len(labels) > 4:
        return "The numbers of every pair are in the CSV."
    first = panels[0]
    cells = [
        f"{labels[i]} to {labels[j]} {first.texts[i, j]}"
        for i, j in np.argwhere(np.isfinite(first.values))
        if i != j
    ]
    return f"{first.title or 'Pairs'}, {unit}: {', '.join(cells)}."


def _cell(row: pd.Series, measure: Measure) -> str:
    return measure.text(row[measure.column], row[measure.companion("low")], row[measure.companion("high")])


def _where(row: pd.Series, pair: tuple[str, str], split: list[str]) -> str:
    link = row.get("link_class")
    words = [
        f"{int(row[pair[0]])}→{int(row[pair[1]])}",
        *([link] if isinstance(link, str) else []),
        *(t for a in split if (t := say(a, row[a]))),
    ]
    return ", ".join(words)


def _numbers(frame: pd.DataFrame, pair: tuple[str, str], split: list[str], measure: Measure) -> pd.DataFrame:
    wanted = [
        *pair,
        "link_class",
        *split,
        "size_bytes",
        measure.column,
        measure.companion("low"),
        measure.companion("high"),
        measure.companion("run_min"),
        measure.companion("run_max"),
        "runs",
        "limit_bytes_per_s",
        "efficiency",
    ]
    return frame[[c for c in wanted if c in frame]].sort_values([*split, *pair], kind="stable")


def efficiency_matrix(
    dataset: Dataset, frame: pd.DataFrame, order: tuple[list[int], list[int]]
) -> Iterator[Figure]:
    if "efficiency" not in frame or frame["efficiency"].isna().all():
        return
    sizes = matrix_sizes(frame, ("source", "destination"))
    here = frame[(frame["size_bytes"] == (sizes or [-1])[0]) & frame["efficiency"].notna()]
    if here.empty:
        return
    split = varying(here, PANEL)
    panel_of = label(here, split)
    every = list(panel_of.cat.categories)
    named = every[:MOST_PANELS]
    panels = [
        matrix.panel(
            n, here[panel_of == n], "source", "destination", "efficiency", 1, order[0], "link_class", True
        )
        for n in named
    ]
    shown = here[panel_of.isin(named)]
    low = shown.loc[shown["efficiency"].idxmin()]
    caption = (
        f"At {q.size(sizes[0])} the pairs reach a median of {q.percent(shown['efficiency'].median())} "
        f"of their limits; "
        f"the furthest from it is {_where(low, ('source', 'destination'), split)} with "
        f"{q.percent(low['efficiency'])}."
    )
    canvas = matrix.draw(
        [matrix.Panel(p.title, p.values * 100, p.texts, p.below) for p in panels],
        *order,
        "measured bandwidth, % of the limit",
        ("source", "destination"),
        0,
    )
    yield Figure(
        "p2p_copy_efficiency",
        "copy",
        f"Copy bandwidth against the limit, {q.size(sizes[0])}",
        caption,
        (
            *shaped_by(shown, dataset.sampling, PANEL),
            "limit of: " + ", ".join(sorted(map(str, shown["limit_origin"].dropna().unique()))),
        ),
        int(shown["runs"].sum()),
        _numbers(shown, ("source", "destination"), split, BANDWIDTH),
        style.svg(canvas, "p2p_copy_efficiency", f"Heat map. {caption}"),
        (f"{len(every) - len(named)} further combinations, for want of room: see the table",)
        if len(every) > len(named)
        else (),
        wide=True,
    )
