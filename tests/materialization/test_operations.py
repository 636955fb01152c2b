"""The operations of `dbt run-operation` on a table."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.support.collapsing_project import OperationError, Row
from tests.support.collapsing_projects import MakeProject
from tests.support.statements import dying
from tests.support.table import Table

COLUMNS = "id Int64, part UInt8, amount Int64, _version Int64, _is_deleted Bool"
SUMS = "select part, sum(amount * _sign) as total, sum(_sign) as c from {} group by part"
LIVE = "select id, part, amount, _version, sum(_sign) as net from target group by all having net <> 0 order by all"
KEYS = 12
INSERTING = "`target` ("


def rows(version: int, *keys: int) -> list[Row]:
    return [(key, key % 3, key * version, version) for key in keys or range(KEYS)]


def make(make_project: MakeProject, schema: str) -> Table:
    table = Table(make_project(schema), COLUMNS, partition_by="part")
    table.apply(rows(1))
    return table


def refused(table: Table, operation: str, **arguments: Any) -> str:
    """The message of an operation on the table, which must fail."""
    with pytest.raises(OperationError) as found:
        table.operation(operation, **{"model": "target", **arguments})
    return str(found.value)


def test_models_that_are_unknown_or_not_built(make_project: MakeProject) -> None:
    table = Table(make_project("operations_unbuilt"), select="select 1 as id, 1 as _version")
    unknown = refused(table, "compact", model="orders")
    assert "no versioned_collapsing model 'orders'" in unknown
    assert "It has target" in unknown
    assert table.operation("collapse_status") == "target: not built"
    assert "does not exist. Build it: dbt run --select target" in refused(table, "compact")


class TestCollapseStatus:
    def test_rows_that_wait_and_last_runs(self, make_project: MakeProject) -> None:
        table = make(make_project, "status")
        table.command("system stop merges target")
        table.apply(rows(2, 0, 3))
        lines = table.operation("collapse_status").splitlines()
        assert lines[0] == "status.target: 12 live rows of 16 stored; 4 rows waiting for a merge; 0 unbalanced keys"
        assert lines[1] == "  waiting, by partition: 0 (4 of 8 in 2 parts)"
        time = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"
        pattern = re.compile(rf"  {time} applied: (.*) \(\d\.\d s\)")
        assert [pattern.sub(r"\1", line) for line in lines[2:]] == ["2 states, 2 cancels", "12 states"]

    def test_lines_fit_a_terminal(self, make_project: MakeProject) -> None:
        table = Table(make_project("status_wide"), COLUMNS, partition_by="id")
        table.apply(rows(1))
        table.command("system stop merges target")
        table.apply(rows(2, *range(12)))
        lines = table.operation("collapse_status").splitlines()
        assert max(map(len, lines)) <= 100
        assert [line[:4].strip() for line in lines[1:4]] == ["wa", "", ""]
        assert "None" not in "".join(lines)

    def test_unbalanced_keys_name_their_remedy(self, make_project: MakeProject) -> None:
        table = make(make_project, "status_unbalanced_keys")
        table.command("insert into target values (3, 0, 3, 1, 1), (50, 0, 1, 1, -1)")
        status = table.operation("collapse_status", model="target")
        assert "2 unbalanced keys\n  repair: dbt run-operation rebalance --args '{model: target}'\n" in status

    def test_a_run_that_died(self, make_project: MakeProject) -> None:
        table = make(make_project, "status_torn")
        table.die(rows(2))
        interrupted = "was interrupted while it published rows; to complete it:\n    dbt run --select target\n"
        assert interrupted in table.operation("collapse_status", model="target")
        said = refused(table, "rebalance")
        assert "interrupted while it published rows to " in said
        assert ". Complete it first" in said
        table.apply()
        assert "interrupted" not in table.operation("collapse_status", model="target")


class TestRebalance:
    # Rows that somebody else wrote: duplicated, at an older version, a cancel row without its state row, in
    # another partition than the state row.
    WRONG = "(3, 0, 3, 1, 1), (4, 1, 40, 0, 1), (5, 2, 5, 1, -1), (5, 2, 5, 1, -1), (7, 0, 7, 1, -1), (50, 0, 1, 1, -1)"

    @pytest.fixture
    def table(self, make_project: MakeProject, request: pytest.FixtureRequest) -> Table:
        table = make(make_project, request.node.name)
        columns = "(part UInt8, total Int64, c Int64) engine = SummingMergeTree order by part"
        table.command(f"create table sums {columns}")
        table.command(f"create materialized view sums_mv to sums as {SUMS.format('target')}")
        table.command(f"insert into sums {SUMS.format('target')}")
        table.command(f"insert into target values {self.WRONG}")
        return table

    def test_without_being_told_to_it_writes_nothing(self, table: Table) -> None:
        before = table.query(LIVE)
        said = refused(table, "rebalance")
        assert "5 keys to repair with 3 state rows and 2 cancel rows; 0 keys with" in said
        assert "Nothing was written. To write the rows: dbt run-operation rebalance" in said
        assert table.query(LIVE) == before

    def test_it_puts_the_table_and_its_views_right(self, table: Table) -> None:
        table.project.set_profile(custom_settings={"final": 1, "aggregate_functions_null_for_empty": 1})
        table.operation("rebalance", model="target", dry_run=False)
        # Key 5 had no state row left, and its cancel rows do not tell what it was.
        assert table.query(LIVE) == [(*row, 1) for row in rows(1) if row[0] != 5]
        kept = "select part, sum(total), sum(c) from sums group by part order by part"
        assert table.query(kept) == table.query(f"{SUMS.format('target')} order by part")
        assert "0 keys to repair" in table.operation("rebalance", model="target")
        assert table.ledger("rebalanced", "rebalanced") == [(5,)]

    def test_rows_of_one_version_that_differ_are_left_if_one_is_wanted(self, make_project: MakeProject) -> None:
        """They pair with each other, so a row that is written beside the wanted one could cancel it."""
        table = make(make_project, "repair_different")
        table.command("insert into target values (3, 0, 30, 0, 1), (3, 0, 31, 0, 1), (4, 1, 40, 1, -1)")
        said = table.operation("rebalance", model="target", dry_run=False)
        assert "1 key to repair with 0 state rows and 2 cancel rows; 1 key with different rows" in said
        kept = (
            "select id, amount, sum(_sign) as n from target where id in (3, 4) group by all having n <> 0 order by all"
        )
        assert table.query(kept) == [(3, 3, 1), (4, 4, 1), (4, 40, -1)]
        table.apply([(4, 1, 41, 2)])
        assert table.query("select id, amount from target final where id in (3, 4) order by id") == [(3, 3), (4, 41)]

    def test_two_states_of_one_version_are_left_to_a_newer_one(self, make_project: MakeProject) -> None:
        table = make(make_project, "repair_undecided")
        table.command("insert into target values (3, 0, 33, 1, 1)")
        said = refused(table, "rebalance")
        assert re.search(r"1 key with different rows .* Nothing was written\.(\n|$)", said)
        said = table.operation("rebalance", model="target", dry_run=False)
        assert "0 keys to repair" in said
        assert "1 key with different rows of one version" in said
        table.apply(rows(2, 3))
        assert table.query(LIVE)[3] == (3, 0, 6, 2, 1)
        said = table.operation("rebalance", model="target")
        assert "0 keys with different rows" in said

    def test_one_that_died_is_completed_by_the_next_run(self, table: Table) -> None:
        with dying({INSERTING: 0}):
            assert "died here" in refused(table, "rebalance", dry_run=False)
        table.apply()
        assert table.query(LIVE) == [(*row, 1) for row in rows(1) if row[0] != 5]


class TestReconcile:
    @pytest.fixture(scope="class")
    @classmethod
    def table(cls, make_project: MakeProject) -> Table:
        table = make(make_project, "reconcile")
        table.project.replace_rows("reference", COLUMNS, rows(1))
        return table

    def test_they_agree(self, table: Table) -> None:
        said = table.operation("reconcile", model="target", reference="reconcile.reference")
        assert (
            said
            == "`reconcile`.`target` agrees with reconcile.reference in id, part, amount, _version: 12 keys compared"
        )

    def test_they_differ(self, table: Table) -> None:
        table.command(
            "create or replace view other as select * replace (if(id = 4, 0, amount) as amount) from reference "
            "where id <> 5 union all select 99, 0, 0, 1, false"
        )
        said = refused(table, "reconcile", reference="reconcile.other")
        assert "1 key missing, 1 unexpected, 0 doubled, 1 with other values; 13 keys compared\n" in said
        assert "Compilation Error" not in said
        assert "Find out which side is right. If it is the reference: a full refresh, or batches that" in said
        assert "different (4), missing (99), unexpected (5)\n" in said

    def test_some_columns(self, table: Table) -> None:
        table.command("create or replace view slim as select toString(id) as id, part, 0 as amount from reference")
        slim: dict[str, Any] = {"model": "target", "reference": "reconcile.slim"}
        for columns in (["id", "part"], "part"):
            assert "agrees with reconcile.slim in id, part" in table.operation("reconcile", **slim, columns=columns)
        # The amount of key 0 is 0.
        assert f"{KEYS - 1} with other values" in refused(table, "reconcile", **slim, show=2)

    def test_columns_that_are_missing(self, table: Table) -> None:
        table.command("create or replace view narrow as select part from reference")
        said = refused(table, "reconcile", reference="reconcile.narrow")
        assert "narrow lacks id. It has part. Correct the name, or select the column." in said
        said = refused(table, "reconcile", reference="reference", columns=["price"])
        assert re.search(r"columns: .* lacks price\. It has id, .*\. Correct the name\.", said)


def test_compact_merges_what_is_worth_it(make_project: MakeProject) -> None:
    table = make(make_project, "compact")
    table.command("system stop merges target")
    table.apply(rows(2, 0, 3, 1))
    table.command("system start merges target")
    stored = "select part, count() from target group by part order by part"
    assert table.query(stored) == [(0, 8), (1, 6), (2, 4)]
    said = table.operation("compact", model="target", threshold=0.6)
    assert "or more of its rows waiting for a merge" in said
    said = table.operation("compact", model="target", threshold=0.4)
    assert said == "Merging partition 0 (1 of 1): 4 of 8 rows are waiting for a merge"
    assert table.query(stored) == [(0, 4), (1, 6), (2, 4)]
    table.operation("compact", model="target")
    assert table.query(stored) == [(0, 4), (1, 4), (2, 4)]


PASSWORD = "hunter2-of-the-crm"
TRUTHS = {
    "agrees": f"(select * from secrets.reference where '{PASSWORD}' <> '')",
    "differs": f"(select * from secrets.reference where id <> length('{PASSWORD}') - 17)",
    "lacks": f"(select part, '{PASSWORD}' as password from secrets.reference)",
    "no_sql": f"postgresql('127.0.0.1:1', 'db', 'orders', 'reader', '{PASSWORD}'",
    "no_server": f"mysql('127.0.0.1:1', 'db', 'orders', 'reader', '{PASSWORD}')",
    "no_literal": f"postgresql('127.0.0.1:1', 'db', 'orders', 'reader', $${PASSWORD}$$)",
}


def test_a_password_in_the_reference_is_told_nobody(
    make_project: MakeProject, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Our messages do not show it. If it is exported as a dbt secret, neither does dbt's own log."""
    project = make(make_project, "secrets").project
    project.has_log = True
    project.replace_rows("reference", COLUMNS, rows(1))
    said = {}
    log = project.folder / "logs" / "dbt.log"
    for exported in (False, True):
        if exported:
            monkeypatch.setenv("DBT_ENV_SECRET_CRM", PASSWORD)
            log.write_text("")
        for name, reference in [*TRUTHS.items()][:: 3 if exported else 1]:
            try:
                said[name] = project.operation("reconcile", model="target", reference=reference)
            except OperationError as error:
                said[name] = str(error)
        assert [name for name, text in said.items() if PASSWORD in text] == []
    assert "agrees with (…)" in said["agrees"]
    assert "differs from (…): 1 key missing" not in said["differs"]
    assert "differs from (…): 0 keys missing, 1 unexpected" in said["differs"]
    assert "(…) lacks id" in said["lacks"]
    assert "cannot parse `reference`, postgresql(…). It takes" in said["no_sql"]
    assert "reconcile" in log.read_text()
    assert PASSWORD not in log.read_text()
    ledger = project.query("select toString(tuple(*)) from versioned_collapsing_ledger")
    assert ledger
    assert [row for row in ledger if PASSWORD in str(row)] == []
    assert PASSWORD not in "".join(capfd.readouterr())


def test_a_name_that_two_models_have(make_project: MakeProject) -> None:
    project = make_project("two_versions")
    changes = "select 1 as id, 0 as part, 1 as amount, toInt64(1) as _version"
    for version in (1, 2):
        project.add_model(f"target_v{version}", {"unique_key": "id"}, changes)
    versions = {"name": "target", "latest_version": 2, "versions": [{"v": 1}, {"v": 2}]}
    project.add_properties("target", {"models": [versions]})
    project.build()
    ids = [f"model.versioned_collapsing.target.v{version}" for version in (1, 2)]
    for operation in ("release_lock", "compact", "adopt_table", "rebalance", "collapse_status"):
        with pytest.raises(OperationError, match=f"2 models have the name 'target'.*: {', '.join(ids)}"):
            project.operation(operation, model="target")
        assert "target_v1" in project.operation(operation, model=ids[0])
    with pytest.raises(OperationError, match="2 models have the name 'target'"):
        project.operation("reconcile", model=ids[0], reference="target")
    assert "agrees with" in project.operation("reconcile", model=ids[0], reference=ids[1])


class TestWidenVersion:
    """A table whose version was an Int64 gets positions of more bits."""

    def test_the_rows_stay_and_old_versions_are_below(self, make_project: MakeProject) -> None:
        project = make_project("widened")
        table = Table(project, COLUMNS, partition_by="part", change_feed=True)
        table.apply([(1, 0, 1, 10), (2, 0, 2, 10), (3, 0, 3, 10)])
        table.apply([(3, 0, 3, 11, True)])
        table.columns = COLUMNS.replace("_version Int64", "_version Int128")
        project.declare("target", {"_version": "Int128"})
        new = [(1, 0, 10, 2**64), (3, 0, 30, 10), (4, 0, 40, 2**100)]
        said = table.fail(new)
        assert "_version is Int128 in the model and Int64 in `widened`.`target`. To keep the rows and " in said
        assert "dbt run-operation widen_version --args '{model: target}'" in said
        assert "`widened`.`target`: _version was Int64 and is Int128." in table.operation(
            "widen_version", model="target"
        )
        table.apply(new)
        table.check([(1, 0, 10, 2**64), (2, 0, 2, 10), (4, 0, 40, 2**100)])
        fed = "select max(_version), max(_changed_version) from target__feed"
        assert table.query(fed) == [(2**100, 2**100)]
        table.apply([(4, 0, 40, 2**101, True)])
        assert table.tombstones() == {3: 11, 4: 2**101}
        table.apply([(4, 0, 41, 2**100 + 1)])
        table.check([(1, 0, 10, 2**64), (2, 0, 2, 10)])
        assert "_version is Int128 in `widened`.`target`, and the model declares Int128." in refused(
            table, "widen_version"
        )

    def test_a_table_that_somebody_altered(self, make_project: MakeProject) -> None:
        project = make_project("altered")
        table = Table(project, COLUMNS, partition_by="part", change_feed=True)
        table.apply([(1, 0, 1, 10), (2, 0, 2, 10), (3, 0, 3, 10)])
        project.command("alter table target modify column _version Int128")
        project.declare("target", {"_version": "Int128"})
        table.columns = COLUMNS.replace("_version Int64", "_version Int128")
        deletes = [(1, 0, 1, 2**64, True), (2, 0, 2, 2**100, True)]
        said = table.fail(deletes)
        told = "_version is Int128 in `altered`.`target`, and `altered`.`target__tombstones`, which remembers deletes, "
        assert told + "has another type for it. Give it the same: " in said
        project.command(said.rpartition("Give it the same: ")[2].splitlines()[0])
        table.apply(deletes)
        assert table.tombstones() == {1: 2**64, 2: 2**100}
        changed = table.query("select id, _changed_version from target__feed where _sign = -1 order by id")
        assert changed == [(1, 2**64), (2, 2**100)]
        table.apply([(1, 0, 9, 2**64 - 1)])
        table.check([(3, 0, 3, 10)])

    def test_what_does_not_hold_the_versions(self, make_project: MakeProject) -> None:
        table = make(make_project, "narrowed")
        said = refused(table, "widen_version")
        assert "_version is Int64 in `narrowed`.`target`, and the model declares no data_type for it. " in said
        table.project.declare("target", {"_version": "UInt128"})
        assert "Declare an integer of more bits that holds every Int64" in refused(table, "widen_version")
