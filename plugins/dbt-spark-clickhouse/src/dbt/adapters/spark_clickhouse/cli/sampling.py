"""The columns of a source and their types, from some of its rows."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import re
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dbt.cli.main import dbtRunner

from dbt.adapters.spark_clickhouse.landing.batches import local_files

LINES = 2000  # lines to look at in each file
ENOUGH_ROWS = 100  # rows after which a column that was never null is taken to have a value always
FLAGS_OF_DELETES = frozenset({"true", "t", "yes", "y", "1"})
FILES = 20
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_TIME = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?")
# What stands for a date without an end, beside dates: ClickHouse stores 1900 to 2299.
_OPEN_END = re.compile(r"(?i)-?infinity|(?:0\d{3}|1[0-8]\d\d|2[3-9]\d\d|[3-9]\d{3})-\d\d-\d\d(?:[T ].*)?")
_DECIMAL = re.compile(r"-?\d+\.\d+")
# Numbers as texts. A leading zero is that of a code.
_NUMBER = re.compile(r"-?(0|[1-9]\d{0,17})(\.\d{1,18})?")
_INT64 = 2**63
# What orders the events of each Debezium connector, in the names of parse_debezium.
ORDERS = {
    "postgresql": "source.sequence",
    "mysql": "source.pos",
    "mariadb": "source.pos",
    "mongodb": "source.ord",
    "sqlserver": "source.commit_lsn",
    "oracle": "source.commit_scn",
}
DESPITE_RACES = "source.lsn_despite_races"
# What Debezium's schema says about a field: the type, and how its value is encoded.
_OF_SCHEMA = {
    "org.apache.kafka.connect.data.Date": ("date", "epoch_days"),
    "org.apache.kafka.connect.data.Timestamp": ("timestamp", "epoch_millis"),
    "io.debezium.time.Date": ("date", "epoch_days"),
    "io.debezium.time.Timestamp": ("timestamp", "epoch_millis"),
    "io.debezium.time.MicroTimestamp": ("timestamp", "epoch_micros"),
    "io.debezium.time.NanoTimestamp": ("timestamp", "epoch_nanos"),
    "io.debezium.time.ZonedTimestamp": ("timestamp", ""),
}
_OF_TYPE = {
    "boolean": "boolean",
    "int8": "tinyint",
    "int16": "smallint",
    "int32": "int",
    "int64": "bigint",
    "float": "float",
    "float32": "float",
    "double": "double",
    "float64": "double",
    "string": "string",
}


class SampleError(Exception):
    """The source is not usable; the text says what to do."""


@dataclass(frozen=True)
class Sampled:
    """What a sample shows.

    Args:
        columns: the type of each column, in the spelling of the engine that reads it.
        encodings: how Debezium encodes a value, by column.
        version: what orders the changes, if the source itself says so.
        open_ended: the columns of dates and times with values such as 9999-12-31 or infinity.
        table: the table of Debezium's events, with its schema, if the events say so.
        required: the columns that always have a value.
        looks: what else the values of a column could be, with the option that says so.
    """

    columns: Mapping[str, str]
    encodings: Mapping[str, str] = field(default_factory=dict)
    version: str = ""
    table: str = ""
    open_ended: frozenset[str] = frozenset()
    required: frozenset[str] = frozenset()
    looks: Mapping[str, str] = field(default_factory=dict)


def sample_of_files(
    lines: Sequence[dict[str, Any]],
    *,
    is_debezium: bool,
    types: Mapping[str, str],
    table: str = "",
    marker: str = "",
    deletes: Collection[str] = FLAGS_OF_DELETES,
    prefix: str = "",
) -> Sampled:
    """The columns of the rows in a landing zone.

    Args:
        lines: what ``landed`` has read.
        is_debezium: whether the lines are Debezium envelopes.
        types: the given types, by column.
        table: if the events are of several tables, the one to look at: its name, with or without the schema.
        marker: a column that says which rows are deleted, if its value is one of ``deletes``.
        prefix: what options for this table begin with.

    Raises:
        SampleError: no line can be used, a column cannot be read, or the events are of several tables.
    """
    values: dict[str, list[Any]] = {}
    declared: dict[str, _Declared] = {}
    sources: list[Mapping[str, Any]] = []
    tables: set[str] = set()
    rows = 0
    kept: Counter[str] = Counter()
    for line in lines:
        row: Any = line
        is_kept = str(line.get(marker)).lower() not in deletes if marker else True
        if is_debezium:
            message, event = _event(line)
            if event is None:
                continue
            source = event.get("source")
            if isinstance(source, dict):
                of_table = _table_of(source)
                if table and of_table and table not in (of_table, of_table.rpartition(".")[2]):
                    continue
                tables |= {of_table} - {""}
                sources.append(source)
            declared |= _declared(message.get("schema"))
            row = event.get("after") or event.get("before")
            is_kept = bool(event.get("after")) and event.get("op") != "d"
        _refuse_other_tools(line)
        if not isinstance(row, dict):
            continue
        rows += is_kept
        for name, value in row.items():
            values.setdefault(name, []).append(value)
            kept[name] += is_kept and value is not None
    if len(tables) > 1:
        raise SampleError(
            f"the events are of several tables: {', '.join(sorted(tables))}. Name one of them: "
            f"--source-table {min(tables)}. Or take them all: --all"
        )
    if not values:
        raise SampleError(
            "no line of the sample has a row. Land a batch first: a folder batch=N with files of "
            + ("Debezium's envelopes, one JSON object a line." if is_debezium else "JSON objects, one a line.")
        )
    read = {} if is_debezium else _numbers_of_csv(values)
    columns: dict[str, str] = {}
    for name, found in values.items():
        if not _NAME.fullmatch(name):
            raise SampleError(
                f"the column '{name}' does not begin with a letter, or contains characters other "
                "than letters, digits and underscores, which the parsers do not read. Rename it at "
                "its source."
            )
        columns[name] = types.get(name) or (
            declared[name].type if name in declared else _type_of(read.get(name, found))
        )
    unsaid = [name for name in values if name not in {**types, **declared, marker: ""}]
    looks = {name: look for name in unsaid if (look := _look(name, values[name], prefix + name))}
    for name in (name for name in unsaid if name in read):
        looks[name] = _Look(f"a number in each row. For a text: --column {prefix}{name}:string")
    if is_debezium:
        _refuse_unknown([look for look in looks.values() if look.is_unclear])
    encodings = {name: of.encoding for name, of in declared.items() if of.encoding and name in columns}
    encodings = {name: way for name, way in encodings.items() if name not in types}
    encodings |= {name: kind.split(":")[1] for name, kind in types.items() if ":" in kind and name in columns}
    columns = {name: kind.split(":")[0] for name, kind in columns.items()}
    version = _version_of(sources) if is_debezium else ""
    of_time = {name for name, kind in columns.items() if kind in ("date", "timestamp")}
    open_ended = frozenset(name for name in of_time if any(_is_open_end(value) for value in values[name]))
    always = {name for name in columns if rows >= ENOUGH_ROWS and kept[name] == rows and name not in declared}
    always |= {name for name, of in declared.items() if of.is_required and name in columns}
    texts = {name: look.text for name, look in looks.items() if not is_debezium or not look.is_code}
    return Sampled(columns, encodings, version, "".join(tables), open_ended, frozenset(always), texts)


def landed(landing: Path) -> list[dict[str, Any]]:
    """The JSON objects in the first files of a landing zone. Other lines would go to the quarantine.

    Raises:
        SampleError: there is no such folder.
    """
    if not landing.is_dir():
        raise SampleError(f"{landing} is no folder. It is where the folders batch=N are.")
    found = list(_objects(landing))
    if not found:
        _refuse_other_formats(landing)
    return found


def _refuse_other_formats(landing: Path) -> None:
    """Reject a landing zone whose files have no lines of JSON.

    Raises:
        SampleError: there is such a file; the message says what to do with it.
    """
    advice = {
        ".csv": "turn it into a batch: dbt-spark-clickhouse land --help",
        ".parquet": 'only lines of JSON are read here. "Parquet files" in docs/change_sets.md has the way',
    }
    for file in local_files(landing):
        if (name := Path(file.place)).suffix in advice:
            raise SampleError(f"found {name}: {advice[name.suffix]}.")


def doubts_about_extracts(rows: Sequence[dict[str, Any]], key: Sequence[str], landing: Path) -> list[str]:
    """What speaks against a key of whole extracts, in each of which a row can be only once."""
    extracts = len({file.place.partition("/")[0] for file in local_files(landing)})
    values = len({json.dumps([row.get(name) for name in key], default=str) for row in rows})
    if len(rows) <= values * extracts:
        return []
    of = "1 extract" if extracts == 1 else f"{extracts} extracts"
    return [f"{' and '.join(key)} has {values} values in {len(rows)} rows of {of}"]


def tables_of(lines: Sequence[dict[str, Any]]) -> list[str]:
    """The tables of Debezium's events, with their schemas."""
    events = (event for _, event in map(_event, lines) if event)
    sources = (event["source"] for event in events if isinstance(event.get("source"), dict))
    return sorted({_table_of(source) for source in sources} - {""})


def _event(line: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """The message in a line, and the envelope in it."""
    message = _message(line)
    envelope = message.get("payload") if "payload" in message else message
    return message, _envelope(envelope) if isinstance(envelope, dict) else None


# Fields by which the lines of another tool are known.
_TOOLS = {
    "GoldenGate": {"op_type", "pos"},
    "Canal or TiCDC": {"isDdl", "pkNames"},
    "Maxwell": {"database", "table", "type", "ts", "data"},
    "Airbyte": {"_airbyte_data"},
    "Fivetran": {"_fivetran_deleted"},
}


def _refuse_other_tools(line: Mapping[str, Any]) -> None:
    """Stop at lines that no answer to the questions of the starter describes.

    Raises:
        SampleError: the line is of such a tool.
    """
    for tool, fields in _TOOLS.items():
        if fields <= line.keys():
            raise SampleError(
                f"the lines look like those of {tool}. docs/other_tools.md has the staging model that reads them; "
                "the other models are those of docs/your_project.md."
            )
    if {"operationType", "documentKey"} <= line.keys():
        raise SampleError("the lines are MongoDB's own change stream. Land it by Debezium's connector for MongoDB.")
    if "specversion" in line:
        raise SampleError("the lines are CloudEvents. Let the sink write plain JSON: debezium.format.value=json.")


def _is_open_end(value: Any) -> bool:
    return isinstance(value, str) and _OPEN_END.fullmatch(value) is not None


def _message(line: dict[str, Any]) -> dict[str, Any]:
    """The message inside the wrapping of a consumer or sink, found as parse_debezium finds it."""
    while {"key", "topic"} & line.keys() and "op" not in line:
        found = _parsed(line.get("value", line.get("payload")))
        if found is None:
            break
        line = found
    inner = line.get("payload")
    return (_parsed(inner) or line) if isinstance(inner, str) else line


def _parsed(value: Any) -> dict[str, Any] | None:
    try:
        found = json.loads(value, parse_float=_Decimal) if isinstance(value, str) else value
    except json.JSONDecodeError:
        return None
    return found if isinstance(found, dict) else None


def _envelope(event: dict[str, Any]) -> dict[str, Any]:
    """An event as an envelope: rows can be flattened, and documents of MongoDB are texts.

    Raises:
        SampleError: the stream has no deletes.
    """
    if "op" not in event and any(name.startswith("__") for name in event):
        if "__deleted" not in event:
            raise SampleError(
                "the events are flattened and have no __deleted: the stream has no deletes. Set "
                "delete.tombstone.handling.mode: rewrite in the transform ExtractNewRecordState."
            )
        source = {
            name.removeprefix("__").removeprefix("source_"): value
            for name, value in event.items()
            if name.startswith("__")
        }
        row = {name: value for name, value in event.items() if not name.startswith("__")}
        return {"op": source.get("op"), "source": source, "after": row}
    if isinstance(event.get("after"), str) and (document := _parsed(event["after"])):
        return {**event, "after": {"id": str(document.get("_id")), "document": event["after"]}}
    return event


_BASE64 = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")
_OF_TIME = re.compile(r"(?:^|_)(?:day|date|dob|birthday|on|at|from|until|since|time|made|seen)$")
# Units that had passed since 1970 in 2001; in 2096 it will be four times as many.
_EPOCHS = {"millis": 10**12, "micros": 10**15, "nanos": 10**18}


@dataclass(frozen=True)
class _Look:
    """What else the values of a column could be.

    Args:
        text: what they look like, and the options that say so.
        is_unclear: whether they are likely to be something else than they seem.
        is_code: whether they could say which rows are deleted.
    """

    text: str
    is_unclear: bool = False
    is_code: bool = False


def _look(name: str, found: list[Any], option: str) -> _Look | None:
    """What the values of a column look like. ``option`` is its name on the command line."""
    given = [value for value in found if value is not None]
    if not given:
        return _Look(f"{name} has only nulls. For another type: --column '{option}:decimal(12,2)'")
    has = f"{name} has {json.dumps(given[0])}"
    if all(isinstance(value, dict) and value.keys() == {"scale", "value"} for value in given):
        return _Look(f"{has}, a decimal: --column '{option}:decimal(38,9):precise'", is_unclear=True)
    if all(isinstance(value, int) and not isinstance(value, bool) for value in given):
        # Some may be 9999-12-31, or another day that means none.
        if ways := [way for way, one in _EPOCHS.items() if _most(one <= value < 4 * one for value in given)]:
            way = f"--column {option}:timestamp:epoch_{ways[0]}, or --column {option}:bigint"
            return _Look(f"{has}, a time or a number: {way}", is_unclear=True)
        if _OF_TIME.search(name) and _most(-80_000 < value < 120_000 for value in given):
            way = f"--column {option}:date:epoch_days, or --column {option}:bigint"
            return _Look(f"{has}, a date or a number: {way}", is_unclear=True)
        return _Look(f"{name} has 0 and 1. For a flag: --column {option}:boolean") if {*given} == {0, 1} else None
    texts = [value for value in given if isinstance(value, str) and not isinstance(value, _Decimal) and value]
    if len(texts) < len(given):
        return None
    if all(map(_BASE64.fullmatch, texts)) and any(text.endswith("=") for text in texts):
        return _Look(
            f"{has}, a decimal or bytes: --column '{option}:decimal(12,2):precise' with the scale of the source, "
            f"--column {option}:binary:base64, or --column {option}:string",
            is_unclear=True,
        )
    if all(map(_DECIMAL.fullmatch, texts)):
        scale = max(len(text.partition(".")[2]) for text in texts)
        return _Look(f"{has}. For a number: --column '{option}:decimal(18,{scale})'")
    if 1 < len(codes := sorted({*texts})) < 6 and all(len(text) == 1 for text in codes):
        return _Look(f"{name} has {', '.join(codes)}. If one means a deleted row: --is-deleted {name}=…", is_code=True)
    return None


def _numbers_of_csv(values: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
    """The columns of numbers, if all values of all columns are texts, as those of a CSV file are."""
    if not all(value is None or type(value) is str for found in values.values() for value in found):
        return {}
    return {
        name: [None if value is None else _Decimal(value) if "." in value else int(value) for value in found]
        for name, found in values.items()
        if any(found) and all(value is None or _NUMBER.fullmatch(value) for value in found)
    }


def _most(answers: Iterable[bool]) -> bool:
    found = list(answers)
    return sum(found) * 2 >= len(found)


def _refuse_unknown(looks: Sequence[_Look]) -> None:
    """Reject values, in events without a schema, that do not show by themselves what they are.

    Raises:
        SampleError: there is such a column; the message lists the ways to say what it is.
    """
    if looks:
        raise SampleError(
            "the events have no schema, and some values do not say what they are. Let the "
            "connector send schemas (value.converter.schemas.enable), or say it:\n  "
            + "\n  ".join(look.text for look in looks)
        )


def doubts_about(rows: Sequence[dict[str, Any]], key: Sequence[str], version: str) -> list[str]:
    """What speaks against a key and a version of rows that replace each other."""
    names = (*key, version)
    placed = [row for row in rows if all(row.get(name) is not None for name in names)]
    first: dict[str, dict[str, Any]] = {}
    others = sum(first.setdefault(json.dumps([row[name] for name in names]), row) != row for row in placed)
    return [
        *(
            [f"{len(rows) - len(placed)} of {len(rows)} rows lack {' or '.join(names)}"]
            if len(placed) < len(rows)
            else []
        ),
        *(
            [f"{others} of {len(rows)} rows have {' and '.join(names)} of another row, and other values"]
            if others
            else []
        ),
    ]


def codes_of(lines: Sequence[dict[str, Any]], name: str) -> list[str]:
    """The values of a field that are neither true nor false, as text."""
    values = {line.get(name) for line in lines if not isinstance(line.get(name), dict | list)}
    return sorted(str(value) for value in values if value is not None and not isinstance(value, bool))


def _table_of(source: Mapping[str, Any]) -> str:
    """The table of an event, named as in parse_debezium."""
    table = source.get("table") or source.get("collection")
    schema = source.get("schema") or source.get("db")
    return ".".join(str(part) for part in (schema, table) if part) if table else ""


def _objects(landing: Path) -> Iterator[dict[str, Any]]:
    files = sorted(local_files(landing), key=lambda file: file.place)
    files = [file for file in files if file.place.startswith("batch=")]
    for file in files[:FILES]:
        opened = gzip.open if file.path.endswith(".gz") else open
        with opened(file.path, "rt", encoding="utf-8", errors="replace") as lines:
            for _, text in zip(range(LINES), lines, strict=False):
                try:
                    found = json.loads(text, parse_float=_Decimal)
                except json.JSONDecodeError:
                    continue
                if isinstance(found, dict):
                    yield found


class _Decimal(str):
    """A number with a fraction, as written."""


@dataclass(frozen=True)
class _Declared:
    """What the schema around an envelope says about a column."""

    type: str
    encoding: str
    is_required: bool


def _declared(schema: Any) -> dict[str, _Declared]:
    fields = (schema or {}).get("fields") if isinstance(schema, dict) else None
    images = [f for f in fields or () if f.get("field") in ("after", "before")]
    found = {}
    for column in (images[-1].get("fields") or ()) if images else ():
        kind, semantic = column.get("type"), column.get("name", "")
        parameters = column.get("parameters") or {}
        if semantic == "org.apache.kafka.connect.data.Decimal":
            precision = parameters.get("connect.decimal.precision", "38")
            of = (f"decimal({precision},{parameters.get('scale', '0')})", "precise")
        elif semantic in _OF_SCHEMA:
            of = _OF_SCHEMA[semantic]
        elif kind == "bytes":
            of = ("binary", "base64")
        else:
            of = (_OF_TYPE.get(str(kind), "string"), "")
        found[column.get("field")] = _Declared(*of, is_required=column.get("optional") is False)
    return found


def _type_of(values: list[Any]) -> str:
    """The type that fits all values; text if they differ."""
    kinds = {_kind_of(value) for value in values if value is not None}
    if kinds & {"date", "timestamp"}:
        kinds = {_kind_of(value) for value in values if value is not None and not _is_open_end(value)} or kinds
    if kinds <= {"bigint", "decimal"} and kinds:
        numbers = [str(value) for value in values if value is not None]
        if kinds == {"bigint"} and all(-_INT64 <= int(number) < _INT64 for number in numbers):
            return "bigint"
        if all(re.fullmatch(r"-?\d+(\.\d+)?", number) for number in numbers):
            scale = max(len(number.partition(".")[2]) for number in numbers)
            return f"decimal(38,{min(max(scale, 2), 18)})" if "decimal" in kinds else "decimal(38,0)"
        return "double"
    if kinds == {"date", "timestamp"}:
        return "timestamp"
    return kinds.pop() if len(kinds) == 1 else "string"


def _kind_of(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "bigint"
    if isinstance(value, _Decimal):
        return "decimal"
    if isinstance(value, str) and _DATE.fullmatch(value):
        return "date"
    if isinstance(value, str) and _TIME.fullmatch(value):
        return "timestamp"
    return "string"


def _version_of(sources: list[Mapping[str, Any]]) -> str:
    """What orders the events of the connector that wrote them."""
    connectors = {str(source.get("connector")) for source in sources}
    orders = {ORDERS[connector] for connector in connectors & ORDERS.keys()}
    if len(orders) > 1:
        raise SampleError(
            f"the events are from the connectors {', '.join(sorted(connectors))}, whose positions "
            "have no common order. Land the events of each in a folder of its own."
        )
    for name, order in (("lsn", "source.sequence"), ("pos", "source.pos")):
        if not orders and any(source.get(name) is not None for source in sources):
            orders = {order}
    if orders == {"source.sequence"} and not all(map(_is_ordered, sources)):
        return DESPITE_RACES
    return orders.pop() if orders else ""


def _is_ordered(source: Mapping[str, Any]) -> bool:
    """Whether an event of PostgreSQL says which transactions committed before it."""
    fields = ("sequence", "commit_lsn")
    is_read = str(source.get("snapshot", "false")) != "false"
    return is_read or any(source.get(field) is not None for field in fields)


def sample_of_table(table: str, project: Path) -> Sampled:
    """The columns of a ClickHouse table, read through the profile of a dbt project.

    Raises:
        SampleError: there is no project, or it cannot read the table.
    """
    if not (project / "dbt_project.yml").exists():
        raise SampleError(
            f"{project / 'dbt_project.yml'} does not exist, and the columns of {table} are read by "
            "the profile of a project. Make one first: dbt init."
        )
    database, dot, name = table.partition(".")
    if not dot or not name:
        raise SampleError(f"--table is {table}. Write it as database.table.")
    literals = {k: v.replace("\\", "\\\\").replace("'", "\\'") for k, v in (("d", database), ("t", name))}
    query = (
        "select name, type from system.columns "
        f"where database = '{literals['d']}' and table = '{literals['t']}' order by position"
    )
    folder = str(project)
    # dbt prints the columns as a table that is cut off at the right.
    with contextlib.redirect_stdout(io.StringIO()) as said:
        shown = dbtRunner().invoke(
            ["--quiet", "show", "--inline", query, "--limit", "-1", "--project-dir", folder]
            + (["--profiles-dir", folder] if (project / "profiles.yml").exists() else [])
        )
    if not shown.success:
        sys.stdout.write(said.getvalue())
        raise SampleError(f"dbt cannot read the columns of {table}, see above. Try: dbt deps, dbt debug")
    rows = [row for result in shown.result.results for row in result.agate_table.rows]  # type: ignore[union-attr]
    if not rows:
        raise SampleError(f"ClickHouse has no table {table}, or its user may not read it.")
    return Sampled({str(row["name"]): str(row["type"]) for row in rows})
