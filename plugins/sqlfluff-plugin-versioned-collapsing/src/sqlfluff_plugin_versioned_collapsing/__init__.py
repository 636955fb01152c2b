"""sqlfluff rules that know which relations hold state and cancel rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlfluff.core.config.loader import load_config_resource
from sqlfluff.core.plugin import hookimpl

if TYPE_CHECKING:
    from sqlfluff.core.rules import BaseRule


@hookimpl
def get_rules() -> list[type[BaseRule]]:
    """The rules, imported here: `get_configs_info` must have run before one is defined."""
    from sqlfluff_plugin_versioned_collapsing.rules import RULES

    return RULES


@hookimpl
def load_default_config() -> dict[str, Any]:
    """The options of the rules: without any, no relation is known and nothing is found."""
    config: dict[str, Any] = load_config_resource(
        package="sqlfluff_plugin_versioned_collapsing", file_name="plugin_default_config.cfg"
    )
    return config


@hookimpl
def get_configs_info() -> dict[str, dict[str, Any]]:
    """What the options are."""
    return {
        "collapsing_manifest": {"definition": "dbt's manifest, as `dbt parse` and `dbt compile` write it: a path"},
        "collapsing_engines": {"definition": "Tables and their engines, by the query in the README: a path"},
    }
