"""Health: which node, device or link is slower than its peers, significantly and by enough to matter."""

from weft.health.examine import Finding, Health, Tested, examine_table

__all__ = ["Finding", "Health", "Tested", "examine_table"]
