"""What `hand_off: push` needs."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from dbt.adapters.clickhouse.nativeclient import ChNativeClient
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.spark_clickhouse.clickhouse.engine import RoutedClickHouseAdapter
from dbt.adapters.spark_clickhouse.hand_off.push import PushedFiles


def pushed(folder: Path, file_format: str) -> PushedFiles:
    return PushedFiles(str(folder), file_format, "shop", lambda _: [], lambda *_: None)


def test_lake_tables_are_not_sent(tmp_path: Path) -> None:
    message = (
        f"`hand_off: push` sends Parquet, and the files in {tmp_path} are delta. Leave "
        "`file_format` out, or have ClickHouse read the files (`hand_off: pull`)."
    )
    with pytest.raises(DbtRuntimeError) as error:
        pushed(tmp_path, "delta").deliver({}, {})
    assert error.value.msg == message


def test_pyarrow_is_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(DbtRuntimeError, match=r"with pyarrow\. Install it: pip install pyarrow"):
        pushed(tmp_path, "parquet").deliver({}, {})


def test_the_native_protocol_takes_no_files() -> None:
    connection = SimpleNamespace(handle=object.__new__(ChNativeClient))
    adapter: Any = object.__new__(RoutedClickHouseAdapter)
    adapter.connections = SimpleNamespace(get_thread_connection=lambda: connection)
    with pytest.raises(DbtRuntimeError, match=r"sends Parquet over HTTP\. Set `driver: http` in"):
        adapter.insert_parquet("shop.orders", b"")


def test_tables_of_the_same_name_in_two_folders_have_two_copies(tmp_path: Path) -> None:
    copies = {pushed(tmp_path / place / "orders", "parquet").table for place in ("a", "b")}
    assert len(copies) == 2
    assert all(copy.startswith("`shop`.`orders__pushed_") for copy in copies)
