"""Finds what is sick in a table: nodes first, then their devices, then single links."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from weft.health import groups as g
from weft.health.deviations import centred, deviations, direction, scores
from weft.health.evidence import Evidence, evidence
from weft.health.groups import Group, groups
from weft.health.outliers import outliers
from weft.table import read_table

FEWEST_RUNS = 3  # of two, both are disturbed too often


@dataclass(frozen=True)
class Finding:
    """Something sick: kind and name say what, group by which measurements.

    ratio: of its time over its peers', median over runs; least: what its runs agree on at least (see
    outliers); p: corrected for all tests; members: how many measured links or parts show it; way: "away",
    "back", "both", or "" where not told.
    """

    group: Group
    kind: str
    name: str
    ratio: float
    least: float
    runs: int
    p: float
    members: int
    way: str
    evidence: Evidence


@dataclass(frozen=True)
class Tested:
    """Units of one kind that were compared.

    ratios: time over that of the peers, median over runs; sick: which units are; detectable: the smallest
    ratio that would have been found.
    """

    group: Group
    kind: str
    names: list[str]
    ratios: np.ndarray
    sick: np.ndarray
    runs: tuple[int, int]
    detectable: float


@dataclass(frozen=True)
class Health:
    """What was found out.

    findings: worst first; wrong: measurements whose bytes arrived wrong, by where and how many; untested:
    groups of which nothing can be said, and why; tests: how many hypotheses were tested.
    """

    findings: list[Finding]
    wrong: list[tuple[str, int]]
    tested: list[Tested]
    untested: list[tuple[Group, str]]
    tests: int

    @property
    def sick(self) -> bool:
        return bool(self.findings or self.wrong)


def examine_table(path: Path) -> Health:
    """Examine a table.parquet; raises BadInput if it is none."""
    table, _ = read_table(path, list(dict.fromkeys(g.COLUMNS)))
    health = examine(list(groups(table)))
    health.wrong.extend(_wrong(table))
    return health


def _wrong(table: pd.DataFrame) -> list[tuple[str, int]]:
    """Return where bytes arrived wrong: no statistics are needed to call that sick."""
    rows = table[table["outcome"] == "wrong"]
    ends = rows[["source_host", "destination_host"]].astype(object)
    between = ends["source_host"].notna() & (ends["source_host"] != ends["destination_host"])
    links = ends["source_host"].astype(str) + " → " + ends["destination_host"].astype(str)
    counts = links.where(between, rows["hostname"].astype(str)).value_counts()
    return [(str(name), int(count)) for name, count in counts.items()]


def examine(found: list[Group]) -> Health:
    """Test every cause in every group; docs/method.md, Health, says how."""
    matrices = [deviations(group) for group in found]
    levels = [
        (group, matrix, [level for level in _levels(group) if len(_able(level, matrix)) >= g.FEWEST])
        for group, matrix in zip(found, matrices, strict=True)
    ]
    tests = sum(len(_able(level, matrix)) for _, matrix, kept in levels for level in kept)
    health = Health([], [], [], [], tests)
    for group, matrix, kept in levels:
        explained = np.zeros(len(matrix))
        for level in kept:
            _test(health, group, matrix, explained, level)
        if not kept:
            health.untested.append((group, _why(group, matrix)))
    health.findings.sort(key=lambda finding: -finding.ratio)
    return health


_Level = tuple[str, dict[str, np.ndarray]]  # kind of cause, name -> members


def _levels(group: Group) -> list[_Level]:
    """Kinds of causes, from the one that explains most to the members themselves."""
    return [*group.levels, (group.member_kind, {n: np.array([i]) for i, n in enumerate(group.members)})]


def _able(level: _Level, matrix: np.ndarray) -> dict[str, np.ndarray]:
    """Return the causes of a level that were measured in enough runs."""
    runs = np.count_nonzero(~np.isnan(_scores(level, matrix)), axis=1)
    return {name: of for (name, of), n in zip(level[1].items(), runs, strict=True) if n >= FEWEST_RUNS}


def _scores(level: _Level, matrix: np.ndarray) -> np.ndarray:
    kind, causes = level
    return matrix if kind in (g.LINK, g.PART) else scores(matrix, list(causes.values()))


def _test(health: Health, group: Group, matrix: np.ndarray, explained: np.ndarray, level: _Level) -> None:
    """Enter what a level shows into health; explained: what sick causes make of each member, log(ratio)."""
    kind, causes = level
    able = _able(level, matrix)
    rest = matrix - explained[:, None]
    values = _scores(level, centred(rest) if kind == g.LINK else rest)
    values = values[[name in able for name in causes]]
    test = outliers(values, _within_runs(group))
    sick = test.sick(health.tests, group.matters)
    ratios = np.exp(np.nanmedian(values, axis=1))
    names = list(able)
    for index in np.flatnonzero(sick):
        members = able[names[index]]
        explained[members] = np.maximum(explained[members], np.log(ratios[index]))
    for index in np.flatnonzero(sick):
        members = able[names[index]]
        end = list(causes).index(names[index]) if kind == g.NODE and group.ends is not None else None
        finding = Finding(
            group, kind, names[index], float(ratios[index]), float(np.exp(test.deviation[index])),
            int(test.runs[index]), float(min(1.0, test.p[index] * health.tests)), len(members),
            direction(group, end, members), evidence(group, *_shown(group, members, explained == 0)),
        )  # fmt: skip
        health.findings.append(finding)
    runs = int(test.runs.min()), int(test.runs.max())
    detectable = float(np.exp(np.median(test.required(health.tests, group.matters))))
    health.tested.append(Tested(group, kind, names, ratios, sick, runs, detectable))


def _shown(group: Group, members: np.ndarray, healthy: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return the members that are evidence of a unit, and those of its peers.

    Of parts, whose times differ, one is set beside the same part of other nodes.
    """
    if group.ends is None:
        members = members[[len(members) // 2]]
        healthy = healthy & (group.alike == group.alike[members[0]])
    return members, [np.array([other]) for other in np.flatnonzero(healthy)]


def _within_runs(group: Group) -> float:
    """Return the usual standard error within a run, relative: a run's median is not known any better."""
    width = np.log(group.rows["high_s"] / group.rows["low_s"]) / (2 * 1.96)
    known = width[np.isfinite(width)]
    return max(float(known.median()) if len(known) else 0.0, 1e-3)


def _why(group: Group, matrix: np.ndarray) -> str:
    """Say why nothing was tested."""
    if np.isnan(matrix).all():
        kind, causes = group.levels[0]
        here = f"{len(causes)} {kind}{'s' if len(causes) > 1 else ''}"
        return f"fewer than {g.FEWEST} measured alike: none can be called the sick one ({here} in all)"
    runs = int(np.count_nonzero(~np.isnan(matrix), axis=1).max())
    return f"a disturbed run looks like a sick node, so {FEWEST_RUNS} runs are needed ({runs} here)"
