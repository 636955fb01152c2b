"""Tells whether a sink of changes ends with the rows of its source, whatever order the changes come in."""

from sink_conformance.histories import HISTORIES
from sink_conformance.kit import Figures, Sink, Size, measure, report
from sink_conformance.source import Change, Row

__all__ = ["HISTORIES", "Change", "Figures", "Row", "Sink", "Size", "measure", "report"]
