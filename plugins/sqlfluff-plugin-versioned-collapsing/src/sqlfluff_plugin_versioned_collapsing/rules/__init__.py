"""The rules, one per file."""

from __future__ import annotations

from sqlfluff.core.rules import BaseRule

from sqlfluff_plugin_versioned_collapsing.rules.VC01 import Rule_VersionedCollapsing_VC01
from sqlfluff_plugin_versioned_collapsing.rules.VC02 import Rule_VersionedCollapsing_VC02
from sqlfluff_plugin_versioned_collapsing.rules.VC03 import Rule_VersionedCollapsing_VC03
from sqlfluff_plugin_versioned_collapsing.rules.VC04 import Rule_VersionedCollapsing_VC04
from sqlfluff_plugin_versioned_collapsing.rules.VC05 import Rule_VersionedCollapsing_VC05
from sqlfluff_plugin_versioned_collapsing.rules.VC06 import Rule_VersionedCollapsing_VC06
from sqlfluff_plugin_versioned_collapsing.rules.VC07 import Rule_VersionedCollapsing_VC07
from sqlfluff_plugin_versioned_collapsing.rules.VC09 import Rule_VersionedCollapsing_VC09
from sqlfluff_plugin_versioned_collapsing.rules.VC10 import Rule_VersionedCollapsing_VC10
from sqlfluff_plugin_versioned_collapsing.rules.VC11 import Rule_VersionedCollapsing_VC11
from sqlfluff_plugin_versioned_collapsing.rules.VC12 import Rule_VersionedCollapsing_VC12

RULES: list[type[BaseRule]] = [
    Rule_VersionedCollapsing_VC01,
    Rule_VersionedCollapsing_VC02,
    Rule_VersionedCollapsing_VC03,
    Rule_VersionedCollapsing_VC04,
    Rule_VersionedCollapsing_VC05,
    Rule_VersionedCollapsing_VC06,
    Rule_VersionedCollapsing_VC07,
    Rule_VersionedCollapsing_VC09,
    Rule_VersionedCollapsing_VC10,
    Rule_VersionedCollapsing_VC11,
    Rule_VersionedCollapsing_VC12,
]
