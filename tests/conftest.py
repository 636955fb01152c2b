"""Options of the tests."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--histories",
        nargs=3,
        type=int,
        default=(300, 8, 40),
        metavar=("KEYS", "RUNS", "EVENTS"),
        help="size of the random histories: keys, runs, and events of a key at most",
    )
