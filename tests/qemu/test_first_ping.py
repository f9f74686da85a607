# SPDX-License-Identifier: Apache-2.0
"""The guide's commands, as they stand in it, in the machines that they are for."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from driver_machine import Guest
from meridian_machine import Setting, Twin, tools

pytestmark = pytest.mark.qemu
GUIDE = (tools.ROOT / "docs" / "first-ping.md").read_text()
BUILDS = "make -C host-driver/linux"  # done outside of the machine


def commands(heading: str) -> list[str]:
    """Of a chapter's blocks, line by line, without remarks."""
    chapter = next(text for text in re.split(r"^## ", GUIDE, flags=re.MULTILINE) if text.startswith(heading))
    lines = "".join(re.findall(r"```\n(.*?)```", chapter, re.DOTALL)).splitlines()
    return [line.partition("  #")[0].strip() for line in lines]


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


def test_the_host_and_its_vfs(tmp_path: Path) -> None:
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
