"""Tables built from records that a test makes up."""

import json

from weft.table import build_table, read_table

MESSAGE = {
    "benchmark": "pt2pt.bandwidth", "size_bytes": 1000, "source": 0, "destination": 1, "ranks": 2, "nodes": 1,
    "pairs": 1,
    "placement": "device", "gpudirect": True, "chunk_bytes": None, "source_host": "a",
    "destination_host": "a",
}  # fmt: skip
COLLECTIVE = {
    "benchmark": "collective.all_reduce",
    "size_bytes": 1000,
    "library": "nccl",
    "ranks": 2,
    "in_place": True,
}


class BuiltTable:
    """A table built from record files, and what was wrong with them."""

    def __init__(self, folder, paths, processes=1):
        self.path = folder / "table.parquet"
        self.summary = build_table(paths, self.path, folder / "problems.json", processes)
        self.rows, self.metadata = read_table(self.path)
        self.problems = json.loads((folder / "problems.json").read_text())
