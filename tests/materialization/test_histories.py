"""Random histories through the materialization, many side by side as keys of one table."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import date

import pytest
from dbt.adapters.clickhouse.httpclient import ChHttpClient
from dbt_common.exceptions import DbtDatabaseError

from tests.support.collapsing_project import CollapsingProject

KEYS = 400
RUNS = 10
STRUCTURE = (
    "tenant UInt32, id String, region String, amount Int64, note Nullable(String), day Date, "
    "_version UInt64, _is_deleted Bool"
)
MODEL = {
    "unique_key": ["tenant", "id"],
    "order_by": ["region", "tenant", "id"],
    "partition_by": "toYYYYMM(day)",
}
Payload = tuple[str, int, str | None, date]


@dataclass(frozen=True)
class Change:
    """An event of a key; deletes carry a payload too, which does not matter."""

    key: int
    version: int
    is_deleted: bool
    payload: Payload

    @property
    def row(self) -> tuple[object, ...]:
        return (*_key_columns(self.key), *self.payload, self.version, self.is_deleted)


@dataclass
class Truth:
    """What the table should hold, worked out change by change."""

    live: dict[int, tuple[int, Payload]] = field(default_factory=dict)
    deleted_at: dict[int, int] = field(default_factory=dict)

    def apply(self, changes: list[Change]) -> None:
        highest: dict[int, Change] = {}
        for change in changes:
            rival = highest.get(change.key)
            if rival is None or _rank(change) > _rank(rival):
                highest[change.key] = change
        for change in highest.values():
            self._apply(change)

    def _apply(self, change: Change) -> None:
        deleted_at = self.deleted_at.get(change.key, -1)
        live_version = self.live.get(change.key, (-1,))[0]
        if change.is_deleted:
            if change.version >= max(live_version, deleted_at):
                self.live.pop(change.key, None)
                self.deleted_at[change.key] = change.version
        elif change.version > max(live_version, deleted_at):
            self.live[change.key] = (change.version, change.payload)

    @property
    def rows(self) -> list[tuple[object, ...]]:
        return sorted(
            (
                (*_key_columns(key), *payload, version)
                for key, (version, payload) in self.live.items()
            ),
            key=repr,
        )


def _rank(change: Change) -> tuple[int, bool]:
    return change.version, change.is_deleted


def _key_columns(key: int) -> tuple[int, str]:
    return key % 7, f"k{key}"


def histories(chance: random.Random) -> Iterator[list[Change]]:
    """The change sets of the runs: new events, most in order, some late; some of old ones again."""
    sent: list[Change] = []
    late: list[Change] = []
    version = dict.fromkeys(range(KEYS), 0)
    for _ in range(RUNS):
        batch: list[Change] = []
        for key in chance.sample(range(KEYS), KEYS // 2):
            for _ in range(chance.choice([1, 1, 1, 2, 3])):
                version[key] += chance.choice([1, 1, 2])
                change = Change(
                    key,
                    version[key],
                    chance.random() < 0.2,
                    (
                        chance.choice(["EU", "US", "AP"]),
                        chance.randrange(100),
                        chance.choice([None, "a"]),
                        date(2025, chance.randrange(1, 5), 1),
                    ),
                )
                (late if chance.random() < 0.1 else batch).append(change)
        chance.shuffle(late)
        batch += late[: len(late) // 2]
        del late[: len(late) // 2]
        batch += chance.sample(sent, min(len(sent), KEYS // 4))
        sent += batch
        batch += chance.sample(batch, len(batch) // 10)
        chance.shuffle(batch)
        yield batch


def _prepare(project: CollapsingProject) -> None:
    project.add_model("target", MODEL, "select * from changes")
    project.replace_rows("changes", STRUCTURE, [])
    assert project.run()["target"].status == "success"
    project.command(
        "create table sums (region String, amount Int64, n Int64) "
        "engine = SummingMergeTree order by region"
    )


def _stage(project: CollapsingProject, changes: list[Change]) -> None:
    project.replace_rows("changes", STRUCTURE, [change.row for change in changes])


def _check(project: CollapsingProject, truth: Truth) -> None:
    columns = "tenant, id, region, amount, note, day, _version"
    live = project.query(f"select {columns} from target final where _sign = 1")
    assert sorted(live, key=repr) == truth.rows
    net = project.query(
        f"select {columns}, sum(_sign) as net from target group by {columns} having net <> 0"
    )
    assert {row[-1] for row in net} <= {1}
    assert sorted((row[:-1] for row in net), key=repr) == truth.rows


@pytest.mark.parametrize("seed", [1, 2])
def test_random_histories(make_project: Callable[[str], CollapsingProject], seed: int) -> None:
    chance = random.Random(seed)
    project = make_project(f"histories_{seed}")
    _prepare(project)
    project.command(
        "create materialized view to_sums to sums as "
        "select region, sum(amount * _sign) as amount, sum(_sign) as n from target group by region"
    )
    truth = Truth()
    for changes in histories(chance):
        _stage(project, changes)
        outcome = project.run()["target"]
        assert outcome.status == "success", outcome.message
        truth.apply(changes)
        _check(project, truth)
        in_view = project.query(
            "select region, sum(amount), sum(n) as c from sums group by region having c <> 0 order by 1"
        )
        in_table = project.query(
            "select region, sum(amount * _sign), sum(_sign) as c from target group by region having c <> 0 order by 1"
        )
        assert in_view == in_table
        if chance.random() < 0.5:
            project.command("optimize table target final")
    assert len(truth.live) > KEYS / 3
    assert truth.deleted_at


def _applies_begun(project: CollapsingProject) -> int:
    query = "select count() from versioned_collapsing_ledger where status = 'started'"
    return int(project.query(query)[0][0])


def test_a_run_that_dies_between_two_statements_is_completed_by_the_next(
    make_project: Callable[[str], CollapsingProject], monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(3)
    project = make_project("killed")
    _prepare(project)
    truth = Truth()
    stock = ChHttpClient.command
    writes: list[str] = []
    deadly = -1

    def command(client: ChHttpClient, sql: str, **kwargs: object) -> object:
        if "__dbt_" in sql or "insert into" in sql:
            writes.append(sql)
            if len(writes) == deadly:
                raise DbtDatabaseError("killed here")
        return stock(client, sql, **kwargs)  # type: ignore[no-untyped-call]

    monkeypatch.setattr(ChHttpClient, "command", command)
    deaths = set()
    batches = histories(chance)
    for attempt in range(1, 40):
        changes = next(batches, None)
        if changes is None:
            batches = histories(random.Random(attempt))
            changes = next(batches)
        _stage(project, changes)
        begun = _applies_begun(project)
        writes, deadly = [], attempt
        outcome = project.run()["target"]
        deadly = -1
        if outcome.status == "success":
            truth.apply(changes)
            break
        assert "killed here" in outcome.message
        deaths.add(attempt)
        # The next run brings other changes: what the dead run had begun must be completed first,
        # or not have begun at all.
        if _applies_begun(project) > begun:
            truth.apply(changes)
        _stage(project, [])
        outcome = project.run()["target"]
        assert outcome.status == "success", outcome.message
        _check(project, truth)
    _check(project, truth)
    assert len(deaths) >= 8, "the run had fewer statements than it should"
