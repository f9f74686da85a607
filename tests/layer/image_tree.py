# SPDX-License-Identifier: Apache-2.0
"""A tree apart for a script that builds the card's image: what the script is made of, and what make bitstream leaves."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIG somebody\n"
SHARED = ("meta-layer/boards", "scripts/lib/env.sh", "scripts/lib/layer.sh", "scripts/requirements/tests.txt",
          "spinal/project/build.properties")  # fmt: skip


class ImageTree:
    """script: in scripts/; more: files and folders that it needs beside those that all need. programs: a folder that is
    first on PATH; key: a public key; built: the hand-off, bitstream and register map of the zcu106."""

    def __init__(self, place: Path, script: str, *more: str) -> None:
        self.place, self._script = place / "tree", f"scripts/{script}"
        for name in (self._script, *SHARED, *more):
            source, target = ROOT / name, self.place / name
            target.parent.mkdir(parents=True, exist_ok=True)
            (shutil.copytree if source.is_dir() else shutil.copy)(source, target)
        self.programs = place / "bin"
        self.programs.mkdir()
        self.built = self.place / "build/vivado/zcu106"
        self.built.mkdir(parents=True)
        for ending in ("xsa", "bit.bin"):
            (self.built / f"meridian-zcu106.{ending}").touch()
        (self.built / "meridian-zcu106.txt").write_text("sha256 of all\nmap 1.3\n")
        self.key = place / "key.pub"
        self.key.write_text(KEY)

    def program(self, name: str, text: str, folder: Path | None = None) -> None:
        file = (folder or self.programs) / name
        file.write_text(text)
        file.chmod(0o755)

    def environment(self) -> dict[str, str]:
        """Of the script, beside this computer's."""
        return {"PATH": f"{self.programs}:{os.environ['PATH']}"}

    def run(self, *words: str | Path, root: bool = False, **environment: str) -> tuple[int, str]:
        """As another user than root, as bitbake wants it; the files are still root's own."""
        somebody = [] if root or os.geteuid() else ["unshare", "--user", "--map-user=1000"]
        done = subprocess.run(
            [*somebody, str(self.place / self._script), *map(str, words)],
            capture_output=True, text=True, timeout=120, check=False,
            env={**os.environ, **self.environment(), **environment},
        )  # fmt: skip
        return done.returncode, done.stdout + done.stderr
