"""What downloads of the TU collection must be: SHA-256 of the datasets that the documentation names.

A download passes if its zip is known byte by byte, or if its files are: the collection may pack them anew. The digests
of the zips of MUTAG, PTC_MR, ENZYMES, DD and NCI1 stand in two public programs or more that fetch them, those of AIDS
and PROTEINS in one. Those of the files were computed from public copies; the copy of DD has its lines in another order.
"""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

ZIPS = {
    "AIDS": "ef65a8095846588ffd6e17f95c1968a247d8ada7295a61209c401bda23d19ab9",
    "DD": "d033d7aeb1a48c4b2b47cf0390e7fc9671de70d98c8df5b11e458d2ec5515cd2",
    "ENZYMES": "13d832eb6ffa084192daf6e5750250028a18437ee692c38d29a10cd60e18aaf4",
    "MUTAG": "c419bdc853c367d2d83da4973c45100954ae15e10f5ae2cddde6ca431f8207f6",
    "NCI1": "10e1458f3bd9224f14e6d7627e74dcfd13e48d376d73935e7bd2900590ef1d82",
    "PROTEINS": "2da8de15284b88edabca2888ce5444d62f364ed41159260977088c4e53d4d848",
    "PTC_MR": "5699a6d9f1bc5b3d71495f09ef50de53fa3e6bb24ead1150da678500229f5237",
}
CONTENTS = {
    "AIDS": "f776cec9c5a6c502228e388333ca45e27b3f933948c0f387a3a382b2cba531da",
    "ENZYMES": "5259b03b7666e739631a8f265798e859f66fb5e0ab3ab3193d7b9c9b1d1bfa11",
    "MUTAG": "bdd582166ac5e712e53e4d279c7c7f49e50bc586bc9481e1d7facf9ca92d5344",
    "NCI1": "82f5cf2e0ea78dc51395ec539761dcf1f7a0889f19d87fdbab7e6d0f86e2c16b",
    "PROTEINS": "329dabe303630daed21aff23e158b916218175a347079ecf7d8d2c964ad887b9",
    "PTC_MR": "1cd08500e1d66d7da0c24d0daf03ec35a28e4b47cbd95b8b9fafb808eef878da",
}


def is_known(path: Path, name: str) -> bool | None:
    """Whether a zip is the dataset of that name; None where its digests are not known."""
    if name not in ZIPS:
        return None
    return digest(path) == ZIPS[name] or content_digest(path, name) == CONTENTS.get(name)


def digest(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def content_digest(path: Path, name: str) -> str:
    """SHA-256 of the files of a dataset, however they are packed.

    It covers the names and lines of all files NAME_*.txt but the notes, in the order of their names; commas and white
    space between numbers count as one space, and empty lines are dropped.
    """
    seen = hashlib.sha256()
    with zipfile.ZipFile(path) as content:
        files = {file.rpartition("/")[2]: file for file in content.namelist() if not file.startswith("__MACOSX")}
        for file in sorted(files):
            if file.startswith(f"{name}_") and file.endswith(".txt") and "readme" not in file.lower():
                seen.update(f"{file}\n".encode() + _lines(content.read(files[file])))
    return seen.hexdigest()


def _lines(text: bytes) -> bytes:
    lines = (b" ".join(line.replace(b",", b" ").split()) for line in text.splitlines())
    return b"".join(line + b"\n" for line in lines if line)
