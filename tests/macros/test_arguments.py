"""What the macros reject before anything runs: all problems at once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from dbt_common.exceptions import CompilationError, DbtRuntimeError

from tests.macros.harness import Project, parsed_project
from tests.support.shop import REPOSITORY

SOURCES = {"sources": [{"name": "landing", "tables": [{"name": "events"}]}]}
CASES: list[tuple[str, list[str]]] = [
    (
        "parse_debezium(source('landing', 'events'), key=['id'], columns={'_x': 'bigint', 'a-b': 'int', 'tags': 'array<string>', 'n': 'decimal(5,2)', 'price': 'money', 'd': 'decimal(39,2)'}, "
        "required=['name'], version='source.txId', encodings={'n': 'epoch_days', 'm': 'precise'}, ranges={'n': [1]}, toasted=['t'])",
        [
            "key names id, which is not in columns.",
            "required names name, which is not in columns.",
            "encodings names m, which is not in columns.",
            "columns: _x begins with an underscore, which is reserved for control columns. Rename it at its source.",
            "columns: 'a-b' contains characters other than letters, digits and underscores. Rename it at its source.",
            "columns: tags is array<string>. Declare a nested value as string; it then holds the JSON.",
            "columns: price is money, which is not an accepted type. It takes boolean, tinyint, ",
            "columns: d is decimal(39,2), which is not an accepted type.",
            "encodings: n is decimal(5,2) and has the encoding 'epoch_days'; boolean takes 'nonzero', decimal takes 'precise', binary takes 'base64' or 'base64url' or ",
            "ranges: n has [1]; a range takes two values, the lowest and the highest, or 'clamp'.",
            "version is 'source.txId'; it takes 'source.sequence', 'source.pos', ",
            "toasted names t, which is not in columns.",
        ],
    ),
    (
        "parse_debezium(source('landing', 'events'), key=['id'], columns={'id': 'bigint'}, version='source.gtid')",
        ["servers is empty. Transactions of different servers have no common order."],
    ),
    (
        "parse_debezium(source('landing', 'events'), key=['id'], columns={'id': 'bigint'}, version='source.lsn', epochs=[7, 4])",
        [
            "epochs is [7, 4]; it takes at most 255 beginnings in growing order: times of the source in UTC, such as ",
            "version is 'source.lsn', the place of a row in PostgreSQL's log. Transactions commit in another order, ",
        ],
    ),
    (
        "parse_debezium(source('landing', 'events'), key=['id'], columns={'id': 'bigint'}, epochs=[7, '2026-13-01 00:00:00'])",
        ["epochs is [7, '2026-13-01 00:00:00']; it takes"],
    ),
    (
        "parse_debezium(source('landing', 'events'), key=['id'], columns={'id': 'bigint', 'at': 'date'}, version='at', epochs=[7], table=['a', 'b c'])",
        [
            "table: 'b c' is no name of a table; it takes a name, with or without the schema before it, ",
            "epochs is [7], but the version is the column at. Only positions have epochs: remove it.",
        ],
    ),
    (
        "parse_debezium(source('landing', 'events'), key=['id'], columns={'id': 'bigint', 'h': 'binary'})",
        ["columns: h is binary, and encodings does not say how its bytes are written: 'base64' (Debezium's default), "],
    ),
    (
        "parse_debezium_images(source('landing', 'events'), key=['id'], columns={'id': 'bigint', 'v': 'string'}, version='v')",
        ["version: v is string, but a version must be an integer, a date or a timestamp."],
    ),
    (
        "parse_upserts(source('landing', 'events'), key=['id'], columns={'id': 'bigint'}, version='at', missing_fields='drop')",
        ["version is at, which is not in columns.", "missing_fields is 'drop'; it takes 'refuse', 'keep' or 'null'."],
    ),
    (
        "parse_upserts(source('landing', 'events'), key=['id'], columns={'id': 'bigint'}, version='id', delete_version='keep')",
        ["delete_version is 'keep'; it takes 'respect' or 'ignore'."],
    ),
    (
        "parse_upserts(source('landing', 'events'), key=['id'], columns={'id': 'bigint'}, version='id', delete_version='ignore')",
        ["delete_version is 'ignore', but no line is a delete. Set is_deleted too, or remove it."],
    ),
    (
        "parse_upserts(source('landing', 'events'), key=['id'], columns={'id': 'bigint'}, version='id', is_deleted='gone', "
        "delete_version='ignore', missing_fields='keep')",
        [
            "delete_version is 'ignore' and missing_fields is 'keep'. A partial change has no place among deletes without "
        ],
    ),
    (
        "_validate_one_combine(model, {'model.shop.orders': {'a': 'least'}, 'model.shop.firsts': {}})",
        ["the tables model.shop.orders, model.shop.firsts read it, and differ in combine."],
    ),
    (
        "validate_one_change_per_key(model, 'stg', ['id'], {'_is_unversioned': 'boolean', 'a': 'int', 'id': 'int', "
        "'_version': 'int', '_is_deleted': 'boolean', '_batch': 'int', '_reason': 'string'}, {'a': 'latest'}, [])",
        ["combine is set, and stg has delete_version: 'ignore'. Changes cannot be combined across deletes without a "],
    ),
    (
        "parse_upserts(source('landing', 'events'), key=['day'], columns={'day': 'date', 'at': 'timestamp', 'n': 'int', 'until': 'date'}, version='at', ranges={'day': 'clamp', 'at': 'clamp', 'n': 'clamp', 'until': 'clamp'})",
        [
            f"ranges: {name} has 'clamp', which is for dates and timestamps that are neither key nor version."
            for name in ("day", "at", "n")
        ],
    ),
    (
        "parse_upserts(source('landing', 'events'), key=['id'], columns={'id': 'bigint'}, version=['id'], is_deleted=['gone'])",
        [
            "version is '['id']'; it takes the name of a column.",
            "is_deleted is ['gone']; it takes the name of a field that is true for a deleted row, an expression, or a ",
        ],
    ),
    (
        "parse_upserts(source('landing', 'events'), key=['id'], columns={'id': 'bigint'}, version=none)",
        ["version is 'None'; it takes the name of a column."],
    ),
    (
        "parse_upserts(source('landing', 'events'), key=['id'], columns={'id': 'bigint'}, version='id', row='a b', "
        "fields={'x': 'y'}, only={'a b': 'c'}, is_deleted={'Op': {'D': 'yes'}})",
        [
            "row is 'a b'; it takes the name of a field that has the row, with dots between names: 'payload.data'.",
            "fields names x, which is not in columns.",
            "only has 'a b'; it takes names of fields with the values that they may have.",
            "is_deleted is {'Op': {'D': 'yes'}}; it takes the name of a field that is true for a deleted row, ",
        ],
    ),
    (
        "parse_upserts({'file_format': 'parquet'}, key=['id'], columns={'id': 'bigint'}, version='id', missing_fields='keep')",
        ["the source has Parquet files, which do not say whether a field is null or missing, and whose rows have "],
    ),
    (
        "parse_debezium_images(source('landing', 'events'), key=['id'], columns={'id': 'bigint'}, version='id', missing_fields='keep')",
        ["missing_fields is 'keep'; it takes 'refuse' or 'null'."],
    ),
    (
        "parse_upserts(source('landing', 'events'), key='id', columns={'id': 'bigint'}, version='id', required='updated_at', encodings=['id'], ranges='id')",
        [
            "key is 'id'; it takes a list: ['id'].",
            "required is 'updated_at'; it takes a list: ['updated_at'].",
            "encodings is ['id']; it takes a mapping whose keys are names of columns.",
            "ranges is id; it takes a mapping whose keys are names of columns.",
        ],
    ),
    (
        "parse_debezium(source('landing', 'events'), key=['id'], columns={'id': 'bigint', 'a': 'money', 'b': 'INT', 'c': 'integer', 'd': 'decimal(39,2)', 'e': 'decimal(5, 2)'}, toasted='a')",
        [
            "columns: a is money, which is not an accepted type. It takes boolean, ",
            "columns: d is decimal(39,2), which is not an accepted type.",
            "toasted is 'a'; it takes a list: ['a'].",
        ],
    ),
    (
        "one_change_per_key(source('landing', 'events'), key='id', counts='_conflicts', combine=['a'])",
        [
            "key is 'id'; it takes a list: ['id'].",
            "counts is '_conflicts'; it takes a list: ['_conflicts'].",
            "combine is ['a']; it takes a mapping",
        ],
    ),
    (
        "snapshot_changes(source('landing', 'events'), key=[], version='at', max_deletes=2)",
        ["key is empty; it takes at least one name.", "max_deletes is 2; it takes a share from 0 to 1."],
    ),
    (
        "one_change_per_key(source('landing', 'events'), key=['id'], counts=['_rows'], combine={'a': 'newest'})",
        [
            "combine: a has the policy 'newest'; a column takes one of 'latest', 'greatest', 'least', 'coalesce', 'first'.",
            "counts names _rows; it takes '_duplicates', '_conflicts' and '_superseded'.",
        ],
    ),
    ("signed_rows(source('landing', 'events'), key='id')", ["key is 'id'; it takes a list: ['id']."]),
    ("signed_rows(source('landing', 'events'), key=1)", ["key is 1; it takes a list of names."]),
    ("delta_changes(source('landing', 'events'), key='id')", ["key is 'id'; it takes a list: ['id']."]),
    (
        "iceberg_changes(source('landing', 'events'), key=[], version='ver')",
        ["key is empty; it takes at least one name."],
    ),
]


# Calls in the documentation: what the page says that they write, and the examples of the descriptions.
_CALL = re.compile(r"^\| `(\w+\(.*?\))` \|(?: [^|]+ \|)? `([^`]*)`", re.MULTILINE)
WRITTEN = _CALL.findall((REPOSITORY / "docs" / "querying.md").read_text())
EXAMPLES = [
    example.rstrip("`")
    for path in (REPOSITORY / "macros").rglob("_macros.yml")
    for macro in yaml.safe_load(path.read_text())["macros"]
    for example in macro["description"].partition("Example: `")[2:]
    if example.startswith("versioned_collapsing.")
]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    """A staging model."""
    folder = tmp_path_factory.mktemp("arguments")
    models = {"stg": "select 1"}
    with parsed_project(folder, models, engine="spark", properties=SOURCES) as found:
        yield found


@pytest.mark.parametrize(("call", "problems"), CASES)
def test_all_problems_are_one_error(project: Project, call: str, problems: list[str]) -> None:
    with pytest.raises(CompilationError) as raised:
        project.parsed("stg", f"{{{{ {call} }}}}")
    error = str(raised.value)
    assert "model.versioned_collapsing.stg cannot be built as " in error
    lines = error.replace("\n    - ", "\n  - ")
    assert [problem for problem in problems if f"\n  - {problem}" not in lines] == []


@pytest.mark.parametrize(
    ("macro", "arguments", "message"),
    [
        (
            "validate_location",
            {"model": {"unique_id": "model.shop.orders", "config": {"location_root": "s3a://lake"}}},
            "model.shop.orders: a change_set does not accept location_root. Remove it. `warehouse` in the profile sets where",
        ),
        (
            "validate_changed_batches",
            {"model": {"unique_id": "model.shop.orders"}, "changed": [], "on_changed_batch": "warn"},
            "model.shop.orders: on_changed_batch is 'warn'; it takes 'error' or 'reprocess'.",
        ),
        (
            "validate_one_lake_table",
            {
                "model": {"unique_id": "model.shop.orders"},
                "format": "delta",
                "parents": ["source.lake.orders", "source.lake.rates"],
            },
            "it reads source.lake.orders, source.lake.rates. A change set of a lake table reads this table and nothing else. Join other tables in a model on ClickHouse.",
        ),
    ],
)
def test_config_of_a_change_set_that_has_no_meaning(
    project: Project, macro: str, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(DbtRuntimeError, match=re.escape(message)):
        project.rendered(macro, **arguments)


COMMITS = {4: {"hash": "t:4", "follows": "t:3"}, 5: {"hash": "t:5", "follows": "t:4"}}


@pytest.mark.parametrize("applied", [{}, {3: "t:3"}, {3: "t:3", 4: "t:4"}, {5: "t:5"}])
def test_a_history_that_follows_on_what_is_applied(project: Project, applied: dict[int, str]) -> None:
    assert not project.rendered(
        "validate_lake_history",
        model={"unique_id": "model.shop.orders", "name": "orders"},
        lake={"relation": "shop.orders"},
        landed=COMMITS,
        applied=applied,
    ).strip("None\n ")


@pytest.mark.parametrize(
    ("pending", "missing", "applied_commits", "is_complete"),
    [
        ([4, 5], [], {}, True),
        ([5], [], {}, False),
        ([4, 5], [3], {}, False),
        # The history of the lake table begins with commit 4, and the target had applied 3.
        ([4, 5], [], {3: "t:3"}, False),
    ],
)
def test_a_change_set_is_complete_if_a_table_can_be_built_from_it(
    project: Project, pending: list[int], missing: list[int], applied_commits: dict[int, str], is_complete: bool
) -> None:
    found = project.rendered(
        "get_is_complete", landed=COMMITS, pending=pending, missing=missing, applied_commits=applied_commits
    )
    assert found == str(is_complete)


@pytest.mark.parametrize("applied", [{2: "t:2"}, {4: "t:4", 6: "t:6"}, {5: "other:5"}])
def test_a_history_that_has_expired_or_is_of_another_table(project: Project, applied: dict[int, str]) -> None:
    last = max(applied)
    message = (
        f"model.shop.orders: the history of shop.orders has neither commit {last} ({applied[last]}), the last that is "
        "applied, nor the one after it. Either these commits have expired, or the table was rolled back or created "
        "again. What has changed since is unknown. Build both again, from the table as it is now: dbt run "
        "--full-refresh --select orders+"
    )
    with pytest.raises(DbtRuntimeError, match=re.escape(message)):
        project.rendered(
            "validate_lake_history",
            model={"unique_id": "model.shop.orders", "name": "orders"},
            lake={"relation": "shop.orders"},
            landed=COMMITS,
            applied=applied,
        )


@pytest.mark.parametrize(
    ("text", "is_of_part"),
    [
        ("select * from (select * from text.`/l/a (b)` where false limit 0)", True),
        (
            "select 1 from (select * from shop.t where at >= '2026-01-01 00:00:00+00:00' and at < '2026-01-02 00:00:00+00:00') as x",
            True,
        ),
        ("select * from (select * from shop.t where false)", False),
        ("select * from shop.t where at >= '2026-01-01' and at < '2026-01-02'", False),
        ("select * from (select * from shop.t where id < 9) limit 0", False),
    ],
)
def test_the_text_of_a_view_says_whether_it_reads_a_part(project: Project, text: str, is_of_part: bool) -> None:
    assert project.rendered("is_text_of_part", text=text) == str(is_of_part)


@pytest.mark.parametrize("text", ["__debezium_unavailable_value", "%41 ~/\\'\"", "é€\U0001f600", ""])
def test_bytes_of_a_placeholder(project: Project, text: str) -> None:
    assert project.rendered("_get_bytes", text=text) == str(list(text.encode()))


@pytest.mark.parametrize(("call", "sql"), WRITTEN)
def test_a_macro_writes_what_the_page_says(project: Project, call: str, sql: str) -> None:
    assert project.parsed("stg", f"{{{{ versioned_collapsing.{call} }}}}") == sql


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_of_a_description_works(project: Project, example: str) -> None:
    assert project.parsed("stg", f"{{{{ {example} }}}}").strip()
