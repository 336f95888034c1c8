"""Where one way of moving data overtakes another, and where nothing is decided."""

from __future__ import annotations

import pandas as pd

from weft.figures.crossovers import crossovers, of_the_best, winners


def points(line: str, values: list[float], spread: float = 0.01) -> pd.DataFrame:
    sizes = [2**i for i in range(len(values))]
    return pd.DataFrame(
        {
            "panel": "",
            "line": line,
            "size_bytes": sizes,
            "value": values,
            "low": [v * (1 - spread) for v in values],
            "high": [v * (1 + spread) for v in values],
        }
    )


def test_crossover_lies_between_sizes_at_which_the_intervals_are_apart() -> None:
    both = pd.concat([points("a", [1, 2, 4.0, 8, 16]), points("b", [3, 3, 4.01, 5, 6])])
    found = crossovers(both, more_is_better=False)
    assert len(found) == 1
    row = found.iloc[0]
    assert (row["faster_below"], row["faster_above"]) == ("a", "b")
    assert (row["last_size_below_bytes"], row["first_size_above_bytes"]) == (2, 8)
    assert 2 < row["size_bytes"] < 8
    swapped = crossovers(both, more_is_better=True).iloc[0]
    assert (swapped["faster_below"], swapped["faster_above"]) == ("b", "a")


def test_overlapping_intervals_are_undecided() -> None:
    both = pd.concat([points("a", [1, 2], 0.5), points("b", [1.1, 9], 0.5)])
    assert winners(both, more_is_better=False)["faster"].tolist() == ["undecided", "a"]


def test_only_lasting_changes_of_the_fastest_are_marked() -> None:
    three = pd.concat(
        [
            points("a", [1, 1, 1, 1, 1, 1]),
            points("b", [2, 2, 0.5, 0.5, 0.5, 0.5]),
            points("c", [9, 9, 9, 9, 9, 0.1]),
        ]
    )
    found = crossovers(three, more_is_better=False)
    marked = of_the_best(three, found, more_is_better=False)
    assert marked[["faster_below", "faster_above"]].to_numpy().tolist() == [["a", "b"]]
    assert len(found) == 3
