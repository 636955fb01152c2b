"""Spark tables whose files dbt sends to a ClickHouse that cannot read them itself."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from dbt.adapters.events.logging import AdapterLogger
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.spark_clickhouse.core.literals import clickhouse_literal
from dbt.adapters.spark_clickhouse.core.routing import CLICKHOUSE
from dbt.adapters.spark_clickhouse.core.types import quote
from dbt.adapters.spark_clickhouse.hand_off.files import PARQUET, LocalFiles, Query

Insert = Callable[[str, bytes], None]  # inserts Parquet into a table

ROWS_OF_A_CHUNK = 100_000
_FILE = "_dbt_file"

logger = AdapterLogger("spark_clickhouse")


class PushedFiles(LocalFiles):
    """A local folder that a table in ClickHouse holds a copy of.

    The table has one partition per file. So a file that was sent only in part, because a run died or an answer was
    lost, is dropped and sent again; the others stay.

    Args:
        schema: the schema of the table, whose name derives from the folder.
        query: runs a statement on ClickHouse, and returns its rows.
        insert: inserts Parquet into a table of ClickHouse.
    """

    are_read_in_place = False

    def __init__(self, location: str, file_format: str, schema: str, query: Query, insert: Insert) -> None:
        super().__init__(location, file_format)
        self._schema = schema
        self._name = f"{self.folder.name}__pushed_{hashlib.md5(location.encode()).hexdigest()[:8]}"
        self._query = query
        self._insert = insert

    @property
    def table(self) -> str:
        """The table that holds the copy."""
        return f"{quote(self._schema, CLICKHOUSE)}.{quote(self._name, CLICKHOUSE)}"

    def source(self, pattern: str = "", structure: str = "") -> str:
        """The copy, which keeps the structure it was created with."""
        return f"(select * except ({_FILE}) from {self.table})"

    def deliver(self, types: Mapping[str, str], sizes: Mapping[str, int]) -> None:
        """Send the files that the table lacks or has only in part. If the files have changed by now, send none: the
        check of the receipt reports that.

        Raises:
            DbtRuntimeError: they are not Parquet, or pyarrow is not installed.
        """
        if self.file_format != PARQUET:
            raise DbtRuntimeError(
                f"`hand_off: push` sends Parquet, and the files in {self} are {self.file_format}. "
                "Leave `file_format` out, or have ClickHouse read the files (`hand_off: pull`)."
            )
        try:
            import pyarrow.parquet as pq
        except ImportError as error:
            raise DbtRuntimeError(
                "`hand_off: push` reads Parquet with pyarrow. Install it: pip install pyarrow"
            ) from error
        if self.sizes() != sizes:
            return
        self._make_table(types, sizes)
        counts = f"select {_FILE}, count() from {self.table} group by {_FILE}"
        sent = {int(number): int(rows) for number, rows in self._query(counts)}
        for number, name in enumerate(sizes):
            with pq.ParquetFile(self.folder / name) as file:
                rows = file.metadata.num_rows
                if sent.get(number, 0) == rows:
                    continue
                if number in sent:
                    self._query(f"alter table {self.table} drop partition {number}")
                logger.debug(f"Sending {name} to ClickHouse: {rows} rows")
                for chunk in self._chunks(file, number, name):
                    self._insert(self.table, chunk)

    def discard(self) -> None:
        """Drop the table with the copy."""
        self._query(f"drop table if exists {self.table} sync")

    def _make_table(self, types: Mapping[str, str], sizes: Mapping[str, int]) -> None:
        """Create an empty table for the files, unless there is one for exactly these files."""
        files = [(name, size, (self.folder / name).stat().st_mtime_ns) for name, size in sizes.items()]
        mark = hashlib.md5(json.dumps([dict(types), files]).encode()).hexdigest()
        schema, name = clickhouse_literal(self._schema), clickhouse_literal(self._name)
        found = self._query(f"select comment from system.tables where database = {schema} and name = {name}")
        if [mark] == [comment for (comment,) in found]:
            return
        columns = {_FILE: "UInt32", **{quote(name, CLICKHOUSE): kind for name, kind in types.items()}}
        structure = ", ".join(f"{name} {kind}" for name, kind in columns.items())
        self._query(
            f"create or replace table {self.table} ({structure}) engine = MergeTree "
            f"partition by {_FILE} order by tuple() comment '{mark}'"
        )

    def _chunks(self, file: Any, number: int, name: str) -> Iterator[bytes]:
        """A file as chunks of Parquet, extended by the columns that its name and its folders give."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        folders = [folder.split("=", 1) for folder in name.split("/")[:-1]]
        for batch in file.iter_batches(ROWS_OF_A_CHUNK):
            table = pa.Table.from_batches([batch])
            table = table.append_column(_FILE, pa.repeat(pa.scalar(number, pa.uint32()), len(batch)))
            for column, value in folders:
                table = table.append_column(column, pa.repeat(pa.scalar(value), len(batch)))
            chunk = io.BytesIO()
            pq.write_table(table, chunk)
            yield chunk.getvalue()
