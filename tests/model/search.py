"""Lets runs go on in turn, die and stall in every way, breadth first, until something is wrong."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from tests.model.protocol import BUILD, FEED, LOCK, SUMS, TABLE, TOMBSTONES, VIEW, Guard, Model, Program
from tests.model.world import IDLE, NO_ROWS, Failed, Rows, Statement, World, added

MOST_STATEMENTS = 100
LAST = "the last run"


class Life(NamedTuple):
    """A run: whether it is still there, and the answers to its statements so far.

    `state`: waiting, running, ended, failed, dead; or `late`, if it is dead and its last statement is still under way.
    """

    state: str
    answers: tuple[Any, ...] = ()


DEAD = Life("dead")


class Point(NamedTuple):
    """A state of everything; `faults`: how many more may happen."""

    world: World
    lives: tuple[Life, ...]
    faults: int


@dataclass(frozen=True)
class Wrong:
    """What is wrong, and the shortest way to it."""

    what: str
    trace: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join((*self.trace, f"=> {self.what}"))


@dataclass
class Search:
    """A search of all ways in which some runs can go on.

    Attributes:
        runs: the programs by the name of each run, in the order in which they begin.
        last: the program of a run that follows when all have ended or died. It must bring everything in order.
        faults: how many runs may die or stall, and how often ClickHouse may be killed.
        at_once: how many runs can be under way at the same time.
    """

    model: Model
    runs: Mapping[str, Callable[[], Program]]
    last: Callable[[], Program]
    start: World
    faults: int = 1
    at_once: int = 1
    _steps: dict[tuple[str, tuple[Any, ...]], Statement | str] = field(default_factory=dict)
    _whole: set[Rows] = field(default_factory=set)
    _healed: dict[World, str] = field(default_factory=dict)

    def find(self) -> Wrong | None:
        """The first thing that is wrong, or None."""
        names = list(self.runs)
        first = Point(self.start, (Life("waiting"),) * len(names), self.faults)
        came: dict[Point, tuple[Point, str] | None] = {first: None}
        queue = deque([first])
        while queue:
            point = queue.popleft()
            moves = list(self._moves(names, point))
            if wrong := self._wrong(point, is_stuck=not moves):
                return Wrong(wrong, _trace(came, point))
            for move, after in moves:
                if after not in came:
                    came[after] = (point, move)
                    queue.append(after)
        return None

    # Moves

    def _moves(self, names: Sequence[str], point: Point) -> Iterator[tuple[str, Point]]:
        world, lives, faults = point
        under_way = sum(life.state == "running" for life in lives)
        for at, (name, life) in enumerate(zip(names, lives, strict=True)):
            if life.state == "waiting" and under_way < self.at_once:
                yield f"{name} begins", self._with(point, at, Life("running"), world)
                break
        for at, (name, life) in enumerate(zip(names, lives, strict=True)):
            if life.state not in ("running", "late"):
                continue
            statement = self.next(name, life.answers)
            assert isinstance(statement, Statement), statement
            done = self._effect(statement, world, "" if life.state == "late" else name)
            if life.state == "late":
                yield f"{name}, dead: {statement.name} arrives", self._with(point, at, DEAD, done[0] if done else world)
            elif done is not None:
                yield f"{name}: {statement.name}", self._done(point, at, name, life, done)
            if faults and life.state == "running":
                yield from self._faults(point, at, name, life, statement)
        yield from self._time_passes(names, point)

    def _faults(
        self, point: Point, at: int, name: str, life: Life, statement: Statement
    ) -> Iterator[tuple[str, Point]]:
        world, faults = point.world, point.faults - 1
        late = life._replace(state="late")
        yield f"{name} dies before: {statement.name}", self._with(point, at, DEAD, world, faults)
        if (seen := self._look(statement, world, name)) is None:
            return
        yield f"{name} dies during: {statement.name}", self._with(point, at, late, seen, faults)
        for torn in self._torn(statement, world):
            yield f"ClickHouse is killed during: {name}: {statement.name}", self._all_dead(point, torn)
        if not self.model.has(Guard.WRITES_ARE_SENT_ONCE):
            done = self._effect(statement, world, name)
            again = self._effect(statement, done[0], name) if done else None
            if done and again:
                after = self._done(point, at, name, life, (again[0], done[1]))
                yield f"{name}: {statement.name}, sent twice", after._replace(faults=faults)

    def _done(self, point: Point, at: int, name: str, life: Life, done: tuple[World, Any]) -> Point:
        world, answer = done
        if isinstance(answer, Failed):
            return self._with(point, at, Life("failed"), world)
        answers = (*life.answers, answer)
        after = self.next(name, answers)
        if after == "ended":
            return self._with(point, at, Life("ended"), replace(world, is_torn=False))
        return self._with(
            point, at, Life("running", answers) if isinstance(after, Statement) else Life("failed"), world
        )

    def _torn(self, statement: Statement, world: World) -> Iterator[World]:
        try:
            yield from statement.torn(world)
        except Failed:
            return

    def _time_passes(self, names: Sequence[str], point: Point) -> Iterator[tuple[str, Point]]:
        """The lock shows no sign of life for a minute. If its holder is alive, that is a fault: it stalls."""
        world, lives, faults = point
        lock = world.get(LOCK)
        if lock is None or lock.rows == IDLE:
            return
        at = names.index(lock.comment) if lock.comment in names else -1
        life = lives[at] if at >= 0 else DEAD
        idle = world.age(LOCK, is_idle=True)
        if life.state == "late" and self.model.has(Guard.LOCK_IS_KEPT):
            return
        if life.state != "running":
            yield "a minute passes", point._replace(world=idle)
        elif faults and self.at_once > 1:
            statement = self.next(lock.comment, life.answers)
            assert isinstance(statement, Statement)
            yield f"{lock.comment} stalls before: {statement.name}", Point(idle, lives, faults - 1)
            if not self.model.has(Guard.SOON):
                late = life._replace(state="late")
                yield (
                    f"{lock.comment} looks, and stalls before: {statement.name}",
                    self._with(point, at, late, idle, faults - 1),
                )

    def _with(self, point: Point, at: int, life: Life, world: World, faults: int | None = None) -> Point:
        lives = (*point.lives[:at], life, *point.lives[at + 1 :])
        alive = frozenset(name for name, each in zip(self.runs, lives, strict=True) if each.state == "running")
        return Point(replace(world, alive=alive), lives, point.faults if faults is None else faults)

    def _all_dead(self, point: Point, world: World) -> Point:
        lives = tuple(DEAD if life.state in ("running", "late") else life for life in point.lives)
        return Point(replace(world, is_torn=True, alive=frozenset()), lives, point.faults - 1)

    def next(self, name: str, answers: tuple[Any, ...]) -> Statement | str:
        """The statement that a run sends after these answers; or how it ends."""
        known = self._steps.get((name, answers))
        if known is None:
            known = self._steps[name, answers] = _next(self.runs[name]() if name in self.runs else self.last(), answers)
        return known

    def _look(self, statement: Statement, world: World, name: str) -> World | None:
        """The world after a run has looked at its lock, if it does so before this statement, and so renewed it. None if
        it has lost it: then it does not send the statement."""
        if not statement.looks or not self.model.has(Guard(statement.looks)):
            return world
        return world.age(LOCK, is_idle=False) if _holder(world) == name else None

    def _effect(self, statement: Statement, world: World, name: str) -> tuple[World, Any] | None:
        """`name`: the run that sends the statement; empty if it was sent before."""
        seen = self._look(statement, world, name) if name else world
        if seen is None:
            return world, Failed("This run no longer holds its lock")
        world = seen
        try:
            return statement.effect(world)
        except Failed as failed:
            return world, failed

    # What must hold

    def _wrong(self, point: Point, *, is_stuck: bool) -> str:
        world = point.world
        if is_stuck and any(life.state == "running" for life in point.lives):
            return "a run waits for ever"
        if self._sees_half(world):
            return f"a reader sees {_shown(world.rows(TABLE))}"
        if world.rows(SUMS) not in self._whole and not self.model.is_journal:
            return f"a reader of the view sees {_shown(world.rows(SUMS))}"
        if all(life.state in ("ended", "failed", "dead", "waiting") for life in point.lives):
            if world not in self._healed:
                self._healed[world] = self._heal(world)
            return self._healed[world]
        return ""

    def _sees_half(self, world: World) -> bool:
        if not self._whole:
            numbers = range(len(self.model.batches) + 1)
            self._whole |= {self.model.state(range(1, number + 1))[0] for number in numbers}
        return world.rows(TABLE) not in self._whole and not self.model.is_journal and not world.is_torn

    def _heal(self, world: World) -> str:
        """A last run, without faults: what is wrong after it."""
        answers: tuple[Any, ...] = ()
        world = replace(world.age(LOCK, is_idle=True), alive=frozenset())
        for _ in range(MOST_STATEMENTS):
            statement = self.next(LAST, answers)
            if statement == "ended":
                return self._wrong_at_end(world)
            if isinstance(statement, str):
                return f"the last run fails: {statement}"
            done = self._effect(statement, world, LAST)
            if done is None or isinstance(done[1], Failed):
                return f"the last run {'waits' if done is None else 'fails'} at {statement.name}: {done and done[1]}"
            world, answers = done[0], (*answers, done[1])
        return "the last run does not end"

    def _wrong_at_end(self, world: World) -> str:
        rows, deletes = self.model.state(self.model.batches)
        uuid = world.uuid(TABLE)
        entries = [entry for entry in world.ledger if entry.uuid == uuid]
        applied = {batch for entry in entries if entry.status == "applied" for batch in entry.batches}
        applies = {entry.apply for entry in entries}
        fed: Rows = NO_ROWS
        for (apply, *row), net in world.rows(FEED):
            fed = added(fed, [(tuple(row), net)] if apply in applies else [])
        left = sorted(name for name, _ in world.tables if name.startswith((LOCK, BUILD, f"{TABLE}__dbt_signed")))
        for what, found, wanted in (
            ("the table has", _shown(world.rows(TABLE)), _shown(rows)),
            ("the tombstones are", _highest(world.rows(TOMBSTONES)), _highest(deletes)),
            ("the ledger has", applied, set(self.model.batches)),
            ("the last status is", entries[-1].status if entries else "", "applied"),
            ("the feed has", _shown(fed), _shown(rows if self.model.is_fed else NO_ROWS)),
            (
                "the view has",
                _shown(world.rows(VIEW)),
                _shown(rows if world.get(VIEW) and not world.is_warned else world.rows(VIEW)),
            ),
            ("the sums are", _shown(world.rows(SUMS)), _shown(rows if world.get(SUMS) else NO_ROWS)),
            ("left behind:", left, []),
        ):
            if found != wanted:
                return f"in the end {what} {found}, not {wanted}"
        return ""


def _next(program: Program, answers: Sequence[Any]) -> Statement | str:
    try:
        statement = next(program)
        for answer in answers:
            statement = program.send(answer)
    except StopIteration:
        return "ended"
    except Failed as failed:
        return str(failed)
    return statement


def _holder(world: World) -> str:
    lock = world.get(LOCK)
    return lock.comment if lock else ""


def _trace(came: Mapping[Point, tuple[Point, str] | None], point: Point) -> tuple[str, ...]:
    moves = []
    while step := came[point]:
        point, move = step
        moves.append(move)
    return tuple(reversed(moves))


def _shown(rows: Rows) -> str:
    return " ".join(f"{net:+}{''.join(map(str, row))}" for row, net in sorted(rows)) or "nothing"


def _highest(rows: Rows) -> dict[str, int]:
    highest: dict[str, int] = {}
    for (key, version), _ in rows:
        highest[key] = max(version, highest.get(key, 0))
    return highest


def execute(program: Program, world: World, dies_before: str = "") -> tuple[World, list[str]]:
    """Run a program alone, to its end or to the statement that begins so. Returns the world after it, and the names of
    its statements."""
    names: list[str] = []
    try:
        statement = next(program)
        while not (dies_before and statement.name.startswith(dies_before)):
            names.append(statement.name)
            done = statement.effect(world)
            assert done is not None, f"{statement.name} waits"
            world, answer = done
            statement = program.send(answer)
    except StopIteration:
        pass
    return world, names
