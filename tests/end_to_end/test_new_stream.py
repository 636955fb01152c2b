"""The shop on a newly made stream, with other rows, other races, and PostgreSQL's own state after each batch."""

from __future__ import annotations

import random
from pathlib import Path

from scripts.shop.stream import Size, make
from tests.end_to_end.test_shop import assert_all_succeeded, assert_tables_equal_postgresql
from tests.support import shop
from tests.support.commands import dbt, variables

SIZE = Size(customers=60, orders=90, transactions=150, batches=4, compared=(2, 4), incremental=3)
PROJECT = (".dbtignore", "dbt_project.yml", "profiles.yml", "analyses", "docs", "macros", "models", "seeds", "tests")


def test_every_prefix_of_it_is_built(tmp_path: Path) -> None:
    """dbt's own tests compare with PostgreSQL as well. The project has the new stream as its `data`."""
    make(tmp_path / "data", random.randrange(10**6), SIZE)
    for name in PROJECT:
        (tmp_path / name).symlink_to(shop.REPOSITORY / name)
    for end in SIZE.compared:
        builds = (["build", *variables(through_batch=batch)] for batch in (end - 1, end))
        assert_all_succeeded(dbt(tmp_path / "home", *builds, folder=tmp_path))
        with shop.clickhouse(tmp_path / "home") as client:
            assert_tables_equal_postgresql(client, end, tmp_path / "data" / "expected")
