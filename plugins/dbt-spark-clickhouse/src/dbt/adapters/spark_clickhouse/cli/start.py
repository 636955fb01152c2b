"""Writes the models of a table that follows its source, from a sample of the source.

dbt-spark-clickhouse start orders --kind debezium --landing landing/orders \\
  --key order_id

It asks for whatever the command line lacks, and never overwrites a file.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from dbt.adapters.spark_clickhouse.cli.sampling import Sampled, SampleError, codes_of, sample_of_files, sample_of_table
from dbt.adapters.spark_clickhouse.cli.starter_files import BRIDGES, Start, files_of

KINDS = {
    "debezium": "files of Debezium's change events",
    "upserts": "files of rows that replace each other",
    **{kind: f"a table that {bridge.tool} lands in ClickHouse" for kind, bridge in BRIDGES.items()},
    "clickhouse": "any other landing table in ClickHouse",
}
FILES = ("debezium", "upserts")
_FLAGS = ("true", "false", "t", "f", "yes", "no", "y", "n", "1", "0")


@dataclass(frozen=True)
class Question:
    """A question to ask if the command line lacks the answer: an option, and the text."""

    option: str
    text: str
    is_required: bool = True


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the files. Return 0, or print the reason and return 2."""
    parser = _parser()
    given = parser.parse_args(arguments)
    try:
        _ask(given, sys.stdin.isatty(), input)
        folder: Path = given.project_dir
        _refuse_taken(given, folder)
        start = _start(given, _sampled(given))
        files = files_of(start, has_project=(folder / "dbt_project.yml").exists())
        kept = [path for path in files.of_project if (folder / path).exists()]
        for path, text in {**files.of_project, **files.of_models}.items():
            if path not in kept:
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                with (folder / path).open("x", encoding="utf-8") as file:
                    file.write(text)
                sys.stdout.write(f"Wrote {path}\n")
    except SampleError as error:
        sys.stderr.write(f"start: {error}\n")
        return 2
    sys.stdout.write(_next(start, folder, kept))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="dbt-spark-clickhouse start",
        description="Write the models of a table that follows its source.",
        allow_abbrev=False,
    )
    parser.add_argument("name", help="the name of the table to build")
    parser.add_argument("--kind", choices=KINDS, help="the kind of source")
    parser.add_argument("--landing", help="for files: the folder that has the folders batch=N")
    parser.add_argument("--table", help="for ClickHouse: the landing table, database.table")
    parser.add_argument("--beside", help="another table of that database: PeerDB's raw table, or dlt's table of loads")
    parser.add_argument("--source-table", help="for events of several tables: the one to take, schema.table")
    parser.add_argument("--key", help="the columns that identify a row, separated by commas")
    parser.add_argument("--version", help="the column that grows with each change of a row")
    parser.add_argument(
        "--is-deleted", help="the column that is true for a deleted row, or a column and its code: Op=D"
    )
    parser.add_argument(
        "--column",
        action="append",
        default=[],
        metavar="NAME:TYPE",
        help="the type of a column, if the sample does not show it: price:decimal(12,2), with its "
        "encoding if it has one: price:decimal(12,2):precise",
    )
    parser.add_argument("--project-dir", type=Path, default=Path(), help="as in dbt")
    parser.add_argument(
        "--package",
        default="../versioned_collapsing",
        help="path of the package versioned_collapsing, for packages.yml",
    )
    return parser


def _ask(given: argparse.Namespace, is_asked: bool, ask: Callable[[str], str]) -> None:
    """Complete the arguments.

    Raises:
        SampleError: something is missing, and nobody can be asked.
    """
    kinds = ", ".join(f"{kind} ({text})" for kind, text in KINDS.items())
    _complete(given, Question("kind", f"What is the source? {kinds}"), is_asked, ask)
    if given.kind not in KINDS:
        raise SampleError(f"--kind is {given.kind}. It is one of {', '.join(KINDS)}.")
    place = (
        Question("landing", "In which folder are the folders batch=N?")
        if given.kind in FILES
        else Question("table", "Which table does it land in? database.table")
    )
    questions = [place, Question("key", "Which columns identify a row? With commas")]
    bridge = BRIDGES.get(given.kind)
    if given.kind == "peerdb":
        text = "Which is the raw table of the mirror, in the same database? Empty if none"
        questions.append(Question("beside", text, False))
    if given.kind == "dlt":
        questions.append(Question("beside", "Which table has the loads, _dlt_loads?"))
        text = "Which column grows with each change of a row? Or lsn, if no two change one row at once"
        questions.append(Question("version", text))
    if given.kind in ("upserts", "clickhouse"):
        questions += [
            Question("version", "Which column grows with each change of a row?"),
            Question("is_deleted", "Which column is true for a deleted row? Empty if none", False),
        ]
    for question in questions:
        _complete(given, question, is_asked, ask)
    takes = bridge.arguments if bridge else ("version", "is_deleted")
    if given.source_table and given.kind != "debezium":
        raise SampleError(f"--source-table is not for the kind {given.kind}. Remove it.")
    for option in ("version", "is_deleted", "beside"):
        if getattr(given, option) and option not in takes:
            raise SampleError(f"--{option.replace('_', '-')} is not for the kind {given.kind}. Remove it.")


def _complete(given: argparse.Namespace, question: Question, is_asked: bool, ask: Callable[[str], str]) -> None:
    if getattr(given, question.option) is None and is_asked:
        setattr(given, question.option, ask(f"{question.text}: ").strip() or None)
    if getattr(given, question.option) is None and question.is_required:
        option = question.option.replace("_", "-")
        raise SampleError(f"--{option} is missing. {question.text}")


def _refuse_taken(given: argparse.Namespace, folder: Path) -> None:
    """Check the name and the files before anything is read or written.

    Raises:
        SampleError: the name is invalid, or a file or a model of that name exists.
    """
    if not re.fullmatch(r"[a-z][a-z0-9_]*", given.name):
        raise SampleError(
            f"'{given.name}' cannot be the name of models. Take lower case letters, digits and underscores."
        )
    planned = files_of(_of_names(given, (), "", Sampled({})), has_project=True).of_models
    models = folder / "models"
    taken = sorted(path.relative_to(folder).as_posix() for file in planned for path in models.rglob(Path(file).name))
    if taken:
        raise SampleError(f"{', '.join(taken)}: there already. Nothing was written. Take another name, or remove them.")


def _of_names(given: argparse.Namespace, key: tuple[str, ...], version: str, sampled: Sampled) -> Start:
    return Start(
        given.name,
        given.kind,
        given.landing or "",
        given.table or "",
        given.beside or "",
        key,
        version,
        (given.is_deleted or "").partition("=")[0],
        sampled,
        _types(given),
        given.package,
    )


def _types(given: argparse.Namespace) -> dict[str, str]:
    """The types given on the command line.

    Raises:
        SampleError: one is malformed.
    """
    types = {}
    for text in given.column:
        name, colon, kind = text.partition(":")
        if not colon or not name or not kind:
            raise SampleError(f"--column is {text}. Write it as name:type.")
        types[name] = kind
    return types


def _sampled(given: argparse.Namespace) -> Sampled:
    if given.kind not in FILES:
        return sample_of_table(given.table, given.project_dir)
    is_debezium = given.kind == "debezium"
    landing = given.project_dir / given.landing
    return sample_of_files(landing, is_debezium=is_debezium, types=_types(given), table=given.source_table or "")


def _start(given: argparse.Namespace, sampled: Sampled) -> Start:
    """The table to write.

    Raises:
        SampleError: the sample lacks a column that an option names.
    """
    key = tuple(name.strip() for name in given.key.split(",") if name.strip())
    version = given.version or sampled.version
    start = _of_names(given, key, version, sampled)
    if start.is_of_envelopes:
        if missing := [name for name in key if name not in start.given]:
            raise SampleError(
                f"{given.table} has whole events. Name each column of the row with its type in "
                f"ClickHouse, also {', '.join(missing)}: --column {missing[0]}:UInt64"
            )
        return start
    if given.kind == "airbyte" and "_airbyte_data" in sampled.columns:
        raise SampleError(
            f"{given.table} has each row as JSON in _airbyte_data, as version 1 of Airbyte's destination lands it. "
            "Make a view that selects its fields, _ab_cdc_... and _airbyte_extracted_at, and name the view: --table"
        )
    if given.kind == "kafka_connect" and not version and not {"__op", "__source_op"} & {*sampled.columns}:
        raise SampleError(
            f"{given.table} does not say in which order its source committed. Name a column of the "
            "row that grows with each change: --version updated_at. Or --version _version, if no "
            "two transactions change one row at once."
        )
    if not version and given.kind not in BRIDGES:
        raise SampleError(
            "the events have no position by which they could be ordered: neither source.connector "
            "names a connector with one, nor do they have source.lsn or source.pos. "
            "Name a column of the row that grows with each change: --version updated_at."
        )
    if given.kind == "upserts" and start.is_deleted:
        start = _with_codes(start, given)
    named = [*key, *([version] if given.version else [])]
    if given.is_deleted and given.kind not in FILES:
        named.append(given.is_deleted)
    for name in named:
        if name not in sampled.columns and not (given.kind == "debezium" and "." in name):
            raise SampleError(f"the sample has no column {name}. It has {', '.join(sampled.columns)}.")
    return start


def _with_codes(start: Start, given: argparse.Namespace) -> Start:
    """The same, with the codes of the column that marks deleted rows.

    Raises:
        SampleError: the sample has codes, and nobody has said which of them mean a deleted row.
    """
    _, has_codes, named = given.is_deleted.partition("=")
    codes = codes_of(given.project_dir / given.landing, start.is_deleted)
    deletes = tuple(code.strip() for code in named.split(",") if code.strip())
    if not has_codes and (unknown := [code for code in codes if code.lower() not in _FLAGS]):
        raise SampleError(
            f"{start.is_deleted} is not true or false. It has {', '.join(codes)}. Say which of "
            f"them mean a deleted row: --is-deleted {start.is_deleted}={unknown[0]}"
        )
    return replace(start, codes=tuple(sorted({*codes, *deletes})) if has_codes else (), deletes=deletes)


def _next(start: Start, folder: Path, kept: Sequence[str]) -> str:
    """What to do next."""
    first = f"stg_{start.name}" if start.kind in FILES else start.name
    lines = [f"Kept {path} as it is.\n" for path in kept]
    packages = (folder / "packages.yml").read_text(encoding="utf-8")
    if start.package not in packages and "versioned_collapsing" not in packages:
        lines.append(f"Add to packages.yml: - local: {start.package}\n")
    return "".join(
        [
            *lines,
            "Read the types in the models: they are those of the sample. Then run:\n",
            "  dbt deps\n",
            f"  dbt build --select {first}+\n",
        ]
    )
