"""Arranges the pages of the site as in the repository: the README, and everything that pages link to."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "target" / "site_pages"
_LINK = re.compile(r"(?<=\]\()(?!https?://)([^)#\s]+)")


def stage(page: Path) -> None:
    """Copy a page, and the files that it links to unless they are already there. A link to a folder leads to its
    README.

    Raises:
        FileNotFoundError: a page links to a missing file.
    """

    def follow(link: re.Match[str]) -> str:
        file = Path(os.path.normpath(page.parent / link[1]))
        if file.is_dir():
            file /= "README.md"
        if not _copy_of(file).exists():
            stage(file)
        return os.path.relpath(file, page.parent)

    copy = _copy_of(page)
    copy.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(page, copy)
    if page.suffix == ".md":
        copy.write_text(_LINK.sub(follow, page.read_text()))


def _copy_of(file: Path) -> Path:
    return PAGES / file.relative_to(ROOT)


if __name__ == "__main__":
    shutil.rmtree(PAGES, ignore_errors=True)
    for start in ("README.md", "site/site.css"):
        stage(ROOT / start)
