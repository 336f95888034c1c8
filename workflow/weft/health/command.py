"""`weft health`: the tables on the terminal, and an exit status for scripts."""

from __future__ import annotations

import sys
from pathlib import Path

from weft.errors import BadInput
from weft.health.examine import examine_table
from weft.health.words import text

SICK = 1


def run(table: Path) -> int:
    """Print the health of what was measured; return SICK if anything is, otherwise 0.

    Raises BadInput if the file is no table, or holds nothing that could be compared: that is not health.
    """
    health = examine_table(table)
    if not (health.tested or health.sick):
        reasons = "; ".join(dict.fromkeys(why for _, why in health.untested))
        raise BadInput(
            f"{table} holds nothing that health could compare"
            + (f" ({reasons})" if reasons else "")
            + ": it needs measurements between three nodes or more, in three runs or more."
        )
    sys.stdout.write(text(health))
    return SICK if health.sick else 0
