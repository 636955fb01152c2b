"""All tests, files and sections that the documents name exist."""

from __future__ import annotations

import re
from pathlib import Path

import jinja2
import pytest

from tests.macros.test_options import EVERY_OPTION
from tests.support.shop import REPOSITORY

DOCUMENTS = sorted(
    path.relative_to(REPOSITORY).as_posix()
    for pattern in ("*.md", "docs/*.md", "plugins/*/*.md")
    for path in REPOSITORY.glob(pattern)
)
_FENCED = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
_TEST = re.compile(r"`([\w/]*\.py)?::(\w+)`|`(tests/[\w/]+\.py)`")
_LINK = re.compile(r"\]\((?!https?://)([^)#\s]*)(?:#([^)\s]+))?\)")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def _text(document: str | Path) -> str:
    return _FENCED.sub("", (REPOSITORY / document).read_text())


def _anchors(document: Path) -> set[str]:
    """The anchors that GitHub gives to the sections."""
    titles = (title.lower() for title in _HEADING.findall(_text(document)))
    return {re.sub(r"[^\w\- ]", "", title).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_tests_that_it_names_exist(document: str) -> None:
    missing = []
    file = ""
    for path, name, file_only in _TEST.findall(_text(document)):
        file = path or file_only or file
        source = (REPOSITORY / file).read_text() if (REPOSITORY / file).is_file() else ""
        if not re.search(rf"(def|class) {name}\b" if name else r"\S", source):
            missing.append(f"{file}::{name}")
    assert missing == []


@pytest.mark.parametrize("document", DOCUMENTS)
def test_its_links_lead_somewhere(document: str) -> None:
    broken = []
    here = REPOSITORY / document
    for path, anchor in _LINK.findall(_text(document)):
        there = (here.parent / path).resolve() if path else here
        if not there.exists() or (anchor and there.suffix == ".md" and anchor not in _anchors(there)):
            broken.append(f"{path}#{anchor}" if anchor else path)
    assert broken == []


def test_the_site_has_every_page_once() -> None:
    navigation = (REPOSITORY / "site" / "mkdocs.yml").read_text().split("\nnav:\n")[1]
    pages = re.findall(r"^ +- [^:]+: (\S+\.md)$", navigation, re.MULTILINE)
    assert sorted(pages) == DOCUMENTS


def test_every_option_and_generic_test_has_a_row_in_a_table() -> None:
    first_cells = re.findall(r"^\| ([^|]+)", "".join(_text(document) for document in DOCUMENTS), re.MULTILINE)
    generic_tests = {path.stem for path in (REPOSITORY / "tests" / "generic").glob("*.sql")}
    assert (EVERY_OPTION.keys() | generic_tests) - set(re.findall(r"`(\w+)`", "".join(first_cells))) == set()


_MACRO = re.compile(r"\{%-? *macro +(\w+)\((.*?)\) *-?%\}", re.DOTALL)
# The package's macros, and the names of their arguments.
MACROS = {
    name: set(re.findall(r"(\w+) *(?:=|,|$)", re.sub(r"=\s*(\[[^]]*\]|\{[^}]*\}|'[^']*'|\w+)", "=", arguments)))
    for path in (REPOSITORY / "macros").rglob("*.sql")
    for name, arguments in _MACRO.findall(path.read_text())
}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_its_examples_call_macros_as_another_project_does(document: str) -> None:
    """Calls name the package, and arguments that the macro has."""
    wrong = []
    for example in re.findall(r"^```sql\n(.*?)^```", (REPOSITORY / document).read_text(), re.DOTALL | re.MULTILINE):
        for call in (
            jinja2.Environment(extensions=["jinja2.ext.do"]).parse(example.replace("…", "")).find_all(jinja2.nodes.Call)
        ):
            called = call.node
            if isinstance(called, jinja2.nodes.Name) and called.name in MACROS:
                wrong.append(f"{called.name} without versioned_collapsing")
            if isinstance(called, jinja2.nodes.Getattr) and getattr(called.node, "name", "") == "versioned_collapsing":
                wrong += [
                    f"{called.attr}({argument.key})"
                    for argument in call.kwargs
                    if argument.key not in MACROS.get(called.attr, set())
                ]
                if called.attr not in MACROS:
                    wrong.append(called.attr)
    assert wrong == []
