"""Full extracts are compared with what is stored; otherwise the model stops, with a command that helps."""

from __future__ import annotations

import re
import shlex
import shutil
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from tests.change_sets.cases import at, compact, iso
from tests.support.change_set_project import ChangeSetProject, Situation
from tests.support.commands import Outcome, variables
from tests.support.shop import Row

Extract = Sequence[tuple[int, str | None, str | None]]

ONE: Extract = [(1, "a", None), (2, "b", None), (3, "c", "x"), (4, None, "d")]
TWO: Extract = [(1, None, "a"), (2, "b", None), (3, "c", "x"), (5, "", None)]
HALF: Extract = ONE[:1]

# For each: extract 1, which is applied; what then happens to it; extract 2; and the model's message, if any.
STOPS: Mapping[str, str] = {
    "removed": "extract 1, which is stored in removed, is no longer in the landing zone",
    "replaced": "extract 1, which is stored in replaced, has changed since it was applied",
    "clock": "Extract 2 has changes at version 2024-12-31 23:59:59, which is not above 2025-01-01 00:00:01",
    "mass": "Extract 2 lacks 3 of the 4 stored rows, a greater share than max_deletes (0.1)",
    "tenth": "Extract 2 lacks 13 of the 120 stored rows, a greater share than max_deletes (0.1)",
    "nothing": "Extract 2 has no rows, so it would delete every row",
    "keyless": "Extract 2 has lines whose key cannot be read, so the deleted rows are unknown",
}
MANY: Extract = [(key, "a", None) for key in range(120)]
GOOD = {
    "moved": TWO,
    "blanks": HALF,
    "same": ONE,
    "two_targets": TWO,
    "older": ONE,
    "few": MANY[:108],
    "small": ONE[2:],
}
FIRST = {"tenth": MANY, "few": MANY}


def situation(name: str) -> Situation:
    version = "_batch" if name == "blanks" else "at"
    share = ", max_deletes=0.9" if name == "blanks" else ""
    columns = {"id": "bigint", "phone": "string", "mobile": "string", "at": "timestamp"}
    types = {"id": "Int64", "phone": "Nullable(String)", "mobile": "Nullable(String)"}
    if name == "blanks":
        del columns["at"]
    return Situation(
        name,
        f"parse_upserts(SOURCE, key=['id'], columns={columns}, version='{version}')",
        f"snapshot_changes(EVENTS, key=['id'], version='{version}'{share})",
        types,
        {"unique_key": "id"},
    )


def lines(name: str, rows: Extract, seconds: float) -> list[str]:
    time = {} if name == "blanks" else {"at": iso(at(seconds))}
    found = [compact({"id": key, "phone": phone, "mobile": mobile, **time}) for key, phone, mobile in rows]
    return [*found[:1], "", "null", *found[1:]]


# Pairs of rows, all of which differ from each other.
DIGESTS = """{{ config(materialized='table') }}
select number, {{ get_digest_sql(['a', 'b', 'c', 'd', 'e'], {'a': 'string', 'b': 'boolean', 'c': 'double', 'd': 'array<string>', 'e': 'map<string,struct<x:timestamp>>'}) }} as digest
from values
    (1, 'x', cast(null as boolean), 0D, array('p', null), map('k', named_struct('x', timestamp '2025-01-01 00:00:00.000001'))),
    (2, null, true, 0D, array('p', null), map('k', named_struct('x', timestamp '2025-01-01 00:00:00.000001'))),
    (3, null, null, 0D, array('p', null), map('k', named_struct('x', timestamp '2025-01-01 00:00:00.000001'))),
    (4, '', null, 0D, array('p', null), map('k', named_struct('x', timestamp '2025-01-01 00:00:00.000001'))),
    (5, 'x', false, 0D, array('p', null), map('k', named_struct('x', timestamp '2025-01-01 00:00:00.000001'))),
    (6, 'x', null, double('-0.0'), array('p', null), map('k', named_struct('x', timestamp '2025-01-01 00:00:00.000001'))),
    (7, 'x', null, double('NaN'), array('p', null), map('k', named_struct('x', timestamp '2025-01-01 00:00:00.000001'))),
    (8, 'x', null, null, array('p', null), map('k', named_struct('x', timestamp '2025-01-01 00:00:00.000001'))),
    (9, 'x', null, 0D, array(null, 'p'), map('k', named_struct('x', timestamp '2025-01-01 00:00:00.000001'))),
    (10, 'x', null, 0D, array('p'), map('k', named_struct('x', timestamp '2025-01-01 00:00:00.000001'))),
    (11, 'x', null, 0D, null, map('k', named_struct('x', timestamp '2025-01-01 00:00:00.000001'))),
    (12, 'x', null, 0D, array('p', null), map('k', named_struct('x', timestamp '2025-01-01 00:00:00.000002'))),
    (13, 'x', null, 0D, array('p', null), map('k', null)),
    (14, 'x', null, 0D, array('p', null), cast(map() as map<string, struct<x: timestamp>>)),
    (15, 'x', null, 0D, array('p', null), null)
as given (number, a, b, c, d, e)
"""


@dataclass(frozen=True)
class Extracts:
    """The output of two runs and of the commands that the second run advised, and the live rows after each."""

    project: ChangeSetProject
    first: Outcome
    second: Outcome
    live: dict[str, list[Row]]
    mended: dict[str, Outcome]
    live_at_last: dict[str, list[Row]]


@pytest.fixture(scope="module")
def extracts(tmp_path_factory: pytest.TempPathFactory) -> Extracts:
    names = [*STOPS, *GOOD]
    project = ChangeSetProject(
        tmp_path_factory.mktemp("extracts"),
        map(situation, names),
        models={
            "staging/digests.sql": DIGESTS,
            "current/second_target.sql": "{{ config(unique_key='id', enabled=var('has_second', false)) }}\n"
            "select * from {{ ref('two_targets_changes') }}",
        },
    )
    for name in names:
        project.land(name, 1, lines(name, FIRST.get(name, ONE), 1))
    (first,) = project.run(1)
    shutil.rmtree(project.landing / "removed" / "batch=000001")
    project.land("replaced", 1, lines("replaced", TWO, 1))
    for name in {*names} - {"replaced", "same", "older"}:
        rows = {"mass": HALF, "tenth": MANY[:107], "nothing": [], **GOOD}.get(name, TWO)
        more = ['{"id":'] if name == "keyless" else []
        project.land(name, 2, [*lines(name, rows, -1 if name == "clock" else 2), *more])
    project.land("same", 2, lines("same", ONE, 1))
    project.land("older", 0, lines("older", TWO, 0))
    (second,) = project.dbt(["run", *variables(through_batch=2, has_second=True)])
    live = project.live_rows()
    commands: dict[str, list[str]] = defaultdict(list)
    for name in STOPS:
        if match := re.search(r"dbt (run [^\n]*?\}')", second.nodes[f"{name}_changes"][1]):
            commands[match[1].replace(f"{name}_changes+", "TABLES")].append(name)
    # Messages that advise the same for several tables.
    together = [
        shlex.split(text.replace("TABLES", " ".join(f"{name}_changes+" for name in of)))
        for text, of in commands.items()
    ]
    mended: dict[str, Outcome] = {}
    for of, outcome in zip(commands.values(), project.dbt(*together), strict=True):
        mended |= dict.fromkeys(of, outcome)
    return Extracts(project, first, second, live, mended, project.live_rows())


def stored(rows: Iterable[Any]) -> list[Row]:
    return sorted(tuple(row) for row in rows)


def test_a_first_extract_is_all_upserts(extracts: Extracts) -> None:
    assert extracts.first.success, extracts.first.why()


@pytest.mark.parametrize("name", STOPS)
def test_what_cannot_be_compared_stops_and_changes_nothing(extracts: Extracts, name: str) -> None:
    status, message = extracts.second.nodes[f"{name}_changes"]
    assert (status, STOPS[name] in message) == ("error", True), message
    assert extracts.live[name] == stored(FIRST.get(name, ONE))


@pytest.mark.parametrize("name", GOOD)
def test_rows_are_those_of_the_newest_extract(extracts: Extracts, name: str) -> None:
    for node in (f"{name}_changes", name):
        assert extracts.second.nodes[node][0] == "success", extracts.second.nodes[node]
    assert extracts.live[name] == stored(GOOD[name])


def test_a_second_target_gets_every_row(extracts: Extracts) -> None:
    sql = "select id, phone, mobile from shop.second_target final where _sign = 1 order by id"
    assert stored(extracts.project.queries(rows=sql)["rows"]) == stored(TWO)


@pytest.mark.parametrize(
    ("name", "rows"), [("removed", TWO), ("replaced", TWO), ("clock", TWO), ("mass", HALF), ("tenth", MANY[:107])]
)
def test_the_command_of_the_message_mends_it(extracts: Extracts, name: str, rows: Extract) -> None:
    assert extracts.mended[name].success, extracts.mended[name].why()
    assert extracts.live_at_last[name] == stored(rows)


def test_every_difference_is_in_the_digest(extracts: Extracts) -> None:
    digests = extracts.project.spark_rows("digests", ["number", "digest"])
    assert len({digest for _, digest in digests}) == len(digests) == 15
