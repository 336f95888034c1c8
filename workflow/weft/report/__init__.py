"""The report: one self-contained HTML page, and its figures beside it as SVG and CSV."""

from weft.report.build import build_report

__all__ = ["build_report"]
