# SPDX-License-Identifier: Apache-2.0
"""Commands of README.md and of pages of docs, run in machines as they stand there."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import documents
import pytest
from documents import ROOT
from meridian_machine import Hardware, PsHardware, Setting, Twin
from meridian_machine.guest import Guest
from ps_link import WRITABLE

pytestmark = [pytest.mark.qemu, pytest.mark.long]
README = ROOT / "README.md"
VM, SELFTEST, DEVLINK, TROUBLESHOOTING, TUNING, BRING_UP = (
    ROOT / "docs" / name
    for name in ("vm.md", "selftest.md", "devlink.md", "troubleshooting.md", "tuning.md", "bring-up.md")
)
THIS = "tests/qemu/host/test_documents.py"
MINUTES = 30
#: Commands of the list in README that a test of a machine does not run: a capture of one's own, and hours.
LEFT_OUT = {"make demo PCAP=file", "make test-long"}
#: What they print, and what must be in it.
LIST = {"make demo QUICK=1": "all as the golden model says", "make twin-run CMD='lspci -nn'": "10ee:903f"}
#: Services of the card's own Linux, and an FPGA manager, which the machine here does not have.
CARD_ONLY = ("systemctl ", "pmc ", "cat /sys/class/fpga_manager/")
#: The machine's suite has no DPDK; the command is among those of vm.md.
OF_DPDK = "dpdk-devbind.py --status-dev net"
#: On the page of troubleshooting: what the commands print on a host and a card in order.
ON_HOST = {
    "lspci -nn -d 10ee:": r"\[10ee:903f\]",
    "lspci -nnk -d 10ee:": r"Kernel driver in use: meridian",
    "dmesg | grep meridian": r"function 0, port 0 of 1",
    "devlink port show": r"pci/0000:01:00\.0/\d+: type eth netdev eth1 flavour physical port 0",
    "cat /sys/class/net/eth1/phys_port_name": r"^p0$",
    "dmesg | grep 'function .*, port'": r"function 0, port 0 of 1, \d+ queues",
    "ethtool eth1": r"(?s)Speed: 25000Mb/s.*Link detected: yes",
    "ethtool -t eth1 online": r"link\s+0$",
    "ethtool -S eth1 | grep port_rx": r"port_rx_bad_fcs: 0",
    "cat /sys/class/net/eth1/device/sriov_totalvfs": r"^4$",
    "devlink dev param show pci/0000:01:00.0 name enable_sriov": r"cmode driverinit value true",
    "dmesg | tail": r"\S",
    "ls -l /sys/class/net/eth1/device/virtfn*": r"virtfn0 -> ",
    "ethtool -S eth1 | grep -v ': 0$'": r"port_\w+: [1-9]",
    "ip -s link show eth1": r"(?s)vf 0 .*RX:.*vf 1",
}
ON_CARD = {
    "ip -s link show port0": r"state UP",
    "ethtool -T port0": r"(PTP Hardware Clock|Hardware timestamp provider index): 0",
    "dmesg | grep meridian_ps": r"meridian_ps",
    "ethtool -S port0 | grep -v ': 0$'": r"\w+: [1-9]",
}
TUNES = {
    "lspci -vv -s 0000:01:00.0 | grep -E 'LnkSta:|MaxPayload|NUMA'": r"(?s)MaxPayload \d+ bytes.*LnkSta:\s+Speed",
    "ethtool -S eth1 | grep -v ': 0$'": r"port_\w+: [1-9]",
    "cat /sys/bus/pci/devices/0000:01:00.0/numa_node": r"^(-1|0)$",
    "cat /sys/bus/pci/devices/0000:01:00.0/local_cpulist": r"^0",
    "ethtool -L eth1 combined 4": r"^$",
    "ethtool -G eth1 rx 2048 tx 1024": r"^$",
    "ethtool -X eth1 equal 4": r"^$",
    "ethtool -c eth1": r"rx-usecs:\s+\d+",
    "ethtool -C eth1 adaptive-rx off rx-usecs 50 rx-frames 64": r"^$",
    "ethtool -C eth1 adaptive-rx off rx-usecs 0": r"^$",
}
FIRST_DAY_ON_HOST = {
    "echo 1 > /sys/bus/pci/rescan": r"^$",
    "lspci -nn -d 10ee:": r"\[10ee:903f\]",
    "lspci -vv -d 10ee: | grep -E '^[0-9a-f]|LnkSta:|Region|MaxPayload'": (
        r"(?s)Region 0: .*size=256K.*Region 2: .*size=4M.*MaxPayload.*LnkSta:\s+Speed"
    ),
    "ethtool -t eth1 online": r"(?s)registers\s+0$.*tables\s+0$.*filter\s+0$.*link\s+0$",
    "ethtool eth1": r"(?s)Speed: 25000Mb/s.*Link detected: yes",
}
FIRST_DAY_ON_CARD = {
    "busybox devmem 0xa0000000": r"^0x4D52444E$",
    "ip -br link show port0": r"^port0\s+UP\s",
}
PAGES = {
    "troubleshooting": (TROUBLESHOOTING, ON_HOST, ON_CARD),
    "tuning": (TUNING, TUNES, {}),
    "bring-up": (BRING_UP, FIRST_DAY_ON_HOST, FIRST_DAY_ON_CARD),
}


def at_home(command: str) -> subprocess.CompletedProcess[str]:
    return documents.run(["bash", "-c", command], MINUTES)


@pytest.mark.parametrize("command", LIST)
def test_each_command_of_the_list_in_readme_prints_what_it_should(command: str) -> None:
    assert set(documents.block(README, "make demo QUICK=1").commands()) == LEFT_OUT | set(LIST)
    done = at_home(command)
    assert done.returncode == 0, done.stderr
    assert LIST[command] in done.stdout


def test_the_readmes_ptp4l_follows_the_grandmaster() -> None:
    """timeout ends ptp4l, as README says."""
    (command,) = documents.block(README, "scripts/twin ps --wire").commands()
    done = at_home(command)
    assert done.returncode == 124, done.stdout + done.stderr
    assert "UNCALIBRATED to SLAVE" in done.stdout, done.stdout
    assert abs(int(re.findall(r"master offset +(-?\d+)", done.stdout)[-1])) < 1000, done.stdout


def test_a_card_with_the_self_test_block_passes_its_tests() -> None:
    """The command without the block is that of test_selftest.py."""
    _, command = documents.block(SELFTEST, "make twin-run").commands()
    done = at_home(command)
    assert done.returncode == 0, done.stdout + done.stderr
    passed = re.findall(r"^PASS  (\S+)", done.stdout, re.MULTILINE)
    assert {"dma-pattern", "port-loops", "counters"} <= set(passed), done.stdout


def test_the_pages_command_makes_a_vf_for_dpdk_in_the_twin() -> None:
    (command,) = documents.block(VM, "scripts/twin run").commands()
    assert OF_DPDK in command and OF_DPDK in documents.block(TROUBLESHOOTING, OF_DPDK).commands()
    done = at_home(command)
    assert done.returncode == 0, done.stderr
    assert re.search(r"0000:01:00\.0 .*drv=meridian", done.stdout), done.stdout
    assert len(re.findall(r"a03f|drv=meridian", done.stdout)) >= 3, done.stdout


def test_the_example_of_the_twin_in_python_pings_wire_and_ps() -> None:
    """The example of twin/machine/README.md: the first ping goes to the wire, the second one to the PS."""
    text = documents.block(ROOT / "twin" / "machine" / "README.md", "import PsHardware").text
    done = documents.run([sys.executable, "-c", text], MINUTES)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(" 3 received") == 2, done.stdout


@dataclass
class Pair:
    """A host and its card's PS, with the names of interfaces that the page has."""

    host: Guest
    ps: Guest


def named(guest: Guest, name: str) -> None:
    guest.run(f"ip link set eth0 down && ip link set eth0 name {name} && ip link set {name} up")
    guest.until(f"cat /sys/class/net/{name}/carrier", "^1$")


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    # Bring-up reads registers of the card beside its driver, which such a kernel lets a program do.
    # A PF has a queue pair for each processor, and tuning sets four.
    setting = Setting(hardware=Hardware(cpus=4), ps=PsHardware(kernel=WRITABLE))
    folder = tmp_path_factory.mktemp("twin")
    with Twin(setting, folder) as twin, twin.ps_machine() as ps, twin.machine() as host:
        both = Pair(Guest(host), Guest(ps))
        named(both.host, "eth1")
        named(both.ps, "port0")
        # Some traffic, so that counters have something to show.
        both.host.run("ip address replace 10.44.0.2/24 dev eth1 && ping -c 3 10.44.0.1")
        both.host.run("echo 2 >/sys/class/net/eth1/device/sriov_numvfs")
        yield both


@pytest.mark.parametrize(("page", "on_host", "on_card"), PAGES.values(), ids=PAGES)
def test_each_command_of_a_page_prints_what_it_should(
    pair: Pair, page: Path, on_host: dict[str, str], on_card: dict[str, str]
) -> None:
    """In the machine that the command is for."""
    done = set()
    for block in documents.blocks(page):
        for command, remark in block.remarked() if THIS in block.tests else []:
            if command == OF_DPDK or command.startswith(CARD_ONLY):
                continue
            here = "on the card" in remark or "port0" in command or command in on_card
            expected = on_card[command] if here else on_host[command]
            said = (pair.ps if here else pair.host).run(command)
            assert re.search(expected, said.strip(), re.MULTILINE), f"{block.name}: {command}: {said}"
            done.add(command)
    assert done == set(on_host) | set(on_card)
    pair.host.check()


def names(head: str) -> list[str]:
    """Of the tables of devlink's page whose first column has that head."""
    return [name for table in documents.tables(DEVLINK) if table[0][0] == head for (name, *_) in table[2:]]


@pytest.mark.parametrize(
    ("head", "command", "absent"),
    [
        ("name", "devlink dev info pci/0000:01:00.0; devlink dev param show pci/0000:01:00.0", {"serial_number"}),
        ("reporter", "devlink health show pci/0000:01:00.0", set()),
    ],
    ids=["info and parameters", "health"],
)
def test_devlink_has_the_names_of_its_page(pair: Pair, head: str, command: str, absent: set[str]) -> None:
    """A machine's card has no serial number."""
    said = pair.host.run(command)
    listed = [name.strip("`") for name in names(head)]
    assert listed
    for name in listed:
        assert name in absent or re.search(rf"(?<![\w.]){re.escape(name)}(?![\w.])", said), f"{name}: {said}"


def test_the_port_is_named_as_its_page_says(pair: Pair) -> None:
    said = pair.host.run("devlink port show")
    assert re.search(r"netdev eth1 flavour physical port 0", said), said
    assert re.search(r"netdev \S+ flavour virtual", said), said
    assert pair.host.run("cat /sys/class/net/eth1/phys_port_name").strip() == "p0"
