"""`remember_deletes`: for ever, for a while, or not."""

from __future__ import annotations

from tests.support.collapsing_project import CollapsingProject, Row
from tests.support.collapsing_projects import MakeProject

STRUCTURE = "id Int64, _version Int64, _is_deleted Bool"
LIVE = "select id, _version from target final where _sign = 1 order by id"


def configure(project: CollapsingProject, **config: object) -> None:
    project.add_model("target", {"unique_key": "id", **config}, "select * from changes")


def apply(project: CollapsingProject, rows: list[Row], *arguments: str) -> str:
    project.replace_rows("changes", STRUCTURE, rows)
    outcome = project.run(*arguments)["target"]
    assert outcome.status == "success", outcome.message
    return outcome.message


def ttl(project: CollapsingProject) -> str:
    query = "select extract(engine_full, ' TTL (.*) SETTINGS') from system.tables where database = '{}' and name = 'target__tombstones'"
    return str(project.query(query.format(project.schema))[0][0])


def test_without_memory_a_late_change_revives_a_deleted_key(make_project: MakeProject) -> None:
    project = make_project("tombstones_false")
    configure(project, remember_deletes=False)
    apply(project, [(1, 5, False)])
    apply(project, [(1, 6, True), (2, 6, True)])
    assert project.query(LIVE) == []
    apply(project, [(1, 4, False), (2, 4, False)])
    assert project.query(LIVE) == [(1, 4), (2, 4)]
    assert ("target__tombstones",) not in project.query("show tables")


def test_a_tombstone_expires(make_project: MakeProject) -> None:
    project = make_project("tombstones_interval")
    configure(project, remember_deletes="2 days")
    apply(project, [(1, 5, False)])
    assert ttl(project) == "_remembered_at + toIntervalDay(2)"
    project.command("system stop ttl merges target__tombstones")
    project.command(
        "insert into target__tombstones (id, _version, _remembered_at) values "
        "(3, 9, now() - interval 47 hour), (4, 9, now() - interval 49 hour)"
    )
    assert "1 tombstoned" in apply(project, [(3, 8, False), (4, 8, False), (1, 6, True)])
    assert project.query(LIVE) == [(4, 8)]
    assert "1 tombstoned" in apply(project, [(1, 6, False)])


def test_the_option_can_be_changed_on_a_table_that_exists(make_project: MakeProject) -> None:
    project = make_project("tombstones_change")
    configure(project, remember_deletes=False)
    apply(project, [(1, 5, True)])
    configure(project)
    apply(project, [(2, 5, True)])
    apply(project, [(1, 4, False), (2, 4, False)])
    assert project.query(LIVE) == [(1, 4)]
    for interval, kept in (
        ("30 days", "_remembered_at + toIntervalDay(30)"),
        ("1 Month", "_remembered_at + toIntervalMonth(1)"),
    ):
        configure(project, remember_deletes=interval)
        apply(project, [])
        assert ttl(project) == kept
    configure(project, remember_deletes=True)
    apply(project, [(2, 4, False)])
    assert ttl(project) == ""
    assert project.query(LIVE) == [(1, 4)]


def test_a_full_refresh_without_memory_drops_what_was_remembered(make_project: MakeProject) -> None:
    project = make_project("tombstones_refresh")
    configure(project)
    apply(project, [(1, 5, True)])
    configure(project, remember_deletes=False)
    apply(project, [(1, 3, False)], "--full-refresh")
    assert ("target__tombstones",) not in project.query("show tables")
    configure(project)
    apply(project, [(1, 4, False)])
    assert project.query(LIVE) == [(1, 4)]
