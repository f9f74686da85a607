# SPDX-License-Identifier: Apache-2.0
"""A PF or VF of the machine by its interface, for what is tested of both alike."""

from __future__ import annotations

from dataclasses import dataclass

from driver_machine import Link
from meridian_machine.guest import Guest


@dataclass
class Function:
    """Commands name its interface DEV. A VF's is the one that `vfs_apart` puts into a network namespace."""

    link: Link
    is_vf: bool

    @property
    def guest(self) -> Guest:
        return self.link.guest

    @property
    def device(self) -> str:
        return "eth1" if self.is_vf else "eth0"

    @property
    def enter(self) -> str:
        return "ip netns exec vf0 " if self.is_vf else ""

    def run(self, command: str) -> str:
        return self.guest.run(f"{self.enter}{command.replace('DEV', self.device)}")

    def statistics(self) -> dict[str, int]:
        return self.guest.statistics(self.device, self.enter)

    def address(self) -> bytes:
        return self.guest.address(self.device, self.enter)
