"""Texts of messages. `…` stands for what is filled in at run time, and for a word that depends on it, such as `it` or
`them`.

A longer alternative makes a message of its own, so an expression has a list of texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product

GAP = "…"
SHORTEST_ALTERNATIVE = 15  # characters that make an alternative worth a message of its own


def joined(parts: Iterable[Sequence[str]]) -> list[str]:
    """All combinations of one alternative of each part."""
    return ["".join(chosen) for chosen in product(*parts)]


def worth_telling(alternatives: Sequence[str]) -> list[str]:
    """The alternatives, or `…` if they are short."""
    longest = max((len(part) for text in alternatives for part in text.split(GAP)), default=0)
    return list(alternatives) if longest >= SHORTEST_ALTERNATIVE else [GAP]
