"""The case that most tests measure, and its size."""

MIB = 1 << 20
COPY = {
    "benchmark": "p2p.copy", "source": 0, "destination": 1, "engine": "copy_engine", "operation": "write",
    "peer_access": True, "direction": "unidirectional", "size_bytes": MIB,
}  # fmt: skip
