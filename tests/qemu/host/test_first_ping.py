# SPDX-License-Identifier: Apache-2.0
"""The guides' commands, as they stand in them, in the machines that they are for."""

from __future__ import annotations

import re
import subprocess
import time
from pathlib import Path

import documents
import pytest
from driver_machine import linked
from meridian_machine import Hardware, Setting, Twin, nested_vm, tools
from meridian_machine.guest import Guest
from meridian_machine.program import Program
from meridian_twin.patience import deadline_in

pytestmark = pytest.mark.qemu
FIRST_PING, VM = (tools.ROOT / "docs" / name for name in ("first-ping.md", "vm.md"))
BUILDS = "make -C host-driver/linux"  # done outside of the machine


def commands(heading: str, guide: Path = FIRST_PING) -> list[str]:
    """Of a chapter's blocks, line by line, without remarks."""
    return documents.chapter(guide, heading)


def test_the_twin_is_seen_without_a_card() -> None:
    said = []
    for command in commands("0."):
        done = subprocess.run(
            ["bash", "-c", command], cwd=tools.ROOT, capture_output=True, text=True, timeout=900, check=False
        )
        assert done.returncode == 0, f"{command}: {done.stderr}"
        said.append(done.stdout)
    assert "10ee:903f" in said[0]
    assert "eth0" in said[1]


def test_the_guides_commands_of_the_host_reach_the_first_ping(tmp_path: Path) -> None:
    """The machine's own names made those of the guide, and the far end its 192.0.2.2."""
    with Twin(Setting(), tmp_path) as twin:
        twin.host.setup = ""
        twin.peer.do("ip", "address", "add", "192.0.2.2/24", "dev", "wire0")
        with twin.machine() as machine:
            guest = Guest(machine)
            guest.run("mkdir -p /tmp/host-driver/linux && cp /run/twin/meridian.ko /tmp/host-driver/linux")
            said: dict[str, str] = {}
            for command in commands("4.") + commands("5."):
                if command == BUILDS:
                    continue
                if command.startswith("ping"):
                    command = f"{command} -c 3"
                said[command] = guest.run(f"cd /tmp && {command}")
                if command.startswith("insmod"):
                    guest.run("ip link set eth0 name eth1")
            assert "10ee:903f" in said["lspci -nn -d 10ee:"]
            assert "fw.git" in said["devlink dev info"]
            assert " 3 received" in said["ping 192.0.2.2 -c 3"]
            assert "02:00:00:00:00:10" in said["ip link show eth1"]
            guest.check()


def wait_for(frame: bytes, among: list[bytes], seconds: float = 30) -> None:
    deadline = deadline_in(seconds)
    while frame not in among:
        assert time.monotonic() < deadline, f"{frame.hex()} is not among {[other.hex() for other in among]}"
        time.sleep(0.02)


def test_the_guides_commands_give_a_vf_to_testpmd() -> None:
    """Bound and started line by line; frames for its address go to the peer that the guide names."""
    library = tools.built("build-dpdk", "--suite", "bookworm", minutes=10)
    hands_over = "\n".join(commands("To VFIO", VM))
    (start,) = (line for line in commands("DPDK", VM) if line.startswith("dpdk-testpmd"))
    prepare, prompt = (part.strip() for part in "\n".join(commands("DPDK", VM)).split(start))
    own, to = (bytes.fromhex(word.replace(":", "")) for word in re.findall(r"(?:02)(?::\w\w){5}", hands_over + start))
    with linked("bookworm", {library.name: library}, Hardware(memory=2048, iommu=True)) as link:
        guest = link.guest
        installed = re.findall(r"-d (\S+)", start)[0]
        guest.run(f"mkdir -p {Path(installed).parent} && cp /run/twin/{library.name} {installed}")
        assert guest.run(f"set -e\n{hands_over}").rstrip().endswith("/vfio-pci")
        guest.run(prepare)
        function = guest.run("basename $(readlink /sys/class/net/eth0/device/virtfn0)").strip()
        command = ["stdbuf", "-o0", *start.replace("$VF", function).split()]  # its prompt is not buffered
        testpmd = Program(guest, "testpmd", command, "testpmd> ", 60)
        assert "Configuring Port 0" in testpmd.start_text
        said: dict[str, str] = {}
        for line in prompt.splitlines():
            order = line.removeprefix("testpmd> ")
            if order == "show port stats 0":
                frame = own + to + b"\x88\xb5" + bytes(46)
                link.peer.wire.send(frame)
                wait_for(to + own + frame[12:], link.peer.other)
            if order == "quit":
                testpmd.say(order)
                assert testpmd.wait_end() == 0
            else:
                said[order] = testpmd.command(order, 60)
        assert re.search(r"RX-packets: 1\b", said["show port stats 0"])
        assert re.search(r"TX-packets: 1\b", said["show port stats 0"])
        guest.check()


def test_the_guide_gives_a_vf_to_qemu_as_the_tests_do() -> None:
    """A virtual machine with a VF is started by nested_vm, with the guide's options."""
    (line,) = (line for line in commands("QEMU", VM) if line.startswith("qemu-system"))
    source = Path(nested_vm.__file__).read_text()
    for option in re.findall(r"-device (\S+)", line):
        assert option.replace("$VF", "{function}") in source.replace(',id=vf"', '"'), option
