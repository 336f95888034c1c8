"""What Snakemake looks for when it is called with --logger weft."""

from weft.progress import LogHandler

__all__ = ["LogHandler"]
