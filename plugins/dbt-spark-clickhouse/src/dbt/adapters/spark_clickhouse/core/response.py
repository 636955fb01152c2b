"""What dbt keeps of a node in run_results.json, with more than dbt's own keys."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from dbt.adapters.contracts.connection import AdapterResponse


@dataclass
class ResponseWithFacts(AdapterResponse):
    """A response whose ``facts`` stand beside dbt's own keys, which they cannot replace."""

    facts: dict[str, Any] = field(default_factory=dict)

    def __post_serialize__(self, data: dict[str, Any], context: dict[str, Any] | None = None) -> dict[str, Any]:
        """Put the facts beside the other keys."""
        return {**data.pop("facts"), **data}
