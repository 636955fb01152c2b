"""Where the files of a Spark table are, and the table functions that read them."""

from __future__ import annotations

import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from dbt.adapters.spark_clickhouse.core.literals import clickhouse_literal
from dbt.adapters.spark_clickhouse.landing.batches import is_listed

# Spark and the *.parquet glob skip names with a leading underscore.
RECEIPT = "_hand_off.json"
EMPTIED = "_emptied"  # beside a table that was emptied and not filled since
PARQUET = "parquet"
FORMATS = (PARQUET, "delta", "iceberg")
FEW_FILES = 50
ARROW_TYPES = {"bigint": "int64", "string": "string", "boolean": "bool"}

Query = Callable[[str], Iterable[Any]]


class Files(ABC):
    """The folder of one table, in ``file_format``."""

    functions: Mapping[str, str]  # by format
    are_read_in_place = True

    def __init__(self, location: str, file_format: str) -> None:
        self.location = location
        self.file_format = file_format

    def sizes(self) -> dict[str, int]:
        """The size in bytes of each file of the table, by path within the folder.

        For a lake table these are all files; its log decides which of them count.
        """
        return {name: size for name, size in sorted(self._listed()) if self._is_part(name)}

    @abstractmethod
    def _listed(self) -> Iterable[tuple[str, int]]:
        """The path within the folder and the size in bytes of each file."""

    def _is_part(self, name: str) -> bool:
        *folders, file = name.split("/")
        if self.file_format != PARQUET:
            return not file.startswith((".", RECEIPT))
        return file.endswith(".parquet") and all("=" in folder for folder in folders)

    def rows(self) -> int | None:
        """The number of rows in the files, according to what Spark wrote at their ends. None if it takes a query."""
        return None

    def replace_rows(self, columns: Mapping[str, str], rows: Sequence[Mapping[str, Any]]) -> bool:
        """Replace the only file by one with other rows. False, and nothing is done, if there are more or none, or if
        it takes Spark to write one.

        Args:
            columns: Spark's types by name.
            rows: the values by name.
        """
        return False

    @abstractmethod
    def exist(self) -> bool:
        """Whether the folder exists."""

    @abstractmethod
    def read_receipt(self) -> str | None:
        """The text of the receipt next to the files; None if there is none."""

    @abstractmethod
    def write_receipt(self, text: str) -> None:
        """Write a receipt next to the files, completely or not at all."""

    def are_newer_than_receipt(self) -> bool:
        """Whether a file is known to have been written after the receipt."""
        return False

    def deliver(self, types: Mapping[str, str], sizes: Mapping[str, int]) -> None:  # noqa: B027
        """Bring the files to where ClickHouse reads them. Most are read where they are.

        Args:
            types: ClickHouse types of the columns in the files, by name.
            sizes: size in bytes of each file, by path within the folder.
        """

    def discard(self) -> None:  # noqa: B027
        """Drop what was brought."""

    def source(self, pattern: str = "", structure: str = "") -> str:
        """The table function with which ClickHouse reads the folder.

        Args:
            pattern: of the files; a lake table needs none.
            structure: columns and ClickHouse types; if empty, ClickHouse infers them.
        """
        place = f"{self._url()}/{pattern}" if pattern else self._url()
        arguments = [place, "Parquet", structure] if structure or pattern else [place]
        given = (clickhouse_literal(argument) for argument in arguments if argument)
        return f"{self.functions[self.file_format]}({', '.join(given)})"

    @abstractmethod
    def _url(self) -> str:
        """The folder, in the form that ClickHouse's table functions take."""

    def __str__(self) -> str:
        return self.location


class LocalFiles(Files):
    """A local folder."""

    functions: Mapping[str, str] = {PARQUET: "file", "delta": "deltaLakeLocal", "iceberg": "icebergLocal"}

    @property
    def folder(self) -> Path:
        """The folder."""
        return Path(self.location)

    def _listed(self) -> Iterable[tuple[str, int]]:
        for path in self.folder.rglob("*"):
            if path.is_file():
                yield path.relative_to(self.folder).as_posix(), path.stat().st_size

    def rows(self) -> int | None:
        names = list(self.sizes())
        # Spark counts only partitions that are registered, and no hidden files. It counts many files faster.
        is_simple = all("/" not in name and is_listed(name) for name in names)
        if self.file_format != PARQUET or not is_simple or not 0 < len(names) <= FEW_FILES:
            return None
        try:
            from pyarrow import ArrowException, parquet  # chDB needs it
        except ImportError:
            return None
        try:
            return sum(int(parquet.read_metadata(self.folder / name).num_rows) for name in names)
        except (ArrowException, OSError):  # Spark says better what is wrong with the file
            return None

    def replace_rows(self, columns: Mapping[str, str], rows: Sequence[Mapping[str, Any]]) -> bool:
        names = list(self.sizes())
        if self.file_format != PARQUET or len(names) != 1 or "/" in names[0] or columns.values() - ARROW_TYPES.keys():
            return False
        try:
            import pyarrow
            from pyarrow import parquet  # chDB needs it
        except ImportError:
            return False
        types = pyarrow.schema([(name, ARROW_TYPES[of_spark]) for name, of_spark in columns.items()])
        name = f"part-{uuid.uuid4()}.parquet"
        draft = self.folder / f".{name}.draft"
        try:
            parquet.write_table(pyarrow.Table.from_pylist(list(rows), types), draft)
        except (pyarrow.ArrowException, OSError):  # Spark says better what is wrong with the values or the disk
            draft.unlink(missing_ok=True)
            return False
        # Killed between the two, it leaves a table without rows, as Spark does between dropping and creating one. A
        # name of its own, because ClickHouse remembers the rows of a file by name and second.
        (self.folder / names[0]).unlink()
        draft.replace(self.folder / name)
        (self.folder / f".{names[0]}.crc").unlink(missing_ok=True)
        return True

    def empty(self) -> bool:
        """Delete the files. False, and nothing is done, if there are none, or if it takes Spark to delete them."""
        names = list(self.sizes())
        if self.file_format != PARQUET or not names or any("/" in name for name in names):
            return False
        (self.folder / EMPTIED).touch()
        for name in names:
            (self.folder / name).unlink()
            (self.folder / f".{name}.crc").unlink(missing_ok=True)
        return True

    def are_emptied(self) -> bool:
        """Whether the table was emptied, wholly or in part, and not filled since. Spark deletes the mark when it fills
        the table."""
        return (self.folder / EMPTIED).exists()

    def exist(self) -> bool:
        return self.folder.is_dir()

    def are_newer_than_receipt(self) -> bool:
        """Whether a file was written, or moved into place, after the receipt."""
        laid = (self.folder / RECEIPT).stat().st_mtime_ns
        changes = ((self.folder / name).stat() for name in self.sizes())
        return any(max(file.st_mtime_ns, file.st_ctime_ns) >= laid for file in changes)

    def read_receipt(self) -> str | None:
        try:
            return (self.folder / RECEIPT).read_text()
        except FileNotFoundError:
            return None

    def write_receipt(self, text: str) -> None:
        draft = self.folder / f"{RECEIPT}.draft"
        draft.write_text(text)
        draft.replace(self.folder / RECEIPT)

    def _url(self) -> str:
        return self.location


def partition_columns(files: Iterable[str]) -> list[str]:
    """The columns whose values are in folder names, given paths within a table's folder."""
    first = next(iter(files), "")
    return [folder.split("=", 1)[0] for folder in first.split("/")[:-1] if "=" in folder]
