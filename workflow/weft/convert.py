"""Raw measurement lines to the columns of the table, many lines at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json

from weft.columns import FAMILY, IDENTITY_MEASUREMENT, MEASUREMENT, QUANTILES, TEXT, TIME
from weft.device_states import STATE_PAIRS, summarise_states
from weft.evidence.counters import COUNTERS, share_columns

_F64_LIST = pa.list_(pa.float64())
_COUNTED = [(name, pa.int64()) for name in COUNTERS]


def _plain(kind: pa.DataType) -> pa.DataType:
    return pa.string() if kind == TEXT else kind


_JSON_SCHEMA = pa.schema(
    [
        *((name, _plain(kind)) for name, kind in MEASUREMENT.items()),
        ("devices", pa.list_(pa.int32())),
        ("chunk_search", pa.list_(pa.struct([("chunk_bytes", pa.int64())]))),
        (
            "time_s",
            pa.struct(
                [
                    *((key, _plain(kind)) for key, (_, kind) in TIME.items()),
                    ("quantiles", pa.struct([(key, pa.float64()) for key in QUANTILES])),
                ]
            ),
        ),
        (
            "device_states",
            pa.list_(
                pa.struct(
                    [
                        ("device", pa.int32()),
                        *((key, _F64_LIST) for key in STATE_PAIRS),
                        *_COUNTED[:2],
                    ]
                )
            ),
        ),
        (
            "path_proof",
            pa.struct(
                [
                    ("operations", pa.int64()),
                    ("payload_bytes", pa.int64()),
                    ("devices", pa.list_(pa.struct(_COUNTED))),
                ]
            ),
        ),
    ]
)


_HASH_SEED, _HASH_FACTOR = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)


def convert(lines: Sequence[bytes]) -> tuple[pa.Table, list[int]]:
    """Convert valid measurement lines to the table's columns that depend on the line alone, and two hashes.

    identity (uint64) is that of what makes a measurement unique, family of all that but the size; devices is
    still a list. Second result:
    positions of lines that hold a number beyond the column's type (not rows of the table). Raises nothing for
    lines that the schema accepts.
    """
    try:
        return _columns(_parse(lines)), []
    except pa.ArrowInvalid:
        plain = [orjson.dumps(_with_integers(orjson.loads(line))) for line in lines]
    try:
        return _columns(_parse(plain)), []
    except pa.ArrowInvalid:
        bad = [position for position, line in enumerate(plain) if not _fits(line)]
    good = np.delete(np.array(plain, object), bad).tolist()
    return _columns(_parse(good) if good else _JSON_SCHEMA.empty_table()), bad


def _fits(line: bytes) -> bool:
    try:
        _parse([line])
    except pa.ArrowInvalid:
        return False
    return True


def _parse(lines: Sequence[bytes]) -> pa.Table:
    block = b"\n".join(lines)
    return pyarrow.json.read_json(
        pa.BufferReader(block),
        pyarrow.json.ReadOptions(use_threads=False, block_size=len(block) + 1),
        pyarrow.json.ParseOptions(explicit_schema=_JSON_SCHEMA, unexpected_field_behavior="ignore"),
    ).combine_chunks()


def _with_integers(value: Any) -> Any:
    """Return a value whose integers written as 1.0 or 1e3, which JSON Schema allows and Arrow does not, are
    plain.
    """
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**63:
        return int(value)
    if isinstance(value, dict):
        return {key: _with_integers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_integers(item) for item in value]
    return value


def _columns(parsed: pa.Table) -> pa.Table:
    time = _array(parsed["time_s"])
    quantiles = pc.struct_field(time, "quantiles")
    columns: dict[str, pa.Array] = {name: _array(parsed[name]) for name in MEASUREMENT}
    columns |= {column: pc.struct_field(time, key) for key, (column, _) in TIME.items()}
    columns |= {column: pc.struct_field(quantiles, key) for key, column in QUANTILES.items()}
    columns = {name: _encoded(array) for name, array in columns.items()}
    columns["devices"] = _array(parsed["devices"])
    columns["chunk"] = _chunk(columns, _array(parsed["chunk_search"]))
    columns |= _interval(columns)
    states = _array(parsed["device_states"])
    columns |= summarise_states(states)
    columns |= share_columns(columns, _array(parsed["path_proof"]), states)
    columns["identity"] = _hash(columns, IDENTITY_MEASUREMENT, parsed.num_rows)
    columns["family"] = _hash(columns, FAMILY, parsed.num_rows)
    return pa.table(columns)


def _array(column: pa.ChunkedArray) -> pa.Array:
    combined = column.combine_chunks()
    return combined if isinstance(combined, pa.Array) else pa.concat_arrays(combined.chunks)


def _encoded(array: pa.Array) -> pa.Array:
    return array.dictionary_encode() if pa.types.is_string(array.type) else array


def _chunk(columns: dict[str, pa.Array], searched: pa.Array) -> pa.Array:
    """Return the axis: what was asked for, not what the search found, so that repeats find each other.

    A search that could not run has tried nothing, but was asked for: an empty list, not none.
    """
    size = columns["chunk_bytes"]
    asked = pc.if_else(searched.is_valid(), "auto", size.cast(pa.string()))
    has_chunks = pc.or_(
        pc.starts_with(columns["benchmark"].cast(pa.string()), "pt2pt."),
        pc.equal(columns["benchmark"], "p2p.route"),
    )
    return pc.if_else(has_chunks, pc.fill_null(asked, "none"), asked).dictionary_encode()


def _interval(columns: dict[str, pa.Array]) -> dict[str, pa.Array]:
    """Return the bandwidth at both ends of the time's interval: the same payload, so rates go as 1 / time."""
    payload = pc.multiply(columns["bandwidth_bytes_per_s"], columns["time_median_s"])

    def rate(time: pa.Array) -> pa.Array:
        return pc.divide(payload, pc.if_else(pc.greater(time, 0.0), time, None))

    return {
        "bandwidth_ci_low_bytes_per_s": rate(columns["time_ci_high_s"]),
        "bandwidth_ci_high_bytes_per_s": rate(columns["time_ci_low_s"]),
    }


def _hash(columns: dict[str, pa.Array], names: Sequence[str], rows: int) -> pa.Array:
    total = np.full(rows, _HASH_SEED)
    for name in names:
        total = mix(total, _codes(columns[name]))
    return pa.array(total)


def mix(total: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return the hash of what total stands for followed by codes (splitmix64 steps)."""
    with np.errstate(over="ignore"):
        total = (total ^ codes) * _HASH_FACTOR
        return (total ^ (total >> np.uint64(31))) + _HASH_SEED


def text_code(text: str | None) -> np.uint64:
    """Return a 64-bit code of a text, the same in every process (FNV-1a); null is 0."""
    if text is None:
        return np.uint64(0)
    code = 0xCBF29CE484222325
    for byte in text.encode():
        code = ((code ^ byte) * 0x100000001B3) % 2**64
    return np.uint64(code)


def _codes(column: pa.Array) -> np.ndarray:
    if pa.types.is_list(column.type):
        column = device_text(column)
    if pa.types.is_dictionary(column.type):
        codes = np.array([text_code(text) for text in [*column.dictionary.to_pylist(), None]], np.uint64)
        indices = pc.fill_null(column.indices, len(codes) - 1)
        return codes[np.asarray(indices)]
    return np.asarray(pc.fill_null(column.cast(pa.int64()), -1)).view(np.uint64)


def device_text(devices: pa.Array) -> pa.Array:
    """Return lists of devices as text, "0,1,2,3", dictionary-encoded."""
    flat = pc.list_flatten(devices).cast(pa.string())
    texts = pa.ListArray.from_arrays(devices.offsets, flat) if not devices.null_count else None
    if texts is None:
        joined = [None if item is None else ",".join(map(str, item)) for item in devices.to_pylist()]
        return pa.array(joined, pa.string()).dictionary_encode()
    return pc.binary_join(texts, ",").dictionary_encode().cast(TEXT)
