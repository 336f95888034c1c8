"""Figures: a module a subject, all entered in one registry. Adding one is adding one function under
`draws`.
"""

from weft.figures import (
    collective_ratios,
    collectives,
    copies,
    fanout,
    host_links,
    latency,
    messages,
    overtaking,
    routes,
    spread,
    topology,
)
from weft.figures.dataset import Dataset
from weft.figures.figure import REGISTRY, Figure, draw

# Importing a module of these enters its figures.
MODULES = (
    topology,
    copies,
    latency,
    host_links,
    routes,
    fanout,
    messages,
    overtaking,
    collectives,
    collective_ratios,
    spread,
)

__all__ = ["MODULES", "REGISTRY", "Dataset", "Figure", "collectives", "draw"]
