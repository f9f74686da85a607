# SPDX-License-Identifier: Apache-2.0
"""Machines of both suites with the card's Linux driver loaded, and what is at the other end of the card's wire."""

from __future__ import annotations

import re
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from meridian_machine import Hardware, Machine, Setting, Twin, tools
from meridian_machine import peer as far_end
from meridian_twin.wire import Wire
from peer import Peer

PF_DEVICE = "/sys/bus/pci/devices/0000:01:00.0"
HERE = far_end.address(0, 2)
PEER = far_end.address(0, 1)
MODULE = "/run/twin/meridian.ko"
XDP_TOOL = Path(__file__).with_name("xdp_tool.c")
NET_LOAD = Path(__file__).parents[1] / "bench" / "net_load.c"
_TROUBLE = re.compile(r"WARNING:|BUG:|Oops|Call Trace|general protection|scheduling while atomic|lockup|hung task")


class GuestError(AssertionError):
    """A script failed, or the kernel complains."""


class Guest:
    """A machine, told what to do line by line."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine

    def try_run(self, script: str, seconds: float = 60) -> tuple[int, str]:
        """(exit status, output) of a script."""
        done = self.machine.run(f"exec 2>&1\n{script}", seconds)
        return done.status, done.text

    def run(self, script: str, seconds: float = 60) -> str:
        """Output of a script that must succeed."""
        status, text = self.try_run(script, seconds)
        if status:
            raise GuestError(f"{script}: status {status}: {text}\n{self.log()}")
        return text

    def until(self, script: str, wanted: str, seconds: float = 30) -> str:
        """Runs a script again and again until its output matches; the output."""
        deadline = time.monotonic() + seconds
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
        if _TROUBLE.search(log):
            raise GuestError(f"the kernel complains: {log}")

    def load(self) -> None:
        """The driver, its interface up with its address."""
        self.run(f"insmod {MODULE} && ip address add {HERE}/24 dev eth0 && ip link set eth0 up")
        self.wait_link()

    def wait_link(self) -> None:
        self.until("cat /sys/class/net/eth0/carrier", "1")

    def ping(self, count: int = 2, size: int = 56) -> None:
        """Every one is answered, whole."""
        text = self.run(f"ping -c {count} -i 0.1 -W 10 -M do -s {size} {PEER}")
        assert f" {count} received" in text, text

    def statistics(self, interface: str = "eth0", enter: str = "") -> dict[str, int]:
        """Of `ethtool -S`. enter: what goes before a command in the interface's network namespace."""
        pairs = (line.split(":") for line in self.run(f"{enter}ethtool -S {interface}").splitlines()[1:])
        return {name.strip(): int(value) for name, value in pairs}

    def address(self, interface: str = "eth0", enter: str = "") -> bytes:
        text = self.run(f"{enter}cat /sys/class/net/{interface}/address")
        return bytes.fromhex(text.strip().replace(":", ""))


@dataclass
class Link:
    """A machine and, at the other end of the wire, a small host of ours."""

    twin: Twin
    guest: Guest
    peer: Peer


@contextmanager
def running(twin: Twin, watched: bool = True) -> Iterator[Guest]:
    """The twin's machine with the driver loaded. It ends with rmmod and a look at the kernel's log."""
    with twin.machine(watched) as machine:
        guest = Guest(machine)
        guest.wait_link()
        yield guest
        guest.run("! grep -q ^meridian /proc/modules || rmmod meridian")
        guest.check()


@contextmanager
def linked(
    suite: str, files: dict[str, Path] | None = None, hardware: Hardware | None = None, watched: bool = True
) -> Iterator[Link]:
    """A machine, and our small host at the other end of its wire. files: for the machine, under /run/twin."""
    with tempfile.TemporaryDirectory(prefix="meridian-") as name:
        folder, path = Path(name), Path(name) / "wire"
        with Twin(
            Setting(suite=suite, hardware=hardware or Hardware(), wires=[f"0=socket:path={path}"]), folder
        ) as twin:
            twin.host.files.update(files or {})
            with Wire(path) as wire, Peer(wire, PEER) as peer, running(twin, watched) as guest:
                yield Link(twin, guest, peer)


@contextmanager
def vfs_apart(guest: Guest, count: int = 1) -> Iterator[None]:
    """The PF's VFs, each in a network namespace of its own: eth1 in vf0, eth2 in vf1."""
    guest.run(f"echo {count} >{PF_DEVICE}/sriov_numvfs")
    for vf in range(count):
        guest.run(f"ip netns add vf{vf} && ip link set eth{vf + 1} netns vf{vf}")
    yield
    for vf in range(count):
        guest.run(f"ip netns del vf{vf}")
    guest.run(f"echo 0 >{PF_DEVICE}/sriov_numvfs")


def tool(folder: Path, source: Path) -> Path:
    """A program of ours for the machine, in that folder."""
    program = folder / source.stem
    command = ["gcc", "-static", "-pthread", "-Wall", "-Werror", "-o", str(program), str(source)]
    subprocess.run(command, check=True, timeout=60)
    return program


@pytest.fixture(scope="module")
def link(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Link]:
    """One for the tests of a module, of the newest suite; with our XDP programs and the bench's load in it."""
    folder = tmp_path_factory.mktemp("tools")
    files = {source.stem: tool(folder, source) for source in (XDP_TOOL, NET_LOAD)}
    with linked(tools.SUITES[0], files) as it:
        yield it
