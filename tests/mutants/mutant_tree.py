# SPDX-License-Identifier: Apache-2.0
"""A copy of the checkout, into which faults are put. It is kept, so that a build of it compiles only what changed."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mutant_list import Mutant, MutantError


def files_of(checkout: Path) -> list[str]:
    """What git tracks, and new files that it does not ignore."""
    command = ["git", "-C", str(checkout), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise MutantError(f"git does not list the files of {checkout}: {done.stderr.strip()}")
    return sorted(name for name in set(done.stdout.split("\0")) if name and (checkout / name).is_file())


class Tree:
    """The copy, in a folder beside its list of files."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "tree"
        self._listed = folder / "tree.files"

    def update(self, checkout: Path) -> None:
        """Makes it like the checkout. Files that are the same keep their times."""
        names = files_of(checkout)
        before = self._listed.read_text().splitlines() if self._listed.exists() else []
        for gone in set(before) - set(names):
            (self.root / gone).unlink(missing_ok=True)
        self._listed.parent.mkdir(parents=True, exist_ok=True)
        self._listed.write_text("".join(f"{name}\n" for name in names))
        for name in names:
            source, copy = checkout / name, self.root / name
            data, mode = source.read_bytes(), source.stat().st_mode
            if copy.exists() and copy.read_bytes() == data and copy.stat().st_mode == mode:
                continue
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(data)
            copy.chmod(mode)

    @contextmanager
    def planted(self, mutant: Mutant) -> Iterator[None]:
        """The fault is in the copy as long as this lasts."""
        path = self.root / mutant.file
        if not path.is_file():
            raise MutantError(f"there is no file {mutant.file}")
        data = path.read_bytes()
        path.write_bytes(mutant.planted(data.decode()).encode())
        try:
            yield
        finally:
            path.write_bytes(data)
