"""`forget` leaves nothing of its subjects: in tables, in files on the disk, in logs. A search for their values says so."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.support.chdb_http import STATEMENTS
from tests.support.collapsing_project import CollapsingProject, OperationError, Row
from tests.support.collapsing_projects import MakeProject
from tests.support.statements import STARTED, dying

COLUMNS = "id String, email String, x Int64, _version Int64, _is_deleted Bool"
SUBJECTS = ["ada-key-9431", "bob-key-9432"]  # bob was deleted before: only the tombstone and the feed know him
VALUES = [*SUBJECTS, "ada@old.example", "ada@new.example", "ada@masked.example", "bob@mail.example"]
# fmt: off
BATCHES: list[list[Row]] = [
    [("ada-key-9431", "ada@old.example", 1, 10, False), ("bob-key-9432", "bob@mail.example", 2, 10, False),
     ("eve-key", "eve@mail.example", 4, 10, False), ("dan-key", "dan@mail.example", 8, 10, False)],
    [("ada-key-9431", "ada@new.example", 16, 20, False), ("bob-key-9432", "", 0, 20, True),
     ("eve-key", "eve@mail.example", 32, 20, False)],
    [("dan-key", "dan@mail.example", 64, 30, False)],
]
# fmt: on
LATE: list[Row] = [
    ("ada-key-9431", "ada@old.example", 1, 99, False),
    ("ada-key-9431", "ada@new.example", 2, 100, False),
    ("bob-key-9432", "bob@mail.example", 1, 15, False),
    ("eve-key", "eve@mail.example", 128, 101, False),
]
SECRET = "VERSIONED_COLLAPSING_SECRET"
SECRETS = ["0123456789abcdef0123456789abcdef", "another-secret-of-32-characters-or-more"]
SELECT = "select * from landed"
SUMS = "select {0}, sum(x * _sign) as x, sum(_sign) as c from {{{{ ref('target') }}}} group by {0}"


class Registry:
    """A table with history, views by key and by another column, and a table on which materialized views are."""

    def __init__(self, project: CollapsingProject) -> None:
        self.project = project
        self.query = project.query
        structure = f"({COLUMNS}) engine = MergeTree order by id"
        project.command(f"create table landed {structure}")
        project.command("create table requests (id String) engine = MergeTree order by id")
        project.add_model("target", {"unique_key": "id", "change_feed": True}, SELECT)
        project.add_view("by_id", "id", SUMS.format("id"))
        project.add_view("by_email", "email", SUMS.format("email"))
        project.add_model("unforgotten", {"unique_key": "id"}, f"{SELECT} where id = 'eve-key'")
        project.add_model("mirror", {"unique_key": "id", "order_by": ["id"]}, SELECT)
        self.land(BATCHES[0])
        project.build()
        for name, group in (("mirror_by_id", "id"), ("mirror_by_email", "email")):
            project.command(
                f"create table {name} ({group} String, x Int64, c Int64) engine = SummingMergeTree order by {group}"
            )
            select = f"select {group}, sum(x * _sign) as x, sum(_sign) as c from mirror group by {group}"
            project.command(f"insert into {name} {select}")
            project.command(f"create materialized view {name}_mv to {name} as {select}")
        for rows in BATCHES[1:]:
            self.land(rows)
            project.build()

    def land(self, rows: list[Row]) -> None:
        self.project.client.insert("landed", rows, database=self.project.schema)

    def request(self, *keys: str) -> None:
        """Ask for these keys to be forgotten."""
        self.project.client.insert("requests", [(key,) for key in keys], database=self.project.schema)

    def log(self) -> str:
        """The statements that the server was sent."""
        return (Path(data_folder(self.project)) / STATEMENTS).read_text()

    def withdraw(self) -> None:
        """Somebody removes the requests when they are done, as the guide says."""
        self.project.command("drop table requests sync")

    def forget(self, deaths: Sequence[int]) -> None:
        """Forget the subjects. Before it does so, each operation dies: before its statements with these numbers."""
        for model, also in (("target", ["landed"]), ("mirror", [])):
            arguments = {"model": model, "keys": "select id from requests", "also": also}
            for death in deaths:
                with dying({model: death}) as begun, suppress(OperationError):
                    self.project.operation("forget", **arguments)
                if begun[model] < death:
                    break
            self.project.operation("forget", **arguments)

    def state(self) -> list[list[Row]]:
        return [
            self.query(f"select id, email, x, _version from {table} final where _sign = 1 order by id")
            for table in ("target", "mirror")
        ]

    def sums(self) -> list[list[Row]]:
        return [
            self.query(f"select {group}, sum(x) as x, sum(c) as c from {table} group by 1 having c <> 0 order by 1")
            for group, table in (
                ("id", "by_id"),
                ("email", "by_email"),
                ("id", "mirror_by_id"),
                ("email", "mirror_by_email"),
            )
        ]


def data_folder(project: CollapsingProject) -> Path:
    return Path(project.query("select path from system.disks where name = 'default'")[0][0])


def places_with(project: CollapsingProject, values: list[str]) -> list[str]:
    """Where any of the values is: tables and system tables of the server, files of its data and its log, and files of
    the project."""
    found = []
    query = "select database, table, name from system.columns where type like '%String%' and (database = currentDatabase() or database = 'system' and table in ('tables', 'mutations', 'processes', 'columns'))"
    for database, table, column in project.query(query):
        sought = " or ".join(f"position(toString(`{column}`), '{value[:3]}' || '{value[3:]}') > 0" for value in values)
        if project.query(f"select count() from `{database}`.`{table}` where {sought}")[0][0]:
            found.append(f"{database}.{table}.{column}")
    for folder in (data_folder(project), project.folder):
        for path in (Path(root, name) for root, _, names in os.walk(folder) for name in names if name != STATEMENTS):
            with suppress(FileNotFoundError):  # ClickHouse removes files while it works
                content = path.read_bytes()
                found.extend(f"{path}: {value}" for value in values if value.encode() in content)
    return found


def test_nothing_is_left_of_the_subjects(
    make_project: MakeProject, monkeypatch: pytest.MonkeyPatch, is_exhaustive: bool
) -> None:
    monkeypatch.setenv(SECRET, SECRETS[0])
    project = make_project("forget")
    registry = Registry(project)
    with pytest.raises(OperationError):  # notes the keys that differ
        project.operation("reconcile", model="target", reference="(select 'x' as id, '' as email)")
    # Rows that somebody has deleted are still in the parts.
    registry.land([("ada-key-9431", "ada@masked.example", 1, 1, False)])
    project.command("delete from landed where _version = 1")
    assert len(places_with(project, VALUES)) > 10
    project.command("backup table target to Memory('before')")
    # ClickHouse keeps a dropped table for eight minutes. One whose name exists again cannot be brought back.
    for name, value in (("mirror__feed", VALUES[0]), ("loose", "a"), ("loose", "b")):
        project.command(f"drop table if exists {name}")
        project.command(f"create table {name} (id String) engine = MergeTree order by id")
        project.command(f"insert into {name} values ('{value}')")
    project.command("drop table mirror__feed")
    project.command("alter table loose detach partition tuple()")
    registry.request(*SUBJECTS)
    log = registry.log()
    registry.forget(range(100) if is_exhaustive else range(17, 100, 40))
    registry.withdraw()
    left = places_with(project, VALUES)
    assert left == []
    written = registry.log()[len(log) :]
    assert [value for value in VALUES if value in written] == []
    assert (
        registry.state()
        == [
            [("dan-key", "dan@mail.example", 64, 30), ("eve-key", "eve@mail.example", 32, 20)],
        ]
        * 2
    )
    by_id, by_email = (
        [("dan-key", 64, 1), ("eve-key", 32, 1)],
        [("dan@mail.example", 64, 1), ("eve@mail.example", 32, 1)],
    )
    assert registry.sums() == [by_id, by_email] * 2
    assert project.query(
        "select place, any(status), max(found), min(left) from versioned_collapsing_certificates where model = 'target' and status not in ('found', 'not ours', 'not reached') group by place order by 1"
    ) == [
        ("forget.by_email", "filled again", None, None),
        ("forget.by_id", "filled again", 4, 0),
        ("forget.landed", "removed", 5, 0),
        ("forget.target", "removed", 5, 0),
        ("forget.target__feed", "removed", 5, 0),
        ("forget.target__tombstones", "removed", 1, 0),
    ]

    query = "select distinct place, found from versioned_collapsing_certificates where status = 'not reached'"
    ((backup, _), *others) = found = project.query(f"{query} order by 1")
    assert re.fullmatch(r"Memory\('before'\) of 20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC", backup)
    # Other tests on this server have dropped tables too.
    assert [place for place, _ in others if " forget." in place] == [
        "detached parts of forget.loose",
        "dropped table forget.loose",
    ]
    assert {rows for _, rows in found} == {None}

    # ClickHouse leaves the secret out of what it logs.
    ((shown,),) = project.query(
        f"explain syntax oneline=1 select HMAC('sha256', 'a', '{SECRETS[0]}'), encrypt('aes-256-ecb', 'b', '{SECRETS[0]}')"
    )
    assert "HMAC('sha256', 'a', '[HIDDEN]'), encrypt('aes-256-ecb', '[HIDDEN]')" in shown

    # `reconcile` says nothing of forgotten keys, also if the reference has them.
    reference = (
        "(select id, email from target final where _sign = 1 union all select reverse('1349-yek-ada'), 'late@mail')"
    )
    assert "2 keys compared, 1 forgotten" in project.operation("reconcile", model="target", reference=reference)
    assert places_with(project, VALUES) == []

    registry.land(LATE)
    messages = project.build()
    assert "3 forgotten" in messages["target"]
    tables = [place for place in places_with(project, VALUES) if place.startswith("forget.")]
    assert tables == ["forget.landed.id", "forget.landed.email"]
    by_id[1] = ("eve-key", 128, 1)
    assert registry.sums()[::2] == [by_id] * 2
    query = "select sum(states) - sum(cancels), sum(forgotten) from versioned_collapsing_ledger where status in ('applied', 'forgotten', 'rebalanced') and model = '{}'"
    assert [project.query(query.format(model)) for model in ("target", "mirror")] == [[(2, 3)], [(2, 3)]]
    assert "nothing has changed" in project.build()["by_id"]
    project.add_model("now", {"materialized": "view"}, "select * from {{ as_of(ref('target'), version=20) }}")
    project.build("--select", "now")
    assert project.query("select id, x from now order by 1") == [("dan-key", 8), ("eve-key", 32)]

    project.operation("forget", model="target", also="landed")  # all that were forgotten before
    assert "No row of 2 forgotten keys of `forget`.`target` is in any of " in project.operation(
        "reconcile", model="target"
    )
    registry.land(LATE[:1])
    with pytest.raises(OperationError, match=r"forgotten keys are back in forget\.landed \(1 row\)"):
        project.operation("reconcile", model="target")
    with pytest.raises(OperationError, match=r"reconcile: there is no `reference`\. Give a model"):
        project.operation("reconcile", model="unforgotten")
    project.command("create table logged (id String) engine = Log")
    refused: list[tuple[dict[str, Any], str]] = [
        ({}, "The environment variable VERSIONED_COLLAPSING_SECRET is not set. `forget`.`target__forgotten` keeps"),
        ({"key": {"id": "a"}, "keys": "select 1"}, "forget: give `key` or `keys`, not both"),
        *(
            ({"key": key}, "forget: `key` does not have the columns of the key of target. Give one key, {id: …}")
            for key in ({"email": "a"}, 7, [7])
        ),
        (
            {"key": {"id": "a"}, "also": ["nowhere", "landed", "logged"]},
            "forget: `also` names `forget`.`nowhere`, `forget`.`logged`. A table from which",
        ),
    ]
    for arguments, message in refused:
        with monkeypatch.context() as patch:
            patch.setenv(SECRET, SECRETS[0] if arguments else "")
            with pytest.raises(OperationError) as refusal:
                project.operation("forget", model="target", **arguments)
        assert message in str(refusal.value)
    monkeypatch.setenv(SECRET, SECRETS[1])
    failed = project.run("--select", "target")["target"].message
    assert "VERSIONED_COLLAPSING_SECRET is not the secret with which `forget`.`target__forgotten` was made" in failed


def test_events_of_a_key_of_any_type_stay_out(make_project: MakeProject, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if the change set has other types than the table, and in a full refresh."""
    monkeypatch.setenv(SECRET, SECRETS[0])
    project = make_project("forget_types")
    types = {
        "a": ("Int32", "Int64", "toInt32({n})"),
        "b": ("String", "LowCardinality(String)", "'it''s \\\\{n}'"),
        "c": (
            "DateTime64(3, 'UTC')",
            "DateTime64(3, 'Europe/Berlin')",
            "toDateTime64('2026-10-25 00:30:00.123', 3, 'UTC') + {n}",
        ),
        "d": ("Decimal(9, 1)", "Decimal(18, 4)", "toDecimal32({n}, 1)"),
        "e": ("UUID", "UUID", "toUUID('00000000-0000-0000-0000-00000000000{n}')"),
        "f": ("String", "Enum8('x1' = 1, 'x2' = 2)", "'x{n}'"),
        "g": ("Date", "Date32", "toDate('2026-01-0{n}')"),
        "h": ("String", "FixedString(4)", "'h{n}'"),
        "i": ("Int32", "UInt64", "{n}"),
        "j": ("Bool", "Bool", "true"),
    }
    columns = ", ".join(f"{name} {given}" for name, (given, _, _) in types.items())
    project.command(f"create table landed ({columns}, x Int64, _version Int64) engine = MergeTree order by ()")

    def land(n: int, version: int, table: str = "landed") -> None:
        values = ", ".join(value.format(n=n) for _, _, value in types.values())
        project.command(f"insert into {table} select {values}, {version}, {version}")

    options = {"unique_key": list(types)}
    project.add_model("target", options, "select * from landed")
    project.declare("target", {name: stored for name, (_, stored, _) in types.items()})
    land(1, 1)
    land(2, 2)
    project.build()
    project.command("create table requests as landed")
    land(1, 0, "requests")
    land(1, 3)
    land(2, 4)
    assert "Forgot 1 key" in project.operation(
        "forget", model="target", keys="select * except (x, _version) from requests"
    )
    assert project.query("select count() from target where x = 1") == [(0,)]
    assert "2 forgotten" in project.build()["target"]
    assert project.query("select x from target final where _sign = 1") == [(4,)]
    assert "2 forgotten" in project.build("--full-refresh")["target"]
    assert project.query("select x from target final where _sign = 1") == [(4,)]
    project.command("alter table landed modify column a Nullable(Int32)")
    project.command("insert into landed select * replace (null as a, 9 as _version) from requests")
    message = project.run("--select", "target")["target"].message
    assert "null" in message.lower(), message


def test_a_run_that_died_counts_what_it_left_out(make_project: MakeProject, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also with signed rows. And a table existed from its first apply on, also if no row of that is left."""
    monkeypatch.setenv(SECRET, SECRETS[0])
    project = make_project("forget_stream")
    structure = "id Int64, x Int64, _version Int64, _sign Int8"
    project.replace_rows("changes", structure, [(1, 1, 1, 1)])
    project.add_model(
        "signed", {"unique_key": "id", "old_state": "stream", "change_feed": True}, "select * from changes"
    )
    project.add_model(
        "target", {"unique_key": "id", "change_feed": True}, "select * except (_sign) from changes where id = 1"
    )
    project.build()
    for model in ("signed", "target"):
        project.operation("forget", model=model, key={"id": 1})
    query = "select toString(at - toIntervalMicrosecond(1)) from versioned_collapsing_ledger where model = 'target' and apply = 1 and status = 'applied'"
    ((before,),) = project.query(query)
    project.add_model(
        "then", {"materialized": "view"}, f"select * from {{{{ as_of(ref('target'), at=\"'{before}'\") }}}}"
    )
    project.build("--select", "then")
    assert project.query("select count() from then") == [(0,)]
    project.replace_rows("changes", structure, [(1, 2, 2, 1), (2, 4, 2, 1)])
    with dying({"signed": STARTED}):
        project.run("--select", "signed")
    project.replace_rows("changes", structure, [])
    project.build("--select", "signed")
    assert project.query("select id, x, _sign from signed") == [(2, 4, 1)]
    query = "select states, forgotten from versioned_collapsing_ledger where model = 'signed' and apply = 2 and status = 'applied'"
    assert project.query(query) == [(1, 1)]


def test_another_table_may_have_other_types(make_project: MakeProject, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its rows are found, also later. What is no key there is passed over."""
    monkeypatch.setenv(SECRET, SECRETS[0])
    project = make_project("forget_other_types")
    # The type in the table, that in the landing table, a value there, and one that is no key.
    types = {
        "a": ("Int64", "String", "'7'", "'abc'"),
        "b": ("FixedString(8)", "String", "'abc'", "'longer than the type'"),
        "c": ("UUID", "String", "'6F9619FF-8B86-D011-B42D-00C04FC964FF'", "'x'"),
        "d": ("DateTime('Europe/Berlin')", "Nullable(DateTime('UTC'))", "'2026-01-01 10:00:00'", "null"),
        "e": ("Enum8('x' = 1)", "String", "'x'", "'y'"),
    }
    columns = ", ".join(f"{name} {given}" for name, (_, given, _, _) in types.items())
    value, other = (", ".join(values[place] for values in types.values()) for place in (2, 3))
    lists = ", ".join(f"{name} Array(Int64)" for name in types)
    project.command(f"create table landed ({columns}, _version Int64) engine = MergeTree order by ()")
    project.command(f"create table lists ({lists}) engine = MergeTree order by ()")
    project.command("insert into lists values ([7], [7], [7], [7], [7])")
    project.add_model("target", {"unique_key": list(types)}, "select * from landed where _version <> 2")
    project.declare("target", {name: stored for name, (stored, *_) in types.items()})
    project.command(f"insert into landed values ({value}, 1)")
    project.build()
    project.command(f"insert into landed values ({other}, 2)")
    keys = "select * except _version from landed where _version = 1"
    project.operation("forget", model="target", keys=keys, also="landed")
    assert project.query("select _version from landed") == [(2,)]
    project.command(f"insert into landed values ({value}, 3)")
    with pytest.raises(OperationError, match=r"forgotten keys are back in \w+\.landed \(1 row\)"):
        project.operation("reconcile", model="target")
    assert project.build()["target"] == "0 rows: 1 forgotten"
    project.operation("forget", model="target", also=["landed", "lists"])
    assert project.query("select _version from landed") == [(2,)]
    assert "No row of 1 forgotten key" in project.operation("reconcile", model="target")


def test_settings_do_not_bring_a_key_back(make_project: MakeProject, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SECRET, SECRETS[0])
    project = make_project("forget_settings")
    key = ["a", "b", "c", "d"]
    project.command(
        "create table landed (a Decimal(9, 2), b String, c Bool, d DateTime) engine = MergeTree order by ()"
    )
    project.command("insert into landed values (1.5, 'it''s', true, '2026-01-01 00:00:00')")
    project.add_model("target", {"unique_key": key}, "select *, 1 as _version from landed")
    project.build()
    project.operation("forget", model="target", keys="select * from landed")
    settings = {
        "output_format_decimal_trailing_zeros": 1,
        "output_format_values_escape_quote_with_quote": 1,
        "bool_true_representation": "yes",
        "date_time_output_format": "iso",
        "session_timezone": "Asia/Tokyo",
    }
    project.set_profile(custom_settings=settings)
    assert project.build("--full-refresh")["target"] == "0 rows: 1 forgotten"
