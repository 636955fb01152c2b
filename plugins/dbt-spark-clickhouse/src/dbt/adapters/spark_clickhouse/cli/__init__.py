"""The command `dbt-spark-clickhouse`."""

from __future__ import annotations

import argparse
import sys
from importlib import import_module

COMMANDS = {
    "start": "write the models, sources and tests of a table from a sample of its changes",
    "land": "turn a CSV file into a batch of JSON lines",
    "follow": "apply batches as they land, until Ctrl-C",
    "report": "write a page about the tables, their runs and their quarantine",
}


def main() -> int:
    """Run the command that the first argument names. Returns its exit code."""
    # Abbreviations and options are left to the commands.
    if len(sys.argv) > 1 and sys.argv[1] in COMMANDS:
        command = import_module(f"{__name__}.{sys.argv[1]}")
        return int(command.main(sys.argv[2:]))
    parser = argparse.ArgumentParser(
        prog="dbt-spark-clickhouse",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="\n".join(f"  {name:8} {text}" for name, text in COMMANDS.items()),
    )
    parser.add_argument("command", choices=COMMANDS, help="its options: dbt-spark-clickhouse <command> --help")
    parser.parse_args()
    return 2
