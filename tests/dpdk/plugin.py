# SPDX-License-Identifier: Apache-2.0
"""How a program gets the driver and its plug-in: by EAL's option, or by the loader where EAL takes no library."""

from __future__ import annotations

import stat
from pathlib import Path


def twin_of(library: Path) -> Path:
    """The plug-in for functions of a card process, which scripts/build-dpdk puts beside the driver."""
    return library.with_name("librte_net_meridian_twin.so")


def plugin(*libraries: Path) -> tuple[list[str], list[str]]:
    """Words before the program, and options of EAL, which refuses what is below a folder that everybody may write to."""
    if any(folder.stat().st_mode & stat.S_IWOTH for library in libraries for folder in library.resolve().parents):
        return ["env", f"LD_PRELOAD={':'.join(str(library) for library in libraries)}"], []
    return [], [word for library in libraries for word in ("-d", str(library))]
