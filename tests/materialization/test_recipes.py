"""The steps by which this technique is commonly shown, under the options that match them.

Each step gives the rows that are stored after it, before anything was merged.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.collapsing_project import CollapsingProject, Row
from tests.support.collapsing_projects import MakeProject

STRUCTURE = "id Int64, tenant String, metric Nullable(Int64), _version Int64, _is_deleted Bool"
SELECT = "select id, metric, _version, _is_deleted from changes"


class Recipe:
    """A table, and the changes that are applied to it step by step."""

    def __init__(self, project: CollapsingProject, config: dict[str, Any], sql: str) -> None:
        self.project = project
        project.add_model("target", config, sql)

    def step(self, *changes: Row) -> tuple[str, list[Row]]:
        """What dbt says of the step, and the rows that it wrote."""
        before = self._stored()
        self.project.replace_rows("changes", STRUCTURE, changes)
        outcome = self.project.run()["target"]
        assert outcome.status == "success", outcome.message
        self.project.command("system stop merges target")
        written = self._stored()
        for row in before:
            written.remove(row)
        return outcome.message, written

    def live(self) -> list[Row]:
        return self.project.query("select * except (_sign, _version) from target final where _sign = 1 order by all")

    def _stored(self) -> list[Row]:
        if self.project.query("exists table target") == [(0,)]:
            return []
        rows = self.project.query("select * from target")
        return sorted(rows, key=lambda row: (row[:-3], row[-2:]))  # By key, version and sign.


@pytest.fixture
def recipe(make_project: MakeProject, request: pytest.FixtureRequest) -> Callable[..., Recipe]:
    def make(sql: str = SELECT, **config: Any) -> Recipe:
        schema = re.sub(r"\W+", "_", request.node.name.removeprefix("test_"))
        return Recipe(make_project(f"recipe_{schema}"), {"unique_key": "id", **config}, sql)

    return make


def test_rows_and_their_changes(recipe: Callable[..., Recipe]) -> None:
    table = recipe()
    # Insert.
    assert table.step((1, "", 10, 1, False), (2, "", 20, 1, False))[1] == [(1, 10, 1, 1), (2, 20, 1, 1)]
    # The same again, and the same again with a new row.
    assert table.step((1, "", 10, 1, False), (2, "", 20, 1, False)) == ("2 rows: 2 duplicates", [])
    assert table.step((1, "", 10, 1, False), (3, "", 30, 1, False))[1] == [(3, 30, 1, 1)]
    # Update.
    assert table.step((1, "", 11, 2, False))[1] == [(1, 10, 1, -1), (1, 11, 2, 1)]
    # An update that comes late.
    assert table.step((1, "", 9, 1, False), (3, "", 29, 0, False))[1] == []
    # Delete; payload does not matter.
    assert table.step((2, "", None, 2, True))[1] == [(2, 20, 1, -1)]
    # A late copy of what was deleted stays dead.
    assert table.step((2, "", 20, 1, False)) == ("1 row: 1 tombstoned", [])
    assert table.live() == [(1, 11), (3, 30)]


def test_a_replacement_with_a_delete_row_in_the_same_batch(recipe: Callable[..., Recipe]) -> None:
    """The stream ends the old row and begins the new one, in either order."""
    table = recipe()
    table.step((1, "", 10, 1, False), (2, "", 20, 1, False))
    _, written = table.step((1, "", 10, 2, True), (1, "", 11, 3, False), (2, "", 22, 3, False), (2, "", 20, 2, True))
    assert written == [(1, 10, 1, -1), (1, 11, 3, 1), (2, 20, 1, -1), (2, 22, 3, 1)]


def test_a_replacement_whose_delete_row_has_the_version_of_the_old_row(recipe: Callable[..., Recipe]) -> None:
    table = recipe()
    table.step((1, "", 10, 1, False))
    assert table.step((1, "", 10, 1, True), (1, "", 11, 2, False))[1] == [(1, 10, 1, -1), (1, 11, 2, 1)]


def test_a_replacement_whose_delete_row_has_no_version(recipe: Callable[..., Recipe]) -> None:
    """`delete_version: ignore`: within a batch the upsert beats the delete."""
    table = recipe(delete_version="ignore")
    table.step((1, "", 10, 1, False), (2, "", 20, 1, False))
    _, written = table.step((1, "", None, 0, True), (1, "", 11, 2, False), (2, "", None, 0, True))
    assert written == [(1, 10, 1, -1), (1, 11, 2, 1), (2, 20, 1, -1)]


@pytest.mark.parametrize(
    ("policy", "new", "combined"),
    [
        ("coalesce", None, 10),
        ("coalesce", 5, 5),
        ("greatest", 5, 10),
        ("least", 5, 5),
        ("first", 5, 10),
        ("latest", None, None),
    ],
)
def test_the_new_row_is_combined_with_the_old_one(
    recipe: Callable[..., Recipe], policy: str, new: int | None, combined: int | None
) -> None:
    table = recipe(combine={"metric": policy})
    table.step((1, "", 10, 1, False))
    assert table.step((1, "", new, 2, False))[1] == [(1, 10, 1, -1), (1, combined, 2, 1)]


def test_columns_that_a_change_does_not_carry(recipe: Callable[..., Recipe]) -> None:
    """`_unset` keeps the stored value, whatever the change has in its place."""
    table = recipe("select id, metric, _version, if(metric is null, ['metric'], []) as _unset from changes")
    table.step((1, "", 10, 1, False))
    assert table.step((1, "", None, 2, False))[1] == [(1, 10, 1, -1), (1, 10, 2, 1)]


def test_a_key_of_two_columns(recipe: Callable[..., Recipe]) -> None:
    table = recipe("select * from changes", unique_key=["id", "tenant"])
    table.step((1, "a", 10, 1, False), (1, "b", 20, 1, False))
    _, written = table.step((1, "a", 11, 2, False), (1, "b", None, 2, True))
    assert written == [(1, "a", 10, 1, -1), (1, "a", 11, 2, 1), (1, "b", 20, 1, -1)]


def test_in_chunks(recipe: Callable[..., Recipe]) -> None:
    """`chunks`: the change set is applied part by part."""
    table = recipe(chunks=4)
    old, new = ([(key, 10 * key + n, n) for key in range(10)] for n in (1, 2))
    table.step(*((key, "", metric, 1, False) for key, metric, _ in old))
    _, written = table.step(*((key, "", metric, 2, False) for key, metric, _ in new))
    assert written == sorted([*((*row, -1) for row in old), *((*row, 1) for row in new)])


def test_rows_that_move_to_another_partition(recipe: Callable[..., Recipe]) -> None:
    table = recipe("select id, tenant, metric, _version from changes", partition_by="tenant")
    table.step((1, "a", 10, 1, False))
    assert table.step((1, "b", 10, 2, False))[1] == [(1, "a", 10, 1, -1), (1, "b", 10, 2, 1)]
    assert table.live() == [(1, "b", 10)]
