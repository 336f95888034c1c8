"""The one exception that means: what you gave me is wrong, and this is what would be right."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class BadInput(Exception):
    """Input that cannot be used; ``str()`` is one sentence for the person who gave it.

    The command line prints the sentence to standard error and ends with status 2.
    """


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return ``, did you mean 'x'?`` for the known word nearest to ``word``, or an empty string."""
    near = difflib.get_close_matches(word, list(known), n=1)
    return f", did you mean '{near[0]}'?" if near else ""
