"""Whether a ReplacingMergeTree can replace anything: rows of one key must have one sorting key."""

from __future__ import annotations

import re

from sqlfluff_plugin_versioned_collapsing.relations import Relation, columns_of_replacing
from sqlfluff_plugin_versioned_collapsing.ttl import columns_of, parts_of_list

# Columns whose names say that they change with every update of a row.
_OF_UPDATES = re.compile(
    r"_?(last_?)?(updated?|modified|changed)_?(at|on|time|ts|timestamp|datetime)"
    r"|last_?(update|updated|modified|change|changed)|_\w*version",
    re.IGNORECASE,
)
# Tables that keep every version on purpose, and remove only duplicate deliveries.
_OF_VERSIONS = re.compile(
    r"(^|_)(audit|cdc|changes|changelog|events|feed|history|landing|logs?|raw|snapshots?|staging"
    r"|stg|versions)(_|$)",
    re.IGNORECASE,
)


def why_never_replaced(relation: Relation) -> str | None:
    """The reason why rows of a key stay next to each other, even with FINAL; None if there is none.

    A column of the sorting key counts if the engine names it. Any other column must have a name that says that it
    changes with updates, and the table's name must not suggest that it keeps every version. If there is a `unique_key`
    of dbt's, its columns never count, and the table's name does not matter.
    """
    if not relation.is_replacing or not relation.sorting_key:
        return None
    declared = columns_of_replacing(relation.engine)
    elements = parts_of_list(_out_of_brackets(relation.sorting_key))
    for column in sorted(columns_of(relation.sorting_key) - relation.unique_key):
        others = [e.strip() for e in elements if column not in columns_of(e)]
        is_by_name = bool(_OF_UPDATES.fullmatch(column)) and bool(others)
        is_meant = bool(relation.unique_key) or not _OF_VERSIONS.search(relation.name)
        if column in declared or (is_by_name and is_meant):
            arguments = ", ".join(declared or [column])
            return (
                f"the sorting key has {column}, which changes with every update: rows of one key "
                "are never replaced, with FINAL neither. Order by the key alone, and give the "
                f"version to the engine: ReplacingMergeTree({arguments}) "
                f"order by ({', '.join(others) or 'the key'})"
            )
    return None


def _out_of_brackets(sorting_key: str) -> str:
    key = sorting_key.strip()
    return key[1:-1] if key.startswith("(") and key.endswith(")") else key
