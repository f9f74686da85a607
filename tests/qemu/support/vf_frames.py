# SPDX-License-Identifier: Apache-2.0
"""A VF in a network namespace, as `vfs_apart` puts it there, and which frames of the wire come to it."""

from __future__ import annotations

import time
from dataclasses import dataclass

from driver_machine import Link
from peer import ethernet

KIND = 0x88B5


@dataclass
class VfFrames:
    """A VF of a link by its number, in a VLAN or in none."""

    link: Link
    vf: int = 0
    vid: int | None = None

    @property
    def enter(self) -> str:
        return f"ip netns exec vf{self.vf} "

    @property
    def device(self) -> str:
        return f"eth{self.vf + 1}"

    def run(self, command: str, seconds: float = 60) -> str:
        return self.link.guest.run(f"{self.enter}{command}", seconds)

    def up(self) -> None:
        self.run(f"ip link set {self.device} up")
        self.has_carrier()

    def has_carrier(self, seconds: float = 30) -> None:
        self.link.guest.until(f"{self.enter}cat /sys/class/net/{self.device}/carrier", "^1", seconds)

    def own(self) -> bytes:
        return self.link.guest.address(self.device, self.enter)

    def delivered(self) -> int:
        return self.link.guest.statistics(self.device, self.enter)["card_rx_delivered"]

    def receives(self, to: bytes, vid: int | None = None) -> bool:
        """Whether frames to that address come, in a VLAN or without a tag. One to the VF's own address, in
        the VF's VLAN, is behind them."""
        before, own = self.delivered(), self.own()
        vids = [vid, vid, vid, self.vid]
        for address, its in zip((to, to, to, own), vids, strict=True):
            frame = ethernet(address, self.link.peer.mac, KIND, bytes(80))
            tag = b"" if its is None else b"\x81\0" + its.to_bytes(2, "big")
            self.link.peer.wire.send(frame[:12] + tag + frame[12:])
        deadline = self.link.guest.deadline(20)
        while self.delivered() == before and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.3)
        return self.delivered() - before >= 4

    def settles(self, to: bytes, wanted: bool, seconds: float = 20, vid: int | None = None) -> bool:
        """The VF may take a moment."""
        deadline = self.link.guest.deadline(seconds)
        while (is_right := self.receives(to, vid) == wanted) is False and time.monotonic() < deadline:
            pass
        return is_right

    def change_groups(self, verb: str, *groups: bytes) -> None:
        """verb: add or del."""
        script = "; ".join(f"ip maddress {verb} {group.hex(':')} dev {self.device}" for group in groups)
        self.run(f"sh -c '{script}'")


def group(number: int) -> bytes:
    return bytes([0x01, 0x00, 0x5E, 0x50, 0x00, number])
