"""Which way the bytes of a measurement were to take by its name, which way they took, and whether it is one.

The two devices of a measurement reach the world by NVLink and by PCIe, and by nothing else. So the counters
of both, set beside a payload that was verified to have arrived, tell its way.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa

from weft.columns import TEXT

# Values of path_expected and path_seen. memory: within one device. no_nvlink: not over NVLink, and PCIe was
# not counted.
NVLINK, PCIE, BOTH, MEMORY, NO_NVLINK = "nvlink", "pcie", "both", "memory", "no_nvlink"
PROVEN, OTHER, NOT_TOLD = "proven", "other", "not_told"  # values of path_verdict

# On four H200 the counters of NVLink, in KiB, were right within half a KiB for payloads from 27 KiB on; a
# copy of 4 bytes counts as 16. The bounds allow for a KiB of the least payload.
LEAST_PAYLOAD_BYTES = 8 << 10
CARRIED, NONE = 0.87, 0.13  # shares of the payload: all of it, none of it
# With multicast, a rank sends its part of an all-reduce once and not twice.
CARRIED_COLLECTIVE = 0.45
IDLE = 0.1  # of PCIe beside NVLink: read requests, commands
# Below, commands to the device weigh as much as the payload, and PCIe seems to carry it, too. Streams that
# poll a gate weigh more still: where NVLink carried it all, PCIe is not asked.
LEAST_FOR_PCIE_BYTES = 64 << 10
# Smaller messages may be sent eagerly, through the host, by any library: `device, GPUDirect on` promises
# them no way. Where the library reports what it chose, that counts instead.
LEAST_RENDEZVOUS_BYTES = 8 << 10
PATH_COLUMNS = ("path_expected", "path_seen", "path_verdict", "path_basis_bytes", "library_path")


def path_columns(
    table: pa.Table, joined: dict[str, pa.Array], nvlinked: np.ndarray, reported: pa.Array
) -> dict[str, pa.Array]:
    """Return PATH_COLUMNS of each row.

    table: columns of convert(); joined: link_class of each row; nvlinked: whether NVLink joins all devices of
    its topology, 1, 0 or NaN; reported: the way that the MPI library or NCCL says it chose, or null.
    """
    frame = _frame(table, joined, nvlinked, reported)
    basis = with_siblings(frame)
    collective = frame["benchmark"].str.startswith("collective.").to_numpy(bool)
    seen = _seen(basis, np.where(collective, CARRIED_COLLECTIVE, CARRIED))
    expected = _expected(frame, seen)
    verdict = _verdict(frame, expected, seen)
    told = np.isin(verdict, (PROVEN, OTHER))
    texts = {"path_expected": expected, "path_seen": seen, "path_verdict": verdict}
    return {
        **{
            name: pa.array(values, pa.string()).dictionary_encode().cast(TEXT)
            for name, values in texts.items()
        },
        "path_basis_bytes": pa.array(np.where(told, basis["size_bytes"], np.nan), from_pandas=True).cast(
            pa.int64()
        ),
        "library_path": reported,
    }


def _frame(
    table: pa.Table, joined: dict[str, pa.Array], nvlinked: np.ndarray, reported: pa.Array
) -> pd.DataFrame:
    names = (
        "file_index", "family", "benchmark", "outcome", "size_bytes", "source", "destination", "peer_access",
        "placement", "gpudirect", "library", "nodes", "source_host", "destination_host",
        "path_payload_bytes", "nvlink_share", "pcie_share",
    )  # fmt: skip
    if "transport" in table.column_names:
        names = (*names, "transport")
    frame = pa.table({name: _plain(table[name]) for name in names}).to_pandas()
    frame["link_class"] = joined["link_class"].cast(pa.string()).to_pandas()
    frame["nvlinked"] = nvlinked
    frame["reported"] = reported.cast(pa.string()).to_pandas()
    return frame


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column


def with_siblings(frame: pd.DataFrame) -> pd.DataFrame:
    """Return shares and size_bytes of the row that each row rests on, NaN where there is none.

    A row rests on itself if its payload was large enough for the counters. One copy among devices takes the
    way of a larger one of the same configuration and file; a message need not: its library may switch.
    """
    own = frame["path_payload_bytes"] >= LEAST_PAYLOAD_BYTES
    basis = frame[["nvlink_share", "pcie_share", "size_bytes"]].astype(float).where(own)
    copies = frame["benchmark"].str.startswith("p2p.") & (frame["outcome"] == "measured")
    if not (copies & ~own).any():
        return basis
    order = frame[copies].sort_values("size_bytes", kind="stable").index
    keys = [frame.loc[order, name] for name in ("file_index", "family")]
    # Where a row has a share, it has a size: filled from one row, all three are of that row.
    whole = basis.loc[order].assign(place=np.where(own[order], np.arange(len(order)), np.nan))
    place = whole["place"].groupby(keys).bfill()
    known = place.notna()
    source = order[place[known].astype(int)]
    basis.loc[place[known].index] = basis.loc[source].to_numpy()
    return basis


def _seen(basis: pd.DataFrame, least: np.ndarray) -> np.ndarray:
    """Say which way the bytes took; least: the share of the payload that is all of it."""
    nvlink, pcie = basis["nvlink_share"].to_numpy(float), basis["pcie_share"].to_numpy(float)
    large = basis["size_bytes"].to_numpy(float) >= LEAST_FOR_PCIE_BYTES
    by_nvlink, not_by_nvlink = nvlink >= least, ~(nvlink > NONE)
    return np.select(
        [
            np.isnan(nvlink) & np.isnan(pcie),
            by_nvlink & (nvlink < CARRIED) & large & (pcie >= 0.5),
            by_nvlink,
            not_by_nvlink & (pcie >= least),
            not_by_nvlink & (pcie <= IDLE),
            not_by_nvlink & np.isnan(pcie),
            nvlink > NONE,
        ],
        [None, BOTH, NVLINK, PCIE, MEMORY, NO_NVLINK, BOTH],
        None,
    )


def _expected(frame: pd.DataFrame, seen: np.ndarray) -> np.ndarray:
    """Say which way each row's name promises; None where it promises none, or where it is not known."""
    benchmark = frame["benchmark"].fillna("")
    p2p, pt2pt = benchmark.str.startswith("p2p."), benchmark.str.startswith("pt2pt.")
    host = benchmark.str.startswith("p2p.host")
    joined = frame["link_class"].str.startswith("NV").astype(object)
    joined = joined.where(frame["link_class"].notna(), frame["nvlinked"])
    direct = np.select([joined == 1, joined == 0], [NVLINK, PCIE], None)
    between = (
        (frame["source_host"] != frame["destination_host"])
        .where(frame["source_host"].notna(), frame["nodes"].fillna(1) > 1)
        .astype(bool)
    )
    local = frame["source"].notna() & (frame["source"] == frame["destination"]) & ~between
    staged = frame["placement"].isin(["pinned", "pageable"]) | (frame["gpudirect"] == 0)
    ours = np.where(
        frame["reported"].notna(),
        frame["reported"].fillna("").str.contains("cuda_ipc"),
        (frame["size_bytes"] >= LEAST_RENDEZVOUS_BYTES) | (seen == NVLINK),
    ).astype(bool)
    nccl = benchmark.str.startswith("collective.") & (frame["library"] == "nccl")
    transport = frame["transport"] if "transport" in frame else pd.Series(None, frame.index, dtype=object)
    return np.select(
        [
            host,
            p2p & local,
            p2p & (frame["peer_access"] == 0),
            p2p,
            pt2pt & (between | staged),
            pt2pt & local,
            pt2pt & ours,
            nccl & (frame["nodes"].fillna(1) == 1) & transport.isin(["shm", "socket"]),
            nccl & (frame["nodes"].fillna(1) == 1),
        ],
        [PCIE, MEMORY, PCIE, direct, PCIE, None, direct, PCIE, direct],
        None,
    )


def _verdict(frame: pd.DataFrame, expected: np.ndarray, seen: np.ndarray) -> np.ndarray:
    known = pd.notna(expected) & pd.notna(seen)
    untold = (expected == PCIE) & (seen == NO_NVLINK)
    # Of a small payload within a device nothing can be said: the commands for it pass PCIe.
    untold |= (
        (expected == MEMORY) & (seen != NVLINK) & (frame["size_bytes"] < LEAST_FOR_PCIE_BYTES).to_numpy()
    )
    verdict = np.where(known & ~untold, np.where(expected == seen, PROVEN, OTHER), NOT_TOLD).astype(object)
    return np.where(frame["outcome"] == "measured", verdict, None)
