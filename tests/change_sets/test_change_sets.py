"""From the lines of the landing zone to ClickHouse's rows, on the real engines."""

from __future__ import annotations

import json
import re
from collections import Counter

from tests.change_sets import postgresql
from tests.change_sets.cases import Case, ordered
from tests.change_sets.conftest import CASES, Built, each


def test_all_models_are_built(built: Built) -> None:
    good = ("success", "pass", "warn")
    failed = {name: node for run in built.outcomes[:2] for name, node in run.nodes.items() if node[0] not in good}
    stopped = {case.name: case.stops for case in built.cases if case.stops}
    assert sorted(failed) == sorted([*stopped, *(f"{name}_changes" for name in stopped)])
    for name, messages in stopped.items():
        assert [message for message in messages if message not in failed[f"{name}_changes"][1]] == []
        assert failed[name][0] == "skipped"


def test_messages_that_are_no_changes_are_passed_over_by_name(built: Built) -> None:
    found = Counter(name for (name,) in built.project.spark_rows("latest_wins_changes__stg_latest_wins", ["_ignored"]))
    batches = 2  # in the last run
    landed = {name: len(messages) * 2 * batches for name, messages in postgresql.MESSAGES.items()}
    assert {name: lines for name, lines in found.items() if name} == landed


@each([case for case in CASES if not case.stops])
def test_every_line_is_counted_as_one_thing(built: Built, case: Case) -> None:
    built.project.assert_manifest_adds_up(case.name)


@each(CASES)
def test_rows_are_those_of_the_history(built: Built, case: Case) -> None:
    assert ordered(built.live[case.name]) == ordered(case.live)


@each([case for case in CASES if case.is_quarantined])
def test_broken_lines_are_in_quarantine_with_place_and_reason(built: Built, case: Case) -> None:
    files = {batch: file for (name, batch), file in built.files.items() if name == case.name}
    found = [row for row in built.quarantined if row[0] == case.name]
    assert sorted(found) == sorted(case.quarantined(files))


@each([case for case in CASES if case.changes is not None])
def test_change_set_is_that_of_a_plain_loop(built: Built, case: Case) -> None:
    found = built.project.change_set(case.name, case.change_columns)
    assert ordered(found) == ordered(case.changes or [])


def test_spark_reads_no_manifest_that_clickhouse_has(built: Built) -> None:
    read = set(re.findall(r"(?<!query )select \* from shop\.(\w+)_changes__manifest", built.project.log()))
    # A change set that stops has not given its manifest to ClickHouse.
    assert read <= {case.name for case in built.cases if case.stops}


def test_lines_that_a_template_leaves_are_parsed_by_a_second_statement(built: Built) -> None:
    # Models run side by side, so the messages of several statements lie between one and its status.
    messages = re.split(r"(?m)^(?:\x1b\[0m)?(?=\d\d:\d\d:\d\d\.\d+ \[)", built.project.log())
    makes = r"(?:create table shop\.|insert overwrite table `shop`\.`)(\w+)_changes__stg_"
    made = Counter(re.findall(makes, built.project.log()))
    cases = ("combined", "latest_wins", "two_slots")
    assert [made[name] for name in cases] == [2, 2, 2]
    inserts = [
        (name, message)
        for message in messages
        for name in re.findall(r"insert into shop\.(\w+)_changes__stg_", message)
    ]
    added = Counter(name for name, _ in inserts)
    assert [added[name] for name in cases] == [2, 2, 0]
    by_the_whole_parser = {name for name, message in inserts if "/* other forms */" in message}
    # The text of each line that "combined" leaves shows a plain envelope.
    assert by_the_whole_parser & set(cases) == {"latest_wins"}
    seen = {
        name: json.loads(built.project.spark_rows(f"{name}_changes__manifest", ["seen"])[0][0])[f"stg_{name}"]
        for name in cases
    }
    assert seen["combined"]["template"]["shape"]["source"] == ["connector", "lsn", "sequence"]
    # In its last batch, most lines have other forms.
    assert seen["latest_wins"]["template"] == {}


def test_fields_that_the_schema_does_not_know_are_warned_of(built: Built) -> None:
    tests = built.outcomes[-1].nodes
    assert tests["latest_wins_fields"] == ("warn", "Got 1 result, configured to warn if != 0")
    assert tests["combined_fields"][0] == "pass"


def test_events_that_stop_a_change_set_stop_it_again(built: Built) -> None:
    """What the change set knew before the first stop is not forgotten."""
    status, message = built.outcomes[2].nodes["moved_changes"]
    (case,) = (case for case in built.cases if case.name == "moved")
    assert (status, [part for part in case.stops if part not in message]) == ("error", [])
