# SPDX-License-Identifier: Apache-2.0
"""Remembers which faults were killed, so that a run of hours that was broken off can go on."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from mutant_list import Mutant


def fingerprint(mutant: Mutant, tree: Path) -> str:
    """It changes with the entry, with the file that has the fault, and with the files of its tests."""
    digest = hashlib.sha256(repr((mutant.file, mutant.old, mutant.new, mutant.test)).encode())
    for path in [tree / mutant.file, *mutant.test_files(tree)]:
        content = path.read_bytes() if path.is_file() else b""
        digest.update(hashlib.sha256(content).digest())
    return digest.hexdigest()


class Record:
    """Names and fingerprints of killed faults, in a file that is written with each."""

    def __init__(self, file: Path, tree: Path) -> None:
        self._file, self._tree = file, tree
        try:
            found = json.loads(file.read_text())
        except (OSError, ValueError):  # none is known: all are judged
            found = {}
        self._killed: dict[str, str] = found if isinstance(found, dict) else {}

    def has(self, mutant: Mutant) -> bool:
        """Whether the fault was killed as it is now, with its tests as they are now."""
        return self._killed.get(mutant.name) == fingerprint(mutant, self._tree)

    def note(self, mutant: Mutant, killed: bool) -> None:
        if killed:
            self._killed[mutant.name] = fingerprint(mutant, self._tree)
        else:
            self._killed.pop(mutant.name, None)
        new = self._file.with_suffix(".new")
        new.write_text(json.dumps(self._killed, indent=1, sort_keys=True))
        new.replace(self._file)
