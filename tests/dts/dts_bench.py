# SPDX-License-Identifier: Apache-2.0
"""What DTS works on: a card process whose two ports are TAP devices, and this computer by SSH as both of its nodes.

DTS names ports by PCI addresses. A card process has none, so the nodes are given addresses of no device: lshw tells of
them, and testpmd is started by a script that takes them for functions of the card process.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from meridian_twin.process import CardProcess

PORTS = 2
MEGABYTES = 1024  # of testpmd
MBUFS = 32768  # else it has some for each port that DPDK could have
SSH_SECONDS = 20
TESTPMD = """#!/bin/bash
# DTS's addresses of PCI are functions of a card process; all other words are testpmd's own.
words=()
while [ "$1" != -- ]; do
  function=""
  [ "$1" != -a ] || case ${{2%%,*}} in
{cases}
  esac
  if [ "$function" ]; then words+=("--vdev=$function") && shift 2; else words+=("$1") && shift; fi
done
export LD_LIBRARY_PATH={libraries}
exec {testpmd} -d {library} -d {twin} --no-huge -m {megabytes} --no-pci "${{words[@]}}" -- --total-num-mbufs={mbufs} "${{@:2}}"
"""
LSHW = """#!/bin/sh
case "$*" in *-json*) exec cat {folder}/lshw.json ;; esac
exec cat {folder}/lshw.text
"""
# A shell without the profiles of this computer, whose prompts and paths are its user's own.
LOGIN = """#!/bin/sh
export PATH={folder}:$PATH TMPDIR={temporary}
if [ "$SSH_ORIGINAL_COMMAND" ]; then exec /bin/sh -c "$SSH_ORIGINAL_COMMAND"; fi
exec /bin/sh
"""
SSHD = """ListenAddress 127.0.0.1
HostKey {folder}/host
AuthorizedKeysFile {folder}/home/.ssh/key.pub
PidFile none
StrictModes no
UsePAM no
PermitRootLogin yes
ForceCommand {folder}/login
MaxSessions 100
Subsystem sftp /usr/lib/openssh/sftp-server
"""


def sut(port: int) -> str:
    return f"0000:aa:00.{port}"


def generator(port: int) -> str:
    return f"0000:bb:00.{port}"


def address(port: int) -> str:
    return f"02:00:00:00:00:1{port}"


@dataclass(frozen=True)
class Programs:
    """What a run needs: DPDK's source with DTS in it; its testpmd and libraries; our driver with the twin's plug-in beside it; the card; DTS's Python."""

    source: Path
    testpmd: Path
    libraries: Path
    library: Path
    card: Path
    python: Path


def script(file: Path, text: str) -> None:
    file.write_text(text)
    file.chmod(0o755)


def networks() -> list[dict[str, Any]]:
    """What lshw would say of the ports of both nodes."""

    def one(businfo: str, name: str, serial: str, driver: str) -> dict[str, Any]:
        known = {"driver": driver, "link": "up"}
        return {"businfo": f"pci@{businfo}", "logicalname": name, "serial": serial, "configuration": known}

    # sysfs is of the network namespace that mounted it.
    links = json.loads(subprocess.run(["ip", "-j", "link"], check=True, capture_output=True, timeout=60).stdout)
    taps = {link["ifname"]: link["address"] for link in links}
    found = [one(sut(port), f"sut{port}", address(port), "net_meridian") for port in range(PORTS)]
    return found + [one(generator(port), f"tg{port}", taps[f"tg{port}"], "tun") for port in range(PORTS)]


def nodes() -> list[dict[str, Any]]:
    """DTS's configuration of them; a driver that has a port already is not bound."""

    def node(name: str, driver: str, pci: Any) -> dict[str, Any]:
        drivers = {"os_driver_for_dpdk": driver, "os_driver": driver}
        ports = [{"name": f"port-{port}", "pci": pci(port), **drivers} for port in range(PORTS)]
        return {"name": name, "hostname": "127.0.0.1", "user": "root", "os": "linux", "ports": ports}

    return [node("SUT", "net_meridian", sut), node("TG", "tun", generator)]


def test_run(tree: Path) -> dict[str, Any]:
    location = {"dpdk_tree": str(tree), "remote": True}
    return {
        "dpdk": {
            "lcores": "0-1",
            "memory_channels": 1,
            "build": {"dpdk_location": location, "precompiled_build_dir": "build"},
        },
        "func_traffic_generator": {"type": "SCAPY"},
        "perf": False,
        "func": True,
        "crypto": False,
        "use_virtual_functions": False,
        "skip_smoke_tests": True,
        "system_under_test_node": "SUT",
        "traffic_generator_node": "TG",
        "port_topology": [f"port-{port} <-> port-{port}" for port in range(PORTS)],
    }


def test_parameters() -> dict[str, Any]:
    """What suites want to be told of the card: bytes of its key, places of its table, its speed."""
    return {
        "rss": {"ACTUAL_KEY_SIZE": 40, "ACTUAL_RETA_SIZE": 128},
        "speed_capabilities": {"test_parameters": {port: "25 Gbps" for port in range(PORTS)}},
    }


def testpmd_script(programs: Programs, card: Path) -> str:
    cases = "\n".join(
        f"    {sut(port)}) function=net_meridian_twin{port},socket={card},function={port},mac={address(port)} ;;"
        for port in range(PORTS)
    )
    return TESTPMD.format(
        cases=cases,
        testpmd=programs.testpmd,
        libraries=programs.libraries,
        library=programs.library,
        twin=programs.library.with_name("librte_net_meridian_twin.so"),
        megabytes=MEGABYTES,
        mbufs=MBUFS,
    )


def write_nodes(folder: Path, programs: Programs, card: CardProcess) -> None:
    """The programs of the nodes, which come first in their path, and the tree of DPDK that they have."""
    bin_, tree, temporary = folder / "bin", folder / "dpdk", folder / "tmp"
    for new in (bin_, tree / "build" / "app", temporary, folder / "home" / ".ssh"):
        new.mkdir(parents=True)
    (tree / "VERSION").write_text((programs.source / "VERSION").read_text())
    text = testpmd_script(programs, card.socket)
    script(tree / "build" / "app" / "dpdk-testpmd", text)
    script(folder / "login", LOGIN.format(folder=bin_, temporary=temporary))
    script(bin_ / "sudo", '#!/bin/sh\n[ "$1" != -- ] || shift\nexec "$@"\n')
    script(bin_ / "lshw", LSHW.format(folder=folder))
    script(bin_ / "python3", f'#!/bin/sh\nexec {programs.python} "$@"\n')
    found = networks()
    (folder / "lshw.json").write_text(json.dumps(found))
    (folder / "lshw.text").write_text("".join(f"{one['businfo']} {one['logicalname']} network\n" for one in found))
    (folder / "sshd").write_text(SSHD.format(folder=folder))
    for key in ("host", "home/.ssh/key"):
        command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / key)]
        subprocess.run(command, check=True, timeout=60)
    (folder / "home" / ".ssh" / "key").rename(folder / "home" / ".ssh" / "id_ed25519")


@contextmanager
def ssh_server(folder: Path) -> Iterator[None]:
    """Raises OSError if it does not listen."""
    Path("/run/sshd").mkdir(exist_ok=True)
    with (folder / "sshd.log").open("w") as log:
        server = subprocess.Popen(
            ["/usr/sbin/sshd", "-D", "-e", "-f", str(folder / "sshd")], stdout=log, stderr=subprocess.STDOUT
        )
    try:
        until = time.monotonic() + SSH_SECONDS
        while True:
            try:
                socket.create_connection(("127.0.0.1", 22), 1).close()
                break
            except OSError as error:
                if server.poll() is not None or time.monotonic() > until:
                    raise OSError(f"sshd does not listen: {(folder / 'sshd.log').read_text()}") from error
                time.sleep(0.1)
        yield
    finally:
        server.terminate()
        server.wait(SSH_SECONDS)


@contextmanager
def bench(folder: Path, programs: Programs) -> Iterator[Mapping[str, str]]:
    """Environment of DTS. In a network namespace of its own, for it has port 22. Raises CardError, OSError."""
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True, timeout=60)
    # The kernel would send frames of its own.
    Path("/proc/sys/net/ipv6/conf/default/disable_ipv6").write_text("1")
    wires = [word for port in range(PORTS) for word in ("--wire", f"{port}=tap:name=tg{port}")]
    with CardProcess(programs.card, "--time", "free", *wires) as card:
        write_nodes(folder, programs, card)
        configuration = {"NODES": nodes(), "TEST_RUN": test_run(folder / "dpdk"), "TESTS": test_parameters()}
        for name, content in configuration.items():
            (folder / f"{name}.yaml").write_text(json.dumps(content, indent=1))  # JSON is YAML
        with ssh_server(folder):
            yield {
                **{name: value for name, value in os.environ.items() if not name.startswith("PYTHON")},
                "HOME": str(folder / "home"),
                **{f"DTS_{name}_CFG_FILE": str(folder / f"{name}.yaml") for name in configuration},
                "PYTHONDONTWRITEBYTECODE": "1",
            }
