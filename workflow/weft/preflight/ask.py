"""Questions to the commands of a site. One that fails is no answer, and no reason to stop by itself."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence

TIMEOUT_S = 60


class Unanswered(Exception):
    """``str()`` says which command gave no answer, and what it said instead."""


def ask(words: Sequence[str], *, environment: Mapping[str, str] | None = None, both: bool = False) -> str:
    """Return what a command writes to standard output, with ``both`` to standard error too.

    Raises Unanswered when there is no such command, it fails, or it takes longer than TIMEOUT_S.
    """
    try:
        done = subprocess.run(
            list(words),
            env=os.environ | (environment or {}),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIMEOUT_S,
            check=False,
        )
    except OSError as problem:
        raise Unanswered(f"{words[0]}: {problem.strerror}") from None
    except subprocess.TimeoutExpired:
        raise Unanswered(f"{words[0]} did not answer within {TIMEOUT_S} s") from None
    said, complained = (text.decode(errors="replace") for text in (done.stdout, done.stderr))
    if done.returncode:
        raise Unanswered(f"{words[0]}: {_last_line(complained or said) or f'status {done.returncode}'}")
    return said + complained if both else said


def _last_line(text: str) -> str:
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")
