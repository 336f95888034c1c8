"""Is there room for results?"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

_PROBE_BYTES = 2**20


def lack(folder: Path) -> str | None:
    """Return why results cannot be written to ``folder``, which need not be there yet; None where they can.

    A quota says no to a write alone, so a MiB that does not compress is written, and removed at once.
    """
    there = next(path for path in (folder, *folder.absolute().parents) if path.is_dir())
    probe = there / f".room.{os.getpid()}"
    try:
        with probe.open("wb") as file:
            file.write(os.urandom(_PROBE_BYTES))
            file.flush()
            os.fsync(file.fileno())
    except OSError as problem:
        return f"Nothing can be written to {there}/: {problem.strerror}. Make room, and call it again."
    finally:
        with contextlib.suppress(OSError):
            probe.unlink()
    return None
