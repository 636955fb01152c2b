"""Lines of landed files, overwritten with blanks."""

from __future__ import annotations

import gzip
import hashlib
import os
import shutil
import struct
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

Hashes = Mapping[int, str]  # MD5 of a line's text, by number from 1

_BOM = b"\xef\xbb\xbf"  # Spark does not count it among the text
_ENDS = b"\r\n"
_GZIP_FRAME = 18  # bytes of header and trailer
_HAS_COMMENT = 16


def blank_in_folders(folders: Sequence[Path], lines: Iterable[tuple[str, int, str]]) -> dict[str, list[int]]:
    """Overwrite lines of files with blanks, and return the numbers of those that are left, by file.

    Args:
        folders: landing zones. If two of them have the same name, their lines are left, because `lines` does not tell
            them apart.
        lines: the file of each line (the name of the folder, and the path in it), its number, and its MD5 hash.
    """
    wanted: dict[str, dict[int, str]] = defaultdict(dict)
    for name, number, line_hash in lines:
        wanted[name][int(number)] = line_hash
    left = {}
    for name, hashes in sorted(wanted.items()):
        paths = [folder.parent / name for folder in dict.fromkeys(folders) if folder.name == Path(name).parts[0]]
        numbers = blank_lines(paths[0], hashes) if len(paths) == 1 else sorted(hashes)
        if numbers:
            left[name] = numbers
    return left


def blank_lines(path: Path, hashes: Hashes) -> list[int]:
    """Overwrite lines of a file with blanks, and return the numbers of those that are left.

    The file keeps its size, its time and the numbers of its lines, so a batch counts as unchanged. It is replaced in
    one step. It is left as it is if that cannot be done: if it is another file by now or has a second name, if it
    cannot be written, or if it is compressed in another way than by gzip.
    """
    try:
        file = path.resolve(strict=True)
        if file.stat().st_nlink > 1 or not os.access(file, os.W_OK):
            return sorted(hashes)
        is_zipped = path.suffix == ".gz"
        draft = file.with_name(f".{file.name}.blanked")  # Spark does not list it
        try:
            found = set[int]()
            lines = _blanked(_read(file, is_zipped), hashes, found)
            with draft.open("wb") as content:
                content.writelines(_zipped(lines, file.stat().st_size) if is_zipped else lines)
                content.flush()
                os.fsync(content.fileno())
            if found != hashes.keys() or draft.stat().st_size != file.stat().st_size:
                return sorted(hashes)
            shutil.copystat(file, draft)
            file.with_name(f".{file.name}.crc").unlink(missing_ok=True)  # Hadoop's, of the old content
            draft.replace(file)
        finally:
            draft.unlink(missing_ok=True)
    except (OSError, EOFError, zlib.error):
        return sorted(hashes)
    return []


def _read(file: Path, is_zipped: bool) -> Iterator[bytes]:
    """Its lines, with their ends, cut as Spark cuts them."""
    with gzip.open(file) if is_zipped else file.open("rb") as content:
        for text in content:
            yield from text.splitlines(keepends=True)


def _blanked(lines: Iterable[bytes], hashes: Hashes, found: set[int]) -> Iterator[bytes]:
    for number, line in enumerate(lines, 1):
        text = line.rstrip(_ENDS)
        own = text.removeprefix(_BOM) if number == 1 else text
        is_found = hashes.get(number) == hashlib.md5(own).hexdigest()
        if is_found:
            found.add(number)
        yield b" " * len(text) + line[len(text) :] if is_found else line


def _zipped(lines: Iterable[bytes], size: int) -> list[bytes]:
    """The lines, compressed by gzip, with a comment of blanks that makes them as long as ``size``."""
    packer = zlib.compressobj(9, wbits=-zlib.MAX_WBITS)
    packed, checksum, length = [], 0, 0
    for line in lines:
        packed.append(packer.compress(line))
        checksum, length = zlib.crc32(line, checksum), length + len(line)
    packed.append(packer.flush())
    missing = size - _GZIP_FRAME - sum(map(len, packed))
    comment = b" " * (missing - 1) + b"\0" if missing > 0 else b""
    header = struct.pack("<BBBBIBB", 0x1F, 0x8B, 8, _HAS_COMMENT if comment else 0, 0, 0, 255)
    return [header, comment, *packed, struct.pack("<II", checksum, length % 2**32)]
