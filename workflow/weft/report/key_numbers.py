"""The six to thirteen numbers of the summary, each with interval, spread, limit and share of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import pandas as pd

from weft.figures import Dataset, collectives, pooling
from weft.figures import quantities as q
from weft.figures.axes import SOFTWARE, class_key, describe, label, say, telling
from weft.figures.copies import plain
from weft.figures.dataset import BETWEEN, WITHIN
from weft.figures.measures import ATOMICS, BANDWIDTH, BUS_BANDWIDTH, LATENCY, MESSAGE_RATE, Measure
from weft.figures.routes import WAYS, routes
from weft.figures.strips import largest_common

MOST = 13


@dataclass(frozen=True)
class KeyNumber:
    """One line of the summary; texts are ready to print, empty where a source does not say."""

    subject: str
    what: str
    how: str
    value: str
    interval: str
    spread: str
    limit: str
    share: str
    share_value: float | None


def key_numbers(dataset: Dataset, subject: str) -> list[KeyNumber]:
    """The candidates of one subject, in the order of the page."""
    found: list[KeyNumber] = []
    measured = set(dataset.benchmarks())
    for benchmark, function in _OF.get(subject, {}).items():
        if benchmark in measured:
            found += function(dataset, benchmark)
    if subject == "collective" and not found:
        for benchmark in sorted(b for b in measured if b.startswith("collective."))[:3]:
            found += _all_reduce(dataset, benchmark)
    return found


def trimmed(numbers: Iterable[KeyNumber]) -> list[KeyNumber]:
    """At most MOST of them: the subject with most lines gives up its last."""
    found = list(numbers)
    while len(found) > MOST:
        subjects = [number.subject for number in found]
        most = max(dict.fromkeys(subjects), key=subjects.count)
        found.pop(len(subjects) - 1 - subjects[::-1].index(most))
    return found


def _line(subject: str, what: str, frame: pd.DataFrame, measure: Measure, over: str = "") -> KeyNumber:
    """A line for configurations of one kind, pooled."""
    point = pooling.pool(frame.assign(all=""), ["all"], measure).iloc[0]
    value, low, high = (float(point[c]) for c in ("value", "low", "high"))
    several = int(point["configurations"]) > 1 or int(point["runs"]) > 1
    scale = q.scale_of(value, measure.units)
    spread = (
        q.span(point["min"] / scale, point["max"] / scale) if several and point["max"] > point["min"] else ""
    )
    limit, share = point.get("limit"), point.get("efficiency")
    known = measure.more_is_better and q.is_number(limit)
    how = [q.size(frame["size_bytes"].iloc[0])] if frame["size_bytes"].nunique() == 1 else []
    how += [over] if over else []
    how += [q.plural(int(point["runs"]), "run in all", "runs in all")] if several else []
    return KeyNumber(
        subject,
        what,
        ", ".join(how),
        measure.text(value, low, high),
        q.interval(low, high, value, measure.units),
        spread,
        q.rate(limit) if known else "",
        q.percent(share) if known else "",
        float(share) if known else None,
    )


def _at(frame: pd.DataFrame, axes: list[str], smallest: bool = False) -> pd.DataFrame:
    if smallest:
        return frame[frame["size_bytes"] == frame["size_bytes"].min()]
    return frame[frame["size_bytes"] == largest_common(frame, [a for a in axes if a in frame])]


def _best(frame: pd.DataFrame, axes: list[str], measure: Measure) -> tuple[pd.DataFrame, str]:
    """Rows of the combination of axes with the best median, and its name."""
    split = telling(frame, (*axes, *SOFTWARE))
    if not split:
        return frame, ", ".join(describe(frame, axes))
    way = label(frame, split)
    middle = frame[measure.column].groupby(way, observed=True).median()
    best = middle.idxmax() if measure.more_is_better else middle.idxmin()
    return frame[way == best], str(best)


def _copies(dataset: Dataset, benchmark: str) -> Iterator[KeyNumber]:
    frame = plain(dataset.configurations(benchmark))
    if "source" in frame:
        frame = frame[frame["source"].isna() | (frame["source"] != frame["destination"])]
        if frame["source"].notna().any():
            frame = frame[frame["source"].notna()]
    frame = frame[frame[BANDWIDTH.column].notna()]
    if frame.empty:
        return
    frame = _at(frame, ["source", "destination"])
    frame = frame.assign(
        link=frame["link_class"].astype(object).where(frame["link_class"].notna(), "")
        if "link_class" in frame
        else ""
    )
    peers = frame["peer_access"].fillna(1) if "peer_access" in frame else pd.Series(1, frame.index)
    one, on = frame["direction"] == "unidirectional", peers == 1
    for link in sorted(frame.loc[one & on, "link"].unique(), key=class_key)[:3]:
        yield from _copy_line(frame[one & on & (frame["link"] == link)], "Copy, one way", link)
    both = frame[~one & on]
    if len(both):
        nearest = min(both["link"].unique(), key=class_key)
        yield from _copy_line(both[both["link"] == nearest], "Copy, both ways (sum)", nearest)
    off = frame[one & ~on]
    if len(off):
        yield from _copy_line(off, "Copy, one way, peer access off", "")


def _copy_line(frame: pd.DataFrame, what: str, link: str) -> Iterator[KeyNumber]:
    best, way = _best(frame, ["engine", "operation"], BANDWIDTH)
    pairs = best.drop_duplicates([c for c in ("source", "destination") if c in best]).shape[0]
    over = ", ".join(t for t in (way, f"median of {q.plural(pairs, 'pair')}" if pairs > 1 else "") if t)
    yield _line("copy", f"{what}, {link}" if link else what, best, BANDWIDTH, over)


def _latency(dataset: Dataset, benchmark: str) -> Iterator[KeyNumber]:
    frame = dataset.configurations(benchmark)
    frame = frame[frame["source"] != frame["destination"]]
    if frame.empty:
        return
    best, way = _best(frame, ["method", "batching", "peer_access", "operation", "link_class"], LATENCY)
    yield _line("latency", "Latency between devices", _at(best, [], smallest=True), LATENCY, way)


def _atomics(dataset: Dataset, benchmark: str) -> Iterator[KeyNumber]:
    best, way = _best(dataset.configurations(benchmark), ["address", "result", "link_class"], ATOMICS)
    yield _line("atomics", "Remote atomics", best, ATOMICS, way)


def _host(dataset: Dataset, benchmark: str) -> Iterator[KeyNumber]:
    frame = dataset.configurations(benchmark)
    if "pattern" in frame:
        frame = frame[frame["pattern"] != "all_devices"]
    frame = (
        frame[frame["memory"] == "pinned"]
        if "memory" in frame and (frame["memory"] == "pinned").any()
        else frame
    )
    frame = _at(frame, ["direction", "device"])
    for direction in ("host_to_device", "device_to_host"):
        here = frame[frame["direction"] == direction]
        if len(here):
            best, way = _best(here, ["engine", "memory", "link_class"], BANDWIDTH)
            yield _line("host", say("direction", direction).capitalize(), best, BANDWIDTH, way)


def _route(dataset: Dataset, _benchmark: str) -> Iterator[KeyNumber]:
    frame = routes(dataset)
    frame = frame[frame["way"] != WAYS[0]]
    frame = (
        frame[frame["direction"] == "unidirectional"]
        if "direction" in frame and (frame["direction"] == "unidirectional").any()
        else frame
    )
    if frame.empty:
        return
    best, way = _best(_at(frame, ["way"]), ["way"], BANDWIDTH)
    yield _line("route", "Route " + (way or str(best["way"].iloc[0])), best, BANDWIDTH)


def _fanout(dataset: Dataset, benchmark: str) -> Iterator[KeyNumber]:
    frame = dataset.configurations(benchmark)
    frame = frame[frame["pattern"] == "all_pairs"] if (frame["pattern"] == "all_pairs").any() else frame
    best, way = _best(_at(frame, ["pattern"]), ["peer_access", "engine", "operation"], BANDWIDTH)
    yield _line(
        "fanout", f"{say('pattern', best['pattern'].iloc[0]).capitalize()} (sum)", best, BANDWIDTH, way
    )


def _messages(dataset: Dataset, benchmark: str) -> Iterator[KeyNumber]:
    measure, smallest = {
        "latency": (LATENCY, True),
        "bandwidth": (BANDWIDTH, False),
        "message_rate": (MESSAGE_RATE, True),
    }[benchmark.split(".")[1]]
    frame = dataset.configurations(benchmark)
    if measure.column not in frame or frame[measure.column].isna().all():
        return
    name = f"Message {measure.name.removeprefix('message ')}"
    for reach in (WITHIN, BETWEEN) if "reach" in frame else ("",):
        here = frame[frame["reach"] == reach] if reach else frame
        if here.empty:
            continue
        here = _at(here, ["placement", "gpudirect"], smallest)
        best, way = _best(here, ["placement", "gpudirect", "nodes", "ranks", "pairs", "chunk"], measure)
        several = "reach" in frame and frame["reach"].nunique() > 1
        yield _line("message", f"{name} {reach}" if several else name, best, measure, way)


def _all_reduce(dataset: Dataset, benchmark: str) -> Iterator[KeyNumber]:
    frame = dataset.configurations(benchmark).assign(collective=say("benchmark", benchmark.split(".")[1]))
    frame = collectives.usual(collectives.prepared(frame))
    if frame.empty:
        return
    frame = collectives.plain(frame)
    if BUS_BANDWIDTH.column not in frame:
        return
    frame = frame[frame[BUS_BANDWIDTH.column].notna()]
    for library in sorted(frame["library"].unique()):
        here = frame[frame["library"] == library]
        here = here[here["ranks"] == here["ranks"].max()]
        here = here[here["size_bytes"] == here["size_bytes"].max()]
        name = f"{say('library', library)} {here['collective'].iloc[0]}, bus bandwidth"
        for nodes in sorted({here["nodes"].min(), here["nodes"].max()}):
            best, way = _best(here[here["nodes"] == nodes], [], BUS_BANDWIDTH)
            words = [say("ranks", here["ranks"].iloc[0]), say("nodes", nodes) if nodes > 1 else "", way]
            yield _line("collective", name, best, BUS_BANDWIDTH, ", ".join(word for word in words if word))


_OF: dict[str, dict[str, Callable[[Dataset, str], Iterator[KeyNumber]]]] = {
    "copy": {"p2p.copy": _copies},
    "latency": {"p2p.latency": _latency},
    "atomics": {"p2p.atomics": _atomics},
    "host": {"p2p.host": _host},
    "route": {"p2p.route": _route},
    "fanout": {"p2p.fanout": _fanout},
    "collective": {"collective.all_reduce": _all_reduce},
    "message": {f"pt2pt.{name}": _messages for name in ("bandwidth", "latency", "message_rate")},
}
