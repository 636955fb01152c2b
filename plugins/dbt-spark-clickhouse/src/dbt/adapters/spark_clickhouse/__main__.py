"""`python -m dbt.adapters.spark_clickhouse` is the command `dbt-spark-clickhouse`."""

import sys

from dbt.adapters.spark_clickhouse.cli import main

if __name__ == "__main__":
    sys.exit(main())
