"""What tools land besides plain rows: lost deletes, changed keys, omitted values, and late rows."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pytest

from tests.bridges.landings import DAY, ENVELOPES, PEERDB, RAW, Landings
from tests.support.collapsing_project import OperationError, Row
from tests.support.collapsing_projects import MakeProject
from tests.support.commands import Node
from tests.support.statements import STARTED, dying


@pytest.fixture(scope="module")
def landings(make_project: MakeProject) -> Landings:
    return Landings(make_project("bridge_cases"))


def test_peerdb_4212_a_delete_that_peerdb_loses(landings: Landings) -> None:
    """The landed table lacks the delete of a two-column key, one column of which is reused by a new row. The raw table
    has it.

    See https://github.com/PeerDB-io/peerdb/issues/4212.
    """
    structure = f"(org Int64, user Int64, open UInt8, {PEERDB} order by (org, user)"
    raw = (
        "(100, 'lost', '{\"org\": 1, \"user\": 1, \"open\": 1}', 0, '', 1, '')",
        '(200, \'lost\', \'{"org": 1, "user": 1, "open": 1}\', 2, \'{"org": 1, "user": 1, "open": 1}\', 2, \'\')',
        "(201, 'lost', '{\"org\": 1, \"user\": 2, \"open\": 1}', 0, '', 2, '')",
    )
    landings.create("lost", structure, f"(1, 1, 1, '{DAY} 00:00:00', 0, 100)")
    landings.land("lost", f"(1, 2, 1, '{DAY} 00:01:00', 0, 201)")
    landings.create("lost_raw", RAW)
    columns = (
        "(_peerdb_timestamp, _peerdb_destination_table_name, _peerdb_data, _peerdb_record_type, _peerdb_match_data, "
        "_peerdb_batch_id, _peerdb_unchanged_toast_columns)"
    )
    landings.land("lost_raw", *raw, columns=columns)
    key = ["org", "user"]
    landings.model("lost_plain", "{{ peerdb_changes(source('shop', 'lost')) }}", unique_key=key)
    body = "{{ peerdb_changes(source('shop', 'lost'), raw=source('shop', 'lost_raw')) }}"
    landings.model("lost_with_raw", body, unique_key=key)
    landings.run("lost_plain", "lost_with_raw")
    assert landings.live("lost_with_raw") == [(1, 2, 1)]
    # Without the raw table, only the source itself shows that the row is gone.
    assert landings.live("lost_plain") == [(1, 1, 1), (1, 2, 1)]
    landings.create("reference", "(org Int64, user Int64, open UInt8) engine = Memory", "(1, 2, 1)")
    reference = f"{landings.project.schema}.reference"
    with pytest.raises(
        OperationError,
        match=r"lost_plain` differs from .*: 0 keys missing, 1 unexpected, 0 doubled, 0 with other values",
    ):
        landings.project.operation("reconcile", model="lost_plain", reference=reference)
    landings.project.operation("reconcile", model="lost_with_raw", reference=reference)


def test_an_update_of_the_key(landings: Landings) -> None:
    """It deletes the row with the old key and writes one with the new key, provided that the tool reports it."""
    structure = f"(id Int64, x String, {PEERDB} order by id"
    first, new = f"(1, 'a', '{DAY} 00:00:00', 0, 100)", f"(2, 'a', '{DAY} 00:01:00', 0, 200)"
    # PeerDB keeps the old row, unless PEERDB_CLICKHOUSE_ENABLE_PRIMARY_UPDATE is set.
    landings.create("moved", structure, first, new)
    landings.create("moved_twice", structure, first, new, f"(1, 'a', '{DAY} 00:01:00', 1, 199)")
    columns = (
        "(_peerdb_timestamp, _peerdb_destination_table_name, _peerdb_data, _peerdb_record_type, _peerdb_match_data)"
    )
    landings.create("moved_raw", RAW)
    landings.land(
        "moved_raw",
        "(100, 'moved', '{\"id\": 1, \"x\": \"a\"}', 0, '')",
        '(200, \'moved\', \'{"id": 2, "x": "a"}\', 1, \'{"id": 1}\')',
        columns=columns,
    )
    landings.create("moved_envelopes", ENVELOPES)
    landings.land(
        "moved_envelopes",
        """('', '{"id": 1, "x": "a"}', 'c', '{"lsn": 100, "sequence": "[100]"}')""",
        """('{"id": 1}', '{"id": 2, "x": "a"}', 'u', '{"lsn": 200, "sequence": "[200]"}')""",
        columns="(before, after, op, source)",
    )
    bodies = {
        "moved_plain": "{{ peerdb_changes(source('shop', 'moved')) }}",
        "moved_with_setting": "{{ peerdb_changes(source('shop', 'moved_twice')) }}",
        "moved_with_raw": "{{ peerdb_changes(source('shop', 'moved'), raw=source('shop', 'moved_raw')) }}",
        "moved_enveloped": "{{ kafka_connect_changes(source('shop', 'moved_envelopes'), columns=['id', 'x']) }}",
    }
    for name, body in bodies.items():
        landings.model(name, body)
    landings.project.declare("moved_enveloped", {"id": "Int64", "x": "String"})
    landings.run(*bodies)
    assert landings.live("moved_plain") == [(1, "a"), (2, "a")]
    for name in ("moved_with_setting", "moved_with_raw", "moved_enveloped"):
        assert landings.live(name) == [(2, "a")], name


def test_values_that_postgresql_did_not_send(landings: Landings) -> None:
    """The stored values stay: PeerDB's raw table names these columns, and Debezium has a placeholder."""
    columns = (
        "(_peerdb_timestamp, _peerdb_destination_table_name, _peerdb_data, _peerdb_record_type, _peerdb_match_data, "
        "_peerdb_unchanged_toast_columns)"
    )
    landings.create("toast", f"(id Int64, n Int64, long String, bytes String, {PEERDB} order by id")
    landings.create("toast_raw", RAW)
    landings.land(
        "toast_raw",
        """(100, 'toast', '{"id": 1, "n": 1, "long": "l", "bytes": "AQI="}', 0, '', '')""",
        """(200, 'toast', '{"id": 1, "n": 2}', 1, '', 'long,bytes')""",
        columns=columns,
    )
    placeholder = "__debezium_unavailable_value"
    landings.create("toast_envelopes", ENVELOPES)
    landings.land(
        "toast_envelopes",
        """('', '{"id": 1, "n": 1, "long": "l"}', 'c', '{"lsn": 100, "sequence": "[100]"}')""",
        f"""('', '{{"id": 1, "n": 2, "long": "{placeholder}"}}', 'u', '{{"lsn": 200, "sequence": "[200]"}}')""",
        columns="(before, after, op, source)",
    )
    structure = "(id Int64, n Int64, long String, _version UInt64, is_deleted UInt8) engine = MergeTree order by id"
    landings.create("toast_flat", structure, "(1, 1, 'l', 100, 0)", f"(1, 2, '{placeholder}', 200, 0)")
    bodies = {
        "toast_with_raw": "{{ peerdb_changes(source('shop', 'toast'), raw=source('shop', 'toast_raw'), "
        "binary=['bytes']) }}",
        "toast_enveloped": "{{ kafka_connect_changes(source('shop', 'toast_envelopes'), "
        "columns=['id', 'n', 'long'], toasted=['long']) }}",
        "toast_altinity": "{{ altinity_changes(source('shop', 'toast_flat'), toasted=['long']) }}",
    }
    for name, body in bodies.items():
        landings.model(name, body)
    landings.project.declare("toast_enveloped", {"id": "Int64", "n": "Int64", "long": "String"})
    landings.run(*bodies)
    assert landings.live("toast_with_raw") == [(1, 2, "l", "\x01\x02")]
    assert landings.live("toast_enveloped") == [(1, 2, "l")]
    assert landings.live("toast_altinity") == [(1, 2, "l")]


def test_envelopes_without_a_row(landings: Landings) -> None:
    """A truncate empties the table, a tombstone does nothing, and a null stays null."""
    columns = "(before, after, op, source)"
    landings.create("emptied", ENVELOPES)
    landings.land(
        "emptied",
        """('', '{"id": 1, "x": null}', 'r', '{"lsn": 100, "sequence": "[100]"}')""",
        """('', '', null, '')""",
        columns=columns,
    )
    body = "{{ kafka_connect_changes(source('shop', 'emptied'), columns=['id', 'x'], watermark=none) }}"
    landings.model("emptied_current", body)
    landings.project.declare("emptied_current", {"id": "Int64", "x": "Nullable(String)"})
    landings.run("emptied_current")
    assert landings.live("emptied_current") == [(1, None)]
    landings.land(
        "emptied",
        """('', '', 't', '{"lsn": 200, "sequence": "[200]"}')""",
        """('', '{"id": 2, "x": "b"}', 'c', '{"lsn": 300, "sequence": "[300]"}')""",
        columns=columns,
    )
    landings.run("emptied_current")
    assert landings.live("emptied_current") == [(2, "b")]
    assert landings.watermarks("emptied_current") == [[], []]


def test_columns_that_the_landing_table_computes(landings: Landings) -> None:
    """A MATERIALIZED or ALIAS column can say when a row landed, what its version is, and whether it is a delete."""
    landings.create(
        "computed",
        "(id Int64, x String, n UInt64, _inserted_at DateTime64(6, 'UTC') materialized now64(6), "
        "_version UInt64 alias n * 2, is_deleted UInt8 alias x = '') engine = MergeTree order by id",
    )
    landings.land("computed", "(1, 'a', 1), (2, 'b', 1), (2, '', 2)", columns="(id, x, n)")
    landings.model("computed_current", "{{ kafka_connect_changes(source('shop', 'computed'), version='_version') }}")
    landings.run("computed_current")
    assert landings.live("computed_current") == [(1, "a", 1)]
    assert [name for ((name, _),) in landings.watermarks("computed_current")] == ["bridge_cases.computed"]


KILLED = {
    # Each run dies after the statement that contains this text.
    "killed_when_it_has_read": "insert into `bridge_kills`.`killed_when_it_has_read__dbt_read",
    "killed_before_it_publishes": STARTED,
    "killed_before_it_ends": "attach partition",
    "killed_within_chunks": "'chunk staged'",
}


def test_a_killed_run_has_the_watermark_of_what_it_has_read(make_project: MakeProject) -> None:
    """It is not the watermark of the next run, and rows that land in between are not lost."""
    landings = Landings(make_project("bridge_kills"))
    structure = f"(id Int64, x String, {PEERDB} order by id"
    landings.create("killed", structure, *(f"({n}, 'a', '{DAY} 00:00:00', 0, 100)" for n in range(10)))
    for name in KILLED:
        chunks = 4 if "chunks" in name else 1
        body = "{{ peerdb_changes(source('shop', 'killed')) }}"
        landings.model(name, body, chunks=chunks)
    landings.run(*KILLED)
    landings.land("killed", f"(1, 'b', '{DAY} 01:00:00', 0, 200)", f"(2, 'a', '{DAY} 01:00:00', 1, 200)")
    with dying(KILLED):
        outcomes = landings.try_to_run(*KILLED)
    assert {node.status for node in outcomes.values()} == {"error"}
    # One of them lands late, in a range that was read; and merges have removed what the killed runs read.
    landings.land(
        "killed",
        f"(1, 'c', '{DAY} 02:00:00', 0, 300)",
        f"(3, 'b', '{DAY} 00:59:00', 0, 201)",
        f"(20, 'a', '{DAY} 02:00:00', 0, 300)",
    )
    landings.project.command("optimize table killed final")
    landings.run(*KILLED)
    expected = [(0, "a"), (1, "c"), (3, "b"), *((n, "a") for n in range(4, 10)), (20, "a")]
    hours = ["00", "01", "02"]
    for name in KILLED:
        assert landings.live(name) == expected, name
        is_completed = name != "killed_when_it_has_read"
        assert landings.watermarks(name) == [
            [("bridge_kills.killed", f"{DAY} {hour}:00:00.000000000")] for hour in hours if is_completed or hour != "01"
        ], name


def test_what_lands_after_the_overlap(landings: Landings) -> None:
    """A normal run does not read it, but a full refresh does. `through` limits what is read."""
    structure = f"(id Int64, x String, {PEERDB} order by id"
    rows = [f"({n}, 'a', '{DAY} 0{n}:00:00', 0, 100)" for n in range(5)]
    landings.create("late", structure, *rows)
    body = "{{{{ peerdb_changes(source('shop', 'late'), overlap='30 minutes'{}) }}}}"
    landings.model("late_current", body.format(""))
    landings.model("late_through", body.format(f", through='{DAY} 02:00:00'"))
    landings.run("late_current", "late_through")
    assert [row[0] for row in landings.live("late_current")] == [0, 1, 2, 3, 4]
    assert [row[0] for row in landings.live("late_through")] == [0, 1, 2]
    landings.land("late", f"(5, 'a', '{DAY} 03:30:00', 0, 100)", f"(6, 'a', '{DAY} 03:29:59', 0, 100)")
    assert landings.run("late_current")["late_current"].message == "2 rows: 1 state, 1 duplicate"
    assert [row[0] for row in landings.live("late_current")] == [0, 1, 2, 3, 4, 5]
    landings.run("late_current", arguments=("--full-refresh",))
    assert [row[0] for row in landings.live("late_current")] == [0, 1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize(
    ("name", "part", "read"),
    [
        ("empty", ("--empty",), []),
        ("sample", ("--sample", f"{{start: '{DAY}T23:00:00', end: '{DAY}T23:59:59'}}"), [(2, "b")]),
    ],
)
def test_a_part_moves_no_watermark(landings: Landings, name: str, part: tuple[str, ...], read: list[Row]) -> None:
    """The next run reads everything."""
    structure = f"(id Int64, x String, {PEERDB} order by id"
    rows = (f"(1, 'a', '{DAY} 00:00:00', 0, 100)", f"(2, 'b', '{DAY} 23:30:00', 0, 101)")
    landings.create(name, structure, *rows, event_time="_peerdb_synced_at")
    model = f"{name}_current"
    landings.model(model, f"{{{{ peerdb_changes(source('shop', '{name}')) }}}}")
    landings.run(model, arguments=part)
    assert landings.live(model) == read
    assert landings.watermarks(model) == []
    landings.run(model)
    assert landings.live(model) == [(1, "a"), (2, "b")]


def test_a_landing_table_that_was_built_again(landings: Landings) -> None:
    """A tool that starts again omits rows that were deleted meanwhile, and its versions start again too."""
    structure = f"(id Int64, x String, {PEERDB} order by id"
    row = f"(1, 'a', '{DAY} 00:00:00', 0, 100)"
    landings.create("again", structure, row, f"(2, 'a', '{DAY} 00:00:00', 0, 100)")
    landings.model("again_current", "{{ peerdb_changes(source('shop', 'again')) }}")
    landings.run("again_current")
    landings.create("again", structure, f"(1, 'b', '{DAY} 01:00:00', 0, 0)")
    node = landings.try_to_run("again_current")["again_current"]
    assert node.status == "error"
    assert "`bridge_cases`.`again` was built again since again_current has read it last" in node.message
    assert "Build the model again: dbt run --full-refresh --select again_current" in node.message
    landings.run("again_current", arguments=("--full-refresh",))
    assert landings.live("again_current") == [(1, "b")]


def test_a_landing_table_that_was_emptied(landings: Landings) -> None:
    """Rows may have come and gone, so the run warns. A merge that replaces some of the rows causes no warning."""
    structure = f"(id Int64, x String, {PEERDB} order by id"
    rows = [f"({n}, 'a', '{DAY} 00:00:00', 0, 100)" for n in (1, 2)]
    landings.create("emptied_landing", structure, *rows)
    landings.model("emptied_landing_current", "{{ peerdb_changes(source('shop', 'emptied_landing')) }}")
    landings.run("emptied_landing_current")
    landings.land("emptied_landing", f"(1, 'b', '{DAY} 01:00:00', 0, 200)")
    landings.project.command("optimize table emptied_landing final")
    landings.run("emptied_landing_current")
    warning = "`bridge_cases`.`emptied_landing` has no row up to 2026-01-01 01:00:00.000000000 any more"
    assert warning not in landings.project.logged("JinjaLogWarning")
    landings.project.command("truncate table emptied_landing")
    landings.land("emptied_landing", f"(1, 'c', '{DAY} 02:00:00', 0, 300)")
    landings.run("emptied_landing_current")
    assert warning in landings.project.logged("JinjaLogWarning")


def test_a_raw_table_that_forgets(landings: Landings) -> None:
    """The landed table has what the raw table has lost, when a run reads for the first time or after a long break."""
    columns = (
        "(_peerdb_timestamp, _peerdb_destination_table_name, _peerdb_data, _peerdb_record_type, _peerdb_match_data)"
    )
    hour = 3_600_000_000_000

    def raw(key: int, at: int) -> str:
        return f"""({at * hour}, 'forgotten', '{{"id": {key}, "x": "raw"}}', 0, '')"""

    def landed(key: int, at: int, text: str = "landed") -> str:
        return f"({key}, '{text}', '{DAY} 00:00:00', 0, {at * hour})"

    landings.create(
        "forgotten", f"(id Int64, x String, {PEERDB} order by id", landed(1, 0), landed(2, 10), landed(3, 20, "raw")
    )
    landings.create("forgotten_raw", RAW)
    landings.land("forgotten_raw", raw(3, 20), columns=columns)
    body = "{{ peerdb_changes(source('shop', 'forgotten'), raw=source('shop', 'forgotten_raw')) }}"
    landings.model("forgotten_current", body)
    landings.run("forgotten_current")
    assert landings.live("forgotten_current") == [(1, "landed"), (2, "landed"), (3, "raw")]
    landings.project.command("truncate table forgotten_raw")
    landings.land("forgotten", landed(4, 30), landed(5, 40, "raw"))
    landings.land("forgotten_raw", raw(5, 40), columns=columns)
    landings.run("forgotten_current")
    assert landings.live("forgotten_current")[3:] == [(4, "landed"), (5, "raw")]


def test_loads_of_dlt_that_are_not_complete(landings: Landings) -> None:
    """Their rows wait until the load completes, however long it takes. dlt adds the column of deletes with the first
    one."""
    structure = (
        "(id Int64, x String, lsn Int64, _dlt_load_id String, _dlt_id String) engine = MergeTree order by tuple()"
    )
    landings.create("loaded", structure, "(1, 'a', 100, '1.5', 'p')", "(2, 'a', 101, '2.5', 'q')")
    landings.create(
        "loads",
        "(load_id String, schema_name String, status Int64, inserted_at DateTime64(6, 'UTC')) "
        "engine = MergeTree order by tuple()",
        f"('1.5', 's', 0, '{DAY} 00:00:00')",
    )
    landings.model(
        "loaded_current", "{{ dlt_changes(source('shop', 'loaded'), source('shop', 'loads'), version='lsn') }}"
    )
    landings.run("loaded_current")
    assert landings.live("loaded_current") == [(1, "a")]
    landings.project.command("alter table loaded add column deleted_ts Nullable(DateTime64(6, 'UTC'))")
    landings.land("loaded", f"(1, '', 102, '3.5', 'r', '{DAY} 01:00:00')")
    landings.land("loads", f"('3.5', 's', 0, '{DAY} 01:00:00')")
    landings.run("loaded_current")
    assert landings.live("loaded_current") == []
    landings.land("loads", f"('2.5', 's', 0, '{DAY} 09:00:00')")
    landings.run("loaded_current")
    assert landings.live("loaded_current") == [(2, "a")]


def test_each_landing_table_has_its_own_watermark(landings: Landings) -> None:
    """A model can unite two landing tables, one of which may be far behind the other."""
    structure = f"(id Int64, x String, {PEERDB} order by id"
    landings.create("ahead", structure, f"(1, 'a', '{DAY} 09:00:00', 0, 100)")
    landings.create("behind", structure, f"(2, 'a', '{DAY} 00:00:00', 0, 100)")
    body = " union all ".join(
        f"select * from ({{{{ peerdb_changes(source('shop', '{name}')) }}}})" for name in ("ahead", "behind")
    )
    landings.model("united", body)
    landings.run("united")
    landings.land("behind", f"(3, 'a', '{DAY} 01:00:00', 0, 100)")
    landings.run("united")
    assert [row[0] for row in landings.live("united")] == [1, 2, 3]
    assert landings.watermarks("united") == [
        [("bridge_cases.ahead", f"{DAY} 09:00:00.000000000"), ("bridge_cases.behind", f"{DAY} {hour}:00:00.000000000")]
        for hour in ("00", "01")
    ]


def test_a_delete_and_an_insert_at_one_version(landings: Landings) -> None:
    """The one that landed last counts, as in the landing table's own FINAL. GTID versions are those of transactions."""
    landings.create(
        "replaced",
        "(id Int64, x String, _version UInt64, is_deleted UInt8) engine = ReplacingMergeTree(_version, is_deleted) "
        "order by id settings max_merge_selecting_sleep_ms = 600000, min_parts_to_merge_at_once = 100",
        "(1, 'a', 100, 0), (2, 'a', 100, 0), (3, 'a', 100, 0)",
    )
    body = "{{ altinity_changes(source('shop', 'replaced')) }}"
    landings.model("replaced_current", body, on_conflict="error")
    landings.run("replaced_current")
    for row in ("(1, '', 200, 1)", "(1, 'b', 200, 0)", "(2, 'b', 200, 0)", "(2, '', 200, 1)", "(3, '', 200, 1)"):
        landings.land("replaced", row)
    landings.run("replaced_current")
    final = landings.project.query("select id, x from replaced final order by id")
    assert landings.live("replaced_current") == final == [(1, "b")]


def test_the_names_that_columns_may_have(landings: Landings) -> None:
    """Altinity's connector renames its column if the source has one of the same name, and it used to write signs."""
    tables: Mapping[str, tuple[str, str]] = {
        "renamed": (
            "(id Int64, is_deleted UInt8, _version UInt64, __is_deleted UInt8)",
            "(1, 1, 100, 0), (2, 0, 100, 1)",
        ),
        "signed": ("(id Int64, _sign Int8, _version UInt64)", "(1, 1, 100), (2, -1, 100)"),
        "unsigned": ("(id Int64, _version UInt64, `Gone` UInt8)", "(1, 100, 0), (2, 100, 1)"),
    }
    for name, (structure, rows) in tables.items():
        landings.create(name, f"{structure} engine = MergeTree order by id", rows)
        is_deleted = ", is_deleted='Gone'" if name == "unsigned" else ""
        landings.model(f"{name}_current", f"{{{{ altinity_changes(source('shop', '{name}'){is_deleted}) }}}}")
    landings.run(*(f"{name}_current" for name in tables))
    assert landings.live("renamed_current") == [(1, 1)]
    assert landings.live("signed_current") == [(1,)]
    assert landings.live("unsigned_current") == [(1,)]


def test_wider_types_of_a_landing_table(landings: Landings) -> None:
    """The run stops and names the statements that keep the rows. A narrower type needs a rebuild."""
    before = {"status": "Enum8('a' = 1)", "n": "Int32", "price": "Decimal(9, 2)", "ratio": "Float32", "note": "String"}
    after = {
        "status": "Enum8('a' = 1, 'b' = 2)",
        "n": "Int64",
        "price": "Decimal(18, 4)",
        "ratio": "Float64",
        "note": "LowCardinality(Nullable(String))",
    }
    columns = ", ".join(f"{name} {kind}" for name, kind in before.items())
    landings.create(
        "altered", f"(id Int64, {columns}, v UInt64) engine = MergeTree order by id", "(1, 'a', 1, 1.5, 0.5, 'x', 1)"
    )
    landings.model("altered_current", "{{ landed_changes(source('shop', 'altered'), version='v') }}", change_feed=True)
    landings.run("altered_current")
    for name, kind in after.items():
        landings.project.command(f"alter table altered modify column {name} {kind}")
    landings.land("altered", "(1, 'b', 5000000000, 1.5432, 0.1, null, 2), (2, 'b', 2, 2, 2, 'y', 2)")
    message = landings.try_to_run("altered_current")["altered_current"].message
    statements = re.findall(r"alter table \S+ modify column .*?(?=; alter|\. Undo)", " ".join(message.split()))
    assert len(statements) == 2 * len(after)
    for statement in statements:
        landings.project.command(statement)
    landings.run("altered_current")
    rows = [(1, "b", 5000000000, Decimal("1.5432"), 0.1, None, 2), (2, "b", 2, Decimal("2"), 2.0, "y", 2)]
    assert landings.live("altered_current") == rows


ERRORS: dict[str, tuple[str, dict[str, Any], str]] = {
    "no_table": (
        "{{ peerdb_changes(source('shop', 'missing')) }}",
        {},
        "`bridge_errors`.`missing` does not exist, or has no columns. Name the table that the tool lands",
    ),
    "no_version": (
        "{{ peerdb_changes(source('shop', 'bare')) }}",
        {},
        "`bridge_errors`.`bare` has no column _peerdb_version, which has the version. It has id, at, before, after, op, "
        "source. Name the table that the tool lands, or pass version.",
    ),
    "no_synced_at": (
        "{{ clickpipes_changes(source('shop', 'unsynced')) }}",
        {},
        "has no column _peerdb_synced_at, which has the time at which a row landed. It has id, _peerdb_version, "
        "_peerdb_is_deleted. Name the table that the tool lands, or pass watermark or raw.",
    ),
    "no_position": (
        "{{ airbyte_changes(source('shop', 'bare')) }}",
        {},
        "does not say in which order its source committed: it has no column _ab_cdc_cursor, and no number _ab_cdc_lsn with "
        "_airbyte_extracted_at. Pass version, such as version='updated_at'.",
    ),
    "no_typed_table": (
        "{{ airbyte_changes(source('shop', 'raw_of_airbyte')) }}",
        {},
        "_airbyte_data has the rows as JSON, as version 1 of the destination lands them: make a view that selects their "
        "fields, and name the view.",
    ),
    "no_commits": (
        "{{ dlt_changes(source('shop', 'of_dlt'), source('shop', 'bare')) }}",
        {},
        "does not say in which order its source committed. lsn is where a row stands in the log",
    ),
    "no_inserted_at": (
        "{{ kafka_connect_changes(source('shop', 'bare'), columns=['id']) }}",
        {},
        "has no column _inserted_at, which says when a row landed. Add it: alter table `bridge_errors`.`bare` add column",
    ),
    "no_envelopes": (
        "{{ kafka_connect_changes(source('shop', 'bare'), watermark='at') }}",
        {},
        "has envelopes (op, before, after), so columns is needed: the names of the row's columns, such as "
        "columns=['order_id', 'amount']. - `bridge_errors`.`bare`: the column source is Int64; it is to be a String "
        "or JSON",
    ),
    "bad_watermark": (
        "{{ landed_changes(source('shop', 'bare'), version='id', watermark='op') }}",
        {},
        "watermark is op, which is String; it takes a DateTime, a DateTime64 or an integer.",
    ),
    "bad_time": (
        "{{ landed_changes(source('shop', 'bare'), version='id', watermark='at', overlap=10) }}",
        {},
        "overlap is 10, but the watermark at is a time; overlap takes a length of time such as '1 hour'.",
    ),
    "bad_number": (
        "{{ landed_changes(source('shop', 'bare'), version='id', watermark='id') }}",
        {},
        "overlap is 1 hour, but the watermark id is a number; overlap takes a number, 0 or more.",
    ),
    "bad_names": (
        "{{ landed_changes(source('shop', 'bare'), version='id', toasted=['long']) }}",
        {},
        "toasted names long, which is no column of `bridge_errors`.`bare`. It has id, at, before, after, op, source.",
    ),
    "bad_stream": (
        "select 1 as id, 1 as _version, 1 as _sign, 1 as _watermark",
        {"old_state": "stream"},
        "columns: the change set has _watermark, so it contains rows that were applied before, but with `old_state: "
        "stream` a change can be applied only once. Remove the option, or select the new rows without _watermark.",
    ),
    "bad_deletes": (
        "select 1 as id, 1 as _version, 1 as _watermark",
        {"delete_version": "ignore"},
        "but with `delete_version: ignore` a change can be applied only once.",
    ),
    "bad_columns": (
        "select 1 as id, 1 as _version, 1 as _landing",
        {},
        "columns: the change set has _landing, but no _watermark. Select both, or neither.",
    ),
}


@pytest.fixture(scope="module")
def errors(make_project: MakeProject) -> dict[str, Node]:
    """The error of each model of ERRORS."""
    landings = Landings(make_project("bridge_errors"))
    landings.create("missing", "(id Int64) engine = Memory")
    landings.project.command("drop table missing")
    landings.create(
        "bare", "(id Int64, at DateTime, before String, after String, op String, source Int64) engine = Memory"
    )
    structures = {
        "unsynced": "(id Int64, _peerdb_version UInt64, _peerdb_is_deleted UInt8)",
        "raw_of_airbyte": "(_airbyte_ab_id String, _airbyte_data String, _airbyte_emitted_at DateTime64(3))",
        "of_dlt": "(id Int64, lsn Int64, _dlt_load_id String, _dlt_id String)",
    }
    for name, structure in structures.items():
        landings.create(name, f"{structure} engine = Memory")
    for name, (body, config, _) in ERRORS.items():
        landings.model(name, body, **config)
    return landings.try_to_run(*ERRORS)


@pytest.mark.parametrize("name", ERRORS)
def test_error(errors: dict[str, Node], name: str) -> None:
    assert errors[name].status == "error"
    assert ERRORS[name][2] in " ".join(errors[name].message.split())


def test_an_operation_that_is_not_known_stops_the_run(landings: Landings) -> None:
    landings.create("unknown", ENVELOPES)
    landings.land("unknown", "('', '{}', 'x', '{}')", columns="(before, after, op, source)")
    landings.model(
        "unknown_current", "{{ kafka_connect_changes(source('shop', 'unknown'), columns=['id'], watermark=none) }}"
    )
    landings.project.declare("unknown_current", {"id": "Int64"})
    node = landings.try_to_run("unknown_current")["unknown_current"]
    assert "An envelope has an unknown op; known are c, r, u, d, t and m. Correct the row" in node.message
