"""Converts published measurements (reference CSVs) into record files, so that the same report draws them."""

from weft.published.importer import import_published

__all__ = ["import_published"]
