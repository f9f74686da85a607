# SPDX-License-Identifier: Apache-2.0
"""How a program gets the driver: by EAL's option, or by the loader where EAL takes no library."""

from __future__ import annotations

import stat
from pathlib import Path


def plugin(library: Path) -> tuple[list[str], list[str]]:
    """Words before the program, and options of EAL, which refuses what is below a folder that everybody may write to."""
    if any(folder.stat().st_mode & stat.S_IWOTH for folder in library.resolve().parents):
        return ["env", f"LD_PRELOAD={library}"], []
    return [], ["-d", str(library)]
