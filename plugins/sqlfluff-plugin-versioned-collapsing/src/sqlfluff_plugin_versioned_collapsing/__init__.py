"""sqlfluff rules that know which relations hold state and cancel rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlfluff.core.config.loader import load_config_resource
from sqlfluff.core.plugin import hookimpl

if TYPE_CHECKING:
    from sqlfluff.core.rules import BaseRule


@hookimpl
def get_rules() -> list[type[BaseRule]]:
    """The rules. They are imported late: sqlfluff calls `get_configs_info` before it defines a rule."""
    from sqlfluff_plugin_versioned_collapsing.rules import RULES

    return RULES


@hookimpl
def load_default_config() -> dict[str, Any]:
    """The defaults of the options: without options no relation is known, and nothing is found."""
    config: dict[str, Any] = load_config_resource(
        package="sqlfluff_plugin_versioned_collapsing", file_name="plugin_default_config.cfg"
    )
    return config


@hookimpl
def get_configs_info() -> dict[str, dict[str, Any]]:
    """What the options mean."""
    return {
        "collapsing_manifest": {"definition": "dbt's manifest, as `dbt parse` and `dbt compile` write it: a path"},
        "collapsing_engines": {"definition": "Tables and their engines, by the query in the README: a path"},
    }
