"""chDB starts in UTC, without a change to the environment of the process."""

from __future__ import annotations

import ctypes
import os

import pytest

from dbt.adapters.spark_clickhouse.clickhouse.chdb import starting_in_utc


def time_zone() -> bytes | None:
    """The time zone as C++ code such as chDB sees it."""
    getenv = ctypes.CDLL(None).getenv
    getenv.restype = ctypes.c_char_p
    found: bytes | None = getenv(b"TZ")
    return found


@pytest.mark.parametrize("zone", [None, "America/New_York"])
def test_only_chdb_sees_the_time_zone_change(monkeypatch: pytest.MonkeyPatch, zone: str | None) -> None:
    if zone:
        monkeypatch.setenv("TZ", zone)
    else:
        monkeypatch.delenv("TZ", raising=False)
    before, seen_before = dict(os.environ), time_zone()
    with starting_in_utc():
        assert dict(os.environ) == before
        assert time_zone() == b"UTC"
    assert dict(os.environ) == before
    assert time_zone() == seen_before
