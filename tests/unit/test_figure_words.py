"""Words, numbers and their order, as every figure has them."""

from __future__ import annotations

import pandas as pd
import pytest

from weft.figures import matrix
from weft.figures import quantities as q
from weft.figures.axes import class_key, label, rank
from weft.figures.measures import BANDWIDTH


def test_near_devices_stand_together() -> None:
    classes = {
        (a, b): "PIX" if {a, b} in ({0, 2}, {1, 3}) else "SYS" for a in range(4) for b in range(4) if a != b
    }
    assert matrix.near_first(4, classes) == ([0, 2, 1, 3], [2])


def test_link_classes_are_sorted_from_near_to_far() -> None:
    assert sorted(["SYS", "NV1", "PHB", "NV18", "PIX", "X", "NODE", "PXB"], key=class_key) == [
        "X",
        "NV18",
        "NV1",
        "PIX",
        "PXB",
        "PHB",
        "NODE",
        "SYS",
    ]


def test_labels_say_axes_in_words_and_order() -> None:
    frame = pd.DataFrame(
        {"peer_access": [0.0, 1.0, 0.0], "direction": ["bidirectional", "unidirectional", "unidirectional"]}
    )
    assert label(frame, ["direction", "peer_access"]).tolist() == [
        "bidirectional, peer access off",
        "unidirectional, peer access on",
        "unidirectional, peer access off",
    ]
    assert label(frame, ["direction", "peer_access"]).cat.categories[0] == "unidirectional, peer access on"
    assert rank("placement", "device") < rank("placement", "pinned")


@pytest.mark.parametrize(
    ("value", "low", "high", "text"),
    [
        (18.4823e9, 18.45e9, 18.51e9, "18.48\u00a0GB/s"),
        (18.4823e9, 17e9, 20e9, "18\u00a0GB/s"),
        (3.94e11, None, None, "394\u00a0GB/s"),
        (5.1234e8, 5.12e8, 5.127e8, "512.3\u00a0MB/s"),
    ],
)
def test_no_more_digits_than_the_interval_supports(value: float, low: float, high: float, text: str) -> None:
    assert BANDWIDTH.text(value, low, high) == text


def test_quantities_in_words() -> None:
    assert (
        q.size(65536) == "64\u00a0KiB" and q.size(40_000_000) == "38.1\u00a0MiB" and q.size(1) == "1\u00a0B"
    )
    assert q.time(2.5e-6) == "2.50\u00a0µs"
    assert q.percent(0.924) == "92\u00a0%" and q.percent(0.004) == "0.4\u00a0%"
    assert q.interval(18.45e9, 18.51e9, 18.48e9, q.RATE_UNITS) == "[18.45, 18.51]"
    assert q.number(float("nan")) == "–"
