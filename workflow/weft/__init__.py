"""Weft measures GPU interconnects: configuration, records, tables, figures and the report."""
