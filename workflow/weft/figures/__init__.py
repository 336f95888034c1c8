"""Figures: a module a subject, all entered in one registry. Adding one is adding one function under `draws`."""

from weft.figures import (  # importing enters the figures; their order is the page's
    collectives,
    copies,
    fanout,
    host_links,
    messages,
    routes,
    spread,
    topology,
)
from weft.figures.dataset import Dataset
from weft.figures.figure import REGISTRY, Figure, draw

__all__ = ["REGISTRY", "Dataset", "Figure", "collectives", "copies", "draw", "fanout", "host_links", "messages", "routes", "spread", "topology"]
