"""What figures are drawn from: the table of one campaign, read a subject at a time, repeats combined."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from weft.columns import AXES, TABLE_SCHEMA
from weft.errors import BadInput
from weft.health import Health, examine_table
from weft.statistics import RATES, combine_repeats
from weft.table import METADATA_KEY

# Columns that figures and tables use beside the axes of a configuration.
VALUES = (
    "repeat",
    "time_median_s",
    "time_ci_low_s",
    "time_ci_high_s",
    "confidence",
    "samples",
    "converged",
    "stopped_by",
    "bandwidth_bytes_per_s",
    "bus_bandwidth_bytes_per_s",
    "message_rate_per_s",
    "atomics_per_s",
    "limit_bytes_per_s",
    "limit_origin",
    "efficiency",
    "block_alignment_bytes",
    "chunk_bytes",
    "source_host",
    "destination_host",
    "nvlink_share",
    "pcie_share",
    "path_verdict",
    "throttled",
)
ALWAYS = {*VALUES, "source", "destination"}  # present even where null throughout
CARRIED = (
    "samples",
    "confidence",
    "limit_bytes_per_s",
    "limit_origin",
    "block_alignment_bytes",
    "chunk_bytes",
    "nvlink_share",
    "pcie_share",
    "path_verdict",
    "reach",
)
# Ranks of one number may stand on other hosts in another job: what was measured is the pair of hosts.
HOSTS = ("source_host", "destination_host")
WITHIN, BETWEEN = "within a node", "between nodes"  # values of the column reach


@dataclass
class Dataset:
    """One table.parquet. Frames hold null integers and booleans as NaN, texts as categoricals."""

    path: Path
    sampling: dict[str, Any] = field(default_factory=dict)
    baseline: Dataset | None = None  # another run of the same, to compare with

    def __post_init__(self) -> None:
        try:
            self._schema = pq.read_schema(self.path)
        except (OSError, pa.ArrowInvalid) as error:
            raise BadInput(
                f"{self.path} cannot be read as a table: {error}; make it with `weft table`"
            ) from error
        metadata = (self._schema.metadata or {}).get(METADATA_KEY)
        if metadata is None or not set(TABLE_SCHEMA.names) <= set(self._schema.names):
            raise BadInput(
                f"{self.path} is not a table of this version of Weft; make it anew with `weft table`"
            )
        self.metadata: dict[str, Any] = json.loads(metadata)
        self._runs: dict[str, pd.DataFrame] = {}
        self._configurations: dict[str, pd.DataFrame] = {}
        self._outlines: dict[str, pd.DataFrame] = {}

    @cached_property
    def counts(self) -> pd.DataFrame:
        """Rows by benchmark, outcome, converged and stopped_by; column rows."""
        keys = [
            "benchmark",
            "outcome",
            "converged",
            "stopped_by",
            "device_backend",
            "system",
            "campaign",
            "repeat",
        ]
        table = self.table(keys)
        grouped = table.group_by(keys).aggregate([([], "count_all")]).to_pandas()
        return grouped.rename(columns={"count_all": "rows"}).astype({"converged": "object"})

    @cached_property
    def health(self) -> Health:
        """What is slower than its peers."""
        return examine_table(self.path)

    def benchmarks(self) -> list[str]:
        """Benchmarks with at least one measured row."""
        return sorted(self.counts.loc[self.counts["outcome"] == "measured", "benchmark"].astype(str).unique())

    def holes(self, benchmark: str) -> int:
        """How many rows of a benchmark were not measured."""
        rows = self.counts[(self.counts["benchmark"] == benchmark) & (self.counts["outcome"] != "measured")]
        return int(rows["rows"].sum())

    def read(self, columns: list[str], where: pc.Expression | None = None) -> pd.DataFrame:
        """Columns of the rows that meet a condition."""
        return _frame(self.table(columns, where))

    def table(self, columns: list[str], where: pc.Expression | None = None) -> pa.Table:
        """The same as an Arrow table, texts with one dictionary throughout."""
        return pq.read_table(self.path, columns=columns, filters=where).unify_dictionaries().combine_chunks()

    def runs(self, benchmark: str) -> pd.DataFrame:
        """Measured rows of a benchmark, one a run; axes that are null throughout are left out."""
        if benchmark not in self._runs:
            where = (pc.field("benchmark") == benchmark) & (pc.field("outcome") == "measured")
            columns = [name for name in (*AXES, *VALUES) if name != "benchmark"]
            table = self.table(list(dict.fromkeys(columns)), where)
            kept = [n for n in table.column_names if table[n].null_count < len(table) or n in ALWAYS]
            self._runs[benchmark] = with_reach(_frame(table.select(kept)))
        return self._runs[benchmark]

    def configurations(self, benchmark: str) -> pd.DataFrame:
        """Runs of each configuration combined, one row a configuration; see combine."""
        if benchmark not in self._configurations:
            self._configurations[benchmark] = frame = combine(self.runs(benchmark))
            kept = [
                "size_bytes",
                "runs",
                "time_s",
                "time_low_s",
                "time_high_s",
                "time_run_min_s",
                "time_run_max_s",
                "efficiency",
            ]
            outline = frame[kept].astype(
                {name: np.float32 for name in kept if name not in ("size_bytes", "runs")}
            )
            link = (
                frame["link_class"].astype("category")
                if "link_class" in frame
                else pd.Categorical([None] * len(frame))
            )
            self._outlines[benchmark] = outline.assign(link_class=link)
        return self._configurations[benchmark]

    def outline(self, benchmark: str) -> pd.DataFrame:
        """The few columns of the configurations that comparisons over all benchmarks need; kept when
        others are let go.
        """
        if benchmark not in self._outlines:
            self.configurations(benchmark)
        return self._outlines[benchmark]

    def forget(self) -> None:
        """Let go of the frames of single subjects."""
        self._runs.clear()
        self._configurations.clear()
        if self.baseline:
            self.baseline.forget()


def _frame(table: pa.Table) -> pd.DataFrame:
    for index, column in enumerate(table.schema):
        if pa.types.is_boolean(column.type):
            table = table.set_column(index, column.name, table[column.name].cast(pa.int8()))
    return table.to_pandas()


def with_reach(runs: pd.DataFrame) -> pd.DataFrame:
    """Add the column reach where rows name hosts: whether a message stays within a node or goes between
    nodes.
    """
    source, destination = (runs[name].astype(object) for name in HOSTS)
    known = source.notna() & destination.notna()
    if not known.any():
        return runs
    reach = np.where(source == destination, WITHIN, BETWEEN)
    return runs.assign(
        reach=pd.Categorical(np.where(known, reach, None), categories=[WITHIN, BETWEEN]),
    )


def combine(runs: pd.DataFrame) -> pd.DataFrame:
    """One row a configuration: median of the run medians, its interval and the spread between runs.

    Columns: the axes and hosts; runs (how many), time_s, time_low_s and time_high_s (median over runs of
    the ends of the within-run interval), time_run_min_s and time_run_max_s (least and greatest run median);
    per rate r likewise r,
    r_low, r_high, r_run_min, r_run_max; efficiency; of the first run: samples, limit and what else
    CARRIED names.
    """
    axes = [name for name in (*AXES, *HOSTS) if name in runs]
    carried = [name for name in CARRIED if name in runs and name not in axes]
    result = combine_repeats(runs, axes, carried).rename(
        columns={
            "time_median_s": "time_s",
            "time_ci_low_s": "time_low_s",
            "time_ci_high_s": "time_high_s",
            **{f"{rate}_ci_{end}": f"{rate}_{end}" for rate in RATES for end in ("low", "high")},
        }
    )
    for rate in RATES:
        if rate in result:
            result[f"{rate}_run_min"] = result[rate] * result["time_s"] / result["time_run_max_s"]
            result[f"{rate}_run_max"] = result[rate] * result["time_s"] / result["time_run_min_s"]
    if "limit_bytes_per_s" in result:
        bus = "bus_bandwidth_bytes_per_s"
        result["efficiency"] = (
            result[bus].fillna(result["bandwidth_bytes_per_s"]) / result["limit_bytes_per_s"]
        )
    return result
