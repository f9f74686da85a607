# SPDX-License-Identifier: Apache-2.0
"""A folder that stands for / of a host with a card: sysfs, a kernel that acts on what is written there, and a setpci."""

from __future__ import annotations

import os
import shutil
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from meridian_twin.patience import end_of

PORT = "0000:00:01.0"
PFS = [f"0000:01:00.{number}" for number in range(4)]
VFS = ["0000:01:00.4", "0000:01:00.5"]
#: Of the port, as setpci prints them. The last has seen an error before.
REGISTERS = {
    "COMMAND": "0547", "CAP_EXP+8.w": "000f", "CAP_EXP+a.w": "0001", "ECAP_AER+8.l": "00100000", "ECAP_AER+14.l": "00002000",
    "ECAP_AER+4.l": "00000000", "ECAP_AER+10.l": "00000001", "ECAP001d+6.w": "0001",
}  # fmt: skip
#: A PF's BARs and those of its VFs: number, bytes.
BARS = {0: 256 << 10, 2: 4 << 20, 7: 96 << 10, 9: 12 << 10}
SETPCI = """#!/bin/sh
port=$2 name=${3%%=*} value=${3#*=}
register=@/registers/$name
if [ ! -e "$register" ]; then
  echo "setpci: $port: Instance #0 of Extended capability 0001 not found - there are no capabilities with that id." >&2
  exit 1
fi
read -r before <"$register"
if [ "$value" = "$3" ]; then
  echo "$before"
  exit
fi
echo "setpci $port $3" >>@/events
if [ -e @/locked ]; then
  echo "pcilib: sysfs_write: write failed: Operation not permitted" >&2
  exit 1
fi
case $name in # A written 1 clears.
  CAP_EXP+a.w | ECAP_AER+4.l | ECAP_AER+10.l) value=$(printf "%0${#value}x" $((0x$before & ~0x$value))) ;;
esac
echo "$value" >"$register"
"""


@dataclass
class FakeHost:
    """`back`: PFs that a rescan finds, and `bars` what they have then. `trains`: the link's width without the card."""

    root: Path
    back: list[str] = field(default_factory=lambda: list(PFS))
    bars: dict[int, int] = field(default_factory=lambda: dict(BARS))
    trains: int = 8
    port: bool = True

    def __post_init__(self) -> None:
        self.sys, self.programs = self.root / "sys", self.root / "bin"
        self.top = self.sys / "devices/pci0000:00"
        self.above = self.top / PORT if self.port else self.top
        self.by_address = self.sys / "bus/pci/devices"
        for folder in (self.top, self.by_address, self.root / "proc", self.programs):
            folder.mkdir(parents=True)
        (self.sys / "bus/pci/rescan").write_text("")
        if self.port:
            self.add(PORT, {}, vendor="0x8086", device="0x2030", path=self.above)
            (self.above / "pci_bus/0000:01").mkdir(parents=True)
            (self.above / "pci_bus/0000:01/rescan").write_text("")
        (self.root / "registers").mkdir()
        self.set_registers(REGISTERS)
        setpci = self.programs / "setpci"
        setpci.write_text(SETPCI.replace("@", str(self.root)))
        setpci.chmod(0o755)
        self.find()
        self.stopped = False
        self.thread = threading.Thread(target=self.act, daemon=True)
        self.thread.start()

    def close(self) -> None:
        self.stopped = True
        end_of(self.thread)

    @property
    def environment(self) -> dict[str, str]:
        path = f"{self.programs}:{os.environ['PATH']}"
        return {**os.environ, "PATH": path, "MERIDIAN_FAKE_ROOT": str(self.root), "MERIDIAN_PATIENCE": "3"}

    def event(self, text: str) -> None:
        with (self.root / "events").open("a") as events:
            events.write(f"{text}\n")

    def events(self) -> list[str]:
        path = self.root / "events"
        return path.read_text().splitlines() if path.exists() else []

    def registers(self) -> dict[str, str]:
        return {path.name: path.read_text().strip() for path in (self.root / "registers").iterdir()}

    def set_registers(self, values: dict[str, str]) -> None:
        for name, value in values.items():
            (self.root / "registers" / name).write_text(f"{value}\n")

    def here(self) -> list[str]:
        return sorted(path.name for path in self.by_address.iterdir() if path.name != PORT)

    def add(self, address: str, bars: dict[int, int], *, vendor: str, device: str, path: Path | None = None) -> Path:
        """A device appears as a whole: the kernel ends a rescan only then."""
        lines, start = [], 0xE0000000
        for bar in range(13):
            size = bars.get(bar, 0)
            lines.append(f"{start:#018x} {start + size - 1:#018x} 0x0000000000140204" if size else "0x0 0x0 0x0")
            start += size
        files = {
            "vendor": f"{vendor}\n", "device": f"{device}\n", "resource": "\n".join([*lines, ""]), "remove": "",
            "current_link_width": "8\n", "current_link_speed": "8.0 GT/s PCIe\n",
        }  # fmt: skip
        if device[2] == "9":
            files["sriov_numvfs"] = "0\n"
        new, path = self.root / "new", path or self.above / address
        new.mkdir()
        for name, text in files.items():
            (new / name).write_text(text)
        if device[2] == "9":
            (new / "driver").symlink_to("../../../../bus/pci/drivers/meridian")
        new.rename(path)
        (self.by_address / address).symlink_to(path)
        return path

    def find(self) -> None:
        """The kernel finds what a rescan of the bus would find."""
        for address in self.back:
            if not (self.by_address / address).is_symlink():
                self.add(address, self.bars, vendor="0x10ee", device=f"0x9{address[-1]}3f")
        if self.port:
            width = self.root / "width"
            width.write_text(f"{8 if self.back else self.trains}\n")
            width.replace(self.above / "current_link_width")

    def bind(self, address: str, driver: str) -> None:
        link = self.by_address / address / "driver"
        link.unlink(missing_ok=True)
        link.symlink_to(f"../../../../bus/pci/drivers/{driver}")

    def make_vfs(self) -> None:
        """Two VFs of the first PF."""
        for number, address in enumerate(VFS):
            path = self.add(address, {0: 32 << 10, 2: 4 << 10}, vendor="0x10ee", device="0xa03f")
            (path / "physfn").symlink_to(f"../{PFS[0]}")
            (self.by_address / PFS[0] / f"virtfn{number}").symlink_to(f"../{address}")
            (path / "iommu_group").symlink_to(f"../../../../kernel/iommu_groups/{20 + number}")
        (self.by_address / PFS[0] / "sriov_numvfs").write_text("2\n")

    def use(self, address: str, process: int, command: str) -> None:
        """A process has the VF's group open."""
        self.bind(address, "vfio-pci")
        group = os.path.basename(os.readlink(self.by_address / address / "iommu_group"))
        folder = self.root / f"proc/{process}/fd"
        folder.mkdir(parents=True)
        (folder / "7").symlink_to(f"/dev/vfio/{group}")
        (folder.parent / "comm").write_text(f"{command}\n")

    def drop(self, address: str) -> None:
        link = self.by_address / address
        path = link.resolve()
        link.unlink()
        shutil.rmtree(path)
        self.event(f"remove {address}")

    def act(self) -> None:
        while not self.stopped:
            for address in self.here():
                path = self.by_address / address
                remove, count = path / "remove", path / "sriov_numvfs"
                if count.exists() and count.read_text() == "0":
                    self.event(f"sriov_numvfs {address}")
                    count.write_text("0\n")
                    for link in path.glob("virtfn*"):
                        self.drop(os.path.basename(os.readlink(link)))
                        link.unlink()
                if remove.is_file() and not remove.is_symlink() and remove.read_text() == "1":
                    self.drop(address)
            for rescan in (self.sys / "bus/pci/rescan", self.above / "pci_bus/0000:01/rescan"):
                if rescan.exists() and rescan.read_text() == "1":
                    rescan.write_text("")
                    self.event("rescan")
                    self.find()
            time.sleep(0.02)
