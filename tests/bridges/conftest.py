"""One ClickHouse for all tests of the bridges."""

from __future__ import annotations

from tests.materialization.conftest import make_project, server

__all__ = ["make_project", "server"]
