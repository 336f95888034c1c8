"""Our harness beside nccl-tests: the same operation at the same size, in the same way."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as Canvas

from weft.figures import quantities as q
from weft.figures import style
from weft.figures.axes import label, say, telling
from weft.figures.collectives import WITNESS, load_all
from weft.figures.dataset import Dataset
from weft.figures.figure import Figure, draws
from weft.figures.marks import size_axis

AGREEMENT = 0.03
LEAST_BYTES = 1 << 20  # from here on they should agree; below, what differs is the cost of launching
_WAY = ("ranks", "nodes", "in_place", "processes", "graph", "container")
_SAME = ("collective", *_WAY, "size_bytes", "datatype", "reduction", "algorithm", "protocol", "transport")


def compared(dataset: Dataset) -> pd.DataFrame:
    """One row an operation, way and size that both measured: ours_s, low_s, high_s (our interval), theirs_s,
    ratio with low and high (ours over theirs), difference_s (ours less theirs), and way in words.
    """
    frame = load_all(dataset)
    if frame.empty or not (frame["program"] == WITNESS).any():
        return pd.DataFrame()
    same = [axis for axis in _SAME if axis in frame]
    values = frame.assign(
        **{axis: frame[axis].astype(object).where(frame[axis].notna(), "") for axis in same}
    )
    is_witness = values["program"] == WITNESS
    ours = values.loc[~is_witness, [*same, "time_s", "time_low_s", "time_high_s", "runs"]]
    theirs = values.loc[is_witness, [*same, "time_s"]].rename(columns={"time_s": "theirs_s"})
    both = ours.merge(theirs, on=same).rename(
        columns={"time_s": "ours_s", "time_low_s": "low_s", "time_high_s": "high_s"}
    )
    if both.empty:
        return both
    both["size_bytes"] = both["size_bytes"].astype("int64")
    way = label(both, telling(both, [axis for axis in _WAY if axis in both])).astype(str)
    return both.assign(
        way=way,
        ratio=both["ours_s"] / both["theirs_s"],
        ratio_low=both["low_s"] / both["theirs_s"],
        ratio_high=both["high_s"] / both["theirs_s"],
        difference_s=both["ours_s"] - both["theirs_s"],
    ).sort_values(["collective", "way", "size_bytes"], ignore_index=True)


@draws("collective")
def beside_nccl_tests(dataset: Dataset) -> Iterator[Figure]:
    """Ratio of times from 1 MiB on, difference below: a row an operation, a line a way."""
    both = compared(dataset)
    if both.empty:
        return
    key = "collective_witness"
    caption = _caption(both)
    fixed = [say(axis, both[axis].iloc[0]) for axis in _WAY if axis in both and both[axis].nunique() == 1]
    yield Figure(
        key,
        "collective",
        "Beside nccl-tests",
        caption,
        (
            *(text for text in fixed if text),
            "line: our within-run interval over the mean that nccl-tests prints",
            f"grey: ±{100 * AGREEMENT:g} %",
        ),
        int(both["runs"].sum()),
        both,
        style.svg(_draw(both), key, f"Dots against size. {caption}"),
    )


def _caption(both: pd.DataFrame) -> str:
    large, small = both[both["size_bytes"] >= LEAST_BYTES], both[both["size_bytes"] < LEAST_BYTES]
    sentences = []
    if len(large):
        agree = int(((large["ratio"] - 1).abs() <= AGREEMENT).sum())
        farthest = large.loc[(large["ratio"] - 1).abs().idxmax()]
        sentences.append(
            f"From {q.size(LEAST_BYTES)} on, {agree} of {q.plural(len(large), 'time')} agree within"
            f" ±{100 * AGREEMENT:g} %; the farthest is {farthest['ratio']:.3f} of that of nccl-tests"
            f" ({_words(farthest)})."
        )
    if len(small):
        widest = small.loc[small["difference_s"].abs().idxmax()]
        sentences.append(
            f"Below, ours differ by a median of {1e6 * small['difference_s'].median():+.1f}{q.NO_BREAK}µs,"
            f" at most {1e6 * widest['difference_s']:+.1f}{q.NO_BREAK}µs ({_words(widest)})."
        )
    return " ".join(sentences)


def _words(row: pd.Series) -> str:
    return ", ".join(text for text in (row["collective"], row["way"], q.size(row["size_bytes"])) if text)


def _draw(both: pd.DataFrame) -> Canvas:
    panels, ways = sorted(both["collective"].unique()), list(dict.fromkeys(both["way"]))
    width, height = 7.7, 0.6 + len(panels) * 2.0
    canvas = Canvas(figsize=(width, height))
    grid = canvas.subplots(len(panels), 2, squeeze=False)
    colours = dict(zip(ways, style.DATA * 9, strict=False))
    for panel, (left, right) in zip(panels, grid, strict=True):
        here = both[both["collective"] == panel]
        large, small = here[here["size_bytes"] >= LEAST_BYTES], here[here["size_bytes"] < LEAST_BYTES]
        left.axhspan(1 - AGREEMENT, 1 + AGREEMENT, color=style.MUTED, alpha=0.15, lw=0)
        left.axhline(1, color=style.MUTED, lw=0.9)
        right.axhline(0, color=style.MUTED, lw=0.9)
        for way, colour in colours.items():
            of = large[large["way"] == way]
            _points(left, of, of["ratio"], of["ratio_low"], of["ratio_high"], colour)
            of = small[small["way"] == way]
            shift = of["theirs_s"]
            ends = (of[end] - shift for end in ("ours_s", "low_s", "high_s"))
            _points(right, of, *(1e6 * end for end in ends), colour)
        left.set_title(panel)
        left.set_ylabel("time / nccl-tests")
        right.set_ylabel("difference, µs")
        for ax, part in ((left, large), (right, small)):
            if len(part):
                size_axis(ax, part["size_bytes"], 6)
            else:
                ax.set_visible(False)
    canvas.subplots_adjust(
        left=0.62 / width,
        right=1 - 0.12 / width,
        top=1 - 0.5 / height,
        bottom=0.4 / height,
        wspace=0.26,
        hspace=0.45,
    )
    handles = [grid[0, 0].plot([], [], "o", color=colour, ms=3.6)[0] for colour in colours.values()]
    if len(ways) > 1:
        canvas.legend(handles, ways, loc="upper left", ncols=min(len(ways), 4), bbox_to_anchor=(0.08, 1))
    return canvas


def _points(
    ax: object, of: pd.DataFrame, value: pd.Series, low: pd.Series, high: pd.Series, colour: str
) -> None:
    below, above = (np.nan_to_num(np.abs(end - value)) for end in (low, high))
    ax.errorbar(of["size_bytes"], value, [below, above], fmt="o", ms=3, color=colour, lw=1)  # type: ignore[attr-defined]
