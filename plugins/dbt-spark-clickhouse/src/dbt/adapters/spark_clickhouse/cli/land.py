"""The command `land`: a CSV file becomes a batch of JSON lines.

Spark takes the columns of a folder of CSV files from the header of one file, and does not notice files with other
columns. All values stay texts, and an empty field becomes null: the parsers check and convert them.
"""

from __future__ import annotations

import argparse
import csv
import json
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path


class LandError(Exception):
    """The file cannot be landed; the text says why."""


def main(arguments: Sequence[str]) -> int:
    """Land a file. Returns the exit code: 2 if it cannot be landed, and then nothing is."""
    parser = argparse.ArgumentParser(
        prog="dbt-spark-clickhouse land", description="Turn a CSV file with a header into a batch of JSON lines."
    )
    parser.add_argument("file", type=Path, help="the CSV file")
    parser.add_argument("landing", type=Path, help="the folder of the table, which has the folders batch=N")
    parser.add_argument(
        "batch", type=int, help="the number of the batch; for daily extracts the day and two digits: 2026010500"
    )
    parser.add_argument("--delimiter", default=",", help="what is between two fields, by default a comma")
    parser.add_argument("--encoding", default="utf-8-sig", help="by default UTF-8, with a byte order mark or without")
    given = parser.parse_args(arguments)
    batch = given.landing / f"batch={given.batch}"
    hidden = given.landing / f".batch={given.batch}"
    try:
        if given.batch < 0:
            raise LandError(f"the number of a batch is 0 or more, not {given.batch}")
        if batch.exists():
            raise LandError(f"{batch} exists. Give the file a higher number.")
        hidden.mkdir(parents=True, exist_ok=True)
        with (hidden / "part-00000.json").open("w", encoding="utf-8") as target:
            rows = sum(target.write(line) > 0 for line in _lines(given.file, given.encoding, given.delimiter))
        if not rows:
            raise LandError(f"{given.file} has a header and no rows")
        hidden.rename(batch)
    except (LandError, OSError, UnicodeError, LookupError, TypeError, csv.Error) as error:  # of csv.reader and open()
        shutil.rmtree(hidden, ignore_errors=True)
        place = f"{given.file}: " if isinstance(error, csv.Error | UnicodeError) else ""
        sys.stderr.write(f"land: {place}{error}\n")
        return 2
    sys.stdout.write(f"Landed {rows:,} rows as {batch}\n")
    return 0


def _lines(file: Path, encoding: str, delimiter: str) -> Iterator[str]:
    """The rows as JSON.

    Raises:
        LandError: there is no header, its fields lack a name or share one, or a row has more or fewer fields.
    """
    with file.open(newline="", encoding=encoding) as source:
        rows = csv.DictReader(source, strict=True, delimiter=delimiter)
        names = rows.fieldnames
        if not names:
            raise LandError(f"{file} has no header, so it is not known which columns it has")
        if not all(names):
            raise LandError(f"{file}: field {names.index('') + 1} of the header has no name")
        if len(set(names)) < len(names):
            raise LandError(f"{file}: two fields have the same name")
        for row in rows:
            if None in row or None in row.values():
                raise LandError(f"{file}, line {rows.line_num}: not as many fields as the header")
            yield json.dumps({name: text or None for name, text in row.items()}, ensure_ascii=False) + "\n"
