"""Order statistics on data whose answer is known."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from weft.statistics import (
    combine_repeats,
    crossovers,
    grouped_quantile,
    median_interval,
    ratio_of_medians,
)


def test_interval_of_known_ranks():
    """n = 10: ranks 2 and 9 cover 97.85 %, ranks 3 and 8 cover 89.06 %: at exactly these, the ranks
    themselves.
    """
    values = np.arange(1, 11) ** 2.0
    for rank in (2, 3):
        coverage = 1 - 2 * binom.cdf(rank - 1, 10, 0.5)
        interval = median_interval(values[::-1], coverage)
        assert interval.low == pytest.approx(values[rank - 1])
        assert interval.high == pytest.approx(values[-rank])


def test_interval_is_interpolated_between_ranks():
    """n = 10 at 95 %: Hettmansperger and Sheather's weight, by hand: I = 0.3235.., w = 8 I / (2 + 6 I)."""
    share = (0.978515625 - 0.95) / (0.978515625 - 0.890625)
    weight = 8 * share / (2 + 6 * share)
    interval = median_interval(np.arange(10.0), 0.95)
    assert interval.low == pytest.approx(1 + weight)
    assert interval.high == pytest.approx(8 - weight)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_too_few_samples_give_all_of_them(count):
    interval = median_interval(np.arange(count) + 1.0, 0.95)
    assert (interval.low, interval.high) == (1.0, count)


@pytest.mark.parametrize("count", [2, 3, 4, 7, 20, 101, 10_000])
@pytest.mark.parametrize("confidence", [0.01, 0.5, 0.95, 0.999])
def test_interval_holds_the_median_and_is_ordered(count, confidence):
    values = np.random.default_rng(count).lognormal(0, 1, count)
    interval = median_interval(values, confidence)
    assert values.min() <= interval.low <= np.median(values) <= interval.high <= values.max()


def test_interval_covers_as_often_as_it_says():
    """On skewed data (lognormal, median 1), as the sampler's test: 93 to 97 %."""
    random = np.random.default_rng(7)
    hits = 0
    for _ in range(4000):
        interval = median_interval(random.lognormal(0, 1, 25), 0.95)
        hits += interval.low <= 1 <= interval.high
    assert 0.93 < hits / 4000 < 0.97


def test_interval_refuses_what_has_no_answer():
    with pytest.raises(ValueError, match="at least one sample"):
        median_interval([])
    with pytest.raises(ValueError, match="between 0 and 1"):
        median_interval([1.0], 95)


def test_ratio_takes_the_worst_ends():
    ratio, low, high = ratio_of_medians([10, 8], [9, np.nan], [12, 8], [5, 4], [4, 4], [6, 4])
    assert ratio.tolist() == [2, 2]
    assert low.tolist()[0] == 1.5
    assert high.tolist() == [3, 2]
    assert np.isnan(low[1])


def test_crossover_is_where_the_logarithmic_lines_meet():
    """a = sqrt(x), b = 10 sqrt(sqrt(x)) meet at 10^4; straight lines on logarithmic axes."""
    size = 10.0 ** np.arange(1, 8, 0.5)
    crossing = crossovers(size, np.sqrt(size), 10 * size**0.25)
    assert len(crossing) == 1
    assert crossing[0].size == pytest.approx(1e4)
    assert crossing[0].low < 1e4 < crossing[0].high or 1e4 in (crossing[0].low, crossing[0].high)
    assert crossing[0].lower_after == "b"


def test_crossover_needs_intervals_apart_on_both_sides():
    size = np.array([1, 2, 4, 8, 16.0])
    a, b = np.array([1, 1, 1, 1, 1.0]), np.array([0.5, 0.9, 1.05, 1.1, 2.0])
    wide = [crossovers(size, a, b, (a * 0.85, a * 1.15), (b * 0.99, b * 1.01))]
    assert [(c.low, c.high, c.lower_after) for c in wide[0]] == [(1, 16, "a")]
    assert 2 < wide[0][0].size < 4
    never = b.copy()
    never[-1] = 1.1
    assert crossovers(size, a, never, (a * 0.85, a * 1.15), (never * 0.99, never * 1.01)) == []


def test_crossover_without_interval_ends_uses_the_values():
    size = np.array([1, 2.0])
    nan = np.array([np.nan, np.nan])
    assert len(crossovers(size, [1, 2.0], [2, 1.0], (nan, nan), (nan, nan))) == 1
    assert crossovers(size, [1, 1.0], [2, 2.0]) == []


def test_crossover_there_and_back():
    size = np.arange(1, 6.0)
    found = crossovers(size, [1, 1, 3, 3, 1.0], [2, 2, 2, 2, 2.0])
    assert [c.lower_after for c in found] == ["b", "a"]


def test_crossover_refuses_sizes_out_of_order():
    with pytest.raises(ValueError, match="ascend"):
        crossovers([2, 1], [1, 1], [2, 2])


@pytest.mark.parametrize("quantile", [0.0, 0.25, 0.5, 0.9, 1.0])
def test_grouped_quantile_is_numpys(quantile):
    random = np.random.default_rng(3)
    group = random.integers(0, 40, 500)
    values = random.normal(size=500)
    result = grouped_quantile(values, group, 42, quantile)
    for index in range(40):
        assert result[index] == pytest.approx(np.quantile(values[group == index], quantile))
    assert np.isnan(result[40:]).all()


def frame(rows):
    names = ["benchmark", "via", "time_median_s", "time_ci_low_s", "time_ci_high_s", "bandwidth_bytes_per_s"]
    return pd.DataFrame(rows, columns=names).astype({"via": "Int32"})


def test_levels_of_repetition_are_kept_apart():
    """Three runs of one configuration; another whose via is null; a hole."""
    combined = combine_repeats(
        frame(
            [
                ["copy", 1, 2.0, 1.9, 2.1, 50.0],
                ["copy", None, 1.0, 0.9, 1.2, 100.0],
                ["copy", 1, 4.0, 3.7, 4.1, 25.0],
                ["copy", 1, 2.5, 2.4, 2.6, 40.0],
                ["copy", 1, None, None, None, None],
            ]
        ),
        ["benchmark", "via"],
    )
    assert combined["runs"].tolist() == [3, 1]
    assert combined["time_median_s"].tolist() == [2.5, 1.0]
    assert combined["time_ci_low_s"].tolist() == [2.4, 0.9]
    assert combined["time_ci_high_s"].tolist() == [2.6, 1.2]
    assert combined["time_run_min_s"].tolist() == [2.0, 1.0]
    assert combined["time_run_max_s"].tolist() == [4.0, 1.0]
    assert combined["spread"].tolist() == pytest.approx([0.8, 0.0])
    assert combined["bandwidth_bytes_per_s"].tolist() == pytest.approx([40.0, 100.0])
    assert combined["bandwidth_bytes_per_s_ci_high"].tolist() == pytest.approx([100 / 2.4, 100 / 0.9])
    assert combined["via"].tolist()[0] == 1
    assert combined["via"].isna().tolist() == [False, True]


def test_even_number_of_runs_and_values_without_interval():
    """Bandwidth is payload / median time, not the median of the bandwidths."""
    combined = combine_repeats(
        frame([["copy", 1, 1.0, None, None, 12.0], ["copy", 1, 3.0, None, None, 4.0]]), ["benchmark"], ["via"]
    )
    assert combined["time_median_s"].tolist() == [2.0]
    assert combined["bandwidth_bytes_per_s"].tolist() == [6.0]
    assert combined["time_ci_low_s"].isna().all()
    assert combined["via"].tolist() == [1]


def test_no_rows_give_no_configurations():
    assert combine_repeats(frame([]), ["benchmark", "via"]).empty


def test_combining_many_rows_agrees_with_pandas():
    random = np.random.default_rng(11)
    axes = pd.DataFrame(
        itertools.product(range(50), [None, 1, 2], ["a", "b"], range(7)), columns=["s", "via", "e", "run"]
    )
    axes["via"] = axes["via"].astype("Int32")
    axes["e"] = axes["e"].astype("category")
    axes = axes.sample(frac=1, random_state=1, ignore_index=True)
    axes["time_median_s"] = random.lognormal(size=len(axes))
    axes["time_ci_low_s"], axes["time_ci_high_s"] = axes["time_median_s"] * 0.9, axes["time_median_s"] * 1.1
    by = ["s", "via", "e"]
    combined = combine_repeats(axes, by)
    expected = (
        axes.groupby(by, dropna=False, observed=True)["time_median_s"]
        .agg(["median", "min", "max"])
        .reset_index()
    )
    merged = combined.merge(expected, on=by)
    assert len(merged) == len(combined) == 300
    assert (combined["runs"] == 7).all()
    np.testing.assert_allclose(merged["time_median_s"], merged["median"])
    np.testing.assert_allclose(merged["time_run_max_s"], merged["max"])
    np.testing.assert_allclose(merged["time_run_min_s"], merged["min"])
