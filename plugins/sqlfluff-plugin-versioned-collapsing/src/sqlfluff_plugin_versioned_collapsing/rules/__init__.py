"""The rules, one a file."""

from __future__ import annotations

from sqlfluff.core.rules import BaseRule

from sqlfluff_plugin_versioned_collapsing.rules.VC01 import Rule_VersionedCollapsing_VC01
from sqlfluff_plugin_versioned_collapsing.rules.VC02 import Rule_VersionedCollapsing_VC02
from sqlfluff_plugin_versioned_collapsing.rules.VC03 import Rule_VersionedCollapsing_VC03
from sqlfluff_plugin_versioned_collapsing.rules.VC04 import Rule_VersionedCollapsing_VC04
from sqlfluff_plugin_versioned_collapsing.rules.VC05 import Rule_VersionedCollapsing_VC05
from sqlfluff_plugin_versioned_collapsing.rules.VC06 import Rule_VersionedCollapsing_VC06
from sqlfluff_plugin_versioned_collapsing.rules.VC07 import Rule_VersionedCollapsing_VC07

RULES: list[type[BaseRule]] = [
    Rule_VersionedCollapsing_VC01,
    Rule_VersionedCollapsing_VC02,
    Rule_VersionedCollapsing_VC03,
    Rule_VersionedCollapsing_VC04,
    Rule_VersionedCollapsing_VC05,
    Rule_VersionedCollapsing_VC06,
    Rule_VersionedCollapsing_VC07,
]
