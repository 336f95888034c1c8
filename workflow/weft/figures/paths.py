"""What carried the bytes: shares of the payload counted on NVLink and on PCIe, and the verdict."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
import pyarrow.compute as pc
from matplotlib.figure import Figure as Canvas

from weft.evidence.verdict import LEAST_PAYLOAD_BYTES, NOT_TOLD, OTHER, PROVEN
from weft.figures import quantities as q
from weft.figures import style
from weft.figures.axes import label
from weft.figures.dataset import Dataset
from weft.figures.figure import Figure, draws
from weft.figures.spread import name_of

# By what a way is named: measurements alike in these are one row of figure and table.
_NAMES = ("direction", "memory", "method", "peer_access", "placement", "gpudirect", "library", "container")
# Below, what a launch and its packets need beside the payload is most of what is counted.
_LEAST_SIZE_BYTES = 64 << 10
_SHARES = {"nvlink_share": ("NVLink", style.DATA[0]), "pcie_share": ("PCIe", style.DATA[1])}
_COLUMNS = (
    "benchmark", *_NAMES, "size_bytes", "path_payload_bytes", "nvlink_share", "pcie_share", "path_expected",
    "path_seen", "path_verdict", "path_basis_bytes", "library_path", "source", "destination", "via", "device",
    "source_rank", "destination_rank", "ranks", "file", "line",
)  # fmt: skip


def measured_paths(dataset: Dataset) -> pd.DataFrame:
    """Every measured row with what is known of its path, and the column way: how its name calls it."""
    frame = dataset.read(list(_COLUMNS), pc.field("outcome") == "measured")
    ways = pd.Series("", frame.index, dtype=object)
    for benchmark, here in frame.groupby("benchmark", observed=True, sort=True):
        named = [axis for axis in _NAMES if here[axis].notna().any()]
        words = label(here, named).astype(str)
        ways[here.index] = [", ".join(t for t in (name_of(str(benchmark)), w) if t) for w in words]
    return frame.assign(way=ways)


def path_summary(frame: pd.DataFrame) -> pd.DataFrame:
    """One row a way: rows, proven, other, not_told, and for both links the median, least and greatest share.

    Shares are of those rows whose payload is large enough for the counters, in operations large enough to be
    more than their overhead.
    """
    large = (frame["path_payload_bytes"] >= LEAST_PAYLOAD_BYTES) & (frame["size_bytes"] >= _LEAST_SIZE_BYTES)
    rows = []
    for way, here in frame.groupby("way", sort=True):
        row: dict[str, object] = {"way": way, "rows": len(here)}
        row |= {
            verdict: int((here["path_verdict"] == verdict).sum()) for verdict in (PROVEN, OTHER, NOT_TOLD)
        }
        for name in _SHARES:
            shares = here.loc[large[here.index], name].dropna()
            row |= {name: shares.median(), f"{name}_min": shares.min(), f"{name}_max": shares.max()}
        rows.append(row)
    return pd.DataFrame(rows)


@draws("path")
def carried(dataset: Dataset) -> Iterator[Figure]:
    """Share of the payload on NVLink and on PCIe, a row a way; nothing where no link was counted."""
    summary = path_summary(measured_paths(dataset))
    if summary.empty:
        return
    shown = summary[summary[list(_SHARES)].notna().any(axis=1)]
    if shown.empty:
        return
    total = summary[[PROVEN, OTHER, NOT_TOLD]].sum()
    caption = (
        f"Of {q.plural(int(summary['rows'].sum()), 'measurement')}, {q.count(total[PROVEN])} are proven to "
        f"have taken the way that their name says, {q.count(total[OTHER])} took another, and of "
        f"{q.count(total[NOT_TOLD])} the counters do not tell."
    )
    silent = summary[~summary.index.isin(shown.index)]
    yield Figure(
        "path_shares",
        "path",
        "What carried the payload",
        caption,
        (
            f"counted on all participating devices, sizes of {q.size(_LEAST_SIZE_BYTES)} and more",
            "dot: median, line: least to greatest",
            "PCIe counts its overhead, NVLink does not",
            "of a collective: what ring or tree send in all; NCCL's LL doubles it, LL128 adds 7 %",
        ),
        int(summary["rows"].sum()),
        summary,
        style.svg(_strips(shown), "path_shares", f"Dot plot. {caption}"),
        tuple(f"{row.way}, which was not counted" for row in silent.itertuples()),
        wide=True,
    )


def _strips(summary: pd.DataFrame) -> Canvas:
    count = len(summary)
    names = [str(way) for way in summary["way"]]
    left = min(5.2, 0.25 + 0.066 * max(map(len, names)))
    width, height = 10.2, 0.24 * count + 0.95
    canvas = Canvas(figsize=(width, height))
    ax = canvas.add_axes((left / width, 0.5 / height, (width - left - 2.3) / width, 1 - 0.9 / height))
    most = max(1.25, float(np.nanmax(summary[[f"{name}_max" for name in _SHARES]].to_numpy(float))) * 1.04)
    ax.axvline(1, color=style.LIMIT, lw=0.9)
    for place, row in enumerate(summary.itertuples()):
        y = count - 1 - place
        for offset, (name, (_, colour)) in zip((0.14, -0.14), _SHARES.items(), strict=True):
            if np.isfinite(getattr(row, name)):
                ends = [getattr(row, f"{name}_min"), getattr(row, f"{name}_max")]
                ax.plot(ends, [y + offset] * 2, color=colour, lw=1.3)
                ax.plot([getattr(row, name)], [y + offset], "o", color=colour, ms=4.2, mew=0)
        words = [f"{q.count(getattr(row, v))} {v.replace('_', ' ')}" for v in (PROVEN, OTHER, NOT_TOLD)
                 if getattr(row, v)]  # fmt: skip
        ax.annotate(
            ", ".join(words), (1, y), xycoords=("axes fraction", "data"), xytext=(6, 0), va="center",
            textcoords="offset points", fontsize=7.4, annotation_clip=False,
            color=style.LIMIT if getattr(row, OTHER) else style.INK,
        )  # fmt: skip
    ax.set_ylim(-0.6, count - 0.4)
    ax.set_yticks(range(count), names[::-1], color=style.INK, fontsize=7.6)
    ax.tick_params(axis="y", length=0)
    ax.grid(visible=False, axis="y")
    ax.spines["left"].set_visible(False)
    ax.set_xlim(-0.03 * most, most)
    ax.set_xlabel("bytes counted / bytes to be sent")
    handles = [ax.plot([], [], "o-", color=colour, ms=4.2, mew=0)[0] for _, colour in _SHARES.values()]
    canvas.legend(
        handles, [name for name, _ in _SHARES.values()], loc="upper left", ncols=2,
        bbox_to_anchor=(left / width, 1), borderaxespad=0.2,
    )  # fmt: skip
    return canvas
