"""How the cost of an apply grows: with the table, the changes, the columns, and the number of chunks."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from benchmarks.engine import Engine
from benchmarks.measure import Arm, interleaved
from benchmarks.upsert import SHAPES, Upsert

CHUNKS = (1, 4, 16)
Row = dict[str, Any]


def measure_sizes(engine: Engine, sizes: Collection[int], changes: Collection[int], trials: int) -> list[Row]:
    """Tables of several sizes; changes of their last rows, and of rows spread over the whole table."""
    rows = []
    for size in sizes:
        upsert = _upsert(engine, "spread", size, min(changes))
        for count in (count for count in changes if count <= size):
            for keys in ("recent", "scattered"):
                upsert.change(SHAPES[keys], count)
                figures = _figures(upsert, trials)
                rows.append({"rows": size, "changes": count, "keys": keys, **figures})
    return rows


def measure_columns(engine: Engine, size: int, changes: int, trials: int) -> list[Row]:
    """Tables with 5 columns besides the sign, and with 50."""
    rows = []
    for shape in (SHAPES["scattered"], SHAPES["wide"]):
        upsert = _upsert(engine, shape.name, size, changes)
        columns = len(shape.key) + len(shape.payload) + 1
        rows.append({"columns": columns, **_figures(upsert, trials)})
    return rows


def measure_chunks(engine: Engine, size: int, changes: int, trials: int, chunks: Collection[int] = CHUNKS) -> list[Row]:
    """A change set applied in one piece, and in chunks."""
    upsert = _upsert(engine, "scattered", size, changes)
    models = {f"chunks_{count}": count for count in chunks}
    for model, count in models.items():
        upsert.add_model(model, "versioned_collapsing", chunks=count)
    figures = interleaved([_arm(upsert, model) for model in models], trials)
    return [
        {"chunks": count, **figures[model].as_row(), "peak MiB": round(upsert.peak_memory(model))}
        for model, count in models.items()
    ]


def _upsert(engine: Engine, shape: str, size: int, changes: int) -> Upsert:
    return Upsert(engine, SHAPES[shape], size, changes, ["collapsing"])


def _arm(upsert: Upsert, model: str) -> Arm:
    return Arm(model, lambda: upsert.collapsing(model))


def _figures(upsert: Upsert, trials: int) -> Row:
    figures = interleaved([Arm("plain insert", upsert.plain), _arm(upsert, "atomic")], trials)
    plain, atomic = figures.values()
    return {
        "plain insert": round(plain.median, 4),
        "atomic": round(atomic.median, 4),
        "times plain insert": round(atomic.median / plain.median, 2),
        "peak MiB": round(upsert.peak_memory("atomic")),
    }
