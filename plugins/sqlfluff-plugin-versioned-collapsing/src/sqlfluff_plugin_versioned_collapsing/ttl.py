"""Whether a TTL can remove a state row before its cancel row."""

from __future__ import annotations

import re

# Rules that move or compress rows without removing any.
_KEEPS_ROWS = re.compile(r"\b(TO\s+(DISK|VOLUME)|RECOMPRESS)\b", re.IGNORECASE)
_SETS_ROWS = re.compile(r"\bGROUP\s+BY\b", re.IGNORECASE)
_TEXT = re.compile(r"'[^']*'")
_COLUMN = re.compile(r"(?<![\w.])`?([A-Za-z_]\w*)`?(?!\s*\()(?!\w)")
_WORDS = {"and", "by", "delete", "group", "if", "interval", "not", "or", "ttl", "where"} | {
    *("second", "minute", "hour", "day", "week", "month", "quarter", "year")
}
_ROUNDED = re.compile(r"\b(toStartOf\w+|toMonday|toLastDayOf\w+|date_trunc|dateTrunc)\s*\(", re.IGNORECASE)


def why_unsafe(ttl: str, sign: str, partition_by: str) -> str | None:
    """The reason why a TTL of a collapsing table can separate pairs; None if it cannot.

    The rows of a pair may be in different parts. Each part is cleaned in a merge of its own, by default hours apart,
    and with `ttl_only_drop_parts` perhaps never. So a pair is safe only if whole partitions expire, with all their rows
    at the same time.
    """
    for rule in parts_of_list(ttl):
        columns = columns_of(rule)
        if _KEEPS_ROWS.search(rule) or not columns:
            continue
        if sign in columns:
            return f"it depends on the sign {sign}, so that the rows of a pair expire apart"
        if _SETS_ROWS.search(rule):
            return "it replaces rows by groups, and a cancel row that comes later finds no state"
        outside = columns - columns_of(partition_by)
        if outside:
            return (
                f"{', '.join(sorted(outside))} is not in the partition key: a state row expires "
                "with its part, and its cancel row later, with another"
            )
        is_whole = _ROUNDED.search(rule) or (columns_of(partition_by) >= columns and _is_bare(columns, partition_by))
        if not is_whole:
            return (
                "rows of one partition expire at different times: round the time as the partition "
                "key does, as in toStartOfMonth"
            )
    return None


def parts_of_list(text: str) -> list[str]:
    """The parts between top-level commas."""
    parts, depth = [""], 0
    for character in text:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def columns_of(expression: str) -> set[str]:
    """The columns that an expression names."""
    names = _COLUMN.findall(_TEXT.sub("", expression))
    return {name for name in names if name.lower() not in _WORDS}


def _is_bare(columns: set[str], partition_by: str) -> bool:
    """Whether the columns themselves are the partition key, as a Date can be."""
    parts = {part.strip(" ()`") for part in parts_of_list(partition_by.strip().strip("()"))}
    return columns <= parts
