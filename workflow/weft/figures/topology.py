"""Topology: devices and links as a graph, the matrix of link classes with limits, and NIC and NUMA
affinity.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as Canvas

from weft.figures import matrix, style
from weft.figures import quantities as q
from weft.figures.axes import class_colours, class_key
from weft.figures.dataset import Dataset
from weft.figures.figure import Figure, draws

MOST_DRAWN = 16


def systems(dataset: Dataset) -> Iterator[tuple[str, pd.DataFrame]]:
    """(name, links) of every topology in the table; name is empty where there is only one."""
    links = pd.DataFrame(dataset.metadata.get("links", []))
    if links.empty or "link_class" not in links:
        return
    links = links[links["link_class"].notna()]
    keys = [
        k for k in ("system", "campaign", "hostname") if k in links and links[k].nunique(dropna=False) > 1
    ]
    if not keys:
        yield "", links
        return
    for name, here in links.groupby(keys, dropna=False):
        yield ", ".join(str(n) for n in name), here


@draws("topology")
def graph(dataset: Dataset) -> Iterator[Figure]:
    """Devices on a circle, a line a pair, thicker for more links; only what is nearer than SYS where that
    tells more.
    """
    for name, links in systems(dataset):
        devices = sorted({*links["source"], *links["destination"]})
        if len(devices) < 2 or len(devices) > MOST_DRAWN:
            continue
        classes = sorted(links["link_class"].unique(), key=class_key)
        shown = [c for c in classes if len(classes) == 1 or c != classes[-1] or class_key(c)[0] < 2]
        order, _ = matrix.near_first(max(devices) + 1, _staged(links))
        order = [d for d in order if d in set(devices)]
        counts = links.drop_duplicates(["source", "destination"])["link_class"].value_counts()
        words = ", ".join(f"{c} for {q.plural(int(counts[c]), 'pair')}" for c in classes)
        each = links.groupby("link_class")["limit_bytes_per_s"].max().dropna()
        limits = "; ".join(f"{c} carries at most {q.rate(each[c])} one way" for c in classes if c in each)
        caption = f"{q.plural(len(devices), 'device')} joined by {words}" + (
            f"; {limits}." if limits else "."
        )
        hidden = [c for c in classes if c not in shown]
        key = _key("topology_graph", name)
        yield Figure(
            key,
            "topology",
            _title("Devices and links", name),
            caption,
            ("counted in ordered pairs", "thicker: more links"),
            0,
            links,
            style.svg(_graph(links, order, shown, dataset), key, f"Graph. {caption}"),
            tuple(f"lines of class {c}, which joins all remaining pairs" for c in hidden),
        )


def _staged(links: pd.DataFrame) -> dict[tuple[int, int], str]:
    path = links["pcie_class"].fillna(links["link_class"]) if "pcie_class" in links else links["link_class"]
    return dict(zip(zip(links["source"], links["destination"], strict=True), path, strict=True))


def _graph(links: pd.DataFrame, order: list[int], shown: list[str], dataset: Dataset) -> Canvas:
    n = len(order)
    width, height = 5.6, 3.3
    canvas = Canvas(figsize=(width, height))
    ax = canvas.add_axes((0.02, 0.02, 0.7, 0.96))
    angle = np.pi / 2 + np.pi / n - 2 * np.pi * np.arange(n) / n
    place = {d: (np.cos(a), np.sin(a)) for d, a in zip(order, angle, strict=True)}
    colours = class_colours(links["link_class"])
    for link in links.itertuples():
        if link.source < link.destination and link.link_class in shown:
            count = getattr(link, "link_count", None)
            many = float(count) if q.is_number(count) and count else 1.0
            (x0, y0), (x1, y1) = place[link.source], place[link.destination]
            ax.plot(
                [x0, x1],
                [y0, y1],
                color=colours[link.link_class],
                lw=min(1.2 + 0.55 * np.sqrt(many), 3.4),
                solid_capstyle="butt",
            )
    numa = {d["device"]: d.get("numa_node") for d in dataset.metadata.get("devices", [])}
    told = len(set(numa.values())) > 1
    for device, (x, y) in place.items():
        ax.plot([x], [y], "o", ms=21, color=style.SURFACE, mec=style.INK, mew=1)
        ax.annotate(str(device), (x, y), ha="center", va="center_baseline", fontsize=10)
        if told and numa.get(device) is not None:
            ax.annotate(
                f"NUMA {numa[device]}",
                (1.2 * x, 1.22 * y),
                ha="left" if x > 0.1 else "right" if x < -0.1 else "center",
                va="center",
                fontsize=7,
                color=style.MUTED,
            )
    ax.set_xlim(-1.75, 1.75)
    ax.set_ylim(-1.35, 1.35)
    ax.set_aspect("equal")
    ax.axis("off")
    handles = [ax.plot([], [], color=colours[c], lw=2)[0] for c in shown]
    limit = links.groupby("link_class")["limit_bytes_per_s"].max()
    names = [f"{c}: {q.rate(limit[c])}" if q.is_number(limit[c]) else c for c in shown]
    canvas.legend(
        handles,
        names,
        loc="center left",
        bbox_to_anchor=(0.73, 0.5),
        title="class: limit, one way",
        alignment="left",
        title_fontsize=8,
    )
    return canvas


@draws("topology")
def classes(dataset: Dataset) -> Iterator[Figure]:
    """Link class and limit of every pair; and of the path taken when peer access is off."""
    for name, links in systems(dataset):
        devices = sorted({*links["source"], *links["destination"]})
        if not devices:
            continue
        order, starts = matrix.near_first(max(devices) + 1, _staged(links))
        order = [d for d in order if d in set(devices)]
        starts = starts if len(order) == max(devices) + 1 else []
        limited = links["limit_bytes_per_s"].notna().any()
        value = (
            links["limit_bytes_per_s"].fillna(0) / 1e9
            if limited
            else links["link_class"].map(lambda c: -class_key(c)[0])
        )
        here = links.assign(value=value, text=links["link_class"])
        first = matrix.panel(
            "with peer access" if "pcie_class" in links else "",
            here,
            "source",
            "destination",
            "value",
            1,
            order,
            None,
        )
        first.texts[:] = ""
        first.below[:] = ""
        panels = [_words(first, here, order, "link_class", limited)]
        if "pcie_class" in links and (links["pcie_class"] != links["link_class"]).any():
            blank = matrix.Panel(
                "without (path that avoids NVLink)",
                np.where(np.isfinite(first.values), min(0.0, float(np.nanmin(first.values))), np.nan),
                first.texts.copy(),
                first.below.copy(),
            )
            panels.append(_words(blank, here, order, "pcie_class", False))
        canvas = matrix.draw(
            panels,
            order,
            starts,
            "limit of one direction, GB/s" if limited else "nearness",
            ("source", "destination"),
            0 if limited else None,
        )
        near = links.loc[links["limit_bytes_per_s"].idxmax()] if limited else None
        caption = f"{q.plural(len(links), 'ordered pair')} of {q.plural(len(order), 'device')}" + (
            f"; the highest limit is {q.rate(near['limit_bytes_per_s'])} ({near['link_class']}), the lowest "
            f"{q.rate(links['limit_bytes_per_s'].min())}."
            if near is not None
            else "; no limits are known."
        )
        origins = sorted(links["limit_origin"].dropna().unique()) if "limit_origin" in links else []
        key = _key("topology_classes", name)
        yield Figure(
            key,
            "topology",
            _title("Link class and limit of every pair", name),
            caption,
            (
                *(f"limit origin: {o.replace('_', ' ')}" for o in origins),
                "small print: limit of one direction, GB/s",
            )
            if limited
            else (),
            0,
            links,
            style.svg(canvas, key, f"Heat map. {caption}"),
            wide=len(order) > 4,
        )


def _words(
    item: matrix.Panel, links: pd.DataFrame, order: list[int], column: str, limited: bool
) -> matrix.Panel:
    index = {d: i for i, d in enumerate(order)}
    for link in links.itertuples():
        i, j = index[link.source], index[link.destination]
        item.texts[i, j] = getattr(link, column) or ""
        item.below[i, j] = matrix.three_digits(link.value) if limited and link.value else ""
    return item


def _key(stem: str, name: str) -> str:
    return stem + ("_" + "".join(c if c.isalnum() else "_" for c in name) if name else "")


def _title(title: str, name: str) -> str:
    return f"{title}: {name}" if name else title
