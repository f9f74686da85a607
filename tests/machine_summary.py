# SPDX-License-Identifier: Apache-2.0
"""What the JUnit files of a suite say of its machines: how long each took to boot, and which did not at once."""

from __future__ import annotations

import statistics
import xml.etree.ElementTree as ET
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

#: Properties of a test's report, each with seconds: of a boot, of one whose first start the emulator spoilt, and of one
#: that failed.
BOOT, SECOND_BOOT, FAILED_BOOT = "boot_seconds", "second_boot_seconds", "failed_boot_seconds"


@dataclass
class Boots:
    """Seconds of each. Those of `again` are with the first start; each of these machines was started once more."""

    first: list[float] = field(default_factory=list)
    again: list[float] = field(default_factory=list)
    failed: list[float] = field(default_factory=list)

    @classmethod
    def of(cls, folder: Path) -> Self:
        """All that the JUnit files of a folder name. A file that is not whole counts as a failure elsewhere."""
        found = cls()
        places = {BOOT: found.first, SECOND_BOOT: found.again, FAILED_BOOT: found.failed}
        for file in sorted(folder.rglob("*.xml")):
            with suppress(ET.ParseError):
                for one in ET.parse(file).getroot().iter("property"):
                    if (seconds := places.get(one.get("name", ""))) is not None:
                        seconds.append(float(one.get("value", "")))
        return found

    @classmethod
    def sum(cls, several: Iterable[Boots]) -> Self:
        total = cls()
        for one in several:
            total.first += one.first
            total.again += one.again
            total.failed += one.failed
        return total

    def __bool__(self) -> bool:
        return bool(self.first or self.again or self.failed)

    def __str__(self) -> str:
        up = [*self.first, *self.again]
        text = f"{len(up)} booted"
        if up:
            text += f", in {statistics.median(up):.0f} s (median) and {max(up):.0f} s at most, {sum(up):.0f} s in all"
        text += f"; {len(self.again)} at the second start"
        if self.failed:
            return f"{text}; {len(self.failed)} did not boot, after {' '.join(f'{one:.0f}' for one in self.failed)} s"
        return f"{text}; 0 did not boot"


def lines(suites: Iterable[tuple[str, Boots]]) -> list[str]:
    """A line for each suite that has had a machine, and one for all if there are several."""
    found = [(name, boots) for name, boots in suites if boots]
    if len(found) > 1:
        found.append(("all suites", Boots.sum(boots for _, boots in found)))
    return [f"machines of {name}: {boots}" for name, boots in found]
