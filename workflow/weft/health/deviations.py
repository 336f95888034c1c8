"""How far each member of a group is from its peers, run by run."""

from __future__ import annotations

import warnings

import numpy as np

from weft.health.groups import FEWEST, Group

FEWEST_MEMBERS = 2  # of a cause: what slows one member alone is that member


def deviations(group: Group) -> np.ndarray:
    """Return log(time / time of the peers), shape (members, runs): the median over the families of a run.

    A link is as slow as its slower direction. NaN where a member was not measured, or has too few peers.
    """
    times = _times(group)
    slowest = np.fmax(times[..., 0], times[..., 1])
    baseline = _parts_baseline(slowest, group) if group.ends is None else _links_baseline(slowest, group)
    return _quiet(np.nanmedian, slowest - baseline, axis=0).T


def scores(matrix: np.ndarray, causes: list[np.ndarray]) -> np.ndarray:
    """Return the deviation of each cause in each run, shape (causes, runs): that of its fastest member.

    What slows all of several members is what they share. NaN in runs with fewer than FEWEST_MEMBERS of them.
    """
    found = np.full((len(causes), matrix.shape[1]), np.nan)
    for index, members in enumerate(causes):
        several = np.count_nonzero(~np.isnan(matrix[members]), axis=0) >= FEWEST_MEMBERS
        found[index, several] = np.nanmin(matrix[members][:, several], axis=0)
    return found


def centred(matrix: np.ndarray) -> np.ndarray:
    """Return deviations of links from those of the typical link of the same run."""
    return matrix - lower_median(matrix, 0)


def direction(group: Group, node: int | None, members: np.ndarray) -> str:
    """Say which way a node (its place in group.levels) or a link (None) is slow, where that was measured.

    "away" from the node, or from a link's first end; "back" the other way; "both". Empty where it is not
    known, as of a ping-pong.
    """
    if group.ends is None:
        return ""
    times = _times(group)
    baseline = _links_baseline(np.fmax(times[..., 0], times[..., 1]), group)
    ways = (times - baseline[..., None])[:, :, members]
    ways = ways[~np.isnan(ways).any(axis=3).all(axis=(1, 2))]
    if not len(ways):
        return ""
    if node is not None:
        turned = group.ends[members, 1] == node
        ways = np.where(turned[:, None], ways[..., ::-1], ways)
    found = _quiet(np.nanmedian, _quiet(np.nanmin, ways, axis=2), axis=(0, 1)) >= np.log(group.matters)
    return {(True, False): "away", (False, True): "back", (True, True): "both"}.get(tuple(found.tolist()), "")


def lower_median(values: np.ndarray, axis: int) -> np.ndarray:
    """Return the median, of an even number the lower one of both in the middle; NaN of none. Keeps the axis.

    Half of the nodes may be slow, and the others are still what is usual.
    """
    ordered = np.sort(values, axis=axis)
    count = np.count_nonzero(~np.isnan(values), axis=axis, keepdims=True)
    return np.take_along_axis(ordered, np.maximum(count - 1, 0) // 2, axis)


def _times(group: Group) -> np.ndarray:
    """Return log(time), shape (families, runs, members, directions)."""
    rows = group.rows
    shape = rows["family"].max() + 1, rows["run"].max() + 1, len(group.members), 2
    times = np.full(shape, np.nan)
    place = rows["family"], rows["run"], rows["member"], np.where(rows["forward"], 0, 1)
    times[place] = np.log(rows["time_s"])
    return times


def _links_baseline(slowest: np.ndarray, group: Group) -> np.ndarray:
    """Return the usual time of a node's best link, in each family and run, shape (families, runs, 1).

    Not that of a link: with one of three nodes slow, two links of three are.
    """
    _, nodes = group.levels[0]
    best = np.stack([_quiet(np.nanmin, slowest[:, :, of], axis=2) for of in nodes.values()], axis=2)
    enough = np.count_nonzero(~np.isnan(best), axis=2, keepdims=True) >= FEWEST
    return np.where(enough, lower_median(best, 2), np.nan)


def _parts_baseline(slowest: np.ndarray, group: Group) -> np.ndarray:
    """Return the usual time of a part over the nodes that have it, shape (families, 1, members)."""
    usual = _quiet(np.nanmedian, slowest, axis=1)
    baseline = np.full((slowest.shape[0], 1, slowest.shape[2]), np.nan)
    for code in np.unique(group.alike):
        peers = np.flatnonzero(group.alike == code)
        enough = np.count_nonzero(~np.isnan(usual[:, peers]), axis=1, keepdims=True) >= FEWEST
        baseline[:, 0, peers] = np.where(enough, lower_median(usual[:, peers], 1), np.nan)
    return baseline


def _quiet(reduce, values: np.ndarray, **arguments) -> np.ndarray:  # noqa: ANN001, ANN003
    """Reduce without a warning where all is NaN; the result is NaN there."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return reduce(values, **arguments)
