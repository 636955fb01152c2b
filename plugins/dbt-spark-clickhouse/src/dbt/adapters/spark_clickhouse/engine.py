"""What both engines' adapters have in common."""

from __future__ import annotations

from typing import Any, ClassVar

from dbt.adapters.base.impl import BaseAdapter

from dbt.adapters.spark_clickhouse.routing import Engine, on_engine


class EngineAdapter(BaseAdapter):
    """A stock adapter as one of two engines: its macros always run as its own engine's.

    Stock adapters run macros on threads of their own, which know nothing of the node at work.
    """

    engine: ClassVar[Engine]
    stock: ClassVar[type[BaseAdapter]]

    @classmethod
    def get_adapter_run_info(cls, config: Any) -> Any:
        """The stock adapter's: dbt derives module names from the name of the class."""
        return cls.stock.get_adapter_run_info(config)

    def execute_macro(self, *args: Any, **kwargs: Any) -> Any:
        """Run a macro with this engine's macros, whatever engine is at work."""
        with on_engine(self.engine):
            return super().execute_macro(*args, **kwargs)
