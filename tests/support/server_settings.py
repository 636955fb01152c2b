"""Values that a profile may give to server settings, from the server's own list of settings."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import translate
from typing import NamedTuple

from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import ClickHouseError


class Candidate(NamedTuple):
    """A value of a setting other than the server's default."""

    name: str
    value: str

    def __str__(self) -> str:
        return f"{self.name}={self.value}"


NUMBERS = re.compile(r"U?Int\d+(Auto)?|Float(Auto)?|Double|Seconds|Milliseconds|MaxThreads")
# The engine does not say which texts are valid.
TEXTS = {
    "count_distinct_implementation": ("uniq", "uniqCombined", "uniqHLL12"),
    "compatibility": ("20.8", "22.8", "24.3"),
    "session_timezone": ("America/New_York",),
    "bool_true_representation": ("1",),
    "bool_false_representation": ("0",),
    "network_compression_method": ("NONE", "ZSTD"),
    "temporary_files_codec": ("NONE", "ZSTD"),
    "local_filesystem_read_method": ("read", "mmap", "pread_threadpool"),
    "ignore_data_skipping_indices": ("by_region",),
    "preferred_optimize_projection_name": ("by_region",),
    "insert_deduplication_token": ("token",),
    "log_comment": ("comment",),
    "mysql_datatypes_support_level": ("",),
}


def candidates(client: Client, excluded: Sequence[str]) -> list[Candidate]:
    """Every other value of a Bool and of a setting with named values, 0 and 1 for a number, and TEXTS.

    Args:
        client: of the server whose settings to list.
        excluded: patterns of names to leave out.
    """
    query = "select name, type, default from system.settings where alias_for = '' and not is_obsolete order by name"
    left_out = re.compile("|".join(map(translate, excluded)))
    found = []
    for name, kind, default in client.query(query).result_rows:
        if not left_out.match(name):
            values = _values(client, name, kind)
            found += [Candidate(name, value) for value in values if value != default]
    return found


def _values(client: Client, name: str, kind: str) -> tuple[str, ...]:
    if name in TEXTS:
        return TEXTS[name]
    if kind.startswith("NonZero"):
        return ("1", "2")
    if kind in ("Bool", "BoolAuto") or NUMBERS.fullmatch(kind):
        return ("0", "1")
    if kind in ("String", "URI", "Map", "Char", "Timezone"):
        return ()
    return _named_values(client, name)


def _named_values(client: Client, name: str) -> tuple[str, ...]:
    """The values that the engine lists in its error for an invalid one."""
    try:
        client.command(f"select 1 settings {name} = 'no such value'")
    except ClickHouseError as error:
        listed = re.search(r"Must be one of \[([^\]]*)\]", str(error))
        return tuple(re.findall("'([^']*)'", listed[1])) if listed else ()
    return ()
