"""The files that `start` writes: sources, models, tests and documentation of one table."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from dbt.adapters.spark_clickhouse.cli.sampling import Sampled
from dbt.adapters.spark_clickhouse.core.types import SCALARS

_PACKAGE = "versioned_collapsing"


@dataclass(frozen=True)
class Bridge:
    """The arguments of a bridge's macro, besides the landing table.

    Args:
        tool: the tool that fills the landing table.
        arguments: the macro's arguments, by option of the command line.
    """

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
    re.findall(
        r"\w+",
        """
        adapter api column config context database env env_var exceptions execute flags
        fromjson fromyaml graph invocation_id load_agate_table load_result log model
        modules post_hooks pre_hooks ref render return run_started_at schema source sql
        sql_now store_raw_result store_result target this tojson toyaml
        try_or_compiler_error var write
        """,
    )
)
# Keywords that must be quoted to be column names.
_RESERVED = frozenset(
    re.findall(
        r"\w+",
        """
        all and anti any array as asc asof between both by case cast create cross cube current
        delete desc describe distinct else end except exists false final following for format from
        full global group grouping having ilike in inner insert intersect interval into is join left
        like limit not null nulls offset on or order outer over partition preceding prewhere qualify
        range replace right rollup row rows sample select semi set settings show table then to top
        totals true truncate unbounded union update user using values view when where window with
        """,
    )
)


@dataclass(frozen=True)
class Start:
    """What is known about a table and its source.

    Args:
        name: the name of the table.
        kind: `debezium`, `upserts`, `clickhouse`, or the name of a bridge.
        landing: for files, the folder that contains the folders `batch=N`.
        table: for ClickHouse, the landing table with its database.
        beside: for a bridge, another table of its tool in the same database, else empty.
        key: the columns that identify a row.
        version: what orders the changes of a row.
        is_deleted: the column that is true for a deleted row, else empty.
        sampled: the columns with their types.
        given: the column types given on the command line.
        package: where the dbt package is.
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
    sampled: Sampled
    given: Mapping[str, str]
    package: str
    codes: tuple[str, ...] = ()
    deletes: tuple[str, ...] = ()

    @property
    def project(self) -> str:
        """The name of a project for the table: dbt rejects some names."""
        return f"{self.name}_project" if self.name in _NOT_OF_PROJECTS | _RESERVED else self.name

    @property
    def is_of_envelopes(self) -> bool:
        """Whether a row of the landing table is a Debezium event with the row as text."""
        return self.kind == "kafka_connect" and {"op", "after"} <= self.sampled.columns.keys()

    @property
    def columns(self) -> dict[str, str]:
        """The columns of the table, without the one that marks deleted rows."""
        return {n: t for n, t in self.sampled.columns.items() if n != self.is_deleted}


@dataclass(frozen=True)
class Files:
    """Texts by path: files that a project has only once, and those of the table."""

    of_project: Mapping[str, str] = field(default_factory=dict)
    of_models: Mapping[str, str] = field(default_factory=dict)


def files_of(start: Start, *, has_project: bool) -> Files:
    """All files of a table.

    Args:
        start: what is known.
        has_project: whether there is a dbt project, whose files are then kept.
    """
    of_project = {"packages.yml": f"packages:\n  - local: {start.package}\n"}
    if not has_project:
        of_project |= {
            "dbt_project.yml": f'name: {start.project}\nversion: "1.0"\nprofile: {start.project}\n',
            "profiles.yml": (
                f"{start.project}:\n  target: embedded\n  outputs:\n    embedded:\n"
                f"      type: spark_clickhouse\n      schema: {start.project}\n      threads: 4\n"
            ),
        }
    if start.kind in BRIDGES:
        of_table = _of_bridge(start)
    else:
        of_table = _of_landing_table(start) if start.kind == "clickhouse" else _of_files(start)
    folder = f"models/{start.name}"
    return Files(of_project, {f"{folder}/{name}": text for name, text in of_table.items()})


def _of_files(start: Start) -> dict[str, str]:
    name, changes = start.name, f"{start.name}_changes"
    quarantine = f"{name}_quarantine"
    parser = "parse_debezium" if start.kind == "debezium" else "parse_upserts"
    arguments = [f"source('{name}_landing', '{name}')", f"key={_list(start.key)}", f"columns={_mapping(start.columns)}"]
    if start.sampled.table:
        arguments.append(f"table='{start.sampled.table}'")
    if start.version:
        arguments.append(f"version='{start.version}'")
    if start.kind == "upserts" and start.is_deleted:
        codes = ", ".join(f"{_python(code)}: {code in start.deletes}" for code in start.codes)
        flag = f"{{'{start.is_deleted}': {{{codes}}}}}" if codes else _python(start.is_deleted)
        arguments.append(f"is_deleted={flag}")
    if start.sampled.encodings:
        arguments.append(f"encodings={_mapping(start.sampled.encodings)}")
    if clamped := sorted(start.sampled.open_ended - {*start.key, start.version}):
        arguments.append(f"ranges={_mapping(dict.fromkeys(clamped, 'clamp'))}")
    call = "".join(f"\n    {argument}," for argument in arguments)
    return {
        f"{name}__sources.yml": (
            f"sources:\n  - name: {name}_landing\n    description: Where {_text(start)} land.\n"
            f"    database: spark\n    tables:\n      - name: {name}\n"
            f"        description: One JSON object a line, in one folder a batch.\n"
            f"        external: {{location: {_quoted(start.landing)}, file_format: text}}\n"
        ),
        f"stg_{name}.sql": (
            f"{{{{ config(database='spark', materialized='view') }}}}\n\n{{{{ {_PACKAGE}.{parser}({call}\n) }}}}\n"
        ),
        f"{changes}.sql": (
            "{{ config(database='spark', materialized='change_set') }}\n\n"
            f"{{{{ {_PACKAGE}.one_change_per_key(ref('stg_{name}'), key={_list(start.key)}) }}}}\n"
        ),
        f"{name}.sql": (
            "{{ config(\n    database='clickhouse', materialized='versioned_collapsing', "
            f"unique_key={_list(start.key)}\n) }}}}\n\nselect * from {{{{ ref('{changes}') }}}}\n"
        ),
        f"{quarantine}_changes.sql": (
            "{{ config(database='spark', materialized='change_set', "
            "on_changed_batch='reprocess') }}\n\n"
            f"{{{{ {_PACKAGE}.quarantined_lines(ref('stg_{name}'), '{name}') }}}}\n"
        ),
        f"{quarantine}.sql": (
            "{{ config(\n    database='clickhouse', materialized='versioned_collapsing',\n"
            "    unique_key=['source_table', 'batch', 'file', 'line_number']\n) }}\n\n"
            f"{{{{ {_PACKAGE}.replace_quarantined_batches(ref('{quarantine}_changes')) }}}}\n"
        ),
        f"{name}__models.yml": (
            "models:\n"
            f"  - name: stg_{name}\n    description: Every line of the landing zone, parsed.\n"
            f"    data_tests:\n      - {_PACKAGE}.no_unknown_fields:\n"
            f"          arguments: {{change_set: ref('{changes}')}}\n"
            f"  - name: {changes}\n"
            "    description: The last change of each key, of the batches to apply.\n"
            f"{_described_table(start, _stored_types(start))}"
            f"  - name: {quarantine}_changes\n"
            "    description: Lines of these batches that cannot be used.\n"
            f"  - name: {quarantine}\n"
            "    description: Lines that cannot be used, with the reason.\n"
        ),
    }


def _landing_tables(start: Start, description: str) -> str:
    database, _, table = start.table.partition(".")
    beside = (
        f"      - name: {_quoted(start.beside)}\n        description: Another table of that tool.\n"
        if start.beside
        else ""
    )
    return (
        f"sources:\n  - name: {start.name}_landing\n"
        f"    description: Where {_text(start)} land.\n"
        f"    schema: {_quoted(database)}\n    tables:\n      - name: {_quoted(table)}\n"
        f"        description: {description}\n{beside}"
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
            is_table = option == "beside"
            text = source(value) if is_table else _python(_identifier(value))
            arguments.append(f"{name}={text}")
    call = "".join(f"\n    {argument}," for argument in arguments)
    described = start.given if start.is_of_envelopes else {n: start.columns[n] for n in start.key}
    return {
        f"{start.name}__sources.yml": _landing_tables(start, f"What {bridge.tool} lands."),
        f"{start.name}.sql": (
            "{{ config(materialized='versioned_collapsing', "
            f"unique_key={_list(start.key)}) }}}}\n\n"
            f"{{{{ {_PACKAGE}.{start.kind}_changes({call}\n) }}}}\n"
        ),
        f"{start.name}__models.yml": f"models:\n{_described_table(start, described)}",
    }


def _of_landing_table(start: Start) -> dict[str, str]:
    lines = [f"  {_identifier(column)}" for column in start.columns if column != "_version"]
    lines.append("  _version" if start.version == "_version" else f"  {_identifier(start.version)} as _version")
    if start.is_deleted:
        is_named = start.is_deleted == "_is_deleted"
        lines.append("  _is_deleted" if is_named else f"  {_identifier(start.is_deleted)} as _is_deleted")
    select = ",\n".join(lines)
    table = _python(start.table.partition(".")[2])
    return {
        f"{start.name}__sources.yml": _landing_tables(start, "Rows that replace each other."),
        f"{start.name}.sql": (
            "{{ config(materialized='versioned_collapsing', "
            f"unique_key={_list(start.key)}) }}}}\n\nselect\n{select}\n"
            f"from {{{{ source('{start.name}_landing', {table}) }}}}\n"
        ),
        f"{start.name}__models.yml": f"models:\n{_described_table(start, start.columns)}",
    }


def _described_table(start: Start, types: Mapping[str, str]) -> str:
    """The table in the properties file, with types and tests."""
    columns = "".join(
        f"      - {{name: {_quoted(column)}, data_type: {_quoted(kind)}"
        f"{', quote: true' if not column.isidentifier() else ''}}}\n"
        for column, kind in types.items()
    )
    return (
        f"  - name: {start.name}\n"
        f"    description: The rows of {start.name} as they are now, as state and cancel rows.\n"
        f"    columns:\n{columns}"
        f"    data_tests:\n      - {_PACKAGE}.one_live_row_per_key:\n"
        f"          arguments: {{unique_key: [{', '.join(map(_quoted, start.key))}]}}\n"
        f"      - {_PACKAGE}.cancel_rows_match_state_rows\n"
    )


def _stored_types(start: Start) -> dict[str, str]:
    """ClickHouse's types. They are Nullable except for columns that must have a value."""
    position = "UInt256" if start.version in _LONG_POSITIONS else "Int128"
    found = {"_version": position} if "." in start.version else {}
    for column, kind in start.columns.items():
        stored = SCALARS.get(kind) or re.sub(r"^decimal\((\d+),\s*(\d+)\)$", r"Decimal(\1, \2)", kind)
        is_required = column in start.key or column == start.version
        found[column] = stored if is_required else f"Nullable({stored})"
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
