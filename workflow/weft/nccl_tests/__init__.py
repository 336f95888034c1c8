"""nccl-tests as a witness: runs its binaries, reads what they print, and records it as measurements."""

from weft.nccl_tests.output import parse

__all__ = ["parse"]
