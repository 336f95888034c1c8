"""Every Python reads this first that has this folder in PYTHONPATH: so do the jobs that Snakemake submits.

A job on a cluster starts Snakemake twice, and each start imports pandas, a quarter of it, for a report of the
Slurm plugin that nobody asked for. In Snakemake, pandas is therefore loaded when it is first used.
"""

import importlib.util
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder


class LoadWhenUsed:
    """A finder whose modules are executed at the first access to what is in them."""

    def __init__(self, *names: str) -> None:
        self._names = names

    def find_spec(self, name: str, path: Sequence[str] | None, _target: object = None) -> ModuleSpec | None:
        """Return the spec of one of the names; None leaves a module to the other finders."""
        spec = PathFinder.find_spec(name, path) if name in self._names else None
        if spec and spec.loader:
            spec.loader = importlib.util.LazyLoader(spec.loader)
        return spec


if sys.orig_argv[1:3] == ["-m", "snakemake"]:
    sys.meta_path.insert(0, LoadWhenUsed("pandas"))
