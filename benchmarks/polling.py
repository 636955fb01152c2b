"""What readers see of a table while applies go on: threads that query it, and what their answers should have been.

The states between applies come from a plain dict. While an apply is under way, an answer is correct if it matches the
state before or after it. A reader who has seen a state of a table or view must not see an earlier one later.
"""

from __future__ import annotations

import random
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle, islice
from threading import Event
from typing import Any, NamedTuple

import clickhouse_connect
from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.httputil import get_pool_manager

from tests.support.collapsing_project import CollapsingProject, Row

REGIONS = ("EU", "US", "AP")
PARTITIONS = 6
THREADS = 8
# Seconds between the polls of a thread. Without a pause the threads slow dbt down, and applies take longer.
PAUSE = 0.05
STRUCTURE = "id UInt32, part UInt8, region String, amount Int64, _version UInt64, _is_deleted Bool"
CONFIG: Mapping[str, Any] = {
    "unique_key": "id",
    "partition_by": "part",
    "projections": [{"name": "by_region", "query": "select region, sum(_sign), sum(amount * _sign) group by region"}],
}
SIGNED = "sum(_sign) as n, sum(amount * _sign) as total"
QUERIES = {
    "sums by sign": f"select {SIGNED} from target",
    "sums by sign and partition": (f"select part, {SIGNED} from target group by part having n <> 0 or total <> 0"),
    "FINAL": "select count(), sum(amount) from target final where _sign = 1",
    "projection": (
        f"select region, {SIGNED} from target group by region having n <> 0 or total <> 0 "
        "settings force_optimize_projection = 1"
    ),
    # Both sides read one snapshot of the table, by enable_shared_storage_snapshot_in_query. Between two snapshots there
    # is usually too little time for the table to change noticeably.
    "join with itself": (
        "select sum(a._sign * b._sign), sum(a._sign * b._sign * a.amount * b.amount) "
        "from target as a join target as b using (id) settings merge_tree_storage_snapshot_sleep_ms = 20"
    ),
}
# Queries on a view that dbt's runs keep.
VIEW = {
    "view of sums": (
        "select region, sum(n) as n, sum(total) as total from sums group by region having n <> 0 or total <> 0"
    )
}
POLLS = len(QUERIES | VIEW) + 2  # per thread and apply, at least
Answer = dict[tuple[Any, ...], tuple[int, int]]  # by group; without groups, by the empty one


class LiveRow(NamedTuple):
    """Partition, region and amount of a key."""

    part: int
    region: str
    amount: int


State = dict[int, LiveRow]


class Changes:
    """Random change sets for a table, and the state after each."""

    def __init__(self, rows: int) -> None:
        self._chance = random.Random(rows)
        self._deleted: set[int] = set()
        self._version = 1
        self.state: State = {key: self._row() for key in range(rows)}

    @property
    def first(self) -> list[Row]:
        """The rows of the current state, as the change set that creates the table."""
        return [(key, *row, self._version, False) for key, row in self.state.items()]

    def next(self, count: int) -> list[Row]:
        """``count`` changes, each of a different key.

        40 % are updates, most of which move the row to another partition, 30 % are deletes, 10 % bring back deleted
        keys (once there are some), and the rest are new keys.
        """
        tenth = count // 10
        self._version += 1
        live = self._chance.sample(sorted(self.state), 7 * tenth)
        deletes, updates = live[: 3 * tenth], live[3 * tenth :]
        back = self._chance.sample(sorted(self._deleted), min(tenth, len(self._deleted)))
        new = max(self.state.keys() | self._deleted) + 1
        inserts = range(new, new + count - len(live) - len(back))
        rows: list[Row] = [(key, *self.state.pop(key), self._version, True) for key in deletes]
        for key in (*updates, *back, *inserts):
            self.state[key] = self._row()
            rows.append((key, *self.state[key], self._version, False))
        self._deleted = self._deleted.difference(back).union(deletes)
        return rows

    def _row(self) -> LiveRow:
        chance = self._chance
        return LiveRow(chance.randrange(PARTITIONS), chance.choice(REGIONS), chance.randrange(1, 10_000))


def answers_of(state: State) -> dict[str, Answer]:
    """The correct answer to each query in a state."""
    parts: dict[Any, list[int]] = defaultdict(list)
    regions: dict[Any, list[int]] = defaultdict(list)
    for part, region, amount in state.values():
        parts[part].append(amount)
        regions[region].append(amount)
    by_part = {(part,): (len(amounts), sum(amounts)) for part, amounts in parts.items()}
    by_region = {(region,): (len(amounts), sum(amounts)) for region, amounts in regions.items()}
    total = sum(total for _, total in by_part.values())
    squares = sum(row.amount**2 for row in state.values())
    return {
        "sums by sign": {(): (len(state), total)},
        "sums by sign and partition": by_part,
        "FINAL": {(): (len(state), total)},
        "projection": by_region,
        "view of sums": by_region,
        "join with itself": {(): (len(state), squares)},
    }


class Poll(NamedTuple):
    """An answer to a query, and the first and last state that it may show."""

    query: str
    answer: Answer
    first: int
    last: int
    at: float  # by the clock, in seconds


@dataclass(frozen=True)
class Report:
    """What readers saw.

    Attributes:
        applies: applies that ran meanwhile.
        polls: queries that were answered.
        torn: answers that match no state.
        backward: answers that show a past state: a later apply had ended, or the reader had already seen a later state.
        worst: the greatest error of these answers, as a share of the nearest correct one.
        longest: the longest time, in seconds, for which a query was answered wrongly: from the first of several wrong
            answers in a row to the next correct one, whichever reader asked.
        wrong: how often each query was answered wrongly.
    """

    applies: int
    polls: int
    torn: int
    backward: int
    worst: float
    longest: float
    wrong: Mapping[str, int]


class Readers:
    """Threads that run all queries in turn, each on a connection of its own."""

    def __init__(
        self, address: tuple[str, int], database: str, state: State, queries: Mapping[str, str] = QUERIES
    ) -> None:
        self._address = address
        self._database = database
        self._queries = queries
        self._states = [answers_of(state)]
        self._over = 0  # the number of the last state whose apply has ended
        self._polls: list[list[Poll]] = []
        self._futures: list[Future[None]] = []
        self._stopped = Event()

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Let the threads query within the block, and once more at its end.

        Raises:
            AssertionError: the table does not end in the last state.
            ClickHouseError: a query failed.
        """
        self._polls = [[] for _ in range(THREADS)]
        with ThreadPoolExecutor(THREADS) as pool:
            self._futures = [pool.submit(self._read, reader) for reader in range(THREADS)]
            try:
                yield
            finally:
                self._stopped.set()
        self._raise_errors()
        with self._connect() as client:
            found = {query: self._ask(client, query).answer for query in self._queries}
        expected = {query: self._states[-1][query] for query in self._queries}
        assert found == expected, f"{found}, not {expected}"

    @contextmanager
    def applying(self, state: State) -> Iterator[None]:
        """The block brings the table from the previous state to ``state``; it then waits for POLLS of each thread."""
        goals = self._goals()
        self._states.append(answers_of(state))
        yield
        self._over += 1
        self._wait(goals)

    def wait_for_polls(self) -> None:
        """Wait for POLLS more of each thread, so that each query has begun and ended from now on."""
        self._wait(self._goals())

    def report(self) -> Report:
        """Judge the answers."""
        judged = sorted(
            (verdict for reader in self._polls for verdict in self._judge(reader)), key=lambda verdict: verdict[0].at
        )
        found = Counter(fault for _, fault in judged)
        wrong = [poll for poll, fault in judged if fault]
        return Report(
            applies=len(self._states) - 1,
            polls=len(judged),
            torn=found["torn"],
            backward=found["backward"],
            worst=max(map(self._difference, wrong), default=0.0),
            longest=_longest(judged),
            wrong=Counter(poll.query for poll in wrong),
        )

    def _judge(self, polls: Iterable[Poll]) -> Iterator[tuple[Poll, str]]:
        """The polls of one reader, each with `torn`, `backward` or nothing.

        An answer that several states share counts as the first of them. A view is updated after its table, so what a
        reader has seen of one implies nothing for the other.
        """
        seen = {"table": 0, "view": 0}
        for poll in polls:
            relation = "view" if poll.query in VIEW else "table"
            states = range(max(seen[relation], poll.first), poll.last + 1)
            shown = next((state for state in states if self._is_of(poll, state)), None)
            if shown is not None:
                seen[relation] = shown
                yield poll, ""
            elif any(self._is_of(poll, state) for state in range(poll.last + 1)):
                yield poll, "backward"
            else:
                yield poll, "torn"

    def _connect(self) -> Client:
        host, port = self._address
        return clickhouse_connect.get_client(host=host, port=port, database=self._database, pool_mgr=get_pool_manager())

    def _read(self, reader: int) -> None:
        with self._connect() as client:
            for query in islice(cycle(self._queries), reader, None):
                self._polls[reader].append(self._ask(client, query))
                if self._stopped.wait(PAUSE):
                    return

    def _ask(self, client: Client, query: str) -> Poll:
        first = self._over
        rows = client.query(self._queries[query]).result_rows
        answer = {tuple(group): (n, total) for *group, n, total in rows}
        return Poll(query, answer, first, len(self._states) - 1, time.perf_counter())

    def _goals(self) -> list[int]:
        return [len(reader) + POLLS for reader in self._polls]

    def _wait(self, goals: Sequence[int]) -> None:
        while True:
            self._raise_errors()
            if all(len(reader) >= goal for reader, goal in zip(self._polls, goals, strict=True)):
                return
            time.sleep(PAUSE)

    def _raise_errors(self) -> None:
        for future in self._futures:
            if future.done():
                future.result()

    def _is_of(self, poll: Poll, state: int) -> bool:
        return poll.answer == self._states[state][poll.query]

    def _difference(self, poll: Poll) -> float:
        states = self._states[poll.first : poll.last + 1]
        return min(_difference(poll.answer, state[poll.query]) for state in states)


def _difference(found: Answer, right: Answer) -> float:
    """The error of an answer: the absolute differences of all groups, as a share of the correct sum; the greater share
    of the two figures."""
    shares = []
    for figure in (0, 1):
        groups = found.keys() | right.keys()
        off = sum(abs(found.get(group, (0, 0))[figure] - right.get(group, (0, 0))[figure]) for group in groups)
        shares.append(off / sum(figures[figure] for figures in right.values()))
    return max(shares)


def _longest(judged: Iterable[tuple[Poll, str]]) -> float:
    """See Report. The polls are in the order of their answers."""
    since: dict[str, float] = {}  # for each query whose last answer was wrong
    longest = 0.0
    for poll, fault in judged:
        if fault:
            since.setdefault(poll.query, poll.at)
        longest = max(longest, poll.at - since.get(poll.query, poll.at))
        if not fault:
            since.pop(poll.query, None)
    return longest


@dataclass(frozen=True)
class Size:
    """How much is applied: rows of the table, number of applies, changes per apply."""

    rows: int
    applies: int
    changes: int


def poll_applies(project: CollapsingProject, address: tuple[str, int], config: Mapping[str, Any], size: Size) -> Report:
    """Apply change sets to the table `target` of an empty project while eight readers poll it and a view of it that the
    same runs keep.

    Args:
        project: on the server.
        address: host and port of the server.
        config: options of the model in addition to CONFIG. With `publish: journal` the table gets a materialized view.
        size: of the table and the change sets.

    Raises:
        AssertionError: an apply failed, or the table is wrong in the end.
    """
    changes = Changes(size.rows)
    project.add_model("target", {**CONFIG, **config}, "select * from changes")
    view = {"materialized": "versioned_collapsing_view", "order_by": ["part", "region"], "partition_by": "part"}
    by_region = f"select part, region, {SIGNED} from {{{{ ref('target') }}}} group by part, region"
    project.add_model("sums", view, by_region)
    apply_rows(project, changes.first)
    if config.get("publish") == "journal":
        project.command(
            "create materialized view by_part engine = SummingMergeTree order by part as "
            f"select part, {SIGNED} from target group by part"
        )
    readers = Readers(address, project.schema, changes.state, QUERIES | VIEW)
    with readers.reading():
        for _ in range(size.applies):
            rows = changes.next(size.changes)
            with readers.applying(changes.state):
                apply_rows(project, rows)
    return readers.report()


def apply_rows(project: CollapsingProject, rows: Iterable[Row]) -> None:
    """Run the models with these changes."""
    project.replace_rows("changes", STRUCTURE, rows)
    outcomes = project.run()
    assert {outcome.status for outcome in outcomes.values()} == {"success"}, outcomes
