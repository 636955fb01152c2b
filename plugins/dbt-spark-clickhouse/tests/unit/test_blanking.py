"""Lines of landed files are overwritten, and nothing else of a file changes."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import os
from pathlib import Path

import pytest

from dbt.adapters.spark_clickhouse.landing.blanking import blank_in_folders, blank_lines

LINES = [b'{"id": "eve"}', b'{"id": "ada"}', "é {}".encode(), b'{"id": "ada"}', b""]
BLANKED = [LINES[0], b" " * 13, LINES[2], b" " * 13, b""]
HASHES = {number: hashlib.md5(b'{"id": "ada"}').hexdigest() for number in (2, 4)}
BOM = b"\xef\xbb\xbf"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "part.json"


def land(path: Path, content: bytes) -> os.stat_result:
    path.write_bytes(content)
    os.utime(path, ns=(1_700_000_000_123_456_789, 1_700_000_000_123_456_789))
    return path.stat()


def assert_only_lines_change(path: Path, before: os.stat_result) -> None:
    after = path.stat()
    assert (after.st_size, after.st_mtime_ns, after.st_mode) == (before.st_size, before.st_mtime_ns, before.st_mode)
    assert [file.name for file in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_lines_become_blanks(path: Path, end: bytes) -> None:
    before = land(path, end.join(LINES))
    path.with_name(".part.json.crc").touch()
    assert blank_lines(path, HASHES) == []
    assert path.read_bytes() == end.join(BLANKED)
    assert_only_lines_change(path, before)


def test_a_mark_before_the_first_line_is_no_part_of_it(path: Path) -> None:
    land(path, BOM + LINES[1])
    assert blank_lines(path, {1: HASHES[2]}) == []
    assert path.read_bytes() == b" " * (len(BOM) + len(LINES[1]))


@pytest.mark.parametrize("level", [1, 6, 9])
@pytest.mark.parametrize("times", [1, 500])
def test_a_zipped_file_keeps_its_size(path: Path, level: int, times: int) -> None:
    zipped = path.with_name("part.json.gz")
    before = land(zipped, b"".join(gzip.compress(b"\n".join([*LINES]), level) for _ in range(times)))
    assert blank_lines(zipped, HASHES) == []
    assert gzip.decompress(zipped.read_bytes()) == b"\n".join(BLANKED) + b"\n".join(LINES) * (times - 1)
    assert_only_lines_change(zipped, before)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("part.json", b"\n".join(BLANKED)),
        ("part.json.bz2", bz2.compress(b"\n".join(LINES))),
        ("part.json.gz", gzip.compress(b"\n".join(LINES), mtime=0)[:-9]),
        ("part.json.gz", b"\n".join(LINES)),
    ],
)
def test_what_cannot_be_read_is_left(tmp_path: Path, name: str, content: bytes) -> None:
    before = land(tmp_path / name, content)
    assert blank_lines(tmp_path / name, HASHES) == [2, 4]
    assert (tmp_path / name).read_bytes() == content
    assert_only_lines_change(tmp_path / name, before)


def test_what_has_a_second_name_is_left(path: Path) -> None:
    land(path, b"\n".join(LINES))
    os.link(path, path.with_name("second"))
    assert blank_lines(path, HASHES) == [2, 4]
    path.with_name("second").unlink()
    path.with_name("link").symlink_to(path)
    assert blank_lines(path.with_name("link"), HASHES) == []
    assert path.read_bytes() == b"\n".join(BLANKED)
    assert blank_lines(path.with_name("gone"), HASHES) == [2, 4]


def test_lines_of_folders_with_one_name_are_left(tmp_path: Path) -> None:
    folders = [tmp_path / "eu" / "orders", tmp_path / "us" / "orders", tmp_path / "eu" / "customers"]
    for folder in folders:
        (folder / "batch=1").mkdir(parents=True)
        land(folder / "batch=1" / "part.json", b"\n".join(LINES))
    lines = [
        (f"{name}/batch=1/part.json", number, HASHES[number]) for name in ("orders", "customers") for number in HASHES
    ]
    assert blank_in_folders([*folders, folders[-1]], lines) == {"orders/batch=1/part.json": [2, 4]}
    contents = [(folder / "batch=1" / "part.json").read_bytes() for folder in folders]
    assert contents == [b"\n".join(LINES), b"\n".join(LINES), b"\n".join(BLANKED)]
    assert blank_in_folders(folders[:1], lines[:2]) == {}
