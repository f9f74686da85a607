# SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
"""Cards that this machine has: on its PCIe bus, or in the programmable logic beside it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from . import system
from .result import Skip

XILINX, SUBSYSTEM = 0x10EE, 0x4D52
#: Device numbers of PF 0 to 3, as in meridian_main.c.
PFS = (0x903F, 0x913F, 0x923F, 0x933F)
ADDRESS = re.compile(r"[0-9a-f]{4,}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")
HOST_DRIVER, ARM_DRIVER = "meridian", "meridian_ps"
COMPATIBLE = "meridian,shell-1"


@dataclass(frozen=True)
class Function:
    """A PF or VF on the PCIe bus."""

    path: Path

    @property
    def address(self) -> str:
        return self.path.name

    @property
    def driver(self) -> str:
        return system.target(self.path / "driver")

    @property
    def interface(self) -> str:
        """Its network interface here, "" if it has none."""
        found = system.names(self.path / "net") if self.driver == HOST_DRIVER else []
        return found[0] if found else ""

    def number(self, name: str) -> int:
        """Of a file of sysfs."""
        return system.number(self.path / name)


@dataclass(frozen=True)
class HostCard:
    """A card of this host: its PFs in the order of their numbers."""

    pfs: list[Function] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.pfs[0].address

    @property
    def interfaces(self) -> list[str]:
        return [pf.interface for pf in self.pfs if pf.interface]

    def first_interface(self) -> str:
        if not self.interfaces:
            raise Skip(NO_INTERFACE)
        return self.interfaces[0]


@dataclass(frozen=True)
class ArmCard:
    """The card whose ARM side this machine is: its ports."""

    name: str
    interfaces: list[str] = field(default_factory=list)


NO_INTERFACE = (
    "no driver has made an interface of the card: 'modprobe meridian', and look at 'dmesg' if there still is none"
)


def _is_pf(path: Path) -> bool:
    return (
        system.number(path / "vendor") == XILINX
        and system.number(path / "device") in PFS
        and (system.number(path / "subsystem_device") == SUBSYSTEM or system.target(path / "driver") == HOST_DRIVER)
    )


def host_cards() -> list[HostCard]:
    """All of this host, in the order of their addresses."""
    found: dict[str, list[Function]] = {}
    for name in system.names(system.PCI):
        if _is_pf(system.PCI / name):
            found.setdefault(name.rpartition(".")[0], []).append(Function(system.PCI / name))
    return [HostCard(pfs) for pfs in found.values()]


def _is_ours(path: Path) -> bool:
    compatible = system.read(path / "of_node/compatible").split("\0")
    return COMPATIBLE in compatible


def arm_card() -> ArmCard | None:
    """The card whose ARM side this is, if it is one."""
    places = system.ROOT / "sys/bus/platform/devices"
    for name in system.names(places):
        if _is_ours(places / name):
            return ArmCard(name, system.names(places / name / "net"))
    return None


def has_carrier(interface: str) -> bool:
    """Whether it is up and has a link."""
    return system.read(system.NET / interface / "carrier") == "1"


def port_of(interface: str) -> int:
    """The card's port that an interface of a PF or of the ARM side is on."""
    return system.number(system.NET / interface / "dev_port")
