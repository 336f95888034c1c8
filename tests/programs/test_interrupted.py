"""A run that is ended in the middle leaves its partial file, whole lines only, and no record file."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path

import pytest

from programs.records import command


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_run_leaves_a_partial_file(tmp_path: Path, number: signal.Signals) -> None:
    output, partial = tmp_path / "records.jsonl", tmp_path / "records.jsonl.partial"
    options = (
        "--output",
        output,
        "--benchmarks",
        "copy",
        "--sizes",
        "1KiB",
        "--precision",
        "1e-6",
        "--budget-s",
        1,
    )
    words = [str(word) for word in command("p2p", *options)]
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as program:
        deadline = time.monotonic() + 60
        while not partial.exists() or partial.read_text().count("\n") < 2:
            assert program.poll() is None and time.monotonic() < deadline
            time.sleep(0.05)
        program.send_signal(number)
        assert program.wait(60) == -number
    assert not output.exists()
    lines = partial.read_text().splitlines()
    assert [json.loads(line)["record"] for line in lines][:2] == ["environment", "measurement"]
