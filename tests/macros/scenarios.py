"""Applies, each with its history, and how ClickHouse is made to answer in each."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dbt.adapters.clickhouse.connections import get_db_client
from dbt_common.exceptions import DbtDatabaseError

from tests.macros.harness import SCHEMA, Project, Recorder, Recording

LOCK_SECONDS = 1
RECORDINGS = Path(__file__).parent / "recordings"

STRUCTURE = "id Int64, region String, amount Nullable(Int64), _version UInt64, _is_deleted Bool"
CONFIG = {"unique_key": "id", "partition_by": "region"}

Change = tuple[int, str, int | None, int, bool]
FIRST: tuple[Change, ...] = ((1, "EU", 10, 1, False), (2, "US", 20, 1, False))
UPDATE: Change = (1, "US", 11, 2, False)


@dataclass(frozen=True)
class Scenario:
    """One apply.

    Args:
        name: of its model and recording.
        changes: the change set.
        before: the change sets that were applied before.
        config: more options of the model.
        dies_before: pattern of the statement before which the last of those applies died.
        planted: values of a row that somebody else has written into the table.
        structure: of the change set.
        select: what the model selects from it.
        view: the select of a view of the model. The view is then what is run, after each earlier apply too.
    """

    name: str
    changes: tuple[tuple[Any, ...], ...] = ()
    before: tuple[tuple[tuple[Any, ...], ...], ...] = ()
    config: Mapping[str, Any] = field(default_factory=dict)
    dies_before: str = ""
    planted: str = ""
    structure: str = STRUCTURE
    select: str = "*"
    view: str = ""

    @property
    def schema(self) -> str:
        return f"{SCHEMA}_{self.name}"

    @property
    def model(self) -> str:
        """The model to run."""
        return f"{self.name}_sums" if self.view else self.name

    @property
    def path(self) -> Path:
        return RECORDINGS / f"{self.name}.yml"

    @property
    def hour(self) -> int:
        """The hour at which it runs: each apply has its own."""
        return len(self.before)

    def models(self, in_meta: bool = False) -> dict[str, str]:
        """The models by name. In ClickHouse the table is `orders`, in a schema of its own.

        Args:
            in_meta: whether the models have their options in `meta`.
        """
        models = {
            self.name: self._config("versioned_collapsing", "orders", {**CONFIG, **self.config}, in_meta)
            + f"select {self.select} from {self.schema}.changes\n"
        }
        if self.view:
            options = {"order_by": "region"}
            models[self.model] = (
                self._config("versioned_collapsing_view", "orders_sums", options, in_meta) + f"{self.view}\n"
            )
        return models

    def _config(self, materialized: str, alias: str, options: Mapping[str, Any], in_meta: bool) -> str:
        of_dbt = {name: value for name, value in options.items() if name == "full_refresh"}
        own = {name: value for name, value in options.items() if name not in of_dbt}
        config = {"materialized": materialized, "alias": alias, "schema": self.name, **of_dbt}
        config |= {"meta": own} if in_meta else own
        return f"{{{{ config(**{config!r}) }}}}\n"

    def record(self, project: Project) -> Recording:
        """Record ClickHouse's answers to the apply; the project has its address."""
        _send(project, f"create database {self.schema}")
        for hour, changes in enumerate(self.before):
            self._land(project, changes)
            is_last = hour == self.hour - 1
            self._run(project, self.name, hour, self.dies_before if is_last else "")
            if self.view and not is_last:
                self._run(project, self.model, hour)
        if self.planted:
            names = "id, region, amount, _version, _sign"
            _send(project, f"insert into {self.schema}.orders ({names}) values {self.planted}")
        if self.dies_before:
            time.sleep(LOCK_SECONDS + 1.5)  # Then its lock is taken over at once.
        self._land(project, self.changes)
        return self._run(project, self.model, self.hour)

    def _run(self, project: Project, model: str, hour: int, dies_before: str = "") -> Recording:
        recorder = Recorder(_client(project), dies_before)
        try:
            project.run(model, recorder, hour)
        except DbtDatabaseError as error:
            if not dies_before or "died before" not in str(error):
                raise
        else:
            said = "\n".join(recorder.recording.statements)
            assert not dies_before, f"{dies_before} is not among these:\n{said}"
        return recorder.recording

    def _land(self, project: Project, changes: tuple[tuple[Any, ...], ...]) -> None:
        table = f"{self.schema}.changes"
        _send(project, f"create or replace table {table} ({self.structure}) engine = Memory")
        if changes:
            rows = ", ".join(str(row).replace("None", "null") for row in changes)
            _send(project, f"insert into {table} values {rows}")


def _client(project: Project) -> Any:
    credentials: Any = project.config.credentials
    return get_db_client(credentials)


def _send(project: Project, sql: str) -> None:
    client = _client(project)
    client.command(sql)
    client.close()


ORDERS = "select region, sum(amount * _sign) as amount from {{{{ ref('{}') }}}} group by region"

ATTACH = "alter table attach partition orders, .*"
INSERT = "insert into orders, .*"

SCENARIOS = [
    Scenario("first_run", FIRST),
    Scenario("update", (UPDATE,), (FIRST,)),
    Scenario("duplicate", FIRST[:1], (FIRST,)),
    Scenario("delete", ((2, "US", 20, 2, True),), (FIRST,)),
    Scenario("nothing", (), (FIRST,)),
    Scenario("rebalance", (UPDATE,), (FIRST,), planted="(1, 'EU', 9, 0, 1)"),
    Scenario("combine", (UPDATE,), (FIRST,), {"combine": {"amount": "greatest"}}),
    Scenario("journal", (UPDATE,), (FIRST,), {"publish": "journal"}),
    Scenario("chunks", (UPDATE, (2, "US", 21, 2, False)), (FIRST,), {"chunks": 2}),
    Scenario("ignored_delete_version", (UPDATE,), (FIRST,), {"delete_version": "ignore"}),
    Scenario("recovery", (), (FIRST, (UPDATE,)), dies_before=ATTACH),
    Scenario(
        "recovery_of_chunks",
        (),
        (FIRST, (UPDATE,)),
        {"chunks": 2},
        dies_before="insert into versioned_collapsing_ledger, .*",
    ),
    Scenario("recovery_of_a_journal", (), (FIRST, (UPDATE,)), {"publish": "journal"}, dies_before=INSERT),
    Scenario("full_refresh", FIRST, (FIRST,), {"full_refresh": True}),
    Scenario("feed", (UPDATE,), (FIRST,), {"change_feed": True}),
    Scenario("view_fill", FIRST, (FIRST,), view=ORDERS.format("view_fill")),
    Scenario("view_refresh", (), (FIRST, (UPDATE,)), view=ORDERS.format("view_refresh")),
]
