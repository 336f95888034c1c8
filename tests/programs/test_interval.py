"""The programs' interval of the median is the one that the Python package computes from the same samples."""

import orjson
import pytest

from weft.statistics import median_interval


def test_interval_agrees_with_the_package(run_program, tmp_path):
    output = tmp_path / "copy.jsonl"
    done = run_program("p2p", "--benchmarks", "copy", "--pairs", "0:1", "--sizes", "64,64KiB",
    "--keep-samples",
                       "--budget-s", "0.05", "--output", output)  # fmt: skip
    assert done.returncode == 0, done.stderr
    records = [orjson.loads(line) for line in output.read_bytes().splitlines()]
    times = [record["time_s"] for record in records if record.get("outcome") == "measured"]
    assert len(times) > 4
    for time in times:
        interval = median_interval(time["values"], time["confidence"])
        assert len(time["values"]) == time["samples"]
        assert time["ci_low"] == pytest.approx(interval.low, rel=1e-6)
        assert time["ci_high"] == pytest.approx(interval.high, rel=1e-6)
