# SPDX-License-Identifier: Apache-2.0
"""A folder that stands for / of a host with a card, for the self-test program."""

from __future__ import annotations

from pathlib import Path

from meridian_selftest.card import HostCard, host_cards
from meridian_selftest.context import Context, Options
from meridian_selftest.registers import Registers

PF = "0000:3b:00.0"
RESOURCE = """0x00000000f8000000 0x00000000f803ffff 0x0000000000140204
0x0000000000000000 0x0000000000000000 0x0000000000000000
0x00000000f8400000 0x00000000f87fffff 0x0000000000140204
"""


def config(mps: int = 0, mrrs: int = 2, can: int = 1) -> bytes:
    """A configuration space whose PCI Express capability has these codes, behind another capability."""
    data = bytearray(256)
    data[0x34] = 0x40
    data[0x40:0x42] = bytes([0x01, 0x70])
    data[0x70:0x72] = bytes([0x10, 0x00])
    data[0x74:0x78] = can.to_bytes(4, "little")
    data[0x78:0x7A] = (mps << 5 | mrrs << 12).to_bytes(2, "little")
    return bytes(data)


class FakeSystem:
    def __init__(self, root: Path) -> None:
        self.root = root
        (root / "sys/bus/pci/devices").mkdir(parents=True)
        (root / "sys/class/net").mkdir(parents=True)
        (root / "proc").mkdir()
        self.port = self.device("0000:3a:00.0", root / "sys/devices/pci0000:3a", vendor="0x8086", device="0x2030")

    def device(self, name: str, folder: Path, **files: str) -> Path:
        """A device of the bus, a link to where it is."""
        place = folder / name
        place.mkdir(parents=True)
        link = {"speed": "16.0 GT/s PCIe", "width": "16"}
        for which in ("current", "max"):
            for what, value in link.items():
                (place / f"{which}_link_{what}").write_text(f"{value}\n")
        (place / "config").write_bytes(config())
        for file, text in files.items():
            (place / file).write_text(f"{text}\n")
        (self.root / "sys/bus/pci/devices" / name).symlink_to(place)
        return place

    def card(self, address: str = PF, device: str = "0x903f") -> Path:
        """A PF at the port."""
        place = self.device(
            address, self.port, vendor="0x10ee", device=device, subsystem_device="0x4d52", resource=RESOURCE.strip()
        )
        for which in ("current", "max"):
            (place / f"{which}_link_speed").write_text("8.0 GT/s PCIe\n")
            (place / f"{which}_link_width").write_text("8\n")
        return place

    def context(self, **options: object) -> Context:
        """Of its first card."""
        (card,) = host_cards()
        assert isinstance(card, HostCard)
        return Context(card, Options(**options), Registers())  # type: ignore[arg-type]
