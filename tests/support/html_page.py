"""A page as tests read it: whether it is well formed, what it refers to, and its tables."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "link", "br", "hr", "img", "input", "wbr"}
# Attributes that make a browser fetch something.
REFERENCES = {"src", "href", "srcset", "action", "poster", "data", "formaction", "background"}


@dataclass
class Element:
    """An element with its attributes and its content."""

    tag: str
    attributes: dict[str, str]
    children: list[Element] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    def all(self, tag: str) -> list[Element]:
        """The elements with a tag inside this one, in the order of the page."""
        found = [child for child in self.children if child.tag == tag]
        nested = [each.all(tag) for each in self.children]
        return [*found, *(one for some in nested for one in some)]

    @property
    def text(self) -> str:
        """Its text, in one line."""
        return " ".join("".join(self.texts).split())


class Page(HTMLParser):
    """The tree of a page.

    Raises:
        AssertionError: an element is closed but not open, or stays open.
    """

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=True)
        self.source = source
        self.root = Element("", {})
        self._open = [self.root]
        self.feed(source)
        self.close()
        assert self._open == [self.root], [element.tag for element in self._open]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), (tag, attrs)
        element = Element(tag, {name: value or "" for name, value in attrs})
        self._open[-1].children.append(element)
        if tag not in VOID:
            self._open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open[-1].tag == tag, f"</{tag}> in <{self._open[-1].tag}>"
        self._open.pop()

    def handle_data(self, data: str) -> None:
        for element in self._open:
            element.texts.append(data)

    @property
    def elements(self) -> list[Element]:
        """All elements."""
        found, waiting = [], [self.root]
        while waiting:
            element = waiting.pop()
            found.append(element)
            waiting += element.children
        return found[1:]

    @property
    def text(self) -> str:
        return self.root.all("body")[0].text

    def tables(self) -> dict[str, list[dict[str, str]]]:
        """The rows of each table, by its caption, each by column name."""
        found = {}
        for table in self.root.all("table"):
            names = [cell.text for cell in table.all("thead")[0].all("th")]
            rows = [
                [cell.text for cell in row.children if cell.tag in ("th", "td")]
                for row in table.all("tbody")[0].all("tr")
            ]
            assert {len(row) for row in rows} <= {len(names)}, rows
            found[table.all("caption")[0].text] = [dict(zip(names, row, strict=True)) for row in rows]
        return found

    def problems(self) -> list[str]:
        """What is wrong with the page for a screen reader, a keyboard, a phone, or without a network."""
        ids = [element.attributes["id"] for element in self.elements if "id" in element.attributes]
        found = [f"id {each} is there twice" for each in ids if ids.count(each) > 1]
        for element in self.elements:
            found += self._problems_of(element, ids)
        headings = [int(tag[1]) for tag in re.findall(r"<(h[1-6])\b", self.source)]
        found += [
            f"h{after} after h{before}"
            for before, after in zip([0, *headings], headings, strict=False)
            if after > before + 1
        ]
        for rule in re.findall(r"@import|url\((?!#)[^)]*\)|expression\(", self.source):
            found.append(f"style: {rule}")
        for tag in ("html", "title", "h1", "main", "nav"):
            if len(self.root.all(tag)) != 1:
                found.append(f"{len(self.root.all(tag))} elements {tag}")
        if not self.source.startswith("<!DOCTYPE html>"):
            found.append("no doctype")
        if not self.root.all("html")[0].attributes.get("lang"):
            found.append("no language")
        if "width=device-width" not in self.source:
            found.append("no viewport")
        return found

    @staticmethod
    def _problems_of(element: Element, ids: list[str]) -> list[str]:
        tag, given = element.tag, element.attributes
        found = []
        if tag in ("script", "iframe", "object", "embed", "form", "base"):
            found.append(f"<{tag}>")
        for name, value in given.items():
            if name.startswith("on"):
                found.append(f"{tag} {name}={value}")
            if name.split(":")[-1] in REFERENCES and not value.startswith(("#", "data:,")):
                found.append(f"{tag} {name}={value}")
            if value.startswith("#") and name == "href" and value[1:] not in ids:
                found.append(f"{tag} refers to {value}")
            if name in ("aria-labelledby", "aria-describedby") and value not in ids:
                found.append(f"{tag} is named by {value}")
            for reference in re.findall(r"url\(#([^)]+)\)", value):
                if reference not in ids:
                    found.append(f"{tag} uses #{reference}")
        if tag == "svg" and not (given.get("role") == "img" and given.get("aria-label")):
            found.append("a plot without a text")
        if tag == "table" and len(element.all("caption")) != 1:
            found.append("a table without a caption")
        if tag == "th" and given.get("scope") not in ("row", "col"):
            found.append(f"th without a scope: {element.text}")
        if given.get("tabindex") == "0" and not given.get("aria-label"):
            found.append(f"{tag} takes the focus and has no name")
        return found
