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
    parser.addoption(
        "--spark-deaths",
        type=int,
        default=0,
        metavar="COUNT",
        help="kill this many runs on Spark, spread over all that a run does; a few chosen ones where it is 0",
    )
    parser.addoption(
        "--every-setting",
        action="store_true",
        help="try the settings of the server one by one, and those that are known to stop a run too",
    )
    parser.addoption(
        "--record",
        action="store_true",
        help="ask a ClickHouse again what the tests of the macros take for its answers, and write what is expected anew",
    )


# Files that take minutes. A process of pytest-xdist works on one file at a time: a long one that is begun last keeps
# the others waiting.
SLOWEST = (
    "end_to_end/",
    "change_sets/",
    "functional/",
    "test_kill",
    "test_deaths",
    "test_histories",
)


# What takes longer than all of `make test` may: `make soak` runs it, by its option.
LONG = {"--every-setting": "test_every_setting"}


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for option, name in LONG.items():
        if not config.getoption(option):
            long = [item for item in items if name in item.nodeid]
            config.hook.pytest_deselected(items=long)
            items[:] = [item for item in items if item not in long]
    items.sort(
        key=lambda item: next(
            (i for i, name in enumerate(SLOWEST) if name in item.nodeid), len(SLOWEST)
        )
    )
