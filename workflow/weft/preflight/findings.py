"""What was found before anything is measured."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TypeVar

from weft.preflight.ask import Unanswered

Answer = TypeVar("Answer")


@dataclass
class Findings:
    """Sentences for the person who measures.

    ``problems`` keep jobs from running, ``waits`` make them wait, ``unknown`` is what could not be looked at,
    ``facts`` are worth knowing.
    """

    problems: list[str] = field(default_factory=list)
    waits: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    facts: list[str] = field(default_factory=list)

    def known(self, what: str, question: Callable[[], Answer]) -> Answer | None:
        """Return the answer to a question; None, noted, where the site does not answer."""
        try:
            return question()
        except Unanswered as reason:
            self.unknown.append(f"Not checked: {what} ({reason}).")
            return None


def known_are(words: Iterable[str]) -> str:
    """Return the end of a sentence that lists what would be right: `; known: a, b.`"""
    listed = ", ".join(words)
    return f"; known: {listed}." if listed else "."
