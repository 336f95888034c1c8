"""Which of several alike units is slower than the others: consistently, and not by chance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import betainc, betaincinv
from scipy.stats import t as student

FALSE_ALARMS = 0.01  # probability of any false alarm in a whole table
UNUSUAL = 3.5  # modified z-score from which a value is an outlier (Iglewicz and Hoaglin, 1993)
ACCIDENTS = 1  # so many runs far from their own unit's say nothing of what is usual
DISSENT = 5  # of so many runs one may say otherwise
NORMAL = 1.4826  # median absolute deviation -> standard deviation of a normal distribution
# Small-sample factors of the median absolute deviation (Croux and Rousseeuw, 1992), for 2 to 9 values.
SMALL_SAMPLE = (1.196, 1.495, 1.363, 1.206, 1.200, 1.140, 1.129, 1.107)


@dataclass(frozen=True)
class Outliers:
    """What the test says of each unit; deviations are logarithms of a time over that of the peers.

    deviation: what all runs, or all but one in five, reach; p: of that by chance, before correction;
    peers: robust scale of the other units' deviations; scale: of one unit between runs, with
    degrees_of_freedom; noise: deviations of single runs from their unit's own, ascending.
    """

    deviation: np.ndarray
    runs: np.ndarray
    p: np.ndarray
    peers: np.ndarray
    scale: float
    degrees_of_freedom: int
    noise: np.ndarray

    def required(self, tests: int, matters: float) -> np.ndarray:
        """Return for each unit the deviation from which it is called sick.

        It must be more than log(matters), more than that of peers, and so much that its chance, corrected
        for so many tests in all (Bonferroni: valid however they depend), is below FALSE_ALARMS.
        """
        required = np.empty(len(self.deviation))
        for runs in np.unique(self.runs):
            agreeing = _agreeing(runs)
            single = betaincinv(agreeing, runs - agreeing + 1, FALSE_ALARMS / tests)
            usual = int(np.ceil(single * len(self.noise))) - 1 + ACCIDENTS  # so many may be as far out
            tail = self.noise[-1 - usual] if usual < len(self.noise) else -np.inf
            beyond = max(tail, self.scale * student.isf(single, self.degrees_of_freedom))
            required[self.runs == runs] = max(float(np.log(matters)), float(beyond))
        return np.maximum(required, UNUSUAL * self.peers)

    def sick(self, tests: int, matters: float) -> np.ndarray:
        """Return which units deviate by more than is required."""
        return self.deviation > self.required(tests, matters)


def outliers(deviations: np.ndarray, floor: float) -> Outliers:
    """Test every unit against its peers.

    deviations: shape (units, runs), log(time / time of the peers in that run), NaN where a unit was not
    measured; runs are independent of each other. Every unit has at least two runs, and there are at least
    three units. floor: least scale between runs to believe in, such as that within a run.

    A unit's p-value is that of its runs agreeing (Wilkinson, 1951): the chance that all of them, or all but
    one in five, are as far out as the least of these is. The chance of a single run is the larger one of
    that by Student's distribution with the robust scale between runs, and the share of all runs (but for one
    accident) that lie as far from their own unit: what is usual between runs is not held against a unit,
    however heavy the tail.
    """
    ordered = np.sort(deviations, axis=1)  # NaN last
    runs = np.count_nonzero(~np.isnan(deviations), axis=1)
    agreeing = np.array([_agreeing(count) for count in runs])
    deviation = ordered[np.arange(len(runs)), runs - agreeing]
    first, second = np.triu_indices(deviations.shape[1], 1)
    between = np.abs(deviations[:, first] - deviations[:, second]) / np.sqrt(2)
    scale = max(NORMAL * float(np.nanmedian(between)), floor)
    freedom = int(np.sum(runs - 1))
    noise = deviations - deviation[:, None]
    noise = np.sort(noise[~np.isnan(noise)])
    share = np.maximum(len(noise) - np.searchsorted(noise, deviation) - ACCIDENTS, 0) / len(noise)
    single = np.maximum(student.sf(deviation / scale, freedom), share)
    p = betainc(agreeing, runs - agreeing + 1, single)
    return Outliers(deviation, runs, p, _peers(deviation), scale, freedom, noise)


def _agreeing(runs: int) -> int:
    return runs - runs // DISSENT


def _peers(deviation: np.ndarray) -> np.ndarray:
    """Return for each unit the median absolute deviation of the others, as a standard deviation."""
    others = len(deviation) - 1
    factor = SMALL_SAMPLE[others - 2] if others < 10 else others / (others - 0.8)
    size = np.sort(np.abs(deviation))
    place = np.argsort(np.argsort(np.abs(deviation), kind="stable"), kind="stable")
    low, high = (others - 1) // 2, others // 2  # the middle of what remains when one is taken out
    middle = (size[low + (place <= low)] + size[high + (place <= high)]) / 2
    return NORMAL * factor * middle
