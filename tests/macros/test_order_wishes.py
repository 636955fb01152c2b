"""What a Python model of the shop reads from notes; dbt's unit tests support only SQL models."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable

import pytest

from tests.support.shop import REPOSITORY

Read = Callable[[str | None], tuple[str, int | None]]


@pytest.fixture(scope="module")
def read_note() -> Read:
    path = REPOSITORY / "models" / "changes" / "order_wishes_changes.py"
    spec = importlib.util.spec_from_file_location("order_wishes_changes", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found: Read = module.read_note
    return found


@pytest.mark.parametrize(
    ("note", "wish", "reference"),
    [
        (None, "none", None),
        ("", "none", None),
        # Only a missing note counts as none, see tests/singular/order_wishes_agree.sql: engines differ in what is
        # blank.
        *((blank, "other", None) for blank in (" \n", "\t", "\u00a0", "\u200b", "\u0301", "\u00a8")),
        ("gift wrap, please (ref 4608)", "gift", 4608),
        ("birthday 🎂", "gift", None),
        ("entrée côté jardin (ref 0)", "place", 0),
        ("entre\u0301e co\u0302te\u0301 jardin", "place", None),  # accents apart from their letters
        ("ENTRÉE", "place", None),
        ("配達は午前中に (ref 9055)", "time", 9055),
        ("deliver after 18:00", "time", None),
        ('call "before" delivery', "call", None),  # the first match counts
        ("fragile - handle with care", "care", None),
        ("no substitutions", "substitutions", None),
        ("invoice to the company", "invoice", None),
        ("thank you", "other", None),
        ("(ref 12345678901234567890)", "other", None),  # too large for a bigint
        ("🎂", "other", None),
    ],
)
def test_a_note_has_a_wish_and_a_reference(read_note: Read, note: str | None, wish: str, reference: int | None) -> None:
    assert read_note(note) == (wish, reference)
