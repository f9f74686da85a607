# SPDX-License-Identifier: Apache-2.0
"""A machine with the card and its driver, told what to do line by line."""

from __future__ import annotations

import re
import time

from . import driver
from . import peer as far_end
from .machine import Done, Machine

PF_DEVICE = driver.PCI
HERE = far_end.address(0, 2)
PEER = far_end.address(0, 1)
MODULE = "/run/twin/meridian.ko"
#: What a kernel says of itself when it finds a fault.
TROUBLE = re.compile(
    r"WARNING:|BUG:|Oops|Call Trace|general protection|scheduling while atomic|lockup|blocked for more than"
)


def unanswered(text: str, count: int) -> set[int]:
    """The first so many requests that have no answer in what `ping -c COUNT -w SECONDS` has printed.

    Behind its last request, ping waits for half a second only. With -w it sends more until it has count answers.
    """
    return set(range(1, count + 1)) - {int(number) for number in re.findall(r"bytes from .*icmp_seq=(\d+)", text)}


class GuestError(AssertionError):
    """A script failed, or the kernel complains."""


class Guest:
    """A machine, told what to do line by line.

    Raises GuestError if a script fails, a state does not come, or the kernel complains; and what its machine raises.
    """

    def __init__(self, machine: Machine) -> None:
        self.machine = machine

    def try_run(self, script: str, seconds: float = 60) -> tuple[int, str]:
        """(exit status, output) of a script."""
        done = self._done(script, seconds)
        return done.status, done.text

    def run(self, script: str, seconds: float = 60) -> str:
        """Output of a script that must succeed."""
        return self._succeeded(script, seconds).text

    def run_for_bytes(self, script: str, seconds: float = 60) -> bytes:
        """The same as it was written."""
        return self._succeeded(script, seconds).stdout

    def _done(self, script: str, seconds: float) -> Done:
        return self.machine.run(f"exec 2>&1\n{script}", seconds)

    def _succeeded(self, script: str, seconds: float) -> Done:
        done = self._done(script, seconds)
        if done.status:
            raise GuestError(f"{script}: status {done.status}: {done.text}\n{self.log()}")
        return done

    def deadline(self, seconds: float) -> float:
        """When a wait of so many seconds for the machine ends: later with a kernel that checks itself."""
        return time.monotonic() + seconds * self.machine.patience

    def until(self, script: str, wanted: str, seconds: float = 30) -> str:
        """Runs a script again and again until its output matches; the output."""
        deadline = self.deadline(seconds)
        while True:
            _, text = self.try_run(script, seconds)
            if re.search(wanted, text):
                return text
            if time.monotonic() > deadline:
                raise GuestError(f"{script} does not give {wanted!r} but {text!r}\n{self.log()}")
            time.sleep(0.1)

    def log(self) -> str:
        """What the kernel has said since the driver was loaded first."""
        text = self.try_run("dmesg")[1]
        return text[max(text.find("meridian"), 0) :]

    def check(self) -> None:
        """Raises unless the kernel's log is free of warnings and worse."""
        log = self.log()
        if TROUBLE.search(log):
            raise GuestError(f"the kernel complains: {log}")

    def load(self) -> None:
        """The driver, its interface up with its address."""
        self.run(f"insmod {MODULE} && ip address add {HERE}/24 dev eth0 && ip link set eth0 up")
        self.wait_link()

    def wait_link(self) -> None:
        self.until("cat /sys/class/net/eth0/carrier", "^1")

    def ping(self, count: int = 2, size: int = 56, to: str = PEER, enter: str = "") -> None:
        """Every request is answered, whole. enter: what goes before a command in a network namespace."""
        text = self.run(f"{enter}ping -c {count} -w 40 -i 0.5 -M do -s {size} {to}")
        assert not unanswered(text, count), text

    def statistics(self, interface: str = "eth0", enter: str = "") -> dict[str, int]:
        """Of `ethtool -S`. enter: what goes before a command in the interface's network namespace."""
        pairs = (line.split(":") for line in self.run(f"{enter}ethtool -S {interface}").splitlines()[1:])
        return {name.strip(): int(value) for name, value in pairs}

    def bar(self, number: int) -> int:
        """Where the machine has put a BAR of the PF."""
        return int(self.run(f"sed -n {number + 1}p {PF_DEVICE}/resource").split()[0], 16)

    def address(self, interface: str = "eth0", enter: str = "") -> bytes:
        text = self.run(f"{enter}cat /sys/class/net/{interface}/address")
        return bytes.fromhex(text.strip().replace(":", ""))
