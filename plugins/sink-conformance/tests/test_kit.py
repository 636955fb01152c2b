"""The kit finds nothing in a sink that is right, and the fault of each sink that is wrong."""

from __future__ import annotations

import json
import runpy
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from sink_conformance import HISTORIES, Row, Size, measure
from sink_conformance.command import main
from sink_conformance.histories import batches

TOY = Path(__file__).with_name("toy.py")
SMALL = Size(batches=6, changes=60, rows=60, readers=1)
ALL = "all at once"
# The classes of histories that each fault makes wrong, besides `all at once`.
FAULTS = {
    "": set(),
    "forgets deletes": {"shuffled", "late", "twice", "delete and insert"},
    "last delivered wins": {"shuffled", "late", "twice", "delete and insert"},
    "order of the log": {"racing"},
    "loses ties in a transaction": {"delete and insert", "truncates"},
    "a move leaves the old key": {"key moves"},
    "truncate ignored": {"truncates"},
    "doubles on a retry": {"kills"},
    "half visible": HISTORIES.keys() - {ALL},
}
Toy: Any = runpy.run_path(str(TOY))["Toy"]


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault(tmp_path: Path, fault: str) -> None:
    found = measure(Toy(fault), tmp_path, size=SMALL)
    assert {name for name, figures in found.items() if not figures.is_right} - {ALL} == FAULTS[fault]
    assert found[ALL].is_right == (not fault)
    assert {name for name, figures in found.items() if figures.torn and fault != "half visible"} == set()
    assert {name for name, figures in found.items() if figures.kills} == {"kills", ALL}
    assert all(figures.rows and figures.freshness for figures in found.values())


def test_an_example_shows_what_was_delivered(tmp_path: Path) -> None:
    found = measure(Toy("a move leaves the old key"), tmp_path, size=SMALL, names=["key moves"])["key moves"]
    example = found.as_json()["examples"][0]
    assert example["expected"] == []
    (row,) = example["found"]
    assert row[0] == example["key"]
    last = example["delivered"][-1]
    assert (last["op"], last["before"]["id"]) == ("u", example["key"])
    assert last["after"]["id"] != example["key"]


def test_a_seed_decides_the_history() -> None:
    one, same, other = (list(batches(ALL, seed, 4, 40, 50)) for seed in (1, 1, 2))
    assert one == same != other
    assert one[-1].held == []
    assert any(batch.held for batch in one)


def test_transactions_race() -> None:
    changes = [change for batch in batches("racing", 1, 4, 40, 50) for change in batch.changes]
    orders = [(change["commit"], change["seq"]) for change in changes]
    assert orders == sorted(set(orders))
    assert changes != sorted(changes, key=lambda change: change["lsn"])


def commands(folder: Path) -> list[str]:
    """Arguments of `sink-conformance`, for the toy as a command."""
    state = shlex.quote(str(folder / "state.json"))
    run = f"{shlex.quote(sys.executable)} -I -S {shlex.quote(str(TOY))} {state}"
    return ["--reset", f"rm -f {state}", "--apply", f"{run} {{file}}", "--rows", run, "--batches", "2", "--keys", "40"]


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = ["--json", str(tmp_path / "toy.json"), "--folder", str(tmp_path / "files")]
    # An apply may end before its kill: with this seed, some kills of so many batches come at once.
    files += ["--batches", "8", "--histories", "late", "kills"]
    assert main([*commands(tmp_path), *files, "--name", "the <toy>"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].split()[:5] == ["history", "wrong", "rows", "per", "million"]
    assert [line.split()[:2] for line in printed[1:]] == [["late", "0"], ["kills", "0"]]
    report = json.loads((tmp_path / "toy.json").read_text())
    assert report["histories"]["kills"]["kills"] > 0
    assert report["histories"]["late"]["seconds"] > 0
    lines = (tmp_path / "files" / "late" / "0.jsonl").read_text().splitlines()
    assert json.loads(lines[0])["op"] == "c"

    wrong = commands(tmp_path)
    wrong[3] = f"grep -v truncate {{file}} > /dev/null; echo batch {{batch}} has failed; exit {3}"
    page = ["--page", str(tmp_path / "page.html"), "--beside", str(tmp_path / "toy.json")]
    assert main([*wrong, *page, "--histories", "in order"]) == 1
    html = (tmp_path / "page.html").read_text()
    assert "the &lt;toy&gt;" in html
    assert "exit code 3: batch 0 has failed" in html
    assert "http" not in html


def test_commands_that_do_not_work(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def failure(**changed: str) -> str:
        arguments = commands(tmp_path)
        for option, command in changed.items():
            arguments[arguments.index(f"--{option}") + 1] = command
        assert main([*arguments, "--histories", "in order"]) == 2
        return capsys.readouterr().err

    assert failure(reset="echo no such table >&2; exit 4") == (
        "sink-conformance: The command `echo no such table >&2; exit 4` failed with exit code 4: no such table\n"
    )
    assert "Connection refused" in failure(rows="http://127.0.0.1:9/")
    row = '{"id": 1, "name": "n", "amount": "2", "region": null}'
    assert failure(rows=f"echo '{row}'") == (
        "sink-conformance: The table has 1 rows after the reset. The command has to empty it.\n"
    )
    assert failure(rows="""echo '{"id": 1, "name": "n"}'""") == (
        "sink-conformance: Rows of the sink lack amount, region. Their columns must be id, name, amount, region.\n"
    )


class Late(Toy):  # type: ignore[misc]
    """Its rows appear a moment after the apply has returned."""

    reads = 0

    def rows(self) -> list[Row]:
        """The rows before the last apply, a few times."""
        self.reads += 1
        if self.reads > 10:
            self.seen: list[Row] = self.shown
        return self.seen

    def reset(self) -> None:
        super().reset()
        self.seen = []

    def apply(self, file: Path, batch: int, kill_after: float | None = None) -> str:
        self.reads = 0
        return str(super().apply(file, batch, kill_after))


def test_rows_that_appear_later(tmp_path: Path) -> None:
    settled = Size(batches=4, changes=40, rows=50, readers=0, settle=60)
    assert not measure(Late(), tmp_path, size=SMALL, names=["in order"])["in order"].is_right
    assert measure(Late(), tmp_path, size=settled, names=["in order"])["in order"].is_right
