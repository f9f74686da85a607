# SPDX-License-Identifier: Apache-2.0
"""What the machines at a card are made of: the host that it is plugged into, and its own PS."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from . import driver, tools
from .hardware import Hardware
from .initrd import Content, initrd
from .machine import EmulatorFault, Machine
from .ps_hardware import PsHardware

LOAD_SECONDS = 120


@dataclass
class Computer:
    """One of them, built. files are under /run/twin when it is up; setup is a script that is run first."""

    qemu: Path
    image: tools.Image
    hardware: Hardware | PsHardware
    files: dict[str, Content] = field(default_factory=dict)
    setup: str = ""

    def boot(self, folder: Path, socket: Path, watch: Callable[[], object]) -> Machine:
        """Ready for scripts, set up. What is left of it is in the folder, with the logs of a first start that the
        emulator has spoilt as console-first.log and qemu-first.log. Raises MachineError.
        """
        machine = Machine(self.qemu, self.image, folder, socket, self.hardware, self.files, watch)
        try:
            return self._set_up(machine)
        except EmulatorFault as error:
            print(f"twin: {error.sentence}; it is started once more", file=sys.stderr)
        machine.keep_logs("first")
        return self._set_up(Machine(self.qemu, self.image, folder, socket, self.hardware, self.files, watch))

    def _set_up(self, machine: Machine) -> Machine:
        try:
            machine.wait_ready()
            if self.setup:
                machine.run(self.setup, LOAD_SECONDS, check=True)
        except BaseException:
            machine.close()
            raise
        return machine

    def on_console(self, ramdisk: Path, socket: Path, kernel_line: str) -> list[str]:
        """The command that boots it with a shell on its console; writes its RAM disk."""
        files = self.files | ({"setup": self.setup.encode()} if self.setup else {})
        ramdisk.write_bytes(initrd(self.image, files))
        return [str(self.qemu), *self.hardware.options(self.image, ramdisk, socket, kernel_line)]


def host(suite: str, hardware: Hardware, source: Path | None, dhcp: bool, machine: str = "host") -> Computer:
    """With the driver of these sources loaded, if there are any. machine: of Image.build(). Raises BuildError."""
    image = tools.Image.build(suite, machine)
    files = driver.modules(suite, source, machine) if source else {}
    return Computer(tools.qemu(), image, hardware, files, driver.setup(files, dhcp))


def ps(suite: str, hardware: PsHardware, source: Path | None) -> Computer:
    """As for the host."""
    image = tools.Image.build(suite, "ps")
    files = driver.modules(suite, source, "ps") if source else {}
    setup = driver.setup(files, place=driver.PLATFORM, number=driver.PS)
    return Computer(tools.qemu_ps(), image, hardware, files, setup)
