"""The life of a table: runs, each with a fault, and the checks after them."""

from __future__ import annotations

import random
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tests.faults import checks
from tests.faults.checks import Wrong
from tests.faults.engines import Embedded, Engine, Server
from tests.faults.project import PASSWORD, SCHEMA, SUMS, models
from tests.faults.source import REGIONS, Event, Source, State, state_of, write
from tests.support.forked_dbt import Fork

RUNS_TO_HEAL = 3
SECONDS = 180.0  # within which a run must end


class Broken(Exception):
    """A table is wrong, and no run repairs it."""


@dataclass
class Step:
    """A fault, and its outcome."""

    kind: str
    note: str = ""
    struck: bool = False  # whether a run failed or was killed
    runs: int = 0
    rows: int = 0
    wrong_rows: int = 0
    is_unhealed: bool = False
    texts: list[str] = field(default_factory=list)
    seconds: float = 0.0


class Life:
    """A table of one variant on one engine.

    ``confirmed`` are the events of runs that succeeded according to dbt. ``pending`` are those of the current run,
    which are sent again with the next one. ``adopted`` are events that are sent again although they are in the table,
    because a lost ledger knew them.
    """

    def __init__(self, engine: Engine, variant: str, chance: random.Random) -> None:
        self.engine = engine
        self.variant = variant
        self.chance = chance
        self.source = Source(chance)
        self.confirmed: list[Event] = []
        self.pending: list[Event] = []
        self.adopted: list[Event] = []
        self.rates: dict[str, int] = {}
        self.confirmed_rates: dict[str, int] = {}
        self.options: dict[str, dict[str, Any]] = {}
        self.step = Step("")
        self.is_fed = False
        self.has_partial_feed = False  # it lacks what others wrote, or what a lost ledger knew
        self.may_lack_rows_in_view = False  # as a warning has said
        self.may_have_a_part = False  # of the pending events, because their file was read before it was complete
        self.span = 2.0  # duration of a run in seconds
        self._files = 0
        self._rates_version = 0

    # What the source sends

    def send(self, share: float | None = None) -> None:
        """Draw changes for the next run, sometimes also changes of the rates."""
        self.pending += self.source.draw(self.chance.choice([0.02, 0.2, 0.5]) if share is None else share)
        if not self.rates or self.chance.random() < 0.3:
            for region in self.chance.sample(REGIONS, 3) if self.rates else REGIONS:
                self.rates[region] = self.chance.randrange(1, 9)

    def change_sets(self, *, is_empty: bool = False) -> dict[str, str]:
        """Files with the pending events, or without rows, as variables of a run."""
        self._files += 1
        self._rates_version += 1
        folder = self.engine.folder / "landing"
        folder.mkdir(exist_ok=True)
        changes, rates = (folder / f"{name} {self._files}.parquet" for name in ("it's changes", "rates"))
        write([] if is_empty else self.pending, changes)
        changed = {} if is_empty else self.rates
        columns = {
            "region": pa.array(changed, pa.string()),
            "rate": pa.array(changed.values(), pa.int64()),
            "_version": pa.array([self._rates_version] * len(changed), pa.uint64()),
            "_is_deleted": pa.array([False] * len(changed), pa.bool_()),
        }
        pq.write_table(pa.table(columns), rates)
        return {"changes": str(changes), "rates": str(rates)}

    # Runs

    def start(self, *arguments: str, files: Mapping[str, str] | None = None) -> Fork:
        """Start a run of the table and its views."""
        self.step.runs += 1
        selected = arguments or ("run", "--select", *models(self.variant))
        return self.engine.start(*selected, options=self.options, **(files or self.change_sets()))

    def end(self, fork: Fork) -> dict[str, Any]:
        """Wait for the end of a run. Return how it ended.

        Raises:
            Broken: it hangs.
        """
        deadline = time.monotonic() + SECONDS
        while not fork.has_ended():
            if time.monotonic() > deadline:
                fork.kill()
                fork.wait()
                raise Broken(f"a run was still under way after {SECONDS:.0f} s")
            time.sleep(0.01)
        return fork.wait()

    def run(self, *arguments: str, files: Mapping[str, str] | None = None) -> dict[str, Any]:
        """Run dbt, and wait for the end. If it succeeds, confirm what it has sent."""
        began = time.monotonic()
        end = self.end(self.start(*arguments, files=files))
        if end["success"] and not arguments:
            self.span = 0.5 * self.span + 0.5 * (time.monotonic() - began)
        return end

    def operation(self, macro: str, **arguments: Any) -> dict[str, Any]:
        """A `dbt run-operation`."""
        import json

        return self.run("run-operation", macro, "--args", json.dumps({"model": self.variant, **arguments}))

    def confirm(self) -> None:
        """The source need not send the pending events again."""
        self.step.rows += len(self.pending)
        self.confirmed += self.pending
        self.pending, self.adopted = [], []
        self.confirmed_rates = dict(self.rates)

    @property
    def before(self) -> State:
        return state_of([*self.adopted, *self.confirmed])

    @property
    def after(self) -> State:
        return state_of([*self.adopted, *self.confirmed, *self.pending])

    # The life

    def begin(self) -> None:
        """The first run, and the view that dbt does not maintain."""
        self.engine.begin()
        self.send(0.9)
        end = self.run()
        if not end["success"]:
            raise Broken(f"the first run failed: {end['message']}")
        self.confirm()
        if self.variant == "fed" and isinstance(self.engine, Server):
            self.feed()
        self.check("after the first run")

    def feed(self) -> None:
        """Create the materialized view, with the table's current contents."""
        table = f"{SCHEMA}.{self.variant}"
        view = f"{SCHEMA}.{checks.PLAIN_VIEW}"
        self.engine.command(
            f"drop table if exists {view}_mv sync",
            f"create or replace table {view} (region String, n Int64, total Int64) engine = SummingMergeTree order by region",
            f"create materialized view {view}_mv to {view} as {SUMS.format(table)}",
            f"insert into {view} {SUMS.format(table)}",
        )
        self.is_fed = True

    def stop_feeding(self) -> None:
        """Drop the materialized view, so that the table can be rebuilt."""
        if self.is_fed:
            self.engine.command(f"drop view if exists {SCHEMA}.{checks.PLAIN_VIEW}_mv sync")

    def heal(self) -> None:
        """The next runs, the first perhaps without changes; after them, everything must be correct."""
        if isinstance(self.engine, Server):
            self.engine.wait_until_idle()
        if self.chance.random() < 0.3:
            end = self.run(files=self.change_sets(is_empty=True))
            self._note_warning(end)
            if end["success"] and not self.may_have_a_part:
                self._check_one_of("after a run without changes")
        if self.chance.random() < 0.5:
            self.send()
        messages = []
        for _ in range(RUNS_TO_HEAL):
            end = self.run()
            self._note_warning(end)
            if end["success"]:
                self.confirm()
                self.may_have_a_part = False
                self.check("after the next run")
                return
            messages.append(str(end["message"])[-600:])
        raise Broken(f"{RUNS_TO_HEAL} runs failed: {messages}")

    def _note_warning(self, end: Mapping[str, Any]) -> None:
        if "may lack rows" in end["message"] and self.is_fed:
            self.may_lack_rows_in_view = True

    def check(self, when: str) -> None:
        """Check that everything is correct."""
        found = self.engine.ask(checks.queries(self.variant, is_fed=self.is_fed))
        if self.may_lack_rows_in_view:
            # The run has named the view, and somebody rebuilds it.
            self.feed()
            self.may_lack_rows_in_view = False
            found.pop("materialized view", None)
        if self.has_partial_feed:
            found.pop("feed", None)
        wrong = checks.judge(found, self.before, self.confirmed_rates)
        self._raise(when, wrong)

    def check_readers(self, when: str) -> None:
        """Readers see the table as it was before the apply, or as it is after it."""
        self._check_one_of(when)

    def _check_one_of(self, when: str) -> None:
        found = self.engine.ask({"final": checks.live_rows(self.variant)})["final"]
        before, after = Wrong(), Wrong()
        before.compare("before", found, self.before.rows)
        after.compare("after", found, self.after.rows)
        if before.texts and after.texts:
            self._raise(when, min(before, after, key=lambda wrong: wrong.rows))

    def _raise(self, when: str, wrong: Wrong) -> None:
        self.step.wrong_rows += wrong.rows
        if wrong.texts:
            raise Broken(f"{when}: " + "; ".join(wrong.texts))

    def check_secrets(self) -> None:
        """The profile's password appears nowhere else."""
        texts = [self.engine.printed()]
        for file in (self.engine.folder / "target").rglob("*"):
            if file.is_file():
                texts.append(file.read_text(errors="replace"))
        if isinstance(self.engine, Server):
            for table in self.engine.ask({"": f"select name from system.tables where database = '{SCHEMA}'"})[""]:
                comment = f"select * from system.tables where database = '{SCHEMA}' and name = '{table[0]}'"
                texts.append(str(self.engine.ask({"": comment})))
            texts.append(str(self.engine.ask({"": f"select * from {checks.LEDGER}"})))
        if any(PASSWORD in text for text in texts):
            raise Broken("the planted password is in what dbt wrote")


def copy_tree(source: Path, target: Path) -> None:
    """Copy a folder during writes, without the files that disappear meanwhile."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    for path in sorted(source.rglob("*")):
        place = target / path.relative_to(source)
        try:
            if path.is_symlink():
                place.symlink_to(path.readlink())
            elif path.is_dir():
                place.mkdir(parents=True, exist_ok=True)
            else:
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, place)
        except FileNotFoundError:
            continue


def is_embedded(life: Life) -> bool:
    return isinstance(life.engine, Embedded)
