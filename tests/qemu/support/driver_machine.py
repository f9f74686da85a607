# SPDX-License-Identifier: Apache-2.0
"""Machines of both suites with the card's Linux driver loaded, and what is at the other end of the card's wire."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from machine_report import run_folder
from meridian_machine import Hardware, Setting, Twin, tools
from meridian_machine.driver import SOURCE
from meridian_machine.guest import PEER, PF_DEVICE, Guest
from meridian_twin.wire import Wire
from peer import Peer

XDP_TOOL = Path(__file__).with_name("xdp_tool.c")
NO_MEMORY = Path(__file__).with_name("no_memory")
NET_LOAD = Path(__file__).parents[2] / "bench" / "net_load.c"
CONTEXT_COMMAND = 0x844
INVALIDATE_SW_H2C = 3 << 5 | 1 << 1


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
    suite: str,
    files: dict[str, Path] | None = None,
    hardware: Hardware | None = None,
    watched: bool = True,
    driver: Path = SOURCE,
    shell: Sequence[str] = (),
    card_options: Sequence[str] = (),
) -> Iterator[Link]:
    """A machine, and our small host at the other end of its wire.

    files: for the machine, under /run/twin. driver: its source; changed() makes others. shell: options of its generator.
    card_options: of the card process.
    """
    with run_folder() as folder:
        path = folder / "wire"
        setting = Setting(
            suite=suite,
            hardware=hardware or Hardware(),
            wires=[f"0=socket:path={path}"],
            driver=driver,
            shell=shell,
            card_options=card_options,
        )
        with Twin(setting, folder) as twin:
            twin.host.files.update(files or {})
            with Wire(path) as wire, Peer(wire, PEER) as peer, running(twin, watched) as guest:
                yield Link(twin, guest, peer)


@contextmanager
def changed(file: str, pattern: str, replacement: str, source: Path = SOURCE) -> Iterator[Path]:
    """The driver's source with one place of a file of host-driver written anew, for what no option brings about."""
    with tempfile.TemporaryDirectory(prefix="meridian-") as name:
        tree = Path(name) / "host-driver"
        shutil.copytree(source.parent, tree)
        text, count = re.subn(pattern, replacement, (tree / file).read_text())
        assert count == 1, f"{pattern} is in {file} {count} times"
        (tree / file).write_text(text)
        yield tree / "linux"


@contextmanager
def vfs_apart(guest: Guest, count: int = 1, pfs: int = 1) -> Iterator[None]:
    """The first PF's VFs, each in a network namespace of its own: beside one PF, eth1 in vf0 and eth2 in vf1."""
    guest.run(f"echo {count} >{PF_DEVICE}/sriov_numvfs")
    for vf in range(count):
        guest.run(f"ip netns add vf{vf} && ip link set eth{vf + pfs} netns vf{vf}")
    yield
    for vf in range(count):
        guest.run(f"ip netns del vf{vf}")
    guest.run(f"echo 0 >{PF_DEVICE}/sriov_numvfs")


def stop_transmit(guest: Guest, queues: int = 2) -> None:
    """Takes the PF's first transmit queues from the card behind the driver's back. The machine has iomem=relaxed."""
    bar0 = guest.bar(0)
    for queue in range(queues):
        guest.run(f"busybox devmem {bar0 + CONTEXT_COMMAND:#x} 32 {queue << 7 | INVALIDATE_SW_H2C:#x}")


def tool(folder: Path, source: Path, compiler: str = "gcc") -> Path:
    """A program of ours for the machine, in that folder."""
    program = folder / source.stem
    command = [compiler, "-static", "-pthread", "-Wall", "-Werror", "-o", str(program), str(source)]
    subprocess.run(command, check=True, timeout=60)
    return program


@pytest.fixture(scope="module")
def link(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Link]:
    """One for the tests of a module, of the newest suite; with our XDP programs and the bench's load in it."""
    folder = tmp_path_factory.mktemp("tools")
    files = {source.stem: tool(folder, source) for source in (XDP_TOOL, NET_LOAD)}
    with linked(tools.SUITES[0], files) as it:
        yield it
