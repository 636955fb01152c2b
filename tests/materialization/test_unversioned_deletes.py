"""`delete_version: ignore`: deletes have no version, and batches come in order."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

import pytest

from tests.support.collapsing_project import CollapsingProject, Row
from tests.support.collapsing_projects import MakeProject
from tests.support.oracle import Event, Oracle

STRUCTURE = "id Int64, x Int64, top Int64, _version Nullable(Int64), _is_deleted Bool, _batch UInt64"
CONFIG: dict[str, Any] = {"unique_key": "id", "delete_version": "ignore", "combine": {"top": "greatest"}}
LIVE = "select id, x, top, _version from target final where _sign = 1 order by id"


def apply(project: CollapsingProject, rows: list[Row]) -> str:
    project.replace_rows("changes", STRUCTURE, rows)
    outcome = project.run()["target"]
    assert outcome.status == "success", outcome.message
    return outcome.message


def upsert(key: int, version: int, batch: int, x: int = 0, top: int = 0) -> Row:
    return key, x, top, version, False, batch


def delete(key: int, batch: int) -> Row:
    return key, 0, 0, None, True, batch


def event(row: Row) -> Event:
    key, x, top, version, is_deleted, batch = row
    return Event(key, version, (x, top), is_deleted=is_deleted, batch=batch)


def batches(chance: random.Random, keys: int, count: int) -> list[list[Row]]:
    """Batches of upserts and deletes; some upserts are late, and some versions repeat."""
    made: list[list[Row]] = []
    version = dict.fromkeys(range(keys), 0)
    for batch in range(1, count + 1):
        rows: list[Row] = []
        for key in chance.sample(range(keys), keys * 2 // 3):
            for _ in range(chance.choice([1, 1, 2])):
                if chance.random() < 0.35:
                    rows.append(delete(key, batch))
                    continue
                version[key] += 1
                late = version[key] - chance.choice([0, 0, 0, 1, 3])
                # The payload follows from the version, because equal versions would otherwise conflict.
                rows.append(upsert(key, max(late, 1), batch, max(late, 1) * 7, -max(late, 1) % 5))
        chance.shuffle(rows)
        made.append(rows)
    return made


def test_histories_give_the_same_however_batches_are_cut_into_runs(make_project: MakeProject) -> None:
    for seed, cuts in enumerate([[0, 12], [0, 1, 3, 4, 9, 12]]):
        chance = random.Random(7)
        project = make_project(f"ignore_{seed}")
        project.add_model("target", {"unique_key": "id", "delete_version": "ignore"}, "select * from changes")
        oracle = Oracle(deletes_have_versions=False)
        made = batches(chance, 120, 12)
        for start, end in pairwise(cuts):
            rows = [row for batch in made[start:end] for row in batch]
            oracle.apply(map(event, rows))
            apply(project, rows)
            assert project.query(LIVE) == sorted(oracle.rows), (cuts, start)
        assert len(oracle.live) > 30
        assert len(oracle.deleted) > 30
        remembered: dict[int, int] = dict(project.query("select id, max(_version) from target__tombstones group by id"))
        assert {key: remembered[key] for key in oracle.deleted} == oracle.deleted


@pytest.fixture(scope="module")
def project(make_project: MakeProject) -> CollapsingProject:
    project = make_project("ignore_cases")
    project.add_model("target", CONFIG, "select * from changes")
    apply(project, [upsert(key, 5, 1, x=5, top=5) for key in range(1, 9)])
    apply(
        project,
        [
            delete(1, 2),
            *(delete(2, 2), upsert(2, 6, 3, x=6, top=1)),
            *(delete(3, 2), upsert(3, 4, 3)),
            *(delete(4, 2), upsert(4, 7, 2, x=7, top=1)),
            *(upsert(5, 8, 2), delete(5, 3)),
            delete(90, 2),
        ],
    )
    return project


@pytest.mark.parametrize(
    ("case", "key", "live"),
    [
        ("a delete cancels what is live", 1, None),
        ("an upsert of a later batch begins anew", 2, (6, 1, 6)),
        ("an upsert at or below what was deleted stays dead", 3, None),
        ("an upsert beats a delete of its batch and combines", 4, (7, 5, 7)),
        ("a delete ends the upserts of earlier batches", 5, None),
        ("others stay", 6, (5, 5, 5)),
        ("a delete of an absent key does nothing", 90, None),
    ],
)
def test_case(project: CollapsingProject, case: str, key: int, live: tuple[int, int, int] | None) -> None:
    rows = {row[0]: row[1:] for row in project.query(LIVE)}
    assert rows.get(key) == live, case


def test_the_tombstone_takes_the_version_that_died(project: CollapsingProject) -> None:
    remembered: dict[int, int] = dict(project.query("select id, max(_version) from target__tombstones group by id"))
    assert (remembered[1], remembered[5]) == (5, 8)
    assert 90 not in remembered


def test_an_upsert_without_a_version_or_batch_stops_the_run(make_project: MakeProject) -> None:
    project = make_project("ignore_nulls")
    project.add_model("target", CONFIG, "select * from changes")
    structure = STRUCTURE.replace("_batch UInt64", "_batch Nullable(UInt64)")
    project.replace_rows("changes", structure, [(1, 1, 1, None, False, 1), (2, 1, 1, 1, False, None)])
    message = project.run()["target"].message
    assert "1 row: _version is null" in message
    assert "1 row: _batch is null" in message


def test_deletes_without_version_go_on_after_a_truncate(make_project: MakeProject) -> None:
    project = make_project("ignore_truncate")
    project.add_model(
        "target", {"unique_key": "id", "delete_version": "ignore"}, "select *, id = 0 as _is_truncate from changes"
    )
    apply(project, [upsert(1, 5, 1), upsert(2, 15, 1)])
    apply(project, [upsert(0, 10, 2)])
    assert project.query("select id from target final where _sign = 1") == [(2,)]
    apply(project, [delete(2, 3), upsert(3, 9, 3), upsert(4, 11, 3)])
    assert project.query("select id from target final where _sign = 1") == [(4,)]
