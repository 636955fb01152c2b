"""The kinds of faults. Each runs dbt on the pending events, and makes a fault happen."""

from __future__ import annotations

import resource
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clickhouse_connect.driver.exceptions import ClickHouseError

from tests.faults import checks
from tests.faults.checks import LEDGER
from tests.faults.engines import Embedded, Engine, Server
from tests.faults.life import SECONDS, Broken, Life, copy_tree
from tests.faults.project import SCHEMA
from tests.faults.proxy import Cut
from tests.faults.source import STRUCTURE, Event, write
from tests.support.commands import variables
from tests.support.forked_dbt import Fork, ForkServer

Befall = Callable[[Life], None]


@dataclass(frozen=True)
class Kind:
    """A kind of fault: its name, and the group under which the table counts it."""

    name: str
    group: str
    befall: Befall
    engines: tuple[type[Engine], ...]
    variants: tuple[str, ...]
    needs_disk: bool


KINDS: dict[str, Kind] = {}
EITHER = (Embedded, Server)
ALL = ("atomic", "chunks", "journal", "history", "fed")


def kind(
    group: str,
    name: str,
    engines: tuple[type[Engine], ...] = EITHER,
    variants: tuple[str, ...] = ALL,
    *,
    needs_disk: bool = False,
) -> Callable[[Befall], Befall]:
    """Register a kind of fault."""

    def register(befall: Befall) -> Befall:
        KINDS[name] = Kind(name, group, befall, engines, variants, needs_disk)
        return befall

    return register


# Shared between kinds


def _settle(life: Life, end: dict[str, Any]) -> None:
    """Confirm what a run has sent, if it succeeded."""
    life.step.struck = not end["success"]
    if end["success"]:
        life.confirm()
    if isinstance(life.engine, Server):
        life.engine.wait_until_idle()


def _run_until(life: Life, strike: Callable[[Fork], None]) -> None:
    """A run during which something happens at a random moment."""
    fork = life.start()
    moment = time.monotonic() + life.chance.uniform(0, life.span)
    while time.monotonic() < moment and not fork.has_ended():
        time.sleep(0.002)
    if not fork.has_ended():
        strike(fork)
    _settle(life, life.end(fork))


@contextmanager
def _meanwhile(act: Callable[[], None], pause: float) -> Iterator[None]:
    """Do something repeatedly within the block."""
    stopped = threading.Event()

    def work() -> None:
        while not stopped.wait(pause):
            with suppress(ClickHouseError, OSError):
                act()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join()


def _set_clickhouse(life: Life, **settings: Any) -> None:
    more = {"custom_settings": settings}
    if isinstance(life.engine, Embedded):
        life.engine.set_profile(clickhouse={"driver": "chdb", **more})
    else:
        life.engine.set_profile(**more)


def _run_with_settings(life: Life, **settings: Any) -> None:
    life.step.note = str(settings)
    _set_clickhouse(life, **settings)
    try:
        _settle(life, life.run())
    finally:
        life.engine.set_profile()


def _rebuild(life: Life) -> None:
    """A full refresh from all events."""
    life.pending = life.confirmed + life.pending
    life.confirmed = []
    life.confirmed_rates = {}
    life.stop_feeding()
    end = life.run("run", "--full-refresh", "--select", *_models(life), files=life.change_sets())
    if not end["success"]:
        raise Broken(f"the full refresh failed: {end['message']}")
    life.confirm()
    if life.is_fed:
        life.feed()


def _models(life: Life) -> list[str]:
    return [life.variant, "rates", f"{life.variant}_sums", f"{life.variant}_joined"]


def _good_run(life: Life, *arguments: str) -> None:
    end = life.run(*arguments)
    if not end["success"]:
        raise Broken(f"a run without a fault failed: {end['message']}")
    life.confirm()


def _expect_refusal(life: Life, *texts: str) -> None:
    """A run must stop, and say why."""
    end = life.run()
    if end["success"] or not any(text in end["message"] for text in texts):
        raise Broken(f"a run was to stop with {texts[0]!r}: {end['success']}, {end['message'][-500:]}")
    life.step.struck = True


def _reference(life: Life) -> str:
    """A table expression with the rows that the table should hold."""
    path = life.engine.folder / "landing" / "reference.parquet"
    write([Event(*row) for row in life.before.rows], path)
    return f"file({quoted(str(path))}, 'Parquet', '{STRUCTURE}')"


def quoted(text: str) -> str:
    """A text as a ClickHouse literal."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _reconcile(life: Life) -> str:
    """What `reconcile` finds; empty if the table is correct."""
    end = life.operation("reconcile", reference=_reference(life), columns=["part", "region", "amount", "_version"])
    return "" if end["success"] else str(end["message"])


# Deaths


def _die(life: Life, *signals: int) -> None:
    def strike(fork: Fork) -> None:
        for number in signals:
            if not fork.has_ended():
                fork.kill(number)
                time.sleep(life.chance.uniform(0, 0.3) if len(signals) > 1 else 0)

    _run_until(life, strike)
    if not (isinstance(life.engine, Embedded) and life.step.struck) and life.variant not in ("journal", "fed"):
        life.check_readers("after the death")


@kind("deaths", "SIGKILL")
def sigkill(life: Life) -> None:
    _die(life, signal.SIGKILL)


@kind("deaths", "SIGKILL of the run that completes")
def sigkill_twice(life: Life) -> None:
    _die(life, signal.SIGKILL)
    _die(life, signal.SIGKILL)


@kind("deaths", "SIGTERM")
def sigterm(life: Life) -> None:
    _die(life, signal.SIGTERM)


@kind("deaths", "Ctrl-C")
def ctrl_c(life: Life) -> None:
    _die(life, signal.SIGINT)


@kind("deaths", "Ctrl-C twice")
def ctrl_c_twice(life: Life) -> None:
    _die(life, signal.SIGINT, signal.SIGINT)


@kind("deaths", "ClickHouse killed", (Server,))
def server_killed(life: Life) -> None:
    server = life.engine
    assert isinstance(server, Server)
    _restart_within(life, server.kill_clickhouse, server.start_clickhouse)


def _restart_within(life: Life, end: Callable[[], None], begin: Callable[[], None]) -> None:
    fork = life.start()
    time.sleep(life.chance.uniform(0, life.span))
    end()
    done = life.end(fork)
    begin()
    _settle(life, done)


@kind("deaths", "ClickHouse stopped", (Server,))
def server_stopped(life: Life) -> None:
    server = life.engine
    assert isinstance(server, Server)
    _restart_within(life, lambda: server.kill_clickhouse(signal.SIGTERM), server.start_clickhouse)


@kind("deaths", "full refresh killed")
def full_refresh_killed(life: Life) -> None:
    fork = _start_full_refresh(life)
    time.sleep(life.chance.uniform(0, life.span))
    fork.kill()
    _settle_full_refresh(life, life.end(fork))


def _start_full_refresh(life: Life) -> Fork:
    life.pending = life.confirmed + life.pending
    life.stop_feeding()
    return life.start("run", "--full-refresh", "--select", *_models(life))


def _settle_full_refresh(life: Life, end: dict[str, Any]) -> None:
    life.step.struck = not end["success"]
    if isinstance(life.engine, Server):
        life.engine.wait_until_idle()
    if life.is_fed:
        # The rebuilt table does not pass on its rows: whoever rebuilds it must also rebuild the view.
        _rebuild(life)


@kind("deaths", "power cut")
def power_cut(life: Life) -> None:
    """The store is copied while it is written, and the copy is opened: a harder case, because files are of different
    moments."""
    engine = life.engine
    copy = engine.folder / "copy of the store"
    fork = life.start()
    time.sleep(life.chance.uniform(0, life.span))
    copy_tree(engine.store, copy)
    fork.kill()
    if isinstance(engine, Server):
        engine.kill_clickhouse()
    _settle_after_cut(life, life.end(fork), copy)


def _settle_after_cut(life: Life, end: dict[str, Any], copy: Path) -> None:
    engine = life.engine
    life.step.struck = True
    shutil.rmtree(engine.store)
    shutil.move(copy, engine.store)
    if isinstance(engine, Server):
        engine.start_clickhouse()
    done = life.run()
    if done["success"]:
        life.confirm()
        difference = _reconcile(life)
        found = engine.ask(checks.queries(life.variant, is_fed=False))
        is_wrong = checks.judge(found, life.before, life.confirmed_rates).texts
        if not is_wrong:
            return
        if not difference and "by FINAL" in " ".join(is_wrong):
            raise Broken(f"reconcile does not find: {is_wrong}")
        life.step.note = f"found and rebuilt: {(difference or is_wrong[0])[:120]}"
    else:
        life.step.note = f"stopped and rebuilt: {done['message'][:120]}"
    for table in engine.ask({"": f"select name from system.tables where database = '{SCHEMA}'"})[""]:
        engine.command(
            f"alter table {SCHEMA}.`{table[0]}` drop detached partition all settings allow_drop_detached = 1"
        )
    _rebuild(life)


@kind("deaths", "clock jumps")
def clock_jumps(life: Life) -> None:
    """The run dies, and the clock is set: earlier entries are then from the future, or very old."""
    _die(life, signal.SIGKILL)
    hours = life.chance.choice([-30, -3, 3, 30])
    life.step.note = f"by {-hours} hours"
    engine = life.engine
    tables = {"versioned_collapsing_ledger": "at", f"{life.variant}__feed": "_applied_at"}
    names = {row[0] for row in engine.ask({"": f"show tables from {SCHEMA}"})[""]}
    for table, column in tables.items():
        if table in names:
            moved = f"select * replace ({column} + toIntervalHour({hours}) as {column}) from {SCHEMA}.{table}"
            comment = f"select comment from system.tables where database = '{SCHEMA}' and name = '{table}'"
            text = engine.ask({"": comment})[""][0][0]
            engine.command(
                f"create table {SCHEMA}.moved as {SCHEMA}.{table}",
                f"insert into {SCHEMA}.moved {moved}",
                f"alter table {SCHEMA}.moved modify comment '{text}'",
                f"exchange tables {SCHEMA}.moved and {SCHEMA}.{table}",
                f"drop table {SCHEMA}.moved sync",
            )


# Answers

_STATEMENTS = (
    "attach partition",
    "insert into",
    "exchange tables",
    "'applied'",
    "'started'",
    "drop table",
    "__dbt_lock",
    "'filled'",
)


def _cut(life: Life, when: str, seconds: float = 0.0) -> None:
    server = life.engine
    assert isinstance(server, Server)
    chance = life.chance
    if chance.random() < 0.6:
        pattern = chance.choice(_STATEMENTS)
        cut = Cut(when, chance.choice([1, 1, 2, 3, 6]), pattern, seconds)
    else:
        cut = Cut(when, chance.randrange(1, 150), "", seconds)
    server.proxy.arm(cut)
    try:
        end = life.run()
    finally:
        server.proxy.arm(None)
    life.step.note = f"statement {cut.number} of {cut.pattern!r}: {cut.statement}"
    _settle(life, end)
    if life.variant not in ("journal", "fed"):
        life.check_readers("after the cut")


@kind("answers", "connection cut before a statement", (Server,))
def cut_before(life: Life) -> None:
    _cut(life, "before")


@kind("answers", "connection cut during a statement", (Server,))
def cut_during(life: Life) -> None:
    _cut(life, "during")


@kind("answers", "answer lost", (Server,))
def cut_after(life: Life) -> None:
    _cut(life, "after")


@kind("answers", "half of an answer", (Server,))
def cut_half(life: Life) -> None:
    _cut(life, "half")


@kind("answers", "nobody answers for a while", (Server,))
def gone(life: Life) -> None:
    _cut(life, "gone", life.chance.uniform(0.2, 3))


@kind("answers", "503 for a while", (Server,))
def busy(life: Life) -> None:
    _cut(life, "busy", life.chance.uniform(0.05, 1))


@kind("answers", "connection lost in a full refresh", (Server,))
def full_refresh_cut(life: Life) -> None:
    """The connection is cut from some statement on, as if the run had died before it."""
    server = life.engine
    assert isinstance(server, Server)
    pattern = life.chance.choice(("'started'", "'applied'", "exchange tables", "drop table", "__feed"))
    cut = Cut("gone", life.chance.choice([1, 1, 2, 3]), pattern, SECONDS)
    server.proxy.arm(cut)
    try:
        end = life.end(_start_full_refresh(life))
    finally:
        server.proxy.arm(None)
    life.step.note = f"statement {cut.number} of {cut.pattern!r}: {cut.statement}"
    _settle_full_refresh(life, end)


@kind("answers", "query killed", (Server,))
def query_killed(life: Life) -> None:
    server = life.engine
    assert isinstance(server, Server)
    killed: list[str] = []

    def act() -> None:
        if len(killed) < 2 and (what := server.kill_a_query()):
            killed.append(what)

    with _meanwhile(act, life.chance.uniform(0.005, 0.2)):
        end = life.run()
    life.step.note = "; ".join(killed)
    _settle(life, end)


@kind("answers", "another ClickHouse, empty", (Server,))
def empty_server(life: Life) -> None:
    """A run reaches a server without tables; the next runs reach the right one."""
    server = life.engine
    assert isinstance(server, Server)
    server.kill_clickhouse(signal.SIGTERM)
    other = server.folder.parent / "other store"
    shutil.rmtree(other, ignore_errors=True)
    other.mkdir()
    server.start_clickhouse(other)
    end = life.run()
    life.step.note = f"success: {end['success']}"
    server.kill_clickhouse(signal.SIGTERM)
    server.start_clickhouse()
    life.step.struck = True


# Resources


@kind("resources", "memory limit")
def memory(life: Life) -> None:
    _run_with_settings(life, max_memory_usage=int(10 ** life.chance.uniform(5.3, 7.5)))


@kind("resources", "max_execution_time")
def execution_time(life: Life) -> None:
    _run_with_settings(life, max_execution_time=round(10 ** life.chance.uniform(-3, -1), 4))


@kind("resources", "limit of rows")
def limit_of_rows(life: Life) -> None:
    name = life.chance.choice(
        [
            "max_rows_to_read",
            "max_rows_to_group_by",
            "max_rows_to_sort",
            "max_rows_in_set",
            "max_rows_in_join",
            "max_result_rows",
            "max_bytes_to_read",
        ]
    )
    _run_with_settings(life, **{name: life.chance.randrange(1, 3_000)})


@kind("resources", "too many parts")
def too_many_parts(life: Life) -> None:
    table = life.chance.choice([life.variant, "versioned_collapsing_ledger", f"{life.variant}__tombstones"])
    life.step.note = table
    names = ("parts_to_throw_insert", "parts_to_delay_insert", "max_parts_in_total")
    limits = ", ".join(f"{name} = {life.chance.randrange(1, 4)}" for name in names)
    life.engine.command(f"alter table {SCHEMA}.{table} modify setting {limits}")
    _settle(life, life.run())
    life.engine.command(f"alter table {SCHEMA}.{table} reset setting {', '.join(names)}")


@kind("resources", "file handles")
def file_handles(life: Life) -> None:
    def strike(fork: Fork) -> None:
        pid = life.engine.pid(fork)
        used = len(list(Path(f"/proc/{pid}/fd").iterdir()))
        _, most = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        limits.append((pid, most))
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (used + life.chance.randrange(6), most))

    limits: list[tuple[int, int]] = []
    _run_until(life, strike)
    for pid, most in limits if isinstance(life.engine, Server) else ():
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (most, most))


@kind("resources", "full disk", needs_disk=True)
def full_disk(life: Life) -> None:
    disk = life.engine.disk
    filler = disk / "filler"

    def strike(_: Fork) -> None:
        left = int(10 ** life.chance.uniform(3, 6))
        free = shutil.disk_usage(disk).free
        life.step.note = f"{left} bytes left"
        with suppress(OSError), filler.open("wb") as file:
            file.write(b"\0" * max(0, free - left))

    try:
        _run_until(life, strike)
    finally:
        filler.unlink(missing_ok=True)


@kind("resources", "read-only store", (Embedded,), needs_disk=True)
def read_only(life: Life) -> None:
    disk = life.engine.disk
    subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
    try:
        _settle(life, life.run())
    finally:
        subprocess.run(["mount", "-o", "remount,rw", disk], check=True)


# Files


@kind("files", "truncated file")
def truncated_file(life: Life) -> None:
    files = life.change_sets()
    path = Path(files["changes"])
    whole = path.read_bytes()
    path.write_bytes(whole[: life.chance.randrange(len(whole))])
    end = life.run(files=files)
    if end["success"]:
        raise Broken("a truncated file was applied")
    _settle(life, end)
    if life.variant not in ("journal", "fed"):
        life.check_readers("after a truncated file")


@kind("files", "file that grows while it is read")
def growing_file(life: Life) -> None:
    """The select returns more rows each time it is read."""
    life.may_have_a_part = True
    files = life.change_sets()
    fork = life.start(files=files)
    for _ in range(8):
        time.sleep(life.span * life.chance.uniform(0, 0.3))
        life.send(0.05)
        write(life.pending, Path(files["changes"]))
    end = life.end(fork)
    life.step.struck = not end["success"]
    life.step.note = "" if end["success"] else end["message"][:200]


@kind("files", "file that is gone")
def missing_file(life: Life) -> None:
    files = life.change_sets()

    def strike(_: Fork) -> None:
        Path(files["changes"]).unlink(missing_ok=True)

    fork = life.start(files=files)
    time.sleep(life.chance.uniform(0, life.span))
    strike(fork)
    _settle(life, life.end(fork))


# People


@kind("people", "runs at once", (Server,))
def runs_at_once(life: Life) -> None:
    server = life.engine
    assert isinstance(server, Server)
    others = server.others(life.chance.choice([1, 1, 2]))
    files = life.change_sets()
    forks = [life.start(files=files)]
    for number, other in enumerate(others):
        time.sleep(life.chance.uniform(0, 0.5))
        forks.append(_start_other(life, other, number, files))
    ends = [life.end(fork) for fork in forks]
    life.step.note = f"{sum(bool(end['success']) for end in ends)} of {len(ends)} succeeded"
    for end in ends:
        if not end["success"] and not any(
            text in end["message"]
            for text in ("Another run holds the lock", "no longer holds its lock", "while this run waited for its lock")
        ):
            life.step.note += f": {end['message'][:300]}"
    if any(end["success"] for end in ends):
        life.confirm()
    life.step.struck = not all(end["success"] for end in ends)


def _start_other(life: Life, other: ForkServer, number: int, files: dict[str, str]) -> Fork:
    life.step.runs += 1
    return other.start(
        *("run", "--target-path", f"target{number}", "--select", *_models(life)),
        *variables(**files),
        options=life.options,
    )


@kind("people", "merges and mutations meanwhile")
def merges(life: Life) -> None:
    tables = [life.variant, f"{life.variant}_sums", f"{life.variant}__tombstones", "versioned_collapsing_ledger"]
    statements = [
        *(f"optimize table {SCHEMA}.{table} final" for table in tables),
        f"alter table {SCHEMA}.{life.variant} update amount = amount where true settings mutations_sync = 1",
        f"alter table {SCHEMA}.{life.variant} materialize projection by_region settings mutations_sync = 1",
        f"alter table {SCHEMA}.{life.variant} delete where id = 4294967295 settings mutations_sync = 1",
    ]
    if isinstance(life.engine, Server):
        with _meanwhile(lambda: life.engine.command(life.chance.choice(statements)), 0.05):
            end = life.run()
    else:
        life.engine.command(*life.chance.sample(statements, 3))
        end = life.run()
    _settle(life, end)
    if not end["success"]:
        life.step.note = end["message"][:300]


@kind("people", "rows planted")
def planted(life: Life) -> None:
    """Somebody writes rows that leave keys torn: rebalance finds and repairs all of them."""
    rows = life.chance.sample(life.before.rows, min(6, len(life.before.rows)))
    if not rows:
        return
    # The live row once more, or a row of a version that never existed.
    values = [f"({row[0]}, {row[1]}, {quoted(row[2])}, {row[3]}, {life.chance.choice([row[4], 0])}, 1)" for row in rows]
    life.engine.command(f"insert into {SCHEMA}.{life.variant} values {', '.join(values)}")
    life.step.struck = life.has_partial_feed = True
    dry = life.operation("rebalance")
    if dry["success"] or f"{len(rows)} keys to repair" not in dry["message"].replace("1 key to", "1 keys to"):
        raise Broken(f"rebalance did not find {len(rows)} keys: {dry['message'][-400:]}")
    end = life.operation("rebalance", dry_run=False)
    if not end["success"]:
        raise Broken(f"rebalance failed: {end['message'][-400:]}")
    if difference := _reconcile(life):
        raise Broken(f"after rebalance: {difference}")


@kind("people", "rows lost")
def lost(life: Life) -> None:
    """Somebody deletes live rows: reconcile finds all of them, and a full refresh restores them."""
    rows = life.chance.sample(life.before.rows, min(5, len(life.before.rows)))
    if not rows:
        return
    ids = ", ".join(str(row[0]) for row in rows)
    table = f"{SCHEMA}.{life.variant}"
    if life.chance.random() < 0.5:
        life.engine.command(
            f"alter table {table} modify setting lightweight_mutation_projection_mode = 'rebuild'",
            f"delete from {table} where id in ({ids})",
        )
    else:
        life.engine.command(f"alter table {table} delete where id in ({ids}) settings mutations_sync = 1")
    life.step.struck = True
    difference = _reconcile(life)
    if f"{len(rows)} key" not in difference or "missing" not in difference:
        raise Broken(f"reconcile did not find {len(rows)} missing rows: {difference[-400:]}")
    _rebuild(life)


@kind("people", "tombstones dropped")
def tombstones_dropped(life: Life) -> None:
    table = f"{SCHEMA}.{life.variant}__tombstones"
    life.engine.command(f"rename table {table} to {SCHEMA}.taken_away")
    _expect_refusal(life, "which remembers deletes, does not exist")
    if life.chance.random() < 0.5:
        life.engine.command(f"rename table {SCHEMA}.taken_away to {table}")
    else:
        life.engine.command(f"drop table {SCHEMA}.taken_away sync")
        _rebuild(life)


@kind("people", "change feed dropped")
def feed_dropped(life: Life) -> None:
    life.engine.command(f"drop table if exists {SCHEMA}.{life.variant}__feed sync")
    _settle(life, life.run())


@kind("people", "view dropped")
def view_dropped(life: Life) -> None:
    life.engine.command(f"drop table {SCHEMA}.{life.variant}_{life.chance.choice(['sums', 'joined'])} sync")
    _settle(life, life.run())


@kind("people", "ledger dropped")
def ledger_dropped(life: Life) -> None:
    life.engine.command(f"drop table {LEDGER} sync")
    _expect_refusal(life, "has rows that are not in the ledger")
    for name in (life.variant, "rates"):
        end = life.operation("adopt_table", model=name)
        if not end["success"]:
            raise Broken(f"adopt_table failed: {end['message']}")
    life.adopted, life.confirmed = life.confirmed, []
    life.pending = life.adopted + life.pending
    life.has_partial_feed = True


@kind("people", "table dropped")
def table_dropped(life: Life) -> None:
    """A full refresh reads everything again from the source."""
    life.engine.command(f"drop table {SCHEMA}.{life.variant} sync")
    _rebuild(life)


def _restored(life: Life, table: str, *selected: str) -> None:
    """A table is restored to its state before a good run, and everything since is sent again."""
    copy, name = f"{SCHEMA}.yesterday", f"{SCHEMA}.{table}"
    text = life.engine.ask({"": f"select comment from system.tables where database = '{SCHEMA}' and name = '{table}'"})[
        ""
    ][0][0]
    life.engine.command(
        f"create table {copy} as {name}",
        f"alter table {copy} modify comment '{text}'",
        f"alter table {copy} attach partition all from {name}",
    )
    sent = list(life.pending)
    _good_run(life, *selected)
    life.engine.command(f"exchange tables {copy} and {name}", f"drop table {copy} sync")
    life.pending = sent
    life.step.struck = True


@kind("people", "ledger restored from yesterday")
def ledger_restored(life: Life) -> None:
    """The views may or may not have seen what the ledger has forgotten."""
    views_run = life.chance.random() < 0.5
    life.step.note = f"{views_run=}"
    selected = [] if views_run else ["run", "--select", life.variant, "rates"]
    _restored(life, "versioned_collapsing_ledger", *selected)


@kind("people", "view restored from yesterday")
def view_restored(life: Life) -> None:
    _restored(life, f"{life.variant}_{life.chance.choice(['sums', 'joined'])}")


@kind("people", "tombstones restored from yesterday")
def tombstones_restored(life: Life) -> None:
    _restored(life, f"{life.variant}__tombstones")


@kind("people", "options changed in between")
def options_changed(life: Life) -> None:
    """A run dies, and the next run has other options."""
    chosen: dict[str, Any] = life.chance.choice(
        [
            {"chunks": life.chance.randrange(1, 6)},
            {"publish": "journal"},
            {"publish": "auto"},
            {"change_feed": True},
            {"remember_deletes": "30 days"},
        ]
    )
    _die(life, signal.SIGKILL)
    life.step.note = str(chosen)
    life.options = {life.variant: {**life.options.get(life.variant, {}), **chosen}}


@kind("people", "keys changed")
def keys_changed(life: Life) -> None:
    """A change that would need a full refresh is rejected, and nothing is written."""
    chosen: dict[str, Any] = life.chance.choice(
        [
            {"unique_key": ["id", "region"]},
            {"order_by": ["id", "amount"]},
            {"partition_by": "part % 2"},
            {"sign": "is_there"},
        ]
    )
    life.step.note = str(chosen)
    own = life.options
    life.options = {life.variant: {**own.get(life.variant, {}), **chosen}}
    _expect_refusal(life, "cannot be built", "was built with", "has ", "compared with")
    life.options = own
    life.check_readers("after a refusal")
