"""The steps by which this technique is commonly explained, under the matching options.

Each step gives the rows that are stored after it, before any merge.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

import pytest

from tests.support.collapsing_project import Row
from tests.support.collapsing_projects import MakeProject
from tests.support.table import Table

COLUMNS = "id Int64, metric Nullable(Int64), _version Int64, _is_deleted Bool"
MakeRecipe = Callable[..., "Recipe"]


class Recipe(Table):
    """A table that follows the steps of a recipe."""

    def step(self, *changes: Row) -> list[Row]:
        """Apply changes. Return the rows that were written."""
        before = self._stored()
        self.apply(changes)
        self.command("system stop merges target")
        written = self._stored()
        for row in before:
            written.remove(row)
        return written

    def _stored(self) -> list[Row]:
        if self.query("exists table target") == [(0,)]:
            return []
        rows = self.query("select * from target")
        return sorted(rows, key=lambda row: (row[:-3], row[-2:]))  # by key, version and sign


@pytest.fixture
def recipe(make_project: MakeProject, request: pytest.FixtureRequest) -> MakeRecipe:
    schema = re.sub(r"\W+", "_", request.node.name.removeprefix("test_"))
    return partial(Recipe, make_project(f"recipe_{schema}"))


def test_rows_and_their_changes(recipe: MakeRecipe) -> None:
    table = recipe(COLUMNS)
    # Insert.
    assert table.step((1, 10, 1), (2, 20, 1)) == [(1, 10, 1, 1), (2, 20, 1, 1)]
    # The same again, and the same again with a new row.
    assert table.apply([(1, 10, 1), (2, 20, 1)]) == "2 rows: 2 duplicates"
    assert table.step((1, 10, 1), (3, 30, 1)) == [(3, 30, 1, 1)]
    # Update.
    assert table.step((1, 11, 2)) == [(1, 10, 1, -1), (1, 11, 2, 1)]
    # A late update.
    assert table.step((1, 9, 1), (3, 29, 0)) == []
    # A delete; its payload does not matter.
    assert table.step((2, None, 2, True)) == [(2, 20, 1, -1)]
    # A late copy of what was deleted stays deleted.
    assert table.apply([(2, 20, 1)]) == "1 row: 1 tombstoned"
    table.check([(1, 11, 2), (3, 30, 1)])


def test_a_replacement_with_a_delete_row_in_the_same_batch(recipe: MakeRecipe) -> None:
    """The stream ends the old row and begins the new one, in either order."""
    table = recipe(COLUMNS)
    table.step((1, 10, 1), (2, 20, 1))
    written = table.step((1, 10, 2, True), (1, 11, 3), (2, 22, 3), (2, 20, 2, True))
    assert written == [(1, 10, 1, -1), (1, 11, 3, 1), (2, 20, 1, -1), (2, 22, 3, 1)]


def test_a_replacement_whose_delete_row_has_the_version_of_the_old_row(recipe: MakeRecipe) -> None:
    table = recipe(COLUMNS)
    table.step((1, 10, 1))
    assert table.step((1, 10, 1, True), (1, 11, 2)) == [(1, 10, 1, -1), (1, 11, 2, 1)]


def test_a_replacement_whose_delete_row_has_no_version(recipe: MakeRecipe) -> None:
    """`delete_version: ignore`: within a batch, the upsert wins over the delete."""
    table = recipe(COLUMNS, delete_version="ignore")
    table.step((1, 10, 1), (2, 20, 1))
    written = table.step((1, None, 0, True), (1, 11, 2), (2, None, 0, True))
    assert written == [(1, 10, 1, -1), (1, 11, 2, 1), (2, 20, 1, -1)]


@pytest.mark.parametrize(
    ("policy", "new", "combined"),
    [
        *(("coalesce", None, 10), ("coalesce", 5, 5), ("greatest", 5, 10)),
        *(("least", 5, 5), ("first", 5, 10), ("latest", None, None)),
    ],
)
def test_the_new_row_is_combined_with_the_old_one(
    recipe: MakeRecipe, policy: str, new: int | None, combined: int | None
) -> None:
    table = recipe(COLUMNS, combine={"metric": policy})
    table.step((1, 10, 1))
    assert table.step((1, new, 2)) == [(1, 10, 1, -1), (1, combined, 2, 1)]


def test_columns_that_a_change_does_not_carry(recipe: MakeRecipe) -> None:
    """`_unset` keeps the stored value, whatever the change has in that column."""
    table = recipe(COLUMNS, "select *, if(metric is null, ['metric'], []) as _unset from changes")
    table.step((1, 10, 1))
    assert table.step((1, None, 2)) == [(1, 10, 1, -1), (1, 10, 2, 1)]


def test_a_key_of_two_columns(recipe: MakeRecipe) -> None:
    table = recipe(COLUMNS.replace(",", ", tenant String,", 1), unique_key=["id", "tenant"])
    table.step((1, "a", 10, 1), (1, "b", 20, 1))
    written = table.step((1, "a", 11, 2), (1, "b", None, 2, True))
    assert written == [(1, "a", 10, 1, -1), (1, "a", 11, 2, 1), (1, "b", 20, 1, -1)]


def test_in_chunks(recipe: MakeRecipe) -> None:
    """`chunks`: the change set is applied part by part."""
    table = recipe(COLUMNS, chunks=4)
    old, new = ([(key, 10 * key + n, n) for key in range(10)] for n in (1, 2))
    table.step(*old)
    assert table.step(*new) == sorted([*((*row, -1) for row in old), *((*row, 1) for row in new)])


def test_rows_that_move_to_another_partition(recipe: MakeRecipe) -> None:
    table = recipe(COLUMNS.replace(",", ", tenant String,", 1), partition_by="tenant")
    table.step((1, "a", 10, 1))
    assert table.step((1, "b", 10, 2)) == [(1, "a", 10, 1, -1), (1, "b", 10, 2, 1)]
    table.check([(1, "b", 10, 2)])
