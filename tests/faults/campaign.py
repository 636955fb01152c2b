"""Lives of tables, one after another, until the time is up; a log of them, and a table of their outcomes."""

from __future__ import annotations

import json
import random
import subprocess
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict
from itertools import count, cycle, islice
from pathlib import Path
from typing import NamedTuple

from clickhouse_connect.driver.exceptions import ClickHouseError

from tests.faults.engines import Embedded, Engine, Server
from tests.faults.kinds import KINDS, Kind
from tests.faults.life import Broken, Life, Step
from tests.faults.project import VARIANTS

STEPS = 6  # faults per life
ENGINES: tuple[type[Engine], ...] = (Embedded, Server)


class Plan(NamedTuple):
    """A life to run, which its seed and number determine."""

    name: str
    engine: type[Engine]
    variant: str
    kinds: list[Kind]
    seed: str


def plan(seed: str, number: int, kinds: Sequence[str], steps: int = STEPS) -> Plan:
    """The life with a number. Each kind that an engine can have comes up once before one repeats."""
    engine = ENGINES[number % len(ENGINES)]
    turn = number // len(ENGINES)
    able = [name for name in kinds if engine in KINDS[name].engines]
    rounds = (random.Random(f"{seed} {engine.name} {round_}").sample(able, len(able)) for round_ in count())
    drawn = (name for names in rounds for name in names)
    chosen = list(islice(drawn, turn * steps, (turn + 1) * steps)) if able else []
    variants = random.Random(f"{seed} {engine.name}").sample(list(VARIANTS), len(VARIANTS))
    variant = next(islice(cycle(variants), turn, None))
    name = f"{seed}:{number}"
    return Plan(name, engine, variant, [KINDS[chosen_] for chosen_ in chosen], name)


class Campaign:
    """The engines on which lives run, in a folder of their own."""

    def __init__(self, folder: Path, log: Path | None = None) -> None:
        self._folder = folder
        self._log = log
        self._engines: dict[type[Engine], Engine] = {}
        self.steps: list[tuple[str, str, Step]] = []

    def live(self, plan: Plan) -> list[Step]:
        """Run a life. It ends early if a step goes wrong."""
        chance = random.Random(plan.seed)
        life = Life(self._engine(plan.engine), plan.variant, chance)
        steps = []
        for kind in (None, *plan.kinds):
            step = life.step = Step(kind.name if kind else "none")
            began = time.monotonic()
            try:
                if kind and kind.needs_disk and not life.engine.has_disk:
                    step.note = "left out: no file system can be mounted here"
                elif kind:
                    life.send()
                    kind.befall(life)
                    life.heal()
                else:
                    life.begin()
                    continue
                if kind is plan.kinds[-1]:
                    life.check_secrets()
            except (Broken, ClickHouseError, OSError, RuntimeError, AssertionError) as error:
                step.is_unhealed = True
                step.texts.append(f"{type(error).__name__}: {error}")
            step.seconds = time.monotonic() - began
            steps.append(step)
            self._note(plan, step)
            if step.is_unhealed:
                self._give_up(plan.engine)
                break
        return steps

    def _note(self, plan: Plan, step: Step) -> None:
        self.steps.append((plan.engine.name, plan.variant, step))
        if self._log:
            line = {"life": plan.name, "engine": plan.engine.name, "variant": plan.variant, **asdict(step)}
            with self._log.open("a") as log:
                log.write(json.dumps(line) + "\n")

    def _engine(self, kind: type[Engine]) -> Engine:
        if kind not in self._engines:
            folder = self._folder / f"{kind.name} {time.monotonic_ns()}"
            self._engines[kind] = kind(folder)  # type: ignore[call-arg]
        return self._engines[kind]

    def _give_up(self, kind: type[Engine]) -> None:
        """Use a new engine for the next life, because this one may be in any state."""
        with suppress(OSError, ValueError, subprocess.SubprocessError):
            self._engines.pop(kind).__exit__()

    def close(self) -> None:
        """Stop the engines."""
        for kind in list(self._engines):
            self._give_up(kind)


def table(steps: Sequence[tuple[str, str, Step]]) -> str:
    """The outcomes of the faults, by kind."""
    columns = ("group", "kind", "faults", "struck", "runs", "rows", "wrong rows", "unhealed")
    lines: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0] * 6)
    left_out = set()
    for _, _, step in steps:
        if step.note.startswith("left out"):
            left_out.add(step.kind)
            continue
        line = lines[KINDS[step.kind].group if step.kind in KINDS else "", step.kind]
        for place, value in enumerate((1, step.struck, step.runs, step.rows, step.wrong_rows, step.is_unhealed)):
            line[place] += int(value)
    order = {name: place for place, name in enumerate(KINDS)}
    rows = [
        (*names, *map(str, values))
        for names, values in sorted(lines.items(), key=lambda line: order.get(line[0][1], -1))
    ]
    totals = ("", "all", *(str(sum(values)) for values in zip(*lines.values(), strict=True)))
    printed = [columns, *rows, totals]
    widths = [max(len(row[place]) for row in printed) for place in range(len(columns))]
    text = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |" for row in printed
    ]
    text.insert(1, "| " + " | ".join("-" * width for width in widths) + " |")
    return "\n".join(
        [*text, *(f"left out, as no file system can be mounted here: {name}" for name in sorted(left_out))]
    )


def run(campaign: Campaign, plans: Iterable[Plan], minutes: float) -> bool:
    """Run one plan after another until the time is up. Return whether all went well."""
    deadline = time.monotonic() + 60 * minutes
    is_well = True
    for each in plans:
        if time.monotonic() > deadline:
            break
        steps = campaign.live(each)
        seconds = sum(step.seconds for step in steps)
        say(f"life {each.name}, {each.engine.name}, {each.variant}: {len(steps)} faults in {seconds:.0f} s")
        for step in steps:
            if step.is_unhealed:
                is_well = False
                say(f"  {step.kind} ({step.note}): {' '.join(step.texts)}")
                say(f"  to repeat it: python -m tests.faults --repeat {each.name}")
    return is_well


def say(text: str) -> None:
    """Print a line immediately."""
    print(text, flush=True)  # noqa: T201
