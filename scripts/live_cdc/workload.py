"""What the customers of the shop do: transactions at random, one after the other."""

from __future__ import annotations

import random
import subprocess
import threading
from collections.abc import Iterator
from typing import IO

from scripts.debezium.postgres import Postgres
from scripts.live_cdc.capture import WRITERS

SCHEMA = """
create table customers (
  customer_id bigint primary key, name text not null, email text, region text not null, tier text not null,
  credit_limit numeric(12,2) not null, updated_at timestamptz not null default clock_timestamp()
);
create table orders (
  order_id bigint primary key, customer_id bigint not null, region text not null, status text not null,
  amount numeric(12,2) not null, items bigint not null, note text,
  created_at timestamptz not null default clock_timestamp(), updated_at timestamptz not null default clock_timestamp()
);
create table order_items (
  order_id bigint, line_no bigint, sku text not null, quantity bigint not null, unit_price numeric(10,2) not null,
  updated_at timestamptz not null default clock_timestamp(), primary key (order_id, line_no)
);
create sequence ids start 1001;
-- Long notes stay out of line: an update of another column does not carry them.
alter table orders alter note set storage external;
-- As in the shop's own events: an event has the whole row before the change.
alter table customers replica identity full;
alter table orders replica identity full;
alter table order_items replica identity full;
"""
REGIONS = ("north", "south", "east", "west", "islands")
TIERS = ("bronze", "silver", "gold", "platinum")
STATUSES = ("pending", "paid", "shipped", "delivered", "cancelled", "refunded")
FIRST = 300  # customers and orders at the beginning
PAUSE = 0.05  # seconds between two transactions
SCHEMA_CHANGE = 200  # after so many transactions orders get a column
TRUNCATE = 900  # after so many transactions, and again, order_items are emptied and filled

ANY_CUSTOMER = "(select customer_id from customers order by random() limit 1)"
ANY_ORDER = "(select order_id from orders order by random() limit 1)"


class Workload(threading.Thread):
    """Sends transactions until it is told to stop.

    `error` says why it ended, if nobody has told it to.
    """

    def __init__(self, postgres: Postgres, seed: int) -> None:
        super().__init__(daemon=True)
        self.error = ""
        self.transactions = 0
        self._chance = random.Random(seed)
        self._stopped = threading.Event()
        self._psql = subprocess.Popen(
            postgres.command(),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            cwd="/",
            start_new_session=True,  # Ctrl-C is for the main process
        )

    def run(self) -> None:
        """Work."""
        assert self._psql.stdin
        assert self._psql.stderr
        try:
            for number in range(FIRST):
                self._send(self._psql.stdin, self._new_customer())
                self._send(self._psql.stdin, self._new_order())
                self.transactions = 2 * (number + 1)
            for transaction in self._transactions():
                if self._stopped.wait(PAUSE):
                    break
                self._send(self._psql.stdin, transaction)
                self.transactions += 1
        except BrokenPipeError:
            self.error = self._psql.stderr.read().strip()

    def stop(self) -> None:
        """End it, and its connection."""
        self._stopped.set()
        if self.ident:
            self.join()
        self._psql.kill()
        self._psql.wait()

    @staticmethod
    def _send(psql: IO[str], transaction: str) -> None:
        psql.write(
            f"begin; select pg_advisory_xact_lock_shared({WRITERS}); {transaction}; commit;\n"
        )
        psql.flush()

    def _transactions(self) -> Iterator[str]:
        kinds = (
            (30, self._new_order),
            (30, self._new_status),
            (10, self._new_customer),
            (8, self._new_tier),
            (6, self._long_note),
            (6, self._note_left_alone),
            (6, self._deleted_order),
            (4, self._twice_in_one),
            (3, self._new_key),
            (2, self._rolled_back),
        )
        weights = [weight for weight, _ in kinds]
        number = 0
        while True:
            number += 1
            if number == SCHEMA_CHANGE:
                yield "alter table orders add column channel text default 'web'"
            elif number % TRUNCATE == 0:
                yield "truncate order_items"
                yield self._refill()
            else:
                (kind,) = self._chance.choices([kind for _, kind in kinds], weights)
                yield kind()

    def _new_customer(self) -> str:
        chance = self._chance
        return (
            "insert into customers (customer_id, name, email, region, tier, credit_limit) values "
            f"(nextval('ids'), 'Zoë O''Brien {chance.randrange(1000)}', null, '{chance.choice(REGIONS)}', "
            f"'{chance.choice(TIERS)}', {chance.randrange(100, 9000)}.{chance.randrange(100):02d})"
        )

    def _new_order(self) -> str:
        chance = self._chance
        items = "; ".join(
            "insert into order_items (order_id, line_no, sku, quantity, unit_price) values "
            f"(currval('ids'), {line}, 'SKU-{chance.randrange(200):04d}', {chance.randrange(1, 6)}, "
            f"{chance.randrange(1, 300)}.{chance.randrange(100):02d})"
            for line in range(1, chance.randrange(2, 5))
        )
        return (
            "insert into orders (order_id, customer_id, region, status, amount, items) "
            f"select nextval('ids'), customer_id, region, 'pending', {chance.randrange(1, 2000)}.25, 1 "
            f"from customers where customer_id = {ANY_CUSTOMER}; {items}"
        )

    def _refill(self) -> str:
        return (
            "insert into order_items (order_id, line_no, sku, quantity, unit_price) "
            "select order_id, 1, 'SKU-0001', 1, amount from orders where order_id % 3 = 0"
        )

    def _new_status(self) -> str:
        return self._update(f"status = '{self._chance.choice(STATUSES)}'")

    def _new_tier(self) -> str:
        tier, region = self._chance.choice(TIERS), self._chance.choice(REGIONS)
        return (
            f"update customers set tier = '{tier}', region = '{region}', updated_at = clock_timestamp() "
            f"where customer_id = {ANY_CUSTOMER}"
        )

    def _long_note(self) -> str:
        return self._update(f"note = repeat('ü{self._chance.randrange(10**6)} ', 1500)")

    def _note_left_alone(self) -> str:
        """An order with a long note, of which PostgreSQL does not send the note."""
        return (
            "update orders set amount = amount + 0.01, updated_at = clock_timestamp() where order_id = "
            "(select order_id from orders where length(note) > 5000 order by random() limit 1)"
        )

    def _deleted_order(self) -> str:
        return (
            f"create temp table gone on commit drop as select {ANY_ORDER} as order_id; "
            "delete from order_items where order_id in (select order_id from gone); "
            "delete from orders where order_id in (select order_id from gone)"
        )

    def _twice_in_one(self) -> str:
        return f"{self._new_status()}; {self._update('amount = amount * 1.1')}; {self._new_tier()}"

    def _new_key(self) -> str:
        return (
            "update customers set customer_id = nextval('ids'), updated_at = clock_timestamp() "
            f"where customer_id = {ANY_CUSTOMER}"
        )

    def _rolled_back(self) -> str:
        return f"savepoint s; delete from customers; rollback to s; {self._new_status()}"

    @staticmethod
    def _update(assignment: str) -> str:
        return f"update orders set {assignment}, updated_at = clock_timestamp() where order_id = {ANY_ORDER}"
