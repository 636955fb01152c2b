"""What an apply sends to ClickHouse: each statement, in order, without an engine.

`recordings/*.yml` has the conversation of each scenario: statements in short form, with ClickHouse's answers. A change
that sends other statements fails here. If it is intended, `pytest tests/macros --record` asks a ClickHouse again, and
the difference of the recordings is what to review.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest
from dbt_common.invocation import get_invocation_id

from tests.macros.conftest import Sent
from tests.macros.harness import Answer, Project, Recording, Replay, in_short
from tests.macros.scenarios import RECORDINGS, SCENARIOS, Scenario

WRITES = ("alter table attach partition orders,", "insert into orders,", "exchange tables")
STARTS = "insert into versioned_collapsing_ledger"
LOCKED = "create table if not exists orders__dbt_lock"
UNLOCKED = ("drop table if exists orders__dbt_signed, orders__dbt_lock", "drop table if exists orders__dbt_lock")
RENEWS = "insert into orders__dbt_lock"
QUICK = re.compile(
    r"create |drop |truncate |exchange |rename |alter table (attach|modify) |insert into versioned_collapsing_ledger|describe "
    r"|select .*(system\.|versioned_collapsing_ledger)"
)
MOST = 20  # statements of an apply of one update, with those of dbt itself


@pytest.fixture(params=SCENARIOS, ids=lambda scenario: scenario.name)
def scenario(request: pytest.FixtureRequest) -> Scenario:
    found: Scenario = request.param
    return found


def test_statements(sent: Sent, scenario: Scenario) -> None:
    assert [in_short(sql) for sql in sent(scenario)] == Recording.load(scenario.path).statements


def test_every_recording_is_of_a_scenario() -> None:
    assert set(RECORDINGS.iterdir()) == {scenario.path for scenario in SCENARIOS}


def test_an_update_sends_few_statements() -> None:
    assert len(Recording.load(RECORDINGS / "update.yml").statements) <= MOST


def test_it_holds_the_lock_while_it_changes_anything(sent: Sent, scenario: Scenario) -> None:
    statements = [in_short(sql) for sql in sent(scenario)]
    writing = [at for at, said in enumerate(statements) if said.startswith(WRITES)]
    assert statements[-1] in UNLOCKED
    assert all(statements.index(LOCKED) < at for at in writing)


def test_the_ledger_knows_before_rows_are_written(sent: Sent, scenario: Scenario) -> None:
    """The next run completes an apply only if the ledger says that it has begun, as it must for one that died."""
    statements = [in_short(sql) for sql in sent(scenario)]
    for at, said in enumerate(statements):
        if said.startswith(WRITES[:2]):
            before = statements[:at]
            assert scenario.dies_before or any(each.startswith(STARTS) for each in before), said


class SlowReplay(Replay):
    """Once the run holds its lock, each statement takes a minute: it has not just looked at its lock."""

    holder: Answer | None = None

    def _answer(self, sql: str) -> Answer:
        self.minutes += self.holder is not None
        is_look = "name = 'orders__dbt_lock'" in sql and "as seen_at" in sql
        if self.holder and (in_short(sql) == RENEWS or (is_look and "'' as also" in sql)):
            self.sent.append(sql)
            return self.holder
        if self.holder and in_short(sql).startswith("drop table if exists"):
            self.sent.append(sql)
            return {"columns": [], "rows": []}
        answer = super()._answer(sql)
        if is_look and answer["rows"]:
            is_its_own = answer["rows"][0][answer["columns"].index("invocation_id")] == str(get_invocation_id())
            self.holder = answer if is_its_own else None
        return answer


def test_a_slow_run_looks_at_its_lock_before_it_changes_anything(project: Project, scenario: Scenario) -> None:
    """Another run may have taken the lock over, and use the same staged tables. `tests/model` shows what happens if a
    run does not look. Statements that are quick can follow one look together."""
    replay = project.replay(scenario.model, Recording.load(scenario.path), scenario.hour, SlowReplay)
    statements = [in_short(sql) for sql in replay.sent]
    has_looked = False
    for said in statements[statements.index(RENEWS) :]:
        assert has_looked or said.startswith(("select ", "with ", "describe ", RENEWS)), "\n".join(statements)
        has_looked = said == RENEWS or (has_looked and bool(QUICK.match(said)))
    assert statements[-1] in UNLOCKED


@pytest.mark.parametrize(("hours", "is_young"), [(0, True), (1, False), (-1, False)])
def test_a_lock_is_young_by_no_clock_that_was_set_back(project: Project, hours: int, is_young: bool) -> None:
    apply = {"started_at": datetime.now(UTC) - timedelta(hours=hours)}
    assert project.rendered("is_lock_young", apply=apply) == str(is_young)


@pytest.mark.parametrize("name", ["duplicate", "nothing"])
def test_a_change_set_that_changes_nothing_writes_nothing(sent: Sent, name: str) -> None:
    (scenario,) = (scenario for scenario in SCENARIOS if scenario.name == name)
    assert not [sql for sql in sent(scenario) if in_short(sql).startswith(WRITES)]


@pytest.mark.parametrize(
    ("sql", "short"),
    [
        ("/* dbt */ select a,\n b from `it_x`.`t` where c in (select d from it_x.u)", "select a, b .. from t, u"),
        ("create table if not exists it_x.t (a Int8) engine = Memory", "create table if not exists t"),
        ("insert into `it_x`.`t` (a) select * from it_x.t__dbt_input", "insert into t, t__dbt_input"),
        ("alter table `it_x`.`t` modify comment 'x'", "alter table modify comment t"),
        ("exchange tables it_x.a and it_x.b", "exchange tables a, b"),
        ("select version()", "select version()"),
    ],
)  # fmt: skip
def test_a_statement_in_short(sql: str, short: str) -> None:
    assert in_short(sql) == short
