# SPDX-License-Identifier: Apache-2.0
"""The programs that a script of the card meets: this computer's, and those of the card's image."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Programs:
    """path: of the environment; shell: what runs a script, which is busybox's where the programs are the image's."""

    path: str
    shell: tuple[str, ...]

    def run(self, script: Path, *words: str | Path, text: str | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*self.shell, str(script), *map(str, words)],
            input=text, capture_output=True, text=True, timeout=60, check=False, env=self.environment(),
        )  # fmt: skip

    def unheard(self, script: Path, *words: str | Path, text: str = "") -> int:
        """Its exit status when all that it says meets a full disk."""
        with Path("/dev/full").open("w") as full:
            done = subprocess.run(
                [*self.shell, str(script), *map(str, words)],
                input=text, stdout=full, stderr=full, text=True, timeout=60, check=False, env=self.environment(),
            )  # fmt: skip
        return done.returncode

    def environment(self) -> dict[str, str]:
        return {**os.environ, "PATH": self.path}
