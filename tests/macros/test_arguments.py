"""What the macros refuse, before anything runs: all problems at once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from dbt_common.exceptions import CompilationError, DbtRuntimeError

from tests.macros.harness import Project, parsed_project

SOURCES = {"sources": [{"name": "landing", "tables": [{"name": "events"}]}]}
CASES: list[tuple[str, list[str]]] = [
    (
        "parse_debezium(source('landing', 'events'), key=['id'], columns={'_x': 'bigint', 'a-b': 'int', 'tags': 'array<string>', 'n': 'decimal(5,2)', 'price': 'money', 'd': 'decimal(39,2)'}, "
        "required=['name'], version='source.txId', encodings={'n': 'epoch_days', 'm': 'precise'}, ranges={'n': [1]}, toasted=['t'])",
        [
            "key: names ['id'], which columns does not have.",
            "required: names ['name'], which columns does not have.",
            "encodings: names ['m'], which columns does not have.",
            "columns: _x begins with an underscore, as the columns beside the row's do. Name it otherwise at its source.",
            "columns: 'a-b' has other characters than letters, digits and underscores. Name it otherwise at its source.",
            "columns: tags is array<string>. Declare a nested value as string, which then holds its JSON.",
            "columns: price is money, which is no type of a column. It takes boolean, tinyint, ",
            "columns: d is decimal(39,2), which is no type of a column.",
            "encodings: n is decimal(5,2) and has 'epoch_days'; decimal takes 'precise', binary takes 'base64', date takes 'epoch_days', ",
            "ranges: n has [1]; it takes the lowest and the highest value.",
            "version: is 'source.txId'; it takes 'source.lsn', 'source.pos', 'source.gtid' or one of columns.",
            "toasted: names ['t'], which columns does not have.",
        ],
    ),
    (
        "parse_debezium(source('landing', 'events'), key=['id'], columns={'id': 'bigint'}, version='source.gtid')",
        ["servers: is empty. The transactions of two servers have no order of their own"],
    ),
    (
        "parse_debezium_images(source('landing', 'events'), key=['id'], columns={'id': 'bigint', 'v': 'string'}, version='v')",
        ["version: v is string. A version is an integer, a date or a timestamp."],
    ),
    (
        "parse_upserts(source('landing', 'events'), key=['id'], columns={'id': 'bigint'}, version='at', missing_fields='drop')",
        [
            "version: names at, which columns does not have.",
            "missing_fields: is 'drop'; it takes 'refuse', 'keep' or 'null'.",
        ],
    ),
    (
        "parse_debezium_images(source('landing', 'events'), key=['id'], columns={'id': 'bigint'}, version='id', missing_fields='keep')",
        ["missing_fields: is 'keep'; it takes 'refuse' or 'null'."],
    ),
    (
        "parse_upserts(source('landing', 'events'), key='id', columns={'id': 'bigint'}, version='id', required='updated_at', encodings=['id'], ranges='id')",
        [
            "key: is 'id'; it takes a list: ['id'].",
            "required: is 'updated_at'; it takes a list: ['updated_at'].",
            "encodings: is ['id']; it takes a mapping, with the names of columns on the left.",
            "ranges: is id; it takes a mapping, with the names of columns on the left.",
        ],
    ),
    (
        "parse_debezium(source('landing', 'events'), key=['id'], columns={'id': 'bigint', 'a': 'money', 'b': 'INT', 'c': 'integer', 'd': 'decimal(39,2)', 'e': 'decimal(5, 2)'}, toasted='a')",
        [
            "columns: a is money, which is no type of a column. It takes boolean, ",
            "columns: d is decimal(39,2), which is no type of a column.",
            "toasted: is 'a'; it takes a list: ['a'].",
        ],
    ),
    (
        "one_change_per_key(source('landing', 'events'), key='id', counts='_conflicts', combine=['a'])",
        [
            "key: is 'id'; it takes a list: ['id'].",
            "counts: is '_conflicts'; it takes a list: ['_conflicts'].",
            "combine: is ['a']; it takes a mapping",
        ],
    ),
    (
        "snapshot_changes(source('landing', 'events'), key=[], version='at', max_deletes=2)",
        ["key: is empty.", "max_deletes: is 2; it takes a share, from 0 to 1."],
    ),
    (
        "signed_rows(source('landing', 'events'), key='id')",
        ["key: is 'id'; it takes a list: ['id']."],
    ),
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
            {
                "model": {
                    "unique_id": "model.shop.orders",
                    "config": {"location_root": "s3a://lake"},
                }
            },
            "model.shop.orders: a change_set takes no location_root. Leave it out; the profile's `warehouse` says where",
        ),
        (
            "validate_changed_batches",
            {
                "model": {"unique_id": "model.shop.orders"},
                "changed": [],
                "on_changed_batch": "warn",
            },
            "model.shop.orders: on_changed_batch is 'warn'; it takes 'error' or 'retake'.",
        ),
    ],
)
def test_config_of_a_change_set_that_has_no_meaning(
    project: Project, macro: str, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(DbtRuntimeError, match=re.escape(message)):
        project.rendered(macro, **arguments)


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
def test_the_text_of_a_view_says_whether_it_reads_a_part(
    project: Project, text: str, is_of_part: bool
) -> None:
    assert project.rendered("is_text_of_part", text=text) == str(is_of_part)
