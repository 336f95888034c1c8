"""What a measured program is made of: when that changes, what it measured is measured anew."""

from __future__ import annotations

import hashlib
from pathlib import Path

# The folders of each program, as in the floor plan of the house.
_FOLDERS = {
    "topology": ("core", "topology"),
    "p2p": ("core", "topology", "p2p"),
    "pt2pt": ("core", "mpi", "pt2pt"),
    "collective": ("core", "mpi", "collective"),
}


def source_digest(program: str, sources: Path = Path("workflow/programs")) -> str:
    """Return a digest of the sources of ``program``: what decides whether its results are still its own.

    The binary would not do: it carries the commit, so it is another after every commit to anything.
    """
    digest = hashlib.sha256()
    for path in source_files(program, sources):
        digest.update(f"{path.relative_to(sources)}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def note(tree: str, program: str) -> str:
    """Return the file below a build tree that says which sources a program was built from."""
    return f"build/{tree}/sources/{program}.txt"


def source_files(program: str, sources: Path = Path("workflow/programs")) -> list[Path]:
    """Return the files that make ``program``, in order."""
    files = [sources / "CMakeLists.txt", *(sources / "cmake").glob("*.cmake")]
    for folder in _FOLDERS[program]:
        files += [path for path in (sources / folder).rglob("*") if path.is_file()]
    return sorted(path for path in files if path.exists())
