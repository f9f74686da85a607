# SPDX-License-Identifier: Apache-2.0
"""testpmd with our driver in a machine of the twin, on functions that are bound to vfio-pci."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Self

from .guest import PF_DEVICE, Guest
from .program import Program, ProgramError
from .testpmd_prompt import COMMAND_SECONDS, PROMPT, START_SECONDS, Prompt, TestpmdError

LIBRARY = "librte_net_meridian.so"


def prepare_vfio(guest: Guest, hugepages: int = 192) -> None:
    """The module, and memory for DPDK in pages of 2 MiB."""
    guest.run(f"modprobe vfio-pci && echo {hugepages} >/proc/sys/vm/nr_hugepages")
    guest.run("mkdir -p /dev/hugepages && mount -t hugetlbfs nodev /dev/hugepages")


def vf_name(guest: Guest, number: int) -> str:
    """Of the PF's VF, as PCI has it."""
    return guest.run(f"basename $(readlink {PF_DEVICE}/virtfn{number})").strip()


def give_to(guest: Guest, function: str, driver: str) -> None:
    """The function, from whoever has it, to a driver; "" leaves it to whoever wants it."""
    device = f"/sys/bus/pci/devices/{function}"
    guest.run(f"[ ! -e {device}/driver ] || echo {function} >{device}/driver/unbind")
    guest.run(f"echo '{driver}' >{device}/driver_override && echo {function} >/sys/bus/pci/drivers_probe")
    if driver:
        assert guest.run(f"basename $(readlink {device}/driver)").strip() == driver


class MachineTestpmd(Prompt):
    """One process; functions: of PCI, each with the driver's arguments if it needs some; options: of testpmd itself.

    Raises TestpmdError if it does not start, answer or end as it should.
    """

    def __init__(
        self,
        guest: Guest,
        functions: Sequence[str],
        *options: str,
        name: str = "pmd",
        eal: Sequence[str] = ("-l", "0-1"),
    ) -> None:
        # Its prompt is not buffered, so what it prints must not be, either.
        command = ["stdbuf", "-o0", "dpdk-testpmd", "-d", f"/run/twin/{LIBRARY}", "-m", "128"]
        command += ["--no-telemetry", f"--file-prefix={name}", *eal]
        command += [word for function in functions for word in ("-a", function)]
        command += ["--", "-i", "--total-num-mbufs=20000", "--disable-device-start", *options]
        try:
            self._program = Program(guest, name, command, PROMPT, START_SECONDS)
        except ProgramError as error:
            raise TestpmdError(str(error)) from None
        self.start_text = self._program.start_text
        self.output, self.kill = self._program.output, self._program.kill

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.quit()
        else:
            self.kill()

    def command(self, text: str, seconds: float = COMMAND_SECONDS) -> str:
        """What it answers."""
        try:
            return self._program.command(text, seconds)
        except ProgramError as error:
            raise TestpmdError(str(error)) from None

    def quit(self) -> str:
        """Ends it in order; raises TestpmdError unless it says that it has."""
        self._program.say("stop")
        self._program.say("quit")
        status = self._program.wait_end()
        if status != 0:
            raise TestpmdError(f"testpmd ended with {status}: {self._program.rest()}")
        return self._program.rest()
