"""Do two runs agree? Compares the medians of two runs, configuration by configuration.

PYTHONPATH=workflow:tests .venv/bin/python -m benchmarks.reproducibility RUN [RUN]

A run is a table (.parquet), or record files or a folder of them. Of two, each counts as a whole (the median
over its repeats); of one alone, its first two repeats are compared.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from weft.columns import identity_columns
from weft.errors import BadInput
from weft.records import find_record_files
from weft.statistics import combine_repeats
from weft.table import build_table, read_table

LEAST_SIZE_BYTES = 2**20
WITHIN = 0.10


def runs_of(paths: Sequence[Path]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the measured rows of the two runs that one or two paths name; raises BadInput."""
    if len(paths) > 2:
        raise BadInput(f"{len(paths)} runs were given; there must be one or two.")
    frames = [_read(path) for path in paths]
    if len(frames) == 2:
        return frames[0], frames[1]
    repeats = sorted(frames[0]["repeat"].unique())
    if len(repeats) < 2:
        raise BadInput(f"{paths[0]} holds one repeat; two are needed, or a second run beside it.")
    return tuple(frames[0][frames[0]["repeat"] == repeat] for repeat in repeats[:2])


def compare(
    first: pd.DataFrame,
    second: pd.DataFrame,
    least_size_bytes: int = LEAST_SIZE_BYTES,
    within: float = WITHIN,
) -> pd.DataFrame:
    """Return a row a benchmark, and "all": how many configurations of at least that size both runs measured,
    how many of them have medians within that of each other (the greater over the lesser, less one), their
    share, and the median and greatest deviation.
    """
    by = [*identity_columns(), "requested_bytes"]
    sides = [
        combine_repeats(frame[frame["size_bytes"] >= least_size_bytes], by)[[*by, "time_median_s"]]
        for frame in (first, second)
    ]
    both = sides[0].merge(sides[1], on=by, suffixes=("_first", "_second"))
    ratio = both["time_median_s_second"] / both["time_median_s_first"]
    both["deviation"] = np.maximum(ratio, 1 / ratio) - 1
    both["benchmark"] = both["benchmark"].astype(str)
    parts = [*both.groupby("benchmark", sort=True), ("all", both)]
    rows = [_row(str(name), part["deviation"], within) for name, part in parts]
    return pd.DataFrame(rows).set_index("benchmark")


def _row(name: str, deviation: pd.Series, within: float) -> dict[str, object]:
    close = int((deviation <= within).sum())
    return {
        "benchmark": name,
        "measurements": len(deviation),
        "within": close,
        "share": close / len(deviation) if len(deviation) else float("nan"),
        "median_deviation": deviation.median(),
        "greatest_deviation": deviation.max(),
    }


def _read(path: Path) -> pd.DataFrame:
    if path.suffix == ".parquet" and not path.is_file():
        raise BadInput(f"{path} is no file; a run is a table or a folder of record files.")
    with tempfile.TemporaryDirectory() as scratch:
        table = path
        if path.suffix != ".parquet":
            table = Path(scratch) / "table.parquet"
            summary = build_table(find_record_files([path]), table, Path(scratch) / "problems.json")
            if summary.problems:
                print(
                    f"{path}: {summary.problems} problems; weft table names what was left out",
                    file=sys.stderr,
                )
        frame, _ = read_table(table)
    return frame[frame["outcome"] == "measured"]


def show(result: pd.DataFrame, within: float) -> str:
    """Return the comparison as text, a line a benchmark."""
    lines = [
        f"{'':34} {'compared':>9} {f'within {within:.0%}':>12} {'share':>8} {'median':>8} {'greatest':>9}"
    ]
    lines += [
        f"{name:34} {row.measurements:9} {row.within:12} {row.share:8.1%} {row.median_deviation:8.1%} "
        f"{row.greatest_deviation:9.1%}"
        for name, row in zip(result.index, result.itertuples(), strict=True)
    ]
    return "\n".join(lines)


def main(arguments: Sequence[str]) -> int:
    """Print the comparison; bad input: one sentence, and 2."""
    parser = argparse.ArgumentParser(prog="benchmarks.reproducibility", description=__doc__.splitlines()[0])
    parser.add_argument(
        "runs", type=Path, nargs="+", metavar="RUN", help="one or two tables or folders of records"
    )
    parser.add_argument(
        "--least-size",
        type=int,
        default=LEAST_SIZE_BYTES,
        help="bytes; smaller ones are left out (default 1 MiB)",
    )
    parser.add_argument(
        "--within", type=float, default=WITHIN, help="how far medians may lie apart (default 0.10)"
    )
    options = parser.parse_args(arguments)
    try:
        result = compare(*runs_of(options.runs), options.least_size, options.within)
    except BadInput as problem:
        print(f"benchmarks.reproducibility: {problem}", file=sys.stderr)
        return 2
    print(show(result, options.within))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
