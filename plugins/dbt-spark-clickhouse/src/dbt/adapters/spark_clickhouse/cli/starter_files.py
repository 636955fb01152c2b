"""The files that `start` writes: sources, models, tests and documentation of each table."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dbt.adapters.spark_clickhouse.cli.sampling import Sampled
from dbt.adapters.spark_clickhouse.core.types import SCALARS

_PACKAGE = "versioned_collapsing"
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Bridge:
    """The tool that fills a landing table, and the arguments of its bridge's macro by option of the command line."""

    tool: str
    arguments: Mapping[str, str]


BRIDGES = {
    "peerdb": Bridge("PeerDB or a ClickPipe for databases", {"beside": "raw"}),
    "airbyte": Bridge("Airbyte", {"version": "version"}),
    "altinity": Bridge("Altinity's sink connector", {"is_deleted": "is_deleted"}),
    "kafka_connect": Bridge("Kafka Connect", {"version": "version", "is_deleted": "is_deleted"}),
    "dlt": Bridge("dlt", {"beside": "loads", "version": "version"}),
}
# Debezium positions that do not fit into Int128.
_LONG_POSITIONS = frozenset({"source.commit_lsn", "source.commit_scn"})
# Names in Jinja's context, which dbt rejects as project names.
_NOT_OF_PROJECTS = frozenset(
    _WORD.findall("""
    adapter api column config context database env env_var exceptions execute flags fromjson fromyaml graph
    invocation_id load_agate_table load_result log model modules post_hooks pre_hooks ref render return
    run_started_at schema source sql sql_now store_raw_result store_result target this tojson toyaml
    try_or_compiler_error var write
    """)
)
# Keywords that must be quoted to be column names.
_RESERVED = frozenset(
    _WORD.findall("""
    all and anti any array as asc asof between both by case cast create cross cube current delete desc describe
    distinct else end except exists false final following for format from full global group grouping having ilike in
    inner insert intersect interval into is join left like limit not null nulls offset on or order outer over
    partition preceding prewhere qualify range replace right rollup row rows sample select semi set settings show
    table then to top totals true truncate unbounded union update user using values view when where window with
    """)
)


@dataclass(frozen=True)
class Start:
    """What is known about a table and its source.

    Args:
        name: the name of the table.
        kind: `debezium`, `upserts`, `extracts`, `clickhouse`, or the name of a bridge.
        landing: for files, the folder that contains the folders `batch=N`.
        table: for ClickHouse, the landing table with its database.
        beside: for a bridge, another table of its tool in the same database, else empty.
        key: the columns that identify a row.
        version: what orders the changes of a row.
        is_deleted: the column that is true for a deleted row, else empty.
        given: the column types given on the command line.
        source_table: the events to take, if there are those of several tables.
        lines: for files, the lines of the sample.
        sampled: the columns with their types.
        codes: the values of the column ``is_deleted``, if it is not true or false.
        deletes: the codes that mean a deleted row.
    """

    name: str
    kind: str
    landing: str
    table: str
    beside: str
    key: tuple[str, ...]
    version: str
    is_deleted: str
    given: Mapping[str, str]
    source_table: str = ""
    lines: Sequence[dict[str, Any]] = ()
    sampled: Sampled = field(default_factory=lambda: Sampled({}))
    codes: tuple[str, ...] = ()
    deletes: tuple[str, ...] = ()

    @property
    def is_of_envelopes(self) -> bool:
        """Whether a row of the landing table is a Debezium event with the row as text."""
        return self.kind == "kafka_connect" and {"op", "after"} <= self.sampled.columns.keys()

    @property
    def columns(self) -> dict[str, str]:
        """The columns of the table, without the one that marks deleted rows."""
        return {n: t for n, t in self.sampled.columns.items() if n != self.is_deleted}

    @property
    def required(self) -> tuple[str, ...]:
        """The columns that always have a value, besides the key and the version."""
        return tuple(name for name in self.columns if name in self.sampled.required - {*self.key, self.version})


# The folders of models that read files: what they are, in the words of dbt_project.yml. Spark is brown.
FOLDERS = {
    "staging": {"database": "spark", "materialized": "view", "color": "#b35900"},
    "changes": {"database": "spark", "materialized": "change_set", "color": "#b35900"},
    "current": {
        "database": "clickhouse",
        "materialized": "versioned_collapsing",
        "on_schema_change": "append_new_columns",
        "color": "#0969da",
    },
}
QUARANTINE = "models/changes/quarantine_changes.sql"


def plain_name(text: str, other: str) -> str:
    """A name of lower case letters, digits and underscores, made of a text. ``other`` stands where it has no letter."""
    name = re.sub(r"\W+", "_", text.lower(), flags=re.ASCII).strip("_")
    return name if name[:1].isalpha() else f"{other}_{name}".strip("_")


def project_name(folder: str) -> str:
    """The name of a project in a folder: dbt rejects some names."""
    name = plain_name(folder, "project")
    return f"{name}_project" if name in _NOT_OF_PROJECTS | _RESERVED else name


def project_files(project: str, package: str) -> dict[str, str]:
    """The files that a project has only once."""
    folders = "".join(
        f"    {name}:\n"
        + "".join(f"      +{option}: {value}\n" for option, value in of.items() if option != "color")
        + f'      +docs: {{node_color: "{of["color"]}"}}\n'
        for name, of in FOLDERS.items()
    )
    return {
        "packages.yml": f"packages:\n  - local: {package}\n",
        "dbt_project.yml": (
            f'name: {project}\nversion: "1.0"\nprofile: {project}\nmodels:\n  {project}:\n{folders}'
            "    # For views with sums, once there are some:\n"
            "    # marts:\n    #   +database: clickhouse\n    #   +materialized: versioned_collapsing_view\n"
            '    #   +docs: {node_color: "#1a7f37"}\n'
        ),
        "profiles.yml": (
            f"{project}:\n  target: embedded\n  outputs:\n    embedded:\n"
            f"      type: spark_clickhouse\n      schema: {project}\n      threads: 4\n"
        ),
    }


def table_files(start: Start, *, has_folders: bool) -> dict[str, str]:
    """The files of a table. If dbt_project.yml does not have the configuration of ``FOLDERS``, each model has it."""
    if start.kind in BRIDGES:
        return _of_bridge(start)
    return _of_landing_table(start) if start.kind == "clickhouse" else _of_files(start, has_folders)


def quarantine_files(starts: Sequence[Start], before: str, *, has_folders: bool) -> dict[str, str]:
    """The quarantine of all tables that read files. ``before`` is its change set as it is, empty if there is none."""
    calls = [
        f"{{{{ {_PACKAGE}.quarantined_lines(ref('stg_{start.name}'), '{start.name}', "
        f"change_set=ref('{start.name}_changes')) }}}}\n"
        for start in starts
    ]
    if before:
        calls = [call for call in calls if call.strip() not in before]  # a table may have been started before
        return {QUARANTINE: "union all\n".join([before.rstrip() + "\n", *calls])}
    changes = _config("changes", has_folders, "meta={'on_changed_batch': 'reprocess'}")
    current = _config("current", has_folders, "unique_key=['source_table', 'batch', 'file', 'line_number']")
    return {
        QUARANTINE: changes + "union all\n".join(calls),
        "models/current/quarantine.sql": (
            f"{current}{{{{ {_PACKAGE}.replace_quarantined_batches(ref('quarantine_changes')) }}}}\n"
        ),
        "models/current/quarantine.yml": (
            "models:\n  - name: quarantine_changes\n"
            "    description: Lines that cannot be used, of the batches to apply.\n"
            "  - name: quarantine\n    description: Lines that cannot be used, of all tables, with the reason.\n"
            f"    data_tests:\n      - {_PACKAGE}.quarantine_is_empty\n"
        ),
    }


def _config(folder: str, has_folders: bool, *more: str) -> str:
    """The configuration in a model."""
    of = FOLDERS[folder]
    own = () if has_folders else [(option, value) for option, value in of.items() if option != "color"]
    arguments = [f"{option}='{value}'" for option, value in own]
    return f"{{{{ config({', '.join([*arguments, *more])}) }}}}\n\n" if arguments or more else ""


def _of_files(start: Start, has_folders: bool) -> dict[str, str]:
    name, changes, sampled = start.name, f"{start.name}_changes", start.sampled
    parser = "parse_debezium" if start.kind == "debezium" else "parse_upserts"
    arguments = [f"source('landing', '{name}')", f"key={_list(start.key)}", f"columns={_mapping(start.columns)}"]
    if sampled.table:
        arguments.append(f"table='{sampled.table}'")
    if start.version:
        arguments.append(f"version='{start.version}'")
    if start.kind == "upserts" and start.is_deleted:
        codes = ", ".join(f"{_python(code)}: {code in start.deletes}" for code in start.codes)
        flag = f"{{'{start.is_deleted}': {{{codes}}}}}" if codes else _python(start.is_deleted)
        arguments.append(f"is_deleted={flag}")
    if encodings := {column: way for column, way in sampled.encodings.items() if column in start.columns}:
        arguments.append(f"encodings={_mapping(encodings)}")
    if clamped := sorted(sampled.open_ended - {*start.key, start.version}):
        arguments.append(f"ranges={_mapping(dict.fromkeys(clamped, 'clamp'))}")
    if start.required:
        arguments.append(f"required={_list(start.required)}")
    call = "".join(f"\n    {argument}," for argument in arguments)
    is_extract = start.kind == "extracts"
    what = "The changes of the newest extract" if is_extract else "The last change of each key"
    compared = f"snapshot_changes(ref('stg_{name}'), key={_list(start.key)}, version='{start.version}')"
    last = f"one_change_per_key(ref('stg_{name}'), key={_list(start.key)})"
    # With the feed, the table has a history, which begins with the first build.
    current = (f"unique_key={_list(start.key)}", *(["meta={'change_feed': true}"] if is_extract else []))
    return {
        f"models/staging/stg_{name}.sql": (
            f"{_config('staging', has_folders)}{{{{ {_PACKAGE}.{parser}({call}\n) }}}}\n"
        ),
        f"models/staging/stg_{name}.yml": (
            "sources:\n  - name: landing\n    database: spark\n    tables:\n"
            f"      - name: {name}\n        description: {_text(start)}, one JSON object a line.\n"
            f"        external: {{location: {_quoted(start.landing)}, file_format: text}}\n"
            f"models:\n  - name: stg_{name}\n    description: Every line that landed, parsed.\n    data_tests:\n"
            f"      - {_PACKAGE}.no_unknown_fields:\n          arguments: {{change_set: ref('{changes}')}}\n"
            f"  - name: {changes}\n    description: {what}, of the batches to apply.\n"
        ),
        f"models/changes/{changes}.sql": (
            f"{_config('changes', has_folders)}{{{{ {_PACKAGE}.{compared if is_extract else last} }}}}\n"
        ),
        f"models/current/{name}.sql": (
            f"{_config('current', has_folders, *current)}select * from {{{{ ref('{changes}') }}}}\n"
        ),
        f"models/current/{name}.yml": (
            f"# The other columns are Nullable, of the type in stg_{name}.sql.\n"
            f"models:\n{_described_table(start, _stored_types(start))}"
        ),
    }


def _landing_tables(start: Start, description: str) -> str:
    database, _, table = start.table.partition(".")
    beside = f"      - name: {_quoted(start.beside)}\n        description: Another table of that tool.\n"
    return (
        f"sources:\n  - name: {start.name}_landing\n    description: Where {_text(start)} land.\n"
        f"    schema: {_quoted(database)}\n    tables:\n      - name: {_quoted(table)}\n"
        f"        description: {description}\n{beside if start.beside else ''}"
    )


def _of_bridge(start: Start) -> dict[str, str]:
    bridge = BRIDGES[start.kind]

    def source(table: str) -> str:
        return f"source('{start.name}_landing', {_python(table)})"

    arguments = [source(start.table.partition(".")[2])]
    if start.is_of_envelopes:
        arguments.append(f"columns={_list(tuple(start.given))}")
    for option, name in bridge.arguments.items():
        if value := getattr(start, option):
            arguments.append(f"{name}={source(value) if option == 'beside' else _python(_identifier(value))}")
    call = "".join(f"\n    {argument}," for argument in arguments)
    described = start.given if start.is_of_envelopes else {n: start.columns[n] for n in start.key}
    select = f"{{{{ {_PACKAGE}.{start.kind}_changes({call}\n) }}}}\n"
    return _on_clickhouse(start, f"What {bridge.tool} lands.", select, described)


def _of_landing_table(start: Start) -> dict[str, str]:
    lines = [f"  {_identifier(column)}" for column in start.columns if column != "_version"]
    lines.append("  _version" if start.version == "_version" else f"  {_identifier(start.version)} as _version")
    if start.is_deleted:
        is_named = start.is_deleted == "_is_deleted"
        lines.append("  _is_deleted" if is_named else f"  {_identifier(start.is_deleted)} as _is_deleted")
    table = _python(start.table.partition(".")[2])
    select = "select\n" + ",\n".join(lines) + f"\nfrom {{{{ source('{start.name}_landing', {table}) }}}}\n"
    return _on_clickhouse(start, "Rows that replace each other.", select, start.columns)


def _on_clickhouse(start: Start, landed: str, select: str, types: Mapping[str, str]) -> dict[str, str]:
    config = f"{{{{ config(materialized='versioned_collapsing', unique_key={_list(start.key)}) }}}}"
    properties = f"{_landing_tables(start, landed)}models:\n{_described_table(start, types)}"
    return {f"models/current/{start.name}.sql": f"{config}\n\n{select}", f"models/current/{start.name}.yml": properties}


def _described_table(start: Start, types: Mapping[str, str]) -> str:
    """The table in the properties file, with types and tests."""
    columns = "".join(
        f"      - {{name: {_quoted(column)}, data_type: {_quoted(kind)}"
        f"{', quote: true' if not column.isidentifier() else ''}}}\n"
        for column, kind in types.items()
    )
    return (
        f"  - name: {start.name}\n    description: The rows of {start.name}, as state and cancel rows.\n"
        f"    columns:\n{columns}"
        f"    data_tests:\n      - {_PACKAGE}.one_live_row_per_key:\n"
        f"          arguments: {{unique_key: [{', '.join(map(_quoted, start.key))}]}}\n"
        f"      - {_PACKAGE}.cancel_rows_match_state_rows\n"
    )


def _stored_types(start: Start) -> dict[str, str]:
    """ClickHouse's types of the columns that always have a value. The others are Nullable, with the type in Spark."""
    position = "UInt256" if start.version in _LONG_POSITIONS else "Int128"
    found = {"_version": position} if "." in start.version else {}
    for column, kind in start.columns.items():
        if start.kind == "extracts" and column == start.version:
            continue  # the time of an extract is not passed on
        if column in start.key or column == start.version or column in start.required:
            found[column] = SCALARS.get(kind) or re.sub(r"^decimal\((\d+),\s*(\d+)\)$", r"Decimal(\1, \2)", kind)
    return found


def _text(start: Start) -> str:
    rows = "Debezium's change events" if start.kind == "debezium" else "rows"
    return f"{rows} of {start.name}"


def _python(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _quoted(text: str) -> str:
    """A text in YAML."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _identifier(name: str) -> str:
    """A name in ClickHouse, quoted only if it is not a plain one."""
    is_plain = re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) and name.lower() not in _RESERVED
    return name if is_plain else "`" + name.replace("\\", "\\\\").replace("`", "\\`") + "`"


def _list(names: tuple[str, ...]) -> str:
    return "[" + ", ".join(map(_python, names)) + "]"


def _mapping(values: Mapping[str, str]) -> str:
    lines = "".join(f"\n        {_python(name)}: {_python(value)}," for name, value in values.items())
    return f"{{{lines}\n    }}"
