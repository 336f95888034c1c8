"""Figures: a module a subject, all entered in one registry. Adding one is adding one function under
`draws`.
"""

from weft.figures import (
    against,
    atomics,
    collective_nodes,
    collective_ratios,
    collectives,
    containers,
    contrasts,
    copies,
    cost,
    fanout,
    health,
    host_links,
    latency,
    messages,
    nccl_ways,
    nodes,
    overtaking,
    participants,
    paths,
    routes,
    spread,
    topology,
    witness,
)
from weft.figures.dataset import Dataset
from weft.figures.figure import REGISTRY, Figure, draw

# Importing a module of these enters its figures.
MODULES = (
    health,
    topology,
    copies,
    contrasts,
    latency,
    atomics,
    host_links,
    routes,
    fanout,
    messages,
    nodes,
    overtaking,
    collectives,
    participants,
    collective_nodes,
    collective_ratios,
    nccl_ways,
    witness,
    paths,
    containers,
    against,
    spread,
    cost,
)

__all__ = ["MODULES", "REGISTRY", "Dataset", "Figure", "collectives", "draw"]
