"""The rows that a source returns: which signs they have, and which columns."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from sqlfluff_plugin_versioned_collapsing.relations import Relation

_ids = itertools.count(1)
_WRAPPED = re.compile(r"(?:Nullable|LowCardinality)\((.*)\)$")
# Columns that every table of ClickHouse has, and that describe its storage.
_VIRTUAL = frozenset(
    {
        "_block_number",
        "_block_offset",
        "_database",
        "_disk_name",
        "_part",
        "_part_data_version",
        "_part_granule_offset",
        "_part_index",
        "_part_offset",
        "_part_starting_offset",
        "_part_uuid",
        "_partition_id",
        "_partition_value",
        "_row_exists",
        "_sample_factor",
        "_shard_num",
        "_table",
    }
)


@dataclass(frozen=True)
class Value:
    """What is known about the value of an expression.

    Args:
        signs: the signs that multiply it, an odd number of times.
        is_mixed: whether it contains a sign other than as a factor, as in a sum or a condition.
        is_bare: whether it is a product of signs only.
        is_zero: whether it is 0 or null, which a sign does not change.
        is_stored: whether it describes stored rows: a version, the name of a part.
        is_virtual: whether it says where a row is stored, in which the rows of a pair differ.
        of: the sign of the table whose stored rows it describes.
        is_aggregate: whether it is computed from groups.
        kind: `UInt64`; `unsigned` for smaller ones; `wide` for types that can hold a UInt64 with a sign.
    """

    signs: frozenset[int] = frozenset()
    is_mixed: bool = False
    is_bare: bool = False
    is_zero: bool = False
    is_stored: bool = False
    is_virtual: bool = False
    of: frozenset[int] = frozenset()
    is_aggregate: bool = False
    kind: str = ""

    @property
    def has_sign(self) -> bool:
        return bool(self.signs) or self.is_mixed

    def times(self, other: Value) -> Value:
        """The product, and also the quotient: a sign is its own inverse."""
        kinds = {self.kind, other.kind}
        return Value(
            signs=self.signs ^ other.signs,
            is_mixed=self.is_mixed or other.is_mixed,
            is_bare=self.is_bare and other.is_bare,
            is_zero=self.is_zero or other.is_zero,
            is_aggregate=self.is_aggregate or other.is_aggregate,
            kind=_kind_of_both(kinds),
        )

    def plus(self, other: Value) -> Value:
        """The sum, or the difference."""
        is_aggregate = self.is_aggregate or other.is_aggregate
        if self.is_zero or other.is_zero:
            return replace(other if self.is_zero else self, is_aggregate=is_aggregate, is_bare=False)
        return Value(
            signs=self.signs if self.signs == other.signs else frozenset(),
            is_mixed=self.is_mixed or other.is_mixed or self.signs != other.signs,
            is_aggregate=is_aggregate,
            kind=_kind_of_both({self.kind, other.kind}),
        )

    def either(self, other: Value) -> Value:
        """One value or the other, by a condition without a sign."""
        found = self.plus(other)
        is_bare = self.is_bare and other.is_bare and not found.is_mixed
        is_stored = self.is_stored and other.is_stored
        return replace(found, is_bare=is_bare, is_stored=is_stored, of=self.of | other.of)


def _kind_of_both(kinds: set[str]) -> str:
    if "wide" in kinds:
        return "wide"
    if kinds <= {"UInt64", "unsigned"}:
        return "UInt64" if "UInt64" in kinds else "unsigned"
    return ""


def kind_of(type_name: str) -> str:
    """What a ClickHouse type means for a multiplication by the sign."""
    while found := _WRAPPED.match(type_name.strip()):
        type_name = found[1]
    if re.match(r"UInt64$|Uint64$", type_name.strip()):
        return "UInt64"
    if re.match(r"UInt(8|16|32)$|Bool", type_name.strip()):
        return "unsigned"
    if re.match(r"(Int(128|256)|B?Float|Decimal)", type_name.strip()):
        return "wide"
    return ""


@dataclass(frozen=True)
class Columns:
    """The columns of a table, of which some may be unknown."""

    relation: Relation | None
    sign: int | None
    excluded: frozenset[str] = frozenset()

    def find(self, name: str) -> Value | None:
        if name in self.excluded or self.relation is None:
            return None
        if self.sign is not None and name == self.relation.sign:
            return Value(signs=frozenset({self.sign}), is_bare=True)
        is_virtual = name in _VIRTUAL and name not in self.relation.types
        is_stored = self.sign is not None and (is_virtual or name == self.relation.version)
        if is_stored or name in self.relation.types or name == self.relation.sign:
            kind = kind_of(self.relation.types.get(name, ""))
            of = frozenset({self.sign}) if is_stored and self.sign else frozenset[int]()
            is_virtual = is_stored and is_virtual
            return Value(is_stored=is_stored, is_virtual=is_virtual, of=of, kind=kind)
        return None


@dataclass(frozen=True)
class Rows:
    """The rows of a table or a query.

    Args:
        signs: those that together count a row; empty if the rows are live or were never signed.
        named: columns by name.
        others: columns of tables that are passed on.
        lost: the clause that has left rows out without their partners, or None.
        replacing: the ReplacingMergeTree whose replaced rows are among them, or None.
    """

    signs: frozenset[int] = frozenset()
    named: Mapping[str, Value] = field(default_factory=dict)
    others: tuple[Columns, ...] = ()
    lost: str | None = None
    replacing: Relation | None = None

    def find(self, name: str) -> Value | None:
        if name in self.named:
            return self.named[name]
        return next((value for columns in self.others if (value := columns.find(name))), None)

    def passes_on(self) -> frozenset[int]:
        """The signs that the columns still show."""
        found: set[int] = set()
        for value in self.named.values():
            found |= value.signs
        for columns in self.others:
            is_there = columns.relation and columns.relation.sign not in columns.excluded
            if columns.sign is not None and is_there:
                found.add(columns.sign)
        return frozenset(found)

    def without(self, names: frozenset[str]) -> Rows:
        return replace(
            self,
            named={name: value for name, value in self.named.items() if name not in names},
            others=tuple(replace(c, excluded=c.excluded | names) for c in self.others),
        )

    def read_again(self) -> Rows:
        """The same rows with new signs, for another source."""
        new = {sign: next(_ids) for sign in self.signs}

        def renamed(signs: frozenset[int]) -> frozenset[int]:
            return frozenset(new.get(sign, sign) for sign in signs)

        return Rows(
            renamed(self.signs),
            {name: replace(v, signs=renamed(v.signs), of=renamed(v.of)) for name, v in self.named.items()},
            tuple(replace(c, sign=new.get(c.sign) if c.sign else None) for c in self.others),
            self.lost,
            self.replacing,
        )


def is_virtual(name: str) -> bool:
    """Whether a column says where a row is stored."""
    return name in _VIRTUAL


def new_sign() -> int:
    """A new sign, for one source."""
    return next(_ids)


def rows_of_table(relation: Relation | None, *, is_live: bool) -> Rows:
    """The rows of a table. They are signed if its engine has a sign and nothing matches the pairs."""
    is_signed = relation is not None and relation.sign is not None and not is_live
    sign = new_sign() if is_signed else None
    signs = frozenset() if sign is None else frozenset({sign})
    is_replacing = relation is not None and relation.is_replacing and not is_live
    replacing = relation if is_replacing else None
    return Rows(signs, {}, (Columns(relation, sign),), replacing=replacing)


def union_of(parts: list[tuple[list[tuple[str, Value]], Rows]], *, keeps_all: bool) -> Rows:
    """The rows of several queries in a union: columns correspond by position."""
    signed = [rows.signs for _, rows in parts]
    lost = next((rows.lost for _, rows in parts if rows.lost), None)
    replacing = next((rows.replacing for _, rows in parts if rows.replacing), None)
    if not any(signed):
        names = parts[0][0]
        return Rows(
            named={name: replace(value, kind="") for name, value in names}, replacing=replacing if keeps_all else None
        )
    if not keeps_all:
        lost = lost or "a set operation that removes equal rows"
    sign = new_sign()
    named = {}
    for position, (name, first) in enumerate(parts[0][0]):
        values = [
            (columns[position][1], rows.signs) for columns, rows in parts if position < len(columns) and rows.signs
        ]
        is_signed = bool(values) and all(value.signs == signs and not value.is_mixed for value, signs in values)
        is_mixed = not is_signed and any(value.has_sign for value, _ in values)
        named[name] = Value(
            signs=frozenset({sign}) if is_signed else frozenset(),
            is_mixed=is_mixed,
            is_bare=is_signed and all(value.is_bare for value, _ in values),
            kind=first.kind,
        )
    others: tuple[Columns, ...] = ()
    if all(len(rows.others) == 1 and not rows.named for _, rows in parts):
        relations = {columns.relation.sign for _, rows in parts for columns in rows.others if columns.relation}
        if len(relations) == 1:
            others = (replace(parts[0][1].others[0], sign=sign),)
    return Rows(frozenset({sign}), named, others, lost, replacing)
