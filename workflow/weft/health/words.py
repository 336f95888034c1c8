"""Health in words: the same rows for the terminal and for the report."""

from __future__ import annotations

from collections import Counter

from weft.figures import quantities as q
from weft.figures.axes import missing, say
from weft.health import groups as g
from weft.health.evidence import Evidence
from weft.health.examine import Finding, Health, Tested
from weft.health.groups import Group
from weft.health.outliers import FALSE_ALARMS

SICK = ("sick", "way", "measured by", "value", "peers' median", "ratio", "runs", "p")
TESTED = ("compared", "what", "runs", "slowest, time over peers'", "found from")
UNTESTED = ("not compared", "groups", "because")
_WAYS = {
    (g.NODE, "away"): "sending", (g.NODE, "back"): "receiving", (g.NODE, "both"): "both ways",
    (g.LINK, "away"): "from first to second", (g.LINK, "back"): "from second to first",
    (g.LINK, "both"): "both ways",
}  # fmt: skip


def verdict(health: Health) -> str:
    """One sentence: what is sick, or that nothing is, with what certainty."""
    among = q.plural(health.tests, "test")
    chance = f"the chance of any false alarm among {among} is below {100 * FALSE_ALARMS:g}{q.NO_BREAK}%"
    if not health.sick and not health.tests:
        return "Nothing could be compared with its peers, so that nothing is known to be sick or healthy."
    if not health.sick:
        return f"Nothing is sick: no unit deviates from its peers; {chance}."
    names = list(dict.fromkeys(named(finding) for finding in health.findings))
    slow = f"Slower than its peers: {', '.join(names)}; {chance}." if names else ""
    wrong = ", ".join(f"{name} ({q.plural(count, 'measurement')})" for name, count in health.wrong)
    return f"{slow} {f'Bytes arrived wrong: {wrong}.' if wrong else ''}".strip()


def sick_rows(health: Health) -> list[tuple[str, ...]]:
    """A row a finding, under SICK."""
    varying = _varying(health)
    return [_sick(finding, varying) for finding in health.findings]


def tested_rows(health: Health) -> list[tuple[str, ...]]:
    """A row a test of units of one kind, under TESTED."""
    varying = _varying(health)
    return [_tested(tested, varying) for tested in health.tested]


def untested_rows(health: Health) -> list[tuple[str, ...]]:
    """A row for what could not be tested for the same reason, under UNTESTED."""
    counts = Counter((f"{group.what}, {group.quantity}", why) for group, why in health.untested)
    return [(what, str(count), why) for (what, why), count in counts.items()]


def title(group: Group, varying: set[str]) -> str:
    """What a group measures, and those of its conditions that vary in the table."""
    words = [say(name, value) for name, value in group.conditions.items() if name in varying]
    return ", ".join((f"{group.what}, {group.quantity}", *(word for word in words if word)))


def _varying(health: Health) -> set[str]:
    """Conditions that do not have one value in all groups that have them."""
    values: dict[str, set[str]] = {}
    for group in [*(t.group for t in health.tested), *(group for group, _ in health.untested)]:
        for name, value in group.conditions.items():
            values.setdefault(name, set()).add("" if missing(value) else str(value))
    return {name for name, found in values.items() if len(found) > 1} | {"placement", "gpudirect"}


def _sick(finding: Finding, varying: set[str]) -> tuple[str, ...]:
    shown = finding.evidence
    agree = "all" if finding.runs < 5 else f"{finding.runs - finding.runs // 5} of"
    return (
        named(finding),
        _WAYS.get((finding.kind, finding.way), ""),
        f"{title(finding.group, varying)}: {_measured(shown)}",
        _quantity(shown, shown.value, shown.interval.low, shown.interval.high),
        _quantity(shown, shown.peers_median, shown.peers_interval.low, shown.peers_interval.high)
        + f" of {shown.peers}",
        f"{shown.ratio:.2f} [{shown.ratio_interval.low:.2f}, {shown.ratio_interval.high:.2f}]",
        f"{agree} {finding.runs}: time ≥ {finding.least:.2f} × peers'",
        f"<{q.NO_BREAK}10⁻⁶" if finding.p < 1e-6 else f"{finding.p:.1g}",
    )


def named(finding: Finding) -> str:
    """What is sick: link node1 – node2, node a17, and not node node3."""
    return finding.name if finding.name.startswith(finding.kind) else f"{finding.kind} {finding.name}"


def _measured(shown: Evidence) -> str:
    return f"{say('benchmark', shown.benchmark.split('.')[1])} of {q.size(shown.size_bytes)}"


def _quantity(shown: Evidence, value: float, low: float, high: float) -> str:
    units = q.RATE_UNITS if shown.unit == "bytes/s" else q.TIME_UNITS
    interval = q.interval(low, high, value, units).replace(" ", q.NO_BREAK)
    return f"{q.quantity(value, units, low, high)} {interval}"


def _tested(tested: Tested, varying: set[str]) -> tuple[str, ...]:
    worst = int(tested.ratios.argmax())
    low, high = tested.runs
    return (
        q.plural(len(tested.names), tested.kind),
        title(tested.group, varying),
        str(low) if low == high else f"{low} to {high}",
        f"{tested.ratios[worst]:.2f} ({tested.names[worst]})",
        f"{tested.detectable:.2f}",
    )


def text(health: Health) -> str:
    """The whole as tables for a terminal."""
    parts = [verdict(health)]
    for header, rows in (
        (SICK, sick_rows(health)), (TESTED, tested_rows(health)), (UNTESTED, untested_rows(health)),
    ):  # fmt: skip
        if rows:
            parts.append(_table(header, rows))
    return "\n\n".join(parts) + "\n"


def _table(header: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [header, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )
