"""Makes the archive of classes with which Spark starts in half the time.

    python -m dbt.adapters.spark_clickhouse.spark.prepare

This is done once per environment. It takes less than a minute, and up to 270 MB below the environment's `share`.
"""

from __future__ import annotations

import argparse
import atexit
import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from dbt.adapters.spark_clickhouse.core.credentials import EmbeddedSparkCredentials, SparkMethod
from dbt.adapters.spark_clickhouse.spark.class_archive import archive_path, recording_options
from dbt.adapters.spark_clickhouse.spark.session import (
    JAVA_OPTIONS,
    OF_LITTLE_DATA,
    OF_MORE_DATA,
    default_settings,
    start_session,
)

# Statements like those of a run, so that most of the classes that runs need get loaded. With little data, Spark
# interprets expressions; with more, it generates code: see OF_LITTLE_DATA.
_STATEMENTS = (
    "create schema if not exists warm_up",
    """
    create or replace view warm_up.lines as
    select value, cast(batch as bigint) as batch, _metadata.file_path as file from text.`{lines}`
    """,
    """
    create table warm_up.changes using parquet as
    select
      parsed.id,
      max_by(parsed, batch) as last,
      count(*) as changes,
      md5(max(value)) as digest,
      sum(try_cast(parsed.amount as decimal(12, 2))) as amount,
      collect_list(file) as files
    from (
      select *, from_json(value, 'id bigint, amount string, at timestamp') as parsed
      from warm_up.lines
    )
    lateral view explode(array(parsed.amount)) as each
    where value rlike '[0-9]'
      and array_contains((select collect_list(batch) from warm_up.lines), batch)
    group by parsed.id
    """,
    """
    select id, name, at, total, found
    from (
      select
        id,
        row_number() over (partition by id order by struct(last, amount) desc) as place,
        map_from_entries(transform(filter(files, file -> file is not null), file -> struct(file, id)))[''] as name,
        try_to_timestamp(regexp_extract(digest, '^([0-9-]+)$', 1)) as at,
        from_json(get_json_object(to_json(named_struct('id', id)), '$'), 'map<string, string>') as found
      from warm_up.changes
    )
    left join (select id, count(*) as total from warm_up.changes group by id) using (id)
    left anti join (select id from warm_up.changes where amount > 2 union all select 0) using (id)
    where place = 1
    """,
    "describe extended warm_up.changes",
    "show table extended in warm_up like '*'",
    """
    select sum(crc32(cast(id as string))), row_number() over (order by id)
    from warm_up.changes
    group by id
    """,
    "insert into warm_up.changes select * from warm_up.changes",
    "create or replace temporary view warm_up_rows as select * from values (1, 'a') as rows (id, name)",
    "create table warm_up.filled using parquet as select * from warm_up_rows",
    "insert overwrite table warm_up.filled select * from warm_up_rows",
    "drop table if exists warm_up.filled purge",
    "drop table if exists warm_up.changes purge",
    "drop view warm_up.lines",
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Make the archive, unless it exists.

    Raises:
        FailedToConnectError: there is no Java, or Spark does not start.
    """
    parser = argparse.ArgumentParser(
        prog="python -m dbt.adapters.spark_clickhouse.spark.prepare",
        description="Let Spark start in half the time. Once for an environment; needs up to 270 MB.",
    )
    parser.parse_args(arguments)
    path = archive_path()
    if path is None or not path.is_file():
        _make(path)


def _make(path: Path | None) -> None:
    """Start Spark in a folder of its own, run the statements, and let Spark write the archive as it ends."""
    from pyspark.sql import Observation, SparkSession
    from pyspark.sql import functions as f

    home = Path(tempfile.mkdtemp())
    draft = home / "archive"
    # Exit handlers run in reverse order: Spark ends first.
    atexit.register(_put_in_place, draft, path, home)
    credentials = EmbeddedSparkCredentials(
        method=SparkMethod.SESSION, host="", schema="warm_up", home=str(home), project_root=str(home)
    )
    options = default_settings(credentials)[JAVA_OPTIONS] + recording_options(draft)
    credentials.server_side_parameters = {JAVA_OPTIONS: options}
    start_session(credentials, 0)
    (home / "lines" / "batch=1").mkdir(parents=True)
    (home / "lines" / "batch=1" / "lines.json").write_text('{"id": 1, "amount": "1.50"}\n')
    session = SparkSession.builder.getOrCreate()
    for settings in (OF_LITTLE_DATA, OF_MORE_DATA):
        for name, value in settings.items():
            session.conf.set(name, value)
        for statement in _STATEMENTS:
            session.sql(statement.format(lines=home / "lines")).collect()
        ids = session.range(1).observe(Observation(), f.count(f.lit(1)).alias("rows"))
        ids.select(f.udf(str, "string", useArrow=True)("id")).collect()


def _put_in_place(draft: Path, path: Path | None, home: Path) -> None:
    try:
        if path is not None and draft.is_file():
            path.parent.mkdir(parents=True, exist_ok=True)
            beside = path.with_suffix(f".{os.getpid()}")
            shutil.move(draft, beside)
            beside.replace(path)
    finally:
        shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    main()
