"""Spark's files in S3 buckets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from dbt.adapters.spark_clickhouse.core.literals import clickhouse_literal
from dbt.adapters.spark_clickhouse.hand_off.files import PARQUET, RECEIPT, Files, Query

_S3 = re.compile(r"s3[an]?://")


def is_s3(location: str) -> bool:
    """Whether ``location`` is an S3 URL."""
    return _S3.match(location) is not None


class S3Files(Files):
    """A folder of a bucket, which ClickHouse lists, reads and writes; dbt itself has no access.

    ``endpoint`` is the URL of a store other than Amazon's, else empty.
    """

    functions: Mapping[str, str] = {PARQUET: "s3", "delta": "deltaLakeS3", "iceberg": "icebergS3"}

    def __init__(self, location: str, file_format: str, endpoint: str, query: Query) -> None:
        super().__init__(location, file_format)
        self._endpoint = endpoint.rstrip("/")
        self._query = query

    @property
    def _path(self) -> str:
        """The bucket, and the folder in it."""
        return _S3.sub("", self.location)

    def _url(self) -> str:
        return f"{self._endpoint}/{self._path}" if self._endpoint else f"s3://{self._path}"

    def _listed(self) -> Iterable[tuple[str, int]]:
        every = clickhouse_literal(f"{self._url()}/**")
        for path, size in self._query(f"select _path, _size from s3({every}, 'One')"):
            yield str(path).removeprefix(f"{self._path}/"), int(size)

    def exist(self) -> bool:
        return any(True for _ in self._listed())

    @property
    def _receipt(self) -> str:
        return f"s3({clickhouse_literal(f'{self._url()}/{RECEIPT}')}, 'RawBLOB', 'receipt String')"

    def read_receipt(self) -> str | None:
        if RECEIPT not in dict(self._listed()):
            return None
        return "".join(text for (text,) in self._query(f"select receipt from {self._receipt}"))

    def write_receipt(self, text: str) -> None:
        settings = "settings s3_truncate_on_insert = 1"
        self._query(f"insert into function {self._receipt} {settings} values ({clickhouse_literal(text)})")
