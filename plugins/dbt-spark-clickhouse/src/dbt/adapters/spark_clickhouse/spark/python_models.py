"""Python models on Spark, embedded or through Spark Connect. They run in dbt's own process.

The result of a model becomes a temporary view, from which a statement of dbt-spark creates the table. So file format,
partitions and location work as for a SQL model, and a run that is killed leaves what a SQL model would leave.
"""

from __future__ import annotations

import builtins
import sys
import traceback
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

from dbt_common.exceptions import DbtRuntimeError
from packaging.requirements import InvalidRequirement, Requirement

from dbt.adapters.spark_clickhouse import private_api
from dbt.adapters.spark_clickhouse.core.spark_errors import with_advice, without_stack

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@contextmanager
def view_of_model(session: SparkSession, node: dict[str, Any], code: str, project_root: Path) -> Iterator[str]:
    """A temporary view of what a Python model's `model()` returns, for use within the block.

    Args:
        session: the session in which the model runs.
        node: the model, as dbt passes it to `submit_python_job`.
        code: the model's own code, followed by what dbt defines for it.
        project_root: the folder that the model's path starts from.

    Raises:
        DbtRuntimeError: a package is missing, or the model failed; the message names the model's line.
    """
    path = Path(node.get("root_path") or project_root, node["original_file_path"])
    require_packages(node["config"].get("packages") or [], node["original_file_path"])
    view = f"dbt_python_{uuid.uuid4().hex}"
    with _module(f"dbt_model_{node['unique_id']}") as module:
        with naming_lines(path):
            vars(module)["spark"] = session  # as on Databricks
            exec(compile(_at_its_lines(code, path), path, "exec"), vars(module))
            rows = module.model(module.dbtObj(session.table), session)
            _frame(rows, session, node["name"]).createOrReplaceTempView(view)
        try:
            yield view
        finally:
            session.catalog.dropTempView(view)


def require_packages(packages: list[str], model: str) -> None:
    """Check that the packages in a model's config, written as for pip, are installed.

    Raises:
        DbtRuntimeError: one is missing or has another version.
    """
    missing = []
    for package in packages:
        try:
            wanted = Requirement(package)
            if not wanted.specifier.contains(metadata.version(wanted.name), prereleases=True):
                missing.append(package)
        except metadata.PackageNotFoundError:
            missing.append(package)
        except InvalidRequirement as error:
            raise DbtRuntimeError(
                f"{model}: '{package}' in `packages` is not a valid pip requirement: {error}"
            ) from error
    if missing:
        wanted_packages = " ".join(f"'{package}'" for package in missing)
        raise DbtRuntimeError(
            f"{model} needs packages that are missing or have another version where dbt runs. "
            f"Install them: pip install {wanted_packages}"
        )


def _frame(rows: Any, session: SparkSession, model: str) -> DataFrame:
    from pyspark.sql import DataFrame

    if isinstance(rows, DataFrame):
        return rows
    if hasattr(rows, "to_spark"):  # a DataFrame of pandas on Spark
        return cast("DataFrame", rows.to_spark())
    if type(rows).__module__.partition(".")[0] == "pandas" and hasattr(rows, "columns"):
        return session.createDataFrame(rows)
    raise DbtRuntimeError(
        f"The Python model {model} returned an object of type {type(rows).__name__}. Return a "
        "DataFrame of Spark, of pandas, or of pandas on Spark."
    )


@contextmanager
def naming_lines(path: Path) -> Iterator[None]:
    """Make an error of the block name the lines of the model at ``path`` that caused it."""
    try:
        yield
    except DbtRuntimeError:
        raise
    except Exception as error:
        raise DbtRuntimeError(_describe(error, path)) from error


def _describe(error: Exception, path: Path) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    lines = [
        f"  {path}, line {frame.lineno}, in {frame.name}\n    {frame.line}"
        for frame in frames
        if frame.filename == str(path)
    ]
    if isinstance(error, SyntaxError) and error.filename == str(path):
        lines = [f"  {path}, line {error.lineno}\n    {(error.text or '').strip()}"]
    message = with_advice(without_stack(f"{type(error).__name__}: {error}"))
    return "\n".join([*lines, message])


def _at_its_lines(code: str, path: Path) -> str:
    """``code`` with the line numbers of its file: dbt strips the empty lines at its top."""
    text = path.read_text() if path.exists() else ""
    above = text[: len(text) - len(text.lstrip())].count("\n")
    return "\n" * above + code.lstrip()


@contextmanager
def _module(name: str) -> Iterator[ModuleType]:
    """A module to run a model in. Its functions can be sent to Spark's Python processes."""
    module = ModuleType(name)
    vars(module)["__builtins__"] = builtins
    sys.modules[name] = module
    private_api.pickle_by_value(module)
    try:
        yield module
    finally:
        private_api.stop_pickling_by_value(module)
        del sys.modules[name]
