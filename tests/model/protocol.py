"""A run of a versioned_collapsing model, statement by statement, as the macros of the materialization send them.

Each run is a generator: it yields a `Statement`, and gets its answer. `search.py` lets runs go on in turn, die and stall
in every way. A guard is what the protocol does against one of these ways. A model can be without some of them.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from typing import Any

from tests.model.world import (
    IDLE,
    NO_ROWS,
    UNFINISHED,
    Change,
    Entry,
    Failed,
    Key,
    Rows,
    Statement,
    World,
    added,
    decide,
    in_parts,
    marked,
    partition,
    some_parts,
)

Program = Generator[Statement, Any, Any]
Send = Callable[..., Statement]

TABLE, TOMBSTONES, FEED, VIEW = "orders", "orders__tombstones", "orders__feed", "orders_mv"
BUILD, LOCK = "orders__dbt_build", "orders__dbt_lock"
SUMS, SUMS_BUILD = "orders_sums", "orders_sums__dbt_build"  # a versioned_collapsing_view


class Guard(StrEnum):
    ONE_AT_A_TIME = "only one run holds the lock"
    LOCK_IS_KEPT = "a statement under way is a sign of life"
    TAKEN_LOCK_IS_IDLE = "a run that takes over a lock gives it back if the holder has gone on meanwhile"
    LOOKS_BEFORE_STAGING = "a run looks at its lock before it changes staged tables"
    LOOKS_BEFORE_ROWS = "a run looks at its lock before it publishes rows"
    LOOKS_AT_END = "a run looks at its lock before it empties tables and gives up the lock"
    SOON = "what a run sends after a look at its lock arrives within a minute, or never"
    STARTED = "the ledger says `started` before rows are published"
    APPLIED_AT_END = "the ledger says `applied` after rows and deletes are published"
    RECOVERS = "a run completes an unfinished apply first"
    REDO_COMPARES = "a run that completes an apply publishes only what the table lacks"
    ATOMIC_ATTACH = "all partitions are attached in one statement"
    NEW_SIGNED = "each apply stages its rows in a new table"
    EMPTY_INPUT = "an apply begins with no staged changes"
    FEED_BEFORE_STARTED = "the change feed has the rows before the ledger says `started`"
    FEED_IS_TRIMMED = "rows of an apply that was not published are removed from the feed"
    REMEMBERED = "tombstones keep late events out"
    TOMBSTONES_ARE_BOUND = "the tombstones name the table to which they belong"
    BUILD_BESIDE = "a full refresh builds its table beside the old one"
    LEFTOVER_IS_DROPPED = "what a full refresh has left is dropped"
    TOKENS = "a block of a journal has a token"
    BLOCK_IS_RECORDED = "the ledger says which block comes next"
    COMPARED_AFTER_BLOCKS = "after its last block, a journal that was interrupted is compared with its changes"
    CHUNK_OUTPUT_IS_DROPPED = "what a chunk that was interrupted has staged is removed"
    VIEW_BESIDE = "a view gets changes in a copy that takes its place"
    VIEW_UUID = "the ledger names the copy of a view by its UUID"
    VIEW_RECOVERS = "the run of a view completes an unfinished apply to the table first"
    VIEW_LOOKS = "the run of a view looks at the lock of its table"
    WRITES_ARE_SENT_ONCE = "the client never sends a writing statement twice"


stage = partial(Statement, looks=Guard.LOOKS_BEFORE_STAGING)
publish = partial(Statement, looks=Guard.LOOKS_BEFORE_ROWS)
end = partial(Statement, looks=Guard.LOOKS_AT_END)


@dataclass(frozen=True)
class Model:
    """What is searched.

    Attributes:
        batches: the changes of each batch, from 1 on.
        without: the guards that are left out.
    """

    batches: Mapping[int, tuple[Change, ...]]
    is_journal: bool = False
    is_fed: bool = False
    chunks: int = 1
    without: frozenset[Guard] = frozenset()

    def has(self, guard: Guard) -> bool:
        return guard not in self.without

    def state(self, batches: Iterable[int]) -> tuple[Rows, Rows]:
        """The rows that a table with these batches has, and its tombstones."""
        rows, deletes = NO_ROWS, NO_ROWS
        for batch in sorted(batches):
            signed, deleted = decide(self.staged([batch], deletes), rows)
            rows, deletes = added(rows, signed), deletes | deleted
        return rows, deletes

    def staged(self, batches: Iterable[int], tombstones: Rows) -> Rows:
        """The newest change of each key, as it is staged beside these tombstones."""
        newest: dict[Key, Change] = {}
        for change in (each for batch in batches for each in self.batches[batch]):
            if change[0] not in newest or newest[change[0]][1] <= change[1]:
                newest[change[0]] = change
        deleted: dict[Key, int] = {key: version for (key, version), _ in tombstones}
        return frozenset((marked(change, deleted), 1) for change in newest.values())


@dataclass(frozen=True)
class Ledger:
    """What the ledger says about a table."""

    number: int
    applied: frozenset[int]
    unfinished: Entry | None


@dataclass(frozen=True)
class Apply:
    """One apply: the run that began it, to which table, and how far it is."""

    run: str
    target: str
    number: int
    batches: tuple[int, ...]
    is_journal: bool
    block: int = 0
    chunk: int = 1
    is_repeated: bool = False

    @property
    def tombstones(self) -> str:
        return f"{self.target}__tombstones"

    def staged(self, role: str) -> str:
        return f"{self.target}__dbt_{role}"


def run(model: Model, me: str, landed: Iterable[int], *, is_full_refresh: bool = False) -> Program:
    """versioned_collapsing.sql"""
    found = yield Statement("select version()", _read_server)
    landed = frozenset(landed)
    batches = tuple(sorted(landed - (frozenset() if is_full_refresh else found.applied)))
    yield from acquire_lock(model, me)
    exists = yield from bind_tombstones(model)
    is_rebuild = is_full_refresh or not exists
    target = BUILD if is_full_refresh and exists and model.has(Guard.BUILD_BESIDE) else TABLE
    ledger = yield read_ledger(TABLE)
    if not is_rebuild or model.is_fed:
        ledger = yield from restore_ledger(model, me, ledger)
    yield from drop_leftover_build(model)
    if is_rebuild:
        yield from create_table(model, target)
        ledger = replace(ledger, applied=frozenset(), unfinished=None)
    elif ledger.unfinished and model.has(Guard.RECOVERS):
        yield from recover(model, me, ledger.unfinished, ledger.number + 1)
        ledger = yield read_ledger(TABLE)
    apply = Apply(me, target, ledger.number + 1, batches, model.is_journal)
    yield from apply_change_set(model, apply)
    if target == BUILD:
        yield from exchange_tables(model, apply)
    yield drop_tables(end, f"{TABLE}__dbt_signed", LOCK)


# lock.sql


def acquire_lock(model: Model, me: str) -> Program:
    def create(world: World) -> tuple[World, Any]:
        if world.get(LOCK) and model.has(Guard.ONE_AT_A_TIME):
            return world, None
        return world.create(LOCK, me), None

    while True:
        yield Statement(f"create table if not exists {LOCK}", create)
        holder = yield Statement("select splitByChar", lambda world: _read_lock(world, me))
        if holder == me:
            yield from drop_moved_locks()
            return
        if holder == "at work":
            raise Failed("Another run holds the lock")
        if holder:
            yield from take_over_lock(model, me, holder)


def _read_lock(world: World, me: str) -> tuple[World, Any] | None:
    """The holder, if it is this run or has shown no sign of life for a minute. Until then, a run waits."""
    lock = world.get(LOCK)
    if lock is None or lock.comment == me or lock.rows == IDLE:
        return world, lock.comment if lock else ""
    return (world, "at work") if lock.comment in world.alive else None


def take_over_lock(model: Model, me: str, holder: str) -> Program:
    moved = f"{LOCK}_{me}"

    def rename(old: str, new: str) -> Statement:
        def effect(world: World) -> tuple[World, Any]:
            table = world.get(old)
            if table is None and old == LOCK:
                return world, None
            if table is None:
                raise Failed(f"there is no table {old}")
            if world.get(new):
                raise Failed(f"there is a table {new}")
            return world.drop(old).put(new, table), None

        return Statement(f"rename table {old}, {new}", effect)

    yield rename(LOCK, moved)
    taken, is_idle = yield Statement(
        "select splitByChar", lambda world: (world, (_comment(world, moved), world.rows(moved) == IDLE))
    )
    if taken == holder and (is_idle or not model.has(Guard.TAKEN_LOCK_IS_IDLE)):
        yield drop_tables(Statement, moved)
    elif taken:
        yield rename(moved, LOCK)


def drop_moved_locks() -> Program:
    """Those of runs that died while they took over a lock."""

    def look(world: World) -> tuple[World, tuple[str, ...]]:
        return world, tuple(sorted(name for name, _ in world.tables if name.startswith(f"{LOCK}_")))

    for name in (yield Statement("select tables beside", look)):
        yield drop_tables(stage, name)


def _comment(world: World, name: str) -> str:
    table = world.get(name)
    return table.comment if table else ""


# ledger.sql


def _read_server(world: World) -> tuple[World, Ledger]:
    return world, _ledger_of(world, TABLE)


def read_ledger(name: str) -> Statement:
    return Statement("select count() as known", lambda world: (world, _ledger_of(world, name)))


def _ledger_of(world: World, name: str) -> Ledger:
    uuid = world.uuid(name)
    entries = [entry for entry in world.ledger if entry.uuid == uuid]
    return Ledger(
        number=max((entry.apply for entry in world.ledger if not entry.source), default=0),
        applied=frozenset(batch for entry in entries if entry.status == "applied" for batch in entry.batches),
        unfinished=entries[-1] if entries and entries[-1].status in UNFINISHED else None,
    )


def record(apply: Apply, status: str) -> Statement:
    def effect(world: World) -> tuple[World, Any]:
        if status == "started":
            world.need(apply.staged("signed"))
        entry = Entry(
            status, apply.run, world.need(apply.target).uuid, apply.number if status != "chunk staged" else 0,
            apply.batches, apply.is_journal, apply.block, apply.chunk,
        )  # fmt: skip
        return world.record(entry), None

    return publish(f"insert into ledger, {status}", effect)


def restore_ledger(model: Model, me: str, ledger: Ledger) -> Generator[Statement, Any, Ledger]:
    """If the change feed is ahead of the ledger, its last apply was not published, and is removed from the feed."""
    if model.is_fed and (yield Statement(f"select _apply .. from {FEED}", last_fed)) > ledger.number:
        yield from trim_feed(model, ledger.number + 1)
    return ledger


# table.sql and tombstones.sql


def bind_tombstones(model: Model) -> Generator[Statement, Any, bool]:
    """Complete a full refresh that died between its two exchanges. Returns whether the table exists."""

    def look(world: World) -> tuple[World, tuple[bool, bool, bool]]:
        uuid = str(world.uuid(TABLE))
        is_ours = world.get(TOMBSTONES) is None or _comment(world, TOMBSTONES) == uuid
        return world, (world.get(TABLE) is not None, is_ours, _comment(world, f"{BUILD}__tombstones") == uuid)

    exists, is_ours, is_in_build = yield Statement("select tables beside", look)
    if exists and not is_ours and model.has(Guard.TOMBSTONES_ARE_BOUND):
        if is_in_build:
            yield exchange(f"{BUILD}__tombstones", TOMBSTONES, stage)
        else:
            raise Failed("tombstones of another table")
    return bool(exists)


def exchange(left: str, right: str, send: Send) -> Statement:
    def effect(world: World) -> tuple[World, Any]:
        one, other = world.need(left), world.need(right)
        return world.put(left, other).put(right, one), None

    return send(f"exchange tables {left}, {right}", effect)


def drop_tables(send: Send, *names: str) -> Statement:
    return send(f"drop table if exists {', '.join(names)}", lambda world: (world.drop(*names), None))


def drop_leftover_build(model: Model) -> Program:
    def look(world: World) -> tuple[World, tuple[str, ...]]:
        return world, tuple(sorted(name for name, _ in world.tables if name.startswith(BUILD)))

    for name in (yield Statement("select tables beside", look)):
        if model.has(Guard.LEFTOVER_IS_DROPPED):
            yield drop_tables(stage, name)


def create_table(model: Model, target: str) -> Program:
    tombstones = f"{target}__tombstones"

    def drop(world: World) -> tuple[World, Any]:
        return world.drop(target, tombstones), None

    def create(world: World) -> tuple[World, Any]:
        return world.create(target), None

    def create_tombstones(world: World) -> tuple[World, Any]:
        return world.create(tombstones, str(world.need(target).uuid)), None

    yield stage(f"drop table if exists {target}, {tombstones}", drop)
    yield stage(f"create table {target}", create)
    yield stage(f"create table if not exists {tombstones}", create_tombstones)


def exchange_tables(model: Model, apply: Apply) -> Program:
    yield exchange(BUILD, TABLE, publish)
    yield exchange(f"{BUILD}__tombstones", TOMBSTONES, publish)
    for names in ((f"{BUILD}__tombstones",), (BUILD,), [apply.staged(role) for role in ("input", "signed", "deletes")]):
        yield drop_tables(stage, *names)


# stage.sql, chunks.sql and decide.sql


def apply_change_set(model: Model, apply: Apply) -> Program:
    yield from stage_changes(model, apply)
    if not apply.batches:
        return
    has_writes, has_deletes = yield from stage_signed_rows(model, apply)
    yield from publish_and_record(model, apply, has_writes, has_deletes)
    for role in ("input", "deletes") if has_deletes else ("input",):
        yield truncate(end, apply.staged(role))


def truncate(send: Send, name: str) -> Statement:
    def effect(world: World) -> tuple[World, Any]:
        return world.put(name, world.need(name)._replace(rows=NO_ROWS)), None

    return send(f"truncate table {name}", effect)


def stage_changes(model: Model, apply: Apply) -> Program:
    name = apply.staged("input")

    def insert(world: World) -> tuple[World, Any]:
        tombstones = world.rows(apply.tombstones) if model.has(Guard.REMEMBERED) else NO_ROWS
        return world.add(name, model.staged(apply.batches, tombstones)), None

    yield from prepare(model, name, Guard.EMPTY_INPUT)
    yield stage(f"insert into {name}, changes", insert)


def prepare(model: Model, name: str, guard: Guard, *, is_new: bool = False) -> Program:
    """Make sure that a staged table exists and is empty."""
    found = yield Statement(
        "select tables beside", lambda world: (world, bool(world.get(name)) + bool(world.rows(name)))
    )
    if found and is_new and model.has(guard):
        yield stage(f"drop table {name}", lambda world: (world.drop(name), None))
        found = 0
    elif found == 2 and model.has(guard):
        yield truncate(stage, name)
    if not found:
        yield stage(f"create table {name}", lambda world: (world.create(name), None))


def stage_signed_rows(model: Model, apply: Apply) -> Generator[Statement, Any, tuple[bool, bool]]:
    """Decide which rows the staged changes require, chunk by chunk. Returns whether there are rows, and deletes."""
    if apply.chunk == 1:
        yield from prepare(model, apply.staged("signed"), Guard.NEW_SIGNED, is_new=True)
        yield from prepare(model, apply.staged("deletes"), Guard.NEW_SIGNED)
    has_writes = has_deletes = False
    for chunk in range(apply.chunk, model.chunks + 1):
        signed, deletes = yield look_up(model, apply, chunk)
        if signed:
            yield insert(apply.staged("signed"), signed)
        if deletes:
            yield insert(apply.staged("deletes"), deletes)
        has_deletes = has_deletes or bool(deletes)
        has_writes = has_writes or bool(signed or deletes)
        if chunk < model.chunks:
            yield record(replace(apply, chunk=chunk), "chunk staged")
    return has_writes, has_deletes


def insert(name: str, rows: Rows) -> Statement:
    return stage(f"insert into {name}", lambda world: (world.add(name, rows), None))


def look_up(model: Model, apply: Apply, chunk: int) -> Statement:
    def effect(world: World) -> tuple[World, tuple[Rows, Rows]]:
        changes = world.need(apply.staged("input")).rows
        of_chunk = frozenset(each for each in changes if model.chunks == 1 or _chunk_of(each[0][0]) == chunk)
        return world, decide(of_chunk, world.need(apply.target).rows)

    return Statement(f"insert into {apply.staged('uncollapsed')}", effect)


def _chunk_of(key: Key) -> int:
    return 1 if key == "a" else 2


# publish.sql and feed.sql


def publish_and_record(model: Model, apply: Apply, has_writes: bool, has_deletes: bool) -> Program:
    if has_writes:
        if model.has(Guard.FEED_BEFORE_STARTED):
            yield from feed(model, apply)
        if model.has(Guard.STARTED):
            yield record(apply, "started")
        if not model.has(Guard.FEED_BEFORE_STARTED):
            yield from feed(model, apply)
        if not model.has(Guard.APPLIED_AT_END):
            yield record(apply, "applied")
        yield from publish_rows(model, apply, has_deletes)
    if model.has(Guard.APPLIED_AT_END) or not has_writes:
        yield record(apply if has_writes or apply.is_repeated else replace(apply, number=0), "applied")


def feed(model: Model, apply: Apply) -> Program:
    """Write the staged rows to the change feed."""
    if not model.is_fed or apply.is_repeated:
        return
    signed = apply.staged("signed")
    yield from trim_feed(model, apply.number)

    def fill(world: World) -> tuple[World, Any]:
        return world.add(FEED, (((apply.number, *row), net) for row, net in world.need(signed).rows)), None

    yield publish(f"insert into {FEED}, {signed}, {apply.staged('input')}", fill)


def last_fed(world: World) -> tuple[World, int]:
    return world, max((row[0] for row, _ in world.rows(FEED)), default=0)


def trim_feed(model: Model, number: int) -> Program:
    """Remove what an apply that was not published has left in the feed."""

    def trim(world: World) -> tuple[World, Any]:
        kept = frozenset(each for each in world.rows(FEED) if each[0][0] < number)
        return world.put(FEED, world.need(FEED)._replace(rows=kept)), None

    if (yield Statement(f"select (select _apply .. from {FEED}", last_fed)) >= number and model.has(
        Guard.FEED_IS_TRIMMED
    ):
        yield publish(f"alter table delete where {FEED}", trim)


def publish_rows(model: Model, apply: Apply, has_deletes: bool) -> Program:
    if apply.is_journal:
        yield from publish_blocks(model, apply)
    elif model.has(Guard.ATOMIC_ATTACH):
        yield attach(apply.staged("signed"), apply.target)
    else:
        for number in (0, 1):
            yield attach(apply.staged("signed"), apply.target, only=number)
    if has_deletes:
        yield attach(apply.staged("deletes"), apply.tombstones)


def attach(staged: str, target: str, only: int | None = None) -> Statement:
    """Add all staged rows to a table in one step. If ClickHouse is killed, only some parts may be there."""

    def rows(world: World) -> Rows:
        return frozenset(each for each in world.need(staged).rows if only in (None, partition(each[0])))

    def effect(world: World) -> tuple[World, Any]:
        return world.add(target, rows(world)), None

    def torn(world: World) -> Iterable[World]:
        return [world.add(target, some) for some in some_parts(rows(world))]

    return publish(f"alter table attach partition {target}, {staged}", effect, torn)


def publish_blocks(model: Model, apply: Apply) -> Program:
    """Insert the staged rows block by block. The table, and the view on it, drop a block that they remember."""
    signed = apply.staged("signed")
    blocks, uuid = yield Statement(
        "select name, rows", lambda world: (world, (tuple(in_parts(world.need(signed).rows)), world.uuid(signed)))
    )
    for number in range(apply.block, len(blocks)):
        if number > apply.block and model.has(Guard.BLOCK_IS_RECORDED):
            yield record(replace(apply, block=number), "block applied")
        yield insert_block(model, blocks[number], f"{uuid}/{number}", apply.target, signed)


def insert_block(model: Model, block: Rows, token: str, target: str, signed: str) -> Statement:
    def note(world: World, name: str) -> World:
        known = frozenset(each for each in world.tokens if each[0] != name)
        return replace(world, tokens=known | {(name, token)}) if model.has(Guard.TOKENS) else world

    def insert_into(world: World, name: str) -> World:
        return world if (name, token) in world.tokens else note(world, name).add(name, block)

    def fill_view(world: World) -> World:
        return insert_into(world, VIEW) if target == TABLE and world.get(VIEW) else world

    def effect(world: World) -> tuple[World, Any]:
        return fill_view(insert_into(world, target)), None

    def torn(world: World) -> Iterable[World]:
        """ClickHouse notes a block before it adds its rows."""
        return [note(world, target), insert_into(world, target), note(insert_into(world, target), VIEW)]

    return publish(f"insert into {target}, {signed}", effect, torn)


# recover.sql


def recover(model: Model, me: str, unfinished: Entry, number: int) -> Program:
    """Complete the apply of a run that died."""
    apply = Apply(
        unfinished.run, TABLE, unfinished.apply or number, unfinished.batches, unfinished.is_journal,
        unfinished.block, unfinished.chunk,
    )  # fmt: skip
    lost = yield Statement("select tables beside", lambda world: (world, not world.rows(apply.staged("input"))))
    if lost and unfinished.status == "chunk staged":
        return
    if lost:
        raise Failed("The apply cannot be completed: its staged changes are missing")
    if apply.is_journal:
        yield Statement(
            "with recursive reached", lambda world: (replace(world, is_warned=world.is_warned or world.is_torn), None)
        )
    if unfinished.status == "chunk staged":
        apply = replace(apply, chunk=unfinished.chunk + 1)
        if model.has(Guard.CHUNK_OUTPUT_IS_DROPPED):
            for role in ("signed", "deletes"):
                yield drop_output_of_chunk(apply.staged(role), apply.chunk)
        yield from stage_signed_rows(model, apply)
        yield from publish_and_record(model, apply, True, True)
    else:
        if apply.is_journal:
            yield from publish_rows(model, apply, True)
            apply = replace(apply, is_journal=False, block=0)
            yield record(apply, "started")
        apply = replace(apply, chunk=1, is_repeated=True)
        if unfinished.is_journal and not model.has(Guard.COMPARED_AFTER_BLOCKS):
            yield record(apply, "applied")
        elif model.has(Guard.REDO_COMPARES):
            yield from publish_and_record(model, apply, *(yield from stage_signed_rows(model, apply)))
        else:
            yield from publish_and_record(model, apply, True, True)
    staged = [apply.staged(role) for role in ("input", "signed", "deletes")]
    yield drop_tables(stage, *staged)


def drop_output_of_chunk(name: str, chunk: int) -> Statement:
    def effect(world: World) -> tuple[World, Any]:
        kept = frozenset(each for each in world.need(name).rows if _chunk_of(each[0][0]) != chunk)
        return world.put(name, world.need(name)._replace(rows=kept)), None

    return stage(f"alter table delete where {name}", effect)


# versioned_collapsing_view: up_to_date.sql, fill.sql, state.sql


def run_view(model: Model, me: str) -> Program:
    yield from acquire_lock(model, me)
    ledger = yield read_ledger(TABLE)
    if ledger.unfinished and model.has(Guard.VIEW_RECOVERS):
        yield from recover(model, me, ledger.unfinished, ledger.number + 1)
    is_filled, used, last = yield Statement("select 0 as source", partial(_read_view, model))
    if not is_filled or last > used:
        target = SUMS_BUILD if model.has(Guard.VIEW_BESIDE) or not is_filled else SUMS
        yield from fill_view(target) if not is_filled else refresh_view(used, last, target)
        yield from put_view_in_place(me, last, target)
    yield drop_tables(view, LOCK)


view = partial(Statement, looks=Guard.VIEW_LOOKS)


def _read_view(model: Model, world: World) -> tuple[World, tuple[bool, int, int]]:
    """Whether the view was filled from the table that is there now; the last apply it has used, and the last one."""
    uuid = world.uuid(TABLE)
    uuids = {world.uuid(SUMS)} if model.has(Guard.VIEW_UUID) else {entry.uuid for entry in world.ledger}
    used = [entry.apply for entry in world.ledger if entry.source == uuid and entry.uuid in uuids]
    last = max((entry.apply for entry in world.ledger if entry.uuid == uuid), default=0)
    return world, (bool(used), max(used, default=0), last)


def fill_view(target: str) -> Program:
    def fill(world: World) -> tuple[World, Any]:
        return world.add(target, world.rows(TABLE)), None

    yield drop_tables(view, target)
    yield view(f"create table {target}", lambda world: (world.create(target), None))
    yield view(f"insert into {target}, {TABLE}", fill)


def refresh_view(used: int, last: int, target: str) -> Program:
    def copy(world: World) -> tuple[World, Any]:
        return world.add(target, world.rows(SUMS)), None

    def add_changes(world: World) -> tuple[World, Any]:
        known = {entry.apply for entry in world.ledger if entry.uuid == world.uuid(TABLE)}
        fed = [(row[1:], net) for row, net in world.rows(FEED) if used < row[0] <= last and row[0] in known]
        return world.add(target, fed), None

    if target != SUMS:
        yield drop_tables(view, target)
        yield view(f"create table {target}", lambda world: (world.create(target), None))
        yield view(f"alter table attach partition {target}, {SUMS}", copy)
    yield view(f"insert into {target}, {FEED}", add_changes)


def put_view_in_place(me: str, last: int, target: str) -> Program:
    """Until the tables are exchanged, what the ledger says about the old one stays true."""

    def filled(world: World) -> tuple[World, Any]:
        return world.record(Entry("filled", me, world.need(target).uuid, last, source=world.uuid(TABLE))), None

    def rename(world: World) -> tuple[World, Any]:
        return world.drop(target).put(SUMS, world.need(target)), None

    yield view("insert into ledger, filled", filled)
    exists = yield Statement("select exists", lambda world: (world, world.get(SUMS) is not None))
    if target != SUMS and exists:
        yield exchange(target, SUMS, view)
        yield drop_tables(view, target)
    elif target != SUMS:
        yield view(f"rename table {target}, {SUMS}", rename)
