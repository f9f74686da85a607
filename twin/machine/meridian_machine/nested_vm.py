# SPDX-License-Identifier: Apache-2.0
"""A virtual machine within a machine of the twin, by Debian's own QEMU, with a VF that is passed through by VFIO.

It has the host machine's kernel, busybox and our driver, and no disk; a DebianVm has the host machine's disk, too. KVM
runs it by the processor's virtualization, which the host machine's QEMU emulates.
"""

from __future__ import annotations

import base64
import re
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from . import driver
from .guest import Guest
from .hardware import Hardware
from .initrd import Content, cpio, initrd
from .machine import Done
from .program import Program, ProgramError
from .tools import Image

SUITE = "bookworm"  # whose machines have QEMU
#: Its timer ticks for ever: emulated QEMU 10.0 loses an interrupt now and then while a virtual machine runs, and a host
#: machine that sleeps until the one interrupt that it has asked its timer for does not wake up.
TICKING = "nohz=off highres=off"
#: Of the host machine. One processor: between two, emulated QEMU 10.0 loses the end of an interrupt now and then.
HOST = Hardware(memory=2048, cpus=1, iommu=True, kernel=TICKING)
KERNEL, RAMDISK, DEBIAN_RAMDISK = "vm-kernel", "vm-initrd", "vm-debian-initrd"
COMMANDS = Path(__file__).with_name("vm_commands")
BOOT_SECONDS = 600
COMMAND_SECONDS = 120
PROMPT = "vm> "
VF = "0000:01:00.0"  # as the virtual machine's PCI has it
KERNEL_LINE = "console=ttyS0 quiet no_timer_check tsc=unstable mitigations=off nokaslr"


class VmError(AssertionError):
    """A command failed in it, or it hangs; the text is what it said."""


def vm_files(programs: Mapping[str, Path] | None = None) -> dict[str, Content]:
    """What the host machine needs for it under /run/twin. programs: of ours, static, in the machine's /."""
    image = Image.build(SUITE)
    files: dict[str, Content] = {"init": Path(__file__).with_name("vm_init"), COMMANDS.name: COMMANDS}
    for name, module in driver.modules(SUITE, driver.SOURCE).items():
        files[name] = stripped(Path(str(module)))
    return {KERNEL: image.kernel, RAMDISK: image.early.read_bytes() + cpio(files | dict(programs or {}))}


def debian_vm_files(files: Mapping[str, Path]) -> dict[str, Content]:
    """The same for a DebianVm. files: in the virtual machine, under /run/twin there."""
    image = Image.build(SUITE)
    return {KERNEL: image.kernel, DEBIAN_RAMDISK: initrd(image, {"setup": COMMANDS, **files})}


def stripped(module: Path) -> bytes:
    """Without what debuggers need: an emulated processor unpacks it."""
    with tempfile.TemporaryDirectory(prefix="meridian-") as folder:
        copy = Path(folder) / module.name
        subprocess.run(["strip", "--strip-debug", "-o", str(copy), str(module)], timeout=60, check=True)
        return copy.read_bytes()


class Vm:
    """Up, with its driver loaded. function: of PCI in the host machine, bound to vfio-pci.

    Raises VmError if a command fails or the machine gives no status.
    """

    ramdisk: ClassVar[str] = RAMDISK
    kernel_line: ClassVar[str] = KERNEL_LINE
    machine: ClassVar[tuple[str, ...]] = ("-machine", "q35")

    def __init__(self, guest: Guest, function: str, name: str = "vm", memory: int = 192) -> None:
        guest.run("modprobe kvm_amd")  # emulated processors are AMD's
        self.guest, self._monitor = guest, f"/tmp/{name}.monitor"
        command = ["qemu-system-x86_64", "-nodefaults", "-no-user-config", "-display", "none", *self.machine]
        command += ["-accel", "kvm", "-cpu", "host", "-m", str(memory)]
        command += ["-kernel", f"/run/twin/{KERNEL}", "-initrd", f"/run/twin/{self.ramdisk}"]
        command += ["-append", self.kernel_line]
        command += ["-chardev", "stdio,id=console,signal=off", "-serial", "chardev:console"]
        command += ["-monitor", f"unix:{self._monitor},server=on,wait=off"]
        command += ["-device", "pcie-root-port,id=vfport,chassis=1"]
        command += ["-device", f"vfio-pci,host={function},bus=vfport,id=vf"]
        self._program = Program(guest, name, command, PROMPT, BOOT_SECONDS)
        self.output = self._program.output
        self.kill = self._program.kill
        self.is_running = self._program.is_running

    def try_run(self, line: str, seconds: float = COMMAND_SECONDS) -> tuple[int, str]:
        """(exit status, output) of a line for busybox's shell."""
        try:
            text = self._program.command(line, seconds).replace("\r", "")
        except ProgramError as error:
            raise VmError(f"{line}: {error}") from None
        found = re.search(r"status (\d+)\s*$", text)
        if not found:
            raise VmError(f"{line}: no status in {text!r}")
        return int(found[1]), text[: found.start()]

    def run(self, line: str, seconds: float = COMMAND_SECONDS) -> str:
        """Output of a line that must succeed."""
        status, text = self.try_run(line, seconds)
        if status:
            raise VmError(f"{line}: status {status}: {text}\n{self.try_run('dmesg | tail -n 20')[1]}")
        return text

    def up(self, address: str) -> None:
        """Its interface, with this address in the wire's network."""
        self.run(f"ip address add {address}/24 dev eth0; ip link set eth0 up")
        self.wait_link()

    def wait_link(self) -> None:
        self.run("for try in $(seq 50); do grep -q 1 /sys/class/net/eth0/carrier && break; sleep 0.2; done")

    def ping(self, to: str, count: int = 3, size: int = 56) -> None:
        """All are answered, whole."""
        text = self.run(f"ping -c {count} -W 20 -s {size} {to}")
        assert f" {count} packets received" in text, text

    def reboot(self) -> None:
        """By its own kernel; up again on return."""
        self._program.say("reboot -f")
        self._program.answer(BOOT_SECONDS)

    def power_off(self) -> None:
        self._program.say("poweroff -f")
        status = self._program.wait_end()
        assert status == 0, f"QEMU ended with {status}: {self._program.rest()}"

    def monitor(self, line: str) -> str:
        """A command for QEMU."""
        return self.guest.run(f"echo '{line}' | nc -U -q 2 {self._monitor} | tail -n 1")


class DebianVm(Vm):
    """Up, without our Linux driver, with the host machine's root file system and an IOMMU of its own: its VF is for DPDK.

    inside: for scripts of bash, and all else that takes a machine.
    """

    ramdisk = DEBIAN_RAMDISK
    kernel_line = f"{KERNEL_LINE} intel_iommu=on iommu=pt"
    machine = (
        *("-machine", "q35,kernel-irqchip=split", "-device", "intel-iommu,intremap=on,caching-mode=on"),
        *("-drive", "if=none,id=disk,file=/dev/vda,format=raw,readonly=on", "-device", "virtio-blk-pci,drive=disk"),
    )

    def __init__(self, guest: Guest, function: str, name: str = "vm", memory: int = 512) -> None:
        super().__init__(guest, function, name, memory)
        self.inside = Guest(_Scripts(self))  # type: ignore[arg-type]


class _Scripts:
    """What Guest asks of a machine, at a DebianVm's console."""

    def __init__(self, vm: DebianVm) -> None:
        self._vm = vm

    @property
    def patience(self) -> float:
        return self._vm.guest.machine.patience

    def run(self, script: str, seconds: float) -> Done:
        text = base64.b64encode(script.encode()).decode()
        status, output = self._vm.try_run(f"base64 -d <<<{text} >/tmp/script; bash /tmp/script </dev/null", seconds)
        return Done(status, output.encode())
