# SPDX-License-Identifier: Apache-2.0
"""A kernel that another one starts by kexec: it finds a card that does nothing by itself, and takes it as ever."""

from __future__ import annotations

from pathlib import Path

import pytest
from driver_machine import tool
from meridian_machine import Hardware, Setting, Twin, tools
from meridian_machine.driver import SOURCE, modules
from meridian_machine.guest import HERE, MODULE, PEER, PF_DEVICE, Guest
from meridian_machine.initrd import initrd
from meridian_twin.wire import Wire
from peer import BROADCAST, Peer, ethernet

pytestmark = pytest.mark.qemu
KEXEC = Path(__file__).with_name("kexec.c")
COMMAND, MASTER = 4, 4


def is_master(guest: Guest, device: str) -> bool:
    return bool(int(guest.run(f"od -An -tu1 -j{COMMAND} -N1 {device}/config")) & MASTER)


def test_a_kernel_by_kexec_finds_a_quiet_card(tmp_path: Path) -> None:
    image = tools.Image.build(tools.SUITES[0])
    path = tmp_path / "wire"
    setting = Setting(suite=tools.SUITES[0], hardware=Hardware(memory=2048), wires=[f"0=socket:path={path}"])
    with Twin(setting, tmp_path) as twin:
        ramdisk = tmp_path / "next"
        ramdisk.write_bytes(initrd(image, modules(tools.SUITES[0], SOURCE)))
        twin.host.files |= {"kexec": tool(tmp_path, KEXEC), "vmlinuz": image.kernel, "next": ramdisk}
        with Wire(path) as wire, Peer(wire, PEER) as peer, twin.machine() as machine:
            guest = Guest(machine)
            guest.wait_link()
            guest.run(f"echo 1 >{PF_DEVICE}/sriov_numvfs && ip link set eth1 up")
            guest.until("cat /sys/class/net/eth1/carrier", "^1")
            guest.ping()
            guest.run("/run/twin/kexec /run/twin/vmlinuz /run/twin/next")
            guest.run("(sleep 1; /run/twin/kexec) >/dev/console 2>&1 &")
            machine.wait_ready()
            for _ in range(20):
                wire.send(ethernet(BROADCAST, peer.mac, 0x88B5, bytes(1000)))
            assert "eth0" not in guest.run("ls /sys/class/net").split(), "the new kernel has no driver yet"
            assert not is_master(guest, PF_DEVICE)
            guest.run(f"insmod {MODULE} && ip address add {HERE}/24 dev eth0 && ip link set eth0 up")
            guest.wait_link()
            guest.ping()
            guest.run(f"echo 1 >{PF_DEVICE}/sriov_numvfs && ip link set eth1 up")
            guest.until("cat /sys/class/net/eth1/carrier", "^1")
            guest.run("rmmod meridian")
            guest.check()
