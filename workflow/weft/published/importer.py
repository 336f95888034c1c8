"""The importer: reference CSVs in, record files and the list of what was left out."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from weft.errors import BadInput
from weft.published.collectives import add_collectives
from weft.published.internode import add_internode
from weft.published.intranode import add_matrices, add_sweep
from weft.published.recording import Recording, write
from weft.published.systems import Systems

LEFT_OUT = "left_out.csv"


def import_published(source: Path, output: Path) -> list[Path]:
    """Convert the reference CSVs in source to output/<system>/records/*.jsonl.gz and return these paths.

    Beside them output/left_out.csv counts the rows that become no record, with the reason. The same CSVs give
    the same bytes. Raises BadInput if a CSV is missing or lacks a column, or if output cannot be written.
    """
    systems = Systems(source)
    recording = Recording()
    for add in (add_matrices, add_sweep, add_internode, add_collectives):
        add(source, recording)
    for system in sorted({key.system for key in recording.files}):
        systems.add_topology(system, recording)
    environments = {
        (key.source, key.system): systems.environment(key.source, key.system) for key in recording.files
    }
    try:
        output.mkdir(parents=True, exist_ok=True)
        written = write(recording, environments, output)
        (output / LEFT_OUT).write_text(_left_out(recording), encoding="utf-8")
    except OSError as error:
        raise BadInput(f"{error.filename or output} cannot be written: {error.strerror}") from error
    return written


def _left_out(recording: Recording) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["file", "source", "system", "reason", "rows"])
    for what, rows in sorted(recording.left_out.items()):
        writer.writerow([*what, rows])
    return text.getvalue()
