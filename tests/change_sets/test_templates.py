"""A template reads a line as its parser does, or leaves it. The parser itself is the oracle: other tests compare it with
databases."""

from __future__ import annotations

import ast
import json
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.change_sets import test_positions, test_values
from tests.macros.harness import Project, parsed_project
from tests.support.warm_spark import warm_session

DIALECTS = Path(__file__).parent / "dialects"
SEED = 43
LINES = 3000
LONGEST = 200_000  # bytes of a value; a template takes lines of half of it
SPACES = {"spaced": (", ", ": "), "compact": (",", ":")}


@dataclass(frozen=True)
class Stream:
    """A call of the parser, lines that show the shape, the lines, and the least number that a template takes."""

    call: str
    sample: Sequence[str]
    lines: Sequence[bytes]
    taken: int


VALUES = {"id": "null", "name": '"x"'} | dict.fromkeys(test_values.COLUMNS, "null")
TYPES = {"id": "bigint", "name": "string", **{name: column.spark for name, column in test_values.COLUMNS.items()}}
ENCODINGS = {name: column.encoding for name, column in test_values.COLUMNS.items() if column.encoding}
SOURCE = {"version": "3.0", "connector": "postgresql", "ts_ms": 1767607100000, "db": "shop", "schema": "public", "table": "mine", "sequence": '["800","808"]', "lsn": 808, "xmin": None}  # fmt: skip


def _object(members: Iterable[tuple[str, bytes]], spaces: tuple[str, str] = (",", ":")) -> bytes:
    comma, colon = (space.encode() for space in spaces)
    return b"{%s}" % comma.join(json.dumps(name).encode() + colon + value for name, value in members)


def _image(values: dict[str, bytes], spaces: tuple[str, str] = (",", ":")) -> bytes:
    return _object(((name, values.get(name, b"null")) for name in VALUES), spaces)


def envelope(op: str, before: bytes, after: bytes, source: dict[str, Any], spaces: tuple[str, str]) -> bytes:
    told = _object([(name, json.dumps(value).encode()) for name, value in source.items()], spaces)
    members = [("before", before), ("after", after), ("source", told), ("op", json.dumps(op).encode())]
    return _object([*members, ("ts_ms", b"1"), ("transaction", b"null")], spaces)


def _each_value() -> Stream:
    """Every value of test_values.py, in a row of all columns."""
    lines = []
    for key, given in enumerate(test_values.GIVEN, start=1):
        if len(given.row) > LONGEST:
            continue
        image = _image({"id": b"%d" % key, "name": b'"x"'})
        if given.column:
            image = _image({"id": b"%d" % key, "name": b'"x"', given.column: given.row.partition(b":")[2]})
        elif given.row:
            image = image[:-1] + b"," + given.row + b"}"
        lines.append(envelope("u", image, image, SOURCE, SPACES["compact"]))
        lines.append(envelope("c", b"null", image, SOURCE, SPACES["compact"]))
    sample = [envelope("c", b"null", _image({"id": b"1", "a_string": b"[]"}), SOURCE, SPACES["compact"]).decode()]
    call = f"key=['id'], columns={TYPES}, encodings={ENCODINGS}, unavailable_value='{test_values.PLACEHOLDER}'"
    return Stream(f"parse_debezium(SOURCE, {call})", sample, [*lines, *test_values.SILENT], 500)


def _edges() -> Stream:
    """Values that the parser refuses, and that look like others."""
    values = [
        "1" * 99,
        "1" * 1001,
        '{"a":1}',
        json.dumps({"a" * 60000: 1}),
        "[]",
        '"7"',
        '"37"',
        '"Nw=="',
        '"__deb"',
        "null",
    ]
    rows = [f'{{"id":{number},"a":{value},"b":[1],"n":7}}' for number, value in enumerate(values)]
    rows += ['{"id":90,"a":"x","b":[1],"n":8}', '{"id":91,"a":"x","b":' + "1" * 1001 + ',"n":8}']
    lines = [envelope("c", b"null", row.encode(), SOURCE, SPACES["compact"]) for row in rows]
    sample = envelope("c", b"null", b'{"id":1,"a":{},"b":[1],"n":8}', SOURCE, SPACES["compact"]).decode()
    columns = {"id": "bigint", "a": "string", "b": "string", "n": "int"}
    return Stream(f"parse_debezium(SOURCE, key=['id'], columns={columns}, unavailable_value='7')", [sample], lines, 1)


def _random(kind: str, rng: random.Random) -> Stream:
    """Rows with some values of test_values.py, any operation, and any images. Some lines have been damaged."""
    spaces = SPACES[kind]
    given = [(value.column, value.row.partition(b":")[2]) for value in test_values.GIVEN if value.column]
    given = [(column, token) for column, token in given if len(token) < 1000]
    names = [
        b'"x"',
        b'"y"',
        b'""',
        b'"a\\"b"',
        b'"\\u0041"',
        b'"\xc3\xa9"',
        b'"__not_sent"',
        b'"\\u005f_not_sent"',
        b"null",
        b"1",
    ]

    def image(key: int) -> bytes:
        values = dict(rng.choices(given, k=rng.choice((0, 0, 1, 2))))
        return _image({"id": b"%d" % key, "name": rng.choice(names), "an_int": b"1", **values}, spaces)

    def line() -> bytes:
        key = rng.randint(1, 9)
        before = rng.choice((b"null", image(key), image(rng.randint(1, 9))))
        after = rng.choice((b"null", image(key), image(key)))
        places = {
            "lsn": rng.choice((808, 816, None, -1)),
            "sequence": rng.choice(('["800","808"]', '[null,"808"]', None)),
        }
        others = {"ts_ms": rng.choice((1767607100000, 1, None)), "table": rng.choice(("mine", "", None))}
        source = {**SOURCE, **(places if rng.random() < 0.3 else {}), **(others if rng.random() < 0.1 else {})}
        if rng.random() < 0.05:
            source["connector"] = rng.choice(("mysql", None, "db2"))
        found = envelope(rng.choice("cuuuddrtmx"), before, after, source, spaces)
        if rng.random() < 0.2:
            at = rng.randrange(len(found))
            found = (
                found[:at]
                + rng.choice((b"", b" ", b'"', b"\\", b"0", b"\x01", b"\xff", b"}", b",", b"null"))
                + found[at + rng.randint(0, 3) :]
            )
        return found

    sample = [envelope("c", b"null", _image({"id": b"1", "bytes": b"[]"}, spaces), SOURCE, spaces).decode()]
    more = {
        "spaced": "required=['an_int'], toasted=['a_string', 'bytes', 'a_date'], ranges={'a_date': 'clamp', 'a_timestamp': ['2020-01-01', '2026-01-01']}",
        "compact": "toasted=['name'], missing_fields='keep', version='source.lsn_despite_races', epochs=['2026-01-05 10:00:00']",
    }[kind]  # fmt: skip
    call = f"key=['id', 'name'], columns={TYPES}, encodings={ENCODINGS}, unavailable_value='__not_sent', {more}"
    if kind == "compact":
        call = call.replace("'id', 'name'", "'id'")
    lines = [line() for _ in range(LINES)] + [b"null", b"", b'{"ts_ms":1}']
    return Stream(f"parse_debezium(SOURCE, {call})", sample, lines, LINES // 20)


ROWS_OF_OTHERS = [
    b'{"id":1,"order":[1,"a",null],"more":{"a":1.5,"b":"\\u00e9"}}',
    b'{"a":1,"a":2}',  # nobody reads it
    b"{}",
    b'{"id":{"a":[1]}}',
    b'{"a":"\\ud800"}',
    b'{"a":1,}',
    b'{"id":"' + b"1" * 1001 + b'","a":' + b"[%s]" % b",".join([b"1"] * 9000) + b"}",
    b"{" + b",".join(b'"c%d":"\\n"' % number for number in range(3000)) + b"}",
]


def _several(rng: random.Random) -> Stream:
    """Lines of several tables, some of which have the same fields."""
    own = _random("compact", rng)
    others = [b"yours", b"mine_too", b"my\\u0020own", b"", b"public.mine"]
    lines = []
    for line in own.lines:
        lines.append(line)
        if rng.random() < 0.2:
            lines.append(line.replace(b'"table":"mine"', b'"table":"%s"' % rng.choice(others)))
        if rng.random() < 0.3:
            table = rng.choice([*others, b"mine"])
            before, after = (rng.choice((b"null", row)) for row in rng.choices(ROWS_OF_OTHERS, k=2))
            other = envelope(rng.choice("cudrt"), before, after, SOURCE, SPACES["compact"])
            lines.append(other.replace(b'"table":"mine"', b'"table":"%s"' % table))
    call = own.call.replace("parse_debezium(SOURCE, ", "parse_debezium(SOURCE, table=['min', 'p*.mine'], ")
    return Stream(call, own.sample, lines, LINES // 5)


def _of_connector(connector: str) -> Stream:
    """Positions, and with a column that is not read."""
    lines = []
    for line in test_positions.ORDERS[connector]:
        event = json.loads(line)
        row = {"id": 1, "code": 1, "amount": 1, "note": "x", "more": "y"}
        images = {"before": row if event["op"] == "d" else None, "after": None if event["op"] == "d" else row}
        fields = {field for other in test_positions.ORDERS[connector] for field in json.loads(other)["source"]}
        source = {field: event["source"].get(field) for field in sorted(fields)}
        lines.append(json.dumps({**images, "op": event["op"], "source": source}).encode())
    columns = test_positions.COLUMNS
    call = f"parse_debezium(SOURCE, key=['id'], columns={columns}, version=none)"
    return Stream(call, [lines[0].decode()], lines, len(lines))


COLUMNS_OF = {
    "postgresql": (
        {"id": "int", "big": "bigint", "cash": "string", "free": "string", "ratio": "double", "is_open": "boolean", "name": "string", "day": "string", "made": "timestamp", "tags": "string", "attrs": "string", "place": "string", "note": "string"},
        {},
    ),
    "mysql": (
        {"id": "int", "huge": "decimal(20,0)", "precise": "decimal(38,10)", "single": "float", "name": "string", "day": "date", "seen_us": "timestamp", "year": "int", "opens": "string", "raw": "binary", "flag": "boolean", "place": "string", "note": "string"},
        {"precise": "precise", "day": "epoch_days", "seen_us": "epoch_micros", "raw": "base64"},
    ),
}  # fmt: skip


def _recorded(name: str) -> Stream:
    """What Debezium sent, among others messages with a schema, which a template leaves."""
    lines = (DIALECTS / f"{name}.jsonl").read_bytes().splitlines()
    columns, encodings = COLUMNS_OF[name.partition("_")[0]]
    call = f"parse_debezium(SOURCE, key=['id'], columns={columns}, encodings={encodings}, missing_fields='null')"
    return Stream(call, [line.decode() for line in lines], lines, int(0.4 * len(lines)))


NAMES = ["order", "group", "table", "select", "digest", "value", "op", "before", "version", "image", "after", "source", "before_row", "name"]  # fmt: skip


def _names() -> Stream:
    """Columns with names that SQL, Debezium and the macros use."""
    columns = {"change": "bigint", "row": "string"} | dict.fromkeys(NAMES, "string")
    lines = []
    for op, number in zip("cuudr", range(1, 6), strict=True):
        row = {"change": number, "row": "x"} | {name: f"{name} {number}" for name in NAMES}
        images = {"before": row if op in "ud" else None, "after": None if op == "d" else row}
        lines.append(json.dumps({**images, "source": SOURCE, "op": op}).encode())
    call = f"parse_debezium(SOURCE, key=['change', 'row'], columns={columns}, toasted={NAMES}, required={NAMES})"
    return Stream(call, [lines[0].decode()], lines, len(lines))


def _wide() -> Stream:
    """As many fields as a template may have, with values that take the most of Java's stack."""
    row = {"id": 1} | {f"c{number}": {"a": f"\\{number}", "b": None} for number in range(59)}
    line = json.dumps({"before": row, "after": row, "source": SOURCE, "op": "u"})
    call = f"parse_debezium(SOURCE, key=['id'], columns={ {'id': 'bigint'} | dict.fromkeys(list(row)[1:], 'string') })"
    return Stream(call, [line], [line.encode()], 1)


# What counts in a line of another table: its own fields are in no column that is read.
READ_OF_OTHERS = {"_ignored", "_version", "_reason", "_event_ms", "_first_lsn", "_snapshot_lsn", "_raw_line", "_batch"}
STREAMS = {
    "names": _names(),
    "edges": _edges(),
    "wide": _wide(),
    "each_value": _each_value(),
    **{kind: _random(kind, random.Random(SEED)) for kind in SPACES},
    "several": _several(random.Random(SEED)),
    **{connector: _of_connector(connector) for connector in test_positions.ORDERS},
    **{
        name: _recorded(name)
        for name in ("postgresql_defaults", "postgresql_doubles", "postgresql_texts", "mysql_defaults")
    },
}


def _models(name: str, stream: Stream) -> dict[str, str]:
    parser = f"versioned_collapsing.{stream.call}".replace("SOURCE", "'SOURCE'")
    template = (
        f"{{%- set parser = {parser} -%}}"
        "{%- set arguments = versioned_collapsing.get_template_arguments(parser) -%}"
        "{%- set shape = versioned_collapsing.get_template_shape("
        f"{stream.sample!r}, arguments) -%}}"
        "{{ versioned_collapsing.get_template_sql("
        "arguments, shape, versioned_collapsing.get_lines_of_parser(parser)) }}"
    )
    return {f"{name}_parser": f"{{{{ {parser} }}}}", f"{name}_template": template}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    models = {model: sql for name, stream in STREAMS.items() for model, sql in _models(name, stream).items()}
    with parsed_project(tmp_path_factory.mktemp("templates") / "project", models, engine="spark") as found:
        yield found


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    with warm_session() as session:
        yield session


@pytest.mark.parametrize("name", STREAMS)
def test_a_template_reads_a_line_as_its_parser_does(
    tmp_path: Path, project: Project, spark: SparkSession, name: str
) -> None:
    (tmp_path / "batch=1").mkdir()
    (tmp_path / "batch=1" / "lines.json").write_bytes(b"".join(line + b"\n" for line in STREAMS[name].lines))
    rows: dict[str, list[dict[str, Any]]] = {}
    for model in ("parser", "template"):
        sql = project.compiled(f"{name}_{model}").replace("from SOURCE", f"from text.`{tmp_path}`")
        rows[model] = [row.asDict(recursive=True) for row in spark.sql(sql).coalesce(1).collect()]
    taken = 0
    for of_parser, of_template in zip(rows["parser"], rows["template"], strict=True):
        if of_template["_reason"] != "another form":
            read = READ_OF_OTHERS if of_parser["_ignored"] else of_parser.keys()
            for column in read & of_parser.keys():
                assert repr(of_template[column]) == repr(of_parser[column]), (column, of_parser["_raw_line"])
            taken += bool(of_parser["_version"] or of_parser["_ignored"])
    assert taken >= STREAMS[name].taken


SHAPE, NONE = {"id": "a", "shape": {"event": ["op"]}}, {"id": "a", "shape": None}
SEEN: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"seen": {}}, {}),
    ({"seen": {}, "template": SHAPE}, {"template": SHAPE}),
    ({"seen": {"template": SHAPE}}, {"template": SHAPE}),
    ({"seen": {"template": SHAPE}, "leaves_most": True}, {"template": {}}),
    ({"seen": {"template": NONE}, "template": SHAPE, "leaves_most": True}, {"template": NONE}),
    ({"seen": {"template": NONE}, "leaves_most": True}, {"has_other_forms": True}),
    ({"seen": {}, "leaves_most": True}, {"has_other_forms": True}),
]


@pytest.mark.parametrize(("found", "seen"), SEEN)
def test_a_parser_that_leaves_most_lines_is_tried_no_more(
    project: Project, found: dict[str, Any], seen: dict[str, Any]
) -> None:
    assert ast.literal_eval(project.rendered("get_seen_of_parser", input=found)) == seen


def test_no_shape_is_made_of_a_line_that_a_template_cannot_read(project: Project) -> None:
    """Java's stack limits the number of fields."""
    event = json.loads(_of_connector("postgresql").sample[0])
    columns = [f"c{number}" for number in range(61)]
    arguments = {"columns": dict.fromkeys(columns[:60], "int"), "key": ["c0"], "toasted": []}
    assert _shape(project, arguments, {**event, "after": dict.fromkeys(columns[:60], 1)})["row"] == columns[:60]
    assert _shape(project, {**arguments, "toasted": ["c0"]}, {**event, "after": dict.fromkeys(columns[:60], 1)}) is None
    others: list[dict[str, Any]] = [
        {"after": dict.fromkeys(columns, 1)},
        {"after": dict.fromkeys(columns[1:60], 1)},
        {"after": {**dict.fromkeys(columns[:59], 1), 'a"b': 1}},
        {"source": {}},
        {"source": {"connector": "db2"}},
        {"source": {"connector": None}},
        {"more": 1},
    ]
    for other in others:
        assert _shape(project, arguments, {**event, "after": dict.fromkeys(columns[:60], 1), **other}) is None, other


def test_a_view_without_the_marks_of_its_parts_is_read_whole(project: Project) -> None:
    parser = project.compiled("postgresql_parser")
    assert project.rendered("get_parser_sql", query=f"/* note */ {parser}") == parser.strip()
    for mark in ("/* lines */", "/* end of all lines */"):
        assert project.rendered("get_parser_sql", query=parser.replace(mark, "")) == "None"
    assert project.rendered("get_parser_sql", query=f"select * from ({parser}) where true") == "None"


def _shape(project: Project, arguments: dict[str, Any], event: dict[str, Any]) -> Any:
    found = project.rendered("get_template_shape", lines=[json.dumps(event)], arguments=arguments)
    return ast.literal_eval(found.strip())
