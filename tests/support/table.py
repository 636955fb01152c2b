"""A table of the materialization for a test: it applies changes, and shows what it holds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tests.support.collapsing_project import CollapsingProject, Row
from tests.support.statements import STARTED, dying

COLUMNS = "id Int64, x Int64, _version Int64, _is_deleted Bool"


class Table:
    """The model `target`, which selects from the table `changes`.

    Args:
        project: contains the model.
        columns: of the changes, with their types.
        select: of the model.
        options: of the model. The key is `id` unless they name another.
    """

    def __init__(
        self, project: CollapsingProject, columns: str = COLUMNS, select: str = "select * from changes", **options: Any
    ) -> None:
        self.project = project
        self.query = project.query
        self.command = project.command
        self.operation = project.operation
        self.add_model = project.add_model
        self.add_view = project.add_view
        self.run = project.run
        self.columns = columns
        self.configure(select, **options)

    def configure(self, select: str = "select * from changes", **options: Any) -> None:
        """Rewrite the model with this select and only these options."""
        self.project.add_model("target", {"unique_key": "id", **options}, select)

    def stage(self, rows: Iterable[Row]) -> None:
        """Set the changes. A row may omit its last columns, which then get their types' defaults."""
        self.project.replace_rows("changes", self.columns, rows)

    def build(self, rows: Iterable[Row] = (), *arguments: str) -> dict[str, str]:
        """Apply changes, with all models that read the table. Return dbt's message for each model."""
        self.stage(rows)
        return self.project.build(*arguments)

    def apply(self, rows: Iterable[Row] = (), *arguments: str) -> str:
        """The same. Return dbt's message for the table."""
        return self.build(rows, *arguments)["target"]

    def fail(self, rows: Iterable[Row] = (), *arguments: str) -> str:
        """Apply changes, which must fail. Return the message."""
        self.stage(rows)
        outcome = self.project.run("--select", "target", *arguments)["target"]
        assert outcome.status == "error", outcome
        return outcome.message

    def die(self, rows: Iterable[Row], at: str | int = STARTED) -> None:
        """Let an apply die after the statement that contains this text, or before the one with this number."""
        with dying({"target": at}):
            assert "died here" in self.fail(rows)

    def live(self, columns: str = "* except _sign") -> list[Row]:
        """The live rows, ordered, as readers with FINAL see them."""
        return self.query(f"select {columns} from target final where _sign = 1 order by all")

    def check(self, rows: Iterable[Row], columns: str = "* except _sign") -> None:
        """Assert that these are the live rows: by FINAL, by the signs of each row, and in number."""
        expected = sorted(rows)
        assert self.live(columns) == expected
        nets = f"select {columns} from target group by all having sum(_sign) <> 0 order by all"
        assert self.query(nets) == expected
        assert self.query("select sum(_sign) from target") == [(len(expected),)]

    def tombstones(self) -> dict[Any, Any]:
        """The highest version at which each key was deleted."""
        return dict(self.query("select id, max(_version) from target__tombstones group by id"))

    def ledger(self, columns: str, status: str = "applied") -> list[Row]:
        """The ledger's rows for applies that have ended, in order."""
        return self.query(
            f"select {columns} from versioned_collapsing_ledger "
            f"where model = 'target' and status = '{status}' order by at"
        )
