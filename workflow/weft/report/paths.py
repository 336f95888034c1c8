"""What the page says of the path of the bytes: in its own section, and where a number took another way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from weft.evidence.verdict import NOT_TOLD, OTHER, PROVEN
from weft.figures import Dataset
from weft.figures import quantities as q
from weft.figures.paths import path_summary
from weft.report.holes import say_place

MOST_ROWS = 100
_WORDS = {
    "nvlink": "NVLink", "pcie": "PCIe", "both": "both NVLink and PCIe", "memory": "neither link",
    "no_nvlink": "not NVLink",
}  # fmt: skip
_SUMMARY = (
    "way",
    "measurements",
    PROVEN,
    "another",
    "not told",
    "NVLink share",
    "PCIe share",
    "the library says",
)
_OTHERS = ("way", "where", "size", "promised", "seen", "NVLink share", "PCIe share", "rests on", "in")


def path_tables(frame: pd.DataFrame) -> list[tuple[str, tuple[str, ...], list[list[str]]]]:
    """Caption, header and rows of the tables of the section; none where nothing was measured.

    frame: of measured_paths().
    """
    if frame.empty:
        return []
    others = frame[frame["path_verdict"] == OTHER]
    tables = [
        ("Shares are medians, of payloads large enough to tell.", _SUMMARY, _summary_rows(frame)),
        (
            f"What took another way than its name says: {q.plural(len(others), 'measurement')}"
            + (f", the first {MOST_ROWS} here." if len(others) > MOST_ROWS else "."),
            _OTHERS,
            [_other(row) for row in _records(others.iloc[:MOST_ROWS])],
        ),
    ]
    return [table for table in tables if table[2]]


def path_notes(dataset: Dataset, frame: pd.DataFrame) -> list[str]:
    """Sentences before the figures: why nothing is told, and what the libraries complain of."""
    notes = []
    if len(frame) and not frame["path_verdict"].isin([PROVEN, OTHER]).any():
        counted = frame[["nvlink_share", "pcie_share"]].notna().to_numpy().any()
        notes.append(
            "The counters decide nothing here: the counted payloads are too small, or PCIe was not counted."
            if counted
            else "No link was counted, so nothing is proven here: the host backend has no links to count, "
            "imported sources tell of none, and on GPUs NVML does not answer."
        )
    reports = [report for run in dataset.metadata.get("runs", []) for report in run.get("reports") or []]
    unused = sorted({name for report in reports for name in report.get("unused_variables", ())})
    if unused:
        notes.append(f"UCX was given variables that it does not use: {', '.join(unused)}.")
    unread = sorted({line for report in reports for line in report["unread"]})
    if unread:
        lines = q.plural(len(unread), "line")
        notes.append(f"The libraries' reports have {lines} that could not be read, such as: {unread[0]}")
    return notes


def warnings(frame: pd.DataFrame, benchmarks: tuple[str, ...]) -> str:
    """A sentence where measurements of some benchmarks (or programs, `pt2pt.`) took another way, or none."""
    here = np.zeros(len(frame), bool)
    names = frame["benchmark"].astype(str)
    for wanted in benchmarks:
        here |= (names.str.startswith(wanted) if wanted.endswith(".") else names == wanted).to_numpy(bool)
    others = int((frame.loc[here, "path_verdict"] == OTHER).sum())
    if not others:
        return ""
    took = "measurement of this section took" if others == 1 else "measurements of this section took"
    return f"{q.count(others)} {took} another way than the name says."


def _summary_rows(frame: pd.DataFrame) -> list[list[str]]:
    said = frame.groupby("way", sort=True)["library_path"].agg(
        lambda texts: "; ".join(sorted(set(texts.dropna().astype(str)))[:3])
    )
    return [
        [
            str(row.way),
            *(q.count(getattr(row, name)) for name in ("rows", PROVEN, OTHER, NOT_TOLD)),
            *(q.percent(getattr(row, name)) for name in ("nvlink_share", "pcie_share")),
            said[row.way],
        ]
        for row in path_summary(frame).itertuples()
    ]


def _other(row: dict[str, Any]) -> list[str]:
    return [
        row["way"],
        say_place(row),
        q.size(row["size_bytes"]),
        _WORDS[row["path_expected"]],
        _WORDS[row["path_seen"]],
        q.percent(row["nvlink_share"]),
        q.percent(row["pcie_share"]),
        "its own counters"
        if row["path_basis_bytes"] == row["size_bytes"]
        else q.size(row["path_basis_bytes"]),
        f"{row['file']}:{row['line']}",
    ]


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows as dictionaries whose integers are integers and whose nulls are None."""
    whole = {
        name: frame[name].astype("Int64").astype(object)
        for name in frame
        if name.endswith("_bytes") or name in ("source", "destination", "via", "device", "source_rank",
                                               "destination_rank", "ranks", "line")
    }  # fmt: skip
    plain = frame.astype(object).assign(**whole)
    return [
        {name: None if value is pd.NA else value for name, value in row.items()}
        for row in plain.to_dict("records")
    ]
