"""The test of units against their peers, on values whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom
from scipy.stats import t as student

from weft.health.outliers import outliers


def test_what_is_required_is_where_sickness_and_its_chance_begin() -> None:
    noise = np.random.default_rng(13).normal(0, 0.1, (8, 4))
    required = outliers(noise, 1e-3).required(100, 1.15)[3]
    for factor in (0.99, 1.01):
        noise[3] += factor * required - noise[3].min()
        test = outliers(noise, 1e-3)
        assert test.required(100, 1.15)[3] == pytest.approx(required)
        assert bool(test.sick(100, 1.15)[3]) == (factor > 1)
    assert outliers(noise, 1e-3).p[3] * 100 < 0.01
    assert outliers(noise, 1e-3).required(10**60, 1.0)[3] > required


@pytest.mark.parametrize(("runs", "agreeing"), [(3, 3), (4, 4), (5, 4), (9, 8), (10, 8)])
def test_chance_is_that_of_so_many_runs_agreeing(runs: int, agreeing: int) -> None:
    """One unit is 1 slower in `agreeing` runs and 9 faster in the others, which are not held against it."""
    noise = np.random.default_rng(runs).normal(0, 0.4, (10, runs))
    noise[7] = np.where(np.arange(runs) < agreeing, 1.0, -9.0)
    test = outliers(noise, 1e-3)
    assert test.deviation[7] == 1.0
    share = (np.count_nonzero(test.noise >= 1.0) - 1) / test.noise.size  # but for one accident
    single = max(share, student.sf(1.0 / test.scale, 10 * (runs - 1)))
    assert test.p[7] == pytest.approx(binom.sf(agreeing - 1, runs, single))
