# SPDX-License-Identifier: Apache-2.0
"""A machine with a card of two ports, joined by a cable: the function under test, and a far end in a namespace."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from meridian_machine import Hardware, Setting, Twin, tools
from meridian_machine.guest import PF_DEVICE, Guest

FOLDER = "/root/tests"  # of the kernel's tests in the machine
FAR = "far"  # network namespace of the second port
LOCAL, REMOTE = ("192.0.2.1", "2001:db8::1"), ("192.0.2.2", "2001:db8::2")
COPY = f"""
mount -o ro /dev/vdb /mnt && cp -a /mnt {FOLDER} && umount /mnt
chmod +x {FOLDER}/drivers/net/*.py {FOLDER}/drivers/net/hw/*.py
mount -t configfs configfs /sys/kernel/config
mount -t bpf bpf /sys/fs/bpf
modprobe -a netconsole tls vxlan
sysctl -qw net.ipv6.conf.default.keep_addr_on_down=1 net.ipv6.conf.all.keep_addr_on_down=1
ip address flush dev eth0
ip netns add {FAR} && ip link set eth1 netns {FAR}
ip netns exec {FAR} sysctl -qw net.ipv6.conf.all.keep_addr_on_down=1
ip -n {FAR} link set lo up
"""


@dataclass
class Bench:
    """device: the interface of the function under test."""

    guest: Guest
    device: str

    @property
    def environment(self) -> dict[str, str]:
        """What the kernel's tests ask for (drivers/net/README.rst)."""
        return {
            "NETIF": self.device,
            "LOCAL_V4": LOCAL[0],
            "LOCAL_V6": LOCAL[1],
            "REMOTE_V4": REMOTE[0],
            "REMOTE_V6": REMOTE[1],
            "LOCAL_PREFIX_V6": "2001:db8:2::0/64",
            "REMOTE_TYPE": "netns",
            "REMOTE_ARGS": FAR,
        }

    def prepare(self) -> None:
        """Both ends are up and have their addresses, whatever the test before has left. Raises GuestError."""
        ends = (("ip", self.device, LOCAL), (f"ip -n {FAR}", "eth1", REMOTE))
        for ip, device, (v4, v6) in ends:
            self.guest.run(
                f"{ip} link set {device} up && {ip} address replace {v4}/24 dev {device} && "
                f"{ip} -6 address replace {v6}/64 dev {device} nodad"
            )
        self.guest.until(f"ping -c 1 -W 2 {REMOTE[0]} && ping -6 -c 1 -W 2 {REMOTE[1]}", "(?s) 0% .* 0% ", 60)


@contextmanager
def bench(suite: str, function: str, folder: Path) -> Iterator[Bench]:
    """function: pf or vf; a VF is trusted. Raises BuildError, CardError, MachineError, GuestError."""
    tests = tools.built("build-selftests", "--suite", suite, minutes=40)
    drive = ("-drive", f"if=none,id=tests,file={tests},format=raw,readonly=on", "-device", "virtio-blk-pci,drive=tests")
    hardware = Hardware(device="pfs=2", memory=2048, extra=drive)
    setting = Setting(suite=suite, machine="selftests", hardware=hardware, ports=2, cables=[(0, 1)])
    with Twin(setting, folder) as twin, twin.machine() as machine:
        guest = Guest(machine)
        guest.run(COPY)
        device = "eth0"
        if function == "vf":
            guest.run(f"echo 1 >{PF_DEVICE}/sriov_numvfs && ip link set eth0 vf 0 trust on && ip link set eth0 up")
            device = guest.until(f"ls {PF_DEVICE}/virtfn0/net", "^eth").strip()
        yield Bench(guest, device)
