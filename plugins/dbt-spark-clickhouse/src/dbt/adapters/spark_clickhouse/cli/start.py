"""Writes the models of tables that follow their source, from a sample of the source.

dbt-spark-clickhouse start orders --kind debezium --landing landing/orders --key order_id
dbt-spark-clickhouse start --all --kind debezium --landing landing --key id,lines.invoice,lines.line

It asks for whatever the command line lacks, and never overwrites a file.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from dbt.adapters.spark_clickhouse.cli import sampling
from dbt.adapters.spark_clickhouse.cli.sampling import SampleError
from dbt.adapters.spark_clickhouse.cli.starter_files import (
    BRIDGES,
    QUARANTINE,
    Start,
    plain_name,
    project_files,
    project_name,
    quarantine_files,
    table_files,
)

KINDS = {
    "debezium": "files of Debezium's change events",
    "upserts": "files of rows that replace each other",
    "extracts": "files of the whole table, a batch a day",
    **{kind: f"a table that {bridge.tool} lands in ClickHouse" for kind, bridge in BRIDGES.items()},
    "clickhouse": "any other landing table in ClickHouse",
}
FILES = ("debezium", "upserts", "extracts")
_FLAGS = (*sampling.FLAGS_OF_DELETES, "false", "f", "no", "n", "0")


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the files. Return 0, or print the reason and return 2."""
    given = _parser().parse_args(arguments)
    folder: Path = given.project_dir
    try:
        _ask(given, input if sys.stdin.isatty() else None)
        tables = _tables(given)
        _refuse_taken(tables, folder)
        starts = _sampled(given, tables)
        written = _write(starts, folder, given.package)
    except SampleError as error:
        sys.stderr.write(f"start: {error}\n")
        return 2
    said = [_said(start, folder) for start in starts]
    sys.stdout.write("".join([*said, *written, _next(starts, folder, given.package)]))
    return 0


def _write(starts: Sequence[Start], folder: Path, package: str) -> list[str]:
    """Write the files. Return what was done with each."""
    files = project_files(project_name(folder.resolve().name), package)
    if (folder / "dbt_project.yml").exists():
        files = {path: text for path, text in files.items() if path == "packages.yml"}
    kept = [path for path in files if (folder / path).exists()]
    said = [f"Kept {path} as it is.\n" for path in kept]
    said += [_written(folder, path, text) for path, text in files.items() if path not in kept]
    has_folders = "change_set" in (folder / "dbt_project.yml").read_text(encoding="utf-8")
    models = {k: v for start in starts for k, v in table_files(start, has_folders=has_folders).items()}
    said += [_written(folder, path, text) for path, text in models.items()]
    if starts[0].kind in FILES:
        before = (folder / QUARANTINE).read_text(encoding="utf-8") if (folder / QUARANTINE).exists() else ""
        quarantine = quarantine_files(starts, before, has_folders=has_folders)
        said += [_written(folder, path, text, is_new=not before) for path, text in quarantine.items()]
    return said


def _written(folder: Path, path: str, text: str, *, is_new: bool = True) -> str:
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    with (folder / path).open("x" if is_new else "w", encoding="utf-8") as file:
        file.write(text)
    return f"{'Wrote' if is_new else 'Added to'} {path}\n"


def _parser() -> argparse.ArgumentParser:
    text = "Write the models of tables that follow their source."
    parser = argparse.ArgumentParser(prog="dbt-spark-clickhouse start", description=text, allow_abbrev=False)
    parser.add_argument("name", nargs="?", help="the name of the table to build")
    parser.add_argument(
        "--tables", help="for files, instead of a name: several tables of one landing zone, with commas"
    )
    parser.add_argument("--all", action="store_true", help="for files, instead of a name: all tables of a landing zone")
    parser.add_argument("--kind", choices=KINDS, help="the kind of source")
    parser.add_argument("--landing", help="for files: the folder that has the folders batch=N")
    parser.add_argument("--table", help="for ClickHouse: the landing table, database.table")
    parser.add_argument("--beside", help="another table of that database: PeerDB's raw table, or dlt's table of loads")
    parser.add_argument("--source-table", help="for events of several tables: the one to take, schema.table")
    parser.add_argument("--key", help="the columns that identify a row, with commas; those of one table only: lines.id")
    parser.add_argument("--version", help="the column that grows with each change of a row")
    parser.add_argument("--is-deleted", help="the column that is true for a deleted row, or a column and code: Op=D")
    parser.add_argument(
        "--column",
        action="append",
        default=[],
        metavar="NAME:TYPE",
        help="the type of a column, if the sample does not show it: price:decimal(12,2), with its "
        "encoding if it has one: price:decimal(12,2):precise; of one table only: orders.price:double",
    )
    parser.add_argument("--project-dir", type=Path, default=Path(), help="as in dbt")
    parser.add_argument("--package", default="../versioned_collapsing", help="path of the package, for packages.yml")
    return parser


def _ask(given: argparse.Namespace, ask: Callable[[str], str] | None) -> None:
    """Complete the arguments.

    Raises:
        SampleError: something is missing and nobody can be asked, or an answer or an option cannot be.
    """

    def need(option: str, text: str, *, is_required: bool = True) -> None:
        if getattr(given, option) is None and ask:
            setattr(given, option, ask(f"{text}: ").strip() or None)
        if getattr(given, option) is None and is_required:
            name = "the name" if option == "name" else f"--{option.replace('_', '-')}"
            raise SampleError(f"{name} is missing. {text}")

    if not (given.tables or given.all):
        need("name", "What is the name of the table? Or take several: --tables, --all")
        if not re.fullmatch(r"[a-z][a-z0-9_]*", given.name):
            raise SampleError(f"'{given.name}' cannot be the name of models. Take {plain_name(given.name, 't')}.")
    need("kind", f"What is the source? {', '.join(f'{kind} ({text})' for kind, text in KINDS.items())}")
    if given.kind not in KINDS:
        raise SampleError(f"--kind is {given.kind}. It is one of {', '.join(KINDS)}.")
    if given.kind in FILES:
        need("landing", "In which folder are the folders batch=N?")
    else:
        need("table", "Which table does it land in? database.table")
    need("key", "Which columns identify a row? With commas")
    bridge = BRIDGES.get(given.kind)
    if given.kind == "peerdb":
        need("beside", "Which is the raw table of the mirror, in the same database? Empty if none", is_required=False)
    if given.kind == "dlt":
        need("beside", "Which table has the loads, _dlt_loads?")
        need("version", "Which column grows with each change of a row? Or lsn, if no two change one row at once")
    if given.kind in ("upserts", "clickhouse"):
        need("version", "Which column grows with each change of a row?")
        need("is_deleted", "Which column is true for a deleted row? Empty if none", is_required=False)
    takes = [*(bridge.arguments if bridge else ("version", "is_deleted"))]
    takes = ["version"] if given.kind == "extracts" else takes
    takes += ["tables", "all"] if given.kind in FILES else []
    takes += ["source_table"] if given.kind == "debezium" else []
    for option in ("version", "is_deleted", "beside", "source_table", "tables", "all"):
        if getattr(given, option) and option not in takes:
            raise SampleError(f"--{option.replace('_', '-')} is not for the kind {given.kind}. Remove it.")


def _tables(given: argparse.Namespace) -> list[Start]:
    """The tables to write, as far as their rows need not be known.

    Raises:
        SampleError: one that is named is not there, or cannot be the name of models.
    """
    root = given.project_dir / (given.landing or "")
    found: dict[str, tuple[str, str, Sequence[dict[str, Any]]]]
    if given.name:
        lines = sampling.landed(root) if given.kind in FILES else ()
        found = {given.name: (given.landing or "", given.source_table or "", lines)}
    elif any(root.glob("batch=*")):
        lines = sampling.landed(root)
        found = {table: (given.landing, table, lines) for table in sampling.tables_of(lines)}
    else:
        folders = sorted({path.parent.name for path in root.glob("*/batch=*")})
        found = {name: (f"{given.landing}/{name}", "", sampling.landed(root / name)) for name in folders}
    names = {given.name: given.name} if given.name else _names(given, list(found))
    marker, _, codes = (given.is_deleted or "").partition("=")
    keys, versions = ([part.strip() for part in (text or "").split(",")] for text in (given.key, given.version))
    return [
        Start(
            name,
            given.kind,
            found[table][0],
            given.table or "",
            given.beside or "",
            tuple(filter(None, _of(name, names, keys))),
            next(iter(_of(name, names, versions)), "") or ("_batch" if given.kind == "extracts" else ""),
            marker,
            given=_types(_of(name, names, given.column, is_whole=False)),
            source_table=found[table][1],
            lines=found[table][2],
            deletes=tuple(code.strip() for code in codes.split(",") if code.strip()),
        )
        for name, table in names.items()
    ]


def _names(given: argparse.Namespace, found: Sequence[str]) -> dict[str, str]:
    """Names for the models of the chosen tables, which are called with their schema only if two have one name."""
    short = {name.rpartition(".")[2]: name for name in found}
    chosen = [short.get(name, name) for name in map(str.strip, given.tables.split(","))] if given.tables else found
    if missing := [name for name in chosen if name not in found] if found else ["any"]:
        raise SampleError(
            f"{given.landing} has no table {missing[0]}. It has {', '.join(found) or 'none'}: a table is a folder with "
            "folders batch=N, or Debezium's events name it."
        )
    parts = chosen if len(short) < len(found) else [name.rpartition(".")[2] for name in chosen]
    names = {plain_name(part, "t"): name for part, name in zip(parts, chosen, strict=True)}
    if len(names) < len(chosen):
        raise SampleError(f"two of {', '.join(chosen)} would have one name. Start them one by one.")
    return names


def _of(table: str, tables: Iterable[str], texts: Sequence[str], *, is_whole: bool = True) -> list[str]:
    """What an option says about a table: `table.text` is of this table only, and stands in the place of what is of all
    (or before it, unless ``is_whole``)."""
    own = [text.removeprefix(f"{table}.") for text in texts if text.startswith(f"{table}.")]
    return own + ([] if own and is_whole else [t for t in texts if not t.startswith(tuple(f"{n}." for n in tables))])


def _types(texts: Sequence[str]) -> dict[str, str]:
    """The types given on the command line. The first one of a column counts.

    Raises:
        SampleError: one is malformed.
    """
    types: dict[str, str] = {}
    for text in texts:
        name, colon, kind = text.partition(":")
        if not colon or not name or not kind:
            raise SampleError(f"--column is {text}. Write it as name:type.")
        types.setdefault(name, kind)
    return types


def _refuse_taken(starts: Sequence[Start], folder: Path) -> None:
    """Check the files before anything is written.

    Raises:
        SampleError: a file or a model of that name exists.
    """
    models = folder / "models"
    planned = [Path(path).name for start in starts for path in table_files(replace(start, key=()), has_folders=True)]
    if starts[0].kind in FILES and not (folder / QUARANTINE).exists():
        planned += ["quarantine_changes.sql", "quarantine.sql"]
    taken = sorted(path.relative_to(folder).as_posix() for name in planned for path in models.rglob(name))
    if taken:
        raise SampleError(f"{', '.join(taken)}: there already. Nothing was written. Take another name, or remove them.")


def _sampled(given: argparse.Namespace, tables: Sequence[Start]) -> list[Start]:
    """The same tables with what a sample shows.

    Raises:
        SampleError: there are problems. The message has those of all tables.
    """
    found, problems = [], []
    for table in tables:
        prefix = f"{table.name}." if len(tables) > 1 else ""
        try:
            sampled = (
                sampling.sample_of_table(table.table, given.project_dir)
                if table.kind not in FILES
                else sampling.sample_of_files(
                    table.lines,
                    is_debezium=table.kind == "debezium",
                    types=table.given,
                    table=table.source_table,
                    marker=table.is_deleted,
                    deletes={code.lower() for code in table.deletes} or sampling.FLAGS_OF_DELETES,
                    prefix=prefix,
                )
            )
            found.append(
                _checked(given, replace(table, sampled=sampled, version=table.version or sampled.version), prefix)
            )
        except SampleError as error:
            problems.append(f"{prefix[:-1]}: {error}" if prefix else str(error))
    if problems:
        raise SampleError("\n".join(problems))
    return found


def _checked(given: argparse.Namespace, start: Start, prefix: str) -> Start:
    """The table, once its sample has all columns that options name.

    Raises:
        SampleError: it lacks one.
    """
    sampled, key, version = start.sampled, start.key, start.version
    if start.is_of_envelopes:
        if missing := [name for name in key if name not in start.given]:
            raise SampleError(
                f"{given.table} has whole events. Name each column of the row with its type in ClickHouse, also "
                f"{', '.join(missing)}: --column {missing[0]}:UInt64"
            )
        return start
    if start.kind == "airbyte" and "_airbyte_data" in sampled.columns:
        raise SampleError(
            f"{given.table} has each row as JSON in _airbyte_data, as version 1 of Airbyte's destination lands it. "
            "Make a view that selects its fields, _ab_cdc_... and _airbyte_extracted_at, and name the view: --table"
        )
    if start.kind == "kafka_connect" and not version and not {"__op", "__source_op"} & {*sampled.columns}:
        raise SampleError(
            f"{given.table} does not say in which order its source committed. Name a column that grows with each "
            "change: --version updated_at. Or --version _version, if no two transactions change one row at once."
        )
    if not version and start.kind not in BRIDGES:
        raise SampleError(
            "the events have no position by which they could be ordered: source.connector names no connector with one, "
            "and there is no source.lsn or source.pos. Name a column that grows with each change: --version updated_at."
        )
    if start.kind == "upserts" and start.is_deleted:
        start = _with_codes(start)
    named = [*key, version if given.version else "", start.is_deleted if start.kind not in FILES else ""]
    likely = next((name for name in sampled.columns if re.fullmatch("(.+_)?id", name)), min(sampled.columns))
    advice = f" Name the key of this table: --key {prefix}{likely}" if prefix else ""
    if not key:
        raise SampleError(f"--key has no column of this table. It has {', '.join(sampled.columns)}.{advice}")
    for name in filter(None, named):
        if name not in sampled.columns and not (start.kind == "debezium" and "." in name):
            raise SampleError(
                f"the sample has no column {name}. It has {', '.join(sampled.columns)}.{advice if name in key else ''}"
            )
    return start


def _with_codes(start: Start) -> Start:
    """The same, with the codes of the column that marks deleted rows.

    Raises:
        SampleError: the sample has codes, and nobody has said which of them mean a deleted row.
    """
    codes = sampling.codes_of(start.lines, start.is_deleted)
    if not start.deletes and (unknown := [code for code in codes if code.lower() not in _FLAGS]):
        raise SampleError(
            f"{start.is_deleted} is not true or false. It has {', '.join(codes)}. Say which of "
            f"them mean a deleted row: --is-deleted {start.is_deleted}={unknown[0]}"
        )
    return replace(start, codes=tuple(sorted({*codes, *start.deletes})) if start.deletes else ())


def _said(start: Start, folder: Path) -> str:
    """What each column was taken for, and what else it could be."""
    sampled = start.sampled
    lines = [f"{start.name}: key {', '.join(start.key)}; version {start.version or 'of the bridge'}\n"]
    width = max(map(len, start.columns), default=0)
    if start.kind not in FILES and not start.is_of_envelopes:
        lines += [f"  {name:{width}}  {kind}\n" for name, kind in start.columns.items()]
    for name, kind in start.columns.items() if start.kind in FILES else ():
        is_required = name in (*start.key, start.version, *start.required)
        found = [kind, sampled.encodings.get(name, ""), "always has a value" if is_required else "can be null"]
        look = sampled.looks.get(name, "").removeprefix(f"{name} ")
        found += ["values beyond 1900 to 2299 become the nearest bound"] if name in sampled.open_ended else []
        lines.append(f"  {name:{width}}  {', '.join(filter(None, [*found, look]))}\n")
    if start.kind == "upserts":
        doubts = sampling.doubts_about(start.lines, start.key, start.version)
        lines += [f"  Check --key and --version: {doubt}.\n" for doubt in doubts]
    if start.kind == "extracts":
        doubts = sampling.doubts_about_extracts(start.lines, start.key, folder / start.landing)
        lines += [f"  Check --key: {doubt}.\n" for doubt in doubts]
    return "".join(lines)


def _next(starts: Sequence[Start], folder: Path, package: str) -> str:
    """What to do next."""
    lines = []
    packages = (folder / "packages.yml").read_text(encoding="utf-8")
    if package not in packages and "versioned_collapsing" not in packages:
        lines.append(f"Add to packages.yml: - local: {package}\n")
    if starts[0].kind in FILES:
        files = [path for start in starts for path in table_files(start, has_folders=True)]
        again = f": rm {' '.join(files)}\nThen" if len(starts) == 1 else ", remove the files of its table and"
        lines.append(
            f"If a type is wrong{again} start it again with --column. If a column that always has a value may lack "
            "one, remove it from required and from the properties of the table.\n"
        )
    selected = " ".join(f"stg_{start.name}+" if start.kind in FILES else f"{start.name}+" for start in starts)
    return "".join([*lines, "Then run:\n  dbt deps\n", f"  dbt build --select {selected}\n"])
