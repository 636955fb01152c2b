"""What dbt writes about a node to run_results.json, extended by keys of our own."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from dbt.adapters.contracts.connection import AdapterResponse


@dataclass
class ResponseWithFacts(AdapterResponse):
    """A response with extra ``facts`` next to dbt's own keys. They cannot replace those."""

    facts: dict[str, Any] = field(default_factory=dict)

    def __post_serialize__(self, data: dict[str, Any], context: dict[str, Any] | None = None) -> dict[str, Any]:
        """Add the facts to the other keys."""
        return {**data.pop("facts"), **data}
